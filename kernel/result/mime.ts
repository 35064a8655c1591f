/**
 * A result as Jupyter outputs: a chart if its shape has one, and always the table, each in MIME types that degrade from an extension's
 * view to plain text.
 */

import type { QueryStatus } from '../api/wire.js';
import type { ChartOptions } from '../apl/operators/drawing.js';
import { present } from '../present.js';
import { isolatedWords, withoutTokensIn } from '../text.js';
import { type Beside, type Column, columnOf } from './beside.js';
import { type AskAnnotations, type Chart, type NoChart, toChart } from './chart/chart.js';
import { toTerminal } from './chart/chart-describe.js';
import { wrapped } from './display/aligned.js';
import { HTML_LIMITS, toHtml } from './display/html.js';
import { PLAIN_LIMITS, toPlain } from './display/plain.js';
import { allNotices, heading, safeWords } from './display/summary.js';
import { arrowWithin, tableHash } from './ipc/ipc-stream.js';
import type { Provenance, QueryResult } from './result.js';
import { shortfallSentences, shortfallsOf, shortfallText } from './shortfall.js';
import { spread } from './spread.js';

/** One output of a cell: MIME type -> payload, and metadata by MIME type and under `apl`. */
export interface Output {
  readonly data: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface OutputOptions {
  /** Rows to write into HTML, regardless of size; the kernel keeps all rows. If absent, all up to 100, or 30 of more, if small enough. */
  readonly rows?: number;
  /** Maximum bytes of Arrow data, before base64. Default 96 KiB; 0 leaves Arrow out. */
  readonly byteBudget?: number;
  /** Chart options; the shape of the result decides the remaining ones. */
  readonly chart?: ChartOptions;
  /** Id with which a front end requests the rows of this result from the kernel; absent if no kernel holds it. */
  readonly resultId?: string;
  /** Requests the annotations of a chart along time (default: none). */
  readonly annotations?: AskAnnotations;
  /** The form of the result that the chart shows, if it differs from the table. */
  readonly drawn?: QueryResult;
  /** When the query ran, in milliseconds since 1970. Default: now, or the end of a frozen range. */
  readonly now?: number;
  /** Width of a line in the text for terminals, in characters. Default 160. */
  readonly width?: number;
  /** Outputs beside these (default: none). */
  readonly beside?: Beside;
  /** Leaves out the Vega specification of a chart, for a front end that cannot render it (default: false). */
  readonly svgOnly?: boolean;
}

/** Position in a cell; without one, outputs have no column. */
interface Place {
  readonly column?: Column;
  /** Whether the chart of the same result is the output before it. */
  readonly isUnderChart?: boolean;
}

/** The registered type of an Arrow IPC stream: https://www.iana.org/assignments/media-types/application/vnd.apache.arrow.stream */
export const ARROW_MIME = 'application/vnd.apache.arrow.stream';
export const VEGA_MIME = 'application/vnd.vega.v5+json';
/** Every chart has it, and no table. */
export const SVG_MIME = 'image/svg+xml';

/** Keeps an output, with its tables and text, below 256 KiB in the notebook. */
const DEFAULT_BYTE_BUDGET = 96 * 1024;
/** Maximum bytes of HTML if `rows` is given. */
const ASKED_BYTES = 4 * 1024 * 1024;

/**
 * Returns the outputs of a result, in display order: a chart (Vega and SVG) if its shape has one or one is requested, then the table
 * (HTML, plain text, Arrow); a chart that would push the table off the screen comes after it. Two outputs, since a front end shows only
 * one MIME type of each: the chart is meant as display_data, the table as execute_result.
 */
export async function toOutputs(
  result: QueryResult,
  options: OutputOptions = {},
): Promise<readonly Output[]> {
  const chart = await chartOf(result, options);
  const alone: Place = present({ column: columnOf(options.beside, 0, 1) });
  if (chart === undefined) return [tableOutput(result, options, alone)];
  if (chart.kind === 'none') return [tableOutput(withNotice(result, chart), options, alone)];
  const isLast = chart.model.followsTable === true;
  const column = (place: number): Place => present({ column: columnOf(options.beside, place, 2) });
  const isUnderChart = !isLast && typeof options.beside === 'number';
  const outputs = [
    chartOutput(chart, result, options, column(isLast ? 1 : 0)),
    tableOutput(result, options, { ...column(isLast ? 0 : 1), isUnderChart }),
  ];
  return isLast ? outputs.reverse() : outputs;
}

/** Returns the table. Lists that read better as rows are shown as rows, which the result in the kernel does not have. */
function tableOutput(result: QueryResult, options: OutputOptions, place: Place): Output {
  const rows = spread(result);
  if (rows === undefined) return toBundle(result, options, place);
  const { resultId: _, ...rest } = options;
  return toBundle(rows, rest, place);
}

/** Returns the chart of a result, or why there is none; undefined if its shape has none and none is requested. */
export function chartOf(result: QueryResult, options: OutputOptions): Promise<Chart | NoChart | undefined> {
  const { drawn = result, now = ranAt(result), chart, annotations } = options;
  return toChart(drawn, now, chart, annotations);
}

/** Returns the output of a chart, without the table; a terminal, recognized by its known width, gets it in characters. */
export function chartOutput(
  { model, spec, svg, description }: Chart,
  result: QueryResult,
  options: OutputOptions = {},
  place: Place = {},
): Output {
  const { width, svgOnly } = options;
  const text = isolatedWords(
    width === undefined ? description : `${toTerminal(model, width)}\n${wrapped(description, width)}`,
  );
  const data = { ...(svgOnly ? {} : { [VEGA_MIME]: spec }), [SVG_MIME]: svg, 'text/plain': text };
  return { data, metadata: { apl: aplMetadata(result, options, 0, place) } };
}

function ranAt({ provenance: { frozen, endTime } }: QueryResult): number {
  return frozen ? Date.parse(endTime) : Date.now();
}

function withNotice(result: QueryResult, { reason, isRefusal }: NoChart): QueryResult {
  const notice = { level: isRefusal ? ('warn' as const) : ('info' as const), text: reason };
  return { ...result, notices: [...result.notices, notice] };
}

/** Returns the table of a result in all its MIME types. */
export function toBundle(result: QueryResult, options: OutputOptions = {}, place: Place = {}): Output {
  const { rows, width } = options;
  const limits = rows === undefined ? HTML_LIMITS : { rows, head: rows, bytes: ASKED_BYTES };
  const data: Record<string, unknown> = {
    'text/html': toHtml(result, limits, place),
    'text/plain': toPlain(result, { ...PLAIN_LIMITS, ...plainRows(rows), ...present({ width }) }),
  };
  const table = result.tables[0]?.data;
  if (table === undefined) return { data, metadata: { apl: aplMetadata(result, options, 0, place) } };
  const arrow = arrowWithin(table, options.byteBudget ?? DEFAULT_BYTE_BUDGET);
  const summary = { total_rows: table.numRows, included_rows: arrow?.rows ?? 0, sampled: false };
  if (arrow !== undefined) data[ARROW_MIME] = Buffer.from(arrow.bytes).toString('base64');
  const apl = aplMetadata(result, options, summary.included_rows, place);
  return { data, metadata: { apl, [ARROW_MIME]: { nteract: { summary } } } };
}

/** Returns a result without any of its data: size, range and fields. Its notices, which may quote values, and hashes are left out. */
export function toOutputWithoutData(result: QueryResult): Output {
  const { query: _, variables: __, options: ___, ...provenance } = lasting(result.provenance);
  const lines = result.tables.map(table => {
    const fields = table.info.fields.map(({ name, type }) => `${safeWords(name)} (${safeWords(type)})`);
    return `${heading(table, result).join(' \u00b7 ')}\nfields: ${fields.join(', ')}`;
  });
  const short = shortfallSentences(result).map(safeWords);
  const text = [...short, ...lines, 'The data is not kept in the notebook (%retain off).'].join('\n');
  const tables = result.tables.map(({ info, data }) => ({
    name: info.name,
    rows: data.numRows,
    columns: data.numCols,
  }));
  return { data: { 'text/plain': text }, metadata: { apl: { ...provenance, tables } } };
}

/** Returns the rows for a terminal: as many as requested, but not more than the default. */
function plainRows(asked: number | undefined): { readonly rows?: number; readonly head?: number } {
  if (asked === undefined) return {};
  const rows = Math.min(asked, PLAIN_LIMITS.rows);
  return { rows, head: rows };
}

/** Returns the shortfalls of the rows, for programs that read outputs; absent if there are none. */
function shortfallFacts(result: QueryResult): { readonly shortfalls?: readonly unknown[] } {
  const found = shortfallsOf(result).map(each => ({ kind: each.kind, text: shortfallText(each) }));
  return present({ shortfalls: found.length === 0 ? undefined : found });
}

/** Returns the provenance, status and limits for auditing an output without the kernel, and the reference to its rows. */
function aplMetadata(
  result: QueryResult,
  { resultId }: OutputOptions,
  rowsInNotebook: number,
  { column }: Place,
): Readonly<Record<string, unknown>> {
  const { provenance, status, tables } = result;
  const { numRows: rows, numCols: columns } = tables[0]?.data ?? { numRows: 0, numCols: 0 };
  const shapes = tables.map(({ info, data }) => ({
    name: info.name,
    rows: data.numRows,
    columns: data.numCols,
    sha256: tableHash(data),
    ...present({ key: info.groups.length === 0 ? undefined : info.groups.map(({ name }) => name) }),
  }));
  const facts = provenance.frozen
    ? { ...lasting(provenance), status: lastingStatus(status) }
    : { ...provenance, status };
  const held = resultId === undefined ? undefined : { id: resultId, rows, columns, rowsInNotebook };
  // Source of a cell may contain a token, which must not leave the cell.
  const said = withoutTokensIn({
    ...facts,
    limits: allNotices(result),
    ...shortfallFacts(result),
  }) as typeof facts;
  return { ...said, tables: shapes, ...present({ result: held, beside: column }) };
}

/** Returns the part of the provenance that is the same in every run over a frozen range: running it again must not change the notebook. */
function lasting({ elapsedMs: _, traceId: __, ...rest }: Provenance): Partial<Provenance> {
  return rest;
}

function lastingStatus({ rowsExamined, rowsMatched, numGroups, isPartial, isEstimate }: QueryStatus) {
  return { rowsExamined, rowsMatched, numGroups, isPartial, ...present({ isEstimate }) };
}
