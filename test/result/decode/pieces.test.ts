import { DataType, type Vector } from 'apache-arrow';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeArriving, type TabularArrow } from '../../../kernel/result/decode/decode-arrow.js';
import { inSlices } from '../../../kernel/result/decode/decode-slices.js';

/** A cell as it is written, and the value that a reader of JSON finds in it: integers and times are exact, other types are text. */
interface Cell {
  readonly json: string;
  readonly value: bigint | number | boolean | string | null;
}

/** Random numbers from a seed. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  /** Returns a whole number below `end`. */
  below(end: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % end;
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => this.below(10)).join('');
  }
}

function text(dice: Dice): Cell {
  const parts = [
    'a',
    'é',
    '東京',
    '🙂',
    '"',
    '\\',
    '/',
    '\n',
    '\u0000',
    '\ud83d',
    '\ude00',
    ' '.repeat(20),
    ']},',
  ];
  const value = Array.from({ length: dice.below(6) }, () => dice.of(parts)).join('');
  const escaped = Array.from(value, letter => {
    const units = Array.from({ length: letter.length }, (_, at) => letter.charCodeAt(at));
    return dice.below(3) === 0
      ? units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
      : JSON.stringify(letter).slice(1, -1);
  });
  // Two halves side by side are one character.
  return { json: `"${escaped.join('')}"`, value: value.replace(/\p{Cs}/gu, '\ufffd') };
}

function integer(dice: Dice): Cell {
  const digits = dice.of([
    '0',
    '7',
    '-7',
    `1${dice.digits(14)}`,
    `-9${dice.digits(15)}`,
    `8${dice.digits(18)}`,
  ]);
  const extremes = ['9223372036854775807', '-9223372036854775808', '9007199254740993'];
  const whole = dice.below(5) === 0 ? dice.of(extremes) : digits;
  if (dice.below(9) === 0)
    return { json: `${digits.slice(0, 6)}e3`, value: BigInt(digits.slice(0, 6)) * 1000n };
  return { json: whole + dice.of(['', '', '', '', '.0', 'e0', '.00E+0']), value: BigInt(whole) };
}

function float(dice: Dice): Cell {
  if (dice.below(20) === 0) {
    const [name, value] = dice.of([
      ['NaN', Number.NaN],
      ['-Infinity', -1 / 0],
      ['+Inf', 1 / 0],
    ] as const);
    return { json: `"${name}"`, value };
  }
  const sign = dice.of(['', '-']);
  const json = dice.of([
    `${dice.below(1000)}`,
    `0.${dice.digits(2)}`,
    `${dice.below(99)}.${dice.digits(14)}`,
    `${1 + dice.below(9)}.${dice.digits(16)}e${dice.of(['', '+', '-'])}${dice.below(300)}`,
    '0',
    `1${dice.digits(20)}`,
  ]);
  return { json: sign + json, value: JSON.parse(sign + json) as number };
}

function either(dice: Dice): Cell {
  const cell = float(dice);
  const isExact = !/^-?\d{16,}$/.test(cell.json);
  return isExact ? cell : { json: '9007199254740992', value: 2 ** 53 };
}

function datetime(dice: Dice): Cell {
  const date = new Date(
    Date.UTC(
      1700 + dice.below(550),
      dice.below(12),
      1 + dice.below(28),
      dice.below(24),
      dice.below(60),
      dice.below(60),
    ),
  );
  const fraction = dice.digits(dice.below(10));
  const nanos = BigInt(fraction.padEnd(9, '0'));
  const [zone, minutes] = dice.of([
    ['Z', 0],
    ['Z', 0],
    ['Z', 0],
    ['z', 0],
    ['+05:30', 330],
    ['-23:59', -1439],
  ] as const);
  const second = date
    .toISOString()
    .slice(0, 19)
    .replace('T', dice.of(['T', 'T', 'T', ' ', 't']));
  return {
    json: `"${second}${fraction === '' ? '' : `.${fraction}`}${zone}"`,
    value: BigInt(date.getTime() - minutes * 60_000) * 1_000_000n + nanos,
  };
}

function timespan(dice: Dice): Cell {
  const whole = `${dice.of(['', '-'])}${1 + dice.below(9)}${dice.digits(dice.below(18))}`;
  if (dice.below(2) === 0) return { json: whole, value: BigInt(whole) };
  const [hours, minutes, micros] = [dice.below(200), dice.below(60), dice.below(1000)];
  return {
    json: `"-${hours}h${minutes}m0.25s${micros}µs"`,
    value: -(
      (BigInt(hours) * 3600n + BigInt(minutes) * 60n) * 1_000_000_000n +
      250_000_000n +
      BigInt(micros) * 1000n
    ),
  };
}

function dynamic(dice: Dice, space: () => string, depth = 0): Cell {
  const inner = (): string => (depth > 2 ? 'true' : dynamic(dice, space, depth + 1).json);
  const list = () => Array.from({ length: dice.below(4) }, inner).join(`${space()},${space()}`);
  const object = () =>
    Array.from({ length: dice.below(3) }, () => `${text(dice).json}${space()}:${space()}${inner()}`).join(
      `,${space()}`,
    );
  const scalars = ['true', 'false', '-0', '1.50e1', '12345678901234567890', text(dice).json];
  const json = dice.of([`[${space()}${list()}${space()}]`, `{${space()}${object()}}`, ...scalars]);
  return { json, value: json };
}

const boolean = (dice: Dice): Cell =>
  dice.of([
    { json: 'true', value: true },
    { json: 'false', value: false },
  ]);

const kinds: Readonly<Record<string, (dice: Dice, space: () => string) => Cell>> = {
  string: text,
  ...{ integer, float, datetime, timespan, dynamic, boolean },
  'integer|float': either,
  'string|null': dice => dice.of(['one', 'two', 'three'].map(value => ({ json: `"${value}"`, value }))),
};

const nothing: Cell = { json: 'null', value: null };

interface Column {
  readonly type: string;
  readonly cells: readonly Cell[];
}

/** Returns a column; now and then, a cell does not fit its type, and all cells are read as the text they have. */
function columnOf(dice: Dice, rows: number, space: () => string): Column {
  const type = dice.of(Object.keys(kinds));
  const nulls = dice.of([2, 9, 1e9]);
  const cell = kinds[type] ?? text;
  const cells = Array.from({ length: rows }, () => (dice.below(nulls) === 0 ? nothing : cell(dice, space)));
  if (type === 'dynamic' || rows === 0 || dice.below(8) > 0) return { type, cells };
  const [odd] = [dice.of(['{"odd":[1]}', '[[]]', '{}'])];
  cells[rows - 1 - dice.below(Math.min(rows, 20))] = { json: odd, value: odd };
  return { type, cells: cells.map(({ json }) => ({ json, value: json === 'null' ? null : json })) };
}

/** Returns a body with the columns of each table, and other members around them in any order. */
function bodyOf(dice: Dice, tables: readonly (readonly Column[])[], space: () => string): Buffer {
  const put = (members: readonly (readonly [string, string])[]) =>
    `{${members.map(([name, json]) => `${space()}"${name}"${space()}:${space()}${json}${space()}`).join(',')}}`;
  const joined = (cells: readonly string[]) => `[${cells.map(cell => space() + cell + space()).join(',')}]`;
  const written = tables.map((columns, index) => {
    const fields = columns.map(({ type }, at) =>
      put([
        ['type', `"${type}"`],
        ['name', `"c${at}"`],
      ]),
    );
    const cells = columns.map(column => joined(column.cells.map(({ json }) => json)));
    const members = [
      ['name', `"${index}"`],
      ['fields', joined(fields)],
      ['columns', joined(cells)],
    ] as const;
    return put(dice.below(3) === 0 ? [...members].reverse() : members);
  });
  const rest = [
    ['status', '{"rowsMatched":1}'],
    ['x', dynamic(dice, space).json],
  ] as const;
  const all = [
    ...rest.slice(dice.below(3)),
    ['tables', joined(written)] as const,
    ['y', text(dice).json] as const,
  ];
  return Buffer.from(space() + put(all) + space());
}

/** Yields a body in pieces, which are overwritten once the next one is requested, as a reader of a socket may. */
async function* arriving(body: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const piece = body.slice(at, at + (lengths[turn % lengths.length] ?? 1));
    at += piece.length;
    yield piece;
  }
}

/** Returns every cell of a decoded response, read from the buffers of its columns. */
function valuesOf({ tables }: TabularArrow): unknown {
  return tables.map(({ data }) =>
    data.schema.fields.map((_, index) => {
      const vector = data.getChildAt(index) as Vector;
      const numbers = vector.data[0]?.values;
      const isExact = numbers instanceof BigInt64Array || DataType.isFloat(vector.type);
      return Array.from({ length: vector.length }, (_, row) =>
        isExact && vector.isValid(row) ? numbers[row] : vector.get(row),
      );
    }),
  );
}

test('every cell of any response is what it says, in whatever pieces it arrives', async () => {
  const scenario = fc.record({
    seed: fc.integer(),
    lengths: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 5000 })), {
      minLength: 1,
      maxLength: 9,
    }),
    windows: fc.array(fc.oneof(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 20_000 })), {
      minLength: 2,
      maxLength: 2,
    }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ seed, lengths, windows }) => {
      const dice = new Dice(seed);
      const isSpaced = dice.below(3) === 0;
      const space = () => (isSpaced ? dice.of(['', '', ' ', '\n', '\t  ', '\r\n', ' '.repeat(30)]) : '');
      const tables = Array.from({ length: 1 + dice.below(2) }, () => {
        const rows = dice.of([0, 1, 3, 30, 300]);
        return Array.from({ length: 1 + dice.below(6) }, () => columnOf(dice, rows, space));
      });
      const body = bodyOf(dice, tables, space);
      const expected = tables.map(columns => columns.map(({ cells }) => cells.map(({ value }) => value)));
      for (const window of windows)
        expect(valuesOf(await inSlices(decodeArriving(arriving(body, lengths), window)))).toEqual(expected);
    }),
    { numRuns: 80 },
  );
});
