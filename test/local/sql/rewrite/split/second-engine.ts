import { duckdb } from '../../../../../kernel/local/duckdb/duckdb-dialect.js';
import { families } from '../../../../../kernel/local/duckdb/functions/families.js';
import { withoutScripts } from '../../../../../kernel/local/duckdb/register.js';
import type { Dialect } from '../../../../../kernel/local/sql/dialect.js';
import { TemplateError } from '../../../../../kernel/local/sql/sql-template.js';

/** Decides whether an engine lacks something, by dialect member, arguments, and generated SQL. */
type IsLacking = (member: string, given: readonly unknown[], sql: string) => boolean;

/** Returns DuckDB's dialect without some of its capabilities. */
function lacking(isLacking: IsLacking): Dialect {
  const members = Object.entries(duckdb).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function') return [name, member];
    const written = (...given: unknown[]): unknown => {
      const sql: unknown = member(...given);
      if (typeof sql === 'string' && isLacking(name, given, sql))
        throw new TemplateError(`\`${name}\` is not available here: the engine does not support it`, -1);
      return sql;
    };
    return [name, written];
  });
  return Object.fromEntries(members) as Dialect;
}

const { isScripted } = withoutScripts(families);

const relational: readonly string[] = [
  ...['orderKey', 'join', 'unionItem', 'sample', 'firstOfEach', 'expand', 'neighbor', 'series', 'spotlight'],
];

/** Dialects by missing capability. */
export const engines = {
  nothing: duckdb,
  'functions in JavaScript': lacking((_member, _given, sql) => isScripted(sql)),
  'functions and aggregates': lacking(member => member === 'call' || member === 'aggregate'),
  'all but scans, filters, projections and aggregates': lacking(member => relational.includes(member)),
  'all but scans, filters and projections': lacking(member => [...relational, 'aggregate'].includes(member)),
  // Rejected only once the whole part has been generated.
  'aggregates over rows in an order': lacking(
    (member, [parts]) => member === 'aggregate' && Reflect.get(Object(parts), 'order') !== '',
  ),
} satisfies Readonly<Record<string, Dialect>>;

/** Dialect members that every engine needs to generate any part. */
const always = new Set(['limit', 'statement', 'stage', 'nothing', 'bytes', 'literal', 'temporary']);

/** Returns a dialect without about a quarter of all functions, aggregates, operators and join kinds, chosen by the seed. */
export function lackingSome(seed: number): Dialect {
  return lacking((member, [first, second]) => {
    if (always.has(member)) return false;
    const call = Reflect.get(Object(first), 'call') as { readonly name: string } | undefined;
    const name = typeof first === 'string' ? first : (call?.name ?? Reflect.get(Object(first), 'type'));
    return hash(`${seed} ${member} ${String(name)} ${typeof second === 'string' ? second : ''}`) % 4 === 0;
  });
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return (value >>> 0) ^ (value >>> 15);
}
