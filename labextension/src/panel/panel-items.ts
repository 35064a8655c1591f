/** The rows of the panel's tree and the details of each, from the kernel's answers. Independent of the page. */
import { isPlain, writtenName } from '../../../kernel/apl/catalog/catalog-written.js';
import { conditionOn, realLiteral } from '../../../kernel/apl/editor/condition.js';
import type {
  Answer,
  CountedValue,
  DatasetRow,
  EditorQuestion,
  HistoryRow,
  ListAnswer,
  ListName,
  ListRows,
  ProfileRow,
  ResultRow,
  StarRow,
} from '../../../kernel/apl/editor/editor-link.js';
import type { FieldSchema } from '../../../kernel/apl/plan/plan.js';
import { quotedName, writtenText } from '../../../kernel/apl/syntax/tokens/quote.js';
import { cut, formatBytes, formatCount, isolated, oneLine, plural } from '../../../kernel/text.js';
import type { TreeRow } from '../ui/tree/tree-row.js';

/** The subject of a row. */
export type Subject =
  | { readonly kind: 'section' | 'note' }
  | { readonly kind: 'profile'; readonly row: ProfileRow; readonly inUse: boolean }
  | { readonly kind: 'dataset'; readonly row: DatasetRow }
  | {
      readonly kind: 'field';
      readonly dataset: string;
      readonly path: readonly string[];
      readonly field?: FieldSchema;
    }
  | {
      readonly kind: 'value';
      readonly path: readonly string[];
      readonly value: CountedValue;
      readonly type: string;
    }
  | { readonly kind: 'result'; readonly row: ResultRow }
  | { readonly kind: 'star'; readonly row: StarRow }
  | { readonly kind: 'history'; readonly row: HistoryRow };

/** A row with its subject. */
export interface Item extends TreeRow {
  readonly subject: Subject;
}

/** The kernel's answers that the rows need; a missing one is requested. */
export interface Answers {
  readonly profile: string;
  answer(question: EditorQuestion): Answer | undefined;
}

/** The rows opened by the user, and the filter. */
export interface View {
  isOpen(key: string): boolean;
  /** Shows only rows that contain this text, case-insensitively. */
  readonly filter: string;
}

/** Maximum length of a label; a line of the panel has room for less. */
const longestLabel = 200;

/** Returns every open row, in order, including those out of view, which the tree does not draw. */
export function itemsOf(answers: Answers, view: View): readonly Item[] {
  return (Object.keys(sections) as ListName[]).flatMap(key => {
    const isOpen = view.isOpen(key);
    const rows = isOpen ? listed(key, answers, view) : undefined;
    const count = rows?.filter(({ level, kind }) => level === 2 && kind !== 'note').length;
    const head: Item = {
      ...{ key, level: 1, kind: 'section', label: sections[key].label, isOpen, subject: { kind: 'section' } },
      ...(count === undefined || count === 0 ? {} : { detail: formatCount(count) }),
    };
    return rows === undefined ? [head] : [head, ...rows];
  });
}

/** A list of the panel. */
interface Section<Row> {
  readonly label: string;
  /** Shown in place of rows if there are none. */
  readonly none: string;
  /** Returns the strings that the filter searches; undefined if the kernel filters. */
  readonly texts?: (row: Row) => readonly string[];
  /** Returns the tree rows for the row of the list at `index`. */
  readonly items: (row: Row, answers: Answers, view: View, index: number) => readonly Item[];
}

/** The sections of the panel, from the top. */
const sections: { readonly [K in ListName]: Section<ListRows[K]> } = {
  datasets: {
    label: 'Datasets',
    none: 'None. `%import FILE` creates one.',
    texts: ({ name, description }) => [name, description],
    items: (row, answers, view) => datasetItems(answers, view, row),
  },
  results: {
    label: 'Results',
    none: 'None yet.',
    texts: ({ names, query }) => [...names, query],
    items: (row, _answers, _view, index) => [resultItem(row, index)],
  },
  stars: {
    label: 'Starred queries',
    none: 'None yet.',
    texts: ({ name, query, dataset = '' }) => [name, query, dataset],
    items: row => [starItem(row)],
  },
  history: { label: 'History', none: 'None yet.', items: row => [historyItem(row)] },
  profiles: {
    label: 'Profiles',
    none: 'None.',
    texts: ({ name }) => [name],
    items: (row, answers) => [profileItem(answers, row)],
  },
};

/** Returns the rows of an answer, or the sentence in their place. */
function listed<K extends ListName>(ask: K, answers: Answers, view: View): readonly Item[] {
  const answer = answers.answer(ask === 'history' ? { ask, text: view.filter } : { ask });
  if (answer?.tell !== ask) return [note(ask, 2, whyNone(answer))];
  const { none, texts, items } = sections[ask];
  const { rows } = answer as ListAnswer<K>;
  const found = texts === undefined ? rows : rows.filter(row => fits(view, ...texts(row)));
  if (found.length === 0) return [note(ask, 2, view.filter === '' ? none : 'No matches.')];
  return found.flatMap((row, index) => items(row, answers, view, index));
}

function whyNone(answer: Answer | undefined): string {
  if (answer?.tell !== 'failed') return 'Loading\u2026';
  return oneLine(answer.hint === undefined ? answer.message : `${answer.message}. ${answer.hint}`);
}

function note(parent: string, level: number, text: string): Item {
  const label = cut(text, 400);
  return { key: `${parent} note`, level, kind: 'note', label, title: label, subject: { kind: 'note' } };
}

function fits({ filter }: View, ...texts: readonly string[]): boolean {
  const wanted = filter.toLowerCase();
  return texts.some(text => text.toLowerCase().includes(wanted));
}

function shown(text: string): string {
  return oneLine(text, longestLabel) || '(empty)';
}

function profileItem({ profile }: Answers, row: ProfileRow): Item {
  const inUse = row.name === profile;
  const detail = row.problem === undefined ? (inUse ? 'in use' : undefined) : 'cannot be used';
  return {
    ...{ key: `profile ${row.name}`, level: 2, kind: 'profile', label: shown(row.name), isCurrent: inUse },
    ...(detail === undefined ? {} : { detail }),
    subject: { kind: 'profile', row, inUse },
  };
}

function datasetItems(answers: Answers, view: View, row: DatasetRow): readonly Item[] {
  const { name, rows, firstTime, lastTime, problem } = row;
  const key = `dataset ${name}`;
  const isOpen = view.isOpen(key);
  const counted = rows === undefined ? undefined : `${formatCount(rows)}${spanText(firstTime, lastTime)}`;
  const detail = counted ?? (problem === undefined ? undefined : 'cannot be read');
  const item: Item = {
    ...{ key, level: 2, kind: 'dataset', label: shown(name), isOpen, title: shown(name) },
    ...(detail === undefined ? {} : { detail }),
    subject: { kind: 'dataset', row },
  };
  if (!isOpen) return [item];
  const answer = answers.answer({ ask: 'fields', dataset: name });
  if (answer?.tell !== 'fields') return [item, note(key, 3, whyNone(answer))];
  if (answer.fields.length === 0) return [item, note(key, 3, 'The service lists no fields.')];
  return [
    item,
    ...answer.fields.flatMap(field => fieldItems({ answers, view, dataset: name }, [field.name], field)),
  ];
}

/** Returns ` · 2026-01-03 to 2026-01-05`, in days, as there is little room in the panel. */
function spanText(first: string | undefined, last: string | undefined): string {
  if (first === undefined || last === undefined) return '';
  const [from, to] = [first.slice(0, 10), last.slice(0, 10)];
  return from === to ? ` \u00b7 ${from}` : ` \u00b7 ${from} to ${to}`;
}

/** The dataset whose fields are listed. */
interface Listed {
  readonly answers: Answers;
  readonly view: View;
  readonly dataset: string;
}

function fieldItems(
  listed: Listed,
  path: readonly string[],
  field: FieldSchema | undefined,
): readonly Item[] {
  const { view, dataset } = listed;
  const key = `field ${JSON.stringify([dataset, ...path])}`;
  const level = 2 + path.length;
  const isOpen = view.isOpen(key);
  const detail = [field?.type, field?.unit].filter(each => each !== undefined && each !== '').join(', ');
  const label = shown(path.at(-1) ?? '');
  const item: Item = {
    ...{
      key,
      level,
      kind: 'field',
      label,
      isOpen,
      title: [label, field?.description ?? ''].filter(Boolean).map(isolated).join(': '),
    },
    ...(detail === '' ? {} : { detail }),
    subject: { kind: 'field', dataset, path, ...(field === undefined ? {} : { field }) },
  };
  if (!isOpen) return [item];
  const keys = field?.type === 'dynamic' ? keyItems(listed, path) : [];
  const under = { key, level: level + 1 };
  return [item, ...(keys.length > 0 ? keys : valueItems(listed, path, field?.type ?? 'dynamic', under))];
}

/** Returns the keys of a map in the newest rows. */
function keyItems(listed: Listed, path: readonly string[]): readonly Item[] {
  const answer = listed.answers.answer({ ask: 'keys', path: [...path], dataset: listed.dataset });
  const keys = answer?.tell === 'texts' ? answer.texts : [];
  return keys.flatMap(key => fieldItems(listed, [...path, key], undefined));
}

function valueItems(
  { answers, dataset }: Listed,
  path: readonly string[],
  type: string,
  { key, level }: Pick<Item, 'key' | 'level'>,
): readonly Item[] {
  const answer = answers.answer({ ask: 'top', path: [...path], dataset });
  if (answer?.tell !== 'top') return [note(key, level, whyNone(answer))];
  if (answer.top.length === 0) return [note(key, level, 'No rows in the time range.')];
  return answer.top.map((value, index) => ({
    ...{ key: `${key} value ${index}`, level, kind: value.text === null ? 'none' : 'value' },
    label: value.text === null ? '(none)' : shown(value.text),
    detail: formatCount(value.count),
    subject: { kind: 'value', path, value, type },
  }));
}

function resultItem(row: ResultRow, index: number): Item {
  const label = row.names.length === 0 ? shown(row.query) : row.names.map(shown).join(', ');
  return {
    ...{ key: `result ${row.names.join() || `${index}`}`, level: 2, kind: 'result', label },
    detail: `${plural(row.rows, 'row')} \u00b7 ${formatBytes(row.bytes)}`,
    title: shown(row.query),
    subject: { kind: 'result', row },
  };
}

function starItem(row: StarRow): Item {
  return {
    ...{ key: `star ${row.id}`, level: 2, kind: 'star', label: shown(row.name), title: shown(row.query) },
    ...(row.dataset === undefined ? {} : { detail: shown(row.dataset) }),
    subject: { kind: 'star', row },
  };
}

function historyItem(row: HistoryRow): Item {
  const { number, at, query, rows } = row;
  return {
    ...{ key: `history ${number}`, level: 2, kind: 'history', label: shown(query), title: shown(query) },
    detail: `${rows === undefined ? 'failed' : formatCount(rows)} \u00b7 ${at.slice(11, 16)}`,
    subject: { kind: 'history', row },
  };
}

/** Returns the text that a double click inserts into the cell; undefined if there is none. */
export function insertOf(subject: Subject): string | undefined {
  switch (subject.kind) {
    case 'dataset':
      return writtenName(subject.row.name);
    case 'field':
      return pathText(subject.path);
    case 'value':
      return literal(subject);
    case 'result':
      return subject.row.names.length === 0 ? undefined : writtenName(subject.row.names.at(-1) ?? '');
    default:
      return undefined;
  }
}

/** Returns the condition that keeps rows with a value. */
export function conditionOf(subject: Extract<Subject, { kind: 'value' }>): string {
  const path = pathText(subject.path);
  if (subject.value.text === null) return subject.type === 'string' ? `isempty(${path})` : `isnull(${path})`;
  return conditionOn({ field: path, type: subject.type }, subject.value.text, true);
}

function literal({ value, type }: Extract<Subject, { kind: 'value' }>): string {
  if (value.text === null) return 'null';
  if (type === 'bool' || type === 'long') return value.text;
  if (type === 'real')
    return Number.isFinite(Number(value.text))
      ? realLiteral(value.text)
      : `todouble(${writtenText(value.text)})`;
  if (type === 'datetime' || type === 'timespan') return `${type}(${value.text})`;
  return writtenText(value.text);
}

/** Returns a field as its name, and a key of a map as its path. */
function pathText([first = '', ...keys]: readonly string[]): string {
  return writtenName(first) + keys.map(key => (isPlain(key) ? `.${key}` : quotedName(key))).join('');
}

/** Returns the facts about a row, as names and values. */
export function factsOf(subject: Subject): readonly (readonly [string, string])[] {
  const facts = (pairs: readonly (readonly [string, string | undefined])[]) =>
    pairs.flatMap(([name, text]) => (text === undefined || text === '' ? [] : [[name, text] as const]));
  switch (subject.kind) {
    case 'profile': {
      const { address, hasToken, problem } = subject.row;
      const token =
        address === undefined ? undefined : hasToken ? 'configured' : 'none; the kernel prompts for it';
      return facts([
        ['address', address ?? 'the local service'],
        ['token', token],
        ['problem', problem],
      ]);
    }
    case 'dataset': {
      const { rows, firstTime, lastTime, description, problem } = subject.row;
      const events = rows === undefined ? undefined : formatCount(rows);
      return facts([
        ['problem', problem],
        ['about', description],
        ['events', events],
        ['first', firstTime],
        ['last', lastTime],
      ]);
    }
    case 'field': {
      const { type, unit, description } = subject.field ?? {};
      return facts([
        ['dataset', subject.dataset],
        ['type', type ?? 'map key'],
        ['unit', unit],
        ['about', description],
      ]);
    }
    case 'value':
      return facts([
        ['rows', formatCount(subject.value.count)],
        ['field', subject.path.join(' \u203a ')],
      ]);
    case 'result': {
      const { rows, columns, bytes, startTime, endTime, profile } = subject.row;
      const size = `${plural(rows, 'row')}, ${plural(columns, 'column')}, ${formatBytes(bytes)}`;
      return facts([
        ['size', size],
        ['time range', `${startTime} .. ${endTime}`],
        ['profile', profile],
      ]);
    }
    case 'star':
      return facts([
        ['dataset', subject.row.dataset],
        ['time range', subject.row.range],
        ['id', subject.row.id],
      ]);
    case 'history': {
      const { at, profile, startTime, endTime, rows, error, elapsedMs } = subject.row;
      const outcome = rows === undefined ? `failed: ${error ?? ''}` : plural(rows, 'row');
      const range = `${startTime} .. ${endTime}`;
      return facts([
        ['when', at],
        ['result', `${outcome}, ${Math.round(elapsedMs)} ms`],
        ['time range', range],
        ['profile', profile],
      ]);
    }
    default:
      return [];
  }
}

/** Returns the full text of a row, whose line may be cut. */
export function textOf(subject: Subject): string | undefined {
  switch (subject.kind) {
    case 'result':
    case 'star':
    case 'history':
      return subject.row.query;
    case 'value':
      return subject.value.text ?? undefined;
    default:
      return undefined;
  }
}

/** Returns a query as a cell of its own, over the range it ran on. */
export function cellOf(range: string | undefined, query: string): string {
  return range === undefined ? query : `%%time ${range}\n${query}`;
}
