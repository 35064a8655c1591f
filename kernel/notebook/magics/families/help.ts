import { nearest } from '../../../apl/syntax/nearest.js';
import { withoutTokens } from '../../../text.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError } from '../magic-arguments.js';
import { magicNamed } from '../magic-lines.js';
import { magicHelp } from '../magic-reference.js';
import { markdownOutput, say } from '../output.js';

/** The magics that explain or do next to nothing, in help order. */
export const helpMagics: readonly Magic[] = [
  {
    name: 'help',
    usage: '%help [TOPIC]',
    options: [],
    summary: 'explain a magic, a function or an operator; without a topic, list all magics',
    help: 'A topic is the name of a magic or of a language element: `%help time`, `%help summarize`, `%help percentile`.',
    arity: [0, 1],
    effects: [],
    argument: 'topic',
    run: help,
  },
  {
    name: 'lsmagic',
    usage: '%lsmagic',
    options: [],
    summary: 'list the names of the magics',
    help: '`%help NAME` explains one.',
    arity: [0, 0],
    effects: [],
    run: (_, { io, magics }) => say(io, magics.map(magic => `%${magic.name}`).join('  ')),
  },
  {
    name: 'version',
    usage: '%version',
    options: [],
    summary: 'show the version of the kernel and of Node.js',
    help: 'Include both when you report a problem.',
    arity: [0, 0],
    effects: [],
    run: (_, { io, session }) =>
      say(io, `apl-kernel ${session.options.version}, Node.js ${process.versions.node}`),
  },
  {
    name: 'echo',
    usage: '%echo [--stderr] TEXT',
    options: [{ name: 'stderr', summary: 'print to stderr, which front ends color' }],
    summary: 'print text',
    help: 'Prints the rest of the line verbatim.',
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    verbatim: true,
    run: echo,
  },
  {
    name: 'apl',
    usage: '%apl [QUERY]',
    options: [],
    summary: 'does nothing: the cell is APL already',
    help: '`%%apl` or `%apl QUERY` is accepted so that cells can be pasted from notebooks that need the prefix.',
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    verbatim: true,
    run: () => undefined,
  },
];

/** Prints the rest of the line, on stderr with `--stderr`. */
function echo({ raw }: MagicCall, { io }: MagicHost): void {
  const text = raw.replace(/^--stderr(?:[ \t]+|$)/, '');
  io.stream(text === raw ? 'stdout' : 'stderr', `${withoutTokens(text)}\n`);
}

async function help({ words }: MagicCall, { io, magics, describe, languageNames }: MagicHost): Promise<void> {
  const [topic] = words;
  if (topic === undefined) {
    io.display(markdownOutput(overview(magics)));
    return;
  }
  const magic = magics.find(each => each.name === magicNamed(topic.replace(/^%+/, '')));
  const language = topic.startsWith('%') ? undefined : await describe(topic);
  const found = [magic === undefined ? undefined : magicHelp(magic), language].filter(
    text => text !== undefined,
  );
  if (found.length === 0) {
    const near = nearest(topic, [...magics.map(each => each.name), ...(await languageNames())]);
    throw new MagicError(
      `there is no help on ${topic}`,
      `${near === undefined ? '' : `Did you mean \`%help ${near}\`? `}\`%help\` shows the overview.`,
    );
  }
  io.display(markdownOutput(found.join('\n\n')));
}

function overview(magics: readonly Magic[]): string {
  const rows = magics.map(
    magic => `| \`${magic.usage.replaceAll('|', '\\|')}\` | ${magic.summary.replaceAll('|', '\\|')} |`,
  );
  return [
    'A cell is APL. Lines at its top that start with `%` apply to the queries below.',
    'A blank line separates queries; `name << query` names a result; a `;` at the end hides the result.',
    ['| magic | |', '|---|---|', ...rows].join('\n'),
    '`%help NAME` explains a magic, a function or an operator of the language.',
  ].join('\n\n');
}
