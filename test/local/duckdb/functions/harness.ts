import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TypeName } from '../../../../kernel/apl/catalog/entry.js';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { sqlTypes } from '../../../../kernel/local/duckdb/duckdb-types.js';
import { FunctionRegistry } from '../../../../kernel/local/duckdb/register.js';
import {
  type SqlArg,
  type SqlContext,
  type SqlTemplate,
  sqlArg,
} from '../../../../kernel/local/sql/sql-template.js';

/** A result in the notation of the tests: bigint for long and timespan, RFC 3339 text for datetime, parsed JSON for dynamic. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly unknown[]
  | { readonly [key: string]: unknown };

export interface Evaluated {
  readonly sql: string;
  readonly value: Value;
}

export type Evaluate<Name extends string> = (name: Name, args: readonly SqlArg[]) => Promise<Evaluated>;

/** 2026-01-02T03:04:05Z to 04:04:05Z, and now at its end. */
export const context: SqlContext = {
  now: 1767326645000000000n,
  start: 1767323045000000000n,
  end: 1767326645000000000n,
};

export function s(value: string): SqlArg {
  return { ...sqlArg(sqlText(value), 'string'), constant: value };
}

export function n(value: bigint): SqlArg {
  return { ...sqlArg(integerSql(value), 'long'), constant: value };
}

export function r(value: number): SqlArg {
  return { ...sqlArg(`'${value}'::DOUBLE`, 'real'), constant: value };
}

export function b(value: boolean): SqlArg {
  return { ...sqlArg(String(value), 'bool'), constant: value };
}

/** Returns a timespan of this many nanoseconds. */
export function d(ns: bigint): SqlArg {
  return { ...sqlArg(integerSql(ns), 'timespan'), constant: ns };
}

/** Returns a datetime from RFC 3339 text in UTC with up to nine decimals. */
export function t(text: string): SqlArg {
  const ns = nanosecondsOf(text);
  return { ...sqlArg(`make_timestamp_ns(${integerSql(ns)})`, 'datetime'), constant: ns };
}

/** Returns a dynamic value; numbers beyond 2^53 are written as JSON text: `j('12345678901234567890', 'text')`. */
export function j(value: unknown, form: 'value' | 'text' = 'value'): SqlArg {
  const text = form === 'text' ? String(value) : JSON.stringify(value);
  return { ...sqlArg(`${sqlText(text)}::JSON`, 'dynamic'), constant: text };
}

export function nul(type: TypeName): SqlArg {
  return { ...sqlArg(`NULL::${sqlTypes[type]}`, type), constant: null };
}

/** Returns the argument without its constant, as if it came from a column of one row. */
export function opaque(arg: SqlArg): SqlArg {
  return { sql: arg.sql, type: arg.type };
}

/** Opens an in-memory engine with all functions for the tests of one file; returns functions that evaluate SQL on it. */
export function openEngine(): {
  readonly query: (sql: string) => Promise<readonly (readonly DuckDBValue[])[]>;
} {
  let instance: DuckDBInstance;
  let connection: DuckDBConnection;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    connection = await instance.connect();
    await new FunctionRegistry(connection).all();
  });
  afterAll(() => {
    connection.closeSync();
    instance.closeSync();
  });
  return { query: async sql => (await connection.runAndReadAll(sql)).getRows() };
}

/** Returns a function that explains and evaluates one call of a family: `SELECT template(args)`. */
export function evaluator<Name extends string>(
  engine: ReturnType<typeof openEngine>,
  family: Readonly<Record<Name, SqlTemplate<never>>>,
): Evaluate<Name> {
  return async (name, args) => {
    const sql = (family[name] as SqlTemplate)(args, context);
    await engine.query(`EXPLAIN SELECT ${sql}`);
    const rows = await engine.query(`SELECT ${valueText} FROM (SELECT ${sql} AS v)`);
    return { sql, value: parseText(rows[0]?.[0] as string | null) };
  };
}

/** A call and its exact result. `constant` lists the positions (from 0) of arguments that must be constants. */
export type Case<Name extends string> = readonly [
  name: Name,
  args: readonly SqlArg[],
  expected: Value,
  constant?: readonly number[],
];

/**
 * Checks each call twice: with constants, and over a column that holds the arguments between two rows of nulls, to cover the
 * engine's vectorized paths too.
 */
export function checkAll<Name extends string>(
  engine: ReturnType<typeof openEngine>,
  family: Readonly<Record<Name, SqlTemplate<never>>>,
  cases: readonly Case<Name>[],
): void {
  const evaluate = evaluator(engine, family);
  it.each(cases.map(entry => [describeCall(entry[0], entry[1]), entry] as const))('%s', async (_, entry) => {
    const [name, args, expected, constant] = entry;
    const { value } = await evaluate(name, args);
    expect(value).toStrictEqual(expected);
    expect(await overColumn(engine, family[name] as SqlTemplate, args, constant ?? [])).toStrictEqual(
      expected,
    );
  });
}

async function overColumn(
  engine: ReturnType<typeof openEngine>,
  template: SqlTemplate,
  args: readonly SqlArg[],
  constant: readonly number[],
): Promise<Value> {
  const columns = args.map((arg, index) => (constant.includes(index) ? arg : sqlArg(`a${index}`, arg.type)));
  const row = args.map((arg, index) => `${arg.sql} AS a${index}`);
  const nulls = args.map(arg => `NULL::${sqlTypes[arg.type]}`);
  const source = [...row, '1 AS place'].join(', ');
  const blank = (place: number) => [...nulls, String(place)].join(', ');
  const from = `(SELECT ${source} UNION ALL SELECT ${blank(0)} UNION ALL SELECT ${blank(2)})`;
  const values = `SELECT place, ${template(columns, context)} AS v FROM ${from}`;
  const rows = await engine.query(`SELECT ${valueText} FROM (${values}) ORDER BY place`);
  return parseText(rows[1]?.[0] as string | null);
}

/** Renders a value of any type as its SQL type and text, to detect a wrong type. */
const valueText = `typeof(v) || ':' || CASE WHEN typeof(v) = 'TIMESTAMP_NS' THEN replace(v::VARCHAR, ' ', 'T') || 'Z'
  ELSE v::VARCHAR END`;

function parseText(text: string | null): Value {
  if (text === null) return null;
  const colon = text.indexOf(':');
  const type = text.slice(0, colon);
  const value = text.slice(colon + 1);
  if (type === 'BIGINT') return BigInt(value);
  if (type === 'DOUBLE') return parseReal(value);
  if (type === 'BOOLEAN') return value === 'true';
  if (type === 'JSON') return parseDynamic(value);
  if (type === 'VARCHAR' || type === 'TIMESTAMP_NS') return value;
  throw new Error(`a template returned ${type}: ${value}`);
}

function parseReal(text: string): number {
  if (text === 'inf') return Number.POSITIVE_INFINITY;
  return text === '-inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

function parseDynamic(text: string): Value {
  if (text === 'null') throw new Error('a template returned a JSON null');
  return JSON.parse(text) as Value;
}

function describeCall(name: string, args: readonly SqlArg[]): string {
  return `${name}(${args.map(arg => arg.sql).join(', ')})`;
}

function integerSql(value: bigint): string {
  return value < 0n ? `('${value}'::BIGINT)` : `${value}::BIGINT`;
}

function nanosecondsOf(text: string): bigint {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text);
  if (parts?.[1] === undefined) throw new Error(`not a UTC time: ${text}`);
  return BigInt(Date.parse(`${parts[1]}Z`)) * 1_000_000n + BigInt((parts[2] ?? '').padEnd(9, '0'));
}
