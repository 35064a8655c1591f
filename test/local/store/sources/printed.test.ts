import { expect, test } from 'vitest';
import { importText, lines, testTraps, useService } from '../readers/traps.js';

useService();

// ---- output of database clients ----

const ofTable = 'The lines are read as table rows as printed by a database client.';
const ofRecords = 'The lines are read as rows as printed by a database client, one line per value.';
const left = (...shown: string[]) =>
  `Skipped ${shown.length} line${shown.length === 1 ? '' : 's'} that are not rows: ${shown.map(line => JSON.stringify(line)).join(', ')}.`;

const printed: readonly (readonly [what: string, content: readonly string[], notes: readonly string[]])[] = [
  [
    'psql, with bars and line breaks in values, and characters of two columns',
    [
      ' id |        created         | näme  | price ',
      '----+------------------------+-------+-------',
      '  7 | 2025-10-10 13:55:36+00 | 東|x  | 12.30',
      '  8 | 2025-10-10 13:55:37+00 | c++  +|      ',
      '    |                        |  d+   | ',
      '(2 rows)',
      '',
    ],
    [ofTable, left('(2 rows)')],
  ],
  [
    'mysql',
    [
      '+----+---------------------+----------+-------+',
      '| id | created             | näme     | price |',
      '+----+---------------------+----------+-------+',
      '|  7 | 2025-10-10 13:55:36 | 東|x     | 12.30 |',
      '|  8 | 2025-10-10 13:55:37 | c++      |  NULL |',
      '+----+---------------------+----------+-------+',
      '2 rows in set (0.00 sec)',
      '',
    ],
    [
      ofTable,
      left('2 rows in set (0.00 sec)'),
      'Read as null because the other values are not text: `NULL` in `price` (1).',
    ],
  ],
  [
    'sqlite3',
    [
      '┌────┬─────────────────────┬──────┬───────┐',
      '│ id │       created       │ näme │ price │',
      '├────┼─────────────────────┼──────┼───────┤',
      '│ 7  │ 2025-10-10 13:55:36 │ 東|x │ 12.3  │',
      '│ 8  │ 2025-10-10 13:55:37 │ c++  │       │',
      '└────┴─────────────────────┴──────┴───────┘',
    ],
    [ofTable],
  ],
  [
    'Markdown',
    [
      '| id | created             | näme | price |',
      '|---:|---------------------|:-----|-------|',
      '| 7  | 2025-10-10 13:55:36 | 東|x | 12.3  |',
      '| 8  | 2025-10-10 13:55:37 | c++  |       |',
    ],
    [ofTable],
  ],
  [
    'sqlcmd',
    [
      'id          created                 näme   price',
      '----------- ----------------------- ------ -------',
      '          7 2025-10-10 13:55:36.000 東|x    12.30',
      '          8 2025-10-10 13:55:37.000 c++',
      '',
      '(2 rows affected)',
    ],
    [ofTable, left('(2 rows affected)')],
  ],
  [
    'psql, a line for each value',
    [
      '-[ RECORD 1 ]-------------------',
      'id      | 7',
      'created | 2025-10-10 13:55:36+00',
      'näme    | 東|x',
      'price   | 12.30',
      '-[ RECORD 2 ]-------------------',
      'id      | 8',
      'created | 2025-10-10 13:55:37+00',
      'näme    | c++                   +',
      '        |  d+',
      'price   | ',
      '',
    ],
    [ofRecords],
  ],
  [
    'mysql, a line for each value',
    [
      '*************************** 1. row ***************************',
      '     id: 7',
      'created: 2025-10-10 13:55:36',
      '   näme: 東|x',
      '  price: 12.30',
      '*************************** 2. row ***************************',
      '     id: 8',
      'created: 2025-10-10 13:55:37',
      '   näme: c++',
      ' d+',
      '  price: NULL',
      '2 rows in set (0.00 sec)',
      '',
    ],
    [
      ofRecords,
      left('2 rows in set (0.00 sec)'),
      'Read as null because the other values are not text: `NULL` in `price` (1).',
    ],
  ],
];

/** Clients whose output can break a value over two lines. */
const broken = /psql|a line for each/;

testTraps([
  ...printed.map(([what, content, notes]) => ({
    what: `rows printed by ${what}`,
    name: 'out.txt',
    content: lines(...content),
    select: '_time, id, näme, price',
    values: [
      '2025-10-10 13:55:36|7|東|x|12.3',
      `2025-10-10 13:55:37|8|c++${broken.test(what) ? '\n d+' : ''}|null`,
    ],
    notes,
  })),
  {
    what: 'adjacent tables of the same columns, one without rows, and a row of empty values',
    name: 'out.txt',
    content: lines(
      ...['+---+', '| n |', '+---+', '| 7 |', '|   |', '+---+', ''],
      ...[
        '+---+',
        '| n |',
        '+---+',
        '+---+',
        '0 rows in set',
        '+---+',
        '| n |',
        '+---+',
        '| 8 |',
        '+---+',
        '',
      ],
    ),
    select: 'n',
    values: ['7', 'null', '8'],
  },
  ...(
    [
      [
        'tables of other columns',
        [' a | b', '---+---', ' 1 | 2', '(1 row)', '', ' c | d', '---+---', ' 1 | 2', '(1 row)', ''],
      ],
      ['a line of another kind', [' a | b', '---+---', ' 1 | 2', 'NOTICE:  c', '(1 row)', '']],
      ['a continued value', [' a  | b', '----+----', ' 1  | 2 +', '']],
      [
        'records of other names',
        ['*** 1. row ***', 'a: 1', '*** 2. row ***', 'b: 1', 'c: 2', '*** 3. row ***', 'd: 1', ''],
      ],
      ['a line before the first value', ['-[ RECORD 1 ]-', 'x', '']],
    ] as const
  ).map(([what, content]) => ({
    what: `plain text, not a table: ${what}`,
    name: 'out.txt',
    content: lines(...content),
    select: 'line',
    values: content.filter(line => line !== ''),
  })),
]);

test('client output with other lines is refused if its format is named', async () => {
  const { status, body } = await importText('out.txt', ' a | b\n---+---\n 1 | 2\nx\n', { format: 'table' });
  expect([status, body.message]).toEqual([
    400,
    'out.txt has lines that are not table rows as printed by a database client. Omit `--format` to read it as plain text.',
  ]);
});

const head = ['"TOA5","CR1000","1204","Minutes"', '"TIMESTAMP","n"', '"TS","mm"', '"","Avg"'];

testTraps([
  {
    what: 'the repeated header of a restarted data logger is not a row',
    name: 'rain.dat',
    content: lines(...head, '"2025-10-10 13:55:00",7.5', '', ...head, '"2025-10-10 13:56:00","NAN"', ''),
    select: '_time, n',
    values: ['2025-10-10 13:55:00|7.5', '2025-10-10 13:56:00|null'],
    notes: [
      'The lines are read as Campbell data logger values (TOA5).',
      'Skipped 7 lines that are not rows: "\\"TOA5\\",\\"CR1000\\",\\"1204\\",\\"Minutes\\"", "\\"TS\\",\\"mm\\"", "\\"\\",\\"Avg\\"", ….',
      'Read as null because the other values are not text: `NAN` in `n` (1).',
    ],
  },
  {
    what: 'a data logger that continues with other names is plain text',
    name: 'rain.dat',
    content: lines(
      ...head,
      '"2025-10-10 13:55:00",7.5',
      ...head.map(line => line.replace('"n"', '"m"')),
      '1,2',
      '',
    ),
    select: 'count(*)',
    values: ['10'],
  },
]);
