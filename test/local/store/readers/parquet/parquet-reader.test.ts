import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { checkPages, failureOf } from '../../../../../kernel/local/store/readers/parquet/parquet-damage.js';
import { temporaryDirectory } from '../../../service.js';
import { importText, parquetOf, stored, testTraps, timeless, useService } from '../traps.js';

useService();

testTraps([
  {
    what: 'decimals',
    name: 'in.parquet',
    content: 'SELECT 12345678901234567890.123456789::DECIMAL(38,9) AS d, 12.5::DECIMAL(9,2) AS r',
    select: 'd, r, typeof(r)',
    values: ['12345678901234567890.123456789|12.5|DOUBLE'],
    notes: ['`d` is DECIMAL(38, 9) and becomes dynamic, with every digit.', timeless()],
  },
  {
    what: 'integers of other types that fit signed 64 bits, and later ones that do not',
    name: 'in.parquet',
    content: `SELECT 9223372036854775806::UBIGINT + (i // 200000)::UBIGINT AS u, 9223372036854775807::UBIGINT + (i // 200000)::UBIGINT AS v,
      CASE WHEN i < 200000 THEN (-9223372036854775808)::DECIMAL(38, 0) END AS d, ((-9223372036854775808)::HUGEINT - i // 200000)::DECIMAL(38, 0) AS e,
      {n: i::UBIGINT, nothing: NULL::UBIGINT} AS o FROM range(250000) r(i)`,
    select:
      'max(u), typeof(max(u)), max(v), typeof(max(v)), min(d), typeof(min(d)), max(e), typeof(max(e)), max("o.n"), typeof(max("o.n")), typeof(max("o.nothing"))',
    values: [
      '9223372036854775807|BIGINT|9223372036854775808|VARCHAR|-9223372036854775808|BIGINT|-9223372036854775809|VARCHAR|249999|BIGINT|BIGINT',
    ],
    notes: [
      '`v` is UBIGINT and becomes dynamic, with every digit.',
      '`e` is DECIMAL(38, 0) and becomes dynamic, with every digit.',
      timeless(),
    ],
  },
  {
    what: 'binary, time of day, unsigned 64-bit integers',
    name: 'in.parquet',
    content:
      "SELECT '\\x00\\xFF'::BLOB AS b, TIME '10:00:00.123456' AS t, 18446744073709551615::UBIGINT AS u",
    select: 'b, t, u',
    values: ['AP8=|36000123456000|18446744073709551615'],
    notes: [
      '`b` is binary and becomes Base64 text.',
      '`u` is UBIGINT and becomes dynamic, with every digit.',
      timeless(),
    ],
  },
  {
    what: 'times before 1970 to the nanosecond, and out of range',
    name: 'in.parquet',
    content:
      "SELECT make_timestamp_ns(-1) AS _time, '9999-12-31'::DATE AS far, '1969-12-31 23:59:59.999999+00'::TIMESTAMPTZ AS z",
    select: '_time, far, z',
    values: ['1969-12-31 23:59:59.999999999|null|1969-12-31 23:59:59.999999'],
    notes: ['`far` is null in 1 row because the time is before 1677-09-22 or after 2262-04-11.'],
  },
  {
    what: 'timestamps out of range, with and without a zone, in objects, and the last ones in range',
    name: 'in.parquet',
    content: `SELECT * FROM (VALUES
      (TIMESTAMP '9999-12-31', TIMESTAMPTZ '0001-01-01 00:00:00+00', {t: TIMESTAMP 'infinity'}, TIMESTAMP '2024-01-01'),
      (TIMESTAMP '2262-04-11 23:47:16.854775', TIMESTAMPTZ '1677-09-22 00:00:00+00', {t: TIMESTAMP '2024-01-02'}, TIMESTAMP '9999-12-31'),
      (NULL, NULL, NULL, TIMESTAMP '2024-01-03')) v(t, z, o, _time)`,
    select: 't, z, "o.t"',
    values: [
      'null|null|null',
      '2262-04-11 23:47:16.854775|1677-09-22 00:00:00|2024-01-02 00:00:00',
      'null|null|null',
    ],
    notes: [
      '`t` is null in 1 row because the time is before 1677-09-22 or after 2262-04-11.',
      '`z` is null in 1 row because the time is before 1677-09-22 or after 2262-04-11.',
      '`o.t` is null in 1 row because the time is before 1677-09-22 or after 2262-04-11.',
      '`_time` is null in 1 row because the time is before 1677-09-22 or after 2262-04-11.',
      'Rows without a timestamp in `_time` use `t`.',
    ],
  },
  {
    what: 'a time out of range in one of many row groups, in an object',
    name: 'in.parquet',
    content:
      "SELECT i, {t: make_timestamp(i * 1000000), d: CASE i WHEN 130000 THEN '9999-12-31'::DATE WHEN 2 THEN '1500-01-01'::DATE ELSE '2026-01-01'::DATE END} AS o FROM range(250000) r(i)",
    select: 'count(*), count("o.t"), count("o.d"), max(i) FILTER ("o.d" IS NULL)',
    values: ['250000|250000|249998|130000'],
    notes: [
      '`o.d` is null in 2 rows because the time is before 1677-09-22 or after 2262-04-11.',
      'No field is named like a timestamp: every row gets the time of the import and matches every time range. `o.t`, `o.d` hold timestamps: choose one, for example with `--time o.t`.',
    ],
  },
]);

test('Parquet times in nanoseconds and UTC are exact', async () => {
  const bytes = await parquetOf(
    'SELECT make_timestamp_ns(1700000000123456789) AS ts, make_timestamp_ns(-1) AS u',
  );
  const local = Buffer.from([0x8c, 0x12, 0x1c, 0x3c, 0, 0]);
  for (let at = bytes.indexOf(local); at >= 0; at = bytes.indexOf(local, at + 1)) bytes[at + 1] = 0x11;
  const { dataset } = await importText('in.parquet', bytes);
  expect(await stored(dataset, 'ts, u')).toEqual([
    '2023-11-14 22:13:20.123456789|1969-12-31 23:59:59.999999999',
  ]);
});

test('a Parquet column keeps its type even if all values are null', async () => {
  const { body } = await importText(
    'in.parquet',
    await parquetOf('SELECT 1700000000 AS ts, NULL::BIGINT AS n, NULL::BOOLEAN AS b'),
  );
  expect(body.fields.slice(2)).toEqual([
    { name: 'ts', type: 'integer' },
    { name: 'n', type: 'integer' },
    { name: 'b', type: 'boolean' },
  ]);
});

test('VARIANT values are dynamic, and geometries are strings', async () => {
  const values = [
    "{'a': 1, 'b': [1.5, 2.5]}",
    "'x'",
    'true',
    "'nan'::DOUBLE",
    "[1.5, 'inf'::DOUBLE]",
    "TIMESTAMP '2024-01-02 03:04:05'",
  ];
  const rows = values.map(value => `SELECT ${value}::VARIANT AS v, 'POINT(1 2)'::GEOMETRY AS g`);
  const { body, dataset } = await importText('in.parquet', await parquetOf(rows.join(' UNION ALL ')));
  expect(body.fields.slice(2)).toEqual([
    { name: 'v', type: 'dynamic' },
    { name: 'g', type: 'string' },
  ]);
  expect(body.notes.slice(0, 2)).toEqual([
    '`v` is VARIANT and becomes dynamic, with times and binary values as text.',
    '`g` is a geometry and becomes WKT text.',
  ]);
  expect(await stored(dataset, 'v, g')).toEqual(
    ['{"a":1,"b":[1.5,2.5]}', '"x"', 'true', '"nan"', '"[1.5, inf]"', '"2024-01-02 03:04:05"'].map(
      value => `${value}|POINT (1 2)`,
    ),
  );
});

test('a JSON column is dynamic', async () => {
  const written = await parquetOf(`SELECT j::JSON AS j FROM (VALUES ('{"a": [1]}'), ('"x"'), (NULL)) v(j)`);
  const { body, dataset } = await importText('in.parquet', written);
  expect(body.fields.slice(2)).toEqual([{ name: 'j', type: 'dynamic' }]);
  expect(await stored(dataset, 'j')).toEqual(['{"a":[1]}', '"x"', 'null']);
});

/** Written by pyarrow: 1.00 and -1.00 as decimal256(50, 2) in the column `d`. */
const largeDecimals =
  'UEFSMRUAFWAVYCwVBBUAFQYVBhwAAAACAAAABAEAAAAAAAAAAAAAAAAAAAAAAAAAAGT//////////////////////////5wVBBksNQAYBnNjaGVtYRUCABUOFSoVAhgBZCUKFQQVZCxcFQQVZAAAABYEGRwZHCYAHBUOGSUGABkYAWQVABYEFoYBFoYBJghJHBUAFQAVAgA8KQYZJgAEAAAAFoYBFgQmCBaGAQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAjgAAAFBBUjE=';

test('decimals of more than 38 digits are refused by name', async () => {
  const { status, body } = await importText('large.parquet', Buffer.from(largeDecimals, 'base64'));
  expect([status, body.message]).toEqual([
    400,
    '`d` has decimals with 50 digits: the limit is 38. Write the column as text, or drop it.',
  ]);
});

/** Written by pyarrow: 1, 2, 3 in `a` and x, y, z in `s`, with page checksums; and the same with legacy LZ4 compression. */
const checksums =
  'UEFSMRUEFTAVMBWOtty8BTwVBhUAEgAAAQAAAAAAAAACAAAAAAAAAAMAAAAAAAAAFQAVFBUUFaSWj94KHBUGFRAVBhUGHAAAAAIAAAAGAQIDJAAVBBUeFR4VuLS3yQw8FQYVABIAAAEAAAB4AQAAAHkBAAAAehUAFRQVFBWklo/eChwVBhUQFQYVBhwAAAACAAAABgECAyQAFQQZPDUAGAZzY2hlbWEVBAAVBCUCGAFhABUMJQIYAXMlAEwcAAAAFgYZHBksJgAcFQQZNQAGEBkYAWEVABYGFp4BFp4BJmAmCCksFQQVABUCABUAFRAVAgA8KQYZJgAGAAAAJgAcFQwZNQAGEBkYAXMVABYGFowBFowBJuwBJqYBKSwVBBUAFQIAFQAVEBUCADwWBhkGGSYABgAAABaqAhYGJggWqgIAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAANMAAABQQVIx';
const olderLz4 =
  'UEFSMRUAFTwVNCwVBhUAFQYVBhwAAACCAgAAAAYBAQABAAAOAAACAIADAAAAAAAAABUAFSoVLiwVBhUAFQYVBhwAAADwBgIAAAAGAQEAAAB4AQAAAHkBAAAAehUEGTw1ABgGc2NoZW1hFQQAFQQlAhgBYQAVDCUCGAFzJQBMHAAAABYGGRwZLCYAHBUEGSUGABkYAWEVChYGFmIWWiYISRwVABUAFQIAPCkGGSYABgAAACYAHBUMGSUGABkYAXMVChYGFlAWVCZiSRwVABUAFQIAPBYGGQYZJgAGAAAAFrIBFgYmCBauAQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAAuQAAAFBBUjE=';

test.each([
  ['whole', (bytes: Buffer) => bytes, undefined],
  [
    'with a bit changed in a page',
    (bytes: Buffer) => flipped(bytes, bytes.indexOf('z')),
    'in.parquet is damaged: a page of `s` does not match its checksum. Get the file again, or write it again.',
  ],
  [
    'with a bit changed in a checksum',
    (bytes: Buffer) => flipped(bytes, 12),
    'in.parquet is damaged: a page of `a` does not match its checksum. Get the file again, or write it again.',
  ],
  [
    'cut off',
    (bytes: Buffer) => bytes.subarray(0, -20),
    'in.parquet is truncated: the schema at the end of the file is missing. Get the file again, or write it again.',
  ],
])('a Parquet file with checksums is read or refused: %s', async (_, changed, message) => {
  const written = await importText('in.parquet', changed(Buffer.from(checksums, 'base64')));
  expect([written.status, written.body.message]).toEqual([message === undefined ? 200 : 400, message]);
  if (message === undefined) expect(await stored(written.dataset, 'a, s')).toEqual(['1|x', '2|y', '3|z']);
});

test('each of many files is checked', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir, families: [], connections: 1 });
  onTestFinished(() => engine.close());
  const whole = Buffer.from(checksums, 'base64');
  const files = Array.from({ length: 251 }, (_, n) => path.join(dataDir, `${n}.parquet`));
  for (const file of files) await writeFile(file, whole);
  const check = () => engine.withConnection(connection => checkPages(connection, files));
  await check();
  for (const damaged of [250, 1]) {
    await writeFile(files[damaged] ?? '', flipped(whole, 12));
    await expect(check()).rejects.toThrow(`${damaged}.parquet is damaged: a page of \`a\` does not match`);
  }
});

/** Written by pyarrow: one integer in `a`, with byte stream split encoding. */
const splitBytes =
  'UEFSMRUAFRQVFCwVAhUSFQYVBhwAAAACAAAAAgEHAAAAFQQZLDUAGAZzY2hlbWEVAgAVAiUCGAFhABYCGRwZHCYAHBUCGSUGEhkYAWEVABYCFjoWOiYISRwVABUSFQIAPCkGGSYAAgAAABY6FgImCBY6ACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAAB6AAAAUEFSMQ==';

test.each([
  [
    'compressed with legacy LZ4',
    olderLz4,
    'is compressed with LZ4, which is not supported. Write it with another compression, such as zstd, snappy or LZ4_RAW.',
  ],
  [
    'with an encoding of other types',
    splitBytes,
    'uses the encoding BYTE_STREAM_SPLIT for a type for which it is not supported. Write it without this encoding.',
  ],
])('a Parquet file %s is refused with the reason', async (_, written, message) => {
  const { status, body } = await importText('in.parquet', Buffer.from(written, 'base64'));
  expect([status, body.message]).toEqual([400, `in.parquet ${message}`]);
});

test('a Parquet file with an unreadable VARIANT is refused with the reason', async () => {
  const whole = await parquetOf('SELECT 5::VARIANT AS v');
  const without = Buffer.from(whole.toString('latin1').replaceAll('value', 'other'), 'latin1');
  const { status, body } = await importText('in.parquet', without);
  expect([status, body.message]).toEqual([
    400,
    'in.parquet has a VARIANT group without a `value` column, which is not supported. Write it with a `value` column in every group.',
  ]);
  const words = [
    'INTERNAL Error: Calling StructStats::GetChildStats but there are no stats for this index',
    "Not implemented Error: Variant shredding on type: 'UINTEGER' is not implemented",
    "Invalid Input Error: Partially shredded objects have to encode Object Variants in the 'value'",
  ];
  expect(words.map(each => failureOf('a', each, undefined)?.message.replace(/\.$/, ''))).toEqual([
    'a has a VARIANT group without a `value` column, which is not supported',
    'a has a VARIANT with a column of type UINTEGER, which is not supported',
    'a is damaged: a VARIANT has object fields next to a value that is not an object',
  ]);
});

test('a Parquet file with damaged compressed values is refused', async () => {
  const bytes = await parquetOf("SELECT repeat('abc', 1000) || i AS s FROM range(100) r(i)");
  const at = bytes.indexOf('abc') + 3;
  const { status, body } = await importText('in.parquet', bytes.fill(0xff, at, at + 40));
  expect([status, body.message]).toEqual([
    400,
    'in.parquet is damaged: its data cannot be decompressed. Get the file again, or write it again.',
  ]);
});

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 0x41;
  return changed;
}
