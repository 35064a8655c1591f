import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeArriving,
  decodeTabular,
  type TabularArrow,
} from '../../../kernel/result/decode/decode-arrow.js';
import { inSlices } from '../../../kernel/result/decode/decode-slices.js';
import { tableHash } from '../../../kernel/result/ipc/ipc-stream.js';
import { responseBytes } from '../sample.js';

const encode = (text: string) => new TextEncoder().encode(text);

const tables = responseBytes([
  {
    columns: [
      ['t', 'datetime', '["2026-11-20T10:28:16.5Z", null ,"2026-11-20T10:28:16.123456789Z"]'],
      ['i', 'integer', '[1.50e1,-12345678901234567 , 7]'],
      ['f', 'float', '[0.1234567890123456789,"NaN",1e300]'],
      ['s', 'string', String.raw`["a\u00e9\n\"","b","東京 🙂"]`],
      ['d', 'timespan', '["1m0.5s",7,null]'],
      ['j', 'dynamic', '[{"a":[1,{"b":"]"}]},true,12345]'],
      ['b', 'boolean', '[true,null,false]'],
      ['m', 'integer', '[1,2.0,"three"]'],
      ['n', 'string', '["one","two",{"three":3}]'],
    ],
  },
  {
    name: 'as programs write them',
    columns: [
      [
        't',
        'datetime',
        '["2026-11-20T10:28:16Z","2026-11-20T10:28:59.5Z","2026-11-20T10:29:00.25Z",null,"2026-11-21T10:29:00Z"]',
      ],
      ['i', 'integer', '[-7,123456789012345,9223372036854775807,null,-9223372036854775808]'],
      ['f', 'float', '[1.5,0.30000000000000004,null,-12345678901234567,2.25]'],
      ['n', 'float', '[0.30000000000000004,"NaN",null,1e300,0.1]'],
      ['s', 'string', '["one","two","one",null,"three"]'],
      ['d', 'timespan', '[1,22,333,null,4444]'],
      ['j', 'dynamic', '[{"a":[1,{"b":"]"}]},null,"x",[],{"c":-1.5e3}]'],
      ['b', 'boolean', '[true,false,false,null,true]'],
    ],
  },
  { name: '_totals', columns: [['c', 'integer', '[]']] },
]);

const text = new TextDecoder().decode(tables);
const bodies: Readonly<Record<string, Uint8Array>> = {
  'of tables': tables,
  'with a UTF-8 BOM': encode(`\ufeff${text}`),
  'with bytes that are not UTF-8': tables.map(byte => (byte === 0xe6 ? 0x9f : byte)),
  'with columns before their fields': encode(
    '{"tables":[{"columns":[[1,2,3],["a","b","c"]],"name":"x","fields":[{"name":"i","type":"string"},{"name":"s","type":"string"}],"order":[]}],"status":{}}',
  ),
  'of events': encode(
    '{"status":{"rowsMatched":2},"matches":[{"_time":"2026-11-20T10:28:16Z","data":{"a":1.0}},{"_time":"2026-11-20T10:28:17Z","data":{"b":"x"}}]}',
  ),
  'without tables': encode('{"status":{"messages":["x"]},"tables":null}'),
};

/** Yields a body in pieces, cycling through these lengths. */
async function* arriving(body: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const length = lengths[turn % lengths.length] as number;
    yield body.slice(at, at + length);
    at += length;
  }
}

function facts({ envelope, tables }: TabularArrow) {
  return {
    envelope,
    tables: tables.map(({ info, data }) => ({
      info,
      hash: tableHash(data),
      fields: data.schema.fields.map(({ metadata }) => [...metadata]),
    })),
  };
}

/** Returns the outcome of decoding a body: its tables, or the error. */
async function outcome(decode: () => TabularArrow | Promise<TabularArrow>) {
  try {
    return facts(await decode());
  } catch (error) {
    return String(error);
  }
}

const pieces = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });

/** Number of bytes decoded at a time: so few that every kind of token is split somewhere. */
const windows = fc.integer({ min: 1, max: 80 });

describe.each(Object.entries(bodies))('a body %s', (_, body) => {
  test('decodes to the same tables in whatever pieces it arrives', async () => {
    const whole = await outcome(() => decodeTabular(body));
    expect(whole).toBeTypeOf('object');
    await fc.assert(
      fc.asyncProperty(pieces, windows, async (lengths, window) => {
        const arrived = await outcome(() => inSlices(decodeArriving(arriving(body, lengths), window)));
        expect(arrived).toEqual(whole);
      }),
      { numRuns: 25 },
    );
  });

  test('fails with the same error if it is truncated or has a byte changed', async () => {
    const change = fc.record({ at: fc.nat(body.length - 1), byte: fc.option(fc.nat(127)) });
    await fc.assert(
      fc.asyncProperty(pieces, windows, change, async (lengths, window, { at, byte }) => {
        const changed = byte === null ? body.slice(0, at) : body.slice().fill(byte, at, at + 1);
        const arrived = await outcome(() => inSlices(decodeArriving(arriving(changed, lengths), window)));
        expect(arrived).toEqual(await outcome(() => decodeTabular(changed)));
      }),
      { numRuns: 60 },
    );
  });
});

test.each<[type: string, cell: (row: number) => string]>([
  ['string', row => JSON.stringify(`a value of some length ${row}`)],
  ['string', row => JSON.stringify(`value ${row % 9}`)],
  ['float', row => (row / 8).toFixed(3)],
  ['float', row => (row % 11 === 0 ? 'null' : String(row / 7))],
  ['float', row => (row % 9_999 === 0 ? '"NaN"' : String(row / 7))],
  ['integer', row => String(9_007_199_254_740_993n + BigInt(row))],
  ['datetime', row => JSON.stringify(new Date(row * 777).toISOString())],
  ['dynamic', row => (row % 11 === 0 ? 'null' : `{"row":${row},"list":["a",{"b":${row / 7}}]}`)],
  ['boolean', row => String(row % 3 === 0)],
])('a long column of %s is the same for any window, and each cell the same as alone', async (type, cell) => {
  const cells = Array.from({ length: 40_000 }, (_, row) => cell(row));
  const columnOf = (cells: readonly string[]) =>
    responseBytes([{ columns: [['c', type, `[${cells.join(',')}]`]] }]);
  const body = columnOf(cells);
  const whole = await outcome(() => decodeTabular(body));
  for (const window of [100_000, 100_001, 2 ** 17])
    expect(await outcome(() => inSlices(decodeArriving(arriving(body, [65_536]), window)))).toEqual(whole);
  const cellAt = (body: Uint8Array, row: number) =>
    decodeTabular(body).tables[0]?.data.getChildAt(0)?.get(row);
  for (const row of [0, 1, 16, 3_333, 12_345, 32_768, 39_999])
    expect([row, cellAt(body, row)]).toEqual([row, cellAt(columnOf([cells[row] ?? '']), 0)]);
});

test('many long columns decode to the same in whatever pieces they arrive', async () => {
  const kinds: readonly [type: string, cell: (row: number) => string][] = [
    ['float', row => String(row / 7)],
    ['string', row => JSON.stringify(`value ${row}`)],
    ['float', row => (row % 9 === 0 ? 'null' : String(-row / 13))],
    ['integer', row => String(9_007_199_254_740_993n + BigInt(row))],
    ['dynamic', row => (row % 11 === 0 ? 'null' : `{"row":${row},"list":["a",{"b":${row / 7}}]}`)],
  ];
  const rows = Array.from({ length: 4000 }, (_, row) => row);
  const columns = Array.from({ length: 20 }, (_, index) => kinds[index % kinds.length] ?? kinds[0]);
  const body = responseBytes([
    {
      columns: columns.flatMap((kind, index) =>
        kind ? [[`c${index}`, kind[0], `[${rows.map(kind[1]).join(',')}]`]] : [],
      ),
    },
  ]);
  const whole = await outcome(() => decodeTabular(body));
  const lengths = fc.array(fc.oneof(fc.constant(65_536), fc.integer({ min: 1, max: 70_000 })), {
    minLength: 1,
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(lengths, fc.integer({ min: 2 ** 16, max: 2 ** 18 }), async (pieces, window) => {
      expect(await outcome(() => inSlices(decodeArriving(arriving(body, pieces), window)))).toEqual(whole);
    }),
    { numRuns: 30 },
  );
});

test('decoding buffers at most one column', async () => {
  const column = (row: number) => `[${Array.from({ length: 1000 }, (_, cell) => row * cell).join(',')}]`;
  const columns = Array.from({ length: 50 }, (_, row) => column(row));
  const fields = columns.map((_, index) => ({ name: `c${index}`, type: 'integer' }));
  const body = encode(
    `{"tables":[{"name":"0","fields":${JSON.stringify(fields)},"columns":[${columns.join(',')}]}]}`,
  );
  const { allocUnsafeSlow } = Buffer;
  let allocated = 0;
  Buffer.allocUnsafeSlow = (size: number) => {
    allocated += size;
    return allocUnsafeSlow(size);
  };
  try {
    const source = arriving(body, [1000]);
    const { tables: decoded } = await inSlices(decodeArriving(source, 4096));
    expect(decoded[0]?.data.numCols).toBe(50);
  } finally {
    Buffer.allocUnsafeSlow = allocUnsafeSlow;
  }
  const longest = Math.max(...columns.map(({ length }) => length));
  expect(body.length).toBeGreaterThan(20 * longest);
  expect(allocated).toBeLessThan(3 * longest);
});
