import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import type { DatasetCatalog, FarSource } from '../../../../../kernel/local/sql/compiled-query.js';
import type { Dialect } from '../../../../../kernel/local/sql/dialect.js';
import { engines } from './second-engine.js';

/**
 * Cases: a title after `===`, the missing capability of the second engine, a query, `---`, and the statements: first the second
 * engine's, then the local ones. `UPDATE_GOLDEN=1` writes the current output.
 */
const url = new URL('./pushed.txt', import.meta.url);
const minute = 60_000_000_000n;

function catalogFor(dialect: Dialect, pushed: string[]): DatasetCatalog {
  const scanned: DatasetCatalog['scan'] = (table, fields, _start, _end, filter) => {
    const columns = fields.map((field, index) => `${field} AS f${index}`).join(', ');
    return `SELECT ${columns} FROM ${table}${filter === undefined ? '' : ` WHERE ${filter.sql(fields)}`}`;
  };
  const far: FarSource = {
    dialect,
    sideOf: leaf => (leaf.kind === 'scan' ? 'far' : 'any'),
    mostRows: 1_000_000,
    rows: ({ sql }) => {
      if (!pushed.includes(sql)) pushed.push(sql);
      const table = `part${pushed.indexOf(sql)}`;
      return (fields, filter) =>
        scanned(
          table,
          fields.map(field => (field.startsWith('c') ? field : 'place')),
          0n,
          0n,
          filter,
        );
    },
  };
  const fields = [
    { name: '_time', type: 'datetime' },
    { name: 'n', type: 'long' },
    { name: 'k', type: 'string' },
    { name: 'a', type: 'dynamic' },
  ] as const;
  return {
    names: () => ['logs', 'others'],
    schema: name => ({ name, fields, open: false }),
    scan: scanned,
    far,
  };
}

function written(lacks: string, apl: string): string {
  const pushed: string[] = [];
  const dialect = Object.entries(engines).find(([name]) => name === lacks)?.[1];
  if (dialect === undefined) throw new RangeError(`there is no engine that lacks ${lacks}`);
  const result = compileRequest({ apl }, catalogFor(dialect, pushed), 60n * minute);
  if (!result.ok) throw new RangeError(result.diagnostics.map(({ message }) => message).join('; '));
  const { shared, tables } = result.compiled;
  const here =
    shared === undefined ? tables.map(({ sql }) => sql) : [shared, ...tables.map(table => table.sharedSql)];
  return [...pushed.map((sql, index) => `part${index}: ${sql}`), ...here.map(sql => `here: ${sql}`)].join(
    '\n',
  );
}

const cases = readFileSync(url, 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map(text => {
    const [head = '', expected = ''] = text.split(/^---\n/m);
    const [title = '', lacks = '', ...apl] = head.trim().split('\n');
    return { title, lacks, apl: apl.join('\n'), expected: expected.trim() };
  });

if (process.env.UPDATE_GOLDEN === '1') {
  const texts = cases.map(
    ({ title, lacks, apl }) => `=== ${title}\n${lacks}\n${apl}\n---\n${written(lacks, apl)}\n`,
  );
  writeFileSync(url, texts.join('\n'));
}

test.each(cases)('$title', ({ lacks, apl, expected }) => expect(written(lacks, apl)).toBe(expected));
