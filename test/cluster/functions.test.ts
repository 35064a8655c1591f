import { expect, inject, test } from 'vitest';
import { inlineFunctions, withFunctions } from '../../kernel/local/trino/trino-program.js';
import { statement } from './node.js';

const url = inject('trino');

/** Columns by the parameter types of functions. */
const columns: Readonly<Record<string, string>> = {
  bigint: 'n',
  double: 'x',
  varchar: 's',
  date: 'd',
  'timestamp(9)': 't',
  'decimal(38, 0)': 'm',
  'array(double)': 'l',
};

/** Meaningful arguments for functions that reject any other. */
const fitting: Readonly<Record<string, readonly string[]>> = {
  apl_at: ['s', "'$.k'"],
  apl_zone: ["concat('+0', CAST(n AS varchar), ':00')"],
};

/** Returns the parameter types in a signature such as `(s varchar, m decimal(38, 0)) RETURNS bigint`. */
function typesIn(signature: string): readonly string[] {
  const list = signature.slice(1, signature.indexOf(') RETURNS'));
  return [...list.matchAll(/\w+ (\w+(?:\([^)]*\))?)/g)].map(([, type = '']) => type);
}

test.skipIf(url === '')(
  'every inline SQL function works over columns, in projections and in filters',
  async () => {
    const made = Object.entries(columns).map(([type, name]) => `${name} ${type}`);
    await statement(url, 'DROP TABLE IF EXISTS memory.default.every');
    await statement(url, `CREATE TABLE memory.default.every (${made.join(', ')})`);
    await statement(
      url,
      `INSERT INTO memory.default.every VALUES
     (7, 1.5, '{"k":1}', DATE '2026-01-02', TIMESTAMP '2026-01-02 03:04:05.123456789', DECIMAL '12', ARRAY[1e0, 2e0]),
     (NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    );
    const failed: string[] = [];
    for (const [name, signature] of inlineFunctions) {
      const args = fitting[name] ?? typesIn(signature).map(type => columns[type]);
      const call = `${name}(${args.join(', ')})`;
      // Trino compiles a scan filter differently from a selected column.
      for (const sql of [
        `SELECT count(${call}) FROM memory.default.every`,
        `SELECT count(*) FROM memory.default.every WHERE ${call} IS NULL`,
      ]) {
        const found = await statement(url, withFunctions(sql)).then(
          () => '',
          (error: unknown) => String(error).slice(0, 120),
        );
        if (found !== '') failed.push(`${sql}: ${found}`);
      }
    }
    expect(failed).toEqual([]);
  },
);
