import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { sqlText } from '../../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { type FileSummary, readFooters } from '../../../../../kernel/local/engine/engine-parquet.js';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import type { DatasetCatalog, Lookup } from '../../../../../kernel/local/sql/compiled-query.js';
import { batchesOf, buildFilters } from '../../../../../kernel/local/store/dataset/bloom/bloom-build.js';
import { groupsWithout, writeBlooms } from '../../../../../kernel/local/store/dataset/bloom/bloom-file.js';
import { hashOf, hashWords, mixed } from '../../../../../kernel/local/store/dataset/bloom/bloom-hash.js';
import { BloomIndex } from '../../../../../kernel/local/store/dataset/bloom/bloom-index.js';
import {
  addTo,
  foldedFilter,
  isSealed,
  mayHold,
  pageBytes,
  pageOf,
  pagesFor,
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

/** Writes a file; the last one lacks `order`. */
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

/** Returns the row groups skipped by a repeated lookup, once its filters are built. */
async function leftOutBy(index: BloomIndex, key: string, lookup: Lookup, of = files) {
  await index.groupsLeftOut(key, of, [lookup]);
  await index.settled();
  return index.groupsLeftOut(key, of, [lookup]);
}

/** Returns the row groups of all files that have a row matching a condition, as `file/group`. */
async function groupsWith(condition: string): Promise<readonly string[]> {
  const list = files.map(file => sqlText(file.path)).join(', ');
  const rows = await engine.run(
    `SELECT DISTINCT file_index || '/' || file_row_number // ${groupRows}
     FROM read_parquet([${list}], union_by_name = true) WHERE ${condition}`,
  );
  return rows.map(String).sort();
}

/** Returns the row groups that are read, as `file/group`. */
function groupsRead(leftOut: ReadonlyMap<FileSummary, ReadonlySet<number>>): readonly string[] {
  const all = files.flatMap((file, index) =>
    file.blocks.flatMap((_, group) => (leftOut.get(file)?.has(group) ? [] : [`${index}/${group}`])),
  );
  return all.sort();
}

test('the files have as many row groups as the tests assume', () => {
  expect(files.map(file => file.blocks.map(block => block.rows))).toEqual(
    Array.from({ length: filesThere }, () => Array.from({ length: groupsEach }, () => groupRows)),
  );
});

test.each<[string, Lookup]>([
  ['"id" = md5(\'17\')', { field: 'id', kind: 'string', values: ['70efdf2ec9b086079795c442636b55fb'] }],
  ['"id" = chr(0) || \'20000\'', { field: 'id', kind: 'string', values: ['\u000020000'] }],
  ['"id" = \'🎈25001\'', { field: 'id', kind: 'string', values: ['🎈25001'] }],
  ['n IN (3, 30000)', { field: 'n', kind: 'long', values: [3n, 30_000n] }],
  ['"order" = (hash(9000) % 1000000)::BIGINT', { field: 'order', kind: 'long', values: [] }],
  ["id LIKE '%🎈25001%'", { field: 'id', kind: 'term', values: ['25001'] }],
  ['false', { field: 'id', kind: 'term', values: ['nowhere'] }],
  ['false AND true', { field: 'id', kind: 'string', values: ['nowhere'] }],
  ['n > 30720', { field: 'n', kind: 'long', values: [-(2n ** 63n), 2n ** 63n - 1n] }],
])('only row groups that have the value are read: %s', async (condition, lookup) => {
  const [[hashed] = []] = await engine.run('SELECT (hash(9000) % 1000000)::BIGINT');
  const wanted = lookup.field === 'order' ? { ...lookup, values: [hashed as bigint] } : lookup;
  const index = indexOf();
  const key = `read-${condition}`.replace(/\W/g, '-');
  expect((await index.groupsLeftOut(key, files, [wanted])).size).toBe(0);
  await index.settled();
  expect(groupsRead(await index.groupsLeftOut(key, files, [wanted]))).toEqual(await groupsWith(condition));
});

test('lookups of two fields read only the row groups with both', async () => {
  const index = indexOf();
  const two: Lookup[] = [
    { field: 'n', kind: 'long', values: [5n, 9_000n] },
    { field: 'id', kind: 'string', values: ['🎈1', '🎈9001'] },
  ];
  await index.groupsLeftOut('both', files, two);
  await index.settled();
  const both = groupsRead(await index.groupsLeftOut('both', files, two));
  expect(both).toEqual(['0/0', '0/4']);
  const none = await index.groupsLeftOut('both', files, [
    two[0] as Lookup,
    { ...two[1], values: [] } as Lookup,
  ]);
  expect(groupsRead(none)).toEqual([]);
});

test('a scan that skips row groups returns the same rows in the same order', async () => {
  const lookup: Lookup = { field: 'id', kind: 'string', values: ['🎈1', '🎈4096', '🎈9001', '🎈22001'] };
  const leftOut = await leftOutBy(indexOf(), 'scan', lookup);
  const values = lookup.values.map(value => sqlText(String(value))).join(', ');
  const filter = {
    sql: ([, id = '']: readonly string[]) => `${id} IN (${values})`,
    lookups: [lookup],
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

test('a scan that skips random row groups returns exactly the rows of the rest', async () => {
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

test('filters survive a restart, except those of an overwritten file', async () => {
  const lookup: Lookup = { field: 'n', kind: 'long', values: [3n] };
  await leftOutBy(indexOf(), 'kept', lookup);
  expect(groupsRead(await indexOf().groupsLeftOut('kept', files, [lookup]))).toEqual(['0/0']);
  const changed = await summaries('2');
  const said: string[] = [];
  const next = indexOf(text => said.push(text));
  expect((await next.groupsLeftOut('kept', changed, [lookup])).size).toBe(0);
  await next.settled();
  // The filters of the previous files are deleted.
  expect(await readdir(path.join(dataDir, '.cache', 'blooms', 'kept'))).toHaveLength(1);
  expect((await next.groupsLeftOut('kept', files, [lookup])).size).toBe(0);
  await next.settled();
  await next.forget('kept');
  await expect(readdir(path.join(dataDir, '.cache', 'blooms', 'kept'))).rejects.toThrow('ENOENT');
  // Forgotten filters are not looked up.
  expect((await next.groupsLeftOut('kept', files, [lookup])).size).toBe(0);
  await next.settled();
  expect(said).toEqual([]);
});

test('a changed byte skips no row group, and the filters are rebuilt', async () => {
  const lookup: Lookup = { field: 'id', kind: 'string', values: ['nowhere'] };
  const directory = path.join(dataDir, '.cache', 'blooms', 'damaged');
  const none = files.flatMap((_, file) => [...Array(groupsEach).keys()].map(group => `${file}/${group}`));
  await leftOutBy(indexOf(), 'damaged', lookup);
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
    await leftOutBy(indexOf(), 'damaged', lookup);
    const [made = ''] = await readdir(directory);
    await writeFile(path.join(directory, made), cut);
    const said: string[] = [];
    const index = indexOf(text => said.push(text));
    // The last page belongs to a row group without such a value, which is read nevertheless.
    const wide = { ...lookup, values: Array.from({ length: 100 }, (_, n) => `nowhere ${n}`) };
    expect(groupsRead(await index.groupsLeftOut('damaged', files, [wide]))).toEqual(none);
    expect(said).toHaveLength(isHead ? 0 : 1);
    expect(await readdir(directory)).not.toContain(made);
    await index.settled();
    expect(groupsRead(await index.groupsLeftOut('damaged', files, [lookup]))).toEqual([]);
    // Damaged filters are not read again.
    expect(said).toHaveLength(isHead ? 0 : 1);
  }
});

test.each([
  ['a field of another type', { field: 'real', kind: 'long', values: [3n] }],
  ['a missing field', { field: 'none', kind: 'string', values: ['x'] }],
] satisfies [string, Lookup][])('there are no filters for %s, and nothing is skipped', async (_, lookup) => {
  const index = indexOf();
  expect((await leftOutBy(index, 'other', lookup)).size).toBe(0);
  await expect(readdir(path.join(dataDir, '.cache', 'blooms', 'other'))).rejects.toThrow('ENOENT');
});

test('row groups with unknown times get no filters, as their numbers are unknown', async () => {
  const unknown = files.map(file => ({
    ...file,
    blocks: file.blocks.map(each => ({ ...each, timed: false })),
  }));
  const leftOut = await leftOutBy(indexOf(), 'untimed', { field: 'n', kind: 'long', values: [3n] }, unknown);
  expect(leftOut.size).toBe(0);
});

test('few rows are read without filters', async () => {
  const index = new BloomIndex(dataDir, engine, () => undefined, {
    leastRows: rowsEach * filesThere + 1,
    pauseMs: 0,
  });
  expect(index.isWorthwhile(files)).toBe(false);
  expect((await leftOutBy(index, 'few', { field: 'n', kind: 'long', values: [3n] })).size).toBe(0);
});

test.each([undefined, 100 * pageBytes])('a disk with %s bytes free stores no filters', async free => {
  const index = new BloomIndex(dataDir, engine, () => undefined, {
    ...{ leastRows: 1, pauseMs: 0 },
    free: () => free,
  });
  const leftOut = await leftOutBy(index, `full-${free}`, { field: 'n', kind: 'long', values: [3n] });
  expect(leftOut.size).toBe(0);
  expect(await readdir(path.join(dataDir, '.cache', 'blooms', `full-${free}`))).toEqual([]);
});

test('batches have each row group once and are limited in size', () => {
  const [file] = files as [FileSummary];
  const million = 2 ** 20;
  expect(batchesOf([{ file, first: 2, rows: Array.from({ length: 5 }, () => million) }])).toEqual([
    [{ file, first: 2, rows: [million, million] }],
    [{ file, first: 4, rows: [million, million] }],
    [{ file, first: 6, rows: [million] }],
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

test('a filter holds all added values and at most one in a hundred others, even after folding', () => {
  const filterOf = (values: number, room: number) => {
    const filter = Buffer.alloc(pagesFor(room) * pageBytes);
    for (let n = 0; n < values; n++) addTo(filter, filter.length / pageBytes, mixed(n));
    return foldedFilter(filter);
  };
  const holds = (filter: Buffer, n: number) => {
    const at = pageOf(mixed(n), filter.length / pageBytes) * pageBytes;
    return mayHold(filter.subarray(at, at + pageBytes), mixed(n));
  };
  const pages = [20_000, 3_000, 10].map(values => {
    const filter = filterOf(values, 20_000);
    const numbers = [...Array(values).keys()];
    expect(numbers.filter(n => holds(filter, n))).toHaveLength(values);
    const others = [...Array(20_000).keys()].filter(n => holds(filter, n + values));
    expect(others.length).toBeLessThan(200);
    return filter.length / pageBytes;
  });
  expect(pages).toEqual([16, 2, 1]);
});

test('a page verifies its bits and its number', () => {
  const pages = Buffer.alloc(3 * pageBytes);
  for (let n = 0; n < 100; n++) addTo(pages, 1, mixed(n));
  seal(pages);
  const page = Buffer.from(pages.subarray(pageBytes, 2 * pageBytes));
  expect([isSealed(page, 1), isSealed(page, 0), isSealed(page.subarray(1), 1)]).toEqual([true, false, false]);
  page[100] = (page[100] ?? 0) ^ 8;
  expect(isSealed(page, 1)).toBe(false);
});

test('filters of some row groups hold no values of the others', async () => {
  const [file] = files as [FileSummary];
  const batch = [{ file, first: 1, rows: [groupRows, groupRows] }];
  const built = await buildFilters(engine, batch, { field: 'n', kind: 'long' }, new AbortController().signal);
  const { pages, counts } = built as NonNullable<typeof built>;
  expect(counts).toEqual([[1, 1]]);
  const held = [...Array(groupsEach).keys()].map(group => {
    const values = [...Array(groupRows).keys()].map(row => hashOf(BigInt(group * groupRows + row)));
    const filters = [pages.subarray(0, pageBytes), pages.subarray(pageBytes)];
    // One value in 250 may be a false positive.
    return filters.map(page => values.filter(hash => mayHold(page, hash)).length > groupRows / 10);
  });
  expect(held).toEqual([
    [false, false],
    [true, false],
    [false, true],
    [false, false],
    [false, false],
  ]);
});

test('pages of values are read wherever they are', async () => {
  const hashes = [...Array(100_000).keys()].map(mixed);
  const on = (page: number) => hashes.find(hash => pageOf(hash, 512) === page) ?? 0;
  const filter = Buffer.alloc(512 * pageBytes);
  addTo(filter, 512, on(300));
  seal(filter);
  const run = { name: 'a', version: '1', first: 4, rows: [9], pages: [512] };
  const file = path.join(dataDir, 'wide.bloom');
  const bloom = await writeBlooms(file, { field: 'n', kind: 'long', runs: [run] }, filter);
  const without = async (...pages: readonly number[]) =>
    (await groupsWithout(bloom, () => true, pages.map(on))).get(run);
  expect(await without(500, 3, 511, 0, 19, 20)).toEqual([4]);
  expect(await without(500, 3, 300)).toEqual([]);
});

test('every string that an operator finds has the words looked up for it', async () => {
  const letters = [
    'a',
    'B',
    'i',
    'k',
    'S',
    '1',
    '\u017f',
    '\u212a',
    'é',
    '\u0130',
    '_',
    '-',
    ' ',
    '🎈',
    '\u0301',
  ];
  const text = fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map(parts => parts.join(''));
  const texts = [...new Set(fc.sample(text, { numRuns: 1_500, seed: 7 }))];
  const file = path.join(dataDir, 'texts.parquet');
  const list = texts.map(sqlText).join(', ');
  await engine.run(
    `COPY (SELECT make_timestamp_ns(1700000000000000000) AS _time, unnest([${list}]) AS id) TO ${sqlText(file)}`,
  );
  const [footer] = await readFooters(engine, [file]);
  if (footer === undefined || 'unreadable' in footer) throw new Error('the file cannot be read');
  const dataset = new StoredDataset('d', [{ ...footer, bytes: 1, version: '' }], {});
  const operators = [
    'has',
    'has_cs',
    'hasprefix',
    'hassuffix',
    'startswith',
    'endswith',
    'contains',
    '=~',
    'has_any',
    'has_all',
  ];
  let matches = 0;
  for (const [index, needle] of texts
    .toSorted((a, b) => a.length - b.length)
    .slice(0, 200)
    .entries()) {
    const apl = `where id ${operators[index % operators.length]} (${JSON.stringify(needle)})`;
    const { sql, lookups } = compiled(dataset, `${apl} | project id`);
    const found = (await engine.run(sql)).map(([id]) => Buffer.from(String(id)));
    for (const bytes of found) {
      const words = new Set<number>();
      hashWords(bytes, 0, bytes.length, hash => words.add(hash));
      for (const { values } of lookups) {
        matches++;
        const isThere = values.some(value => words.has(hashOf(value)));
        expect(isThere, `${JSON.stringify(String(bytes))}: ${apl} looks up ${values}`).toBe(true);
      }
    }
  }
  expect(matches).toBeGreaterThan(300);
});

test.each<[string, Lookup[]]>([
  ['where id == "x"', [{ field: 'id', kind: 'string', values: ['x'] }]],
  ['where "x" == id', [{ field: 'id', kind: 'string', values: ['x'] }]],
  [
    'where n == 5 | where id == ""',
    [
      { field: 'n', kind: 'long', values: [5n] },
      { field: 'id', kind: 'string', values: [''] },
    ],
  ],
  [
    'where id in ("x", "y") and real > 2 and n in (1)',
    [
      { field: 'id', kind: 'string', values: ['x', 'y'] },
      { field: 'n', kind: 'long', values: [1n] },
    ],
  ],
  ['where id =~ "a B"', [term('a'), term('b')]],
  ['where id has "Some-Id42 é1"', [term('some'), term('id42'), term('1')]],
  ['where id has_cs "A" | where id has_all ("b c", "d")', [term('a'), term('b'), term('c'), term('d')]],
  ['where id has_any ("a bcd", "e")', [term('bcd', 'e')]],
  ['where id has_any ("a", "-")', []],
  ['where id hasprefix "a b" or id has "c"', []],
  ['where id hasprefix "a b" and id startswith_cs "c-"', [term('a'), term('c')]],
  ['where id hassuffix "a b" and id endswith "c d e"', [term('b'), term('d'), term('e')]],
  ['where id contains "a b-c d"', [term('b'), term('c')]],
  ['where id !has "x" and id !contains "a b c"', []],
  ['where n has "5"', []],
  ['where id matches regex "x"', []],
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
  const { lookups } = compiled(new StoredDataset('d', files, {}), `${apl} | summarize count()`);
  expect(lookups).toEqual(expected);
});

/** Returns the SQL of a query, and the lookups passed to its scan. */
function compiled(dataset: StoredDataset, apl: string) {
  let lookups: readonly Lookup[] = [];
  const catalog: DatasetCatalog = {
    names: () => ['d'],
    schema: () => dataset.schema,
    scan: (_, fields, startNs, endNs, filter) => {
      lookups = filter?.lookups ?? lookups;
      return dataset.scan(fields, startNs, endNs, filter);
    },
  };
  const range = { startTime: '2023-01-01T00:00:00Z', endTime: '2024-01-01T00:00:00Z' };
  const result = compileRequest({ apl: `d | ${apl}`, ...range }, catalog, 1_700_000_000_000_000_000n);
  if (!result.ok) throw new Error(result.diagnostics.map(each => each.message).join('; '));
  return { sql: result.compiled.tables[0]?.sql ?? '', lookups };
}

function term(...values: readonly string[]): Lookup {
  return { field: 'id', kind: 'term', values };
}

test('a file is read whole, and counted so, if too many of its parts would be read separately', () => {
  const [file] = files as [FileSummary];
  const blocks = Array.from({ length: 200 }, () => ({ rows: 10, minNs: 0n, maxNs: 9n, timed: true }));
  const dataset = new StoredDataset('d', [{ ...file, blocks }], {});
  const [read] = dataset.files as [FileSummary];
  const withoutEach = (step: number, from = 0) =>
    new Map([[read, new Set([...blocks.keys()].filter(group => group >= from && group % step === 0))]]);
  const examined = (step: number, from = 0) => dataset.examined(0n, 10n, withoutEach(step, from)).rows;
  expect([examined(1), examined(2), examined(2, 73), examined(2, 72)]).toEqual([0, 2_000, 1_370, 2_000]);
  const selects = (step: number, from = 0) =>
    dataset.scan(['n'], 0n, 10n, undefined, withoutEach(step, from)).split('UNION ALL').length;
  expect([selects(2), selects(2, 73)]).toEqual([1, 64]);
});
