import { present } from '../../present.js';
import { nearest } from './nearest.js';

/** An option of a magic, written `--name` or `--name VALUE`. */
export interface MagicOption {
  readonly name: string;
  /** Name of the value in the usage line; absent for a switch. */
  readonly value?: string;
  /** Set if it may be repeated. */
  readonly repeats?: true;
  readonly summary: string;
}

/** Syntax of a magic line: the facts needed to split and check it. */
export interface MagicSyntax {
  readonly name: string;
  readonly usage: string;
  readonly options: readonly MagicOption[];
  /** Minimum and maximum number of positional words. */
  readonly arity: readonly [number, number];
}

/** Arguments of one magic line: positional words in order, and options by name (`''` for a switch). */
export interface MagicArguments {
  /** The line after the magic's name, as written. */
  readonly raw: string;
  readonly words: readonly string[];
  readonly options: ReadonlyMap<string, string>;
  /** All values of repeatable options. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

/** An error in a magic line; offsets are relative to the start of its arguments. */
export interface MagicProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly hint: string;
  /** Replacement that fixes it. */
  readonly instead?: string;
}

/** A word of a line, with its span; `open` if its closing quote is missing. */
export interface Word {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly quoted: boolean;
  readonly open: boolean;
}

/** Splits a line into words. Quotes, single or double, keep spaces together; inside them, `\` escapes a quote or itself. */
export function splitWords(line: string): readonly Word[] {
  const words: Word[] = [];
  const pattern = /(?:"(?:\\.|[^"\\])*(?:"|$)|'(?:\\.|[^'\\])*(?:'|$)|[^\s"'])+/g;
  for (const match of line.matchAll(pattern)) {
    const source = match[0];
    words.push({
      text: unquote(source),
      from: match.index,
      to: match.index + source.length,
      quoted: /["']/.test(source),
      open: isOpen(source),
    });
  }
  return words;
}

/** Returns the arguments of a magic line, or its error. */
export function readArguments(syntax: MagicSyntax, raw: string): MagicArguments | MagicProblem {
  const words: Word[] = [];
  const options = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const rest = splitWords(raw).values();
  for (const word of rest) {
    if (word.open) return problem(syntax, word, 'unclosed quote');
    if (word.quoted || !word.text.startsWith('--')) {
      words.push(word);
      continue;
    }
    const [name = '', inline] = splitOption(word.text);
    const option = syntax.options.find(each => each.name === name);
    if (option === undefined) return unknownOption(syntax, word, name);
    if (option.value === undefined && inline !== undefined)
      return problem(syntax, word, `--${name} takes no value`);
    const value = option.value === undefined ? '' : (inline ?? rest.next().value?.text);
    if (value === undefined || (option.value !== undefined && value === ''))
      return problem(syntax, word, `--${name} needs a value: ${option.value}`);
    if (option.repeats) lists.set(name, [...(lists.get(name) ?? []), value]);
    else if (options.has(name)) return problem(syntax, word, `--${name} is specified twice`);
    options.set(name, value);
  }
  return checkArity(syntax, words, raw) ?? { raw, words: words.map(({ text }) => text), options, lists };
}

/** Magics known from Python notebooks, and their equivalents here. */
const magicsElsewhere: readonly { readonly names: readonly string[]; readonly hint: string }[] = [
  {
    names: [
      'bash',
      'sh',
      'script',
      'system',
      'sx',
      'ls',
      'cd',
      'cat',
      'pwd',
      'pip',
      'conda',
      'env',
      'writefile',
    ],
    hint: 'Run shell commands in a terminal. `%import FILE` reads a file, and `%export FILE` writes one.',
  },
  {
    names: ['sql', 'kql', 'spl', 'promql', 'logql'],
    hint: 'Write only the query: queries in other languages get a suggested translation.',
  },
  {
    names: [
      ...[
        'python',
        'python3',
        'matplotlib',
        'load_ext',
        'autoreload',
        'timeit',
        'capture',
        'who',
        'whos',
        'run',
      ],
      ...['javascript', 'js', 'html', 'latex', 'markdown'],
    ],
    hint: 'Use a Python notebook for this. `%export FILE` writes a result that it can read.',
  },
];

/** Returns the message and hint for an unknown magic. */
export function unknownMagic(
  name: string,
  known: readonly string[],
): Pick<MagicProblem, 'message' | 'hint' | 'instead'> {
  const elsewhere = magicsElsewhere.find(({ names }) => names.includes(name.toLowerCase()));
  if (elsewhere !== undefined)
    return { message: `%${name} is an IPython magic, not an APL magic`, hint: elsewhere.hint };
  const near = nearest(name.toLowerCase(), known);
  const guess = near === undefined ? '' : `Did you mean \`%${near}\`? `;
  return {
    message: `unknown magic %${name}`,
    hint: `${guess}\`%help\` lists all magics.`,
    ...present({ instead: near }),
  };
}

/** Returns the message for `%%name` if a magic cannot apply to a single cell. */
export function noCellForm({ name }: MagicSyntax): string {
  return `it does not apply to a single cell: use %${name}`;
}

function problem(syntax: MagicSyntax, { from, to }: Word, what: string): MagicProblem {
  return { from, to, message: `%${syntax.name}: ${what}`, hint: `Usage: ${syntax.usage}` };
}

function splitOption(text: string): readonly [string, string | undefined] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text.slice(2), undefined] : [text.slice(2, equals), text.slice(equals + 1)];
}

function unknownOption(syntax: MagicSyntax, word: Word, name: string): MagicProblem {
  const names = syntax.options.map(option => option.name);
  const near = nearest(name, names);
  const others = names.length === 0 ? 'it has none' : `it has ${names.map(each => `--${each}`).join(', ')}`;
  const found = problem(
    syntax,
    { ...word, to: word.from + 2 + name.length },
    `unknown option --${name}; ${near === undefined ? others : `did you mean --${near}?`}`,
  );
  return near === undefined ? found : { ...found, instead: `--${near}` };
}

function checkArity(syntax: MagicSyntax, words: readonly Word[], raw: string): MagicProblem | undefined {
  const [least, most] = syntax.arity;
  const end = { text: '', from: 0, to: raw.length, quoted: false, open: false };
  if (words.length < least) return problem(syntax, end, 'an argument is missing');
  const extra = words[most];
  return extra === undefined
    ? undefined
    : problem(syntax, extra, `${extra.text} is an unexpected argument; put quotes around values with spaces`);
}

function unquote(source: string): string {
  return source.replace(/"((?:\\.|[^"\\])*)(?:"|$)|'((?:\\.|[^'\\])*)(?:'|$)/g, (_, double, single) =>
    (double ?? single ?? '').replace(/\\(["'\\])/g, '$1'),
  );
}

function isOpen(source: string): boolean {
  return /["']/.test(source.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, ''));
}
