/**
 * One query over two periods, side by side: rows are paired by the keys of the groups, and over time by their distance from the start
 * of the period.
 */
import {
  Bool,
  type Data,
  DataType,
  Field,
  Float64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { ResultField } from '../api/wire.js';
import { present } from '../present.js';
import { plural } from '../text.js';
import { aggregateOf } from './chart/chart-columns.js';
import { binNanos } from './chart/time/bins.js';
import { cellText, exactInt64, isNumeric } from './display/display-text.js';
import { codeWords } from './display/summary.js';
import { FIELD_KEY } from './field.js';
import type { ArrowTable, Notice, QueryResult, Shortfall, TableInfo } from './result.js';
import { readThrough } from './shortfall.js';

/** Comparison options, besides the two results. */
export interface PeriodOptions {
  /** Nanoseconds from the start of the earlier period to that of the later one. */
  readonly offset: bigint;
  /** Fields that identify a row (default: those of `summarize … by`). */
  readonly key?: readonly string[];
  /** Name of the earlier period, such as `1d before`. */
  readonly name: string;
  /** The query keeps a row for each group that has events, so the count of any other group is zero. */
  readonly hasAllGroups: boolean;
}

/** A result with the earlier figure and the change beside each figure, and the same in the form that a chart draws. */
export interface PeriodComparison {
  readonly kind: 'comparison';
  readonly result: QueryResult;
  /** One row for each period, which is an additional key. */
  readonly drawn?: QueryResult;
}

/** Why two results cannot be compared. */
export interface NoComparison {
  readonly kind: 'none';
  readonly reason: string;
  readonly hint: string;
}

/**
 * Returns two results of one query side by side. For a row that only one of them has, counts and sums are zero in the other if both are
 * complete; other figures are null, and so is their change.
 */
export function comparePeriods(
  later: QueryResult,
  earlier: QueryResult,
  options: PeriodOptions,
): PeriodComparison | NoComparison {
  const [now, before] = [later.tables[0], earlier.tables[0]];
  if (now === undefined || before === undefined) return none('the query returns no table', '');
  const key = keyOf(now, before, options.key);
  if (typeof key !== 'object') return none(key, 'Add `| summarize … by …`, or name the fields with --key.');
  const measures = now.data.schema.fields.filter(
    field => isNumeric(field) && !key.includes(field.name) && typeIn(before, field.name) === typeOf(field),
  );
  if (measures.length === 0)
    return none('the result has no figures to compare', 'Add an aggregate, such as `| summarize count()`.');
  const [size, sizeBefore] = [binNanos(now), binNanos(before)];
  if (size !== sizeBefore && size !== undefined && sizeBefore !== undefined)
    return none(
      'the bins of the two periods differ in length',
      'Set the length, such as `bin(_time, 1h)` instead of `bin_auto(_time)`.',
    );
  if (size !== undefined && options.offset % BigInt(Math.round(size)) !== 0n)
    return none(
      'the two periods are not a whole number of bins apart, so their bins cannot be matched',
      'Choose bins that fit, such as `bin(_time, 1h)` for `-1d`.',
    );
  const pairs = pairRows(now, before, key, options.offset);
  const left = now.data.schema.fields.filter(field => !key.includes(field.name) && !measures.includes(field));
  const zeros = hasZeros(later, earlier, options)
    ? measures.filter(field => aggregateOf({ field }).emptyIsZero)
    : [];
  const about: Notice[] = [
    ...notes(
      pairs,
      earlier,
      left.map(({ name }) => name),
      { zeros: zeros.length, nulls: measures.length - zeros.length },
    ),
    ...earlier.notices.map(({ level, text }) => ({ level, text: `${options.name}: ${text}` })),
  ];
  const columns = { key, measures: measures.map(({ name }) => name), zeros: zeros.map(({ name }) => name) };
  const whole = combined(later, earlier, options.name);
  const drawn: QueryResult | undefined =
    size === undefined
      ? undefined
      : { ...whole, tables: [stacked(now, pairs, columns, options.name)], notices: [] };
  return {
    kind: 'comparison',
    result: {
      ...whole,
      tables: [sideBySide(now, pairs, columns)],
      notices: [...later.notices, ...about],
    },
    ...present({ drawn }),
  };
}

/** Returns whether a group without a row in one of the periods had no events there. */
function hasZeros(later: QueryResult, earlier: QueryResult, { key, hasAllGroups }: PeriodOptions): boolean {
  const isWhole = ({ shortfalls = [], status }: QueryResult) =>
    shortfalls.length === 0 && !status.isPartial && status.isEstimate !== true;
  return hasAllGroups && key === undefined && isWhole(later) && isWhole(earlier);
}

function none(reason: string, hint: string): NoComparison {
  return { kind: 'none', reason, hint };
}

/** Combines everything but the tables and notices; the result is partial if either one is. */
function combined(
  later: QueryResult,
  earlier: QueryResult,
  name: string,
): Omit<QueryResult, 'tables' | 'notices'> {
  const [now, before] = [later.status, earlier.status];
  const { startTime, endTime } = earlier.provenance;
  return {
    ...later,
    shortfalls: [...(later.shortfalls ?? []), ...unasked(name, earlier)],
    status: {
      ...now,
      elapsedTime: now.elapsedTime + before.elapsedTime,
      rowsExamined: now.rowsExamined + before.rowsExamined,
      rowsMatched: now.rowsMatched + before.rowsMatched,
      isPartial: now.isPartial || before.isPartial,
      ...present({ isEstimate: now.isEstimate || before.isEstimate || undefined }),
      messages: [...(now.messages ?? []), ...(before.messages ?? [])],
    },
    provenance: {
      ...later.provenance,
      elapsedMs: later.provenance.elapsedMs + earlier.provenance.elapsedMs,
      comparedWith: { startTime, endTime },
    },
  };
}

/** Returns the shortfalls of the earlier period. Limits in the query itself apply to both periods. */
function unasked(name: string, earlier: QueryResult): readonly Shortfall[] {
  return readThrough(name, earlier)
    .filter(({ kind, isAsked }) => kind !== 'cut' || isAsked !== true)
    .map(({ whole: _, ...each }) => each);
}

/** Returns the fields that identify a row, or the reason why none do. */
function keyOf(
  now: ArrowTable,
  before: ArrowTable,
  asked: readonly string[] | undefined,
): readonly string[] | string {
  const names = now.data.schema.fields.map(({ name }) => name);
  const unknown = asked?.find(name => !names.includes(name));
  if (unknown !== undefined) return `the result has no field ${unknown}`;
  if (asked !== undefined) return asked;
  const bins = now.info.buckets?.field;
  const groups = [...(bins === undefined ? [] : [bins]), ...now.info.groups.map(({ name }) => name)];
  const key = [...new Set(groups)];
  if (key.some(name => !names.includes(name)))
    return `the query drops ${key.find(name => !names.includes(name))}, which its rows are grouped by`;
  if (key.length > 0 || Math.max(now.data.numRows, before.data.numRows) <= 1) return key;
  return 'there is no key to match the rows by';
}

function typeOf({ type }: Field): string {
  return String(type);
}

function typeIn({ data }: ArrowTable, name: string): string | undefined {
  const field = data.schema.fields.find(each => each.name === name);
  return field && typeOf(field);
}

/** A row of one period or of both. */
interface Pair {
  readonly now: Row | undefined;
  readonly before: Row | undefined;
}

/** A row in its table, with times of the earlier period shifted to the later one; cells are read on demand. */
class Row {
  readonly #columns: ReadonlyMap<string, Column>;
  readonly #place: number;

  constructor(columns: ReadonlyMap<string, Column>, place: number) {
    this.#columns = columns;
    this.#place = place;
  }

  get(name: string): Cell | undefined {
    const column = this.#columns.get(name);
    return column && cellOf(column, this.#place);
  }
}

type Cell = bigint | number | boolean | string | null;

function pairRows(now: ArrowTable, before: ArrowTable, key: readonly string[], offset: bigint): Pair[] {
  const [left, right] = [rowsOf(now, 0n, key), rowsOf(before, offset, key)];
  const waiting = new Map<string, Row[]>();
  // Backward, so that the first row of a key is the first to be popped.
  for (const row of right.toReversed()) {
    const rows = waiting.get(keyText(row, key));
    if (rows === undefined) waiting.set(keyText(row, key), [row]);
    else rows.push(row);
  }
  const pairs: Pair[] = left.map(row => ({ now: row, before: waiting.get(keyText(row, key))?.pop() }));
  const taken = new Set(pairs.map(({ before: row }) => row));
  const alone = right.filter(row => !taken.has(row)).map(row => ({ now: undefined, before: row }));
  return inOrder([...pairs, ...alone], now, key);
}

/** Returns the key as a string, equal for the rows of one group: a null differs from the string "null". */
function keyText(row: Row, key: readonly string[]): string {
  return JSON.stringify(
    key.map(name => {
      const cell = row.get(name) ?? null;
      return cell === null ? null : String(cell);
    }),
  );
}

/** Sorts rows of the earlier period in among the others by time; without a time they come last. */
function inOrder(pairs: Pair[], { data }: ArrowTable, key: readonly string[]): Pair[] {
  const time = data.schema.fields.find(({ name, type }) => key.includes(name) && DataType.isTimestamp(type));
  if (time === undefined) return pairs;
  const at = ({ now, before }: Pair) => (now ?? before)?.get(time.name) as bigint | null | undefined;
  const times = pairs.filter(({ now }) => now !== undefined).map(at);
  const isAscending = times.every((each, index) => index === 0 || (times[index - 1] ?? 0n) <= (each ?? 0n));
  if (!isAscending) return pairs;
  return pairs.toSorted((a, b) => {
    const [x, y] = [at(a) ?? 0n, at(b) ?? 0n];
    return x < y ? -1 : x > y ? 1 : 0;
  });
}

function rowsOf({ data }: ArrowTable, offset: bigint, key: readonly string[]): readonly Row[] {
  const columns = data.schema.fields.map((field, index): [string, Column] => {
    const shift = key.includes(field.name) && DataType.isTimestamp(field.type) ? offset : 0n;
    return [field.name, { field, vector: data.getChildAt(index) as Vector, shift }];
  });
  const byName = new Map(columns);
  return Array.from({ length: data.numRows }, (_, place) => new Row(byName, place));
}

interface Column {
  readonly field: Field;
  readonly vector: Vector;
  readonly shift: bigint;
}

function cellOf({ field, vector, shift }: Column, row: number): Cell {
  if (!vector.isValid(row)) return null;
  const { type } = field;
  if (DataType.isInt(type) || DataType.isDuration(type)) return exactInt64(vector, row);
  if (DataType.isTimestamp(type)) return exactInt64(vector, row) + shift;
  const value: unknown = vector.get(row);
  return typeof value === 'number' || typeof value === 'boolean' ? value : cellText(vector, row, field);
}

interface Compared {
  readonly key: readonly string[];
  readonly measures: readonly string[];
  /** Measures that are zero in a row that a period lacks. */
  readonly zeros: readonly string[];
}

/** Returns four columns for each measure: the figure, the earlier figure, the difference, and the difference in percent. */
function sideBySide(now: ArrowTable, pairs: readonly Pair[], compared: Compared): ArrowTable {
  const { key, measures } = compared;
  const names = namer(now);
  return tableOf(now.info, [
    ...key.map(name => keyColumn(now, pairs, name)),
    ...measures.flatMap(name => {
      const field = fieldOf(now, name);
      const figures = pairs.map(each => figuresOf(each, field, compared));
      const kept = (text: string) => renamed(field, names(text), false);
      return [
        { field: renamed(field, name, true), cells: figures.map(each => each.now) },
        { field: kept(`before_${name}`), cells: figures.map(each => each.before) },
        { field: kept(`change_${name}`), cells: figures.map(each => each.change) },
        { field: percentField(names(`percent_${name}`)), cells: figures.map(each => each.percent) },
      ];
    }),
  ]);
}

/** Returns a row for each period of a pair; the change is in the later one. */
function stacked(now: ArrowTable, pairs: readonly Pair[], compared: Compared, name: string): ArrowTable {
  const { key, measures } = compared;
  const names = namer(now);
  const period = names('period');
  const both = pairs.flatMap(each => [each, each]);
  const isLater = (index: number) => index % 2 === 0;
  const info = { ...now.info, groups: [...now.info.groups, { name: period }] };
  const drawn = measures.map(each => {
    const field = fieldOf(now, each);
    const figures = both.map(pair => figuresOf(pair, field, compared));
    const cells = figures.map((figure, index) => (isLater(index) ? figure.now : figure.before));
    const change = figures.map((figure, index) => (isLater(index) ? figure.change : null));
    return [
      { field: renamed(field, each, true), cells },
      { field: renamed(field, names(`change_${each}`), false), cells: change },
    ];
  });
  return tableOf(info, [
    ...key.map(each => keyColumn(now, both, each)),
    {
      field: new Field(
        period,
        new Utf8(),
        true,
        new Map([
          [FIELD_KEY.type, 'string'],
          [FIELD_KEY.period, 'true'],
        ]),
      ),
      cells: both.map((_, index) => (isLater(index) ? LATER : name)),
    },
    ...drawn.flatMap(([figure]) => figure ?? []),
    ...drawn.flatMap(([, change]) => change ?? []),
  ]);
}

/** The cell's own period in the legend of a chart. */
const LATER = 'the range';

interface Figures {
  readonly now: Cell;
  readonly before: Cell;
  readonly change: Cell;
  readonly percent: number | null;
}

function figuresOf(pair: Pair, { name, type }: Field, { zeros }: Compared): Figures {
  const absent = !zeros.includes(name) ? null : DataType.isFloat(type) ? 0 : 0n;
  const figureOf = (row: Row | undefined): Cell => (row === undefined ? absent : (row.get(name) ?? null));
  const [now, before] = [figureOf(pair.now), figureOf(pair.before)];
  if (typeof now === 'bigint' && typeof before === 'bigint') {
    const change = now - before;
    const fits = BigInt.asIntN(64, change) === change;
    const percent = before === 0n ? null : percentOf(Number(change), Number(before));
    return { now, before, change: fits ? change : null, percent };
  }
  if (typeof now !== 'number' || typeof before !== 'number')
    return { now, before, change: null, percent: null };
  return {
    now,
    before,
    change: now - before,
    percent: before === 0 ? null : percentOf(now - before, before),
  };
}

/** Returns the change in percent of the earlier figure's magnitude: a decrease is negative, whatever the sign of the figures. */
function percentOf(change: number, before: number): number | null {
  const percent = (100 * change) / Math.abs(before);
  return Number.isFinite(percent) ? percent : null;
}

interface Filled {
  readonly field: Field;
  readonly cells: readonly Cell[];
}

function keyColumn(now: ArrowTable, pairs: readonly Pair[], name: string): Filled {
  const field = fieldOf(now, name);
  const type = DataType.isDictionary(field.type) ? new Utf8() : field.type;
  return {
    field: new Field(name, type, true, field.metadata),
    cells: pairs.map(each => (each.now ?? each.before)?.get(name) ?? null),
  };
}

function fieldOf({ data }: ArrowTable, name: string): Field {
  return data.schema.fields.find(each => each.name === name) as Field;
}

/** Renames a field. Only the figure itself keeps its aggregation: in a difference, a missing bin does not mean zero. */
function renamed(field: Field, name: string, keepsAggregation: boolean): Field {
  const metadata = new Map(field.metadata);
  if (!keepsAggregation) for (const key of [FIELD_KEY.agg, FIELD_KEY.description]) metadata.delete(key);
  return new Field(name, field.type, true, metadata);
}

function percentField(name: string): Field {
  const metadata = new Map<string, string>([
    [FIELD_KEY.type, 'float'],
    [FIELD_KEY.unit, 'percent'],
  ]);
  return new Field(name, new Float64(), true, metadata);
}

/** Returns a function that gives unused names to new columns. */
function namer({ data }: ArrowTable): (name: string) => string {
  const taken = new Set(data.schema.fields.map(({ name }) => name));
  return name => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    taken.add(free);
    return free;
  };
}

function tableOf(info: TableInfo, columns: readonly Filled[]): ArrowTable {
  const fields = columns.map(({ field }) => field);
  const length = columns[0]?.cells.length ?? 0;
  const children = columns.map(dataOf);
  const schema = new Schema(fields, new Map([['apl.table', info.name]]));
  const struct = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  const described = fields.map(
    (field): ResultField =>
      info.fields.find(({ name }) => name === field.name) ?? {
        name: field.name,
        type: (field.metadata.get(FIELD_KEY.type) ?? 'string') as ResultField['type'],
      },
  );
  const order = info.order.filter(({ field }) => fields.some(({ name }) => name === field));
  return {
    info: { ...info, fields: described, order },
    data: new Table(schema, [new RecordBatch(schema, struct)]),
  };
}

function dataOf({ field: { type }, cells }: Filled): Data {
  if (DataType.isTimestamp(type) || DataType.isDuration(type) || DataType.isInt(type)) {
    const data = BigInt64Array.from(cells, cell => (typeof cell === 'bigint' ? cell : 0n));
    return makeData({ type, length: cells.length, data, ...validity(cells) } as Parameters<
      typeof makeData
    >[0]);
  }
  const column = DataType.isFloat(type) ? new Float64() : DataType.isBool(type) ? new Bool() : new Utf8();
  return vectorFromArray(cells as unknown[], column).data[0] as Data;
}

function validity(cells: readonly Cell[]): { readonly nullCount: number; readonly nullBitmap: Uint8Array } {
  const nullBitmap = new Uint8Array(Math.ceil(cells.length / 8));
  let nullCount = 0;
  for (const [row, cell] of cells.entries()) {
    if (cell === null) nullCount += 1;
    else nullBitmap[row >> 3] = (nullBitmap[row >> 3] as number) | (1 << (row & 7));
  }
  return { nullCount, nullBitmap };
}

/** Notices that a reader needs before trusting a change. */
function notes(
  pairs: readonly Pair[],
  { provenance: { startTime, endTime } }: QueryResult,
  left: readonly string[],
  absent: { readonly zeros: number; readonly nulls: number },
): readonly Notice[] {
  const alone = pairs.filter(each => each.now === undefined || each.before === undefined).length;
  const texts = [
    `Compared with ${startTime} to ${endTime}.`,
    ...(alone > 0
      ? [
          `${alone} of ${plural(pairs.length, 'row')} are in only one of the two periods; in the other, ${absentText(absent)}.`,
        ]
      : []),
    ...(left.length > 0 ? [`Not compared because they are not numbers: ${namesText(left)}.`] : []),
  ];
  return texts.map(text => ({ level: 'info', text }));
}

function absentText({ zeros, nulls }: { readonly zeros: number; readonly nulls: number }): string {
  if (zeros === 0) return 'their figures are null';
  return nulls === 0
    ? 'their figures are 0'
    : 'their counts and sums are 0, and their other figures are null';
}

/** Maximum number of names listed; the remaining ones are counted. */
const namedFields = 10;

function namesText(names: readonly string[]): string {
  const named = names.slice(0, namedFields).map(codeWords).join(', ');
  return names.length > namedFields ? `${named} and ${names.length - namedFields} more` : named;
}
