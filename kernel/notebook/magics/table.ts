import { importOptions, importUsage } from '../../api/imports.js';
import type { MagicLine } from '../../apl/syntax/cell.js';
import { noCellForm, unknownMagic } from '../../apl/syntax/magic.js';
import { nearest } from '../../apl/syntax/nearest.js';
import { annotateMagic } from '../annotations/magic.js';
import { vizMagic } from '../results/viz.js';
import { defaultRange } from '../time-range.js';
import {
  datasets,
  drop,
  echo,
  importFile,
  limit,
  peek,
  retain,
  rows,
  say,
  schema,
  time,
  use,
  whoami,
} from './actions.js';
import { MagicError, misuse, parseArguments } from './arguments.js';
import { cacheMagic } from './cache.js';
import { checkMagics } from './checks.js';
import { compareMagic } from './compare.js';
import { kernelMagics } from './config.js';
import { askConsent } from './effects/consent.js';
import { type AskedEffect, askedEffects, effectReference } from './effects/effects.js';
import { exportResult } from './export.js';
import { historyMagics } from './history.js';
import type { CellHost, Magic, MagicCall, MagicHost } from './magic.js';
import { markdownOutput } from './output.js';
import { parameterMagics } from './parameters.js';
import { results } from './results.js';
import { starMagics } from './stars/stars.js';

/** Every magic, in the order in which help lists them. */
export const magics: readonly Magic[] = [
  {
    name: 'time',
    aliases: [],
    usage: '%time [RANGE] [--freeze] [--clear]',
    options: [
      {
        name: 'freeze',
        summary: 'turn the range absolute, as of now, and write it into the cell in place of this line',
      },
      { name: 'clear', summary: `go back to ${defaultRange.label}` },
    ],
    summary: 'show or set the time range of the queries; `%%time RANGE` sets it for one cell',
    help: [
      'Every query is sent with a time range. Times are UTC; the end of a range is exclusive.',
      '',
      '- `%time last 1h`, `%time -1d12h`, `%time now-1d now-1h`',
      '- `%time today`, `%time yesterday`, `%time this week` (from Monday; also `month` and `year`), and the whole one before: `%time last week`',
      '- `%time 2026`, `%time 2026-01`, `%time 2026-01-31`: that year, month or day',
      '- `%time last 1y`, `%time last 3 months`: by the calendar',
      '- `%time yesterday 10:00..11:00`: an hour of that day',
      '- `%time all`: from the first event to the last of the datasets that a query reads; on Axiom, everything since 1970',
      '- `%time 2026-01-01..2026-01-02` ends where 2 January begins; `%time 2026-01-01..` ends now',
      '- `%time 2026-01-01T10:00Z 2026-01-01T11:30Z`',
      '- `%time last 1d --freeze` becomes a line with the two times of this moment, for a write-up; `apl-kernel freeze` does so in a file',
      '- with a range of two times that has ended, `now()` and `ago()` mean its end, on the local service; Axiom decides for itself, and a line above the result says so',
      '- `%%time last 15m` holds for its own cell only',
    ].join('\n'),
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    perCell: true,
    argument: 'range',
    run: time,
  },
  {
    name: 'limit',
    aliases: [],
    usage: '%limit [N] [--clear]',
    options: [{ name: 'clear', summary: "go back to the service's own limit of 1,000" }],
    summary: 'show or set how many rows a query without its own limit fetches',
    help: 'The lowest of the limits of the query, of this setting and of the service wins. `%%limit N` holds for one cell.',
    arity: [0, 1],
    effects: [],
    perCell: true,
    run: limit,
  },
  {
    name: 'rows',
    aliases: [],
    usage: '%rows [N] [--clear]',
    options: [
      { name: 'clear', summary: 'go back to all rows of 100, and 30 of more, as far as they are small' },
    ],
    summary: 'show or set how many rows of a result are written into the notebook',
    help: 'A saved notebook stays small: a result takes at most 256 KB of it, its chart aside, and a line above the table says what was left out. `%rows 5000` writes up to 5,000 rows of each result, however large they are; `%%rows N` holds for one cell. The kernel keeps all rows that were fetched.',
    arity: [0, 1],
    effects: [],
    perCell: true,
    run: rows,
  },
  {
    name: 'retain',
    aliases: [],
    usage: '%retain [on|off]',
    options: [],
    summary: 'show or set whether outputs hold the data of results',
    help: 'With `off`, the output of a query is its size, its time range and the names and types of its fields; the kernel still keeps the rows, for `%export` and the like. What other magics print stays: figures of `%assert`, rows of `%diff`. `%%retain off` holds for one cell. `apl-kernel strip` removes the data from a saved notebook.',
    arity: [0, 1],
    effects: [],
    perCell: true,
    run: retain,
  },
  ...parameterMagics,
  ...checkMagics,
  compareMagic,
  cacheMagic,
  ...historyMagics,
  {
    name: 'use',
    aliases: ['connect'],
    usage: '%use [PROFILE] [--token]',
    options: [{ name: 'token', summary: 'ask for a token in place of the configured one' }],
    summary: 'list the profiles, or change to one; `local` is the embedded service',
    help: [
      'Profiles are the `[deployments.NAME]` sections of `~/.axiom.toml` and the AXIOM_* environment variables. Each `%use` reads the file again.',
      '',
      'A session starts on `local`, or on the profile that AXIOM_DEPLOYMENT names. Every result names its profile, unless that is `local`. Before a cell changes to another for the first time, it asks whether queries may be sent there.',
      '',
      'For a profile without a token the kernel asks for one. It is not shown while you type, and stays in the memory of the kernel.',
    ].join('\n'),
    arity: [0, 1],
    effects: ['profile'],
    argument: 'profile',
    run: use,
  },
  {
    name: 'whoami',
    aliases: [],
    usage: '%whoami',
    options: [],
    summary: 'show the profile, its address and the user of its token',
    help: 'The token itself is never shown.',
    arity: [0, 0],
    effects: ['query'],
    run: whoami,
  },
  {
    name: 'datasets',
    aliases: [],
    usage: '%datasets',
    options: [],
    summary: 'list the datasets',
    help: 'Asks the service again; completion then knows them too. The local service also says how many events there are, from when to when, and the `%time` line that reads them all.',
    arity: [0, 0],
    effects: ['query'],
    run: datasets,
  },
  {
    name: 'schema',
    aliases: ['fields'],
    usage: '%schema [DATASET]',
    options: [],
    summary: 'list the fields of a dataset, or of every dataset',
    help: 'Names, types, units and descriptions. Without a dataset, those of the first 20 datasets.',
    arity: [0, 1],
    effects: ['query'],
    argument: 'dataset',
    run: schema,
  },
  {
    name: 'peek',
    aliases: [],
    usage: '%peek DATASET [N]',
    options: [],
    summary: 'show a few events of a dataset, 10 by default',
    help: 'The newest events in the time range, `_time` first. The same as the query `DATASET | sort by _time desc | limit N`. Where the range holds fewer than N, a line above them says where there are more.',
    arity: [1, 2],
    effects: ['query'],
    argument: 'dataset',
    run: peek,
  },
  {
    name: 'import',
    aliases: [],
    usage: `%import FILE [--dataset NAME] ${importUsage} [--replace]`,
    options: [
      {
        name: 'dataset',
        value: 'NAME',
        summary: 'the dataset to import into; the name of the file when absent',
      },
      ...importOptions.map(({ name, value, summary }) => ({ name, value, summary })),
      { name: 'replace', summary: 'replace the rows of the dataset instead of adding to them' },
    ],
    summary: 'make a dataset from a CSV, NDJSON, JSON or Parquet file, or a log; local service only',
    help: 'Times may be text, or seconds, milliseconds, microseconds or nanoseconds since 1970. Nested objects become dotted names.\n\n    %import ~/logs/access.ndjson --dataset access --time ts',
    arity: [1, 1],
    effects: ['read', 'write', 'drop'],
    argument: 'file',
    run: importFile,
  },
  {
    name: 'export',
    aliases: [],
    usage: '%export FILE [--from NAME] [--force]',
    options: [
      { name: 'from', value: 'NAME', summary: 'the result to write; the last one when absent' },
      { name: 'force', summary: 'replace an existing file' },
    ],
    summary: 'write a result to a file, all of its rows',
    help: [
      'The ending of the name chooses the format: `.csv`, `.tsv`, `.ndjson`, `.json`, `.parquet`, `.arrow`, or `.md` for people. In a cell with a query, the result of that query is written.',
      '',
      'Integers of 64 bits and nanoseconds stay exact. Parquet and Arrow hold every type; in the others spans of time are whole nanoseconds, and dynamic values are JSON. In CSV and TSV a null is an empty cell and an empty text is `""`; a text that a spreadsheet would take for a formula has an apostrophe before it.',
      '',
      '    %export ~/errors.parquet --from errs',
    ].join('\n'),
    arity: [1, 1],
    effects: ['write', 'overwrite'],
    argument: 'file',
    run: exportResult,
  },
  {
    name: 'drop',
    aliases: [],
    usage: '%drop DATASET [--yes]',
    options: [{ name: 'yes', summary: 'do not ask for its name' }],
    summary: 'delete a dataset of the local service',
    help: 'Asks you to type the name before anything is deleted. With `--yes` it asks only once in a session, and not about a dataset that the session itself imported. A deleted dataset cannot be brought back; the file that it was imported from is not touched.',
    arity: [1, 1],
    effects: ['drop'],
    argument: 'dataset',
    run: drop,
  },
  {
    name: 'results',
    aliases: [],
    usage: '%results [NAME] [--drop] [--budget SIZE]',
    options: [
      { name: 'drop', summary: 'forget the result of that name; all results when there is no name' },
      { name: 'budget', value: 'SIZE', summary: 'how much memory results may take, such as 512MB or 2GB' },
    ],
    summary: 'list the results that the kernel keeps',
    help: [
      '`name << query` keeps a result under a name, and `_` is the last one. Both can be read by queries like datasets, all rows of them, whatever the time range and the profile: `errs | summarize count() by uri`. In brackets and quotes a name is always that of a dataset.',
      '',
      'Results stay in memory, and end with the kernel. Where they would take more than a quarter of the memory of the machine, those without a name are dropped first, then the named ones, each time the least recently used; a line above the next output says so. Of those without a name the last 500 are kept.',
    ].join('\n'),
    arity: [0, 1],
    effects: [],
    argument: 'result',
    run: results,
  },
  vizMagic,
  annotateMagic,
  ...starMagics,
  ...kernelMagics,
  {
    name: 'help',
    aliases: [],
    usage: '%help [TOPIC]',
    options: [],
    summary: 'explain a magic, a function or an operator; all magics when no topic is given',
    help: 'A topic is the name of a magic or of a language element: `%help time`, `%help summarize`, `%help percentile`.',
    arity: [0, 1],
    effects: [],
    argument: 'topic',
    run: help,
  },
  {
    name: 'lsmagic',
    aliases: [],
    usage: '%lsmagic',
    options: [],
    summary: 'list the names of the magics',
    help: '`%help NAME` explains one.',
    arity: [0, 0],
    effects: [],
    run: (_, { io }) => say(io, magics.map(magic => `%${magic.name}`).join('  ')),
  },
  {
    name: 'version',
    aliases: [],
    usage: '%version',
    options: [],
    summary: 'show the version of the kernel and of Node.js',
    help: 'Give both when you report a problem.',
    arity: [0, 0],
    effects: [],
    run: (_, { io, session }) =>
      say(io, `apl-kernel ${session.options.version}, Node.js ${process.versions.node}`),
  },
  {
    name: 'echo',
    aliases: [],
    usage: '%echo [--stderr] TEXT',
    options: [{ name: 'stderr', summary: 'print it as an error, which front ends colour' }],
    summary: 'print a text',
    help: 'The rest of the line is printed as it stands.',
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    verbatim: true,
    run: echo,
  },
  {
    name: 'apl',
    aliases: [],
    usage: '%apl [QUERY]',
    options: [],
    summary: 'does nothing: the cell is APL already',
    help: '`%%apl` or `%apl QUERY` is accepted so that cells can be pasted from notebooks that need the prefix.',
    arity: [0, Number.POSITIVE_INFINITY],
    effects: [],
    perCell: true,
    verbatim: true,
    run: () => undefined,
  },
];

/** Returns the magic with that name or alias, in any case; throws MagicError with the nearest name. */
export function findMagic(name: string): Magic {
  const wanted = name.toLowerCase();
  const found = magics.find(magic => magic.name === wanted || magic.aliases.includes(wanted));
  if (found !== undefined) return found;
  const known = magics.flatMap(magic => [magic.name, ...magic.aliases]);
  const { message, hint } = unknownMagic(name, known);
  throw new MagicError(message, hint);
}

/** Runs one magic line; throws MagicError when it is misused, and the errors of its action. */
export async function runMagic(line: MagicLine, host: CellHost): Promise<void> {
  const magic = findMagic(line.name);
  if (line.cell && magic.perCell !== true) {
    throw misuse(magic, noCellForm(magic));
  }
  const given = magic.verbatim
    ? { raw: line.args, words: [], options: new Map<string, string>(), lists: new Map<string, string[]>() }
    : parseArguments(magic, line.args);
  const { session, io } = host;
  const consent: MagicHost['consent'] = async (effect, what) => {
    if (!(session.replays && ofServices.includes(effect)))
      await askConsent(session.consents, io, magic, effect, what);
  };
  await magic.run({ ...given, magic, line, cell: line.cell }, { ...host, consent });
}

/** Only services do these: a replay does not. */
const ofServices: readonly AskedEffect[] = ['drop', 'send'];

/** Returns the reference of all magics as Markdown. */
export function magicReference(): string {
  return magics.map(magicHelp).join('\n\n');
}

/** Returns a table of what a notebook may do and which magics do it, as Markdown. */
export function effectsReference(): string {
  return effectReference(magics);
}

/** Returns everything about one magic as Markdown. */
export function magicHelp(magic: Magic): string {
  const aliases = magic.aliases.map(alias => `\`%${alias}\``).join(', ');
  const options = magic.options.map(
    option =>
      `- \`--${option.name}${option.value === undefined ? '' : ` ${option.value}`}\`: ${option.summary}`,
  );
  const asked = askedEffects.filter(each => magic.effects.includes(each)).map(each => `\`${each}\``);
  return [
    `### %${magic.name}`,
    `\`${magic.usage}\`${aliases === '' ? '' : ` (also ${aliases})`}`,
    `${capital(magic.summary)}.`,
    ...(options.length === 0 ? [] : [options.join('\n')]),
    magic.help,
    ...(asked.length === 0
      ? []
      : [`Asks before its first effect of the kind ${asked.join(' or ')} in a session.`]),
  ].join('\n\n');
}

async function help({ words }: MagicCall, { io, describe, languageNames }: MagicHost): Promise<void> {
  const [topic] = words;
  if (topic === undefined) {
    io.display(markdownOutput(overview()));
    return;
  }
  const name = topic.replace(/^%+/, '').toLowerCase();
  const magic = magics.find(each => each.name === name || each.aliases.includes(name));
  const language = topic.startsWith('%') ? undefined : await describe(topic);
  const found = [magic === undefined ? undefined : magicHelp(magic), language].filter(
    text => text !== undefined,
  );
  if (found.length === 0) {
    const near = nearest(topic, [...magics.map(each => each.name), ...(await languageNames())]);
    throw new MagicError(
      `there is no help on ${topic}`,
      `${near === undefined ? '' : `Did you mean \`%help ${near}\`? `}\`%help\` alone is the overview.`,
    );
  }
  io.display(markdownOutput(found.join('\n\n')));
}

function overview(): string {
  const rows = magics.map(
    magic => `| \`${magic.usage.replaceAll('|', '\\|')}\` | ${magic.summary.replaceAll('|', '\\|')} |`,
  );
  return [
    'A cell is APL. Lines that start with `%` stand at its top and set what holds for the queries below.',
    'A blank line separates queries; `name << query` names a result; a `;` at the end hides the result.',
    ['| magic | |', '|---|---|', ...rows].join('\n'),
    '`%help NAME` says more, also about functions and operators of the language.',
  ].join('\n\n');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
