import type { Table } from 'apache-arrow';
import type { FieldSchema } from '../../apl/plan/plan.js';
import { quotedName, writtenText } from '../../apl/syntax/tokens/quote.js';
import { present } from '../../present.js';
import { cellText, exactInt64 } from '../../result/display/display-text.js';
import { formatDuration, formatTime } from '../../time.js';
import type { Session } from '../session.js';
import { fieldsOf, writableFieldsOf } from './result-arrow.js';
import type { CachedResult } from './result-cache.js';
import type { Bin, ProfileReply, Request } from './result-protocol.js';
import { queryView, spanLiteral, ViewError, viewQuery } from './result-view.js';

/** Maximum frequent values, and maximum bins of a histogram. */
const topValues = 10;
const maxBins = 20;

/** Computes the profile of a column over the rows of a view; throws ViewError if there is no such column. */
export async function profileOf(
  session: Pick<Session, 'queryCached'>,
  cached: CachedResult,
  request: Extract<Request, { op: 'profile' }>,
  signal: AbortSignal,
): Promise<ProfileReply> {
  const table = cached.result.tables[0]?.data;
  const fields = table === undefined ? [] : fieldsOf(table);
  const place = fields.findIndex(({ name }) => name === request.column);
  const field = table === undefined ? undefined : writableFieldsOf(table)[place];
  if (table === undefined || field === undefined)
    throw new ViewError(`the result has no column ${request.column}`);
  const { filters, search } = request;
  const view = viewQuery(table, present({ filters, search }));
  const places = [...new Set([...view.places, place])].sort((a, b) => a - b);
  const ask: Ask = then => queryView(session, cached, { ...view, text: view.text, places }, then, signal);
  const [counts, top] = await Promise.all([ask(countsText(field)), ask(topText(field))]);
  const measured = ends(field, counts);
  const histogram = measured === undefined ? undefined : await binsOf(field, measured, ask);
  return {
    kind: 'profile',
    id: request.id,
    column: request.column,
    rows: Number(textAt(counts, 'rows', 0) ?? 0),
    nulls: Number(textAt(counts, 'nulls', 0) ?? 0),
    distinct: Number(textAt(counts, 'distinct', 0) ?? 0),
    min: textAt(counts, 'low', 0),
    max: textAt(counts, 'high', 0),
    top: Array.from({ length: top.numRows }, (_, row) => ({
      value: textAt(top, 'value', row) ?? '',
      count: Number(textAt(top, 'n', row)),
    })),
    ...present({ histogram }),
  };
}

type Ask = (then: string) => Promise<Table>;

/** Returns the grouping of values; those without equality are counted by their text. */
function keys({ name, type }: FieldSchema): string {
  const field = quotedName(name);
  return `value = ${type === 'dynamic' ? `tostring(${field})` : field}, gone = isnull(${field})`;
}

function countsText(field: FieldSchema): string {
  const ordered = field.type !== 'dynamic' && field.type !== 'bool';
  const all = ordered ? ', low = min(value), high = max(value)' : '';
  return [
    `| summarize n = count() by ${keys(field)}`,
    `| summarize rows = sum(n), nulls = sumif(n, gone), distinct = countif(not(gone))${all}`,
  ].join('\n');
}

function topText(field: FieldSchema): string {
  return [
    `| summarize n = count() by ${keys(field)}`,
    '| where not(gone)',
    '| sort by n desc, value asc',
    `| limit ${topValues}`,
  ].join('\n');
}

/** Returns the exact text of a cell, by column name. */
function textAt(table: Table, name: string, row: number): string | null {
  const place = table.schema.fields.findIndex(field => field.name === name);
  const [field, vector] = [table.schema.fields[place], table.getChildAt(place)];
  return field === undefined || vector === null || table.numRows <= row ? null : cellText(vector, row, field);
}

/** The minimum and maximum of a column with meaningful distances: plain numbers, or timestamps and durations in nanoseconds. */
type Ends =
  | { readonly exact: true; readonly low: bigint; readonly high: bigint }
  | { readonly exact: false; readonly low: number; readonly high: number };

function ends({ type }: FieldSchema, counts: Table): Ends | undefined {
  const [low, high] = ['low', 'high'].map(name => counts.getChild(name));
  if (low === undefined || low === null || high === undefined || high === null) return undefined;
  if (counts.numRows === 0 || !low.isValid(0) || !high.isValid(0)) return undefined;
  if (type === 'real') return { exact: false, low: Number(low.get(0)), high: Number(high.get(0)) };
  const measured = type === 'long' || type === 'datetime' || type === 'timespan';
  return measured ? { exact: true, low: exactInt64(low, 0), high: exactInt64(high, 0) } : undefined;
}

/** Returns equal bins from the minimum to the maximum; integer bins differ in size by at most one. */
async function binsOf(field: FieldSchema, ends: Ends, ask: Ask): Promise<readonly Bin[]> {
  const edges = ends.exact ? integerEdges(ends.low, ends.high) : realEdges(ends.low, ends.high);
  const name = quotedName(field.name);
  const inner = edges.slice(1, -1);
  const cases = inner.map((edge, index) => `${name} < ${written(field, edge)}, ${index}`);
  const place = inner.length === 0 ? '0' : `case(${cases.join(', ')}, ${inner.length})`;
  const counted = await ask(`| where isnotnull(${name})\n| summarize n = count() by bin = ${place}`);
  const counts = new Map(
    Array.from({ length: counted.numRows }, (_, row) => [
      Number(textAt(counted, 'bin', row)),
      Number(textAt(counted, 'n', row)),
    ]),
  );
  return edges.slice(0, -1).map((from, index) => ({
    from: shown(field, from),
    to: shown(field, edges[index + 1] ?? from),
    count: counts.get(index) ?? 0,
  }));
}

function integerEdges(low: bigint, high: bigint): readonly bigint[] {
  const values = high - low + 1n;
  const count = values < BigInt(maxBins) ? values : BigInt(maxBins);
  const edges = Array.from({ length: Number(count) }, (_, index) => low + (values * BigInt(index)) / count);
  return [...edges, high];
}

function realEdges(low: number, high: number): readonly number[] {
  if (low === high || !Number.isFinite(high - low)) return [low, high];
  const edges = Array.from({ length: maxBins }, (_, index) => low + ((high - low) * index) / maxBins);
  return [...edges, high];
}

/** Returns a bin edge as an APL literal of the field's type. */
function written({ type }: FieldSchema, edge: bigint | number): string {
  switch (type) {
    case 'datetime':
      return `todatetime(${writtenText(formatTime(BigInt(edge)))})`;
    case 'timespan':
      return spanLiteral(BigInt(edge));
    case 'real':
      return `toreal(${writtenText(String(edge))})`;
    default:
      return `tolong(${writtenText(String(edge))})`;
  }
}

function shown({ type }: FieldSchema, edge: bigint | number): string {
  if (type === 'datetime') return formatTime(BigInt(edge));
  return type === 'timespan' ? formatDuration(BigInt(edge)) : String(edge);
}
