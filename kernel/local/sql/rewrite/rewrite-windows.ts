import type { Relation } from '../../../apl/plan/plan.js';
import { mapInputs } from '../../../apl/plan/plan-walk.js';
import type { RowGroup, RowGroupsOf } from '../compiled-query.js';
import { type Timed, type TimeRange, timeBounded, timedRows } from './timed.js';

type Sort = Extract<Relation, { kind: 'sort' }>;
type Limit = Extract<Relation, { kind: 'limit' }>;

/** Rows of datasets in time order, with their row groups and range. */
interface InTime {
  readonly rows: Timed;
  readonly groups: readonly RowGroup[];
  readonly range: TimeRange;
  readonly descending: boolean;
}

/**
 * Returns the relation with less to read below its limits: if a limit takes the newest or oldest events of a dataset unchanged, the row
 * groups show from which time on there are enough.
 */
export function cutShort(relation: Relation, groupsOf: RowGroupsOf, now: bigint): Relation {
  if (relation.kind === 'limit') return limitCutShort(relation, groupsOf, now);
  return mapInputs(relation, input => cutShort(input, groupsOf, now));
}

/**
 * Splits a sort into consecutive parts, to be read until there are `rows`: each has several times the rows of the previous one, further
 * back in time (forward if the sort is ascending). Returns a single part if splitting would gain nothing.
 */
export function readingBack(sort: Sort, rows: number, groupsOf: RowGroupsOf, now: bigint): readonly Sort[] {
  const found = inTime({ ...sort, input: timeBounded(sort.input, now) }, groupsOf, now);
  if (found === undefined) return [sort];
  const first = found.groups.some(group => group.computed) ? firstComputed : firstRows;
  const windows = windowsOf(found, Math.max(4 * rows, first));
  return windows.map(window => ({ ...sort, input: found.rows.within(window) }));
}

/** Few enough to read at once, and enough for every thread of the engine. */
const firstRows = 250_000;
/** The same for computed rows, which take many times longer than reading. */
const firstComputed = 10_000;
const growth = 4;

function limitCutShort(limit: Limit, groupsOf: RowGroupsOf, now: bigint): Relation {
  const { input, count, skip = 0 } = limit;
  if (input.kind === 'sort' && count.kind === 'constant') {
    const found = inTime(input, groupsOf, now);
    const isCertain = found?.rows.every === true && !found.groups.some(group => group.computed);
    const window = isCertain ? windowWith(found, Number(count.value) + skip) : undefined;
    if (found !== undefined && window !== undefined)
      return { ...limit, input: { ...input, input: found.rows.within(window) } };
  }
  return { ...limit, input: cutShort(input, groupsOf, now) };
}

/** Returns the rows below a sort by `_time`, if the datasets know the times of all of them. */
function inTime({ input, keys }: Sort, groupsOf: RowGroupsOf, now: bigint): InTime | undefined {
  const [key] = keys;
  const rows = key?.value.kind === 'column' ? timedRows(input, key.value.id, now) : undefined;
  const [first, ...others] = rows?.scans ?? [];
  if (rows === undefined || first === undefined || key === undefined) return undefined;
  // The windows are cut from one range.
  if (others.some(({ start, end }) => start !== first.start || end !== first.end)) return undefined;
  const groups: RowGroup[] = [];
  for (const scan of rows.scans) {
    const found = groupsOf(scan.dataset, scan.start, scan.end);
    // Rows without a time belong to every window, or to none.
    if (!found.every(group => group.timed)) return undefined;
    groups.push(...found.filter(group => group.maxNs >= scan.start && group.minNs < scan.end));
  }
  const range = { start: first.start, end: first.end };
  return { rows, groups, range, descending: key.descending };
}

/** Returns the window from the start of the sorted rows that has `count` rows for certain; undefined if there are fewer. */
function windowWith({ groups, range, descending }: InTime, count: number): TimeRange | undefined {
  const [inside, whole] = descending ? [groups, range] : [groups.map(mirroredGroup), mirrored(range)];
  let rows = 0;
  for (const group of fromTheNewest(inside)) {
    if (group.maxNs >= whole.end || group.minNs < whole.start) continue;
    rows += group.rows;
    if (rows < count) continue;
    const window = { start: group.minNs, end: whole.end };
    return descending ? window : mirrored(window);
  }
  return undefined;
}

function windowsOf({ groups, range, descending }: InTime, rows: number): readonly TimeRange[] {
  if (descending) return descendingWindows(groups, range, rows);
  return descendingWindows(groups.map(mirroredGroup), mirrored(range), rows).map(mirrored);
}

/**
 * Splits a range into windows, each ending at the start of a row group. Row groups that cross that end are read twice, so the window grows
 * until they are few. If few rows would remain, the window includes them.
 */
function descendingWindows(
  groups: readonly RowGroup[],
  range: TimeRange,
  firstTarget: number,
): readonly TimeRange[] {
  const windows: TimeRange[] = [];
  const byEnd = [...groups].sort((a, b) => compare(b.maxNs, a.maxNs));
  let [end, target, rows, across, next] = [range.end, firstTarget, 0, 0, 0];
  let left = groups.reduce((total, group) => total + group.rows, 0);
  const ordered = fromTheNewest(groups);
  for (const [index, { rows: own, minNs }] of ordered.entries()) {
    for (; (byEnd[next]?.maxNs ?? range.start) >= minNs && next < byEnd.length; next++)
      across += byEnd[next]?.rows ?? 0;
    rows += own;
    across -= own;
    left -= own;
    const few = rows / growth;
    if (rows < target || across > few || left < few || ordered[index + 1]?.minNs === minNs) continue;
    windows.push({ start: minNs, end });
    end = minNs;
    rows = 0;
    target *= growth;
  }
  return [...windows, { start: range.start, end }];
}

/** Sorts row groups by their first row, latest first. */
function fromTheNewest(groups: readonly RowGroup[]): readonly RowGroup[] {
  return [...groups].sort((a, b) => compare(b.minNs, a.minNs));
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns the range with time reversed. */
function mirrored({ start, end }: TimeRange): TimeRange {
  return { start: 1n - end, end: 1n - start };
}

function mirroredGroup(group: RowGroup): RowGroup {
  return { ...group, minNs: -group.maxNs, maxNs: -group.minNs };
}
