import { gzipSync } from 'node:zlib';
import { beyondSample, lines, testTraps, timeless, useService } from './traps.js';

useService();

// ---- lines of a JSON file that are not objects: each becomes an event with its text, and does not affect any other line ----

const asMessages = (count: number) =>
  `Not JSON objects: ${count} line${count === 1 ? '' : 's'}, each imported as an event with the line in \`message\`.`;

const cutNote = 'The JSON is incomplete: the file may be truncated.';

testTraps([
  ...(
    [
      ['a null', ['null'], 10_302, 10_301, 1],
      ['two nulls', ['null', 'null'], 10_303, 10_301, 2],
      ['an object without a value', ['{}', '{"v":null}'], 10_303, 10_301, 0],
      ['a null among objects without a value', ['{}', ' null ', '{"v":null}', 'null'], 10_305, 10_301, 2],
    ] as const
  ).map(([what, last, rows, values, left]) => ({
    what: `${what} after the sample`,
    name: 'in.ndjson',
    content: beyondSample('{"v":1}', ['{"v":1}', ...last].join('\n')),
    select: 'count(*), count(v)',
    values: [`${rows}|${values}`],
    notes: [...(left === 0 ? [] : [asMessages(left)]), timeless()],
  })),
  {
    what: 'a null after a sample with an object without a value',
    name: 'in.ndjson',
    content: `{}\n${beyondSample('{"v":1}', 'null')}`,
    select: 'count(*), count(v)',
    values: ['10302|10300'],
    notes: [asMessages(1), timeless()],
  },
  ...(
    [
      ['a null', 'in.ndjson', lines('{"v":1}', 'null', '{"v":2}'), '1 null 2'],
      ['a repeated key', 'in.ndjson', lines('{"v":1}', '{"v":5,"v":2}'), '1 2'],
      ['a line that is cut off', 'in.ndjson', lines('{"v":1}', 'null', '{"v":2}', '{"v":'), '1 null 2 null'],
      ['a null in an array', 'in.json', '[{"v":1},null,{"v":2}]', '1 null 2'],
    ] as const
  ).flatMap(([what, name, content, values]) =>
    [Buffer.from(`\ufeff${content}`), gzipSync(`\ufeff${content}`)].map((bytes, packed) => ({
      what: `BOM before ${what}${packed === 1 ? ', gzip' : ''}`,
      name: packed === 1 ? `${name}.gz` : name,
      content: bytes,
      select: 'v',
      values: values.split(' '),
      notes: [
        values === '1 2'
          ? '1 object with a repeated key: the last value is used.'
          : asMessages(values.split('null').length - 1),
        timeless(),
      ],
    })),
  ),
  ...[false, true].map(packed => {
    const content = `\ufeff${lines('{"v":1}\r', 'x "y"\r', '{"v":2}\r', '')}`;
    return {
      what: `BOM before a line of text${packed ? ', gzip' : ''}`,
      name: packed ? 'in.ndjson.gz' : 'in.ndjson',
      content: packed ? gzipSync(content) : Buffer.from(content),
      select: 'v, message',
      values: ['1|null', 'null|x "y"', '2|null'],
      notes: [asMessages(1), timeless()],
    };
  }),
  {
    what: 'a line of text gets the time of the line before',
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
      'No readable timestamp in 5 lines, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.',
    ],
  },
  ...['{"v":3,"w":', '{"v":3,"w":[', '{"v":3,"w":{"x":[1,', '{"v":3,"w":[1,{"y":'].flatMap(cut =>
    [true, false].map(isFirst => ({
      what: `${cut} as the ${isFirst ? 'first' : 'second'} of few lines loses no other line`,
      name: 'in.ndjson',
      content: lines(...(isFirst ? [cut, '{"v":1}'] : ['{"v":1}', cut]), '{"v":2}', '{"v":4}', ''),
      select: 'v, message',
      values: [...(isFirst ? [`null|${cut}`, '1|null'] : ['1|null', `null|${cut}`]), '2|null', '4|null'],
      notes: [asMessages(1), timeless()],
    })),
  ),
  {
    what: 'objects that span lines keep their values beside a value that is not an object',
    name: 'in.json',
    content: lines('{', '  "v": 1', '}', '{"v":', '  2}', '5', ''),
    select: 'v, message',
    values: ['1|null', '2|null', 'null|5'],
    notes: [asMessages(1), timeless()],
  },
  ...(
    [
      // Unclosed brackets or quotes do not affect the lines after them.
      ['pretty-printed', '{\n "v": 1\n}\n{\n "v": [\n}\n{\n "v": "x\n}\n{\n "v": 2\n}\n', '1 null null 2'],
      ['in an array of lines', '[\n{"v":1},\n{"v":[},\n{"v":"x},\n{"v":2}\n]\n', '1 null null 2'],
      ['behind each other', '{"v":1}{"v":2}{"v":', '1 2 null'],
      ['in an array', '[{"v":1},{"v":},null,"a,b",[1],{"v":2}]x', '1 null null null null 2 null'],
      ['in two arrays', '[{"v":1}]\n[{"v":2},null,{"v":3}]', '1 2 null 3'],
      ['in an array cut off', '[{"v":1},{"v":2},{"v":"', '1 2 null'],
      ['in an array cut after a value', '[{"v":1},{"v":2}', '1 2'],
      ['in an array cut after a comma', '[{"v":1},\n{"v":2},\n', '1 2'],
      ['in records cut off', '{"Records":[{"v":1},{"v":2},{"v"', '1 2 null', 'list'],
      [
        'in adjacent records',
        '{"Records":[{"v":1}]}{"Records":[]}\n{"Records":[{"v":2}]}',
        '1 2',
        'lists in 3 objects,',
      ],
    ] as const
  ).map(([where, content, values, end]) => ({
    what: `values ${where}`,
    name: 'in.json',
    content,
    select: 'v',
    values: values.split(' '),
    notes: [
      ...(where.includes('records') ? [`The events come from the ${end} \`Records\`.`] : []),
      ...(where.includes('cut') || where === 'behind each other' ? [cutNote] : []),
      ...(values.includes('null') ? [asMessages(values.split('null').length - 1)] : []),
      timeless(),
    ],
  })),
  ...(
    [
      [
        'byte order marks of concatenated files',
        '\ufeff{"v":1}\n\ufeff{"v":2}\n\ufeff{"v":3}\n',
        ['1|null', '2|null', '3|null'],
      ],
      [
        'numbers that are not finite',
        '{"v":1}\n{"v":NaN}\nx\n{"v":-Infinity,}\n',
        ['1.0|null', 'nan|null', 'null|x', '-inf|null'],
      ],
      ['Python quotes', `{"v":1}\n{'v': 2}\n{"v":3}\n`, ['1|null', "null|{'v': 2}", '3|null']],
    ] as const
  ).map(([what, content, values]) => ({
    what: `no line is lost: ${what}`,
    name: 'in.ndjson',
    content,
    select: `v, ${values.some(value => !value.endsWith('|null')) ? 'message' : 'NULL'}`,
    values,
  })),
]);
