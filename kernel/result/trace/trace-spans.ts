/** Spans as rows of any dataset with the fields of OpenTelemetry. */
import type { Table } from 'apache-arrow';
import { present } from '../../present.js';
import { parseGoDuration, parseTime } from '../../time.js';
import { cellText } from '../display/display-text.js';
import type { Span } from './trace-tree.js';

/** A span with its displayed attributes. */
export interface ShownSpan extends Span {
  readonly service: string;
  readonly name: string;
  readonly kind: string;
  readonly isFailed: boolean;
  readonly message: string;
  /** Index of its row in the table. */
  readonly row: number;
  readonly events: number;
  readonly links: number;
}

/** Fields to read, if a dataset has them. */
export const SPAN_FIELDS = [
  ...['_time', 'trace_id', 'span_id', 'parent_span_id', 'service.name', 'name', 'kind', 'duration', 'error'],
  ...['status.code', 'status.message', 'events', 'links'],
] as const;

/** Fields required for a dataset to contain spans. */
export const NEEDED_FIELDS = ['_time', 'trace_id', 'span_id', 'duration'] as const;

/** Returns the spans of a table, and the number of rows that are not spans because they lack a time or an id. */
export function spansOf({ data }: { readonly data: Table }): {
  readonly spans: readonly ShownSpan[];
  readonly without: number;
} {
  const { fields } = data.schema;
  const columns = new Map(
    fields.map((field, place) => [field.name, { field, vector: data.getChildAt(place) }]),
  );
  const textAt = (name: (typeof SPAN_FIELDS)[number], row: number): string => {
    const column = columns.get(name);
    if (column === undefined || column.vector === null) return '';
    return cellText(column.vector, row, column.field) ?? '';
  };
  const spans = Array.from({ length: data.numRows }, (_, row) => {
    const start = parseTime(textAt('_time', row));
    const id = textAt('span_id', row);
    if (start === undefined || id === '') return [];
    const parent = textAt('parent_span_id', row);
    return [
      {
        ...{ id, start, duration: nanosIn(textAt('duration', row)) ?? 0n },
        ...present({ parent: /^0*$/.test(parent) ? undefined : parent }),
        row,
        service: textAt('service.name', row),
        name: textAt('name', row),
        kind: textAt('kind', row),
        isFailed: textAt('error', row) === 'true' || textAt('status.code', row).toUpperCase() === 'ERROR',
        message: textAt('status.message', row),
        events: lengthOf(textAt('events', row)),
        links: lengthOf(textAt('links', row)),
      },
    ];
  }).flat();
  return { spans, without: data.numRows - spans.length };
}

/** Parses a duration to nanoseconds; a number without a unit is in nanoseconds, and may have a fraction. Undefined for other text. */
export function nanosIn(text: string): bigint | undefined {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  if (/^-?\d/.test(text) && Number.isFinite(Number(text))) return BigInt(Math.round(Number(text)));
  return parseGoDuration(text);
}

function lengthOf(text: string): number {
  if (!text.startsWith('[')) return 0;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.length : 0;
  } catch {
    return 0;
  }
}
