import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aggregates } from '../../kernel/apl/catalog/aggregates.js';
import { functions } from '../../kernel/apl/catalog/all.js';
import type { Example } from '../../kernel/apl/catalog/entry.js';
import { elements } from '../../kernel/apl/catalog/operators.js';
import { FunctionShelf } from '../../kernel/local/duckdb/register.js';
import { JsonColumns, packedSql } from '../../kernel/local/engine/columns.js';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../kernel/local/sql/compiled.js';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await new FunctionShelf(connection).all();
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const noDatasets: DatasetCatalog = {
  names: () => [],
  schema: () => undefined,
  scan: name => {
    throw new Error(`there is no dataset ${name}`);
  },
};

/** 2026-03-04T05:06:07Z. */
const now = 1_772_600_767_000_000_000n;

describe('a function’s example gives what it says', () => {
  test.each(functions.filter(each => each.unavailable === undefined))('$name', each => check(each.example));
});

describe('an aggregate’s example gives what it says', () => {
  test.each([...aggregates])('$name', each => check(each.example));
});

describe('an operator’s example gives what it says', () => {
  const runnable = elements.flatMap(({ kind, name, example }) =>
    example === undefined ? [] : [{ kind, name, example }],
  );
  test.each(runnable)('$kind $name', each => check(each.example));
});

describe('what is not available is refused by its name', () => {
  const refused = functions.filter(each => each.unavailable !== undefined);
  test.each(refused)('$name', ({ name, example }) => {
    const compiled = compileRequest({ apl: example.apl }, noDatasets, now);
    const messages = compiled.ok ? [] : compiled.diagnostics.map(each => each.message);
    expect(messages).toEqual([expect.stringContaining(`\`${name}\` is not available here`)]);
  });
});

async function check({ apl, result }: Example): Promise<void> {
  const compiled = compileRequest({ apl }, noDatasets, now);
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(each => each.message).join('; '));
  const [table] = compiled.compiled.tables;
  if (table === undefined) throw new Error('there is no table');
  const columns = new JsonColumns(table.fields);
  const stream = await connection.stream(packedSql(table.sql, table.fields));
  const chunk = await stream.fetchChunk();
  if (chunk !== null && chunk.rowCount > 0) columns.append(chunk, 1);
  const row = table.fields.map((_, index) => columns.bytes(index).toString());
  expect(tight(`[${row.join(',')}]`)).toBe(tight(result));
}

/** JSON without the spaces outside strings, and `1.0`, which is the number `1`, as `1`. */
function tight(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+|(?<=\d)\.0+(?!\d)/g, (_, string?: string) => string ?? '');
}
