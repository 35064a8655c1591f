import {
  Table as ArrowTable,
  Bool,
  type Data,
  type DataType,
  DurationNanosecond,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  TimestampNanosecond,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import { expect, inject, test } from 'vitest';
import { fieldsKey, type SentTable } from '../../kernel/local/results/sent-arrow.js';
import { jsonColumns } from '../../kernel/local/results/sent-json.js';
import type { DatasetCatalog } from '../../kernel/local/sql/compiled-query.js';
import { rowsSql } from '../../kernel/local/trino/trino-relations.js';
import { drawFrom } from '../local/evaluator/draw.js';
import { type Case, pipeline, type Table } from '../local/evaluator/pipelines.js';
import { stored, storedFixture } from '../local/evaluator/stored.js';
import { literal, type Type, type Value } from '../local/evaluator/values.js';
import { openQueries } from '../local/queries.js';
import { plainCell } from './cases.js';
import { sharedThrough } from './through.js';

const url = inject('trino');
const here = openQueries({ P: storedFixture });
const through = sharedThrough(url);

/** Set CLUSTER_PIPELINES=20000 for more, CLUSTER_SEED for different ones; a failure names the seed of its query. */
const runs = Number(process.env.CLUSTER_PIPELINES ?? 100);
const firstSeed = Number(process.env.CLUSTER_SEED ?? 1);

/**
 * Seeds that failed before: a join on NaN, a replaced empty string, a time that is never printed, a bin of the smallest integer, the
 * hash of null, and the distinct values of a constant.
 */
const once = [1_000_144, 1_000_028, 1_000_454, 1_000_587, 1_000_763, 3_001_091];

/** Number of concurrent queries. */
const asked = 8;

test.skipIf(url === '')('random pipelines give the same on a cluster and on this machine', async () => {
  const different: string[] = [];
  const tally = { same: 0, refused: 0, there: 0, withResults: 0 };
  const seeds = [
    ...(process.env.CLUSTER_SEED ? [] : once),
    ...Array.from({ length: runs }, (_, index) => firstSeed + index),
  ];
  const work = async () => {
    for (let drawn = seeds.shift(); drawn !== undefined; drawn = seeds.shift()) {
      const { text, written } = pipeline(drawFrom(drawn), 1 + (drawn % 6), stored);
      const [ours, theirs] = await Promise.all([answerHere(text), answerThere(text, written, drawn, tally)]);
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
  // A query that runs nothing on the cluster proves little.
  expect(tally.there).toBeGreaterThan(runs * 0.85);
  expect(tally.withResults).toBeGreaterThanOrEqual(Math.floor(runs * 0.1));
});

let turn: Promise<unknown> = Promise.resolve();

/** Runs queries one after another, as the engine of this file has one connection. */
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

/**
 * Which of the tables inlined into a query is a notebook result, if any; the others are cluster tables. A table read alone is not a
 * result, or the cluster would have nothing to do.
 */
const results = [undefined, 'R', 'T'] as const;

async function answerThere(
  text: string,
  written: Case['written'],
  seed: number,
  tally: { there: number; withResults: number },
): Promise<string> {
  const readsBoth = /\(R\b|\bR\)/.test(text.replace(/^let .*$/gm, ''));
  const result = readsBoth ? results[seed % results.length] : undefined;
  const tables = Object.entries(written).map(([name, table]) => [name, sentOf(table)] as const);
  const [own, sent] = [false, true].map(isResult =>
    Object.fromEntries(
      tables.flatMap(([name, table]) => ((name === result) === isResult ? [[`${name}0`, table]] : [])),
    ),
  );
  const apl = text.replace(/^let (T|R) = datatable\(.*\];$/gm, (_, name: string) => {
    const fields = tables.find(([each]) => each === name)?.[1].fields ?? [];
    return `let ${name} = ${name}0 | project ${fields.map(field => field.name).join(', ')};`;
  });
  return through(apl, clusterOf(own ?? {}), sent).then(
    ({ fields, rows, statements }) => {
      if (statements > 0) tally.there += 1;
      if (statements > 0 && result !== undefined && result in written) tally.withResults += 1;
      return shown(fields, rows);
    },
    (error: unknown) =>
      error instanceof Error && error.constructor.name === 'CompileFailure' ? 'refused' : `failed: ${error}`,
  );
}

const base = sentOf(stored.table);

/** Returns a cluster catalog of the stored dataset and these tables. */
function clusterOf(tables: Readonly<Record<string, SentTable>>): DatasetCatalog {
  const own = { [stored.name]: base, ...tables };
  const found = (name: string): SentTable | undefined => (Object.hasOwn(own, name) ? own[name] : undefined);
  return {
    names: () => Object.keys(own),
    schema: name => {
      const fields = found(name)?.fields;
      return fields && { name, fields, open: false };
    },
    scan: (name, fields, _from, _to, filter) => {
      const sent = found(name);
      const columns = sent && jsonColumns(sent, fields.length === 0 ? [''] : fields, 100_000);
      if (columns === undefined) throw new RangeError(`there is no table ${name}`);
      const values = columns.map((_, index) => `c${index}`);
      const where = filter === undefined ? '' : ` WHERE ${filter.sql(values)}`;
      return `SELECT ${values.map(each => `${each} AS f${each.slice(1)}`).join(', ')} FROM ${rowsSql(columns)}${where}`;
    },
  };
}

/** Returns a table in the form that a kernel sends. */
function sentOf({ columns, rows }: Table): SentTable {
  const vectors = columns.map(({ type }, index) =>
    vectorOf(
      type,
      rows.map(row => row[index] ?? null),
    ),
  );
  const children = vectors.map(({ data }) => data[0] as Data);
  const fields = columns.map(({ name, type }) => ({ name, type }));
  const schema = new Schema(
    vectors.map(({ type }, index) => new Field(columns[index]?.name ?? '', type, true)),
    new Map([[fieldsKey, JSON.stringify(fields)]]),
  );
  const data = makeData({ type: new Struct(schema.fields), length: rows.length, nullCount: 0, children });
  const table = new ArrowTable([new RecordBatch(schema, data)]);
  return { fields, rows: rows.length, table };
}

function vectorOf(type: Type, values: readonly Value[]): Vector {
  const whole = () => vectorFromArray(values as readonly (bigint | null)[], new Int64());
  const as = (other: DataType) => new Vector(whole().data.map(data => data.clone(other)));
  switch (type) {
    case 'bool':
      return vectorFromArray(values as readonly (boolean | null)[], new Bool());
    case 'real':
      return vectorFromArray(values as readonly (number | null)[], new Float64());
    case 'string':
      return vectorFromArray(values as readonly (string | null)[], new Utf8());
    case 'dynamic': {
      const texts = values.map(value =>
        value === null ? null : literal(value, type).slice('dynamic('.length, -1),
      );
      return vectorFromArray(texts, new Utf8());
    }
    case 'long':
      return whole();
    case 'datetime':
      return as(new TimestampNanosecond());
    case 'timespan':
      return as(new DurationNanosecond());
  }
}

/** Returns the rows as sorted text, as rows with equal keys may come in any order. */
function shown(
  fields: readonly { readonly name: string; readonly type: string }[],
  rows: readonly (readonly string[])[],
): string {
  const header = fields.map(field => `${field.name}:${field.type}`).join(' ');
  return [header, ...rows.map(row => row.map(plainCell).join(' ')).sort()].join('\n');
}
