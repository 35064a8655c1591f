import { describe, expect, test } from 'vitest';
import { runOrder, settingCells } from '../../../labextension/src/dashboard/dashboard-order.js';

describe('the cells that a dashboard runs', () => {
  test.each<[string, readonly string[], readonly number[], readonly number[]]>([
    ['are the pinned ones, in order', ['a | count', 'b | count', 'c | count'], [2, 0], [0, 2]],
    ['and those whose results they read', ['errs << a | take 5', 'b', 'errs | count'], [2], [0, 2]],
    ['also in steps', ['x << a', 'y << x | take 1', 'y | count'], [2], [0, 1, 2]],
    ['the last of the same name', ['x << a', 'x << b', 'x | count'], [2], [1, 2]],
    ['a name that is used only later is none', ['x | count', 'x << a'], [0], [0]],
    ['the cell above of the last result', ['a | count', '%time 1h', '_ | take 1'], [2], [0, 2]],
    ['but none that keeps something', ['%import f.csv\nf | count', 'a | count'], [0, 1], [1]],
    ['none if nothing is pinned', ['a | count'], [], []],
  ])('%s', (_, sources, pinned, expected) => {
    expect(runOrder(sources, new Set(pinned))).toEqual(expected);
  });

  test.each<[string, readonly string[], readonly number[], readonly number[]]>([
    ['time range and parameters', ['%time last 6h', '%param n = 5', 'a | count'], [2], [0, 1]],
    ['the profile, by any of its names', ['%connect prod', '%on prod', 'a | count'], [2], [0, 1]],
    ['options of requests', ['%request --nocache', 'a | count'], [1], [0]],
    ['those below no pinned cell are left out', ['a | count', '%time last 6h'], [0], []],
    ['one that holds for its cell alone', ['%%time last 6h\na | count', 'b'], [1], []],
    ['one that only asks', ['%time', 'b'], [1], []],
    ['one that does something else too', ['%time last 6h\n%import f.csv', 'b'], [1], []],
    ['prose', ['', 'b'], [1], []],
  ])('before them, once, the cells that set something: %s', (_, sources, pinned, expected) => {
    expect(settingCells(sources, new Set(pinned))).toEqual(expected);
  });
});
