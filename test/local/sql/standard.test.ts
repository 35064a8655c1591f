import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { functions } from '../../../kernel/apl/catalog/all-functions.js';
import { elements } from '../../../kernel/apl/catalog/operator-entries.js';
import { duckdb } from '../../../kernel/local/duckdb/duckdb-dialect.js';
import type { DatasetCatalog } from '../../../kernel/local/sql/compiled-query.js';
import type { Dialect } from '../../../kernel/local/sql/dialect.js';
import { compilerFor } from '../../../kernel/local/sql/sql-request.js';
import { sqlArg } from '../../../kernel/local/sql/sql-template.js';
import { standard } from '../../../kernel/local/sql/standard.js';
import { fixtures } from '../../golden/fixtures.js';

const now = 1_772_600_767_000_000_000n;

/** Tables by name: the catalog of an engine unrelated to DuckDB. */
const catalog: DatasetCatalog = {
  names: () => Object.keys(fixtures),
  schema: name => {
    const fixture = Object.hasOwn(fixtures, name) ? fixtures[name] : undefined;
    return fixture && { name, fields: fixture.fields, open: fixture.open };
  },
  scan: (_, fields, _start, _end, filter) => {
    const columns = fields.map((_, index) => `x${index}`);
    const only = filter === undefined ? '' : ` WHERE ${filter.sql(columns)}`;
    return `SELECT ${columns.map((column, index) => `${column} AS f${index}`).join(', ')} FROM t${only}`;
  },
};

/** Returns the SQL of a query, or why there is none. */
function written(dialect: Dialect, apl: string): { readonly sql: string[]; readonly refusals: string[] } {
  const result = compilerFor(dialect)({ apl }, catalog, now);
  if (!result.ok) return { sql: [], refusals: result.diagnostics.map(({ message }) => message) };
  const { tables, shared = '' } = result.compiled;
  return { sql: [shared, ...tables.flatMap(({ sql, sharedSql = '' }) => [sql, sharedSql])], refusals: [] };
}

const folder = new URL('../../golden/', import.meta.url);
const golden = readdirSync(folder, { encoding: 'utf8', recursive: true })
  .filter(name => name.endsWith('.txt'))
  .flatMap(name => readFileSync(new URL(name, folder), 'utf8').split(/^=== /m).slice(1))
  .map(
    text =>
      text
        .slice(text.indexOf('\n') + 1)
        .split(/^---\n/m)[0]
        ?.trimEnd() ?? '',
  );
const examples = [...functions, ...elements].flatMap(({ example }) => example?.apl ?? []);
const queries = [...new Set([...golden, ...examples])];

/** Replaces names and strings in SQL. */
const bare = (sql: string) => sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g, '?');

describe('the standard dialect', () => {
  test('has no DuckDB-specific SQL, and refuses by name what it cannot express', () => {
    const spelling =
      /::|\bapl_|\bTRY\(|TRY_CAST|\b(?:json|list|epoch|make|to|regexp)_|MATERIALIZED|SEMI|ANTI|QUALIFY|\bLIMIT\b|[\w)]\[|\{|lambda|->|\/\/|\bunnest\b|\brange\(/i;
    const leaks: string[] = [];
    const silent: string[] = [];
    let count = 0;
    for (const apl of queries) {
      const { sql, refusals } = written(standard, apl);
      count += sql.length > 0 ? 1 : 0;
      leaks.push(...sql.filter(each => spelling.test(bare(each))));
      // Queries that no engine supports are refused as for DuckDB.
      const others = refusals.filter(
        message => !message.includes(' is not available here: the engine does not support it'),
      );
      if (others.length > 0 && written(duckdb, apl).refusals.join() !== refusals.join()) silent.push(apl);
    }
    expect(leaks).toEqual([]);
    expect(silent).toEqual([]);
    expect(count).toBeGreaterThan(200);
  });

  test.each([
    [`['http-logs'] | where status == 200 | project uri`, /WHERE \(x\d = CAST\(200 AS BIGINT\)\)/],
    [
      `['http-logs'] | sort by status asc | project uri | take 3`,
      / ORDER BY c1 ASC NULLS FIRST FETCH FIRST 4 ROWS ONLY\)[\s\S]* SELECT c3 FROM s\d ORDER BY c1 ASC NULLS FIRST$/m,
    ],
    [
      `['http-logs'] | project a = status | union (traces | project a = 1)`,
      /CAST\(c\d+ AS BIGINT\) AS c\d+ FROM s\d+ UNION ALL/,
    ],
    [`['http-logs'] | join kind=leftsemi (traces) on status`, /WHERE EXISTS \(SELECT 1 FROM s\d+ WHERE/],
  ])('%s', (apl, expected) => {
    const { sql, refusals } = written(standard, apl);
    expect(refusals).toEqual([]);
    expect(sql.join('\n')).toMatch(expected);
  });

  test.each([
    [
      'long',
      '+',
      'long',
      'CASE WHEN CAST(a AS DECIMAL(38)) + CAST(b AS DECIMAL(38)) BETWEEN MIN AND MAX THEN a + b END',
    ],
    [
      'long',
      '*',
      'long',
      'CASE WHEN CAST(a AS DECIMAL(38)) * CAST(b AS DECIMAL(38)) BETWEEN MIN AND MAX THEN a * b END',
    ],
    [
      'long',
      '%',
      'long',
      'CASE WHEN b NOT IN (0, -1) THEN MOD(a, b) WHEN b = -1 AND a IS NOT NULL THEN 0 END',
    ],
    [
      'long',
      '/',
      'long',
      'CASE WHEN b NOT IN (0, -1) THEN a / b WHEN b = -1 THEN CASE WHEN -CAST(a AS DECIMAL(38)) BETWEEN MIN AND MAX THEN -a END END',
    ],
    ['real', '+', 'real', '(a + b)'],
    ['real', '/', 'real', '(a / NULLIF(b, 0))'],
    ['real', '-', 'long', '(a - b)'],
    ['long', '-', 'real', '(a - b)'],
  ] as const)('writes %s %s %s in standard SQL', (left, operator, right, expected) => {
    const type = left === 'real' || right === 'real' ? 'real' : 'long';
    const sql = standard.arithmetic(operator, sqlArg('a', left), sqlArg('b', right), type);
    expect(sql.replaceAll('-9223372036854775808', 'MIN').replaceAll('9223372036854775807', 'MAX')).toBe(
      expected,
    );
  });

  test.each([
    ["print n = parse_ipv4('1.2.3.4')", '`parse_ipv4` is not available here: the engine does not support it'],
    [`['http-logs'] | mv-expand attrs`, '`mv-expand` is not available here: the engine does not support it'],
    [`['http-logs'] | where uri has "api"`, '`has` is not available here: the engine does not support it'],
    [
      `['http-logs'] | summarize make_list(uri)`,
      '`make_list` is not available here: the engine does not support it',
    ],
  ])('refuses %s by name', (apl, expected) => {
    expect(written(standard, apl)).toEqual({ sql: [], refusals: [expected] });
  });
});

describe('the dialect of an engine', () => {
  test('overrides parts of the standard and sees the functions that a statement calls', () => {
    const other: Dialect = {
      ...standard,
      limit: count => ` TOP ${count}`,
      statement: parts => `-- ${[...parts.calls].sort().join(' ')}\n${standard.statement(parts)}`,
    };
    const [, sql] = written(
      other,
      `['http-logs'] | extend a = tolower(uri), b = iff(status == 200, strlen(method), 0) | take 5`,
    ).sql;
    expect(sql).toMatch(/^-- iff strlen tolower\nWITH /);
    expect(sql).toMatch(/ TOP \d+/);
  });
});
