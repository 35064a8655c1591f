import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bind } from '../../../../kernel/apl/bind/bind.js';
import type { Plan, Relation } from '../../../../kernel/apl/plan/plan.js';
import { parseQuery } from '../../../../kernel/apl/syntax/parse.js';
import { duckdb } from '../../../../kernel/local/duckdb/duckdb-dialect.js';
import type { RowGroup } from '../../../../kernel/local/sql/compiled-query.js';
import {
  type QueryContext,
  type RewriteContext,
  type RewrittenQuery,
  rewrites,
} from '../../../../kernel/local/sql/rewrite/rewrite-list.js';
import { planText } from './text.js';

/**
 * Each rewrite has a file of cases: a title after `===`, a query, `---`, and the plans before and after the rewrite.
 * `UPDATE_GOLDEN=1` writes the current output.
 */
const folder = new URL('./plans/', import.meta.url);
const update = process.env.UPDATE_GOLDEN === '1';
const minute = 60_000_000_000n;
const now = 60n * minute;

const fields = [
  { name: '_time', type: 'datetime' },
  { name: 'n', type: 'long' },
  { name: 'k', type: 'string' },
  { name: 'a', type: 'dynamic' },
] as const;

function planOf(apl: string): Plan {
  const { plan, diagnostics } = bind(parseQuery(apl).query, apl, {
    schema: name => ({ name, fields, open: false }),
    datasets: () => ['logs', 'others'],
    now,
    start: 0n,
    end: now,
    variables: {},
    autoBin: minute,
  });
  if (plan === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return plan;
}

/** One row group per minute. */
const rowGroups = (): RowGroup[] =>
  Array.from({ length: 60 }, (_, at) => ({
    rows: 100_000,
    minNs: BigInt(at) * minute,
    maxNs: BigInt(at + 1) * minute - 1n,
    timed: true,
  }));

/** Known for only one of the datasets. */
const rowCount: RewriteContext['rowCount'] = name => (name === 'logs' ? 6_000_000 : undefined);

const functions: RewriteContext['functions'] = {
  isTextList: ({ name }) => duckdb.textLists?.of(name) !== undefined,
  documents: duckdb.documents,
  textLists: name => new Set(name === 'others' ? ['a'] : []),
  stored: () => new Set(),
};

function ofStatement(
  name: 'keys' | 'prune' | 'bounds' | 'counts' | 'limits' | 'elements' | 'members' | 'levels',
) {
  return ({ relation, columns }: Plan) => [
    rewrites[name](relation, {
      now,
      columns,
      rowGroups,
      rowCount,
      functions,
      keepsOrder: name === 'members',
    }),
  ];
}

function ofQuery(name: 'ordering' | 'places' | 'pages' | 'totals', plan: Plan): RewrittenQuery {
  const { relation, order } = plan;
  const context: QueryContext = {
    plan,
    defaultOrder: [],
    placesOf: () => 'timed',
    cursor: { time: 30n * minute, count: 2, whole: false },
    includeCursor: false,
    windowSeconds: 3600,
    dialect: duckdb,
  };
  return rewrites[name]({ relation, order, shown: relation.columns, unknown: [] }, context);
}

/** Plans that each rewrite produces from a plan. */
const plansAfter: { readonly [Name in keyof typeof rewrites]: (plan: Plan) => readonly Relation[] } = {
  ordering: plan => [ofQuery('ordering', plan).relation],
  places: plan => [ofQuery('places', plan).relation],
  pages: plan => {
    const { page } = ofQuery('pages', plan);
    return page === undefined ? [] : [page.rest.sort, page.exact(10, 20n * minute)];
  },
  totals: plan => {
    const { apart } = ofQuery('totals', plan);
    return apart === undefined ? [] : [apart.binned, apart.table, apart.totals];
  },
  windows: ({ relation }) =>
    relation.kind === 'sort' ? rewrites.windows(relation, 1000, rowGroups, now) : [],
  times: ({ relation }) => {
    const found = relation.kind === 'sort' ? rewrites.times(relation, 1001) : undefined;
    return found === undefined ? [] : [found.times, found.within({ start: 20n * minute, end: 30n * minute })];
  },
  keys: ofStatement('keys'),
  prune: ofStatement('prune'),
  bounds: ofStatement('bounds'),
  counts: ofStatement('counts'),
  limits: ofStatement('limits'),
  elements: ofStatement('elements'),
  members: ofStatement('members'),
  levels: ofStatement('levels'),
};

function shown(name: keyof typeof rewrites, apl: string): string {
  const plan = planOf(apl);
  const before = planText(plan.relation);
  return [before, ...plansAfter[name](plan).map(after => planText(after))].join('\n=>\n');
}

test('every rewrite has a file of plans, and every file has a rewrite', () => {
  const files = readdirSync(folder).map(file => file.replace(/\.txt$/, ''));
  expect(files.sort()).toEqual(Object.keys(rewrites).sort());
});

for (const name of Object.keys(rewrites) as (keyof typeof rewrites)[]) {
  const url = new URL(`${name}.txt`, folder);
  const cases = readFileSync(url, 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map(text => {
      const titleEnd = text.indexOf('\n');
      const [apl = '', expected = ''] = text.slice(titleEnd + 1).split(/^---\n/m);
      return { title: text.slice(0, titleEnd), apl: apl.trim(), expected: expected.trim() };
    });
  if (update) {
    const written = cases.map(({ title, apl }) => `=== ${title}\n${apl}\n---\n${shown(name, apl)}\n`);
    writeFileSync(url, written.join('\n'));
  }
  describe(name, () => {
    test('has cases', () => expect(cases).not.toEqual([]));
    if (!update) test.each(cases)('$title', ({ apl, expected }) => expect(shown(name, apl)).toBe(expected));
  });
}
