import { present } from '../../../present.js';
import { namesOf, shapeOfEvents } from '../readers/json-shape.js';
import { sampleRows } from '../readers/reading.js';
import { type RawObject, readEvents, valueAt } from './append-events.js';
import { labeled } from './append-labels.js';
import { type Column, timesOf } from './append-times.js';

export type BatchField = Omit<Column, 'values'>;

/** Events ready to store, each with a time and the JSON text of each field's value, undefined if it has none. */
export interface Batch {
  readonly fields: readonly BatchField[];
  /** Whether no field holds a time, in which case the events are in every time window. */
  readonly timeless: boolean;
  readonly events: readonly BatchEvent[];
  /** Time of arrival, in nanoseconds since 1970. */
  readonly nowNs: bigint;
}

export interface BatchEvent {
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  readonly cells: readonly (string | undefined)[];
}

/** A batch with what the reply to its sender reports. */
export interface ReadBatch extends Batch {
  /** Number of events without a readable time, which got their time of arrival. */
  readonly late: number;
  readonly timeField?: string;
}

/**
 * Returns the events of a small JSON body with the fields, types and times that importing the body would give them. Returns undefined for a
 * body that only an import can judge.
 */
export function readBatch(
  body: string,
  timeField: string | undefined,
  nowNs: bigint,
  labels?: RawObject,
): ReadBatch | undefined {
  const events = readEvents(body)?.map(event => (labels === undefined ? event : labeled(event, labels)));
  if (events === undefined || events.length === 0 || events.length > sampleRows) return undefined;
  const { leaves } = shapeOfEvents(events);
  const { names, notes } = namesOf(leaves);
  if (names.length === 0 || notes.length > 0) return undefined;
  const columns = leaves.map(({ path, type }, index) => {
    const values = events.map(event => valueAt(event, path));
    return {
      name: names[index] ?? '',
      type: type === 'unseen' ? 'string' : type,
      empty: type === 'unseen',
      values,
    };
  });
  const found = timesOf(columns, timeField, events.length);
  if (found === undefined) return undefined;
  const own = columns.filter(({ name }) => name !== '_time' && name !== '_sysTime');
  const { field, times } = found;
  return {
    fields: own.map(({ name, type, empty }) => ({ name, type, empty })),
    timeless: false,
    events: events.map((_, row) => ({
      time: times[row] ?? nowNs,
      cells: own.map(column => cellOf(column, row)),
    })),
    nowNs,
    late: field === undefined ? 0 : times.filter(time => time === null).length,
    ...present({ timeField: field }),
  };
}

function cellOf({ values }: Column, row: number): string | undefined {
  const value = values[row];
  return value === undefined || value.kind === 'NULL' ? undefined : value.text;
}
