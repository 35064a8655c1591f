import { expect, inject, test } from 'vitest';
import type { DatasetCatalog } from '../../kernel/local/sql/compiled-query.js';
import { compilerFor } from '../../kernel/local/sql/sql-request.js';
import { trino } from '../../kernel/local/trino/trino-dialect.js';
import { drawFrom } from '../local/evaluator/draw.js';
import { pipeline } from '../local/evaluator/pipelines.js';
import { stored, storedFixture } from '../local/evaluator/stored.js';
import { now, openQueries } from '../local/queries.js';
import { catalogOf, plainCell } from './cases.js';
import { sharedThrough } from './through.js';

const url = inject('trino');
const here = openQueries({ P: storedFixture });
const through = sharedThrough(url);
const compile = compilerFor(trino({ approximate: false }));

/** More with CLUSTER_PIPELINES=20000, others with CLUSTER_SEED; a failure names the seed of its query. */
const runs = Number(process.env.CLUSTER_PIPELINES ?? 100);
const firstSeed = Number(process.env.CLUSTER_SEED ?? 1);

/**
 * Seeds that were unlike once: a join on NaN, an empty text that is replaced, a time that nothing prints, a bin of the least integer, and
 * the hash of null.
 */
const once = [1_000_144, 1_000_028, 1_000_454, 1_000_587, 1_000_763];

/** How many are asked at a time. */
const asked = 4;

test.skipIf(url === '')('random pipelines give the same on a cluster and on this machine', async () => {
  const different: string[] = [];
  const tally = { same: 0, refused: 0 };
  const seeds = [
    ...(process.env.CLUSTER_SEED ? [] : once),
    ...Array.from({ length: runs }, (_, index) => firstSeed + index),
  ];
  const work = async () => {
    for (let drawn = seeds.shift(); drawn !== undefined; drawn = seeds.shift()) {
      const { text } = pipeline(drawFrom(drawn), 1 + (drawn % 6), stored);
      const [ours, theirs] = [await answerHere(text), await answerThere(text)];
      if (ours === 'refused') tally.refused += 1;
      else if (ours === theirs) tally.same += 1;
      if (ours !== theirs) {
        different.push(`seed ${drawn}\n${text}\nhere ${ours}\nthere ${theirs}`);
        if (process.env.CLUSTER_PIPELINES) console.log(different.at(-1));
      }
      if (drawn % 100 === 0)
        console.log(`seed ${drawn}: ${JSON.stringify(tally)}, ${different.length} differ`);
    }
  };
  await Promise.all(Array.from({ length: asked }, work));
  console.log(
    `${runs} pipelines from seed ${firstSeed}: ${JSON.stringify(tally)}, ${different.length} differ`,
  );
  expect(different.join('\n\n')).toBe('');
  expect(tally.same).toBeGreaterThan(runs * 0.85);
});

let turn: Promise<unknown> = Promise.resolve();

/** One after the other, as the engine of this file has one connection. */
function answerHere(apl: string): Promise<string> {
  const answer = turn.then(() => answerOf(apl));
  turn = answer;
  return answer;
}

async function answerOf(apl: string): Promise<string> {
  const outcome = await here.run(apl).catch((error: unknown) => error as Error);
  if (outcome instanceof Error) return `failed: ${outcome.message}`;
  if (!outcome.ok) return 'refused';
  const { table, rows } = outcome.ran;
  return shown(table.fields, rows);
}

/** Tables that are written into the query are tables of the cluster for it, or it would be answered here. */
async function answerThere(apl: string): Promise<string> {
  const { text, catalog } = withTables(apl);
  return through(text, catalog).then(
    ({ fields, rows }) => shown(fields, rows),
    (error: unknown) =>
      error instanceof Error && error.constructor.name === 'CompileFailure' ? 'refused' : `failed: ${error}`,
  );
}

function withTables(apl: string): { readonly text: string; readonly catalog: DatasetCatalog } {
  const base = catalogOf({ P: storedFixture });
  const made = new Map<
    string,
    { readonly sql: string; readonly schema: NonNullable<ReturnType<DatasetCatalog['schema']>> }
  >();
  const text = apl.replace(/^let (T|R) = (datatable\(.*\]);$/gm, (_, name: string, table: string) => {
    const result = compile({ apl: table }, base, now);
    const [first] = result.ok ? result.compiled.tables : [];
    if (first === undefined) throw new RangeError(`there is no table in ${table}`);
    const fields = first.fields.map(({ name, type }) => ({ name, type }));
    made.set(`${name}0`, { sql: first.sql, schema: { name: `${name}0`, fields, open: false } });
    return `let ${name} = ${name}0 | project ${fields.map(each => each.name).join(', ')};`;
  });
  const catalog: DatasetCatalog = {
    names: () => [...base.names(), ...made.keys()],
    schema: name => made.get(name)?.schema ?? base.schema(name),
    scan: (name, fields, from, to, filter) => {
      const found = made.get(name);
      if (found === undefined) return base.scan(name, fields, from, to, filter);
      const columns = found.schema.fields.map((_, index) => `c${index}`);
      const values = fields.map(
        field =>
          columns[found.schema.fields.findIndex(each => each.name === field)] ?? 'CAST(NULL AS varchar)',
      );
      const list =
        values.length === 0 ? '1 AS f0' : values.map((value, index) => `${value} AS f${index}`).join(', ');
      const where = filter === undefined ? '' : ` WHERE ${filter.sql(values)}`;
      return `SELECT ${list} FROM (${found.sql}) t(${columns.join(', ')})${where}`;
    },
  };
  return { text, catalog };
}

/** The rows as text, in any order, as those with equal keys may change places. */
function shown(
  fields: readonly { readonly name: string; readonly type: string }[],
  rows: readonly (readonly string[])[],
): string {
  const header = fields.map(field => `${field.name}:${field.type}`).join(' ');
  return [header, ...rows.map(row => row.map(plainCell).join(' ')).sort()].join('\n');
}
