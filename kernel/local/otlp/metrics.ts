import {
  type Cell,
  cellOf,
  idOf,
  type OtlpEvent,
  objectCell,
  objectText,
  textCell,
  timeOf,
} from './otlp-cells.js';
import { cellsOf, sharedCells } from './otlp-fields.js';
import {
  type AnyValue,
  type Buckets,
  type DataPoint,
  type Exemplar,
  listOf,
  type Point,
  type Sourced,
} from './otlp-protocol.js';

/** Indexed by OTLP's number, which in JSON may also be a name such as `AGGREGATION_TEMPORALITY_DELTA`. */
const temporalities = ['unspecified', 'delta', 'cumulative'];

/** Returns a data point of a metric as an event, with the protocol's members. */
export function pointEvent(point: Sourced<Point>): OtlpEvent {
  const { metric, kind, data, point: entry } = point.entry;
  const start = timeOf(entry.startTimeUnixNano);
  const own = cellsOf([
    ['name', textCell(metric.name)],
    ['description', textCell(metric.description)],
    ['unit', textCell(metric.unit)],
    ['kind', textCell(kind)],
    ['temporality', textCell(temporalityOf(data.aggregationTemporality))],
    ['monotonic', cellOf(data.isMonotonic === undefined ? undefined : { boolValue: data.isMonotonic })],
    ['start_time', cellOf(integer(start?.toString()))],
    ['value', cellOf(measured(entry))],
    ['count', cellOf(integer(entry.count))],
    ['sum', cellOf(real(entry.sum))],
    ['min', cellOf(real(entry.min))],
    ['max', cellOf(real(entry.max))],
    ['bucket_counts', cellOf(list(entry.bucketCounts, integer))],
    ['explicit_bounds', cellOf(list(entry.explicitBounds, real))],
    ['quantiles', cellOf(quantiles(entry))],
    ['scale', cellOf(integer(entry.scale))],
    ['zero_count', cellOf(integer(entry.zeroCount))],
    ['positive', cellOf(buckets(entry.positive))],
    ['negative', cellOf(buckets(entry.negative))],
    ['zero_threshold', cellOf(real(entry.zeroThreshold))],
    ['exemplars', exemplarsCell(entry.exemplars)],
  ]);
  return {
    time: timeOf(entry.timeUnixNano),
    cells: new Map([...own, ...sharedCells(point, entry.attributes)]),
  };
}

function temporalityOf(value: number | string | undefined): string | undefined {
  if (typeof value === 'string') return /[A-Z]+$/.exec(value)?.[0].toLowerCase();
  return value === undefined ? undefined : temporalities[value];
}

function measured({ asInt, asDouble }: Pick<DataPoint, 'asInt' | 'asDouble'>): AnyValue | undefined {
  return asInt === undefined ? real(asDouble) : integer(asInt);
}

/** Returns the exemplars of a data point, with the members of a span's events. */
function exemplarsCell(exemplars: readonly Exemplar[] | undefined): Cell | undefined {
  const texts = listOf(exemplars).map(exemplar =>
    objectText({
      timestamp: timeOf(exemplar.timeUnixNano)?.toString(),
      value: cellOf(measured(exemplar))?.text,
      trace_id: textCell(idOf(exemplar.traceId))?.text,
      span_id: textCell(idOf(exemplar.spanId))?.text,
      attributes: objectCell(listOf(exemplar.filteredAttributes))?.text,
    }),
  );
  return texts.length === 0 ? undefined : { type: 'dynamic', text: `[${texts.join(',')}]` };
}

function integer(value: number | string | undefined): AnyValue | undefined {
  return value === undefined ? undefined : { intValue: value };
}

/** Reads a real; JSON has strings for NaN and infinities. */
function real(value: number | string | undefined): AnyValue | undefined {
  if (value === undefined) return undefined;
  return Number.isFinite(Number(value)) ? { doubleValue: value } : { stringValue: String(value) };
}

function list<Item>(
  items: readonly Item[] | undefined,
  anyOf: (item: Item) => AnyValue | undefined,
): AnyValue | undefined {
  if (items === undefined) return undefined;
  return { arrayValue: { values: items.flatMap(item => anyOf(item) ?? []) } };
}

function quantiles({ quantileValues }: DataPoint): AnyValue | undefined {
  if (quantileValues === undefined) return undefined;
  const members = listOf(quantileValues).map(({ quantile = 0, value = 0 }) => ({
    kvlistValue: { values: keyed({ quantile: real(quantile), value: real(value) }) },
  }));
  return { arrayValue: { values: members } };
}

function buckets(found: Buckets | undefined): AnyValue | undefined {
  if (found === undefined) return undefined;
  const members = { offset: integer(found.offset), bucket_counts: list(found.bucketCounts, integer) };
  return { kvlistValue: { values: keyed(members) } };
}

function keyed(members: Readonly<Record<string, AnyValue | undefined>>) {
  return Object.entries(members).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]));
}
