import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import {
  copyToParquet,
  type FileSummary,
  readFooters,
} from '../../../../kernel/local/engine/engine-parquet.js';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { StoredDataset } from '../../../../kernel/local/store/dataset/stored.js';

const texts = ['a timeout', 'timeouts', 'Timeout!', 'x-timeout_y', 'xtimeout', 'TIMEOUT', 'été timeouté', ''];
const maps = ['["timeout"]', '{"a":"b timeout"}', '{"timeout":1}', '["a\\u0074imeout"]', '12', 'null'];
const fields = [
  { name: '_time', type: 'datetime', column: '_time' },
  { name: 'text', type: 'string', column: 'text' },
  { name: 'map', type: 'dynamic', column: 'map' },
  { name: 'n', type: 'long', column: 'n' },
] as const;
const many = 16;

let files: readonly FileSummary[];
let engine: Engine;

beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'terms-'));
  engine = await Engine.open({ dataDir });
  const list = (values: readonly string[]) => `[NULL, ${values.map(each => `'${each}'`).join(', ')}]`;
  const select = `SELECT make_timestamp_ns(1700000000000000000 + i) AS _time, ${list(texts)}[i % 9 + 1] AS text, ${list(maps)}[i % 7 + 1] AS map, i AS n FROM range(63) t(i)`;
  const paths = Array.from({ length: many }, (_, n) => path.join(dataDir, `${n}.parquet`));
  await engine.run(copyToParquet(select, paths[0] ?? '', { fields }));
  for (const each of paths.slice(1)) await cp(paths[0] ?? '', each);
  const footers = await readFooters(engine, paths);
  files = footers.flatMap(each => ('unreadable' in each ? [] : [{ ...each, bytes: 1, version: '1' }]));
  return async () => {
    await engine.close();
    await rm(dataDir, { recursive: true });
  };
});

function sqlOf(apl: string, count: number): string {
  const stored = new StoredDataset('d', files.slice(0, count), {});
  const catalog = {
    names: () => ['d'],
    schema: () => stored.schema,
    scan: (_: string, ...rest: Parameters<StoredDataset['scan']>) => stored.scan(...rest),
    rowGroups: () => [],
    places: () => stored.places,
  };
  const range = { startTime: '2023-01-01T00:00:00Z', endTime: '2024-01-01T00:00:00Z' };
  const result = compileRequest({ apl: `d | ${apl}`, ...range }, catalog, 1_700_000_000_000_000_000n);
  if (!result.ok) throw new Error(result.diagnostics.map(each => each.message).join('; '));
  return result.compiled.tables[0]?.sql ?? '';
}

test.each([
  ...["text has 'timeout'", "text has_cs 'Timeout'", "text hasprefix 'timeout'", "text hassuffix 'TIMEOUT'"],
  ...["text !has 'timeout'", "text has 'été'", "text has ''", "map has 'timeout'", "map.a has 'timeout'"],
  ...["map has '12'", "n > 9 and (text has 'timeout' and map has 'timeout')", 'text has tostring(map)'],
  ...["text has 'timeout' or map has 'timeout'", "not(text has 'timeout')", "n == 3 and text has 'timeout'"],
])('many files give the same rows as each alone: where %s', async condition => {
  const rows = async (count: number) => {
    const sql = sqlOf(`where ${condition} | summarize c = count(), s = sum(n)`, count);
    return (await engine.run(sql))[0]?.map(Number);
  };
  const one = await rows(1);
  expect(await rows(many)).toEqual(one?.map(each => each * many));
});

test.each([
  ["text has 'timeout'", ['contains']],
  ["n < 40 and (text hasprefix_cs 'Timeout' and n > 2)", ['contains', 'n<40']],
])('a pattern is not prepared for each of many files: where %s', async (condition, applied) => {
  const filters = async (count: number) => {
    const [row] = await engine.run(`EXPLAIN ${sqlOf(`where ${condition} | summarize sum(n)`, count)}`);
    const plan = String(row?.[1]).replace(/[^\S\n]|[│\n]/g, '');
    const scan = plan.slice(plan.lastIndexOf('Filters:'));
    return (scan.match(/regexp_matches|contains|n<40/g) ?? []).sort();
  };
  expect(await filters(many)).toEqual(applied);
  expect(await filters(many - 1)).toContain('regexp_matches');
});
