import { lineField } from '../../../../kernel/apl/editor/events.js';
import type { GridColumn } from '../cells.js';

/** What the columns of a result are to a line of the stream. */
export interface Roles {
  readonly time: GridColumn | undefined;
  readonly level: GridColumn | undefined;
  readonly message: GridColumn | undefined;
  /** All others but the time of storing, in their order. */
  readonly others: readonly GridColumn[];
}

/** Returns what columns are to a line: a column that is hidden is none of it. */
export function rolesOf(columns: readonly GridColumn[]): Roles {
  const times = columns.filter(column => column.times !== undefined);
  const time = times.find(({ name }) => name === '_time') ?? times[0];
  const level = columns.find(({ colors }) => colors === 'severity');
  const texts = columns.filter(({ type }) => type === 'string');
  const name = lineField(texts.map(each => each.name));
  const message = texts.find(each => each.name === name);
  // When a service stored an event is the same in a whole import, and nearly `_time` elsewhere.
  const others = columns.filter(
    each => each !== time && each !== level && each !== message && each.name !== '_sysTime',
  );
  return { time, level, message, others };
}
