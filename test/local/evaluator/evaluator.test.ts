import path from 'node:path';
import { expect, test } from 'vitest';
import { sqlText } from '../../../kernel/local/duckdb/duckdb-literal.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import { importFile } from '../../../kernel/local/store/import.js';
import { now, openQueries } from '../queries.js';
import { sharedStore } from '../store/dataset/stores.js';
import { drawFrom } from './draw.js';
import { type Case, pipeline, type Stored } from './pipelines.js';
import { cell, int64, type Json, jsonCell, type Type } from './values.js';

let catalog: DatasetCatalog | undefined;

const { run } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('the file has not been imported');
  return catalog;
});

/** An imported Parquet file; fields that are null in every row have the type declared in the file. */
const imported: Stored = {
  name: 'P',
  table: {
    columns: [
      { name: 'k', type: 'long' },
      { name: 's', type: 'string' },
      { name: 'n', type: 'long' },
      { name: 'x', type: 'real' },
      { name: 'b', type: 'bool' },
      { name: 't', type: 'datetime' },
      { name: 'v', type: 'long' },
    ],
    rows: [
      [0n, null, int64.greatest, 0, null, null, null],
      [1n, null, int64.least, -0, null, null, null],
      [1n, null, 7n, Number.NaN, null, null, null],
      [2n, null, null, Infinity, null, null, null],
      [null, null, -5n, null, null, null, null],
    ],
  },
};

const importedSql = `SELECT k::BIGINT AS k, NULL::VARCHAR AS s, n::BIGINT AS n, x::DOUBLE AS x, NULL::BOOLEAN AS b,
  NULL::TIMESTAMP AS t, NULL::INTEGER AS v
  FROM (VALUES (0, 9223372036854775807, 0.0), (1, -9223372036854775808, '-0.0'::DOUBLE), (1, 7, 'nan'::DOUBLE),
    (2, NULL, 'inf'::DOUBLE), (NULL, -5, NULL)) AS rows(k, n, x)`;

sharedStore(async ({ dataDir, engine, store }) => {
  const file = path.join(dataDir, 'in.parquet');
  await engine.withConnection(connection =>
    connection.run(`COPY (${importedSql}) TO ${sqlText(file)} (FORMAT parquet)`),
  );
  await importFile(store, dataDir, { path: file, dataset: imported.name }, now);
  catalog = await store.snapshot(imported.name);
});

/** Set RANDOM_PIPELINES=50000 for more, RANDOM_SEED for different ones; a failure names the seed of its query. */
const runs = Number(process.env.RANDOM_PIPELINES ?? 400);
const firstSeed = Number(process.env.RANDOM_SEED ?? 1);

test('random pipelines match a row-by-row evaluation', async () => {
  const tally = { equal: 0, refused: 0 };
  const different: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const made = pipeline(drawFrom(seed), 1 + (seed % 5), imported);
    const outcome = await run(made.text).catch((error: unknown) => error as Error);
    if (outcome instanceof Error) {
      different.push(`seed ${seed}\n${made.text}\n${outcome.message}`);
      continue;
    }
    if (!outcome.ok) {
      tally.refused += 1;
      if (process.env.SHOW_REFUSED) console.log(made.text, outcome.diagnostics);
      continue;
    }
    const expected = lines(
      made.expected.columns.map(({ name, type }) => `${name}:${type}`),
      expectedCells(made),
    );
    const fields = outcome.ran.table.fields;
    const found = lines(
      fields.map(field => `${field.name}:${field.type}`),
      outcome.ran.rows.map(row => row.map((text, index) => normalized(text, fields[index]?.type as Type))),
    );
    if (found === expected) tally.equal += 1;
    else different.push(`seed ${seed}\n${made.text}\nexpected ${expected}\nfound    ${found}`);
    if (different.length > 12) break;
  }
  expect(different.join('\n\n')).toBe('');
  // Most must run, or the property proves little.
  expect(tally.refused).toBeLessThan(runs / 10);
}, 3_600_000);

function expectedCells({ expected: { columns, rows } }: Case): string[][] {
  return rows.map(row => row.map((value, index) => cell(value, columns[index]?.type ?? 'long')));
}

function lines(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header.join(' '), ...rows.map(row => row.join(' ')).sort()].join('\n         ');
}

/** Formats a cell of the response like `cell`. */
function normalized(text: string, type: Type): string {
  if (text === 'null') return text;
  if (type === 'real') return cell(Number(text), 'real');
  if (type !== 'dynamic') return text;
  return jsonCell(parsed(text));
}

/** Parses JSON with exact integers, marked by a prefix that no other text has. */
function parsed(text: string): Json {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, token =>
    /^-?\d+$/.test(token) ? `"\\u0000${token}"` : token,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith('\0') ? BigInt(value.slice(1)) : value,
  ) as Json;
}
