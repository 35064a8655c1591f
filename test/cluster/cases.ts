import { readdirSync, readFileSync } from 'node:fs';
import { JsonColumns } from '../../kernel/local/engine/engine-columns.js';
import type { DatasetCatalog } from '../../kernel/local/sql/compiled-query.js';
import { compilerFor } from '../../kernel/local/sql/sql-request.js';
import type { Deployment, Statements } from '../../kernel/local/trino/protocol/statement.js';
import { ClusterError } from '../../kernel/local/trino/protocol/trino-failure.js';
import { appendRows } from '../../kernel/local/trino/protocol/trino-pages.js';
import { trino } from '../../kernel/local/trino/trino-dialect.js';
import { withFunctions } from '../../kernel/local/trino/trino-program.js';
import { fixtures } from '../golden/fixtures.js';
import { type Fixture, now } from '../local/queries.js';

const folder = new URL('../golden/', import.meta.url);

/** Queries of the golden files. */
export const goldenQueries: readonly string[] = readdirSync(folder, { encoding: 'utf8', recursive: true })
  .filter(name => name.endsWith('.txt'))
  .sort()
  .flatMap(name => readFileSync(new URL(name, folder), 'utf8').split(/^=== /m).slice(1))
  .map(
    part =>
      part
        .slice(part.indexOf('\n') + 1)
        .split(/^---\n/m)[0]
        ?.trimEnd() ?? '',
  );

const sqlTypes = {
  bool: 'boolean',
  long: 'bigint',
  real: 'double',
  string: 'varchar',
  datetime: 'bigint',
  timespan: 'bigint',
  dynamic: 'varchar',
} as const;

/** Returns the catalog of these tables, which are inlined into statements as values. */
function catalogOf(tables: Readonly<Record<string, Fixture>>): DatasetCatalog {
  const found = (name: string): Fixture | undefined =>
    Object.hasOwn(tables, name) ? tables[name] : undefined;
  return {
    names: () => Object.keys(tables),
    schema: name => {
      const fixture = found(name);
      return fixture && { name, fields: fixture.fields, open: fixture.open };
    },
    scan: (name, fields, from, to, filter) => {
      const { fields: known = [], rows = [] } = found(name) ?? {};
      const columns = fields.map(field => {
        const index = known.findIndex(each => each.name === field);
        return index < 0 ? 'NULL' : `CAST(x${index} AS ${sqlTypes[known[index]?.type ?? 'string']})`;
      });
      const time = `x${known.findIndex(each => each.name === '_time')}`;
      const values = rows.map(row => `(${row.map(inTrino).join(', ')})`).join(', ');
      const names = known.map((_, index) => `x${index}`).join(', ');
      const conditions = [
        `${time} >= ${from}`,
        `${time} < ${to}`,
        ...(filter === undefined ? [] : [filter.sql(columns)]),
      ];
      const list = columns.map((column, index) => `${column} AS f${index}`).join(', ');
      return `SELECT ${list} FROM (VALUES ${values}) v(${names}) WHERE ${conditions.join(' AND ')}`;
    },
  };
}

/** Tables of the golden files. */
export const goldenCatalog = catalogOf(fixtures);

/** Converts a cell from DuckDB's SQL to Trino's; only timestamps differ. */
function inTrino(cell: string): string {
  return cell.replace(/^make_timestamp_ns\((.*)\)$/, '$1');
}

/** Result of a query on a cluster: its rows, or why there are none. */
export type There =
  | { readonly kind: 'rows'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

const compile = compilerFor(trino({ approximate: false }));

/** Runs a query over the tables of the golden files. */
export async function runThere(statements: Statements, apl: string): Promise<There> {
  const result = compile({ apl }, goldenCatalog, now);
  if (!result.ok) return { kind: 'refused', message: result.diagnostics[0]?.message ?? '' };
  const [table] = result.compiled.tables;
  if (table === undefined) throw new RangeError('there is no table');
  let columns = new JsonColumns(table.fields);
  try {
    await statements.run(
      withFunctions(table.sql),
      () => {
        columns = new JsonColumns(table.fields);
        return ({ rows }) => {
          if (rows !== undefined) appendRows(rows, table.fields, columns, Number.POSITIVE_INFINITY);
        };
      },
      { limitMs: 60_000 },
    );
  } catch (error) {
    return { kind: 'failed', message: error instanceof ClusterError ? error.errorName : String(error) };
  }
  // The service returns null for reals that JSON cannot represent.
  const shown = (cell: string) => (/^"(?:NaN|-?Infinity)"$/.test(cell) ? 'null' : cell);
  const cells = table.fields.map(({ type }, index) => {
    const read = columns.cells(index);
    return type === 'real' ? read.map(shown) : read;
  });
  const length = Math.min(columns.rows, table.rowLimit?.rows ?? columns.rows);
  const rows = Array.from({ length }, (_, row) => cells.map(column => column[row] ?? ''));
  return { kind: 'rows', rows };
}

/** Normalizes a cell so that equal values have equal texts: reals to twelve digits, JSON by value. */
export function plainCell(cell: string): string {
  return JSON.stringify(plainValue(parsed(cell)));
}

function parsed(cell: string): unknown {
  // Integers with more digits than a double stay text.
  if (/^-?\d{16,}$/.test(cell)) return cell;
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toPrecision(12)) + 0;
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plainValue(each)]));
  return value;
}

/** Returns a deployment of a cluster at an address, over its in-memory tables. */
export function deploymentAt(url: string, more: Partial<Deployment> = {}): Deployment {
  return {
    profileName: 'lake',
    url,
    engine: {
      name: 'trino',
      user: 'me',
      usesPassword: false,
      catalog: 'memory',
      schema: 'default',
      approximate: false,
    },
    ...more,
  };
}
