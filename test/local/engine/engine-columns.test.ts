import { makeVector } from 'apache-arrow';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import {
  asJson,
  type Columns,
  type DeclaredColumn,
  JsonColumns,
} from '../../../kernel/local/engine/engine-columns.js';
import type { ResultOrder } from '../../../kernel/local/engine/engine-reader.js';
import { readersOf } from '../../../kernel/local/engine/reading/duckdb-reader.js';
import { temporaryDirectory } from '../service.js';

const fields: readonly DeclaredColumn[] = [
  { name: 'n', type: 'long' },
  { name: 's', type: 'string' },
];

async function read(rows: number, mostBytes = Number.POSITIVE_INFINITY): Promise<JsonColumns> {
  const sql = `SELECT i, repeat('x', 1000) || i FROM range(${rows}) t(i)`;
  return asJson(await readAs({ sql, fields, limit: rows, mostBytes, form: 'json' }));
}

async function readAs(
  part: Pick<ResultOrder, 'sql' | 'fields' | 'limit' | 'mostBytes' | 'form'>,
): Promise<Columns> {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), families: [] });
  onTestFinished(() => engine.close());
  const order: ResultOrder = { ...part, time: -1, delivery: 'streamed' };
  return (await readersOf(engine).reading(reader => reader.read(order), undefined)).columns;
}

function expected(rows: number): readonly string[] {
  const numbers = Array.from({ length: rows }, (_, index) => index);
  return [numbers.join(','), numbers.map(n => `"${'x'.repeat(1000)}${n}"`).join(',')];
}

const texts = (columns: JsonColumns) => fields.map((_, index) => columns.bytes(index).toString());

test('a long column is split into pieces of a few megabytes, never within a cell', async () => {
  const columns = await read(10_000);
  const pieces = columns.pieces(1);
  expect(pieces.length).toBeGreaterThan(2);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(6 * 2 ** 20);
  expect(pieces.map(piece => String.fromCharCode(piece[0] ?? 0, piece.at(-1) ?? 0))).toEqual(
    pieces.map((_, index) => (index === pieces.length - 1 ? '""' : '",')),
  );
  expect(texts(columns)).toEqual(expected(10_000));
  expect(columns.size).toBe(texts(columns).join(',,').length);
});

test('joined columns have the cells of all parts in order, even with empty parts', async () => {
  const [first, none, last] = [await read(10_000), await read(0), await read(2)];
  const parts = [none, first, none, last].map(each => each.read);
  const both = JsonColumns.together(fields, parts);
  expect(texts(both)).toEqual(expected(10_000).map((text, at) => `${text},${expected(2)[at]}`));
  expect([both.rows, both.run(0, 'first').text, both.run(0, 'last').text]).toEqual([10_002, '0', '1']);
});

const [noon, later] = ['2026-01-02T12:00:00Z', '2026-01-02T12:00:00.5Z'];

describe.each(['json', 'arrow'] as const)('the run of equal times at each end, as %s', form => {
  test.each([
    [[noon], [noon, 1], [noon, 1]],
    [
      [noon, noon, noon],
      [noon, 3],
      [noon, 3],
    ],
    [
      [noon, noon, later],
      [noon, 2],
      [later, 1],
    ],
    [
      [noon, later, later, later],
      [noon, 1],
      [later, 3],
    ],
    [
      [later, later, noon, noon],
      [later, 2],
      [noon, 2],
    ],
    [
      [noon, later, noon],
      [noon, 1],
      [noon, 1],
    ],
    [
      [null, null, noon],
      ['null', 2],
      [noon, 1],
    ],
    [
      [noon, null],
      [noon, 1],
      ['null', 1],
    ],
    [[], ['', 0], ['', 0]],
  ])('of %j is %j and %j', async (times, first, last) => {
    const values = times.map(time => (time === null ? 'NULL' : `'${time.slice(0, -1)}'`));
    const columns = await readAs({
      sql: `SELECT unnest([${values.join(', ')}]::TIMESTAMP_NS[])`,
      fields: [{ name: 't', type: 'datetime' }],
      limit: 10,
      mostBytes: Number.POSITIVE_INFINITY,
      form,
    });
    const runs = (['first', 'last'] as const).map(end => columns.run(0, end));
    expect(runs.map(({ text, rows }) => [text.replaceAll('"', ''), rows])).toEqual([first, last]);
  });
});

test.each<[type: DeclaredColumn['type'], value: string]>([
  ['bool', 'i > 3'],
  ['long', 'i'],
  ['real', 'i::DOUBLE'],
  ['string', 'i::VARCHAR'],
  ['datetime', 'make_timestamp_ns(i)'],
  ['timespan', 'i'],
  ['dynamic', 'to_json([i])'],
])('a null of type %s is found in any row of an Arrow column', async (type, value) => {
  const rows = Array.from({ length: 26 }, (_, row) => row);
  const columns = await readAs({
    sql: `SELECT ${rows.map(row => `CASE WHEN i <> ${row} THEN ${value} END`).join(', ')} FROM range(${rows.length}) t(i)`,
    fields: rows.map(row => ({ name: `f${row}`, type })),
    limit: rows.length,
    mostBytes: Number.POSITIVE_INFINITY,
    form: 'arrow',
  });
  if (columns.form !== 'arrow') throw new Error('no Arrow columns');
  const nulls = columns.data().map(data => {
    const vector = makeVector(data);
    return rows.filter(row => vector.get(row) === null);
  });
  expect(nulls).toEqual(rows.map(row => [row]));
});

test('a result larger than the answer limit is refused', async () => {
  await expect(read(10_000, 2 ** 20)).rejects.toThrow(
    'The result would be larger than 1 MiB, the maximum size.',
  );
});
