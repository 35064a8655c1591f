import {
  Field,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { columnsOf, nameOf, shownCell, vectorOf } from '../../../labextension/src/grid/grid-cells.js';

const table = (names: readonly string[], values: readonly string[]) => {
  const fields = names.map(name => new Field(name, new Utf8(), true));
  const columns = names.map(() => vectorFromArray([...values], new Utf8()).data[0]);
  const children = columns.filter(column => column !== undefined);
  const schema = new Schema(fields);
  const struct = makeData({ type: new Struct(fields), length: values.length, nullCount: 0, children });
  return new Table(schema, [new RecordBatch(schema, struct)]);
};

describe('colors only severities and status codes', () => {
  const values = ['error', 'WARN', 'debug', 'info', '500', '404', '200', 'terror'];
  test.each([
    ['level', 'error WARN:warning debug:quiet'],
    ['log.severity', 'error WARN:warning debug:quiet'],
    ['http.status_code', 'error WARN:warning debug:quiet 500:error 404:warning'],
    ['message', ''],
  ])('%s', (name, colored) => {
    const data = table([name], values);
    const column = first(columnsOf(data));
    const tones = values.map((value, row) => [value, shownCell(vectorOf(data, 0), row, column, 'utc').tone]);
    const found = tones.filter(([, tone]) => tone !== undefined);
    expect(found.map(([value, tone]) => (value === tone ? value : `${value}:${tone}`)).join(' ')).toBe(
      colored,
    );
  });
});

test('a cell shows a formatted number and keeps the exact one', () => {
  const data = new Table({ total: vectorFromArray([9223372036854775807n], new Int64()) });
  expect(shownCell(vectorOf(data, 0), 0, first(columnsOf(data)), 'utc')).toEqual({
    text: '9,223,372,036,854,775,807',
    exact: '9223372036854775807',
    tone: undefined,
  });
});

test('a long value is cut only in the cell', () => {
  const long = 'x'.repeat(5_000);
  const data = table(['message'], [long]);
  const { text, exact } = shownCell(vectorOf(data, 0), 0, first(columnsOf(data)), 'utc');
  expect([text.length, exact]).toEqual([300, long]);
});

test('a long name is cut in menus', () => {
  expect(nameOf({ name: 'a\nb' })).toBe('a\u21b5b');
  expect(nameOf({ name: 'x'.repeat(5_000) })).toBe(`${'x'.repeat(199)}\u2026`);
});

function first<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined) throw new Error('There is none');
  return item;
}
