import { describe, expect, test } from 'vitest';
import { declaredParameters, readParamLine } from '../../../kernel/apl/syntax/syntax-parameters.js';

describe('a %param line', () => {
  test.each<[string, readonly (readonly [string, string | undefined])[]]>([
    ['n = 5', [['n', '5']]],
    [
      'a=1 b = "x"',
      [
        ['a', '1'],
        ['b', '"x"'],
      ],
    ],
    [
      'a = 1, b = 2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['service="a b=c"', [['service', '"a b=c"']]],
    [
      'list = ["a=1", "b"] map = {"k": [1]}',
      [
        ['list', '["a=1", "b"]'],
        ['map', '{"k": [1]}'],
      ],
    ],
    [
      't = datatable(a: string, b: long)["x", 1] n=2',
      [
        ['t', 'datatable(a: string, b: long)["x", 1]'],
        ['n', '2'],
      ],
    ],
    ['since = datetime(2026-01-01 10:00) --prompt', [['since', 'datetime(2026-01-01 10:00)']]],
    ['text = "x --choices y" --choices "x --choices y", "z"', [['text', '"x --choices y"']]],
    ['neg = -3', [['neg', '-3']]],
    ['choices = 5', [['choices', '5']]],
    ['env --prompt', [['env', undefined]]],
    ['n =', [['n', '']]],
    ['', []],
  ])('%s', (line, expected) => {
    const { assignments, stray } = readParamLine(line);
    expect(assignments.map(({ name, text }) => [name, text])).toEqual(expected);
    expect(assignments.map(({ from, to }) => line.slice(from, to))).toEqual(
      expected.map(([, text]) => text ?? ''),
    );
    expect(stray).toBe('');
  });

  test.each<[string, string | undefined, boolean]>([
    ['n = 5', undefined, false],
    ['n = 5 --prompt', undefined, true],
    ['n = 5 --choices 5, 6', '5, 6', false],
    ['n = 5 --choices 5, 6 --prompt', '5, 6', true],
    ['n = 5 --prompt --choices 5, 6', '5, 6', true],
    ['n = "--prompt"', undefined, false],
    ['n = 5--prompt', undefined, false],
    ['n = 5 - -prompt', undefined, false],
  ])('has the options of %s', (line, choices, prompts) => {
    expect(readParamLine(line)).toMatchObject({ choices, prompts });
  });

  test.each([
    ['5', '5'],
    ['a b = 1', 'a'],
    ['"x" n = 1', '"x"'],
  ])('reports a stray word in %s', (line, stray) => {
    expect(readParamLine(line).stray).toBe(stray);
  });
});

test('collects the parameters of several declarations', () => {
  const text =
    'declare query_parameters(a: long = 5, b: string);\nlet x = 1;\ndeclare query_parameters(c: real);\nweb';
  expect(declaredParameters(text).map(({ name, type }) => [name.name, type])).toEqual([
    ['a', 'long'],
    ['b', 'string'],
    ['c', 'real'],
  ]);
  expect(declaredParameters('web | where declare')).toEqual([]);
});
