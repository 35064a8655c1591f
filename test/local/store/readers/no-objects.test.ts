import { gzipSync } from 'node:zlib';
import { beyondSample, lines, testTraps, timeless, useService } from './traps.js';

useService();

// ---- lines of a JSON file that are not objects: they are events with their text, or left out and counted, and cost no other line ----

const leftOut = (count: number) =>
  `Left out, as they are not JSON objects in UTF-8: ${count} line${count === 1 ? '' : 's'}.`;

const asMessages = (count: number) =>
  `Not JSON objects: ${count} line${count === 1 ? '' : 's'}, each an event with its text in \`message\`.`;

testTraps([
  ...(
    [
      ['a null', ['null'], 10_301, 10_301, 1],
      ['two nulls', ['null', 'null'], 10_301, 10_301, 2],
      ['an object without a value', ['{}', '{"v":null}'], 10_303, 10_301, 0],
      ['a null among objects without a value', ['{}', ' null ', '{"v":null}', 'null'], 10_303, 10_301, 2],
    ] as const
  ).map(([what, last, rows, values, left]) => ({
    what: `${what} after the sample`,
    name: 'in.ndjson',
    content: beyondSample('{"v":1}', ['{"v":1}', ...last].join('\n')),
    select: 'count(*), count(v)',
    values: [`${rows}|${values}`],
    notes: [...(left === 0 ? [] : [leftOut(left)]), timeless()],
  })),
  {
    what: 'a null after a sample with an object without a value',
    name: 'in.ndjson',
    content: `{}\n${beyondSample('{"v":1}', 'null')}`,
    select: 'count(*), count(v)',
    values: ['10301|10300'],
    notes: ['Left out, as they are not JSON objects in UTF-8: 1 line.', timeless()],
  },
  ...(
    [
      ['a null', 'in.ndjson', lines('{"v":1}', 'null', '{"v":2}'), 1],
      ['a repeated key', 'in.ndjson', lines('{"v":1}', '{"v":5,"v":2}'), 0],
      ['a line that is cut off', 'in.ndjson', lines('{"v":1}', 'null', '{"v":2}', '{"v":'), 2],
      ['a null in an array', 'in.json', '[{"v":1},null,{"v":2}]', 1],
    ] as const
  ).flatMap(([what, name, content, left]) =>
    [Buffer.from(`\ufeff${content}`), gzipSync(`\ufeff${content}`)].map((bytes, packed) => ({
      what: `a byte order mark before ${what}${packed === 1 ? ', packed' : ''}`,
      name: packed === 1 ? `${name}.gz` : name,
      content: bytes,
      select: 'v',
      values: ['1', '2'],
      notes: [
        ...(left === 2 ? ['Left out, as it is cut off: the last line.'] : []),
        left === 0 ? 'A key is repeated in 1 object: its last value counts.' : leftOut(1),
        timeless(),
      ],
    })),
  ),
  ...[false, true].map(packed => {
    const content = `\ufeff${lines('{"v":1}\r', 'x "y"\r', '{"v":2}\r', '')}`;
    return {
      what: `a byte order mark before a line of text${packed ? ', packed' : ''}`,
      name: packed ? 'in.ndjson.gz' : 'in.ndjson',
      content: packed ? gzipSync(content) : Buffer.from(content),
      select: 'v, message',
      values: ['1|null', 'null|x "y"', '2|null'],
      notes: [asMessages(1), timeless()],
    };
  }),
  {
    what: 'a line of text has the time of the line before',
    name: 'in.log',
    content: lines(
      'up',
      '{"time":"2024-05-06"}',
      '  at x',
      '',
      'at y',
      '{"time":"2024-05-07"}',
      '{}',
      '{}',
      '',
    ),
    select: '_time, message',
    values: [
      '2024-05-06 00:00:00|up',
      '2024-05-06 00:00:00|null',
      '2024-05-06 00:00:00.000000001|  at x',
      '2024-05-06 00:00:00.000000002|at y',
      '2024-05-07 00:00:00|null',
      '2024-05-07 00:00:00.000000001|null',
      '2024-05-07 00:00:00.000000002|null',
    ],
    notes: [
      asMessages(3),
      'No readable time in 5 lines, as in a stack trace: each has that of the line before and a nanosecond more.',
    ],
  },
  ...['{"v":3,"w":', '{"v":3,"w":[', '{"v":3,"w":{"x":[1,', '{"v":3,"w":[1,{"y":'].flatMap(cut =>
    [true, false].map(isFirst => ({
      what: `${cut} as the ${isFirst ? 'first' : 'second'} of few lines costs no other one`,
      name: 'in.ndjson',
      content: lines(...(isFirst ? [cut, '{"v":1}'] : ['{"v":1}', cut]), '{"v":2}', '{"v":4}', ''),
      select: 'v, message',
      values: [...(isFirst ? [`null|${cut}`, '1|null'] : ['1|null', `null|${cut}`]), '2|null', '4|null'],
      notes: [asMessages(1), timeless()],
    })),
  ),
  {
    what: 'objects that span lines keep their values beside one that is none',
    name: 'in.json',
    content: lines('{', '  "v": 1', '}', '{"v":', '  2}', '5', ''),
    select: 'v',
    values: ['1', '2'],
    notes: [leftOut(1), timeless()],
  },
]);
