import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aggregates } from '../../kernel/apl/catalog/aggregates.js';
import { everyFunction } from '../../kernel/apl/catalog/all-functions.js';
import type { Example, FunctionEntry } from '../../kernel/apl/catalog/entry.js';
import { elements } from '../../kernel/apl/catalog/operator-entries.js';
import type { Expr } from '../../kernel/apl/syntax/ast.js';
import { parseQuery } from '../../kernel/apl/syntax/parse.js';
import { visitQuery } from '../../kernel/apl/syntax/syntax-walk.js';
import { FunctionRegistry } from '../../kernel/local/duckdb/register.js';
import { JsonColumns } from '../../kernel/local/engine/engine-columns.js';
import { JsonChunks, readableSql } from '../../kernel/local/engine/reading/read-chunks.js';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../kernel/local/sql/compiled-query.js';

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await new FunctionRegistry(connection).all();
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

describe('function examples return the documented result', () => {
  test.each(everyFunction.filter(each => each.unavailable === undefined))('$name', each =>
    check(each.example),
  );
});

describe('aggregate examples return the documented result', () => {
  test.each([...aggregates])('$name', each => check(each.example));
});

describe('operator examples return the documented result', () => {
  const runnable = elements.flatMap(({ kind, name, example }) =>
    example === undefined ? [] : [{ kind, name, example }],
  );
  test.each(runnable)('$kind $name', each => check(each.example));
});

describe('unavailable functions are refused by name', () => {
  const refused = everyFunction.filter(each => each.unavailable !== undefined);
  test.each(refused)('$name', ({ name, example }) => {
    const compiled = compileRequest({ apl: example.apl }, noDatasets, now);
    const messages = compiled.ok ? [] : compiled.diagnostics.map(each => each.message);
    expect(messages).toEqual([expect.stringContaining(`\`${name}\` is not available here`)]);
  });
});

describe('a null argument gives null, or the documented result', () => {
  const cases = [...everyFunction, ...aggregates].flatMap((entry: FunctionEntry) =>
    entry.unavailable === undefined ? withNulls(entry) : [],
  );
  test.each(cases)('$name: $param', async ({ apl, said }) => {
    const row = await firstRow(apl);
    const isNull = row?.every(value => value === 'null');
    expect(isNull ? undefined : tight(row?.join(', ') ?? 'no row')).toBe(said && tight(said));
  });

  test('a null result is documented only for existing parameters', () => {
    const named = [...everyFunction, ...aggregates].flatMap(({ name, params, nulls }: FunctionEntry) =>
      Object.keys(nulls ?? {})
        .filter(each => params.every(param => param.name !== each))
        .map(each => `${name}: ${each}`),
    );
    expect(named).toEqual([]);
  });
});

/** Returns the example of an entry once for each argument that need not be constant, with null in its place. */
function withNulls(entry: FunctionEntry) {
  const { apl } = entry.example;
  const call = callIn(apl, [entry.name, ...(entry.aliases ?? [])]);
  return entry.params.flatMap(({ name: param, type, constant }, index) => {
    const argument = call.args[index]?.value;
    if (argument === undefined || constant || type === 'type' || type === 'field') return [];
    const { from, to } = argument;
    const nothing = `iff(1 > 2, ${apl.slice(from, to)}, null)`;
    const changed =
      entry.kind === 'function' && !apl.includes(' | ')
        ? `print ${apl.slice(call.from, from)}${nothing}${apl.slice(to, call.to)}`
        : entry.kind === 'aggregate' && argument.kind === 'name'
          ? apl.replace(' | summarize', ` | extend ${argument.name} = ${nothing} | summarize`)
          : apl.slice(0, from) + nothing + apl.slice(to);
    return [{ name: entry.name, param, apl: changed, said: entry.nulls?.[param] }];
  });
}

function callIn(apl: string, names: readonly string[]): Extract<Expr, { kind: 'call' }> {
  const found: Extract<Expr, { kind: 'call' }>[] = [];
  visitQuery(parseQuery(apl).query, {
    expr: expr => {
      if (expr.kind === 'call' && names.includes(expr.callee.name)) found.push(expr);
    },
  });
  const [first] = found;
  if (first === undefined) throw new Error(`${names[0]} is not called in ${apl}`);
  return first;
}

async function check({ apl, result }: Example): Promise<void> {
  expect(tight(`[${(await firstRow(apl))?.join(',') ?? ''}]`)).toBe(tight(result));
}

/** Returns the values of the first row as JSON; undefined if there is none. */
async function firstRow(apl: string): Promise<readonly string[] | undefined> {
  const compiled = compileRequest({ apl }, noDatasets, now);
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(each => each.message).join('; '));
  const [table] = compiled.compiled.tables;
  if (table === undefined) throw new Error('there is no table');
  const filled = new JsonChunks(table.fields, new JsonColumns(table.fields));
  const stream = await connection.stream(readableSql(table.sql, table.fields, 'json'));
  const chunk = await stream.fetchChunk();
  if (chunk === null || chunk.rowCount === 0) return undefined;
  filled.append(chunk, 1);
  return table.fields.map((_, index) => filled.columns.bytes(index).toString());
}

/** Removes spaces outside strings from JSON, and writes `1.0` as `1`, which is the same number. */
function tight(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+|(?<=\d)\.0+(?!\d)/g, (_, string?: string) => string ?? '');
}
