/**
 * A result as Jupyter outputs: a chart where the result is one over time, and always the table, each in MIME types that
 * degrade from an extension's grid to a terminal.
 */
import {
  type Data,
  DataType,
  Dictionary,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { toChart } from './chart/drawing.js';
import { HTML_LIMITS, toHtml } from './html.js';
import { PLAIN_LIMITS, toPlain } from './plain.js';
import type { QueryResult } from './result.js';
import { allNotices } from './summary.js';

/** One output of a cell: MIME type -> payload, and metadata by MIME type and under `apl`. */
export interface Output {
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface OutputOptions {
  /** Rows written into HTML at most; the kernel keeps all rows. Default 1,000. */
  readonly rowLimit?: number;
  /** Bytes of HTML at most. Default 512 KiB. */
  readonly htmlBytes?: number;
  /** Bytes of Arrow at most, before base64. Default 1 MiB; 0 leaves Arrow out. */
  readonly byteBudget?: number;
  /** False leaves the chart out. Default true. */
  readonly chart?: boolean;
  /** The moment of the query, in milliseconds since 1970. Default: now. */
  readonly now?: number;
}

/** The registered type of an Arrow IPC stream: https://www.iana.org/assignments/media-types/application/vnd.apache.arrow.stream */
export const ARROW_MIME = 'application/vnd.apache.arrow.stream';
export const VEGA_MIME = 'application/vnd.vega.v5+json';

const DEFAULT_BYTE_BUDGET = 1024 * 1024;

/**
 * The outputs of a result, in the order to show them: a chart (Vega and SVG) if the result is an aggregate over time,
 * then the table (HTML, plain text, Arrow). Two outputs, as a front end shows only one MIME type of each: the chart is
 * meant as display_data, the last output as execute_result.
 */
export async function toOutputs(
  result: QueryResult,
  options: OutputOptions = {},
): Promise<readonly Output[]> {
  const chart = options.chart === false ? undefined : await toChart(result, options.now ?? Date.now());
  if (chart === undefined) return [toBundle(result, options)];
  if (chart.kind === 'none') return [toBundle(withNotice(result, chart.reason), options)];
  const data = { [VEGA_MIME]: chart.spec, 'image/svg+xml': chart.svg, 'text/plain': chart.description };
  return [{ data, metadata: { apl: aplMetadata(result) } }, toBundle(result, options)];
}

function withNotice(result: QueryResult, text: string): QueryResult {
  return { ...result, notices: [...result.notices, { level: 'info', text }] };
}

/** The table of a result in all its MIME types. */
export function toBundle(result: QueryResult, options: OutputOptions = {}): Output {
  const rows = options.rowLimit ?? HTML_LIMITS.rows;
  const data: Record<string, unknown> = {
    'text/html': toHtml(result, { rows, bytes: options.htmlBytes ?? HTML_LIMITS.bytes }),
    'text/plain': toPlain(result, { ...PLAIN_LIMITS, rows: Math.min(rows, PLAIN_LIMITS.rows) }),
  };
  const table = result.tables[0]?.data;
  if (table === undefined) return { data, metadata: { apl: aplMetadata(result) } };
  const arrow = arrowWithin(table, options.byteBudget ?? DEFAULT_BYTE_BUDGET);
  const summary = { total_rows: table.numRows, included_rows: arrow?.rows ?? 0, sampled: false };
  if (arrow !== undefined) data[ARROW_MIME] = Buffer.from(arrow.bytes).toString('base64');
  return { data, metadata: { apl: aplMetadata(result), [ARROW_MIME]: { nteract: { summary } } } };
}

/** Provenance, status and limits, so that an output can be audited without the kernel. */
function aplMetadata(result: QueryResult): Readonly<Record<string, unknown>> {
  const { provenance, status, tables } = result;
  const shapes = tables.map(({ info, data }) => ({
    name: info.name,
    rows: data.numRows,
    columns: data.numCols,
  }));
  return { ...provenance, status, tables: shapes, limits: allNotices(result) };
}

interface ArrowPart {
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** The Arrow stream of as many first rows as fit the bytes; undefined when not even one row does. */
function arrowWithin(table: Table, budget: number): ArrowPart | undefined {
  let rows = Math.min(table.numRows, rowsWorthTrying(table, budget));
  for (let bytes = encode(table, rows); ; bytes = encode(table, rows)) {
    if (bytes.length <= budget) return rows === 0 && table.numRows > 0 ? undefined : { bytes, rows };
    if (rows === 0) return undefined;
    rows = Math.min(rows - 1, Math.floor((rows * budget * 0.95) / bytes.length));
  }
}

/** Avoids encoding a large table whole only to learn that it is large. */
function rowsWorthTrying(table: Table, budget: number): number {
  const bytesPerRow =
    table.batches.reduce((sum, batch) => sum + batch.data.byteLength, 0) / Math.max(table.numRows, 1);
  return bytesPerRow === 0 ? table.numRows : Math.ceil((budget * 2) / bytesPerRow);
}

function encode(table: Table, rows: number): Uint8Array {
  return tableToIPC(rows === table.numRows ? table : firstRows(table, rows), 'stream');
}

/** Only the first rows, without the dictionary entries that only later rows use. */
function firstRows(table: Table, rows: number): Table {
  const columns = table.schema.fields.map((_, index) =>
    compacted((table.getChildAt(index) as Vector).slice(0, rows)),
  );
  const chunks = columns.map(column => column.data[0]).filter(chunk => chunk !== undefined);
  if (chunks.length < columns.length || columns.some(column => column.data.length > 1))
    return table.slice(0, rows);
  const fields = table.schema.fields.map((field, index) =>
    field.clone({ type: (chunks[index] as Data).type }),
  );
  const schema = new Schema(fields, table.schema.metadata);
  const struct = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children: chunks });
  return new Table(schema, [new RecordBatch(schema, struct)]);
}

function compacted(column: Vector): Vector {
  if (!DataType.isDictionary(column.type)) return column;
  return vectorFromArray([...column] as (string | null)[], new Dictionary(new Utf8(), new Int32()));
}
