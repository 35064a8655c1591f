import type { DuckDBResult } from '@duckdb/node-api';
import type { FieldMeta, QueryStatus, StatusMessage, WireType } from '../api/wire.js';
import type { TypeName } from '../apl/catalog.js';
import { JsonColumns, packedSql, rfc3339 } from './columns.js';
import type { CompiledField, CompiledQuery, CompiledTable, DatasetCatalog } from './compiled.js';
import type { Engine } from './duckdb.js';
import { type OperatorCounts, sumCounts } from './profile.js';
import type { ExaminedBlocks, RecordingCatalog } from './scans.js';

/**
 * Runs a query that was compiled against `catalog` and returns the body of a tabular response as bytes in order; throws
 * EngineError.
 */
export async function runQuery(
  engine: Engine,
  query: CompiledQuery,
  catalog: RecordingCatalog,
  signal?: AbortSignal,
): Promise<readonly Buffer[]> {
  const startedMs = performance.now();
  const ran: RanTable[] = [];
  for (const table of query.tables) ran.push(await runTable(engine, table, signal));
  const body = ran.flatMap((each, index) => [text(index === 0 ? '' : ','), ...tableBytes(each)]);
  const status = statusOf(query, ran, catalog.examined, performance.now() - startedMs);
  return [text(head(query, catalog, status)), ...body, text(']}')];
}

/** Returns the wire's name of a type. */
export function wireType(type: TypeName): WireType {
  return wireTypes[type];
}

const wireTypes: Readonly<Record<TypeName, WireType>> = {
  bool: 'boolean',
  long: 'integer',
  real: 'float',
  string: 'string',
  datetime: 'datetime',
  timespan: 'timespan',
  dynamic: 'dynamic',
};

interface RanTable {
  readonly table: CompiledTable;
  readonly columns: JsonColumns;
  readonly counts: OperatorCounts;
  /** The row limit was reached and rows were left out. */
  readonly cut: boolean;
}

async function runTable(
  engine: Engine,
  table: CompiledTable,
  signal: AbortSignal | undefined,
): Promise<RanTable> {
  const types = table.fields.map(field => field.type);
  const columns = new JsonColumns(types);
  const limit = table.rowLimit?.rows ?? Number.POSITIVE_INFINITY;
  const consume = (result: DuckDBResult) => readColumns(result, columns, limit);
  const { value: cut, counts } = await engine.query(packedSql(table.sql, types), consume, signal);
  return { table, columns, counts, cut };
}

/** Reads to the end even past the limit, which the SQL keeps near: the engine reports its counts only then. */
async function readColumns(result: DuckDBResult, columns: JsonColumns, limit: number): Promise<boolean> {
  let cut = false;
  for (let chunk = await result.fetchChunk(); chunk !== null; chunk = await result.fetchChunk()) {
    if (chunk.rowCount === 0) break;
    const rows = Math.min(chunk.rowCount, limit - columns.rows);
    cut ||= rows < chunk.rowCount;
    if (rows > 0) columns.append(chunk, rows);
  }
  return cut;
}

function head(query: CompiledQuery, catalog: DatasetCatalog, status: QueryStatus): string {
  const fieldsMetaMap = Object.fromEntries(
    query.datasets.map((name, index) => [
      name,
      [...metaOf(catalog, name), ...(index === 0 ? computedMeta(query) : [])],
    ]),
  );
  const json = JSON.stringify({ format: 'tabular', status, datasetNames: query.datasets, fieldsMetaMap });
  return `${json.slice(0, -1)},"tables":[`;
}

/** What is known about fields that the query made, such as the unit of a sum; told with the first dataset. */
function computedMeta(query: CompiledQuery): FieldMeta[] {
  const known = query.tables.flatMap(table =>
    table.fields.map(field => field.meta && { ...field.meta, type: wireType(field.type) }),
  );
  return known.filter(meta => meta !== undefined);
}

function metaOf(catalog: DatasetCatalog, dataset: string): FieldMeta[] {
  return (catalog.schema(dataset)?.fields ?? []).map(field => ({
    name: field.name,
    type: wireType(field.type),
    unit: field.unit ?? '',
    hidden: field.hidden ?? false,
    description: field.description ?? '',
  }));
}

function tableBytes({ table, columns }: RanTable): Buffer[] {
  const description = toJson({
    name: table.name,
    sources: table.sources.map(name => ({ name })),
    fields: table.fields.map(resultField),
    order: table.order,
    groups: table.groups.map(name => ({ name })),
    ...(table.range && { range: rangeOf(table.range) }),
    ...(table.buckets && { buckets: { field: table.buckets.field, size: Number(table.buckets.size) } }),
  });
  const cells = table.fields.flatMap((_, index) => [text(index === 0 ? '[' : '],['), columns.bytes(index)]);
  const end = table.fields.length === 0 ? ']}' : ']]}';
  return [text(`${description.slice(0, -1)},"columns":[`), ...cells, text(end)];
}

function resultField(field: CompiledField) {
  return { name: field.name, type: wireType(field.type), ...(field.agg && { agg: field.agg }) };
}

function rangeOf(range: NonNullable<CompiledTable['range']>) {
  return { field: range.field, start: timeText(range.start), end: timeText(range.end) };
}

function statusOf(
  query: CompiledQuery,
  ran: readonly RanTable[],
  blocks: ExaminedBlocks,
  elapsedMs: number,
): QueryStatus {
  const counts = sumCounts(ran.map(each => each.counts));
  const rowsExamined = blocks.rows + counts.generatedRows;
  const range = query.tables[0]?.range;
  return {
    elapsedTime: Math.round(elapsedMs * 1000),
    ...cursorsOf(ran[0]),
    blocksExamined: blocks.blocks,
    blocksCached: 0,
    blocksMatched: blocks.blocks,
    rowsExamined,
    // Without a scan the engine has answered from the statistics of all those rows.
    rowsMatched: counts.unscanned ? rowsExamined : counts.matchedRows,
    numGroups: groupCount(ran),
    isPartial: ran.some(each => each.cut && each.table.rowLimit?.reason === 'server'),
    cacheStatus: 0,
    minBlockTime: timeText(blocks.minNs ?? range?.start),
    maxBlockTime: timeText(blocks.maxNs ?? range?.end),
    ...messagesOf(query, ran),
  };
}

/** The earliest and the latest time of a table ordered by time; its ends, so nothing has to be searched. */
function cursorsOf(ran: RanTable | undefined): { minCursor: string; maxCursor: string } {
  const index =
    ran?.table.fields.findIndex(field => field.name === '_time' && field.type === 'datetime') ?? -1;
  const [order] = ran?.table.order ?? [];
  if (!ran || index < 0 || order?.field !== '_time') return { minCursor: '', maxCursor: '' };
  const cells = ran.columns.bytes(index);
  const first = cells.toString('latin1', 0, cells.indexOf(',') < 0 ? cells.length : cells.indexOf(','));
  const last = cells.toString('latin1', cells.lastIndexOf(',') + 1);
  const [min, max] = order.desc ? [last, first] : [first, last];
  return { minCursor: min.replaceAll('"', ''), maxCursor: max.replaceAll('"', '') };
}

/** Totals hold one row per group; without them, each row of a grouped table is a group. */
function groupCount(ran: readonly RanTable[]): number {
  const totals = ran.find(each => each.table.name === '_totals');
  if (totals) return totals.columns.rows;
  const first = ran[0];
  return first && first.table.groups.length > 0 ? first.columns.rows : 0;
}

function messagesOf(query: CompiledQuery, ran: readonly RanTable[]): { messages?: readonly StatusMessage[] } {
  const messages = [...query.notices, ...ran.filter(each => each.cut).map(cutMessage)];
  return messages.length > 0 ? { messages } : {};
}

const limitReasons = {
  default: 'Nothing in the query sets a limit: add `| limit N` for more.',
  request: 'The request set this limit.',
  server: 'The service returns no more than this.',
} as const;

function cutMessage({ table, columns }: RanTable): StatusMessage {
  const reason = limitReasons[table.rowLimit?.reason ?? 'server'];
  const msg = `Only the first ${columns.rows.toLocaleString('en-US')} rows are returned; there are more. ${reason}`;
  return { priority: 'warn', count: 1, code: `row_limit_${table.rowLimit?.reason ?? 'server'}`, msg };
}

function timeText(time: bigint | string | undefined): string {
  if (time === undefined) return '';
  return typeof time === 'string' ? time : rfc3339(time);
}

/** Arguments of aggregations may be exact integers, which JSON.stringify refuses. */
function toJson(value: object): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? Number(each) : each));
}

function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}
