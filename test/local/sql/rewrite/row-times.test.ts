import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import { sharedService } from '../../service.js';

const service = sharedService({ compile: compileRequest });
const range = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-25T00:00:00Z' };
const rows = 3_000;
const others = Array.from({ length: 220 }, (_, index) => `f${index}`);

/** Time of row `i` in each dataset, in seconds since 2026-06-15. */
const datasets = {
  ties: 'i // 7',
  one: '5',
  untimed: 'CASE WHEN i % 5 > 0 THEN (i * 7919) % 3000 END',
} as const;

beforeAll(async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const [name, at] of Object.entries(datasets)) {
    const folder = path.join(service().dataDir, 'datasets', name);
    await mkdir(folder, { recursive: true });
    const fields = others.map((field, index) => `i + ${index} AS ${field}`);
    await connection.run(
      `COPY (SELECT TIMESTAMP_NS '2026-06-15' + to_seconds(${at}) AS _time, i AS n, ${fields.join(', ')} FROM range(${rows}) r(i))
       TO '${path.join(folder, '0.parquet')}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
    );
  }
  connection.closeSync();
  instance.closeSync();
});

const stages = [
  '',
  '| where n % 3 == 0',
  '| where n % 1000 == 1',
  '| where n < 0',
  '| where n < 100 | extend m = n',
  '| where isnull(_time)',
];
const ends = [
  '| limit 100',
  '| sort by _time asc | limit 100',
  '| sort by _time desc, n asc | limit 37',
  '| extend t = _time + 1s | sort by t desc | limit 10',
  '| extend t = iff(n % 2 == 0, _time, datetime(null)) | sort by t asc, n asc | limit 2000',
  '| extend t = iff(n % 2 == 0, _time, datetime(null)) | sort by t desc, n asc | limit 2000',
];

/** Returns these two fields of a query's rows, and its status. */
async function answer(apl: string, more: object = {}) {
  const { status, body } = await service().query(apl, { ...range, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  const { fields, columns } = body.tables[0];
  const { elapsedTime: _, ...said } = body.status;
  const of = (name: string) => columns[fields.findIndex((field: { name: string }) => field.name === name)];
  return { time: of('_time'), n: of('n'), fields: fields.length, said };
}

describe.each(Object.keys(datasets))('%s', name => {
  test.each(ends.flatMap(end => stages.map(stage => `${name} ${stage} ${end}`)))(
    'rows read with all fields equal those read with two: %s',
    async apl => {
      const { fields: few, ...two } = await answer(`${apl} | project _time, n`);
      const { fields: many, ...all } = await answer(apl);
      expect([few, many > 200]).toEqual([2, true]);
      expect(all).toEqual(two);
    },
  );
});

test('paging over many fields leaves no gap', async () => {
  const seen: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 10; page += 1) {
    const { n, said } = await answer(
      'ties | sort by _time desc | limit 300',
      cursor === undefined ? {} : { cursor },
    );
    seen.push(...n);
    cursor = said.maxCursor === said.minCursor ? undefined : said.minCursor;
  }
  expect(new Set(seen).size).toBe(rows);
  expect(seen.length).toBe(rows);
});

describe('times are read first', () => {
  const catalog = (count: number): DatasetCatalog => ({
    names: () => ['web'],
    schema: name => ({
      name,
      open: false,
      fields: [
        { name: '_time', type: 'datetime' },
        ...others.slice(0, count - 1).map(field => ({ name: field, type: 'long' as const })),
      ],
    }),
    scan: () => 'SELECT f0 FROM files',
  });
  function isInTwo(apl: string, count: number): boolean {
    const result = compileRequest({ apl }, catalog(count), 0n);
    if (!result.ok) throw new Error(result.diagnostics.map(each => each.message).join('; '));
    return result.compiled.tables[0]?.times !== undefined;
  }
  test.each([
    ['web | limit 100', 200, true],
    ['web | limit 100', 199, false],
    ['web | limit 9999', 200, true],
    ['web | limit 10000', 200, false],
    ['web | sort by f1 asc | limit 100', 200, false],
    ['web | limit 100 | project _time, f1', 200, false],
    ['web | where rand() < 0.5 | limit 100', 200, false],
  ])('%s of %d fields: %s', (apl, count, expected) => {
    expect(isInTwo(apl, count)).toBe(expected);
  });
});
