import { tableFromIPC, tableToIPC, type Vector } from 'apache-arrow';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeError, decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { cellText } from '../../../kernel/result/display/display-text.js';
import { formatDuration, formatTime } from '../../../kernel/time.js';
import { responseBytes, type SampleColumn } from '../sample.js';

const INT64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** Values of each wire type: the JSON of a cell, and its exact text after decoding. */
const CELLS = {
  integer: INT64.map(value => [String(value), String(value)]),
  float: fc
    .double({ noDefaultInfinity: true, noNaN: true })
    .map(value => [
      Object.is(value, -0) ? '-0' : JSON.stringify(value),
      Object.is(value, -0) ? '-0' : String(value),
    ]),
  boolean: fc.boolean().map(value => [String(value), String(value)]),
  string: fc
    .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'b', '', 'null', '\ud800x', '\u0000"\\'))
    .map(value => [JSON.stringify(value), value.replace(/\p{Cs}/gu, '\ufffd')]),
  datetime: INT64.map(nanos => [`"${longTime(nanos)}"`, formatTime(nanos)]),
  timespan: fc.oneof(
    INT64.map(nanos => [String(nanos), formatDuration(nanos)]),
    INT64.map(nanos => [`"${formatDuration(nanos)}"`, formatDuration(nanos)]),
  ),
  dynamic: fc
    .json()
    .filter(text => text.trim() !== 'null')
    .map(text => [text, text]),
} as const satisfies Record<string, fc.Arbitrary<string[]>>;

type JsonCell = readonly [json: string, text: string | null];

const column = (rows: number) =>
  fc.constantFrom(...(Object.keys(CELLS) as (keyof typeof CELLS)[])).chain(type => {
    const cell = fc.option(CELLS[type] as fc.Arbitrary<string[]>, { freq: 4 });
    const toCell = (value: string[] | null): JsonCell =>
      value === null ? ['null', null] : (value as unknown as JsonCell);
    return fc
      .array(cell, { minLength: rows, maxLength: rows })
      .map(values => ({ type, cells: values.map(toCell) }));
  });

const columns = fc
  .integer({ min: 0, max: 60 })
  .chain(rows => fc.array(column(rows), { minLength: 1, maxLength: 6 }));

/** Formats nine fractional digits independently of the code under test. */
function longTime(nanos: bigint): string {
  const seconds = nanos >= 0n ? nanos / 1_000_000_000n : -((-nanos + 999_999_999n) / 1_000_000_000n);
  const rest = String(nanos - seconds * 1_000_000_000n).padStart(9, '0');
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${rest}Z`;
}

test('any table keeps its rows, values and nulls in a response and in an IPC stream', () => {
  fc.assert(
    fc.property(columns, table => {
      const sample = table.map(
        ({ type, cells }, index): SampleColumn => [`f${index}`, type, `[${cells.map(([json]) => json)}]`],
      );
      const arrow = decodeTabular(responseBytes([{ columns: sample }])).tables[0]?.data;
      if (arrow === undefined) throw new Error('no table');
      for (const data of [arrow, tableFromIPC(tableToIPC(arrow))]) {
        const texts = data.schema.fields.map((field, index) => {
          const vector = data.getChildAt(index) as Vector;
          return Array.from({ length: data.numRows }, (_, row) => cellText(vector, row, field));
        });
        expect(texts).toEqual(table.map(({ cells }) => cells.map(([, text]) => text)));
        expect(data.schema.fields.map((_, index) => data.getChildAt(index)?.nullCount)).toEqual(
          table.map(({ cells }) => cells.filter(([, text]) => text === null).length),
        );
      }
    }),
    { numRuns: 60 },
  );
});

/** Fragments of cells of any type. */
const PIECES = [
  ...[
    '0',
    '1',
    '9',
    '000',
    '123456789',
    '.',
    '-',
    '+',
    'e',
    'E5',
    '1e999',
    '9007199254740993',
    '0.30000000000000004',
  ],
  ...[
    '"',
    '"NaN"',
    '"-Infinity"',
    '"2026-11-20T10:28:16Z"',
    '"2026-11-20T10:28:1',
    '2026-02-30T',
    '10:28:60',
    '.123456789',
    'Z"',
  ],
  ...[
    '+01:00"',
    '1m0.5s',
    'true',
    'false',
    'tru',
    'null',
    'nul',
    '[',
    ']',
    '{',
    '}',
    ':',
    ',',
    '\\n',
    '\\u0041',
    'é',
    '\t',
  ],
];

test('cells decode the same with and without spaces around them', () => {
  const cell = fc.oneof(
    ...Object.values(CELLS).map(values => (values as fc.Arbitrary<string[]>).map(([json]) => json ?? '')),
    fc.constant('null'),
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }).map(pieces => pieces.join('')),
  );
  const types = fc.constantFrom(...Object.keys(CELLS), 'integer|float');
  fc.assert(
    fc.property(types, fc.array(cell, { maxLength: 8 }), (type, cells) => {
      expect(outcomeOf(type, `[${cells.join(',')}]`)).toEqual(outcomeOf(type, `[ ${cells.join(' , ')} ]`));
    }),
    { numRuns: 2_000 },
  );
});

/** Cells before and after the one under test, by type; short and long ones take different paths. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  integer: ['7', '123456789012345678'],
  timespan: ['7'],
  float: ['1.5', '0.30000000000000004'],
  'integer|float': ['1.5', '0.30000000000000004'],
  boolean: ['true', 'false'],
  string: ['"a"'],
  datetime: ['"2026-11-20T10:28:16Z"', '"2026-11-20T10:28:16.25Z"'],
  dynamic: ['{"a":[1]}', '1'],
};

const UNUSUAL = [
  ...[
    '-',
    '--1',
    '+1',
    '00',
    '01',
    '-01',
    '1.',
    '.5',
    '-.5',
    '01.5',
    '1.5.5',
    '1.e5',
    '1e',
    '1e3',
    '1e999',
    '-1e999',
    '-0',
    '-0.0',
  ],
  ...[
    '1234567890123456',
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
  ],
  ...[
    '-9223372036854775808',
    '-9223372036854775809',
    '12345678901234567890',
    '0.1234567890123456789',
    '1234567890.123456',
    '1e300',
  ],
  ...[
    '"NaN"',
    '"-Infinity"',
    '"x"',
    '"a"b"',
    '"a\tb"',
    String.raw`"a\"b"`,
    String.raw`"\u0041"`,
    String.raw`"\x"`,
    'a"',
    '""',
  ],
  ...[
    'true',
    'false',
    'tru',
    'xrue',
    'trux',
    'truee',
    'xalse',
    'falsx',
    'falsee',
    'null',
    'nulx',
    'nulll',
    'TRUE',
  ],
  ...[
    '"2026-11-20T10:28:17Z"',
    '"2026-11-20T10:29:16Z"',
    '"2026-11-20T11:28:16Z"',
    '"2026-12-20T10:28:16Z"',
    '"2027-11-20T10:28:16Z"',
  ],
  ...[
    '"2026-11-20T10:28:60Z"',
    '"2026-11-20T10:28:16"',
    '"2026-11-20T10:28:16.Z"',
    '"2026-11-20T10:28:16.123456789Z"',
    '"2026-11-20t10:28:16z"',
  ],
  ...[
    '"2026-11-20T10:28:16.1234567891Z"',
    '"2026-11-20T10:28:16.1234567890Z"',
    '"2026-11-20T10:28:16X"',
    '"2026-11-20T10:28:16Zx"',
  ],
  ...[
    '"2026-11-20T10:28:16+01:00"',
    '"2026-11-20T10:28x16Z"',
    '"2026-11-20T10x28:16Z"',
    '"2026-11-20T10:28:1xZ"',
    'x2026-11-20T10:28:16Z"',
  ],
  ...[
    '"2026-11-31T10:28:16Z"',
    '"3026-11-20T10:28:16Z"',
    '"0001-01-01T00:00:00Z"',
    '"2026-11-20T24:28:16Z"',
    '"2026-11-20T10:28:16Zx',
  ],
  ...['{"a":1,}', '[1,]', '{"a" :1}', '[1 ,2]', '{"a":01}', `${'['.repeat(70)}${']'.repeat(70)}`],
];

test.each(Object.entries(USUAL))('decodes a cell of %s among others as it does alone', (type, usual) => {
  for (const before of usual)
    for (const cell of UNUSUAL) {
      const alone = outcomeOf(type, `[${cell}]`);
      const among = outcomeOf(type, `[${before},${cell},${before}]`);
      // The errors differ in what was found instead.
      if (alone.error !== undefined && among.error !== undefined) continue;
      const only = among.cells === undefined ? {} : { cells: [among.cells[1]] };
      expect([before, cell, { ...among, ...only }]).toEqual([before, cell, alone]);
    }
});

/** Returns the cells of a column as texts and why they are not of its type, or the error without its position. */
function outcomeOf(
  type: string,
  json: string,
): {
  readonly type?: string;
  readonly metadata?: readonly string[];
  readonly cells?: readonly (string | null)[];
  readonly error?: string;
} {
  try {
    const { data } = decodeTabular(responseBytes([{ columns: [['f', type, json]] }])).tables[0] ?? {};
    const field = data?.schema.fields[0];
    if (data === undefined || field === undefined) throw new Error('no table');
    const vector = data.getChildAt(0) as Vector;
    return {
      // Strings use a dictionary if they repeat.
      type: String(field.type).replace('Dictionary<Int32, Utf8>', 'Utf8'),
      metadata: Array.from(field.metadata, each => each.join(': ').replace(/row \d+/, 'row')),
      cells: Array.from({ length: vector.length }, (_, row) => cellText(vector, row, field)),
    };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { error: error.message.replace(/\(at byte .*/, '') };
  }
}

test('a truncated or changed body is decoded or fails with a DecodeError', () => {
  const body = responseBytes([
    {
      columns: [
        ['t', 'datetime', '["2026-11-20T10:28:16.5Z",null]'],
        ['i', 'integer', '[1.50e1,-12345678901234567]'],
        ['s', 'string', String.raw`["a\u00e9\n","b"]`],
        ['d', 'timespan', '["1m0.5s",7]'],
        ['j', 'dynamic', '[{"a":[1,{}]},true]'],
        ['b', 'boolean', '[true,null]'],
      ],
    },
  ]);
  const attempt = (bytes: Uint8Array) => {
    try {
      return decodeTabular(bytes).tables.length;
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
      return -1;
    }
  };
  for (let length = 0; length < body.length; length++) expect(attempt(body.subarray(0, length))).toBe(-1);
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.nat(255), (index, byte) => {
      const changed = body.slice();
      changed[index] = byte;
      attempt(changed);
    }),
    { numRuns: 500 },
  );
});

test('an envelope is accepted exactly if JSON.parse accepts it', () => {
  const fragment = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\n"',
    '1',
    '-',
    '0',
    '.5',
    'e3',
    'true',
    'null',
    ' ',
    '"',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(fragment, { maxLength: 8 }).map(parts => parts.join('')),
      ),
      text => {
        const body = `{"tables":null,"other":${text}}`;
        const parses = accepts(() => JSON.parse(body));
        expect(accepts(() => decodeTabular(new TextEncoder().encode(body)))).toBe(parses);
      },
    ),
    { numRuns: 500 },
  );
});

function accepts(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}
