import { describe, expect, test } from 'vitest';
import { runOrder, settingCells } from '../../../labextension/src/dashboard/dashboard-order.js';

describe('cells that a dashboard runs', () => {
  test.each<[string, readonly string[], readonly number[], readonly number[]]>([
    ['pinned cells, in order', ['a | count', 'b | count', 'c | count'], [2, 0], [0, 2]],
    ['cells whose results a pinned cell reads', ['errs << a | take 5', 'b', 'errs | count'], [2], [0, 2]],
    ['cells whose results are read indirectly', ['x << a', 'y << x | take 1', 'y | count'], [2], [0, 1, 2]],
    ['the last cell that defines a name', ['x << a', 'x << b', 'x | count'], [2], [1, 2]],
    ['no cell that defines a name only later', ['x | count', 'x << a'], [0], [0]],
    ['the cell that produced the last result', ['a | count', '%time 1h', '_ | take 1'], [2], [0, 2]],
    ['no cell that stores something', ['%import f.csv\nf | count', 'a | count'], [0, 1], [1]],
    ['none if nothing is pinned', ['a | count'], [], []],
  ])('%s', (_, sources, pinned, expected) => {
    expect(runOrder(sources, new Set(pinned))).toEqual(expected);
  });

  test.each<[string, readonly string[], readonly number[], readonly number[]]>([
    ['time range and parameters', ['%time last 6h', '%param n = 5', 'a | count'], [2], [0, 1]],
    ['the profile, by any of its names', ['%connect prod', '%on prod', 'a | count'], [2], [0, 1]],
    ['options of requests', ['%request --nocache', 'a | count'], [1], [0]],
    ['not settings below every pinned cell', ['a | count', '%time last 6h'], [0], []],
    ['not settings of one cell', ['%%time last 6h\na | count', 'b'], [1], []],
    ['not lines that only show a setting', ['%time', 'b'], [1], []],
    ['not cells with other side effects', ['%time last 6h\n%import f.csv', 'b'], [1], []],
    ['not prose', ['', 'b'], [1], []],
  ])('runs each setting once before the pinned cells: %s', (_, sources, pinned, expected) => {
    expect(settingCells(sources, new Set(pinned))).toEqual(expected);
  });
});
