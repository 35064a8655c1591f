import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openQueries } from '../../queries.js';

const { run } = openQueries();

interface Row {
  readonly at: number;
  readonly key: string | null;
  readonly n: number | null;
  readonly s: string;
}

const row: fc.Arbitrary<Row> = fc.record({
  at: fc.integer({ min: -20, max: 40 }),
  key: fc.constantFrom('a', 'b', 'ü', null),
  n: fc.option(fc.integer({ min: -9, max: 9 })),
  s: fc.constantFrom('x', '', ',', '"', ']', '\\', '[null,'),
});

const window = fc.record({
  start: fc.integer({ min: -25, max: 20 }),
  length: fc.integer({ min: 0, max: 40 }),
  step: fc.integer({ min: 1, max: 13 }),
});

/** Value of a step with rows, and of one without. */
type Aggregate = readonly [apl: string, of: (rows: readonly Row[]) => unknown, empty: unknown];

const numbers = (rows: readonly Row[]) => rows.flatMap(({ n }) => (n === null ? [] : [n]));
const ofNumbers = (of: (all: number[]) => unknown) => (rows: readonly Row[]) => {
  const all = numbers(rows);
  return all.length === 0 ? null : of(all);
};
const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0);

const aggregates: readonly Aggregate[] = [
  ['a = count()', rows => rows.length, 0],
  ['b = count() default=-1', rows => rows.length, -1],
  ['c = max(n)', ofNumbers(all => Math.max(...all)), null],
  ['d = min(n) default=7', ofNumbers(all => Math.min(...all)), 7],
  ['e = avg(n)', ofNumbers(all => sum(all) / all.length), null],
  [
    'f = max(s) default="],\\"["',
    rows =>
      rows
        .map(({ s }) => s)
        .sort()
        .at(-1),
    '],"[',
  ],
  ['g = make_list(at - at) default="{\\""', rows => rows.map(() => 0), '{"'],
  [
    'h = max(datetime(1970-01-01) + at * 1ns) default=0',
    rows => timeOf(Math.max(...rows.map(({ at }) => at))),
    0,
  ],
];

function timeOf(ns: number): string {
  const second = ns < 0 ? '1969-12-31T23:59:59' : '1970-01-01T00:00:00';
  const fraction = String((ns + 1e9) % 1e9)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${second}${fraction === '' ? '' : `.${fraction}`}Z`;
}

test('every group has the aggregates of its rows or the defaults at every step', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 30 }),
      window,
      fc.boolean(),
      async (rows, { start, length, step }, byKey) => {
        const cells = rows.map(
          ({ at, key, n, s }) =>
            `${at}, ${key === null ? 'string(null)' : JSON.stringify(key)}, ${n === null ? 'long(null)' : n}, ${JSON.stringify(s)}`,
        );
        const apl = `datatable(at:long, key:string, n:long, s:string)[${cells.join(', ')}] | make-series ${aggregates.map(([each]) => each).join(', ')} on at from ${start} to ${start + length} step ${step}${byKey ? ' by key' : ''}`;
        const outcome = await run(apl);
        if (!outcome.ok) throw new Error(JSON.stringify(outcome.diagnostics));
        const found = outcome.ran.rows.map(each => each.map(cell => JSON.parse(cell)));
        const steps = Array.from({ length: Math.ceil(length / step) }, (_, index) => start + index * step);
        const inside = rows.filter(({ at }) => at >= start && at < start + length);
        const groups = byKey ? [...new Set(inside.map(({ key }) => key))] : [undefined];
        const expected = groups.map(group => {
          const own = inside.filter(({ key }) => group === undefined || key === group);
          const arrays = aggregates.map(([, of, empty]) =>
            steps.map(from => {
              const held = own.filter(({ at }) => at >= from && at < from + step);
              return held.length === 0 ? empty : of(held);
            }),
          );
          return [...(byKey ? [group] : []), ...arrays, steps];
        });
        const sorted = (all: readonly unknown[]) => all.map(each => JSON.stringify(each)).sort();
        expect(sorted(found)).toEqual(sorted(expected));
      },
    ),
    { numRuns: 150 },
  );
});
