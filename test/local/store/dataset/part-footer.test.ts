import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { copyToParquet, type FileNote, readFooters } from '../../../../kernel/local/engine/engine-parquet.js';
import { FooterReader } from '../../../../kernel/local/store/dataset/footers.js';
import { footerIn } from '../../../../kernel/local/store/dataset/part-file.js';
import { partFooter } from '../../../../kernel/local/store/dataset/part-footer.js';
import { SummaryReader } from '../../../../kernel/local/store/dataset/summaries.js';
import { SummaryCache } from '../../../../kernel/local/store/dataset/summary-cache.js';
import { temporaryDirectory } from '../../service.js';

type Fields = FileNote['fields'];

const time = { name: '_time', type: 'datetime', column: '_time' } as const;
const now = 'make_timestamp_ns(1234567890123456789 + i) AS _time';

/** Kinds of files: a SELECT of rows with a number i, and the declared fields. */
const files: Readonly<Record<string, readonly [select: string, note: FileNote]>> = {
  'every type': [
    `SELECT ${now}, i::BIGINT AS n, i / 3 AS r, i % 2 = 0 AS b, 'x' || i AS s, make_timestamp_ns(-i) AS t FROM range(10) t(i)`,
    {
      fields: [
        time,
        ...(['long n', 'real r', 'bool b', 'string s', 'datetime t'].map(each => {
          const [type, name] = each.split(' ');
          return { name, type, column: name };
        }) as Fields),
      ],
    },
  ],
  'several row groups, with negative times': [
    'SELECT make_timestamp_ns(i - 200000) AS _time, i::BIGINT AS n FROM range(400000) t(i)',
    { fields: [time, { name: 'n', type: 'long', column: 'n' }] },
  ],
  'integers beyond a double': [
    `SELECT ${now}, 9007199254740992 + i AS edge, 9007199254740993 + i AS above, -9007199254740993 - i AS below FROM range(1) t(i)`,
    {
      fields: [
        time,
        ...['edge', 'above', 'below'].map(name => ({ name, type: 'long', column: name }) as const),
      ],
    },
  ],
  'columns without values': [
    `SELECT ${now}, NULL::VARCHAR AS a, NULL::BIGINT AS b FROM range(5) t(i)`,
    {
      fields: [
        time,
        { name: 'a', type: 'string', column: 'a' },
        { name: 'b', type: 'long', column: 'b', declared: true },
      ],
    },
  ],
  'a column missing from the note, and vice versa': [
    `SELECT ${now}, i AS n FROM range(5) t(i)`,
    { fields: [time, { name: 'gone', type: 'long', column: 'gone' }] },
  ],
  'rows without a time of their own': [
    `SELECT ${now}, i AS n FROM range(5) t(i)`,
    { fields: [time, { name: 'n', type: 'long', column: 'n' }], timeless: true, foreign: true },
  ],
  'times, some of them null': [
    'SELECT nullif(make_timestamp_ns(i), make_timestamp_ns(3)) AS _time, i AS n FROM range(5) t(i)',
    { fields: [time, { name: 'n', type: 'long', column: 'n' }], replaces: ['x.parquet'] },
  ],
  'no rows': [
    `SELECT ${now}, i AS n FROM range(0) t(i)`,
    { fields: [time, { name: 'n', type: 'long', column: 'n' }] },
  ],
  'nested columns': [
    `SELECT ${now}, [i] AS l, {'a': i, 'b': [{'c': NULL::VARCHAR}]} AS s, MAP {'k': i} AS m, NULL::VARCHAR AS last FROM range(5) t(i)`,
    {
      fields: [
        time,
        ...['l', 's', 'm', 'last'].map(name => ({ name, type: 'dynamic', column: name }) as const),
      ],
    },
  ],
  'times in microseconds': [
    "SELECT TIMESTAMP '2020-01-01' + to_seconds(i) AS _time, i AS n FROM range(5) t(i)",
    { fields: [time, { name: 'n', type: 'long', column: 'n' }] },
  ],
  'times in milliseconds': [
    "SELECT (TIMESTAMP '1969-12-31' + to_seconds(i))::TIMESTAMP_MS AS _time, i AS n FROM range(5) t(i)",
    { fields: [time, { name: 'n', type: 'long', column: 'n' }] },
  ],
  'times with a zone': [
    "SELECT TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_seconds(i) AS _time, i AS n FROM range(5) t(i)",
    { fields: [time, { name: 'n', type: 'long', column: 'n' }] },
  ],
  'names that are not ASCII': [
    `SELECT ${now}, i AS "größe, 測 ""x""" FROM range(5) t(i)`,
    { fields: [time, { name: 'größe, 測 "x"', type: 'long', column: 'größe, 測 "x"' }] },
  ],
};

/** Files that only the engine can read. */
const others: Readonly<Record<string, string>> = {
  'no times': 'SELECT NULL::TIMESTAMP_NS AS _time, i AS n FROM range(5) t(i)',
  'times beyond nanoseconds':
    "SELECT TIMESTAMP '3020-01-01' + to_seconds(i) AS _time, i AS n FROM range(5) t(i)",
  'unsigned integers': `SELECT ${now}, i::UBIGINT AS n FROM range(5) t(i)`,
  decimals: `SELECT ${now}, i::DECIMAL(18, 3) AS n FROM range(5) t(i)`,
  'times of day': `SELECT ${now}, TIME '01:00:00' AS n FROM range(5) t(i)`,
};

async function written(select: string, note: FileNote) {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir });
  onTestFinished(() => engine.close());
  const file = path.join(dataDir, 'a.parquet');
  await engine.run(copyToParquet(select, file, note));
  return { engine, file, footer: (await footerIn(file)) ?? Buffer.alloc(0) };
}

test.each(Object.entries(files))('a footer is read as the engine reads it: %s', async (_, [select, note]) => {
  const { engine, file, footer } = await written(select, note);
  expect(partFooter(file, footer)).toEqual((await readFooters(engine, [file]))[0]);
});

test.each(Object.entries(others))('a footer is left to the engine: %s', async (_, select) => {
  const { file, footer } = await written(select, {
    fields: [time, { name: 'n', type: 'long', column: 'n' }],
  });
  expect(partFooter(file, footer)).toBeUndefined();
});

test('a large footer is left to the engine, and a damaged one does not throw', async () => {
  const { file, footer } = await written(`SELECT ${now} FROM range(5) t(i)`, { fields: [time] });
  expect(partFooter(file, footer)).toMatchObject({ blocks: { length: 1 } });
  expect(partFooter(file, Buffer.concat([footer, Buffer.alloc(2 ** 18)]))).toBeUndefined();
  for (let at = 0; at < footer.length; at++) {
    partFooter(file, footer.subarray(0, at));
    partFooter(file, Buffer.from(footer).fill(0xff, at, at + 1));
  }
});

test.each(Object.entries(files))(
  'a footer of another program, given the fields of a similar file, is read as the engine reads it: %s',
  async (_, [select]) => {
    const { engine, file } = await written(`SELECT ${now} FROM range(1) t(i)`, { fields: [] });
    const [first, other] = ['b', 'c'].map(name => path.join(path.dirname(file), `${name}.parquet`));
    await engine.run(`COPY (${select}) TO ${sqlText(first ?? '')} (FORMAT parquet)`);
    await engine.run(`COPY (${select} LIMIT 3) TO ${sqlText(other ?? '')} (FORMAT parquet)`);
    const [known, expected] = await readFooters(engine, [first ?? '', other ?? '']);
    const foreign = partFooter(other ?? '', (await footerIn(other ?? '')) ?? Buffer.alloc(0));
    if (foreign === undefined || !('shape' in foreign) || known === undefined || 'unreadable' in known)
      throw new Error(`${select} is read in no other way`);
    expect(foreign.of(known.fields)).toEqual(expected);
    expect(partFooter(first ?? '', (await footerIn(first ?? '')) ?? Buffer.alloc(0))).toMatchObject({
      shape: foreign.shape,
    });
  },
);

test('integers of unknown range count as wide', async () => {
  const { engine, file } = await written(`SELECT ${now} FROM range(1) t(i)`, { fields: [] });
  const other = path.join(path.dirname(file), 'b.parquet');
  const columnData: ColumnSource[] = [{ name: 'n', data: [1n, 2n], type: 'INT64' }];
  await writeFile(other, new Uint8Array(parquetWriteBuffer({ columnData, statistics: false })));
  const [read] = await readFooters(engine, [other]);
  expect(read).toMatchObject({ fields: [{ name: 'n', type: 'long', empty: false, wide: true }] });
});

test('a pipe in place of a file blocks nobody, and the files beside it are read', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir });
  onTestFinished(() => engine.close());
  const [pipe, file] = [path.join(dataDir, 'pipe.parquet'), path.join(dataDir, 'file.parquet')];
  execFileSync('mkfifo', [pipe]);
  await engine.run(copyToParquet(`SELECT ${now} FROM range(3) t(i)`, file, { fields: [time] }));
  const footers = new FooterReader(engine);
  expect(await footers.read([pipe, file])).toEqual([
    { path: pipe, unreadable: expect.any(String) },
    expect.objectContaining({ path: file, fields: [{ ...time, empty: false, wide: false, filled: true }] }),
  ]);
  expect(await footers.isReadable(pipe, new AbortController().signal)).toBe(false);
});

test('of files of other programs with the same columns, the engine reads one', async () => {
  const { engine, file } = await written(`SELECT ${now} FROM range(1) t(i)`, { fields: [time] });
  const directory = path.dirname(file);
  const selects = { b: 'i AS n', c: 'i + 9007199254740993 AS n', d: 'NULL::BIGINT AS n', e: "'x' AS n" };
  for (const [name, n] of Object.entries(selects))
    await engine.run(
      `COPY (SELECT ${now}, ${n} FROM range(5) t(i)) TO ${sqlText(path.join(directory, `${name}.parquet`))} (FORMAT parquet)`,
    );
  const footers = new FooterReader(engine);
  const read = vi.spyOn(footers, 'read');
  const reader = new SummaryReader(directory, footers, new SummaryCache(directory));
  const found = await reader.of(['a', 'b', 'c', 'd', 'e'].map(name => `${name}.parquet`));
  expect(
    read.mock.calls
      .flat(2)
      .map(each => path.basename(each))
      .sort(),
  ).toEqual(['b.parquet', 'e.parquet']);
  expect(found.damages).toEqual([]);
  const told = { declared: true, empty: false, wide: false, filled: true };
  const field = { name: 'n', column: 'n', type: 'long', written: 'BIGINT', ...told };
  expect(found.files.map(({ fields, foreign }) => [foreign, fields[1]])).toEqual([
    [false, undefined],
    [true, field],
    [true, { ...field, wide: true }],
    [true, { ...field, filled: undefined }],
    [true, { ...field, type: 'string', written: 'VARCHAR' }],
  ]);
});
