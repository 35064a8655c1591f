import { Bool, Field, Float64, Int64, Utf8 } from 'apache-arrow';
import { expect, test } from 'vitest';
import { type CopyFormat, copyText, forChat } from '../../../labextension/src/grid/grid-copy.js';

const fields = [
  new Field('name', new Utf8(), true),
  new Field('n', new Int64(), true),
  new Field('x', new Float64(), true),
  new Field('ok', new Bool(), true),
  new Field('tags', new Utf8(), true, new Map([['ARROW:extension:name', 'arrow.json']])),
];

const rows = [
  ['a,"b"\n\tc', '9223372036854775807', '0.1', 'true', '["x",1]'],
  [null, null, 'NaN', null, null],
  ['', '-5', '-Infinity', 'false', '{}'],
  ['=cmd|calc', '1', '-0', 'true', 'null'],
  ['| <img src=x onerror=alert(1)> *b* [l](javascript:1)', '1', '1e300', 'true', '"y"'],
];

test.each<[CopyFormat, string]>([
  [
    'text',
    [
      'a,"b" c\t9223372036854775807\t0.1\ttrue\t["x",1]',
      '\t\tNaN\t\t',
      '\t-5\t-Infinity\tfalse\t{}',
      "'=cmd|calc\t1\t-0\ttrue\tnull",
      '| <img src=x onerror=alert(1)> *b* [l](javascript:1)\t1\t1e300\ttrue\t"""y"""',
    ].join('\n'),
  ],
  [
    'csv',
    [
      'name,n,x,ok,tags',
      '"a,""b""\n\tc",9223372036854775807,0.1,true,"[""x"",1]"',
      ',,NaN,,',
      '"",-5,-Infinity,false,{}',
      "'=cmd|calc,1,-0,true,null",
      '| <img src=x onerror=alert(1)> *b* [l](javascript:1),1,1e300,true,"""y"""',
    ].join('\r\n'),
  ],
  [
    'json',
    `[
{"name":"a,\\"b\\"\\n\\tc","n":9223372036854775807,"x":0.1,"ok":true,"tags":["x",1]},
{"name":null,"n":null,"x":"NaN","ok":null,"tags":null},
{"name":"","n":-5,"x":"-Infinity","ok":false,"tags":{}},
{"name":"=cmd|calc","n":1,"x":-0,"ok":true,"tags":null},
{"name":"| <img src=x onerror=alert(1)> *b* [l](javascript:1)","n":1,"x":1e300,"ok":true,"tags":"y"}
]`,
  ],
  [
    'markdown',
    [
      '| name | n | x | ok | tags |',
      '| --- | ---: | ---: | --- | --- |',
      '| a,"b"\u21b5\u21e5c | 9223372036854775807 | 0.1 | true | ["x",1] |',
      '|  |  | NaN |  |  |',
      '|  | -5 | -Infinity | false | {} |',
      '| =cmd\\|calc | 1 | -0 | true | null |',
      '| \\| \\<img src=x onerror=alert(1)\\> \\*b\\* \\[l\\](javascript\\:1) | 1 | 1e300 | true | "y" |',
    ].join('\n'),
  ],
])('copies cells as %s', (format, text) => expect(copyText({ fields, rows }, format)).toBe(text));

test('text for a chat is aligned, in a fence that no value can close', () =>
  expect(
    copyText(
      {
        fields: fields.slice(0, 2),
        rows: [
          ['a```b', '5'],
          [null, '-12345'],
          ['x\ny\u202e', null],
        ],
      },
      'chat',
    ),
  ).toBe(
    [
      '````',
      'name              n',
      'a```b             5',
      'null         -12345',
      'x\u21b5y\u27e8U+202E\u27e9    null',
      '````',
    ].join('\n'),
  ));

test('text for a chat omits empty columns and the ingestion time, unless nothing else remains', () => {
  const stored = new Field('_sysTime', new Utf8());
  const rows = [
    ['a', null, '', '2026'],
    [null, null, null, '2026'],
  ];
  expect(forChat({ fields: [...fields.slice(0, 3), stored], rows })).toEqual({
    fields: fields.slice(0, 1),
    rows: [['a'], [null]],
  });
  expect(forChat({ fields: [stored], rows: [['2026']] })).toEqual({ fields: [stored], rows: [['2026']] });
});

test('copies one row as one JSON object', () =>
  expect(copyText({ fields: fields.slice(1, 2), rows: [['1']] }, 'json')).toBe('{"n":1}'));

test.each([
  ['  =1+1', "'  =1+1"],
  ['\uff1dcmd', "'\uff1dcmd"],
  ["'=1", "''=1"],
  ['-5', '-5'],
  ['it is = 1', 'it is = 1'],
])('a copy of %j is not a spreadsheet formula', (cell, copied) => {
  const field = new Field('name', new Utf8(), true);
  expect(copyText({ fields: [field], rows: [[cell]] }, 'text')).toBe(copied);
});

test('text for a spreadsheet has cells that begin with a quote in quotes, unless it is a single value', () => {
  const two = fields.slice(0, 2);
  const rows = [
    ['"GET /', '1'],
    ['a "b"', '2'],
    ['"c"\t"d', '3'],
  ];
  expect(copyText({ fields: two, rows }, 'text')).toBe('"""GET /"\t1\na "b"\t2\n"""c"" ""d"\t3');
  expect(copyText({ fields: two.slice(0, 1), rows: [['"GET /']] }, 'text')).toBe('"GET /');
});
