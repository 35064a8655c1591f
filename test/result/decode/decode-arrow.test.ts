import { tableFromIPC, tableToIPC, type Vector } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { DecodeError, decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { cellText } from '../../../kernel/result/display/display-text.js';
import { FIELD_KEY } from '../../../kernel/result/field.js';
import { cells, responseBytes } from '../sample.js';

/** Returns the Arrow type, the exact text of each cell, and the note of a column decoded from JSON cells. */
function decoded(type: string, json: string) {
  const table = decodeTabular(responseBytes([{ columns: [['c', type, json]] }])).tables[0]?.data;
  const vector = table?.getChildAt(0) as Vector;
  const field = table?.schema.fields[0];
  if (field === undefined) throw new Error('no field');
  return {
    type: String(field.type),
    cells: Array.from({ length: vector.length }, (_, row) => cellText(vector, row, field)),
    note: field.metadata.get(FIELD_KEY.note),
    isJson: field.metadata.get(FIELD_KEY.extension) === 'arrow.json',
  };
}

function checkCells(
  type: string,
  arrowType: string,
  json: string,
  expected: readonly (string | null)[],
): void {
  const { type: actual, cells: texts, note } = decoded(type, json);
  expect({ type: actual, cells: texts, note }).toEqual({ type: arrowType, cells: expected, note: undefined });
}

test('replaces a lone surrogate in a name and in a cell', () => {
  const body = responseBytes([{ columns: [['a\ud83d\u{1f600}', 'string', String.raw`["a\ud83d"]`]] }]);
  const table = decodeTabular(body).tables[0]?.data;
  expect(table?.schema.fields.map(({ name }) => name)).toEqual(['a\ufffd\u{1f600}']);
  expect(table?.getChildAt(0)?.get(0)).toBe('a\ufffd');
});

describe('cells that fit their declared type', () => {
  test.each([
    ['integer', 'Int64', '[0,-1,7,null,1234567890123456]', ['0', '-1', '7', null, '1234567890123456']],
    [
      'integer',
      'Int64',
      '[9223372036854775807,-9223372036854775808]',
      ['9223372036854775807', '-9223372036854775808'],
    ],
    ['integer', 'Int64', '[9007199254740993,-9007199254740993]', ['9007199254740993', '-9007199254740993']],
    [
      'integer',
      'Int64',
      '[4294967296,-4294967296,-4294967297,2147483648]',
      ['4294967296', '-4294967296', '-4294967297', '2147483648'],
    ],
    [
      'integer',
      'Int64',
      '[1.0,1e3,12.50e1,-0.0,0e9,9.223372036854775807E18]',
      ['1', '1000', '125', '0', '0', '9223372036854775807'],
    ],
    [
      'float',
      'Float64',
      '[1,0.1,-0.0,1e300,5e-324,0.30000000000000004]',
      ['1', '0.1', '-0', '1e+300', '5e-324', '0.30000000000000004'],
    ],
    [
      'float',
      'Float64',
      '[123456789012345678901,"NaN","-Infinity",null]',
      ['123456789012345680000', 'NaN', '-Infinity', null],
    ],
    ['boolean', 'Bool', '[true,false,null,true]', ['true', 'false', null, 'true']],
    ['integer|float', 'Float64', '[1,2.5,9007199254740992,null]', ['1', '2.5', '9007199254740992', null]],
    ['integer|null', 'Int64', '[1,null]', ['1', null]],
    [
      'datetime',
      'Timestamp<NANOSECOND, UTC>',
      '["2026-11-20T10:28:16.123456789Z","1969-12-31T23:59:59.999999999Z","2024-02-29T00:00:00Z",null]',
      ['2026-11-20T10:28:16.123456789Z', '1969-12-31T23:59:59.999999999Z', '2024-02-29T00:00:00Z', null],
    ],
    [
      'datetime',
      'Timestamp<NANOSECOND, UTC>',
      '["2026-11-20T10:28:16.5+02:30","2026-11-20t23:00:00-01:00","2026-11-20T10:28:16.1234567890000Z"]',
      ['2026-11-20T07:58:16.500Z', '2026-11-21T00:00:00Z', '2026-11-20T10:28:16.123456789Z'],
    ],
    [
      'datetime',
      'Timestamp<NANOSECOND, UTC>',
      '["1677-09-21T00:12:43.145224192Z","2262-04-11T23:47:16.854775807Z"]',
      ['1677-09-21T00:12:43.145224192Z', '2262-04-11T23:47:16.854775807Z'],
    ],
    [
      'timespan',
      'Duration<NANOSECOND>',
      '["5m0.004487127s",1500000000,"1.5\u00b5s","-1h2m3s","0","2\u03bcs",null]',
      ['5m0.004487127s', '1.5s', '1.5\u00b5s', '-1h2m3s', '0s', '2\u00b5s', null],
    ],
    [
      'string',
      'Utf8',
      '["a","","\u00e9\u65e5\ud83d\ude00",null]',
      ['a', '', '\u00e9\u65e5\ud83d\ude00', null],
    ],
    [
      'string',
      'Utf8',
      String.raw`["\"\\\/\b\f\n\r\t","\u0041\u00e9\u65e5","\ud83d\ude00"]`,
      ['"\\/\b\f\n\r\t', 'A\u00e9\u65e5', '\ud83d\ude00'],
    ],
    [
      'string',
      'Utf8',
      String.raw`["\ud800","\udc00x","\ud800\u0041","\ud83d\ud83d\ude00"]`,
      ['\ufffd', '\ufffdx', '\ufffdA', '\ufffd\ud83d\ude00'],
    ],
  ] as const)('%s -> %s: %s', checkCells);
});

describe('cells of any kind keep their JSON text', () => {
  test.each([
    ['dynamic', '[{"a": 1.0},[1,[]],"x",null,{}]', ['{"a": 1.0}', '[1,[]]', '"x"', null, '{}']],
    ['unknown', '[12345678901234567890,true,"null"]', ['12345678901234567890', 'true', '"null"']],
    ['string|integer', '["1",1]', ['"1"', '1']],
  ] as const)('%s: %s', (type, json, expected) => {
    expect(decoded(type, json)).toEqual({ type: 'Utf8', cells: expected, note: undefined, isJson: true });
  });
});

describe('a cell of another type turns the column into JSON text, with a note', () => {
  const mismatches = [
    ['integer', '[1,"2"]', ['1', '"2"'], 2, 'a string'],
    ['integer', '[1.5]', ['1.5'], 1, 'a number'],
    ['integer', '[9223372036854775808]', ['9223372036854775808'], 1, 'a number'],
    ['integer', '[-9223372036854775809]', ['-9223372036854775809'], 1, 'a number'],
    ['integer', '[1e19]', ['1e19'], 1, 'a number'],
    ['float', '[1,1e400]', ['1', '1e400'], 2, 'a number'],
    ['float', '["n/a"]', ['"n/a"'], 1, 'a string'],
    ['integer|float', '[1.5,9007199254740993]', ['1.5', '9007199254740993'], 2, 'a number'],
    ['boolean', '[true,1]', ['true', '1'], 2, 'a number'],
    ['string', '["a",{"b":1}]', ['"a"', '{"b":1}'], 2, 'an object'],
    ['string', '[["a"]]', ['["a"]'], 1, 'an array'],
    ['string', '[null,false]', [null, 'false'], 2, 'a boolean'],
    ['datetime', '["2026-02-30T00:00:00Z"]', ['"2026-02-30T00:00:00Z"'], 1, 'a string'],
    ['datetime', '["0001-01-01T00:00:00Z"]', ['"0001-01-01T00:00:00Z"'], 1, 'a string'],
    ['datetime', '["2262-04-11T23:47:16.854775808Z"]', ['"2262-04-11T23:47:16.854775808Z"'], 1, 'a string'],
    ['datetime', '["2026-11-20T10:28:16.1234567891Z"]', ['"2026-11-20T10:28:16.1234567891Z"'], 1, 'a string'],
    ['datetime', '["2026-11-20T10:28:16"]', ['"2026-11-20T10:28:16"'], 1, 'a string'],
    ['datetime', '["2026x11-20T10:28:16Z"]', ['"2026x11-20T10:28:16Z"'], 1, 'a string'],
    ['datetime', '["2026-11x20T10:28:16Z"]', ['"2026-11x20T10:28:16Z"'], 1, 'a string'],
    ['datetime', '["2026-11-20x10:28:16Z"]', ['"2026-11-20x10:28:16Z"'], 1, 'a string'],
    ['datetime', '["2026-11-20T10x28:16Z"]', ['"2026-11-20T10x28:16Z"'], 1, 'a string'],
    ['datetime', '["2026-11-20T10:28x16Z"]', ['"2026-11-20T10:28x16Z"'], 1, 'a string'],
    ['timespan', '["5m0.004487127s","soon"]', ['"5m0.004487127s"', '"soon"'], 2, 'a string'],
    ['timespan', '["0.5ns"]', ['"0.5ns"'], 1, 'a string'],
  ] as const;
  test.each(mismatches)('%s: %s', (type, json, expected, row, kind) => {
    const note = `The field "c" is declared ${type}, but row ${row} holds ${kind} that does not fit; its values are kept as JSON text.`;
    expect(decoded(type, json)).toEqual({ type: 'Utf8', cells: expected, note, isJson: true });
  });
});

describe('strings', () => {
  test('use a dictionary if they repeat', () => {
    const json = cells(5000, row => (row % 7 === 3 ? null : `value ${row % 5}`));
    const { type, cells: texts } = decoded('string', json);
    expect(type).toBe('Dictionary<Int32, Utf8>');
    expect(texts).toEqual(JSON.parse(json));
  });

  test('use no dictionary if they are distinct, even after repeated ones', () => {
    const json = cells(200_000, row => (row < 2000 ? 'same' : row % 9 === 0 ? null : `unique ${row}`));
    const { type, cells: texts } = decoded('string', json);
    expect(type).toBe('Utf8');
    expect(texts).toEqual(JSON.parse(json));
  });

  test('stay distinct if their hashes collide', () => {
    const pairs = ['Aa', 'BB'];
    const json = cells(4096, row =>
      [...row.toString(2).padStart(12, '0')].map(bit => pairs[Number(bit)]).join(''),
    );
    expect(decoded('string', `${json.slice(0, -1)},${json.slice(1)}`).cells).toEqual([
      ...JSON.parse(json),
      ...JSON.parse(json),
    ]);
  });

  test('have U+FFFD for bytes that are not UTF-8', () => {
    const body = Buffer.from(responseBytes([{ columns: [['c', 'string', '["a?b"]']] }]));
    body[body.indexOf('a?b') + 1] = 0xff;
    expect(decodeTabular(body).tables[0]?.data.getChildAt(0)?.get(0)).toBe('a\ufffdb');
  });
});

describe('the rest of the response', () => {
  const encode = (text: string) => new TextEncoder().encode(text);

  test('may have columns before fields, tables before the meta map, whitespace and a BOM', () => {
    const body = `\ufeff {"tables" : [ { "columns": [ [1 , null], ["x", "y\\n"] ],\n "fields": [{"name":"n","type":"integer"},{"name":"s","type":"string"}],
      "sources":[{"name":"d"}] } ], "fieldsMetaMap": {"d":[{"name":"n","type":"integer","unit":"ms","hidden":true,"description":"How long"}]}, "status": null }`;
    const { envelope, tables } = decodeTabular(encode(body));
    const table = tables[0];
    expect(envelope.status.rowsExamined).toBe(0);
    expect(table?.info).toEqual({
      name: '0',
      sources: [{ name: 'd' }],
      fields: [
        { name: 'n', type: 'integer' },
        { name: 's', type: 'string' },
      ],
      order: [],
      groups: [],
    });
    expect([...(table?.data.getChildAt(0) ?? [])]).toEqual([1n, null]);
    expect(Object.fromEntries(table?.data.schema.fields[0]?.metadata ?? [])).toEqual({
      'apl.type': 'integer',
      'apl.unit': 'ms',
      'apl.hidden': 'true',
      'apl.description': 'How long',
    });
  });

  test("marks a JSON column with Arrow's extension type, and ignores the unit `none`", () => {
    const body = {
      tables: [{ fields: [{ name: 'm', type: 'map' }], columns: [[{ a: 1 }]] }],
      fieldsMetaMap: { d: [{ name: 'm', unit: 'none' }] },
    };
    const [field] = decodeTabular(encode(JSON.stringify(body))).tables[0]?.data.schema.fields ?? [];
    expect(Object.fromEntries(field?.metadata ?? [])).toEqual({
      'apl.type': 'map',
      'ARROW:extension:name': 'arrow.json',
      'ARROW:extension:metadata': '',
    });
  });

  test('gives an aggregate the unit of its field, except a count', () => {
    const agg = (name: string) => ({ name: `${name}_x`, type: 'float', agg: { name, fields: ['x'] } });
    const body = {
      tables: [{ fields: [agg('avg'), agg('count')], columns: [[1], [2]] }],
      fieldsMetaMap: { d: [{ name: 'x', unit: 'ms' }] },
    };
    const fields = decodeTabular(encode(JSON.stringify(body))).tables[0]?.data.schema.fields ?? [];
    expect(fields.map(field => field.metadata.get('apl.unit'))).toEqual(['ms', undefined]);
    expect(fields[0]?.metadata.get('apl.agg')).toBe('{"name":"avg","fields":["x"]}');
  });

  test('gives buckets of a timespan the unit ns, and others the unit of their field', () => {
    const agg = (name: string, field: string) => ({
      name: `${name}_${field}`,
      type: 'dynamic',
      agg: { name, fields: [field] },
    });
    const asked = [agg('histogram', 'd'), agg('histogramif', 'd'), agg('histogram', 'x'), agg('topk', 'd')];
    const body = {
      tables: [{ fields: asked, columns: asked.map(() => [[]]) }],
      fieldsMetaMap: {
        d: [
          { name: 'd', type: 'timespan', unit: '' },
          { name: 'x', type: 'integer', unit: 'ms' },
        ],
      },
    };
    const fields = decodeTabular(encode(JSON.stringify(body))).tables[0]?.data.schema.fields ?? [];
    expect(fields.map(field => field.metadata.get('apl.unit'))).toEqual(['ns', 'ns', 'ms', undefined]);
  });

  test.each([
    ['null', '{"tables":[{"fields":[{"name":"a","type":"integer"}],"columns":null}]}'],
    ['absent cells', '{"tables":[{"fields":[{"name":"a","type":"integer"}],"columns":[]}]}'],
    ['no cells', '{"tables":[{"fields":[{"name":"a","type":"integer"}],"columns":[[]]}]}'],
  ])('may have a table without rows: %s', (_, body) => {
    const table = decodeTabular(encode(body)).tables[0]?.data;
    expect([table?.numRows, table?.numCols, String(table?.schema.fields[0]?.type)]).toEqual([0, 1, 'Int64']);
  });

  test('may have fields named __proto__ or "", and numbers duplicates with a note', () => {
    const names = ['__proto__', 'a', 'a', '', 'a_2', 'a'];
    const types = ['integer', 'integer', 'string', 'integer', 'integer', 'float'];
    const fields = names.map((name, index) => ({ name, type: types[index] }));
    const body = JSON.stringify({ tables: [{ fields, columns: [[1], [2], ['x'], [4], [5], [6]] }] });
    const table = decodeTabular(encode(body)).tables[0]?.data;
    expect(table?.schema.fields.map(field => field.name)).toEqual([
      '__proto__',
      'a',
      'a_3',
      '',
      'a_2',
      'a_4',
    ]);
    expect(names.map((_, index) => table?.getChildAt(index)?.get(0))).toEqual([1n, 2n, 'x', 4n, 5n, 6]);
    expect(table?.schema.fields[2]?.metadata.get('apl.note')).toBe(
      'Several fields are named "a"; a later one is shown as "a_3".',
    );
  });

  test('may be deeply nested', () => {
    const deep = `${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`;
    expect(decoded('dynamic', `[${deep}]`).cells).toEqual([deep]);
  });
});

describe('a malformed response fails with the position of the first wrong byte', () => {
  const table = (rest: string) =>
    `{"tables":[{"fields":[{"name":"a","type":"integer"},{"name":"b","type":"string"}],${rest}}]}`;
  test.each([
    ['$0', 'The response is empty'],
    ['$0<html>', 'expected `{`, found `<`'],
    ['{"status":{}$0', 'expected `,` or `}`, found the end of the response'],
    ['{"tables":[]} $0x', 'expected the end of the response, found `x`'],
    ['{"status":{"a":$001}}', 'a number may not start with 0'],
    ['{"status":$0tru}', 'expected a value, found `t`'],
    ['{"a":"$0\\x"}', 'unknown escape in a string'],
    ['{"a":"$0\\u12g4"}', '`\\u` needs four hexadecimal digits'],
    ['{"a":"$0\n"}', 'control character in a string'],
    ['{"a":"b$0', 'unterminated string'],
    ['{"a":[1,$0]}', 'expected a value, found `]`'],
    ['{"a":1.$0}', 'expected a digit, found `}`'],
    [table('"columns":[[1,2],$0["x"]]'), 'The columns differ in length: "b" has 1, the first has 2'],
    [table('"columns":[[1]]$0'), 'A table has 2 fields but 1 columns'],
    [table('"columns":[[1],["x"],$0[2]]'), 'A table has 2 fields but more columns'],
    [table('"columns":[[1 $02],["x"]]'), 'expected `,` or `]`, found `2`'],
    [table('"columns":[[$001],["x"]]'), 'a number may not start with 0'],
    [table('"columns":[[-$0],["x"]]'), 'expected a digit, found `]`'],
    [`${table('"columns":[[1],["x]]')}$0`, 'unterminated string'],
    ['$0{"rows":[]}', 'The response has no `tables` list: it is not a tabular result'],
    ['$0{"tables":{}}', 'The response has no `tables` list: it is not a tabular result'],
    ['{"tables":[$0{"fields":[{"name":"a","type":"integer"}]}]}', 'A table has fields and no columns'],
    ['{"tables":[ \n $0{"fields":[{"type":"integer"}],"columns":[[1]]}]}', 'A field of a table has no name'],
    ['{"tables":[$0{"fields":[{"type":"integer"}],"columns":[[1]]}]}', 'A field of a table has no name'],
  ])('%s', (marked, message) => {
    let error: unknown;
    try {
      decodeTabular(new TextEncoder().encode(marked.replace('$0', '')));
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(DecodeError);
    expect((error as DecodeError).message).toContain(message);
    expect((error as DecodeError).offset).toBe(marked.indexOf('$0'));
  });
});

test('an IPC stream keeps cells, types and metadata', () => {
  const times = '["2026-11-20T10:28:16.123456789Z",null,"1969-12-31T23:59:59.999999999Z"]';
  const body = responseBytes(
    [
      {
        columns: [
          ['t', 'datetime', times],
          ['i', 'integer', '[9223372036854775807,-9007199254740993,null]'],
          ['d', 'timespan', '["5m0.004487127s",null,-1]'],
          ['s', 'string', '["same","same",null]'],
          ['f', 'float', '[0.1,null,-0.0]'],
          ['b', 'boolean', '[null,true,false]'],
          ['j', 'dynamic', '[{"a":[1.0]},null,"x"]'],
        ],
      },
    ],
    { meta: [{ name: 'f', unit: 'ms' }] },
  );
  const before = decodeTabular(body).tables[0]?.data;
  if (before === undefined) throw new Error('no table');
  const after = tableFromIPC(tableToIPC(before, 'stream'));
  const texts = (table: typeof before) =>
    table.schema.fields.map((field, index) => {
      const vector = table.getChildAt(index) as Vector;
      return [0, 1, 2].map(row => cellText(vector, row, field));
    });
  expect(texts(after)).toEqual([
    ['2026-11-20T10:28:16.123456789Z', null, '1969-12-31T23:59:59.999999999Z'],
    ['9223372036854775807', '-9007199254740993', null],
    ['5m0.004487127s', null, '-1ns'],
    ['same', 'same', null],
    ['0.1', null, '-0'],
    [null, 'true', 'false'],
    ['{"a":[1.0]}', null, '"x"'],
  ]);
  expect(after.schema.fields.map(field => String(field.type))).toEqual(
    before.schema.fields.map(field => String(field.type)),
  );
  expect(after.schema.fields[4]?.metadata).toEqual(before.schema.fields[4]?.metadata);
});
