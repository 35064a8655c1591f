import type { DuckDBConnection } from '@duckdb/node-api';
import type { TypeName } from '../../kernel/apl/catalog/entry.js';
import { parseQuery } from '../../kernel/apl/syntax/parse.js';
import { visitQuery } from '../../kernel/apl/syntax/syntax-walk.js';
import { sqlText } from '../../kernel/local/duckdb/duckdb-literal.js';
import { sqlTypes } from '../../kernel/local/duckdb/duckdb-types.js';
import { samples } from '../../kernel/local/samples/all-samples.js';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import type { CompiledTable, DatasetCatalog } from '../../kernel/local/sql/compiled-query.js';
import { formatDuration, parseTimespan } from '../../kernel/time.js';
import { type Claims, claimsOf } from './claims.js';
import type { PageExample, PrintedTable } from './examples.js';

/** A printed value and the value computed here. */
export interface Difference {
  readonly column: string;
  readonly printed: string;
  readonly ours: string;
  /** The printed values from which it follows. */
  readonly from: string;
}

/** Outcome of an example: it is refused, it runs, or its printed values are also computed. */
export type Outcome =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'runs'; readonly unnamed: readonly string[] }
  | {
      readonly kind: 'computed';
      readonly values: number;
      readonly unnamed: readonly string[];
      readonly differences: readonly Difference[];
    };

/** 2026-03-04T05:06:07Z. */
const now = 1_772_600_767_000_000_000n;

/** Runs an example as far as possible without its dataset. */
export async function outcomeOf(connection: DuckDBConnection, example: PageExample): Promise<Outcome> {
  const whole = compile(example.apl, anyDataset(example.apl));
  if (typeof whole === 'string') return { kind: 'refused', message: whole };
  const names = whole.fields.map(field => field.name);
  const unnamed = (example.output?.columns ?? []).filter(name => !names.includes(name) && name !== '');
  const claims = claimsOf(example);
  const { output } = example;
  if (claims === undefined || output === undefined) return { kind: 'runs', unnamed };
  const differences: Difference[] = [];
  let values = 0;
  for (const row of output.rows) {
    const checked = await checkRow(connection, claims, output, row);
    // The printed values differ in kind from those of the query, such as durations in arrays.
    if (checked === undefined) return { kind: 'runs', unnamed };
    values += checked.values;
    differences.push(...checked.differences);
  }
  return { kind: 'computed', values, unnamed, differences };
}

/** Computes the claims of one printed row; undefined if the query cannot read its values. */
async function checkRow(
  connection: DuckDBConnection,
  claims: Claims,
  output: PrintedTable,
  row: readonly string[],
): Promise<{ values: number; differences: Difference[] } | undefined> {
  const printed = (name: string): string => row[output.columns.indexOf(name)] ?? '';
  const inputs = claims.reads.map(name => ({
    name,
    text: unquoted(printed(name)),
    type: typeOf(name, output),
  }));
  if (inputs.some(each => each.type === undefined || isShortened(each.text))) return undefined;
  const table = compile(claims.apl, printedRow(inputs));
  if (typeof table === 'string') return undefined;
  // A self-contained query has as many rows as it prints.
  const at = claims.reads.length === 0 ? Math.max(0, output.rows.indexOf(row)) : 0;
  const rows = (await connection.runAndReadAll(table.sql)).getRowsJson();
  const found = rows[at] ?? rows[0];
  const from = claims.reads.map(name => `${name} = ${printed(name)}`).join(', ');
  const checked = claims.computes.flatMap(column => {
    const index = table.fields.findIndex(field => field.name === column);
    const claim = printed(column);
    if (index < 0 || isShortened(claim)) return [];
    const ours = comparableValue(found?.[index], table.fields[index]?.type);
    const isAlike = typeof ours === 'bigint' ? parseTimespan(claim) === ours : isPrintedAs(ours, claim);
    return [{ column, printed: claim, ours: textOf(ours), from, isAlike }];
  });
  const differences = checked.flatMap(({ isAlike, ...rest }) => (isAlike ? [] : [rest]));
  return { values: checked.length, differences };
}

/** Converts a value of the engine for comparison: a duration to nanoseconds, and dynamic values parsed. */
function comparableValue(value: unknown, type: TypeName | undefined): unknown {
  if (type === 'timespan' && value !== null) return BigInt(String(value));
  return type === 'dynamic' && typeof value === 'string' ? (jsonOf(value) ?? value) : value;
}

/** Returns whether a printed value is abbreviated. */
function isShortened(claim: string): boolean {
  return /\.\.\.|…/.test(claim);
}

/** Returns whether a value equals the printed one, to as many decimals as printed. */
function isPrintedAs(value: unknown, claim: string): boolean {
  const plain = claim.replace(/−/g, '-').replace(/[‘’]/g, "'");
  const number = /^-?\d{1,3}(,\d{3})+$/.test(plain) ? plain.replaceAll(',', '') : plain;
  const printed = jsonOf(number) ?? (/^[[{]/.test(plain) ? jsonOf(plain.replaceAll("'", '"')) : undefined);
  return isAlike(printed ?? plain, value);
}

function isAlike(printed: unknown, value: unknown): boolean {
  if (typeof printed === 'number' && value !== null && value !== '') return isRounded(printed, Number(value));
  if (Array.isArray(printed))
    return (
      Array.isArray(value) &&
      printed.length === value.length &&
      printed.every((each, index) => isAlike(each, value[index]))
    );
  if (typeof printed === 'object' && printed !== null)
    return (
      typeof value === 'object' &&
      value !== null &&
      Object.keys(printed).length === Object.keys(value).length &&
      Object.entries(printed).every(([key, each]) =>
        isAlike(each, Object.entries(value).find(([name]) => name === key)?.[1]),
      )
    );
  return printed === value || comparable(printed) === comparable(value);
}

function isRounded(printed: number, value: number): boolean {
  const decimals = /\.(\d+)$/.exec(String(printed))?.[1]?.length ?? 0;
  const digit = 10 ** -decimals;
  return Math.abs(printed - value) < digit * (Number.isInteger(value) ? 0.5 : 1);
}

function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, '$2');
}

/** Normalizes a value: strings without quotes, and times in one format. */
function comparable(value: unknown): string {
  const text = value === null || value === '' ? 'null' : unquoted(String(value));
  return text.replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d*?)??0*Z?$/, '$1 $2$3').replace(/\.$/, '');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'bigint') return formatDuration(value);
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Returns the compiled table of a query, or the reason for its refusal. */
function compile(apl: string, catalog: DatasetCatalog): CompiledTable | string {
  const result = compileRequest({ apl }, catalog, now);
  if (!result.ok) return result.diagnostics.find(each => each.severity === 'error')?.message ?? 'refused';
  return result.compiled.tables[0] ?? 'no table';
}

/** Returns the sample datasets, open to missing fields, and an empty dataset for every other name. */
function anyDataset(apl: string): DatasetCatalog {
  const mentioned = new Set<string>();
  visitQuery(parseQuery(apl).query, {
    source: source => {
      if (source.kind === 'dataset') mentioned.add(source.name.name);
    },
  });
  const time = { name: '_time', type: 'datetime' } as const;
  return {
    names: () => [...mentioned],
    schema: name => {
      const sample = samples.find(each => each.schema.name === name);
      return sample === undefined
        ? { name, fields: [time, { name: '_sysTime', type: 'datetime' }], open: true }
        : { ...sample.schema, open: true };
    },
    scan: (_, fields) => `SELECT ${fields.map((_, index) => `NULL AS f${index}`).join(', ')} WHERE false`,
  };
}

interface Input {
  readonly name: string;
  readonly text: string;
  readonly type: TypeName | undefined;
}

/** Returns a printed row as the dataset `printed`. */
function printedRow(inputs: readonly Input[]): DatasetCatalog {
  const fields = inputs.flatMap(({ name, type }) => (type === undefined ? [] : [{ name, type }]));
  const rest = fields.some(field => field.name === '_time')
    ? []
    : [{ name: '_time', type: 'datetime' as const }];
  return {
    names: () => ['printed'],
    schema: name => (name === 'printed' ? { name, fields: [...rest, ...fields], open: true } : undefined),
    scan: (_, asked) => {
      const items = asked.map((name, index) => {
        const input = inputs.find(each => each.name === name);
        return `${input === undefined ? `make_timestamp_ns(${now})` : sqlOf(input)} AS f${index}`;
      });
      return `SELECT ${items.join(', ')}`;
    },
  };
}

function sqlOf({ text, type = 'string' }: Input): string {
  const isNull = text === '' || text === 'null';
  return isNull ? `NULL::${sqlTypes[type]}` : `${sqlText(text)}::${sqlTypes[type]}`;
}

/**
 * Returns the type of a printed column: that of the sample's field if its values fit, undefined if they do not, otherwise the common type.
 */
function typeOf(name: string, { columns, rows }: PrintedTable): TypeName | undefined {
  const values = rows.map(row => row[columns.indexOf(name)] ?? '');
  const filled = values.filter(value => value !== '' && value !== 'null');
  const seen = kinds.find(([, isOne]) => filled.every(isOne))?.[0] ?? 'string';
  const known = samples.flatMap(each => each.schema.fields).find(field => field.name === name)?.type;
  if (known === 'string' || known === undefined || known === seen) return known ?? seen;
  if (known === 'real' && seen === 'long') return 'real';
  return known === 'timespan' && seen === 'long' ? 'timespan' : undefined;
}

/** The kinds of printed values, in the order in which they are tried. */
const kinds: readonly (readonly [TypeName, (text: string) => boolean])[] = [
  ['long', text => /^-?\d{1,18}$/.test(text)],
  ['real', text => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)],
  ['bool', text => /^(true|false)$/.test(text)],
  ['datetime', text => /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?$/.test(text)],
  ['dynamic', text => /^[[{]/.test(text) && jsonOf(text) !== undefined],
];
