import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../../kernel/apl/editor/editor-template.js';
import { Drain, masked } from '../../../../kernel/notebook/magics/cause/drain.js';

function templates(lines: readonly string[]): readonly (readonly [template: string, lines: number])[] {
  const drain = new Drain<number>();
  for (const [at, line] of lines.entries()) drain.add(masked(line), at);
  return drain.templates().map(({ words, members }) => [words.join(' '), members.length]);
}

describe('log templates', () => {
  test('mask numbers, ids and addresses', () => {
    expect(masked('from 10.1.2.3:80 in 0x1f ms, blk_-123 of 9f86d081 fed, v1.2.3')).toBe(
      'from <*> in <*> ms, blk_-<*> of <*> fed, v<*>.<*>.<*>',
    );
    expect(masked('[54fadb41-2c4e-40cd-baed-9335e4c35a9e] of 1.2.3.4.5')).toBe('[<*>] of <*>.<*>');
  });

  test('replace differing words with wildcards; lines of other lengths and first words stay apart', () => {
    expect(
      templates([
        'user ann logged in from cafe',
        'user bob logged in from home',
        'user ann logged out',
        'disk sda is full',
        'disk sdb is full',
      ]),
    ).toEqual([
      ['user ann logged in from cafe', 1],
      ['user bob logged in from home', 1],
      ['user ann logged out', 1],
      ['disk sda is full', 1],
      ['disk sdb is full', 1],
    ]);
    expect(templates(['conn closed by ann at gate', 'conn closed by bob at gate'])).toEqual([
      ['conn closed by <*> at gate', 2],
    ]);
  });

  test('assign a line to the template it shares the most words with', () => {
    expect(templates(['a b c d e f', 'a b x y z w', 'a b c d z f'])).toEqual([
      ['a b c d <*> f', 2],
      ['a b x y z w', 1],
    ]);
  });

  test('split on a position with up to three words if each is frequent', () => {
    const lines = (states: readonly string[]) =>
      Array.from({ length: 12 }, (_, at) => `service web of host ${at} has ${states[at % states.length]}`);
    expect(templates(lines(['started', 'stopped', 'crashed']))).toEqual([
      ['service web of host <*> has started', 4],
      ['service web of host <*> has stopped', 4],
      ['service web of host <*> has crashed', 4],
    ]);
    expect(templates(lines(['ann', 'bob', 'cy', 'dan']))).toEqual([['service web of host <*> has <*>', 12]]);
    expect(templates(lines(['started', 'stopped']).slice(0, 5))).toEqual([
      ['service web of host <*> has <*>', 5],
    ]);
    expect(templates(lines(['id=ab', 'id=cd']))).toEqual([['service web of host <*> has <*>', 12]]);
    const drain = new Drain<string>();
    drain.add('door is open now', 'often', 5);
    drain.add('door is shut now', 'once');
    expect(drain.templates().map(({ members }) => members)).toEqual([['often'], ['once']]);
  });

  test('treat padded numbers and dates as values, and do not compare masked words', () => {
    expect(templates(['disk  7 failed on rack a', 'disk 42 failed on rack b'])).toEqual([
      ['disk <*> failed on rack <*>', 2],
    ]);
    const days = ['Sun Jul  3', 'Sat Jun 18', 'Sun Jun  5', 'Sat Jul 23'];
    expect(
      templates([...days, ...days, ...days].map(day => `call from 10.0.0.1 at ${day} 07:02:11 2005`)),
    ).toEqual([['call from <*> at <*> <*> <*> <*>:<*>:<*> <*>', 12]]);
    expect(templates(['open 1 2 3 4 5 by ann today', 'open 6 7 8 9 0 by bob today'])).toEqual([
      ['open <*> <*> <*> <*> <*> by <*> today', 2],
    ]);
  });

  test('share a branch for first words beyond a limit, to bound memory', () => {
    const lines = Array.from(
      { length: 500 },
      (_, at) => `${'abcdefghij'.charAt(at % 10)}${'k'.repeat(at)} went away now`,
    );
    expect(templates(lines).reduce((sum, [, count]) => sum + count, 0)).toBe(500);
    expect(templates(lines).length).toBe(101);
  });
});

test.each([
  ['took <*> ms', 'parse m with "took " p1 " ms"'],
  ['<*> <*> of <*>', 'parse m with p1 " of " p2'],
  ['say "<*>"  twice', 'parse m with "say \\"" p1 "\\"  twice"'],
  [String.raw`C:\temp\new <*>`, String.raw`parse m with "C:\\temp\\new " p1`],
  ['bell \u0007\u2028 <*>', String.raw`parse m with "bell \u0007\u2028 " p1`],
  ['nothing', undefined],
  ['<*> <*>', undefined],
])('the parse line of %j', (template, line) => {
  expect(parseLine('m', template)).toBe(line);
});

test('the hundredth field of a parse line takes the rest of the line', () => {
  expect(parseLine('m', `a${' <*> b'.repeat(120)}`)).toMatch(/ p99 " b " p100$/);
});
