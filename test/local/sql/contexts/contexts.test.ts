import { describe, expect, test } from 'vitest';
import { functions } from '../../../../kernel/apl/catalog/all-functions.js';
import type { TypeName } from '../../../../kernel/apl/catalog/entry.js';
import { openQueries } from '../../queries.js';
import { type Specimen, sourceOf, specimens } from './specimens.js';
import { contexts } from './table.js';

/*
 * An expression has the same value in every context as a field that holds its value. The SQL of a field is atomic; that of an
 * expression could be split by an adjacent operator that binds more tightly.
 */

const all = specimens();
const queries = openQueries();

/**
 * Each expression is tested beside all tightest-binding operators, and in one of every `sparse` other contexts, which vary with the
 * expression and with RANDOM_SEED; CONTEXTS=all tests all contexts.
 */
const sparse = process.env.CONTEXTS === 'all' ? 1 : 8;
const seed = Number(process.env.RANDOM_SEED ?? 1);
const isDrawn = (place: number) => (place + seed) % sparse === 0;

test('the expressions cover every function', () => {
  const called = new Set(all.map(each => each.callee));
  const left = functions.filter(each => each.unavailable === undefined && !called.has(each.name));
  expect(left.map(each => each.name)).toEqual(['rand']);
});

test.each(Object.entries(contexts))('a %s has many contexts', (_, { closest, others, aggregates }) => {
  expect(closest.length + others.length + aggregates.length).toBeGreaterThanOrEqual(25);
});

describe.each(Object.keys(contexts) as TypeName[])('an expression of type %s', type => {
  const { closest, others, aggregates, condition, key } = contexts[type];
  const [written, overFields] = [false, true].map(wanted =>
    all.filter(each => each.type === type && each.fields.length > 0 === wanted),
  );
  test.each(groups(written))('has the same value beside an operator: $names', async ({ some }) => {
    expect(await unlike(some, closest, 'project', closest)).toEqual([]);
  });
  test.each(groups(overFields))('has the same value beside other values: $names', async ({ some }) => {
    expect(await unlike(some, [...closest, ...others], 'project', closest)).toEqual([]);
  });
  test.each(groups(overFields))('has the same value in aggregates: $names', async ({ some }) => {
    expect(await unlike(some, aggregates, 'summarize', aggregates.slice(0, 1))).toEqual([]);
  });
  test.each(groups(overFields?.filter((_, place) => isDrawn(place))))(
    'has the same value in operators: $names',
    async ({ some }) => {
      expect(await unlikeRows(some, condition, key)).toEqual([]);
    },
  );
});

test('a random value may be a pattern', async () => {
  expect(await queries.rows("print y = 'a' matches regex tostring(rand(1))")).toEqual([['false']]);
});

/** Groups a few expressions into each query. */
function groups(of: readonly Specimen[] = []) {
  const together = 4;
  return Array.from({ length: Math.ceil(of.length / together) }, (_, index) => {
    const some = of.slice(index * together, (index + 1) * together);
    return { some, names: some.map(each => each.text).join('; ') };
  });
}

/** Returns the contexts in which an expression gives a different result than a field with its value. */
async function unlike(
  some: readonly Specimen[],
  around: readonly string[],
  operator: 'project' | 'summarize',
  always: readonly string[] = [],
): Promise<readonly object[]> {
  const texts = some.flatMap(({ text }, index) =>
    around
      .filter(
        (context, place) =>
          always.includes(context) || isDrawn(all.findIndex(each => each.text === text) + place),
      )
      .map(context => [within(context, text), within(context, `v${index}`)] as const),
  );
  const pairs = texts.map(([text, field], index) => `e${index} = ${text}, g${index} = ${field}`);
  const rows = await queries.rows(`${holding(some)} | ${operator} ${pairs.join(', ')}`);
  return texts.flatMap(([apl], index) => {
    const [given, expected] = [2 * index, 2 * index + 1].map(at => rows.map(row => row[at]));
    return String(given) === String(expected) ? [] : [{ apl, given, expected }];
  });
}

/** Does the same for conditions and for keys of joins, sorts and groups; compares the resulting rows in order. */
async function unlikeRows(
  some: readonly Specimen[],
  condition: string,
  key: string,
): Promise<readonly object[]> {
  const source = holding(some);
  const uses = some.flatMap(({ text }, index) =>
    [text, `v${index}`].map(value => {
      const [test, own, held] = [within(condition, value), within(key, value), within(key, `v${index}`)];
      const joined = `join kind=inner (${source} | project k = ${held}, other = id) on k`;
      const listed = 'summarize found = make_list(pack_array(id, other))';
      return `${source} | where ${test} or id == 0 | extend k = ${own} | ${joined} | sort by ${own} desc, id asc, other asc | ${listed} by g = ${own}`;
    }),
  );
  const pipelines = uses.map((apl, place) => `(${apl} | project place = ${place}, found = tostring(found))`);
  const rows = await queries.rows(`union ${pipelines.join(', ')} | sort by place asc, found asc`);
  const found = uses.map((_, place) => rows.filter(row => row[0] === String(place)).map(row => row[1]));
  return some.flatMap((_, index) => {
    const [given, expected] = found.slice(2 * index);
    return String(given) === String(expected) ? [] : [{ apl: uses[2 * index], given, expected }];
  });
}

/** Returns the source of the rows, extended by fields with the values of the expressions. */
function holding(some: readonly Specimen[]): string {
  const held = some.map(({ text }, index) => `v${index} = ${text}`);
  return `${sourceOf(some.flatMap(each => each.fields))} | extend ${held.join(', ')}`;
}

function within(context: string, text: string): string {
  return context.replaceAll('#', () => `(${text})`);
}
