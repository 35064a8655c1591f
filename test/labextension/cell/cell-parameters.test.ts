import { describe, expect, test } from 'vitest';
import {
  literalOf,
  recordParameter,
  textOf,
  writtenParameters,
} from '../../../labextension/src/cell/cell-parameters.js';
import { PAYLOADS } from '../../browser/hostile/payloads.js';

describe('parameters found in cells', () => {
  /** Checks each parameter as `name: type = literal [choices] in cell`, with 0-based cells. */
  function check(cells: readonly string[], expected: readonly string[]): void {
    const found = writtenParameters(cells).map(
      ({ name, type = '-', literal = 'none', choices, cell, places }) =>
        `${name}: ${type} = ${literal} [${choices.join(' or ')}] in ${cell}, ${places.length}`,
    );
    expect(found).toEqual(expected);
  }

  test.each<[string, readonly string[], readonly string[]]>([
    ['none', ['web', '%time last 1h\nweb // %param n = 5', 'print "%param"'], []],
    [
      'set by `%param`',
      ['%param n = 5 city="a b=c"\nweb'],
      ['n: - = 5 [] in 0, 1', 'city: - = "a b=c" [] in 0, 1'],
    ],
    [
      'declared, with or without a default',
      ['web', 'declare query_parameters(n: long = 5, city: string);\nweb'],
      ['n: long = 5 [] in 1, 0', 'city: string = none [] in 1, 0'],
    ],
    [
      'declared and set, in any order',
      ['%param n = 7', 'declare query_parameters(n: long = 5, m: long = 1);\nweb', '%param m = 2'],
      ['n: long = 7 [] in 0, 1', 'm: long = 2 [] in 1, 1'],
    ],
    [
      'with choices, which later lines keep',
      ['%param env = "prod" --choices "prod", "a, b"', '%param env = "a, b"'],
      ['env: - = "a, b" ["prod" or "a, b"] in 0, 2'],
    ],
    ['without a value', ['%param n --prompt'], ['n: - = none [] in 0, 0']],
    ['in a broken cell', ['%param = 5\n%param n = \nweb | where (('], ['n: - =  [] in 0, 1']],
  ])('%s', (_, cells, expected) => check(cells, expected));
});

describe('writing a new value', () => {
  function check(cells: readonly string[], expected: readonly [number, string] | undefined): void {
    const found = recordParameter(
      cells.map(source => ({ source, isEditable: !source.startsWith('// fixed') })),
      'n',
      '9',
    );
    expect(found && [found.index, found.source]).toEqual(expected);
  }

  test.each<[string, readonly string[], readonly [number, string] | undefined]>([
    ['replaces the old one', ['%param  n=5  m = 1 // x\nweb'], [0, '%param  n=9  m = 1 // x\nweb']],
    ['keeps the options of its line', ['%param n = 5 --choices 5, 9'], [0, '%param n = 9 --choices 5, 9']],
    ['replaces the last one', ['%param n = 5', 'web', '%param n = 6'], [2, '%param n = 9']],
    [
      'adds a line above the declaration',
      ['web', 'declare query_parameters(n: long = 5);\nweb'],
      [1, '%param n = 9\ndeclare query_parameters(n: long = 5);\nweb'],
    ],
    [
      'adds a line above one that only prompts',
      ['%param n --prompt'],
      [0, '%param n = 9\n%param n --prompt'],
    ],
    ['leaves a read-only cell unchanged', ['// fixed\n%param n = 5'], undefined],
    [
      "finds the value of a name that is also another parameter's value",
      ['%param param = 1 n = 5'],
      [0, '%param param = 1 n = 9'],
    ],
  ])('%s', (_, cells, expected) => check(cells, expected));
});

describe('typed values', () => {
  test.each<[string, boolean, string | undefined]>([
    ['5', false, '5'],
    [' ["a", "b=c"] ', false, '["a", "b=c"]'],
    ['datetime(2026-01-01)', false, 'datetime(2026-01-01)'],
    ['a b=c', true, '"a b=c"'],
    ['say "x" --choices 5', true, '"say \\"x\\" --choices 5"'],
    ['', true, '""'],
    ['', false, undefined],
    ['5 m = 6', false, undefined],
    ['5 --choices 5, 6', false, undefined],
    ['5 --prompt', false, undefined],
    ['5\n%drop web', false, undefined],
    ['5, ', false, undefined],
  ])('%j', (typed, isText, expected) => {
    const read = literalOf('n', typed, isText);
    expect('literal' in read ? read.literal : undefined).toBe(expected);
  });

  test.each([...PAYLOADS, '\u2028', '\\', '\\d+', "'"])('%j survives quoting and parsing', text => {
    const read = literalOf('n', text, true);
    expect('literal' in read && textOf(read.literal)).toBe(text);
    const written = 'literal' in read ? writtenParameters([`%param n = ${read.literal} m = 1`]) : [];
    expect(written.map(({ name, literal }) => [name, literal && textOf(literal)])).toEqual([
      ['n', text],
      ['m', undefined],
    ]);
  });
});
