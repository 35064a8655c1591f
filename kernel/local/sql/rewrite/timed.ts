import type { Relation, Scalar } from '../../../apl/plan/plan.js';
import { mapInputs } from '../../../apl/plan/plan-walk.js';
import { conditionsOf } from '../../../apl/plan/scalars.js';
import { EARLIEST_TIME, LATEST_TIME } from '../../../time.js';

/** A half-open range of times in nanoseconds since 1970. */
export interface TimeRange {
  readonly start: bigint;
  readonly end: bigint;
}

export type Scan = Extract<Relation, { kind: 'scan' }>;

/** A relation whose rows each come from one row of a dataset, with its time. */
export interface Timed {
  readonly scans: readonly Scan[];
  /** Whether every row of the datasets within their ranges yields exactly one row. */
  readonly every: boolean;
  /** Returns the relation restricted to rows with these times. */
  readonly within: (range: TimeRange) => Relation;
}

/** Returns how the rows of a relation come from datasets whose `_time` is the column `id`; undefined if they do not. */
export function timedRows(relation: Relation, id: number, now: bigint): Timed | undefined {
  switch (relation.kind) {
    case 'scan':
      return timeOf(relation) === id
        ? { scans: [relation], every: true, within: range => narrowed(relation, range) }
        : undefined;
    case 'sort':
      return through(relation, timedRows(relation.input, id, now), true);
    case 'filter':
      return through(
        relation,
        timedRows(relation.input, id, now),
        conditionOn(relation.predicate, id, now).whole,
      );
    case 'expand':
      return through(relation, timedRows(relation.input, id, now), false);
    case 'project': {
      const value = relation.items.find(item => item.column.id === id)?.value;
      return value?.kind === 'column'
        ? through(relation, timedRows(relation.input, value.id, now), true)
        : undefined;
    }
    case 'union':
      return timedUnion(relation, id, now);
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'limit':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'neighbors':
    case 'series':
      return undefined;
  }
}

/** Returns the relation with its scans narrowed to the times that pass the conditions above them. */
export function timeBounded(relation: Relation, now: bigint, ranges: Ranges = new Map()): Relation {
  switch (relation.kind) {
    case 'scan': {
      const range = ranges.get(timeOf(relation) ?? -1);
      return range === undefined ? relation : narrowed(relation, range);
    }
    case 'filter':
      return {
        ...relation,
        input: timeBounded(relation.input, now, limitedBy(relation.predicate, ranges, now)),
      };
    case 'sort':
    case 'sample':
    case 'expand':
      return { ...relation, input: timeBounded(relation.input, now, ranges) };
    case 'project':
      return {
        ...relation,
        input: timeBounded(
          relation.input,
          now,
          renamed(
            relation.items.map(item => [item.column.id, item.value] as const),
            ranges,
          ),
        ),
      };
    case 'union': {
      const { inputs, columns } = relation;
      const bounded = inputs.map(input => {
        const below = columns.flatMap((column, index) => {
          const value = input.values[index];
          return value === undefined ? [] : [[column.id, value] as const];
        });
        return { ...input, relation: timeBounded(input.relation, now, renamed(below, ranges)) };
      });
      return { ...relation, inputs: bounded };
    }
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'limit':
    case 'top-groups':
    case 'distinct':
    case 'join':
    case 'neighbors':
    case 'series':
      return mapInputs(relation, input => timeBounded(input, now));
  }
}

/** Possible times of each column. */
type Ranges = ReadonlyMap<number, TimeRange>;

const anyTime: TimeRange = { start: -(2n ** 63n), end: 2n ** 63n };

function through<R extends Relation & { readonly input: Relation }>(
  relation: R,
  input: Timed | undefined,
  keepsEvery: boolean,
): Timed | undefined {
  return (
    input && {
      scans: input.scans,
      every: input.every && keepsEvery,
      within: range => ({ ...relation, input: input.within(range) }),
    }
  );
}

function timedUnion(
  relation: Extract<Relation, { kind: 'union' }>,
  id: number,
  now: bigint,
): Timed | undefined {
  const index = relation.columns.findIndex(column => column.id === id);
  const inputs = relation.inputs.map(input => {
    const value = input.values[index];
    return value?.kind === 'column' ? timedRows(input.relation, value.id, now) : undefined;
  });
  const timed = inputs.filter(input => input !== undefined);
  if (timed.length < inputs.length) return undefined;
  return {
    scans: timed.flatMap(input => input.scans),
    every: timed.every(input => input.every),
    within: range => ({
      ...relation,
      inputs: relation.inputs.map((input, at) => ({
        ...input,
        relation: timed[at]?.within(range) ?? input.relation,
      })),
    }),
  };
}

/** Returns the column with the `_time` of a dataset. */
export function timeOf({ fields, columns }: Scan): number | undefined {
  return columns[fields.indexOf('_time')]?.id;
}

function narrowed(scan: Scan, range: TimeRange): Scan {
  return { ...scan, ...both(scan, range) };
}

function both(a: TimeRange, b: TimeRange): TimeRange {
  return { start: a.start > b.start ? a.start : b.start, end: a.end < b.end ? a.end : b.end };
}

/** Maps the ranges of columns to the columns below that they come from. */
function renamed(items: readonly (readonly [id: number, value: Scalar])[], ranges: Ranges): Ranges {
  const below = new Map<number, TimeRange>();
  for (const [id, value] of items) {
    const range = ranges.get(id);
    if (range !== undefined && value.kind === 'column')
      below.set(value.id, both(range, below.get(value.id) ?? anyTime));
  }
  return below;
}

/** Returns the ranges of columns narrowed by a condition. */
function limitedBy(predicate: Scalar, ranges: Ranges, now: bigint): Ranges {
  const limited = new Map(ranges);
  for (const part of conditionsOf(predicate)) {
    const found = comparisonOf(part, now);
    if (found !== undefined) limited.set(found.id, both(found.range, limited.get(found.id) ?? anyTime));
  }
  return limited;
}

/** Returns whether a condition does nothing but restrict a column to a range. */
function conditionOn(predicate: Scalar, id: number, now: bigint): { readonly whole: boolean } {
  return { whole: conditionsOf(predicate).every(part => comparisonOf(part, now)?.id === id) };
}

interface Comparison {
  readonly id: number;
  readonly range: TimeRange;
}

/** Returns a comparison with a known time; undefined for any other condition. */
function comparisonOf(condition: Scalar, now: bigint): Comparison | undefined {
  if (condition.kind === 'between' && !condition.negated) {
    const [low, high] = [knownTime(condition.low, now), knownTime(condition.high, now)];
    if (condition.value.kind !== 'column' || low === undefined || high === undefined) return undefined;
    return { id: condition.value.id, range: { start: low, end: high + 1n } };
  }
  if (condition.kind !== 'binary') return undefined;
  const { left, right, operator } = condition;
  if (left.kind === 'column') return compared(left.id, operator, knownTime(right, now));
  return right.kind === 'column'
    ? compared(right.id, mirrored[operator] ?? '', knownTime(left, now))
    : undefined;
}

const mirrored: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==' };

function compared(id: number, operator: string, time: bigint | undefined): Comparison | undefined {
  if (time === undefined) return undefined;
  const { start, end } = anyTime;
  switch (operator) {
    case '<':
      return { id, range: { start, end: time } };
    case '<=':
      return { id, range: { start, end: time + 1n } };
    case '>':
      return { id, range: { start: time + 1n, end } };
    case '>=':
      return { id, range: { start: time, end } };
    case '==':
      return { id, range: { start: time, end: time + 1n } };
    default:
      return undefined;
  }
}

/** Returns the time that an expression has in every row, in nanoseconds; undefined if out of range, which would be null. */
function knownTime(value: Scalar, now: bigint): bigint | undefined {
  const time = value.type === 'datetime' ? timeOfConstants(value, now) : undefined;
  return time !== undefined && time >= EARLIEST_TIME && time <= LATEST_TIME ? time : undefined;
}

function timeOfConstants(value: Scalar, now: bigint): bigint | undefined {
  switch (value.kind) {
    case 'constant':
      return typeof value.value === 'bigint' ? value.value : undefined;
    case 'call': {
      const offset = knownLength(value.args[0]);
      if (offset === undefined || value.args.length > 1) return undefined;
      if (value.name === 'now') return now + offset;
      return value.name === 'ago' ? now - offset : undefined;
    }
    case 'binary': {
      const [time, offset] = [knownTime(value.left, now), knownLength(value.right)];
      if (time === undefined || offset === undefined) return undefined;
      if (value.operator === '+') return time + offset;
      return value.operator === '-' ? time - offset : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns a constant duration in nanoseconds, 0 without a value; undefined if unknown. */
function knownLength(value: Scalar | undefined): bigint | undefined {
  if (value === undefined) return 0n;
  return value.kind === 'constant' && value.type === 'timespan' && typeof value.value === 'bigint'
    ? value.value
    : undefined;
}
