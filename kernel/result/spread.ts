/**
 * Results with one list of `spotlight` or `phrases`, or one map of `presence`, per row, as a readable table: a row for each entry. The
 * result in the kernel is unchanged.
 */
import { Field, Float64, Int64, Utf8, type Vector, vectorFromArray } from 'apache-arrow';
import { aggregateName, columnsOf } from './chart/chart-columns.js';
import { allRows, type ChartColumn } from './chart/chart-values.js';
import { entriesAt, listAt, withTable } from './chart/unfold.js';
import { safeWords } from './display/summary.js';
import { FIELD_KEY } from './field.js';
import type { Notice, QueryResult } from './result.js';
import { type SpotlightEntry, sampledNotes, spotlightEntries } from './spotlight.js';
import { takeRows } from './take.js';

/** How the list of an aggregate becomes rows. */
interface SpreadKind {
  /** Returns the entries in a cell; undefined for a cell without any. */
  readonly list: (column: ChartColumn, row: number) => readonly unknown[] | undefined;
  readonly columns: readonly SpreadColumn[];
  /** Returns the cells of each entry, in the order of the columns. */
  readonly rows: (list: readonly unknown[]) => readonly (readonly unknown[])[];
  /** Returns notices on entries that the rows leave out. */
  readonly notices: (lists: readonly (readonly unknown[])[]) => readonly Notice[];
}

interface SpreadColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'float';
  readonly unit?: string;
}

const SHARE = 'percent';

const kinds: Readonly<Record<string, SpreadKind>> = {
  spotlight: {
    list: listAt,
    columns: [
      { name: 'field', type: 'string' },
      { name: 'score', type: 'float' },
      { name: 'value', type: 'string' },
      { name: 'selected', type: 'float', unit: SHARE },
      { name: 'others', type: 'float', unit: SHARE },
    ],
    rows: list =>
      listedEntries(spotlightEntries(list)).flatMap(({ field, score, values }) =>
        values.map(({ text, selected, others }) => [field, score, text, selected * 100, others * 100]),
      ),
    notices: lists =>
      lists.length === 1 ? lists.flatMap(list => spotlightNotices(spotlightEntries(list))) : [],
  },
  phrases: {
    list: listAt,
    columns: [
      { name: 'phrase', type: 'string' },
      { name: 'count', type: 'integer' },
    ],
    rows: list =>
      list.flatMap(each => {
        const { phrase, count } = Object(each) as { readonly phrase?: unknown; readonly count?: unknown };
        return typeof phrase === 'string' && isCount(count) ? [[phrase, BigInt(count)]] : [];
      }),
    notices: () => [],
  },
  presence: {
    // Rarely used fields come first.
    list: (column, row) =>
      entriesAt(column, row)?.toSorted(([, one], [, other]) => Number(one) - Number(other)),
    columns: [
      { name: 'field', type: 'string' },
      { name: 'count', type: 'integer' },
    ],
    rows: list =>
      list.flatMap(each => {
        const [field, count] = each as readonly [string, unknown];
        return isCount(count) ? [[field, BigInt(count)]] : [];
      }),
    notices: () => [],
  },
};

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Returns a result with a row for each entry of its only list or map; undefined for one without. */
export function spread(result: QueryResult): QueryResult | undefined {
  const table = result.tables[0];
  if (table === undefined || table.data.numRows === 0) return undefined;
  const columns = columnsOf(table);
  const lists = columns.filter(column => Object.hasOwn(kinds, aggregateName(column)));
  const [column] = lists;
  const kind = column && kinds[aggregateName(column)];
  if (column === undefined || kind === undefined || lists.length > 1) return undefined;
  const entries = [...allRows(table.data.numRows)].map(row => kind.list(column, row) ?? []);
  // A row with an empty list keeps one line, to show its other columns.
  const rows = entries.map(list => {
    const found = kind.rows(list);
    return found.length === 0 ? [kind.columns.map(() => null)] : found;
  });
  const repeated = Uint32Array.from(rows.flatMap((each, row) => each.map(() => row)));
  const all = rows.flat();
  const flat = columns.flatMap((each, place): readonly ChartColumn[] => {
    if (each === column)
      return kind.columns.map((made, index) =>
        columnOf(
          made,
          all.map(row => row[index]),
        ),
      );
    const taken = takeRows(table.data, [place], repeated);
    return [{ field: each.field, vector: taken.getChildAt(0) as Vector }];
  });
  return {
    ...withTable(result, table, flat),
    notices: [...result.notices, ...kind.notices(entries)],
  };
}

/** Returns the entries that tell the rows apart; all if none does. */
function listedEntries(entries: readonly SpotlightEntry[]): readonly SpotlightEntry[] {
  const telling = entries.filter(({ score }) => score > 0);
  return telling.length > 0 ? telling : entries;
}

const LEFT_OUT = 'left out: ';

function spotlightNotices(entries: readonly SpotlightEntry[]): readonly Notice[] {
  const sampled = sampledNotes(listedEntries(entries)).map(
    (text): Notice => ({ level: 'info', text: `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.` }),
  );
  return [...sampled, ...leftOut(entries)];
}

/** Returns a notice that names the fields without rows, by reason. */
function leftOut(entries: readonly SpotlightEntry[]): readonly Notice[] {
  const shown = listedEntries(entries);
  // The other notes report for every field that there is nothing to compare, which a single notice above the table already says.
  const missing = entries.filter(entry =>
    entry.note === undefined ? !shown.includes(entry) : entry.note.startsWith(LEFT_OUT),
  );
  const why = new Map<string, string[]>();
  for (const { field, note = 'no difference beyond chance' } of missing) {
    const reason = note.replace(LEFT_OUT, '');
    why.set(reason, [...(why.get(reason) ?? []), safeWords(field)]);
  }
  if (why.size === 0) return [];
  const said = [...why].map(([reason, names]) => `${names.join(', ')} (${reason})`);
  return [{ level: 'info', text: `Left out: ${said.join('; ')}.` }];
}

function columnOf({ name, type, unit }: SpreadColumn, cells: readonly unknown[]): ChartColumn {
  const arrow = { string: new Utf8(), integer: new Int64(), float: new Float64() }[type];
  const metadata = new Map([
    [FIELD_KEY.type, type],
    ...(unit === undefined ? [] : [[FIELD_KEY.unit, unit] as const]),
  ]);
  return { field: new Field(name, arrow, true, metadata), vector: vectorFromArray(cells, arrow) as Vector };
}
