import { own } from '../../../present.js';
import { datasetName, fieldName, percentOf } from './language-expression.js';
import type { LanguageReader } from './language-reader.js';

/** A step after the name of a data frame: `.name(args)`, `.name[args]`, `.name` or `[args]`. */
interface Step {
  readonly name: string;
  readonly isCall: boolean;
  readonly args: string;
}

/** State at a step: the selected column, and the keys that rows are grouped by. */
interface State {
  readonly frame: string;
  readonly stages: string[];
  column?: string;
  keys?: string;
}

/** A string literal. */
const string = String.raw`(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')`;
/** Brackets and commas outside of strings. */
const marks = new RegExp(`${string}|[[\\](){},]`, 'g');

type Method = (state: State, args: readonly string[]) => string | undefined;

const measured =
  (call: string): Method =>
  state =>
    state.column === undefined ? undefined : summarized(state, call.replace('$1', state.column));

/** Consumes the selected column, so later steps do not select it again. */
function taken(state: State): string | undefined {
  const { column } = state;
  delete state.column;
  return column;
}

/** Counts rows. A selected column makes no difference. */
const counted: Method = state => {
  taken(state);
  return state.keys === undefined ? 'count' : summarized(state, 'count()');
};

/** Counts the values of the selected column, or rows if there is none. */
const countedValues: Method = state =>
  state.column === undefined ? counted(state, []) : measured('countif(isnotnull($1))')(state, []);

/** Takes the rows with the most, or the least, of the named columns or the selected one. `top` reads one column. */
const topped =
  (order: 'asc' | 'desc'): Method =>
  (state, [count, columns]) => {
    const of = columns ?? taken(state);
    if (count === undefined || of === undefined) return undefined;
    return namesOf(of).includes(', ')
      ? `sort by ${namesOf(of, ` ${order}`)} | limit ${count}`
      : `top ${count} by ${namesOf(of)}${order === 'asc' ? ' asc' : ''}`;
  };

/** Parameters of the methods that take them by position, in this order. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  ...{ head: ['n'], tail: ['n'], nlargest: ['n', 'columns'], nsmallest: ['n', 'columns'], query: ['expr'] },
  ...{ groupby: ['by'], resample: ['rule'], sort_values: ['by', 'ascending'], value_counts: ['subset'] },
  ...{ drop_duplicates: ['subset'], quantile: ['q'], fillna: ['value'] },
};

/** Returns the arguments by position. Names that the method does not have here are left out, since they do not change the rows. */
function placed(method: string, args: readonly string[]): readonly string[] {
  const names = own(parameters, method);
  if (names === undefined) return args;
  const found: string[] = [];
  for (const [index, arg] of args.entries()) {
    const [, name, value = ''] = /^([a-z_]+)\s*=(?!=)\s*([\s\S]*)$/.exec(arg) ?? [];
    const at = name === undefined ? index : names.indexOf(name);
    if (at >= 0) found[at] = name === undefined ? arg : value;
  }
  return found;
}

/** Join kinds by the value of `how`. */
const joins = { inner: 'inner', left: 'leftouter', right: 'rightouter', outer: 'fullouter' };

/** Methods, each with its translated stage; undefined if there is none for these arguments. */
const methods: Readonly<Record<string, Method>> = {
  '[]': (state, args) => chosen(state, args),
  loc: (state, [condition = '', columns]) => {
    const rows = `where ${conditionOf(state, condition)}`;
    return columns === undefined ? rows : `${rows} | project ${namesOf(columns)}`;
  },
  query: (_, [text = '']) => `where ${unquoted(text)}`,
  groupby: (state, [keys = '']) => {
    state.keys = namesOf(keys);
    return '';
  },
  resample: (state, [size = '']) => {
    const [, count = '', unit = ''] = /^(\d*)\s*(min|s|h|d|t)\w*$/i.exec(unquoted(size)) ?? [];
    state.keys = `bin(_time, ${count || '1'}${unit.toLowerCase().replace(/^(?:min|t)$/, 'm')})`;
    return unit === '' ? undefined : '';
  },
  size: counted,
  count: countedValues,
  mean: measured('avg($1)'),
  sum: measured('sum($1)'),
  min: measured('min($1)'),
  max: measured('max($1)'),
  median: measured('percentile($1, 50)'),
  std: measured('stdev($1)'),
  nunique: measured('dcount($1)'),
  value_counts: (state, [of]) => {
    const column = of === undefined ? taken(state) : namesOf(of);
    return column === undefined ? undefined : `summarize count() by ${column} | sort by count_ desc`;
  },
  unique: state => `distinct ${taken(state) ?? '*'}`,
  drop_duplicates: (_, [of]) => `distinct ${of === undefined ? '*' : namesOf(of)}`,
  head: (_, [count = '5']) => `limit ${count}`,
  tail: (_, [count = '5']) => `sort by _time desc | limit ${count}`,
  sort_values: (_, [by = '', order = '']) =>
    `sort by ${namesOf(by, /false/i.test(order) ? ' desc' : ' asc')}`,
  nlargest: topped('desc'),
  nsmallest: topped('asc'),
  iloc: (_, [range = '']) => {
    const [, to] = /^0?:(\d+)$/.exec(range) ?? [];
    return to === undefined ? (range === '0' ? 'limit 1' : undefined) : `limit ${to}`;
  },
  quantile: (state, [share = '0.5']) => measured(`percentile($1, ${percentOf(share)})`)(state, []),
  fillna: (state, [value = '']) => {
    const column = taken(state);
    return column === undefined ? undefined : `extend ${column} = coalesce(${column}, ${value})`;
  },
  dropna: (_, [of]) => {
    const names = of === undefined ? undefined : /^subset\s*=\s*(.+)$/.exec(of)?.[1];
    return (
      names &&
      `where ${namesOf(names)
        .replace(/[^,\s]+/g, 'isnotnull($&)')
        .replaceAll(', ', ' and ')}`
    );
  },
  drop: (_, [of = '']) => {
    const names = /^columns\s*=\s*(.+)$/.exec(of)?.[1];
    return names && `project-away ${namesOf(names)}`;
  },
  rename: (_, [of = '']) => {
    const pairs = [...of.matchAll(/(["'])([^"']+)\1\s*:\s*(["'])([^"']+)\3/g)];
    const names = pairs.map(([, , old = '', , name = '']) => `${fieldName(name)} = ${fieldName(old)}`);
    return names.length === 0 ? undefined : `project-rename ${names.join(', ')}`;
  },
  assign: (state, args) =>
    `extend ${args.map(arg => conditionOf(state, arg).replace(/\s*=\s*/, ' = ')).join(', ')}`,
  merge: (_, [other = '', ...options]) => {
    const key = options.map(each => /^on\s*=\s*(.+)$/.exec(each)?.[1]).find(each => each !== undefined);
    const how =
      options.map(each => /^how\s*=\s*["'](\w+)/.exec(each)?.[1]).find(each => each !== undefined) ?? 'inner';
    const kind = own(joins, how);
    return key && kind && `join kind=${kind} (${datasetName(other)}) on ${namesOf(key)}`;
  },
  plot: state =>
    state.column === undefined ? undefined : `summarize avg(${taken(state)}) by bin_auto(_time)`,
  ...Object.fromEntries(['describe', 'info', 'dtypes', 'columns'].map(name => [name, () => 'getschema'])),
  ...Object.fromEntries(['reset_index', 'copy', 'to_frame'].map(name => [name, () => ''])),
};

/** Translates an expression over a data frame; `reader.reason` is set if that is not possible. */
export function translatePandas(reader: LanguageReader): string {
  const [frame = ''] = /^\w+/.exec(reader.text) ?? [];
  const state: State = { frame, stages: [] };
  for (const { name, isCall, args } of stepsOf(reader.text.slice(frame.length))) {
    if (!isCall && /^\w+$/.test(name) && own(methods, name) === undefined) {
      state.column = fieldName(name);
      continue;
    }
    const stage = own(methods, name)?.(state, placed(name, partsOf(args)));
    if (stage === undefined) return reader.fail(`\`${name}\` has no translation here.`);
    if (stage !== '') state.stages.push(stage);
  }
  if (state.keys !== undefined) state.stages.push(`summarize count() by ${state.keys}`);
  else if (state.column !== undefined) state.stages.push(`project ${state.column}`);
  return [datasetName(frame), ...state.stages].join(' | ');
}

function summarized(state: State, measure: string): string {
  const { keys } = state;
  delete state.keys;
  delete state.column;
  return `summarize ${measure}${keys === undefined ? '' : ` by ${keys}`}`;
}

/** Selects a column by `["name"]`, several by `[["a", "b"]]`, and rows by anything else. */
function chosen(state: State, args: readonly string[]): string {
  const text = args.join(', ');
  if (/^(["'])[^"']*\1$/.test(text)) {
    state.column = namesOf(text);
    return '';
  }
  return text.startsWith('[') ? `project ${namesOf(text)}` : `where ${conditionOf(state, text)}`;
}

/** Returns a condition on columns of the frame, with `&`, `|` and `~` as APL's words; strings are unchanged. */
function conditionOf({ frame }: State, text: string): string {
  const parts = new RegExp(
    `\\b${frame}\\[\\s*(["'])([^"']*)\\1\\s*\\]|\\b${frame}\\.(?=\\w)|(${string})|\\s*([&|~])\\s*`,
    'g',
  );
  return text.replace(parts, (_, _quote, name?: string, written?: string, sign?: string) =>
    name === undefined ? (written ?? words[sign ?? ''] ?? '') : fieldName(name),
  );
}

const words: Readonly<Record<string, string>> = { '&': ' and ', '|': ' or ', '~': 'not ' };

function namesOf(text: string, order = ''): string {
  return partsOf(text.trim().replace(/^\[|\]$/g, ''))
    .map(part => `${fieldName(unquoted(part))}${order}`)
    .join(', ');
}

function unquoted(text: string): string {
  return text.trim().replace(/^(["'])([\s\S]*)\1$/, '$2');
}

/** Returns the steps of a chain; if it is not a chain, one step named after the rest. */
function stepsOf(text: string): readonly Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < text.length; ) {
    const [whole = '', name = '[]'] = /^\s*(?:\.\s*(\w+))?/.exec(text.slice(at)) ?? [];
    const open = at + whole.length;
    const isCall = '[('.includes(text.charAt(open)) && open < text.length;
    const end = isCall ? closeOf(text, open) : open;
    if (end === at) return [{ name: text.slice(at), isCall: false, args: '' }];
    steps.push({ name, isCall, args: isCall ? text.slice(open + 1, end - 1) : '' });
    at = end;
  }
  return steps;
}

/** Returns the index after the bracket that closes the one at `open`, or the length of the text if none does. */
function closeOf(text: string, open: number): number {
  let depth = 0;
  for (const { 0: mark, index } of text.slice(open).matchAll(marks)) {
    depth += deeper(mark);
    if (depth === 0) return open + index + 1;
  }
  return text.length;
}

/** Returns the parts between commas outside of brackets. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (const { 0: mark, index } of text.matchAll(marks)) {
    depth += deeper(mark);
    if (mark === ',' && depth === 0) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  const last = text.slice(start).trim();
  return last === '' ? parts : [...parts, last];
}

function deeper(mark: string): number {
  if ('[({'.includes(mark)) return 1;
  return '])}'.includes(mark) ? -1 : 0;
}
