import { describe, expect, it } from 'vitest';
import { sql } from '../../../../kernel/local/duckdb/functions/duckdb-sql.js';
import { formatSql } from '../../../../kernel/local/functions/sql/sql-format.js';
import { parseSql } from '../../../../kernel/local/functions/sql/sql-parse.js';
import { checkAll, j, nul, openEngine, s } from './harness.js';

const engine = openEngine();
const col = (colname: string) => ({ colname });
const int = (value: string) => ({ value, valtype: 'integer' });

describe('the structure of statements', () => {
  checkAll(engine, sql, [
    [
      'parse_sql',
      [s('SELECT id, status, uri FROM requests WHERE req_duration_ms > 1000 ORDER BY req_duration_ms DESC')],
      {
        statement: 'select',
        columns: [col('id'), col('status'), col('uri')],
        from: [{ table: 'requests' }],
        where: { operator: '>', params: [col('req_duration_ms'), int('1000')] },
        order: [{ direction: 'desc', expr: col('req_duration_ms') }],
      },
    ],
    [
      'parse_sql',
      [s('SELECT trace_id, span_id, duration FROM traces ORDER BY duration DESC')],
      {
        statement: 'select',
        columns: [col('trace_id'), col('span_id'), col('duration')],
        from: [{ table: 'traces' }],
        order: [{ direction: 'desc', expr: col('duration') }],
      },
    ],
    [
      'parse_sql',
      [s('SELECT id, status FROM logs WHERE status = 401 OR status = 403')],
      {
        statement: 'select',
        columns: [col('id'), col('status')],
        from: [{ table: 'logs' }],
        where: {
          operator: 'or',
          params: [
            { operator: '=', params: [col('status'), int('401')] },
            { operator: '=', params: [col('status'), int('403')] },
          ],
        },
      },
    ],
    ['parse_sql', [s('nonsense')], null],
    ['parse_sql', [s("SELECT 'open")], null],
    ['parse_sql', [s('SELECT a FROM t; DROP TABLE t')], null],
    ['parse_sql', [s(`SELECT ${'('.repeat(5000)}`)], null],
    ['parse_sql', [s('')], null],
    ['parse_sql', [nul('string')], null],
    ['format_sql', [j({ statement: 'select', columns: [col('a b')] })], 'select "a b"'],
    ['format_sql', [j({ statement: 'drop' })], null],
    ['format_sql', [j({ statement: 'select' })], null],
    ['format_sql', [j([])], null],
    ['format_sql', [nul('dynamic')], null],
  ]);
});

describe('statements parsed and formatted again', () => {
  it.each([
    [
      'SELECT id, status, uri FROM requests WHERE req_duration_ms > 1000 ORDER BY req_duration_ms DESC',
      'select id, status, uri from requests where req_duration_ms > 1000 order by req_duration_ms desc',
    ],
    ['SELECT id, status FROM logs WHERE status = 500', 'select id, status from logs where status = 500'],
    [
      "select DISTINCT t.a AS x, Count(*) n, count(distinct b), t.* from db.t AS t, u where a in (1, 2.5, 'it''s', null) -- end",
      "select distinct t.a as x, count(*) as n, count(distinct b), t.* from db.t as t, u where a in (1, 2.5, 'it''s', null)",
    ],
    [
      'SELECT a FROM t LEFT OUTER JOIN u ON t.id = u.id INNER JOIN v ON true GROUP BY a, b HAVING sum(c) >= 3 LIMIT 10 OFFSET ?;',
      'select a from t left join u on t.id = u.id join v on true group by a, b having sum(c) >= 3 limit 10 offset ?',
    ],
    [
      'SELECT (a + b) * -c - (d - 1) FROM (SELECT 1 AS a) x WHERE NOT (a = 1 OR b IS NOT NULL) AND c NOT LIKE $1',
      'select (a + b) * -c - (d - 1) from (select 1 as a) as x where not (a = 1 or b is not null) and c not like $1',
    ],
    [
      "SELECT CASE WHEN a BETWEEN 1 AND 2 THEN 'x' ELSE 'y' END FROM t WHERE EXISTS (SELECT 1 FROM u) UNION ALL SELECT b FROM v",
      "select case when a between 1 and 2 then 'x' else 'y' end from t where exists (select 1 from u) union all select b from v",
    ],
    ['INSERT INTO t (a, `b c`) VALUES (1, 2), (3, 4)', 'insert into t (a, "b c") values (1, 2), (3, 4)'],
    ['INSERT INTO t SELECT a FROM u', 'insert into t select a from u'],
    ["UPDATE t SET a = a + 1, b = 'x' WHERE id = :id", "update t set a = a + 1, b = 'x' where id = :id"],
    ['DELETE FROM t WHERE a <> 1', 'delete from t where a <> 1'],
  ])('%s', (text, expected) => {
    const formatted = formatSql(parseSql(text) ?? 'null');
    expect(formatted).toBe(expected);
    expect(formatSql(parseSql(expected) ?? 'null')).toBe(expected);
  });
});

describe('an incomplete statement is refused', () => {
  it.each([
    'SELECT CASE END',
    'SELECT CASE ELSE 1 END',
    'SELECT CASE WHEN a THEN 1',
    'SELECT CASE WHEN a 1 END',
    'SELECT a FROM t WHERE a NOT b',
    'SELECT a FROM t WHERE a NOT = 1',
    'SELECT a FROM t WHERE a BETWEEN 1',
    'SELECT a FROM t WHERE a IN 1',
    'SELECT a FROM t WHERE a IN (1',
    'SELECT a FROM select',
    'SELECT a, FROM t',
    'INSERT INTO t VALUES 1',
    'UPDATE t a = 1',
    'UPDATE t SET a 1',
  ])('%s', text => {
    expect(parseSql(text)).toBeNull();
  });
});
