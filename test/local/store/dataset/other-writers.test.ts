import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { copyToParquet } from '../../../../kernel/local/engine/engine-parquet.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import {
  structBytes,
  structOf,
  structsField,
  structsOf,
  type ThriftStruct,
} from '../../../../kernel/local/store/readers/parquet/thrift.js';
import { openQueries } from '../../queries.js';
import { sharedStore } from './stores.js';

let catalog: DatasetCatalog | undefined;

const { rows } = openQueries(() => {
  if (catalog === undefined) throw new RangeError('there are no files yet');
  return catalog;
});

/** Column values of two files that form a field of one type, and the combined values. */
const pairs: readonly (readonly [first: string, second: string, values: readonly unknown[]])[] = [
  ['1::INTEGER', '1099511627776', [1, 1099511627776]],
  ['255::UTINYINT', '-3::SMALLINT', [-3, 255]],
  ['1.5::FLOAT', '0.1::DOUBLE', [0.1, 1.5]],
  ['1.5::FLOAT', '1e300::DOUBLE', [1.5, 1e300]],
  ['1.25::DECIMAL(9, 2)', '0.123456::DOUBLE', [0.123456, 1.25]],
  ['2.5::DECIMAL(5, 1)', '9.99999::DECIMAL(9, 5)', [2.5, 9.99999]],
  [
    "DATE '2024-10-04'",
    "TIMESTAMP_NS '2024-10-04 01:00:00.000000005'",
    ['2024-10-04T00:00:00Z', '2024-10-04T01:00:00.000000005Z'],
  ],
  [
    "TIMESTAMP '2024-10-04 00:00:00'",
    "TIMESTAMP_NS '2024-10-04 01:00:00.000000005'",
    ['2024-10-04T00:00:00Z', '2024-10-04T01:00:00.000000005Z'],
  ],
  ["TIME '12:00:00'", "'noon'", ['12:00:00', 'noon']],
  ["'\\xAA'::BLOB", "'\\b'", ['\\b', '\\xAA']],
  ['[1::INTEGER]', '[1099511627776]', [[1], [1099511627776]]],
  ["{'a': 1}", "{'a': 1.5::DOUBLE, 'b': 2}", [{ a: 1 }, { a: 1.5, b: 2 }]],
];

const second = 1_000_000_000n;

/** 2026-03-04T05:00:00Z, within the hour that queries read. */
const hour = 1_772_600_400n * second;

/** Six events, one second apart, in three row groups. */
const seconds = [0n, 1n, 2n, 3n, 4n, 5n];

async function write(dataset: string, select: string): Promise<void> {
  const folder = path.join(opened().dataDir, 'datasets', dataset.replace(/\.\d$/, ''));
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, `${dataset}.parquet`);
  await opened().engine.run(`COPY (${select}) TO ${sqlText(file)} (FORMAT parquet)`);
}

/** Writes a file with row groups of `rowGroupSize` rows; returns its path. */
async function writeColumns(dataset: string, columnData: ColumnSource[], rowGroupSize = 2): Promise<string> {
  const folder = path.join(opened().dataDir, 'datasets', dataset);
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'a.parquet');
  await writeFile(file, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize })));
  return file;
}

/** Writes a file with a time in UTC that has nanoseconds. */
async function writeFiner(name: string): Promise<void> {
  const logical = { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' } as const;
  const bytes = parquetWriteBuffer({
    columnData: [{ name: '_time', data: [hour + 1001n] }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: '_time', type: 'INT64', repetition_type: 'REQUIRED', logical_type: logical },
    ],
  });
  const folder = path.join(opened().dataDir, 'datasets', 'finer');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${name}.parquet`), new Uint8Array(bytes));
}

function timesOf(name: string, values: readonly bigint[]): ColumnSource {
  return { name, data: values.map(each => new Date(Number(each / 1_000_000n))), type: 'TIMESTAMP' };
}

const oldMembers = { max: 1, min: 2 } as const;
const newMembers = { max: 5, min: 6 } as const;

/** Variants of the time column's statistics by writer. */
const statistics: Readonly<Record<string, (of: ThriftStruct, group: number) => ThriftStruct | undefined>> = {
  none: () => undefined,
  'none of the first row group': (of, group) => (group === 0 ? undefined : of),
  'none of the last row group': (of, group) => (group === 2 ? undefined : of),
  'in the members of old writers': of => {
    const [max, min] = [of.get(newMembers.max), of.get(newMembers.min)];
    const changed = new Map([...of].filter(([member]) => member < newMembers.max));
    if (max !== undefined && min !== undefined) changed.set(oldMembers.max, max).set(oldMembers.min, min);
    return changed;
  },
  'without the number of nulls': of => new Map([...of].filter(([member]) => member !== 3)),
};

/** Rewrites a file with other statistics of its first column. */
async function changeStatistics(
  file: string,
  change: (typeof statistics)[string],
  dropped: readonly number[] = [],
): Promise<void> {
  const bytes = await readFile(file);
  const start = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const footer = structOf({ type: 0, bytes: bytes.subarray(start, -8) });
  const groups = structsOf(footer.get(4)).map((group, index) => {
    const [first = new Map(), ...others] = structsOf(group.get(1));
    const metadata = structOf(first.get(3));
    const changed = change(structOf(metadata.get(12)), index);
    metadata.delete(12);
    if (changed !== undefined) metadata.set(12, { type: 12, bytes: structBytes(changed) });
    const column = new Map(first).set(3, { type: 12, bytes: structBytes(metadata) });
    return new Map(group).set(1, structsField([column, ...others]));
  });
  for (const member of dropped) footer.delete(member);
  const written = structBytes(footer.set(4, structsField(groups)));
  const end = Buffer.from('0000PAR1');
  end.writeUInt32LE(written.length);
  await writeFile(file, Buffer.concat([bytes.subarray(0, start), written, end]));
}

/** Statistics of a string column from writers that compare signed bytes. */
const signed = (values: readonly string[]) => (): ThriftStruct => {
  const bytes = values
    .map(value => Buffer.from(value))
    .sort((a, b) => Buffer.compare(Buffer.from(a).map(flip), Buffer.from(b).map(flip)));
  const [min = Buffer.alloc(0), max = min] = [bytes.at(0), bytes.at(-1)];
  const of = new Map(
    Object.entries({ [oldMembers.max]: max, [oldMembers.min]: min }).map(([member, value]) => [
      Number(member),
      { type: 8, bytes: Buffer.concat([Buffer.from([value.length]), value]) },
    ]),
  );
  return of.set(3, { type: 6, bytes: Buffer.from([0]) });
};

/** Maps signed bytes to unsigned ones in the same order. */
const flip = (byte: number) => byte ^ 0x80;

const words = ['b', 'é', 'zz', 'bé', 'bz', 'a'];

const far = ["TIMESTAMP '9999-12-31 00:00:00'", "DATE '9999-12-31'", "TIMESTAMPTZ '0001-01-01 00:00:00+00'"];

const opened = sharedStore(async ({ dataDir, engine, store }) => {
  for (const [index, values] of pairs.entries())
    for (const file of [0, 1])
      await write(
        `pair${index}.${file}`,
        `SELECT make_timestamp_ns(${hour + BigInt(file)}) AS _time, ${values[file]} AS v`,
      );
  const times = seconds.map(each => hour + each * second);
  const number: ColumnSource = { name: 'n', data: seconds, type: 'INT64' };
  for (const [index, change] of Object.values(statistics).entries())
    await changeStatistics(await writeColumns(`events${index}`, [timesOf('_time', times), number]), change);
  const s: ColumnSource = { name: 's', data: words, type: 'STRING' };
  const orders = 7;
  for (const [name, counted] of [
    ['signed', true],
    ['signed_uncounted', false],
  ] as const) {
    const file = await writeColumns(name, [s, timesOf('_time', times)], words.length);
    const change = (): ThriftStruct => {
      const of = signed(words)();
      if (!counted) of.delete(3);
      return of;
    };
    await changeStatistics(file, change, [orders]);
  }
  for (const [name, type] of Object.entries({ zoned: 'TIMESTAMPTZ', plain: 'TIMESTAMP', days: 'DATE' }))
    await write(
      name,
      `SELECT (make_timestamp(${hour / 1000n} + i))::${type} AS _time, i AS n FROM range(6) r(i)`,
    );
  const now = `make_timestamp_ns(${hour}) AS _time`;
  const decimals = {
    small: '1.25::DECIMAL(15, 2)',
    whole: '123456789012345::DECIMAL(15, 0)',
    long: '123456789012345678::DECIMAL(18, 0)',
    wide: '12345678901234567890.1::DECIMAL(30, 1)',
    wideWhole: '12345678901234567890::DECIMAL(20, 0)',
  };
  const columns = Object.entries(decimals).map(([name, value]) => `${value} AS ${name}`);
  await write('decimals', `SELECT ${now}, ${columns.join(', ')}`);
  for (const [index, value] of far.entries())
    await write(`far${index}`, `SELECT ${now}, ${value} AS v, [${value}] AS l`);
  const year9999 = 253_402_300_799n * second;
  await writeColumns('beyond', [timesOf('_time', times.with(3, year9999)), number]);
  await write('noTimes', `SELECT NULL::TIMESTAMP AS _time, i AS n FROM range(3) r(i)`);
  const withNulls = {
    ...timesOf('_time', times),
    data: timesOf('_time', times).data.with(2, null).with(3, null),
  };
  await writeColumns('partly', [withNulls, number]);
  const own = path.join(dataDir, 'datasets', 'own');
  await mkdir(own, { recursive: true });
  const note = { fields: [{ name: 'n', type: 'long', column: 'n' }], timeless: true } as const;
  await engine.run(copyToParquet('SELECT 1::BIGINT AS n', path.join(own, 'own.parquet'), note));
  await write('words', `SELECT '2026-03-04T05:00:00Z' AS _time, i AS n FROM range(3) r(i)`);
  await writeColumns('twice', [timesOf('_time', times), timesOf('_time', times), number]);
  for (const name of ['a', 'b']) await writeFiner(name);
  catalog = await store.snapshot(...(await store.snapshot()).names());
});

test.each(pairs.map(([first, other, values], index) => [first, other, values, index] as const))(
  'files whose columns have two types, merged into one field, keep all values: %s and %s',
  async (_, __, values, index) => {
    const found = await rows(`pair${index} | project v`);
    expect(found.map(([value]) => JSON.parse(value ?? ''))).toEqual(expect.arrayContaining([...values]));
    expect(found).toHaveLength(2);
  },
);

describe.each(Object.keys(statistics).map((name, index) => [name, `events${index}`] as const))(
  'a file whose time statistics are %s',
  (name, dataset) => {
    test('returns all rows', async () => {
      expect(await rows(`${dataset} | count`)).toEqual([['6']]);
      expect(await rows(`${dataset} | sort by n asc | project n`)).toEqual(
        [0, 1, 2, 3, 4, 5].map(n => [String(n)]),
      );
      const late = '_time >= datetime(2026-03-04T05:00:03Z)';
      expect(await rows(`${dataset} | where ${late} | summarize count(), min(n)`)).toEqual([['3', '3']]);
      const early = '_time < datetime(2026-03-04T05:00:02Z)';
      expect(await rows(`${dataset} | where ${early} | summarize count(), max(n)`)).toEqual([['2', '1']]);
      expect(await rows(`${dataset} | sort by _time desc | take 3 | project n`)).toEqual([
        ['5'],
        ['4'],
        ['3'],
      ]);
    });

    test('reports its time range if the statistics have it', async () => {
      const { rows: count, firstTime, lastTime } = (await opened().store.measuredInfo(dataset)) ?? {};
      const known = ['2026-03-04T05:00:00Z', '2026-03-04T05:00:05Z'];
      expect([count, firstTime, lastTime]).toEqual([
        6,
        ...(name.startsWith('none') ? [undefined, undefined] : known),
      ]);
    });
  },
);

test.each(far.map((value, index) => [value, index] as const))(
  'a time of another program beyond nanoseconds is null: %s',
  async (_, index) => {
    expect(await rows(`far${index} | project v, n = array_length(l)`)).toEqual([['null', '1']]);
    expect(await rows(`far${index} | where v > datetime(2000-01-01) or isnull(v) | count`)).toEqual([['1']]);
  },
);

test('rows beside one with a time beyond nanoseconds are found', async () => {
  expect(await rows('beyond | sort by n asc | project n')).toEqual([['0'], ['1'], ['2'], ['4'], ['5']]);
  expect(await rows('beyond | count')).toEqual([['5']]);
});

test('a file without times in any row keeps its fields, and one without a time column has none', async () => {
  const fieldsOf = (dataset: string) => catalog?.schema(dataset)?.fields.map(({ name }) => name);
  expect(['noTimes', 'words'].map(fieldsOf)).toEqual([
    ['_time', '_sysTime', 'n'],
    ['_time', '_sysTime'],
  ]);
  for (const dataset of ['noTimes', 'words'])
    expect([dataset, await rows(`${dataset} | count`)]).toEqual([dataset, [['0']]]);
});

test.each(['signed', 'signed_uncounted'])(
  'strings are found in files with statistics in signed byte order: %s',
  async dataset => {
    for (const word of words)
      expect([word, await rows(`${dataset} | where s == '${word}' | project s`)]).toEqual([
        word,
        [[JSON.stringify(word)]],
      ]);
    expect(await rows(`${dataset} | where s > 'b' | sort by s asc | project s`)).toEqual(
      ['bz', 'bé', 'zz', 'é'].map(each => [JSON.stringify(each)]),
    );
    expect(await rows(`${dataset} | summarize min(s), max(s)`)).toEqual([['"a"', '"é"']]);
  },
);

test.each([
  ['zoned', ['2', '3']],
  ['plain', ['2', '3']],
  ['days', []],
])('a time window applies to times of the type of another program: %s', async (dataset, found) => {
  const window =
    '_time >= datetime(2026-03-04T05:00:00.0000015Z) and _time < datetime(2026-03-04T05:00:00.000004Z)';
  expect(await rows(`${dataset} | where ${window} | sort by n asc | project n`)).toEqual(found.map(n => [n]));
});

test('decimals keep every digit', async () => {
  expect(await rows('decimals | project small, whole, long, wide, wideWhole')).toEqual([
    ['1.25', '123456789012345', '123456789012345678', '12345678901234567890.1', '12345678901234567890'],
  ]);
  expect(
    catalog
      ?.schema('decimals')
      ?.fields.slice(2)
      .map(({ type }) => type),
  ).toEqual(['real', 'real', 'long', 'dynamic', 'dynamic']);
});

test('unread parts of files are reported above an answer, in one line per kind', async () => {
  const snapshot = await opened().store.snapshot('words', 'finer', 'zoned', 'own');
  const said = (dataset: string) => snapshot?.notices([dataset]).map(({ msg }) => msg);
  const fileIn = (dataset: string) => path.join(opened().dataDir, 'datasets', dataset, 'a.parquet');
  expect(said('words')).toEqual([
    `\`words\`: ${path.join(opened().dataDir, 'datasets', 'words', 'words.parquet')} is skipped, because it has no \`_time\` column with timestamps: import it.`,
  ]);
  expect(said('finer')).toEqual([
    `\`finer\`: ${fileIn('finer')} has timestamps in \`_time\` that are read with microsecond precision (and 1 other file).`,
  ]);
  expect(said('zoned')).toEqual([]);
  // An import without times has none, and is read.
  expect(said('own')).toEqual([]);
  expect(await rows('finer | distinct _time')).toEqual([['"2026-03-04T05:00:00.000001Z"']]);
});

test('a row group without times does not hide the times of others', async () => {
  const { firstTime, lastTime } = (await opened().store.measuredInfo('partly')) ?? {};
  expect([firstTime, lastTime]).toEqual(['2026-03-04T05:00:00Z', '2026-03-04T05:00:05Z']);
  expect(await rows('partly | sort by n asc | project n')).toEqual([['0'], ['1'], ['4'], ['5']]);
});

test('the first of two time columns is the time', async () => {
  expect(await rows('twice | count')).toEqual([['6']]);
  expect(await rows('twice | sort by n asc | project n, _time')).toEqual(
    seconds.map(n => [String(n), `"2026-03-04T05:00:0${n}Z"`]),
  );
});
