import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect } from 'vitest';
import { bind } from '../../kernel/apl/bind/bind.js';
import type { TypeName } from '../../kernel/apl/catalog/entry.js';
import type { FieldSchema } from '../../kernel/apl/plan/plan.js';
import type { Diagnostic } from '../../kernel/apl/syntax/ast.js';
import { mergeDiagnostics } from '../../kernel/apl/syntax/diagnostics.js';
import { parseQuery } from '../../kernel/apl/syntax/parse.js';
import { sqlTypes } from '../../kernel/local/duckdb/duckdb-types.js';
import { FunctionRegistry } from '../../kernel/local/duckdb/register.js';
import { JsonColumns } from '../../kernel/local/engine/engine-columns.js';
import { JsonChunks, readableSql } from '../../kernel/local/engine/reading/read-chunks.js';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import type { CompiledTable, DatasetCatalog, FarSource } from '../../kernel/local/sql/compiled-query.js';
import type { Dialect } from '../../kernel/local/sql/dialect.js';
import { placeField } from '../../kernel/local/sql/rewrite/placed.js';

/** 2026-03-04T05:06:07Z; queries read the hour before. */
export const now = 1_772_600_767_000_000_000n;
export const start = now - 3_600_000_000_000n;

/** A dataset of the tests; its cells are SQL expressions of the field's type. */
export interface Fixture {
  readonly open: boolean;
  readonly fields: readonly FieldSchema[];
  readonly rows: readonly (readonly string[])[];
}

/** Result of a query: cells as JSON text, and the compiled table. */
export interface Ran {
  readonly table: CompiledTable;
  readonly rows: readonly (readonly string[])[];
}

export type Outcome =
  | { readonly ok: true; readonly ran: Ran; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Opens an in-memory engine for the tests of one file; returns functions that compile, explain and run queries on it, over the given
 * tables or a catalog that must exist when the first query runs.
 */
export function openQueries(tables: Readonly<Record<string, Fixture>> | (() => DatasetCatalog) = {}): {
  readonly run: (apl: string, far?: Far) => Promise<Outcome>;
  /** Returns the rows of a query, without checking its types and diagnostics. */
  readonly rows: (apl: string) => Promise<Ran['rows']>;
  /** Runs an SQL statement, such as one that creates a table for the catalog. */
  readonly prepare: (sql: string) => Promise<void>;
} {
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
  const fixtures = typeof tables === 'function' ? tables : () => catalogOf(tables);
  return {
    prepare: async sql => {
      await connection.run(sql);
    },
    rows: async apl => {
      const result = compileRequest({ apl }, fixtures(), now);
      const [table] = result.ok ? result.compiled.tables : [];
      if (table !== undefined) return rowsOf(connection, table);
      const messages = result.ok ? [] : result.diagnostics.map(each => each.message);
      throw new Error(`${messages.join('; ')} in ${apl}`);
    },
    run: async (apl, far) => {
      const catalog = fixtures();
      const diagnostics = findings(apl, catalog);
      const tables = far && new FarTables(connection, far);
      try {
        const result = await compiledWith(apl, catalog, tables);
        if (!result.ok)
          return { ok: false, diagnostics: [...diagnostics, ...beyond(result.diagnostics, diagnostics)] };
        const [table] = result.compiled.tables;
        if (table === undefined) throw new RangeError('there is no table');
        const rows = await rowsOf(connection, table);
        // With rows, the types are checked as the rows are read.
        if (rows.length === 0) await checkTypes(connection, table);
        return { ok: true, ran: { table, rows }, diagnostics };
      } finally {
        await tables?.drop();
      }
    },
  };
}

/** DuckDB as its own second engine: its capabilities, and a callback for its statements. */
export interface Far {
  readonly dialect: Dialect;
  readonly pushed?: (sql: string) => void;
}

/** Results of the second engine, in temporary tables. */
class FarTables {
  readonly #connection: DuckDBConnection;
  readonly #far: Far;
  readonly #tables = new Map<string, string | undefined>();

  constructor(connection: DuckDBConnection, far: Far) {
    this.#connection = connection;
    this.#far = far;
  }

  get source(): FarSource {
    return {
      dialect: this.#far.dialect,
      // Inline tables count as remote, like datasets.
      sideOf: () => 'far',
      mostRows: 2_000_000,
      rows: ({ sql }) => {
        const table = this.#tables.get(sql);
        this.#tables.set(sql, table);
        if (table === undefined) return () => '';
        return (fields, filter) => {
          const columns = fields.map(field => (field === placeField ? 'rowid' : field));
          const list = columns.map((column, index) => `${column} AS f${index}`).join(', ');
          return `SELECT ${list} FROM ${table}${filter === undefined ? '' : ` WHERE ${filter.sql(columns)}`}`;
        };
      },
    };
  }

  /** Computes the requested parts; returns whether there were any. */
  async load(): Promise<boolean> {
    const missing = [...this.#tables].filter(([, table]) => table === undefined);
    for (const [sql] of missing) {
      const table = `far${[...this.#tables.keys()].indexOf(sql)}`;
      this.#far.pushed?.(sql);
      await this.#connection.run(`CREATE TEMP TABLE ${table} AS ${sql}`);
      this.#tables.set(sql, table);
    }
    return missing.length > 0;
  }

  async drop(): Promise<void> {
    for (const table of this.#tables.values())
      if (table !== undefined) await this.#connection.run(`DROP TABLE ${table}`);
  }
}

async function compiledWith(
  apl: string,
  catalog: DatasetCatalog,
  tables: FarTables | undefined,
): Promise<ReturnType<typeof compileRequest>> {
  if (tables === undefined) return compileRequest({ apl }, catalog, now);
  for (;;) {
    const result = compileRequest({ apl }, { ...catalog, far: tables.source }, now);
    if (!(await tables.load())) return result;
  }
}

/** Splits comma-separated JSON values without changing their text. */
function splitJson(text: string): string[] {
  if (text === '') return [];
  const parts: string[] = [];
  let [from, depth, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    if (quoted && char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && '[{'.includes(char)) depth += 1;
    else if (!quoted && ']}'.includes(char)) depth -= 1;
    else if (!quoted && depth === 0 && char === ',') {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}

/** Returns the catalog of these datasets, for queries of an hour before `now`. */
export function catalogOf(fixtures: Readonly<Record<string, Fixture>>): DatasetCatalog {
  const found = (name: string): Fixture | undefined =>
    Object.hasOwn(fixtures, name) ? fixtures[name] : undefined;
  return {
    names: () => Object.keys(fixtures),
    schema: name => {
      const fixture = found(name);
      return fixture === undefined ? undefined : { name, fields: fixture.fields, open: fixture.open };
    },
    scan: (name, fields, from, to, filter) => {
      const fixture = found(name);
      if (fixture === undefined) throw new RangeError(`there is no dataset ${name}`);
      const columns = fields.map(field => columnOf(fixture, field));
      const time = columnOf(fixture, '_time');
      const values = fixture.rows.map(row => `(${row.join(', ')})`).join(', ');
      const names = fixture.fields.map((_, index) => `x${index}`).join(', ');
      const conditions = [`${time} >= make_timestamp_ns(${from})`, `${time} < make_timestamp_ns(${to})`];
      if (filter !== undefined) conditions.push(filter.sql(columns));
      const list = columns.map((column, index) => `${column} AS f${index}`).join(', ');
      return `SELECT ${list} FROM (VALUES ${values}) v(${names}) WHERE ${conditions.join(' AND ')}`;
    },
  };
}

function columnOf(fixture: Fixture, name: string): string {
  const index = fixture.fields.findIndex(field => field.name === name);
  return index < 0 ? 'NULL' : `x${index}::${sqlTypes[fixture.fields[index]?.type as TypeName]}`;
}

/** Returns all diagnostics of parsing and binding, including warnings and hints. */
function findings(apl: string, catalog: DatasetCatalog): Diagnostic[] {
  const parsed = parseQuery(apl);
  const bound = bind(parsed.query, apl, {
    schema: name => catalog.schema(name),
    datasets: () => catalog.names(),
    now,
    start,
    end: now,
    variables: {},
    autoBin: 30_000_000_000n,
  });
  return mergeDiagnostics(apl, parsed.diagnostics, bound.diagnostics);
}

function beyond(more: readonly Diagnostic[], known: readonly Diagnostic[]): Diagnostic[] {
  return more.filter(each => !known.some(other => other.code === each.code && other.from === each.from));
}

/** Expects every column to have the engine type of its declared type, even without rows. */
async function checkTypes(connection: DuckDBConnection, { fields, sql }: CompiledTable): Promise<void> {
  const described = await connection.runAndReadAll(`DESCRIBE ${sql}`);
  const found = described.getRows().map((row, index) => `${fields[index]?.name} ${row[1]}`);
  expect(found).toEqual(fields.map(field => `${field.name} ${sqlTypes[field.type]}`));
}

/** Returns the rows as the service does: the SQL fetches one more than the limit. */
async function rowsOf(connection: DuckDBConnection, table: CompiledTable): Promise<string[][]> {
  const filled = new JsonChunks(table.fields, new JsonColumns(table.fields));
  const { columns } = filled;
  const stream = await connection.stream(readableSql(table.sql, table.fields, 'json'));
  for (let chunk = await stream.fetchChunk(); chunk !== null; chunk = await stream.fetchChunk()) {
    if (chunk.rowCount === 0) break;
    filled.append(chunk, chunk.rowCount);
  }
  const cells = table.fields.map((_, index) => splitJson(columns.bytes(index).toString()));
  const length = Math.min(columns.rows, table.rowLimit?.rows ?? columns.rows);
  return Array.from({ length }, (_, row) => cells.map(column => column[row] ?? ''));
}

/** Returns SQL for a time this many seconds before `now`. */
export function secondsAgo(seconds: number): string {
  return `make_timestamp_ns(${now - BigInt(seconds) * 1_000_000_000n})`;
}
