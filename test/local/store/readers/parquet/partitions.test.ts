import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../service.js';
import { parquetOf, service, stored, timeless, useService } from '../traps.js';

useService();

type Files = Readonly<Record<string, string | Uint8Array>>;

let datasets = 0;

/** Imports a directory of these files; a SELECT is written as Parquet. */
async function importSet(files: Files, below = '.') {
  const directory = await temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, 'set', name);
    await mkdir(path.dirname(file), { recursive: true });
    const isQuery = typeof content === 'string' && content.startsWith('SELECT');
    await writeFile(file, isQuery ? await parquetOf(content) : content);
  }
  const dataset = `set${++datasets}`;
  const request = { path: path.join(directory, 'set', below), dataset };
  const { status, body } = await service().json('POST', '/v1/local/import', request);
  const said: readonly string[] = body.notes ?? [body.message];
  return { dataset, status, said, fields: body.fields };
}

async function writtenBy(writer: 'pyarrow' | 'duckdb'): Promise<Files> {
  const file = path.join(import.meta.dirname, 'types/partitions.json');
  const written = JSON.parse(await readFile(file, 'utf8'))[writer] as Record<string, string>;
  return Object.fromEntries(
    Object.entries(written).map(([name, base64]) => [name, Buffer.from(base64, 'base64')]),
  );
}

const untold =
  'No field is named like a timestamp: every row gets the time of the import and matches every time range.';

describe('a directory of Parquet files', () => {
  test.each(['pyarrow', 'duckdb'] as const)(
    'in partitions written by %s: dates, integers, encoded strings, nulls',
    async writer => {
      const { dataset, said } = await importSet(await writtenBy(writer));
      expect(said).toEqual([
        'Imported 5 files together.',
        'Fields from directory names: `day`, `month`, `region`.',
        `${untold} \`at\`, \`day\` hold timestamps: choose one, for example with \`--time at\`.`,
      ]);
      expect(
        (await stored(dataset, 'n, "at", "day", "month", region, typeof("day"), typeof("month")')).sort(),
      ).toEqual([
        '1|2023-11-14 22:13:20.123456789|2026-11-01 00:00:00|1|eu west|TIMESTAMP_NS|BIGINT',
        '2|2023-11-14 22:13:20.12345679|2026-11-01 00:00:00|1|eu west|TIMESTAMP_NS|BIGINT',
        '3|2023-11-14 22:13:20.123456791|2026-11-02 00:00:00|2|a/b=c|TIMESTAMP_NS|BIGINT',
        '4|2023-11-14 22:13:20.123456792|2026-11-02 00:00:00|2|ü%|TIMESTAMP_NS|BIGINT',
        '5|2023-11-14 22:13:20.123456793|null|11|null|TIMESTAMP_NS|BIGINT',
        '6|2023-11-14 22:13:20.123456794|null|11|00501|TIMESTAMP_NS|BIGINT',
      ]);
    },
  );

  test.each([
    ["'a'", 'VARCHAR', 'a'],
    ["TIMESTAMP '2026-01-01 00:00:00'", 'TIMESTAMP_NS', '2026-01-01 00:00:00'],
    ['1.5::DOUBLE', 'DOUBLE', '1.5'],
    ['[1]', 'VARCHAR', '[1]'],
    ['true', 'BOOLEAN', 'true'],
  ])('an untyped all-null column gets the type of other files: %s', async (value, type, text) => {
    const untyped = {
      columnData: [
        { name: 'v', data: [null] },
        { name: 'n', data: [0n] },
      ],
      schema: [
        { name: 'root', num_children: 2 },
        { name: 'v', type: 'INT32', repetition_type: 'OPTIONAL', logical_type: { type: 'NULL' } },
        { name: 'n', type: 'INT64', repetition_type: 'REQUIRED' },
      ],
    } satisfies Parameters<typeof parquetWriteBuffer>[0];
    const typed = `SELECT ${value} AS v, 1::BIGINT AS n`;
    for (const [a, b] of [
      [new Uint8Array(parquetWriteBuffer(untyped)), typed],
      [typed, new Uint8Array(parquetWriteBuffer(untyped))],
    ] as const) {
      const { dataset, said } = await importSet({ 'a.parquet': a, 'b.parquet': b });
      expect(said[0]).toBe('Imported 2 files together.');
      expect((await stored(dataset, 'n, v, typeof(v)')).sort()).toEqual([
        `0|null|${type}`,
        `1|${text}|${type}`,
      ]);
    }
  });

  test('durations stay durations', async () => {
    const { dataset, fields } = await importSet(await writtenBy('pyarrow'), 'day=2026-11-02');
    expect(fields).toContainEqual({ name: 'took', type: 'timespan' });
    expect((await stored(dataset, 'n, took, region')).sort()).toEqual(['3|3000000|a/b=c', '4|4000000|ü%']);
  });

  test.each<[what: string, files: Files, select: string, rows: readonly string[], said: readonly string[]]>([
    [
      'times and numbers beside malformed ones',
      {
        'at=2026-11-01 05%3A06%3A07.25/code=7/zip=00501/odd=%E0%A4%A/a.parquet': 'SELECT 1 AS n',
        'at=2026-11-01/code=-9223372036854775808/zip=10001/odd=2026-02-30/a.parquet': 'SELECT 2 AS n',
      },
      '"at", code, zip, odd, n',
      [
        '2026-11-01 00:00:00|-9223372036854775808|10001|2026-02-30|2',
        '2026-11-01 05:06:07.25|7|00501|%E0%A4%A|1',
      ],
      [
        'Fields from directory names: `at`, `code`, `zip`, `odd`.',
        `${untold} \`at\` holds timestamps: choose one, for example with \`--time at\`.`,
      ],
    ],
    [
      'integers beyond 64 bits, and files outside a partition',
      { 'id=9223372036854775808/a.parquet': 'SELECT 1 AS n', 'b.parquet': "SELECT 2 AS n, 'x' AS s" },
      'id, n, s, typeof(id)',
      ['9223372036854775808|1|null|VARCHAR', 'null|2|x|VARCHAR'],
      ['Fields from directory names: `id`.', timeless()],
    ],
    [
      'a key that is also a column',
      { 'k=1/a.parquet': 'SELECT 7 AS k', 'k=2/a.parquet': 'SELECT 8 AS k' },
      'k',
      ['7', '8'],
      ['Both in the files and in directory names: `k`. The values in the files are used.', timeless()],
    ],
    [
      'names that differ by case',
      { 'K=1/a.parquet': 'SELECT 7 AS k', 'K=2/a.parquet': 'SELECT 8 AS k' },
      'k, "K_2"',
      ['7|1', '8|2'],
      ['Fields from directory names: `K`.', timeless()],
    ],
    [
      'a time in the rows before one in the directory',
      {
        'date=2026-11-01/a.parquet': "SELECT TIMESTAMP '2026-11-01 10:00:00' AS started_at",
        'date=2026-11-02/a.parquet': "SELECT TIMESTAMP '2026-11-02 11:00:00' AS started_at",
      },
      '_time, "date"',
      ['2026-11-01 10:00:00|2026-11-01 00:00:00', '2026-11-02 11:00:00|2026-11-02 00:00:00'],
      ['Fields from directory names: `date`.'],
    ],
    [
      'metadata-only files, and numbers of several widths',
      {
        'a.parquet': 'SELECT 1::TINYINT AS n, 1::INTEGER AS r, {a: 1::SMALLINT} AS o',
        'b.parquet': 'SELECT 9223372036854775807::BIGINT AS n, 0.5::DOUBLE AS r, {b: 2, a: 3::BIGINT} AS o',
        _metadata: 'PAR1',
        _SUCCESS: '',
      },
      'n, r, "o.a", "o.b"',
      ['1|1.0|1|null', '9223372036854775807|0.5|3|2'],
      [timeless()],
    ],
  ])('%s', async (_, files, select, rows, said) => {
    const found = await importSet(files);
    expect(found.said.slice(1)).toEqual(said);
    expect((await stored(found.dataset, select)).sort()).toEqual(rows);
  });

  test('durations beside integers are refused', async () => {
    const [[, file] = ['', '']] = Object.entries(await writtenBy('pyarrow'));
    const { said } = await importSet({ 'a.parquet': file, 'b.parquet': 'SELECT 5::BIGINT AS took' });
    const message = 'b.parquet differs from the files before it. Its `took` has values of a different kind.';
    expect(said[0]?.slice(0, message.length)).toBe(message);
  });

  test.each<[what: string, files: Files, message: string]>([
    [
      'integers that a real cannot hold',
      { 'a.parquet': 'SELECT 1::BIGINT AS n', 'b.parquet': 'SELECT 0.5::DOUBLE AS n' },
      'b.parquet differs from the files before it. Its `n` is DOUBLE, but BIGINT in other files.',
    ],
    [
      'strings and numbers',
      { 'a.parquet': "SELECT {x: 'a'} AS o", 'b.parquet': 'SELECT {x: 1} AS o' },
      'b.parquet differs from the files before it. Its `o.x` is INTEGER, but VARCHAR in other files.',
    ],
    [
      'text beside Parquet',
      { 'a.parquet': 'SELECT 1 AS n', 'b.csv': 'n\n1\n' },
      'b.csv differs from the files before it. It is not a Parquet file.',
    ],
    [
      'Parquet beside text',
      { 'a.csv': 'n\n1\n', 'b.parquet': 'SELECT 1 AS n' },
      'b.parquet differs from the files before it. It is a Parquet file.',
    ],
    [
      'a Delta table',
      { 'a.parquet': 'SELECT 1 AS n', '_delta_log/0.json': '{}' },
      'set is a Delta table: only its log tells which files are current. Export it as Parquet, for example with `df.write.parquet` in Spark, and import the export.',
    ],
  ])('a set is refused: %s', async (_, files, message) => {
    const { status, said } = await importSet(files);
    expect([status, said[0]?.slice(0, message.length)]).toEqual([400, message]);
  });
});
