import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import {
  beyondSample,
  fileOf,
  importText,
  lines,
  odd,
  service,
  storedReader,
  type Trap,
  testTraps,
  timeless,
  useService,
} from './traps.js';

useService();

// ---- formats x types x traps: each value is exact, or converted with a note that names field and count ----

const megabyteRow = (value: string) => `{"v":${value},"pad":"${'x'.repeat(2 ** 20)}"}`;

const wideRow = `${JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 1])))}\n`;

const deepRow = (value: string, depth: number) => `${'{"o":'.repeat(depth)}${value}${'}'.repeat(depth)}`;

const imported = '2026-06-15 12:00:00';
const late = (count: number, field = '_time') =>
  `No readable timestamp in \`${field}\` in ${count} row${count === 1 ? '' : 's'}: they get the time of the import.`;

/** Texts that the engine would accept as the type of the others, but read incompletely. */
const oddTexts: readonly (readonly [kind: string, usual: string, odd: string])[] = [
  ['times', '2026-01-01T00:00:00Z', '2026-01-01T 0:00:00Z'],
  ['times', '2026-01-01T00:00:00.5Z', '2026-01-01T 0:00:00.5Z'],
  ['times', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.Z'],
  ['times', '2026-01-01T00:00:00.5Z', '2026-1-01T00:00:00.5Z'],
  ['times', '2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.1234567891Z'],
  ['times', '2026-01-01T00:00:00Z', '2026-01-01'],
  ['times', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00'],
  ['reals', '1.5', '007.5'],
  ['reals', '1.5', '1.5e400'],
  ['reals', '1.5', '-1e+309'],
  ['reals', '1.5', `${'9'.repeat(310)}.5`],
  ['reals', '1.5', '+1.5'],
  ['reals', '1.5', '9007199254740993'],
  ['integers', '15', '015'],
  ['integers', '15', '+15'],
  ['integers', '15', '1_5'],
  ['booleans', 'true', 't'],
  ['booleans', 'true', 'tRUE'],
];

/** JSON values after thousands of texts, the stored value, and the type of the field if it changes. */
const lateValues: readonly (readonly [what: string, json: string, stored: string, wider?: string])[] = [
  ['a string of a number', '"5"', 'VARCHAR|5'],
  ['a string of an object', '"{\\"k\\": 1}"', 'VARCHAR|{"k": 1}'],
  ['the string null', '"null"', 'VARCHAR|null'],
  ['a number', '12345678901234567890123', 'VARCHAR|12345678901234567890123', 'dynamic'],
  ['a boolean', 'true', 'VARCHAR|true', 'dynamic'],
  ['an object', '{"k":1.5}', 'VARCHAR|{"k":1.5}', 'dynamic'],
  ['an empty list', '[]', 'VARCHAR|[]', 'dynamic'],
  ['a list of times', '["12:30"]', 'VARCHAR|["12:30"]', 'dynamic'],
  ['an object with a colon', '{"k":"a:b"}', 'VARCHAR|{"k":"a:b"}', 'dynamic'],
  ['a negative number', '-5', 'VARCHAR|-5', 'dynamic'],
  ['a bool', 'false', 'VARCHAR|false', 'dynamic'],
  ['a lowercase nan', 'nan', 'VARCHAR|nan', 'dynamic'],
  ['a capitalized NaN', 'NaN', 'VARCHAR|NaN', 'dynamic'],
  ['a short infinity', 'inf', 'VARCHAR|inf', 'dynamic'],
  ['a full infinity', 'Infinity', 'VARCHAR|Infinity', 'dynamic'],
  ['a negative infinity', '-inf', 'VARCHAR|-inf', 'dynamic'],
  ['a string of a time', '"12:30"', 'VARCHAR|12:30'],
  ['a string of a date', '"2026-11-20"', 'VARCHAR|2026-11-20'],
  ['a quoted string', '"\\"5\\""', 'VARCHAR|"5"'],
  ['a string after a space', '" 5"', 'VARCHAR| 5'],
  ['a string after a line break', '"\\n[1]"', 'VARCHAR|\n[1]'],
];

/** One file for all values of the same type; each value that widens its field needs its own file, as it adds a pass over all values. */
const lateGroups = [
  lateValues.filter(([, , , wider]) => wider === undefined),
  ...lateValues.filter(([, , , wider]) => wider !== undefined).map(row => [row]),
];

const writtenTimes = [
  ['2014/3/31', '2014-03-31 00:00:00'],
  ['4/18/2014 22:05', '2014-04-18 22:05:00'],
  ['12 Feb 2006, 19:17', '2006-02-12 19:17:00'],
  ['May 8, 2009 5:57:51 PM', '2009-05-08 17:57:51'],
  ['20140722105203', '2014-07-22 10:52:03'],
  ['2014-04', '2014-04-01 00:00:00'],
  ['Mon Jan  2 15:04:05 MST 2006', '2006-01-02 22:04:05'],
  ['1384216367111222333', '2013-11-12 00:32:47.111222333'],
  ['2014年04月08日', '2014-04-08 00:00:00'],
  ['2024-01-01 10:20:30,250', '2024-01-01 10:20:30.25'],
] as const;

const asMessages = (count: number) =>
  `Not JSON objects: ${count} line${count === 1 ? '' : 's'}, each imported as an event with the line in \`message\`.`;

const traps: readonly Trap[] = [
  {
    what: 'three kinds of line endings',
    name: 'a.csv',
    content:
      'time,v,w\n2025-01-01T00:00:00Z,01,"a\r\nb"\r\n2025-01-01T00:00:01Z,02,c\r2025-01-01T00:00:02Z,03,d\n',
    select: '_time, v, w',
    values: ['2025-01-01 00:00:00|01|a\nb', '2025-01-01 00:00:01|02|c', '2025-01-01 00:00:02|03|d'],
    notes: ['Line endings are mixed: 3 carriage returns are read as line feeds, also within values.'],
  },
  {
    what: 'other line endings after the sample',
    name: 'a.csv',
    content: `time,v\n${beyondSample('2025-01-01T00:00:00Z,1', '2025-01-01T00:00:00Z,2\r')}`,
    select: 'count(*), sum(v)',
    values: ['10301|10302'],
  },
  // one bad row does not affect the good ones
  {
    what: 'one value that is not a time',
    name: 'in.ndjson',
    content: lines('{"_time":"2026-11-20T10:00:00Z","v":1}', '{"_time":"garbage","v":2}', '{"v":3}'),
    select: '_time, v',
    values: ['2026-11-20 10:00:00|1', `${imported}|2`, `${imported}|3`],
    notes: [late(2)],
  },
  {
    what: 'a time of 1985 and one of 1969',
    name: 'in.ndjson',
    content: lines(
      '{"_time":"1985-01-01T00:00:00Z"}',
      '{"_time":"1969-12-31T23:59:59.999999999Z"}',
      '{"_time":"2024-01-01T00:00:00Z"}',
    ),
    select: '_time',
    values: ['1985-01-01 00:00:00', '1969-12-31 23:59:59.999999999', '2024-01-01 00:00:00'],
    notes: [],
  },
  {
    what: 'seconds beside RFC 3339',
    name: 'in.ndjson',
    content: lines('{"_time":1700000000}', '{"_time":"2024-01-01T00:00:00Z"}', '{"_time":1700000000.25}'),
    select: '_time',
    values: ['2023-11-14 22:13:20', '2024-01-01 00:00:00', '2023-11-14 22:13:20.25'],
    notes: [],
  },
  {
    what: 'a time out of range, and both limits of the range',
    name: 'in.csv',
    content: lines(
      '_time,n',
      '9999-12-31T23:59:59Z,1',
      '1677-09-22T00:00:00.000000001Z,2',
      '2262-04-11T23:47:16.854775806Z,3',
      'infinity,4',
      '',
    ),
    select: '_time, n',
    values: [
      `${imported}|1`,
      '1677-09-22 00:00:00.000000001|2',
      '2262-04-11 23:47:16.854775806|3',
      `${imported}|4`,
    ],
    notes: [late(2)],
  },
  {
    what: 'a dash among the times of a CSV file',
    name: 'in.csv',
    content: lines('time,n', '2024-01-01T00:00:00Z,1', '-,2', '2024-01-02T00:00:00Z,3', ''),
    select: '_time, n',
    values: ['2024-01-01 00:00:00|1', `${imported}|2`, '2024-01-02 00:00:00|3'],
    notes: ['Read as null because the other values are not text: `-` in `time` (1).', late(1, 'time')],
  },
  {
    what: 'a broken line, half a surrogate pair, a number',
    name: 'in.ndjson',
    content: lines('{"v":1}', '{"v":', '{"v":"\\ud800"}', '7', '{"v":2}'),
    select: 'v, message',
    values: ['1|null', 'null|{"v":', 'null|{"v":"\\ud800"}', 'null|7', '2|null'],
    notes: [asMessages(3), timeless()],
  },
  {
    what: 'half a surrogate pair in an array',
    name: 'in.json',
    content: '\ufeff [ {"v":1},\n{"v":"\\ud800, ]"}, {"v":"a\nb"}, 7, {"v":\n2}] ',
    select: 'v, message',
    values: ['1|null', 'null|{"v":"\\ud800, ]"}', 'null|{"v":"a\nb"}', 'null|7', '2|null'],
    notes: [asMessages(3), timeless()],
  },
  {
    what: 'half a surrogate pair after the sample of an array',
    name: 'in.json',
    content: `[${'{"v":1},'.repeat(10_300)}{"v":"\\ud800"}]`,
    select: 'count(*), sum(v)',
    values: ['10301|10300'],
    notes: [asMessages(1), timeless()],
  },
  {
    what: 'half a surrogate pair in an array compressed with zstd',
    name: 'in.json.zst',
    content: Buffer.from('KLUv/SQg5QAAoFt7InYiOjF9LCJcdWQ4MDAiM31dAgAyk68tR91MrbY=', 'base64'),
    select: 'v',
    values: ['1', 'null', '3'],
    notes: [asMessages(1), timeless()],
  },
  ...(
    [
      ['in a string', '{"v":3,"w":"x', '1 2 null', 1],
      ['in a string like an object', '{"v":3,"w":"x, }', '1 2 null', 1],
      ['in an object within it', '{"v":3,"o":{"a":1}', '1 2 null', 1],
      ['after its first character', '{', '1 2 null', 1],
      ['before its line break', '{"v":3}', '1 2 3', 0],
      ['beside a broken line', 'x\n{"v":3', '1 2 null null', 2],
    ] as const
  ).map(([where, last, values, texts]) => ({
    what: `last JSON line cut off ${where}`,
    name: 'in.ndjson',
    content: `{"v":1}\n{"v":2}\n${last}`,
    select: 'v',
    values: values.split(' '),
    notes: [...(texts === 0 ? [] : [asMessages(texts)]), timeless()],
  })),
  {
    what: 'last JSON line cut off after a value unlike the sample',
    name: 'in.ndjson',
    content: `${beyondSample('{"v":1}', '{"v":"x"}')}\n{"v":`,
    select: 'count(*), any_value(typeof(v))',
    values: ['10302|VARCHAR'],
    notes: [
      asMessages(1),
      '`v` is dynamic, because not all values after the sampled rows are long.',
      timeless(),
    ],
  },
  {
    what: 'a line that is not UTF-8',
    name: 'in.ndjson',
    content: Buffer.from('{"v":1}\n{"v":"\xff"}\n{"v":3}', 'latin1'),
    select: 'v',
    values: ['1', '"\ufffd"', '3'],
    notes: [
      'Bytes that are not UTF-8 become \ufffd in 1 line: set another encoding with `--encoding`.',
      timeless(),
    ],
  },
  ...(
    [
      ['at the end', lines('a,b', '1,x', '2,"y'), ['1|x|null', 'null|null|2,"y'], 1],
      [
        'amid rows',
        lines(
          'a,b',
          '1,x',
          '2,"y',
          '3,z',
          '4,w',
          '5,v',
          '6,u',
          '7,t',
          '8,"s",r,""',
          '9,s',
          '10,r',
          '11,q',
          '',
        ),
        [
          ...['1|x|null', 'null|null|2,"y', '3|z|null', '4|w|null', '5|v|null', '6|u|null', '7|t|null'],
          ...['null|null|8,"s",r,""', '9|s|null', '10|r|null', '11|q|null'],
        ],
        2,
      ],
      [
        'twice',
        lines('a,b', '1,"x"', '2,"y', '3,"z ""and""\nmore"', '4,"v', '5,"w, w"', '6,u'),
        ['1|x|null', 'null|null|2,"y', '3|z "and"\nmore|null', 'null|null|4,"v', '5|w, w|null', '6|u|null'],
        2,
      ],
    ] as const
  ).flatMap(([where, content, values, count]) =>
    ['in.csv', 'in.csv.gz'].map(name => ({
      what: `an unclosed quote ${where}, ${name}`,
      name,
      content: name.endsWith('.gz') ? gzipSync(content) : content,
      select: 'a, b, line',
      values,
      notes: [odd(count), timeless()],
    })),
  ),
  {
    what: 'a value of another type after the sample, then an unclosed quote',
    name: 'in.csv',
    content: `a,b\n${beyondSample('1,"x, y"', `+,v\n${'1,"x, y"\n'.repeat(200_000)}2,"z\n3,w`)}`,
    select: "count(*), count(*) FILTER (b = 'x, y'), max(a), min(a), max(line)",
    values: ['210303|210300|3|+|2,"z'],
    notes: [odd(1), '`a` is string, because not all values after the sampled rows are long.', timeless()],
  },
  {
    what: 'an unclosed quote after the sample',
    name: 'in.csv',
    content: `a,b\n${beyondSample('1,"x, y"', '2,"z\n3,w')}`,
    select: "count(*), count(*) FILTER (b = 'x, y'), max(a), max(line)",
    values: ['10302|10300|3|2,"z'],
    notes: [odd(1), timeless()],
  },
  ...(
    [
      ['at file end', '2,"z', '30001|1|2,"z', 1],
      ['', '2,"z\n3,w\n', '30002|3|2,"z', 1],
      ['twice', '2,"y\n3,z\n4,"v\n5,w\n', '30004|5|4,"v', 2],
      ['far from the end', `2,"y\n${'1,x\n'.repeat(300_000)}3,z\n`, '330002|3|2,"y', 1],
      ['among closed ones', '2,"y, y"\n3,"z\n4,"v\nv"\n5,w\n', '30004|5|3,"z', 1],
    ] as const
  ).map(([where, end, values, count]) => ({
    what: `late quotes, one unclosed ${where}`,
    name: 'in.csv',
    content: `a,b\n${'1,x\n'.repeat(30_000)}${end}`,
    select: 'count(*), max(a), max(line)',
    values: [values],
    notes: [odd(count), timeless()],
  })),
  {
    what: 'a name in single quotes, and double quotes after the sample',
    name: 'in.csv',
    content: `i,'b'\n${beyondSample('1,x', '2,"y\nz, z"')}`,
    select: `count(*), any_value("'b'") FILTER (i = 2)`,
    values: ['10301|y\nz, z'],
    notes: [timeless()],
  },
  {
    what: 'names in single quotes only',
    name: 'in.csv',
    content: lines("'a','b, c'", '1,x', '2,y', ''),
    select: 'a, "b, c"',
    values: ['1|x', '2|y'],
    notes: [timeless()],
  },
  {
    what: 'values in single quotes, some with double quotes',
    name: 'in.csv',
    content: lines("'a','b'", ...Array.from({ length: 8 }, () => "'1','x, \"y\"'"), ''),
    select: 'count(*), max(a), max(b)',
    values: ['8|1|x, "y"'],
    notes: [timeless()],
  },
  {
    what: 'one line with broken quotes among many with double quotes',
    name: 'in.csv',
    content: lines(
      '"id","b","c","d"',
      ...Array(2047).fill('"A1","x","y","z"'),
      '"A2","",""none, none"","z"',
      '"A3","x, x","y","z"',
      '',
    ),
    select: 'count(*), min(id), max(id), max(b), max(d), max(line)',
    values: ['2049|A1|A3|x, x|z|"A2","",""none, none"","z"'],
    notes: [odd(1), timeless()],
  },
  {
    what: 'a quote within a value that does not open a string',
    name: 'in.csv',
    content: lines('a,b', '1,5" pipe', '2,"x"', ''),
    select: 'a, b',
    values: ['1|5" pipe', '2|x'],
    notes: [timeless()],
  },
  {
    what: 'JSON whose later values are wider',
    name: 'in.ndjson',
    content: beyondSample('{"v":1,"o":{"a":1},"w":null}', '{"v":"x","o":2,"w":3}'),
    select: 'any_value(v) FILTER (w = 3), any_value(o) FILTER (w = 3), count(*)',
    values: ['"x"|2|10301'],
    notes: [
      '`v` is dynamic, because not all values after the sampled rows are long.',
      '`o` is dynamic, because not all values after the sampled rows are objects.',
      timeless(),
    ],
  },
  ...lateGroups.map((rows): Trap => {
    const column = (index: number) => `"o.v${index}"`;
    const late = rows.map(([, json], index) => `{"o":{"v${index}":${json}},"n":${index + 1}}`);
    return {
      what: `${rows.map(([what]) => what).join(', ')} after thousands of strings`,
      name: 'in.ndjson',
      content: beyondSample(
        JSON.stringify({ o: Object.fromEntries(rows.map((_, index) => [`v${index}`, 'x'])), n: 0 }),
        late.join('\n'),
      ),
      select: `unnest([${rows.map(([what], n) => `'${what}|' || any_value(typeof(${column(n)})) || '|' || any_value(${column(n)}) FILTER (n = ${n + 1})`).join(', ')}])`,
      values: rows.map(([what, , values]) => `${what}|${values}`),
      notes: [
        ...rows.flatMap(([, , , wider], index) =>
          wider === undefined
            ? []
            : [`\`o.v${index}\` is ${wider}, because not all values after the sampled rows are string.`],
        ),
        timeless(),
      ],
    };
  }),
  ...(
    [
      ['a key of another case', '{"o":{"V":"y"}}', '"o.V_2"'],
      ['a key with an escape', '{"o":{"\\u0076":"y"}}', '"o.v"'],
      ['a repeated key', '{"o":{"v":"x","v":"y"}}', '"o.v"'],
    ] as const
  ).map(([key, last, column]) => ({
    what: `${key} after thousands of objects`,
    name: 'in.ndjson',
    content: beyondSample('{"o":{"v":"x"}}', last),
    select: `min("o.v"), max(${column})`,
    values: ['x|y'],
    notes: [
      ...(key === 'a repeated key' ? ['1 object with a repeated key: the last value is used.'] : []),
      timeless(),
    ],
  })),
  {
    what: 'keys that are numbers, have quotes or an internal column name',
    name: 'in.ndjson',
    content: `{"b":"x","10":"y","2":"z","q'\\"":"q","file":"f","__proto__":"p","😀":"e"}\n`,
    select: `b, "10", "2", "q'""", "file", "__proto__", "😀"`,
    values: ['x|y|z|q|f|p|e'],
    notes: [timeless()],
  },
  ...['', '5\n'].map(other => ({
    what: `a hundred nested objects${other === '' ? '' : ' beside a line without one'}`,
    name: 'in.ndjson',
    content: `${deepRow('"x"', 100)}\n${other}${deepRow('1', 100)}\n`,
    select: `"${Array(17).fill('o').join('.')}"`,
    values: [deepRow('"x"', 83), ...(other === '' ? [] : ['null']), deepRow('1', 83)],
    notes: [...(other === '' ? [] : [asMessages(1)]), timeless()],
  })),
  {
    what: 'a field that only a late wide row has',
    name: 'in.ndjson',
    content: `${wideRow.repeat(3_000)}{"late":7,"k0":1}\n`,
    select: 'count(*), sum(k0), sum(k99), max(late)',
    values: ['3001|3001|3000|7'],
    notes: [timeless()],
  },
  {
    what: 'a line with too many values after the sample, which looks like an engine error',
    name: 'in.csv',
    content: `a,b\n${beyondSample('1,x', 'INTERRUPT,No space left on device,stack overflow')}`,
    select: 'count(*), sum(a), max(line)',
    values: ['10301|10300|INTERRUPT,No space left on device,stack overflow'],
    notes: [odd(1), timeless()],
  },
  {
    what: 'a NUL among integers after the sample',
    name: 'in.csv',
    content: `a,b\n${beyondSample('1,x', "\0'2,x")}`,
    select: 'count(*), max(strlen(a))',
    values: ['10301|3'],
    notes: ['`a` is string, because not all values after the sampled rows are long.', timeless()],
  },
  {
    what: 'a key after the sample in a line that looks like an engine error',
    name: 'in.ndjson',
    content: beyondSample('{"l":"x"}', '{"l":"No space left on device","k":1}'),
    select: 'count(*), sum(k)',
    values: ['10301|1'],
    notes: [timeless()],
  },
  {
    what: 'a broken line after the sample',
    name: 'in.ndjson',
    content: beyondSample('{"v":1}', '{"v":'),
    select: 'count(*), sum(v), max(message)',
    values: ['10301|10300|{"v":'],
    notes: [asMessages(1), timeless()],
  },
  {
    what: 'broken lines, another key and a string among integers, all after the sample',
    name: 'in.ndjson',
    content: `${beyondSample('{"v":1}', '\n{"v":2,\n{"v":3,"k":4}\n\n"é"\n{"v":"x"}\n{"v":NaN}\n}')}{"v":5}\n`,
    select: "count(*), count(*) FILTER (v = '1'), max(k), string_agg(v, ' ') FILTER (v <> '1')",
    values: ['10307|10300|4|3 "x" NaN 5'],
    notes: [
      'Not JSON objects: 3 lines, each imported as an event with the line in `message`.',
      '`v` is dynamic, because not all values after the sampled rows are long.',
      timeless(),
    ],
  },
  // notations of times
  {
    what: 'times written in many ways',
    name: 'in.ndjson',
    content: lines(
      ...writtenTimes.map(([text]) => JSON.stringify({ _time: text })),
      '{"_time":"2024-05-05T00:00:00Z"}',
    ),
    select: '_time',
    values: [...writtenTimes.map(([, time]) => time), '2024-05-05 00:00:00'],
    notes: ['Dates in `_time` are read month first, as in "4/18/2014 22:05".'],
  },
  // types
  {
    what: 'text after integers, and a new field, after the sample',
    name: 'in.ndjson',
    content: beyondSample('{"_time":1700000000,"v":1}', '{"_time":1700000000,"v":"x","w":true}'),
    select: "count(*), count(w), max(v) FILTER (v <> '1'), any_value(typeof(v))",
    values: ['10301|1|"x"|VARCHAR'],
    notes: ['`v` is dynamic, because not all values after the sampled rows are long.'],
  },
  {
    what: 'text after integers in CSV, after the sample',
    name: 'in.csv',
    content: `_time,v\n${beyondSample('1700000000,1', '1700000000,x')}`,
    select: 'count(*), max(v), any_value(typeof(v))',
    values: ['10301|x|VARCHAR'],
    notes: ['`v` is string, because not all values after the sampled rows are long.'],
  },
  {
    what: 'text after integers in megabyte rows, few of them sampled',
    name: 'in.ndjson',
    content: lines(...[...new Array<string>(20).fill('1'), '"x"'].map(megabyteRow)),
    select: "count(*), any_value(typeof(v)), max(v) FILTER (v <> '1')",
    values: ['21|VARCHAR|"x"'],
    notes: ['`v` is dynamic, because not all values after the sampled rows are long.', timeless()],
  },
  {
    what: 'short hashes in CSV that look like powers of ten',
    name: 'in.csv',
    content: lines('hash,real,small', '1e5,1.5,1e-05', '2e7,2.5e3,2.5', ''),
    select: 'hash, typeof(hash), "real", small',
    values: ['1e5|VARCHAR|1.5|1e-05', '2e7|VARCHAR|2500.0|2.5'],
  },
  {
    what: 'text among values of other types in CSV',
    name: 'in.csv',
    content: lines(
      ...[0, 1, 2].map(n => oddTexts.map((row, index) => (n === 0 ? `v${index}` : row[n])).join()),
      '',
    ),
    select: `unnest([${oddTexts.map(([kind], n) => `'${kind}|' || v${n} || '|' || typeof(v${n})`).join(', ')}])`,
    values: [1, 2].flatMap(n => oddTexts.map(row => `${row[0]}|${row[n]}|VARCHAR`)),
  },
  {
    what: 'large integers among reals in CSV',
    name: 'in.csv',
    content: lines('v', '1.5', '8999999999999999', '-8999999999999999', '1000000000000000', '-7', ''),
    select: 'v, typeof(v)',
    values: ['1.5', '8999999999999999.0', '-8999999999999999.0', '1000000000000000.0', '-7.0'].map(
      value => `${value}|DOUBLE`,
    ),
  },
  {
    what: 'blank lines before the names of a CSV file',
    name: 'in.csv',
    content: '\n\na,b\n1,2\n\n3,4\n',
    select: 'a, b',
    values: ['1|2', '3|4'],
    notes: [timeless()],
  },
  {
    what: 'a three-megabyte line among the first of a CSV file',
    name: 'in.csv',
    content: `a,b\n${'1,x\n'.repeat(300_000)}2,${'y'.repeat(3_000_000)}\n3,z\n`,
    select: 'count(*), max(a), max(length(b))',
    values: ['300002|3|3000000'],
    notes: [timeless()],
  },
  {
    what: 'NaN, infinities, negative zero in CSV',
    name: 'in.csv',
    content: lines('v', '-0.0', 'NaN', 'inf', '-inf', '1.5', ''),
    select: 'v, typeof(v)',
    values: ['-0.0|DOUBLE', 'nan|DOUBLE', 'inf|DOUBLE', '-inf|DOUBLE', '1.5|DOUBLE'],
  },
  {
    what: 'NaN, infinities, negative zero in JSON',
    name: 'in.ndjson',
    content: lines('{"v":-0.0}', '{"v":NaN}', '{"v":-Infinity}', '{"v":1.5}'),
    select: 'v, typeof(v)',
    values: ['-0.0|DOUBLE', 'nan|DOUBLE', '-inf|DOUBLE', '1.5|DOUBLE'],
  },
  {
    what: 'an integer beyond a real after thousands of reals in JSON',
    name: 'in.ndjson',
    content: beyondSample('{"v":1.5}', '{"v":9007199254740993}'),
    select: "max(v) FILTER (v <> '1.5'), any_value(typeof(v))",
    values: ['9007199254740993|VARCHAR'],
    notes: ['`v` is dynamic, because not all values after the sampled rows are real.', timeless()],
  },
  {
    what: 'numbers beyond 64 bits in JSON',
    name: 'in.ndjson',
    content: '{"v":123456789012345678901234567890,"r":1e400,"n":9223372036854775808}',
    select: 'v, r, n',
    values: ['123456789012345678901234567890|1e400|9223372036854775808'],
  },
  // names
  ...['{"labels":{"a.b":1,"a":{"b":2}}}', '{"labels":{"a":{"b":2},"a.b":1}}'].map(content => ({
    what: `keys that collide: ${content}`,
    name: 'in.ndjson',
    content,
    select: '"labels.a.b", "labels.a.b_2"',
    values: ['1|2'],
    notes: [
      '`labels.a.b` occurs both as a name and as a path: `labels` > `a` > `b` became `labels.a.b_2`.',
      timeless(),
    ],
  })),
  {
    what: 'a key repeated in one object',
    name: 'in.ndjson',
    content: lines('{"a":1,"a":2,"o":{"x":1,"x":3}}', '{"a":5,"o":{"x":6}}'),
    select: 'a, "o.x"',
    values: ['2|3', '5|6'],
    notes: ['2 objects with a repeated key: the last value is used.', timeless()],
  },
  {
    what: 'a NUL character in a key and in a value',
    name: 'in.ndjson',
    content: '{"a\\u0000b":1,"v":"x\\u0000y"}',
    select: 'length(v), "a\ufffdb"',
    values: ['3|1'],
    notes: ['A key contains NUL characters: its field is `a\ufffdb`.', timeless()],
  },
  {
    what: 'unnamed columns and a repeated name',
    name: 'in.csv',
    content: lines('a,,a,b', '1,2,3,4,5', '5,6,7,8,9', ''),
    select: 'a, column2, a_2, b, column5',
    values: ['1|2|3|4|5', '5|6|7|8|9'],
    notes: [
      'The first line has no name for 2 columns: `column2`, `column5`.',
      'Another column `a` becomes `a_2`.',
      timeless(),
    ],
  },
  {
    what: 'integers shortened by a spreadsheet',
    name: 'in.csv',
    content: lines('id,v', '1.70796E+12,6.02E+23', '1.5,2.5E-3', ''),
    select: 'id, v',
    values: ['1707960000000.0|6.02e+23', '1.5|0.0025'],
    notes: [
      '`id` has integers shortened by a spreadsheet, such as 1.70796E+12: the missing digits are zeros.',
      timeless(),
    ],
  },
  {
    what: 'times in a field whose name does not say so',
    name: 'in.csv',
    content: lines(
      'a,when it was,born',
      '1,2024-01-02 03:04:05,2024-01-02',
      '2,2024-01-02T03:04:06Z,2024-01-03',
      '',
    ),
    select: '_time, a',
    values: [`${imported}|1`, `${imported}|2`],
    notes: [
      'No field is named like a timestamp: every row gets the time of the import and matches every time range. `when it was`, `born` hold timestamps: choose one, for example with `--time "when it was"`.',
    ],
  },
];

testTraps(traps);

test('a dataset without times has rows but no first time', async () => {
  const { dataset } = await importText('hosts.csv', 'host,team\na,x\nb,y\n');
  const store = (await service().json('GET', `/v1/local/datasets/${dataset}`)).body;
  expect([store.rows, store.firstTime]).toEqual([2, undefined]);
});

test('a format can be named, and an unknown one is refused', async () => {
  const file = await fileOf('odd.csv', 'level=info n=5\n');
  const ask = (format: string) =>
    service().json('POST', '/v1/local/import', { path: file, dataset: `f-${format}`, format });
  expect((await ask('logfmt')).body.fields.slice(2).map((field: { name: string }) => field.name)).toEqual([
    'level',
    'n',
    'line',
  ]);
  expect((await ask('nope')).body.message).toMatch(
    /^Unknown file format "nope"\. The formats are csv, json, /,
  );
});

test('a file out of time order is sorted', async () => {
  // Consecutive rows are as far apart as possible.
  const times = Array.from({ length: 500_000 }, (_, index) => 1_700_000_000 + ((index * 249_989) % 500_000));
  const { dataset } = await importText('in.csv', `ts\n${times.join('\n')}\n`);
  const files = sqlText(path.join(service().dataDir, 'datasets', dataset, '*.parquet'));
  const [row] = await storedReader().run(
    `SELECT sum(epoch_ns(stats_max_value::TIMESTAMP_NS) - epoch_ns(stats_min_value::TIMESTAMP_NS)) / 1e9 < 500000
     FROM parquet_metadata(${files}) WHERE path_in_schema = '_time'`,
  );
  expect(row).toEqual([true]);
});
