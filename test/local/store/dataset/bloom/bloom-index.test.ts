import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { sqlText } from '../../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { type FileSummary, readFooters } from '../../../../../kernel/local/engine/engine-parquet.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import type { Equality } from '../../../../../kernel/local/sql/compiled-query.js';
import { batchesOf } from '../../../../../kernel/local/store/dataset/bloom/bloom-build.js';
import { BloomIndex } from '../../../../../kernel/local/store/dataset/bloom/bloom-index.js';
import {
  addTo,
  isSealed,
  mayHold,
  pageBytes,
  pageOf,
  pagesOf,
  seal,
} from '../../../../../kernel/local/store/dataset/bloom/bloom-pages.js';
import { StoredDataset } from '../../../../../kernel/local/store/dataset/stored.js';

const groupRows = 2_048;
const [groupsEach, filesThere] = [5, 3];
const rowsEach = groupRows * groupsEach;

let dataDir: string;
let engine: Engine;
let files: readonly FileSummary[];

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'blooms-'));
  engine = await Engine.open({ dataDir });
  for (let file = 0; file < filesThere; file++) await writeRows(file, file * rowsEach);
  files = await summaries('1');
  return async () => {
    await engine.close();
    await rm(dataDir, { recursive: true });
  };
});

/** In the last file ids are twice as rare, and there is no `order`. */
async function writeRows(file: number, first: number): Promise<void> {
  const order = file === filesThere - 1 ? '' : ', (hash(i) % 1000000)::BIGINT AS "order"';
  const odd = `CASE i % 5 WHEN 0 THEN chr(0) || i WHEN 1 THEN '🎈' || i WHEN 2 THEN NULL ELSE md5((i // 2)::VARCHAR) END AS id`;
  await engine.run(
    `COPY (SELECT make_timestamp_ns(1700000000000000000 + i) AS _time, ${odd}, i AS n, 0.5 * i AS real${order}
     FROM range(${first}, ${first + rowsEach}) t(i)) TO ${sqlText(pathOf(file))} (FORMAT parquet, ROW_GROUP_SIZE ${groupRows})`,
  );
}

function pathOf(file: number): string {
  return path.join(dataDir, `${file}.parquet`);
}

async function summaries(version: string): Promise<readonly FileSummary[]> {
  const footers = await readFooters(engine, [...Array(filesThere).keys()].map(pathOf));
  return footers.flatMap(each => ('unreadable' in each ? [] : [{ ...each, bytes: 1, version }]));
}

function indexOf(log: (text: string) => void = () => undefined): BloomIndex {
  return new BloomIndex(dataDir, engine, log, { leastRows: 1, pauseMs: 0 });
}

/** What an index knows once it was asked before. */
async function leftOutBy(index: BloomIndex, key: string, equality: Equality, of = files) {
  await index.groupsLeftOut(key, of, [equality]);
  await index.settled();
  return index.groupsLeftOut(key, of, [equality]);
}

/** The row groups of all files with a row for which a condition holds, as `file/group`. */
async function groupsWith(condition: string): Promise<readonly string[]> {
  const list = files.map(file => sqlText(file.path)).join(', ');
  const rows = await engine.run(
    `SELECT DISTINCT file_index || '/' || file_row_number // ${groupRows}
     FROM read_parquet([${list}], union_by_name = true) WHERE ${condition}`,
  );
  return rows.map(String).sort();
}

/** The row groups that are read, as `file/group`. */
function groupsRead(leftOut: ReadonlyMap<FileSummary, ReadonlySet<number>>): readonly string[] {
  const all = files.flatMap((file, index) =>
    file.blocks.flatMap((_, group) => (leftOut.get(file)?.has(group) ? [] : [`${index}/${group}`])),
  );
  return all.sort();
}

test('the rows of the files are in as many row groups as the test assumes', () => {
  expect(files.map(file => file.blocks.map(block => block.rows))).toEqual(
    Array.from({ length: filesThere }, () => Array.from({ length: groupsEach }, () => groupRows)),
  );
});

test.each<[string, Equality]>([
  ['"id" = md5(\'17\')', { field: 'id', type: 'string', values: ['70efdf2ec9b086079795c442636b55fb'] }],
  ['"id" = chr(0) || \'20000\'', { field: 'id', type: 'string', values: ['\u000020000'] }],
  ['"id" = \'🎈25001\'', { field: 'id', type: 'string', values: ['🎈25001'] }],
  ['n IN (3, 30000)', { field: 'n', type: 'long', values: [3n, 30_000n] }],
  ['"order" = (hash(9000) % 1000000)::BIGINT', { field: 'order', type: 'long', values: [] }],
  ['false', { field: 'id', type: 'string', values: ['nowhere'] }],
  ['n > 30720', { field: 'n', type: 'long', values: [-(2n ** 63n), 2n ** 63n - 1n] }],
])('of the row groups those are read that have the value: %s', async (condition, equality) => {
  const [[hashed] = []] = await engine.run('SELECT (hash(9000) % 1000000)::BIGINT');
  const wanted = equality.field === 'order' ? { ...equality, values: [hashed as bigint] } : equality;
  const index = indexOf();
  const key = `read-${condition}`.replace(/\W/g, '-');
  expect((await index.groupsLeftOut(key, files, [wanted])).size).toBe(0);
  await index.settled();
  expect(groupsRead(await index.groupsLeftOut(key, files, [wanted]))).toEqual(await groupsWith(condition));
});

test('what holds for one field and for another is in the row groups of both', async () => {
  const index = indexOf();
  const two: Equality[] = [
    { field: 'n', type: 'long', values: [5n, 9_000n] },
    { field: 'id', type: 'string', values: ['🎈1', '🎈9001'] },
  ];
  await index.groupsLeftOut('both', files, two);
  await index.settled();
  const both = groupsRead(await index.groupsLeftOut('both', files, two));
  expect(both).toEqual(['0/0', '0/4']);
  const none = await index.groupsLeftOut('both', files, [
    two[0] as Equality,
    { ...two[1], values: [] } as Equality,
  ]);
  expect(groupsRead(none)).toEqual([]);
});

test('a scan has the same rows in the same order without the row groups that have none', async () => {
  const equality: Equality = { field: 'id', type: 'string', values: ['🎈1', '🎈4096', '🎈9001', '🎈22001'] };
  const leftOut = await leftOutBy(indexOf(), 'scan', equality);
  const values = equality.values.map(value => sqlText(String(value))).join(', ');
  const filter = {
    sql: ([, id = '']: readonly string[]) => `${id} IN (${values})`,
    equalities: [equality],
  };
  const dataset = new StoredDataset('d', files, {});
  const rows = (without?: typeof leftOut) =>
    engine.run(
      `SELECT f0, f1, f2 FROM (${dataset.scan(['n', 'id', 'order'], -(2n ** 63n), 2n ** 63n - 1n, filter, without)})`,
    );
  const found = await rows(leftOut);
  expect(found.map(([n]) => Number(n))).toEqual([1, 4_096, 9_001, 22_001]);
  expect(found).toEqual(await rows());
  const sql = dataset.scan(['n', 'id'], -(2n ** 63n), 2n ** 63n - 1n, filter, leftOut);
  expect(sql.match(/file_row_number BETWEEN \d+ AND \d+/g)).toEqual([
    'file_row_number BETWEEN 0 AND 2047',
    'file_row_number BETWEEN 4096 AND 6143',
    'file_row_number BETWEEN 8192 AND 10239',
    'file_row_number BETWEEN 0 AND 2047',
  ]);
});

test('any rows are where a scan without some row groups looks for them', async () => {
  const dataset = new StoredDataset('d', files, {});
  const all = 2n ** 63n - 1n;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.boolean(), { minLength: groupsEach, maxLength: groupsEach }), {
        minLength: filesThere,
        maxLength: filesThere,
      }),
      async cut => {
        const without = new Map(
          files.map((file, at) => [
            file,
            new Set([...(cut[at] ?? []).entries()].flatMap(([g, is]) => (is ? [g] : []))),
          ]),
        );
        const rows = await engine.run(
          `SELECT list(DISTINCT f0 // ${groupRows} ORDER BY f0 // ${groupRows})::VARCHAR, count(*) FROM (${dataset.scan(['n'], -all, all, undefined, without)})`,
        );
        const read = cut.flat().flatMap((is, group) => (is ? [] : [group]));
        const list = read.length === 0 ? null : `[${read.join(', ')}]`;
        expect(rows).toEqual([[list, BigInt(read.length * groupRows)]]);
      },
    ),
    { numRuns: 25 },
  );
});

test('filters are known to the next service, and those of a file that was written over are not', async () => {
  const equality: Equality = { field: 'n', type: 'long', values: [3n] };
  await leftOutBy(indexOf(), 'kept', equality);
  expect(groupsRead(await indexOf().groupsLeftOut('kept', files, [equality]))).toEqual(['0/0']);
  const changed = await summaries('2');
  const next = indexOf();
  expect((await next.groupsLeftOut('kept', changed, [equality])).size).toBe(0);
  await next.settled();
  // Those of the files before are deleted.
  expect(await readdir(path.join(dataDir, '.cache', 'blooms', 'kept'))).toHaveLength(1);
  expect((await next.groupsLeftOut('kept', files, [equality])).size).toBe(0);
  await next.settled();
  await next.forget('kept');
  await expect(readdir(path.join(dataDir, '.cache', 'blooms', 'kept'))).rejects.toThrow('ENOENT');
});

test('a byte that has changed leaves no row group out, and the filters are made again', async () => {
  const equality: Equality = { field: 'id', type: 'string', values: ['nowhere'] };
  const directory = path.join(dataDir, '.cache', 'blooms', 'damaged');
  const none = files.flatMap((_, file) => [...Array(groupsEach).keys()].map(group => `${file}/${group}`));
  await leftOutBy(indexOf(), 'damaged', equality);
  const [name = ''] = await readdir(directory);
  const whole = await readFile(path.join(directory, name));
  for (const [at, isHead] of [
    [3, true],
    [40, true],
    [whole.length - 1, false],
    [whole.length, false],
  ] as const) {
    const bytes = Buffer.from(whole);
    const cut = at === whole.length ? bytes.subarray(0, at - 5_000) : bytes;
    if (at < whole.length) cut[at] = (cut[at] ?? 0) ^ 1;
    await rm(directory, { recursive: true });
    await leftOutBy(indexOf(), 'damaged', equality);
    const [made = ''] = await readdir(directory);
    await writeFile(path.join(directory, made), cut);
    const said: string[] = [];
    const index = indexOf(text => said.push(text));
    // The last page is of a row group that has no such value: it is read all the same.
    const wide = { ...equality, values: Array.from({ length: 100 }, (_, n) => `nowhere ${n}`) };
    expect(groupsRead(await index.groupsLeftOut('damaged', files, [wide]))).toEqual(none);
    expect(said).toHaveLength(isHead ? 0 : 1);
    expect(await readdir(directory)).not.toContain(made);
    await index.settled();
    expect(groupsRead(await index.groupsLeftOut('damaged', files, [equality]))).toEqual([]);
  }
});

test.each([
  ['a field that holds another type', { field: 'real', type: 'long', values: [3n] }],
  ['a field that no file has', { field: 'none', type: 'string', values: ['x'] }],
] satisfies [string, Equality][])('for %s there are none, and nothing is left out', async (_, equality) => {
  const index = indexOf();
  expect((await leftOutBy(index, 'other', equality)).size).toBe(0);
  await expect(readdir(path.join(dataDir, '.cache', 'blooms', 'other'))).rejects.toThrow('ENOENT');
});

test('for row groups whose times are not known there are none, as their numbers are not', async () => {
  const unknown = files.map(file => ({
    ...file,
    blocks: file.blocks.map(each => ({ ...each, timed: false })),
  }));
  const leftOut = await leftOutBy(indexOf(), 'untimed', { field: 'n', type: 'long', values: [3n] }, unknown);
  expect(leftOut.size).toBe(0);
});

test('few rows are read without filters', async () => {
  const index = new BloomIndex(dataDir, engine, () => undefined, {
    leastRows: rowsEach * filesThere + 1,
    pauseMs: 0,
  });
  expect(index.isWorthwhile(files)).toBe(false);
  expect((await leftOutBy(index, 'few', { field: 'n', type: 'long', values: [3n] })).size).toBe(0);
});

test('batches have each row group once, and are not too large', () => {
  const [file] = files as [FileSummary];
  const million = 2 ** 20;
  expect(batchesOf([{ file, first: 2, rows: Array.from({ length: 9 }, () => million) }])).toEqual([
    [{ file, first: 2, rows: [million, million, million, million] }],
    [{ file, first: 6, rows: [million, million, million, million] }],
    [{ file, first: 10, rows: [million] }],
  ]);
  const many = batchesOf(Array.from({ length: 501 }, (_, first) => ({ file, first, rows: [7] })));
  expect(many.map(batch => batch.length)).toEqual([250, 250, 1]);
  expect(many.flat().map(run => run.first)).toEqual([...Array(501).keys()]);
  const huge = [{ file, first: 0, rows: [5 * million, 1] }];
  expect(batchesOf(huge)).toEqual([
    [{ file, first: 0, rows: [5 * million] }],
    [{ file, first: 1, rows: [1] }],
  ]);
});

test('a page holds all that was added to it and one in a hundred of the rest at most, and knows its number', () => {
  const rows = 20_000;
  const pages = Buffer.alloc(pagesOf(rows) * pageBytes);
  const pageAt = (low: number) => pageOf(low, pagesOf(rows)) * pageBytes;
  const hash = (n: number) =>
    [Math.imul(n, 2_654_435_761) >>> 0, Math.imul(n ^ 0x9e3779b9, 2_246_822_519) >>> 0] as const;
  for (let n = 0; n < rows; n++) addTo(pages, pageAt(hash(n)[0]), hash(n)[1]);
  seal(pages);
  const holds = (n: number) => {
    const [low, high] = hash(n);
    return mayHold(pages.subarray(pageAt(low), pageAt(low) + pageBytes), high);
  };
  const numbers = [...Array(rows).keys()];
  expect(numbers.filter(holds)).toHaveLength(rows);
  expect(numbers.filter(n => holds(n + rows)).length).toBeLessThan(rows / 100);
  const page = Buffer.from(pages.subarray(pageBytes, 2 * pageBytes));
  expect([isSealed(page, 1), isSealed(page, 0), isSealed(page.subarray(1), 1)]).toEqual([true, false, false]);
  page[100] = (page[100] ?? 0) ^ 8;
  expect(isSealed(page, 1)).toBe(false);
});

test.each<[string, Equality[]]>([
  ['where id == "x"', [{ field: 'id', type: 'string', values: ['x'] }]],
  ['where "x" == id', [{ field: 'id', type: 'string', values: ['x'] }]],
  [
    'where n == 5 | where id == ""',
    [
      { field: 'n', type: 'long', values: [5n] },
      { field: 'id', type: 'string', values: [''] },
    ],
  ],
  [
    'where id in ("x", "y") and real > 2 and n in (1)',
    [
      { field: 'id', type: 'string', values: ['x', 'y'] },
      { field: 'n', type: 'long', values: [1n] },
    ],
  ],
  ['where id =~ "x"', []],
  ['where id != "x"', []],
  ['where id in~ ("x")', []],
  ['where id !in ("x")', []],
  ['where not(id == "x")', []],
  ['where id == "x" or n == 5', []],
  ['where id == tostring(n)', []],
  ['where tolower(id) == "x"', []],
  ['where real == 5', []],
  ['where n == 5.5', []],
  ['where id in ("x", tostring(n))', []],
  [`where n in (${Array.from({ length: 101 }, (_, n) => n).join(', ')})`, []],
  ['extend id = "y" | where id == "x"', []],
])('a scan is told which values a field must have: %s', (apl, expected) => {
  const dataset = new StoredDataset('d', files, {});
  let found: readonly Equality[] = [];
  const catalog = {
    names: () => ['d'],
    schema: () => dataset.schema,
    scan: (
      ...[, fields, startNs, endNs, filter]: [string, readonly string[], bigint, bigint, typeof noFilter?]
    ) => {
      found = filter?.equalities ?? found;
      return dataset.scan(fields, startNs, endNs, filter);
    },
    rowGroups: () => [],
    places: () => dataset.places,
  };
  const range = { startTime: '2023-01-01T00:00:00Z', endTime: '2024-01-01T00:00:00Z' };
  const result = compileRequest(
    { apl: `d | ${apl} | summarize count()`, ...range },
    catalog,
    1_700_000_000_000_000_000n,
  );
  expect(result.ok).toBe(true);
  expect(found).toEqual(expected);
});

const noFilter = { sql: (_: readonly string[]) => '', equalities: [] as readonly Equality[] };
