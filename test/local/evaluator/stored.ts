import { type Fixture, secondsAgo } from '../queries.js';
import type { Stored } from './pipelines.js';
import { int64 } from './values.js';

/** A stored dataset for random pipelines. */
export const stored: Stored = {
  name: 'P',
  table: {
    columns: [
      { name: 'k', type: 'long' },
      { name: 's', type: 'string' },
      { name: 'n', type: 'long' },
      { name: 'x', type: 'real' },
    ],
    rows: [
      [0n, 'a', int64.greatest, 0],
      [1n, null, int64.least, -0],
      [1n, 'b', 7n, Number.NaN],
      [2n, '', null, Infinity],
      [null, 'a', -5n, null],
    ],
  },
};

/** The same dataset for engines, in SQL common to DuckDB and Trino. */
export const storedFixture: Fixture = {
  open: false,
  fields: [{ name: '_time', type: 'datetime' }, ...stored.table.columns],
  rows: [
    ['0', "'a'", '9223372036854775807', "'0.0'"],
    ['1', 'NULL', '-9223372036854775808', "'-0.0'"],
    ['1', "'b'", '7', "'NaN'"],
    ['2', "''", 'NULL', "'Infinity'"],
    ['NULL', "'a'", '-5', 'NULL'],
  ].map((row, index) => [secondsAgo(60 - index), ...row]),
};
