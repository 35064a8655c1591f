import { DuckDBInstance } from '@duckdb/node-api';
import { Vector } from 'apache-arrow';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../kernel/local/engine/duckdb.js';
import {
  asJson,
  type CellForm,
  type Columns,
  type DeclaredColumn,
} from '../../../kernel/local/engine/engine-columns.js';
import { readersOf } from '../../../kernel/local/engine/reading/duckdb-reader.js';
import { parseTime } from '../../../kernel/time.js';
import { temporaryDirectory } from '../service.js';

/** Columns as SQL of the row number `i`; nulls come in runs that begin and end within a chunk of 2,048 rows, and alone. */
const columns: readonly (readonly [type: DeclaredColumn['type'], sql: string])[] = [
  ['bool', 'CASE WHEN i % 5000 >= 2100 THEN hash(i) % 2 = 0 END'],
  ['long', 'CASE WHEN i % 64 <> 63 THEN (hash(i) >> 1)::BIGINT - (i % 2) * 4611686018427387904 END'],
  ['real', 'CASE WHEN hash(i) % 1000 > 3 THEN sin(i) * 1e300 END'],
  [
    'datetime',
    'CASE WHEN i NOT BETWEEN 2000 AND 6200 THEN make_timestamp_ns(1767225600123456789 + i * 977) END',
  ],
  ['timespan', '-i * 1000000007'],
  ['string', "repeat('ü€😀', (hash(i) % 12)::INT) || i"],
  [
    'string',
    "CASE WHEN hash(i) % 97 = 0 THEN repeat('long text ', (hash(i) % 300)::INT) WHEN i % 3 < 2 THEN 'v' || i % 5 END",
  ],
  [
    'string',
    "substring('one long text that the others are cut out of', 1 + (i % 20)::INT, 10 + (i % 30)::INT)",
  ],
  ['dynamic', `CASE WHEN i % 7 > 2 THEN '["long text ' || i || '",{"b":[' || i || ']}]' END`],
];

const sqlTypes = {
  bool: 'BOOLEAN',
  real: 'DOUBLE',
  datetime: 'TIMESTAMP_NS',
  string: 'VARCHAR',
  dynamic: 'JSON',
} as const;

const typeOf = (type: DeclaredColumn['type']) =>
  type === 'long' || type === 'timespan' ? 'BIGINT' : sqlTypes[type];

const texts = (cells: string): readonly unknown[] => JSON.parse(`[${cells}]`);

/** Returns the cells of a column as the engine itself converts them: exact integers as text. */
function written(type: DeclaredColumn['type'], columns: Columns, index: number): readonly unknown[] {
  const isExact = type === 'long' || type === 'timespan' || type === 'datetime';
  if (columns.form === 'json') {
    const text = asJson(columns).bytes(index).toString();
    if (type === 'datetime')
      return texts(text).map(cell => (typeof cell === 'string' ? String(parseTime(cell)) : cell));
    if (isExact) return texts(text.replace(/-?\d+/g, '"$&"'));
    return type === 'dynamic' ? texts(text).map(cell => cell && JSON.stringify(cell)) : texts(text);
  }
  const [data] = [columns.data()[index]];
  if (data === undefined) return [];
  const vector = new Vector([data]);
  return Array.from({ length: data.length }, (_, row) => {
    if (!data.getValid(row)) return null;
    return isExact ? String(data.values[row]) : vector.get(row);
  });
}

/** Returns the same cells from an engine of the test, by its own conversion. */
async function converted(sql: string): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create();
  onTestFinished(() => instance.closeSync());
  const connection = await instance.connect();
  onTestFinished(() => connection.closeSync());
  const cells = columns.map(([type], index) => {
    if (type === 'bool' || type === 'real') return `c${index}`;
    return type === 'datetime' ? `epoch_ns(c${index})::VARCHAR` : `c${index}::VARCHAR`;
  });
  const names = columns.map((_, index) => `c${index}`);
  const read = await connection.runAndReadAll(
    `SELECT ${cells.join(', ')} FROM (${sql}) q(${names.join(', ')})`,
  );
  const found = read.getColumnsJS();
  return columns.map((_, index) => found[index] ?? []);
}

/** Around the sizes of a chunk, of the results read at once, and of a row group. */
const rowCounts = [0, 1, 2047, 2048, 2049, 8192, 8193, 122_881];

test('results read at the same time have the cells that the engine converts itself', async () => {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), families: [] });
  onTestFinished(() => engine.close());
  const fields = columns.map(([type], index) => ({ name: `f${index}`, type }));
  const sqlOf = (rows: number) =>
    `SELECT ${columns.map(([type, sql]) => `(${sql})::${typeOf(type)}`).join(', ')} FROM range(${rows}) r(i) ORDER BY i`;
  const read = (rows: number, form: CellForm) => {
    const order = { sql: sqlOf(rows), fields, limit: rows + 1, mostBytes: 2 ** 30, time: -1, form } as const;
    return readersOf(engine).reading(reader => reader.read({ ...order, delivery: 'streamed' }), undefined);
  };
  const forms = ['json', 'arrow'] as const;
  const all = await Promise.all(
    rowCounts.flatMap(rows => forms.map(async form => ({ rows, form, read: await read(rows, form) }))),
  );
  const expected = new Map<number, Awaited<ReturnType<typeof converted>>>();
  for (const rows of rowCounts) expected.set(rows, await converted(sqlOf(rows)));
  for (const { rows, form, read } of all)
    for (const [index, [type]] of columns.entries()) {
      const cells = written(type, read.columns, index);
      const wanted = expected.get(rows)?.[index] ?? [];
      const different = cells.findIndex((cell, row) => !Object.is(cell, wanted[row]));
      expect([rows, form, type, cells.length, different, cells[different]]).toEqual([
        rows,
        form,
        type,
        rows,
        -1,
        undefined,
      ]);
    }
});
