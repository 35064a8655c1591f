import { describe, expect, test } from 'vitest';
import { openQueries, start } from '../../queries.js';
import { generator } from '../../sql/incidents.js';

const random = generator(77);
const names = ['a', 'b', '', null] as const;
const parts = [0, 1.5, Number.NaN, null] as const;
/** Rows of groups `k` and `p`; one group has no numbers, and one a single value. */
const events = Array.from({ length: 600 }, (_, i) => {
  const k = names[Math.floor(random() * names.length)] ?? null;
  const p = parts[Math.floor(random() * parts.length)] ?? null;
  const odd = [null, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const usual = Math.floor(random() * 40) / 8 - 2;
  const x = random() < 0.15 ? (odd[Math.floor(random() * odd.length)] ?? null) : usual;
  return { i, k, p, x: k === 'b' ? null : k === '' && x !== null && Number.isFinite(x) ? 7 : x };
});

const cell = (value: number | string | null, type: string) =>
  value === null ? `NULL::${type}` : `'${String(value).replace('Infinity', 'inf')}'::${type}`;

const { rows } = openQueries({
  events: {
    open: false,
    fields: [
      { name: '_time', type: 'datetime' },
      { name: 'i', type: 'long' },
      { name: 'k', type: 'string' },
      { name: 'p', type: 'real' },
      { name: 'x', type: 'real' },
    ],
    rows: events.map(({ i, k, p, x }) => [
      `make_timestamp_ns(${start + BigInt(i) * 1_000_000_000n})`,
      `${i}`,
      cell(k, 'VARCHAR'),
      cell(p, 'DOUBLE'),
      cell(x, 'DOUBLE'),
    ]),
  },
});

interface Event {
  readonly i: number;
  readonly k: string | null;
  readonly p: number | null;
  readonly x: number | null;
}

/** Returns the buckets of the numbers in `found`: each includes its start, the last also its end. */
function bucketsOf(found: readonly (number | null)[], n: number): unknown[] {
  const numbers = found.filter((x): x is number => x !== null && Number.isFinite(x));
  if (numbers.length === 0) return [];
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  if (low === high) return [{ from: low, to: high, count: numbers.length }];
  const width = (high - low) / n;
  return Array.from({ length: n }, (_, at) => {
    const [from, next] = [low + at * width, low + (at + 1) * width];
    const isLast = at === n - 1;
    const count = numbers.filter(x => x >= from && (isLast || x < next)).length;
    return { from, to: isLast ? high : next, count };
  });
}

function groupsOf(keyOf: (event: Event) => unknown): [key: string, found: Event[]][] {
  const groups = new Map<string, Event[]>();
  for (const event of events) {
    const key = JSON.stringify(keyOf(event));
    groups.set(key, [...(groups.get(key) ?? []), event]);
  }
  return [...groups];
}

/** Returns the buckets of each group, keyed by the JSON of its keys. */
function expected(keyOf: (event: Event) => readonly unknown[], n: number, counts = (_: Event) => true) {
  return Object.fromEntries(
    groupsOf(keyOf).map(([key, found]) => [
      key,
      bucketsOf(
        found.map(event => (counts(event) ? event.x : null)),
        n,
      ),
    ]),
  );
}

async function grouped(apl: string, keys: number): Promise<Record<string, unknown>> {
  const found = (await rows(apl)).map(row => [
    `[${row.slice(0, keys).join(',')}]`,
    JSON.parse(row[keys] ?? ''),
  ]);
  expect(new Set(found.map(([key]) => key)).size).toBe(found.length);
  return Object.fromEntries(found);
}

const longKey = `by z = ${'tolower('.repeat(40)}k${')'.repeat(40)}`;
const ofAll = () => [];
const byName = (event: Event) => [event.k];

describe.each([1, 7, 1000])('a histogram of %d buckets', n => {
  test.each<readonly [stage: string, by: string, keyOf: (event: Event) => readonly unknown[]]>([
    ['', '', ofAll],
    ['| where i >= 0 ', '', ofAll],
    ['', 'by k', byName],
    ['| where i >= 0 ', 'by k', byName],
    // NaN is a key of its own, different from null.
    ['', 'by k, z = iff(isnan(p), -1.0, p)', ({ k, p }) => [k, Number.isNaN(p) ? -1 : p]],
    ['', 'by z = i % 10', ({ i }) => [i % 10]],
    ['', 'by z = bin(_time, 1m)', ({ i }) => [new Date(timeMs(i)).toISOString().replace('.000', '')]],
    // Too long to be computed twice.
    ['', longKey, byName],
  ])('counts the rows of events %s%s', async (stage, by, keyOf) => {
    const keys = keyOf(events[0] as Event).length;
    expect(await grouped(`events ${stage}| summarize histogram(x, ${n}) ${by}`, keys)).toEqual(
      expected(keyOf, n),
    );
  });

  test.each<readonly [by: string, keyOf: (event: Event) => readonly unknown[]]>([
    ['', ofAll],
    ['by k', byName],
  ])('counts the rows that meet a condition %s', async (by, keyOf) => {
    expect(
      await grouped(
        `events | summarize histogramif(x, ${n}, i % 3 == 0 or i > 500) ${by}`,
        keyOf(events[0] as Event).length,
      ),
    ).toEqual(expected(keyOf, n, ({ i }) => i % 3 === 0 || i > 500));
  });
});

/** Returns the start of a row's minute, in milliseconds. */
function timeMs(i: number): number {
  const ms = Number(start / 1_000_000n) + i * 1000;
  return ms - (ms % 60_000);
}

test('several histograms and other aggregates of a group share one row', async () => {
  const found = await rows(
    'events | summarize a = histogram(x, 3), n = count(), b = histogram(i, 2), m = max(i) by k',
  );
  expect(
    Object.fromEntries(found.map(([k, a = '', n, b = '', m]) => [k, [JSON.parse(a), n, JSON.parse(b), m]])),
  ).toEqual(
    Object.fromEntries(
      groupsOf(({ k }) => k).map(([k, all]) => [
        k,
        [
          bucketsOf(
            all.map(({ x }) => x),
            3,
          ),
          `${all.length}`,
          bucketsOf(
            all.map(({ i }) => i),
            2,
          ),
          `${Math.max(...all.map(({ i }) => i))}`,
        ],
      ]),
    ),
  );
});

test('a random key is drawn once per row', async () => {
  const found = await rows(
    'events | summarize histogram(i, 4) by z = toint(rand() * 5) | project histogram_i',
  );
  const counts = found.flatMap(([buckets = '']) =>
    (JSON.parse(buckets) as readonly { count: number }[]).map(({ count }) => count),
  );
  expect(counts.reduce((total, count) => total + count, 0)).toBe(events.length);
});

test.each([
  ['| take 0', '', [['[]']]],
  ['| take 0', 'by k', []],
  ["| where k == 'b'", '', [['[]']]],
  ["| where k == 'b'", 'by k', [['"b"', '[]']]],
])(
  'a histogram of no numbers is empty: events %s | summarize histogram(x, 3) %s',
  async (stage, by, shown) => {
    expect(await rows(`events ${stage} | summarize histogram(x, 3) ${by}`)).toEqual(shown);
  },
);

test.each([2, 3, 20, 1000])(
  'numbers too close for %d buckets are counted alike with and without groups',
  async n => {
    for (const numbers of ['10000000000000000 + 2 * (i % 3)', '4503599627370490 + i % 9', 'i % 2 * 5e-324']) {
      const [[all = '']] = (await rows(`events | extend y = ${numbers} | summarize histogram(y, ${n})`)) as [
        [string],
      ];
      const [[, grouped]] = (await rows(
        `events | extend y = ${numbers}, z = 1 | summarize histogram(y, ${n}) by z`,
      )) as [string[]];
      expect(all).toBe(grouped);
      const counts = (JSON.parse(all) as readonly { count: number }[]).map(({ count }) => count);
      expect(counts.reduce((total, count) => total + count, 0)).toBe(events.length);
    }
  },
);
