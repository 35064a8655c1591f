import { notCountedCode, type QueryStatus, type StatusMessage } from '../../api/wire.js';
import { present } from '../../present.js';
import { formatCount } from '../../text.js';
import { formatTime, parseTime } from '../../time.js';
import {
  type CompiledPage,
  type CompiledQuery,
  type CompiledTable,
  cursorField,
  type DatasetCatalog,
  type LimitReason,
  mostRowLimit,
  sharedTable,
} from '../sql/compiled-query.js';
import type { Page } from '../sql/rewrite/rewrite-pages.js';
import { cursorText, firstCursor, lastCursor, type Run, rowCursors } from '../sql/sql-cursor.js';
import { asJson, type CellForm, type Columns, JsonColumns, type ReadCells } from './engine-columns.js';
import { type OperatorCounts, sumCounts } from './engine-profile.js';
import type { Reader, ReaderSource, ReadResult, ResultOrder } from './engine-reader.js';
import type { RequestContext } from './engine-request.js';
import type { ExaminedBlocks, RecordingCatalog } from './scans.js';

/** The result of a query: its tables with their cells, and facts about its run. */
export interface QueryAnswer {
  readonly query: CompiledQuery;
  readonly tables: readonly RanTable[];
  readonly status: QueryStatus;
  readonly catalog: DatasetCatalog;
}

/** A table with its rows. `cut`: rows beyond the row limit were left out. */
export interface RanTable {
  readonly table: CompiledTable;
  readonly columns: Columns;
  readonly counts: OperatorCounts;
  readonly cut: boolean;
  readonly cursors?: Cursors;
}

/** Options for running a query. */
interface RunOptions {
  /** Milliseconds. */
  readonly clock?: () => number;
  /** Maximum size of a table's cells, in bytes (default: unlimited). */
  readonly mostBytes?: number;
  /** Default: JSON. */
  readonly form?: CellForm;
  /** Loads what the statement just written requires; returns whether it loaded anything, in which case the statement is written again. */
  readonly load?: Load;
}

type Load = () => Promise<boolean>;

/** Runs a query compiled against `catalog`. Throws EngineError. */
export async function runQuery(
  readers: ReaderSource,
  query: CompiledQuery,
  catalog: RecordingCatalog,
  context: RequestContext = {},
  {
    clock = () => performance.now(),
    mostBytes = Number.POSITIVE_INFINITY,
    form = 'json',
    load = nothingToLoad,
  }: RunOptions = {},
): Promise<QueryAnswer> {
  const startedMs = clock();
  const temporary = query.shared === undefined ? undefined : sharedTable;
  const { rows, computed = 0 } = catalog.examined;
  const reads = rows + computed + (query.made ?? 0);
  const ran = await readers.reading(
    reader => runTables(reader, query, { mostBytes, form, load }),
    temporary,
    {
      ...context,
      rows: reads,
    },
  );
  const status = statusOf(query, ran, catalog.examined, clock() - startedMs);
  return { query, tables: ran, status, catalog };
}

async function nothingToLoad(): Promise<boolean> {
  return false;
}

/** Returns a statement written on demand, after loading everything it reads. */
async function written(write: () => string, load: Load): Promise<string> {
  for (;;) {
    const sql = write();
    if (!(await load())) return sql;
  }
}

/** Returns whether `test` holds for any statement of a query. */
export function anyStatement(query: CompiledQuery, test: (sql: string) => boolean): boolean {
  return [query.shared ?? '', ...query.tables.map(table => table.sql)].some(test);
}

interface Cursors {
  readonly min: string;
  readonly max: string;
}

async function runTables(reader: Reader, query: CompiledQuery, wanted: Wanted): Promise<readonly RanTable[]> {
  const ran: RanTable[] = [];
  if (query.shared === undefined) {
    for (const table of query.tables) ran.push(await runTable(reader, table, table.sql, wanted));
    return ran;
  }
  const counts = await reader.execute(`CREATE OR REPLACE TEMP TABLE ${sharedTable} AS ${query.shared}`);
  // The rows were counted when they were stored: reading them again does not count.
  for (const table of query.tables)
    ran.push({ ...(await runTable(reader, table, table.sharedSql ?? table.sql, wanted)), counts });
  return ran;
}

async function runTable(
  reader: Reader,
  table: CompiledTable,
  sql: string,
  wanted: Wanted,
): Promise<RanTable> {
  const order = orderOf(table, wanted);
  const quick = await readParts(reader, table, sql, order, wanted.load);
  const { cut, columns, counts } = quick;
  if (table.page === undefined) return { table, columns, counts, cut };
  const last = edge(quick.columns, timeIndex(table), 'last');
  const more = last !== undefined && quick.cutTime === last.time;
  const { page, ofRows } = table.page;
  const isFixed = page.fixed || !(more || ofRows);
  const exactSql = () => table.page?.exactSql(cut ? last?.time : undefined) ?? sql;
  const exact =
    !isFixed || page.skipped !== undefined
      ? await reader.read({ ...order, sql: await written(exactSql, wanted.load) })
      : quick;
  const cursors = cursorsOf(table, table.page, exact.columns, more);
  const shown = ofRows ? withCursors(table, page, exact.columns) : { table, columns: exact.columns };
  return { ...shown, counts, cut, ...present({ cursors }) };
}

/** Returns the rows with their cursors as the last field, replacing any field of that name. */
function withCursors(table: CompiledTable, page: Page, read: Columns): Pick<RanTable, 'table' | 'columns'> {
  const columns = asJson(read);
  const cells = columns.cells(timeIndex(table)).map(cell => parseTime(cell.replaceAll('"', '')));
  const cursors = rowCursors(page, cells).map(each =>
    each === undefined ? 'null' : JSON.stringify(cursorText(each)),
  );
  const kept = table.fields.flatMap(({ name }, index) => (name === cursorField ? [] : [index]));
  const fields = [
    ...kept.flatMap(index => table.fields[index] ?? []),
    { name: cursorField, type: 'string' as const },
  ];
  const part: ReadCells = {
    rows: columns.rows,
    cells: [...kept.map(index => columns.pieces(index)), [Buffer.from(cursors.join(','), 'latin1')]],
    notFinite: [...kept.map(index => columns.notFinite(index)), 0],
  };
  return { table: { ...table, fields }, columns: JsonColumns.together(fields, [part]) };
}

/** Reads the statements of a table one after the other until the row limit. */
async function readParts(
  reader: Reader,
  table: CompiledTable,
  sql: string,
  order: TableOrder,
  load: Load,
): Promise<ReadResult> {
  const limit = order.limit + (table.page?.page.skipped?.rows ?? 0);
  let read = await readFirst(reader, table, { ...order, limit, sql });
  for (const further of table.further ?? []) {
    if (read.cut || (read.columns.rows === limit && table.rowLimit?.reason === 'query')) break;
    const { columns, counts } = read;
    const mostBytes = order.mostBytes - columns.size;
    const sql = await written(further, load);
    const next = await reader.read({ ...order, limit: limit - columns.rows, mostBytes, sql });
    const parts = [columns, next.columns].map(each => asJson(each).read);
    read = {
      ...next,
      columns: JsonColumns.together(order.fields, parts),
      counts: sumCounts([counts, next.counts]),
    };
  }
  return read;
}

/** Reads the first statement of a table, its timestamps before the rows. Only the first pass counts as examined. */
async function readFirst(reader: Reader, { times }: CompiledTable, order: ResultOrder): Promise<ReadResult> {
  if (times === undefined) return reader.read(order);
  const fields = [{ name: '_time', type: 'datetime' }] as const;
  const found = await reader.read({
    ...order,
    sql: times.sql,
    fields,
    time: 0,
    limit: Number.POSITIVE_INFINITY,
  });
  const first = edge(found.columns, 0, 'first')?.time;
  const last = edge(found.columns, 0, 'last')?.time;
  // There are no rows, or some have no time.
  if (first === undefined || last === undefined) return reader.read(order);
  const sql = first < last ? times.between(first, last) : times.between(last, first);
  return { ...(await reader.read({ ...order, sql })), counts: found.counts };
}

type TableOrder = Omit<ResultOrder, 'sql'>;
type Wanted = Pick<ResultOrder, 'mostBytes' | 'form'> & { readonly load: Load };

/** Cells from several statements are combined as JSON, and cursors are added to JSON. */
function orderOf(table: CompiledTable, { mostBytes, form }: Wanted): TableOrder {
  const fields = table.fields.map(({ name, type }) => ({ name, type }));
  const limit = table.rowLimit?.rows ?? Number.POSITIVE_INFINITY;
  const delivery = table.whole ? 'whole' : 'streamed';
  const isAsRead = (table.further ?? []).length === 0 && !table.page?.ofRows;
  return { fields, limit, mostBytes, form: isAsRead ? form : 'json', time: timeIndex(table), delivery };
}

/** Returns the index of the time field, or -1. */
function timeIndex(table: CompiledTable): number {
  return table.fields.findIndex(field => field.name === '_time' && field.type === 'datetime');
}

/** Returns cursors at the first and last row; undefined if a row has no time. */
function cursorsOf(
  table: CompiledTable,
  { page, cursor }: CompiledPage,
  columns: Columns,
  more: boolean,
): Cursors | undefined {
  if (columns.rows === 0) return cursor === undefined ? undefined : { min: cursor, max: cursor };
  const first = edge(columns, timeIndex(table), 'first');
  const last = edge(columns, timeIndex(table), 'last');
  if (first === undefined || last === undefined) return undefined;
  const end = lastCursor(page, last, more);
  const [at, to] = [cursorText(firstCursor(page, first, end)), cursorText(end)];
  return page.descending ? { min: to, max: at } : { min: at, max: to };
}

/** Returns the rows at one end that share a timestamp. */
function edge(columns: Columns, index: number, end: 'first' | 'last'): Run | undefined {
  const { text, rows } = columns.run(index, end);
  const time = parseTime(text.replaceAll('"', ''));
  return time === undefined ? undefined : { time, rows, all: rows === columns.rows };
}

function statusOf(
  query: CompiledQuery,
  ran: readonly RanTable[],
  blocks: ExaminedBlocks,
  elapsedMs: number,
): QueryStatus {
  const counts = query.shared === undefined ? sumCounts(ran.map(each => each.counts)) : ran[0]?.counts;
  const rowsExamined = blocks.rows + (counts?.generatedRows ?? 0);
  const range = query.tables[0]?.range;
  return {
    elapsedTime: Math.round(elapsedMs * 1000),
    minCursor: ran[0]?.cursors?.min ?? '',
    maxCursor: ran[0]?.cursors?.max ?? '',
    blocksExamined: blocks.blocks,
    blocksCached: 0,
    blocksMatched: blocks.blocks,
    rowsExamined,
    // Without a scan, the engine answered from the statistics of all those rows.
    rowsMatched: counts?.unscanned ? rowsExamined : (counts?.matchedRows ?? 0),
    numGroups: groupCount(ran),
    isPartial: false,
    cacheStatus: 0,
    minBlockTime: timeText(blocks.minNs ?? range?.start),
    maxBlockTime: timeText(blocks.maxNs ?? range?.end),
    ...messagesOf(query, ran),
  };
}

/** Counts the groups of the result, each once regardless of its number of time bins. */
function groupCount(ran: readonly RanTable[]): number {
  const totals = ran.find(each => each.table.name === '_totals');
  if (totals) return totals.columns.rows;
  const [first] = ran;
  if (first === undefined) return 0;
  const { buckets, groups, fields } = first.table;
  const indexes = groups.map(name => fields.findIndex(field => field.name === name));
  if (buckets === undefined || indexes.includes(-1)) return groups.length > 0 ? first.columns.rows : 0;
  return first.columns.distinct(indexes);
}

function messagesOf(query: CompiledQuery, ran: readonly RanTable[]): { messages?: readonly StatusMessage[] } {
  const messages = [
    ...query.notices,
    ...(ran.some(({ counts }) => counts.uncounted) ? [uncounted] : []),
    ...ran.flatMap(each => [...(each.cut ? cutMessages(each) : []), ...notFinite(each)]),
  ];
  return messages.length > 0 ? { messages } : {};
}

const uncounted: StatusMessage = {
  ...{ priority: 'warn', count: 1, code: notCountedCode },
  msg: 'The numbers of examined and matched rows are unknown: the temporary directory is full or not writable.',
};

const limitReasons: Readonly<Record<Exclude<LimitReason, 'query'>, (ran: RanTable) => string>> = {
  default: () => 'The query has no limit: add `| limit N` for more.',
  request: () => 'The limit was set by the request.',
  // With time bins, a limit counts groups.
  server: ({ table, columns }) =>
    columns.rows < mostRowLimit && table.buckets === undefined && table.name !== '_totals'
      ? `Add \`| limit N\` for more, up to ${formatCount(mostRowLimit)}.`
      : 'This is the maximum that the service returns.',
};

function cutMessages(ran: RanTable): StatusMessage[] {
  const { table, columns } = ran;
  const reason = table.rowLimit?.reason ?? 'server';
  if (reason === 'query') return [];
  const what = table.name === '_totals' ? 'totals' : 'rows';
  const msg = `Only the first ${formatCount(columns.rows)} ${what} were returned; there are more. ${limitReasons[reason](ran)}`;
  return [{ priority: 'warn', count: 1, code: `row_limit_${reason}`, msg }];
}

/** Reports NaN and infinities, for which JSON has no notation, so that they are not taken for missing values. */
function notFinite({ table, columns }: RanTable): StatusMessage[] {
  if (table.name === '_totals') return [];
  return table.fields.flatMap(({ name }, index) => {
    const count = columns.notFinite(index);
    if (count === 0) return [];
    const [what, shown] =
      count === 1
        ? ['1 value that is NaN', 'it is shown']
        : [`${formatCount(count)} values that are NaN`, 'they are shown'];
    const msg = `\`${name}\` holds ${what} (0.0 / 0) or infinite; ${shown} as null.`;
    return [{ priority: 'info', count: 1, code: 'not_finite', msg }];
  });
}

function timeText(time: bigint | string | undefined): string {
  if (time === undefined) return '';
  return typeof time === 'string' ? time : formatTime(time, 'fewest');
}
