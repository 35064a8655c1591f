import { describe, expect, test } from 'vitest';
import { assertResult } from '../../../../kernel/notebook/assertion.js';
import { sampleResult } from '../../../result/sample.js';
import { realBench } from '../../real-bench.js';
import { printed, shown, traceback } from '../../session.js';

const bench = realBench({
  web: [
    { _time: '2026-01-02T10:00:00Z', host: 'a', ms: 5, load: 0.25, user: 'x' },
    { _time: '2026-01-02T11:00:00Z', host: 'b', ms: 50, load: 0.5, user: null },
    { _time: '2026-01-02T12:00:00Z', host: 'b', ms: 9_007_199_254_740_991, load: 1.5, user: 'y' },
  ],
});
const query = 'web | project _time, host, ms, load, user, took = 1s * load';
const run = (condition: string, apl = query) =>
  bench().run(`%%time 2026-01-02\n%assert ${condition}\n${apl}`);

describe('%assert', () => {
  test.each([
    ['rows > 0', 'rows is 3'],
    ['rows == 3 and columns <= 6', 'rows is 3, columns is 6'],
    ['not(rows > 5) or rows < 0', 'rows is 3'],
    ['no_nulls(host)', 'no_nulls(host) is true'],
    ['nulls(user) == 1', 'nulls(user) is 1'],
    ['unique(ms)', 'unique(ms) is true'],
    ['dcount(host) == 2', 'dcount(host) is 2'],
    ['max(ms) == 9007199254740991', 'max(ms) is 9007199254740991'],
    ['sum(load) > 2.2', 'sum(load) is 2.25'],
    ['avg(load) == 0.75', 'avg(load) is 0.75'],
    ['min(host) == "a"', 'min(host) is a'],
    ['max(_time) < datetime(2026-01-03)', 'max(_time) is 2026-01-02T12:00:00Z'],
    ['max(took) < 2s', 'max(took) is 1.5s'],
    ["max(['load']) - 0 > 1", ''],
  ])('%s', async (condition, figures) => {
    const cell = await run(condition);
    if (figures === '') expect(traceback(cell)[0]).toContain('is not a check of a result');
    else expect([traceback(cell), printed(cell).trim()]).toEqual([[], `holds:  ${condition} (${figures})`]);
  });

  test.each([
    ['rows > 5', 'rows > 5 (rows is 3)'],
    ['max(ms) < 9007199254740991', 'max(ms) < 9007199254740991 (max(ms) is 9007199254740991)'],
    ['no_nulls(user)', 'no_nulls(user) (no_nulls(user) is 1 null in 3 rows, the first in row 2)'],
    ['unique(host)', 'unique(host) (unique(host) is 2 distinct in 3 rows, b repeated)'],
    ['rows > 0 and max(load) < 1', 'rows > 0 and max(load) < 1 (rows is 3, max(load) is 1.5)'],
  ])('%s fails the cell with the figures', async (condition, message) => {
    const cell = await run(condition);
    expect([traceback(cell)[0], cell.outputs.filter(({ kind }) => kind === 'result').length]).toEqual([
      `assertion: does not hold: ${message}`,
      1,
    ]);
  });

  test('rounds figures if it holds, and shows them exactly if not', async () => {
    const thirds = 'web | project third = 39200 / 3.0';
    expect(printed(await run('max(third) > 1 and max(third) < 1e5', thirds))).toBe(
      'holds:  max(third) > 1 and max(third) < 1e5 (max(third) is 13066.67)\n',
    );
    expect(traceback(await run('max(third) < 13066.67 and max(third) > 13067', thirds))[0]).toBe(
      'assertion: does not hold: max(third) < 13066.67 and max(third) > 13067 (max(third) is 13066.666666666666)',
    );
  });

  test('checks a result without rows', async () => {
    const none = `${query} | where host == "z"`;
    expect(traceback(await run('max(ms) < 5', none))[0]).toBe(
      'assertion: does not hold: max(ms) < 5 (max(ms) is null, because it has no value)',
    );
    expect(traceback(await run('avg(ms) < 5', none))[0]).toBe(
      'assertion: does not hold: avg(ms) < 5 (avg(ms) is null, because it has no value)',
    );
    expect(traceback(await run('rows == 0 and no_nulls(ms)', none))).toEqual([]);
  });

  test.each(['["NaN", 5]', '[5, "NaN"]'])('compares with NaN as unequal, wherever it is: %s', cells => {
    const result = sampleResult([{ columns: [['x', 'float', cells]] }]);
    for (const condition of ['max(x) == 5', 'max(x) <= 5', 'min(x) >= 5', 'sum(x) < 100', 'avg(x) > 0'])
      expect(() => assertResult(condition, result)).toThrow(
        `does not hold: ${condition} (${condition.slice(0, 6)} is NaN)`,
      );
    expect(assertResult('max(x) != 5', result)).toBe('max(x) is NaN');
  });

  test('shows the average of durations and times as such', async () => {
    const condition = 'avg(took) < 5m and avg(_time) < datetime(2026-01-03)';
    expect(printed(await run(condition))).toBe(
      `holds:  ${condition} (avg(took) is 750ms, avg(_time) is 2026-01-02T11:00:00Z)\n`,
    );
  });

  test.each([
    ['rows >', 'cannot be parsed'],
    ['max(nope) > 1', 'the result has no field nope'],
    ['max(ms, load) > 1', 'a function takes one field here'],
    ['median(ms) > 1', '`median(ms)` is not a check of a result'],
    ['rows', '`rows` is not a check of a result'],
    ['max(ms) == "many"', 'a string is compared with a number'],
    ['rows > 0; print 1', 'cannot be parsed'],
  ])('refuses %s', async (condition, message) => {
    expect(traceback(await run(condition))[0]).toContain(message);
  });

  test('checks the last result if the cell has no query', async () => {
    await bench().run(`%%time 2026-01-02\n${query} | limit 2`);
    expect(printed(await bench().run('%assert rows == 2'))).toBe(
      'holds:  rows == 2 (rows is 2) The result contains the first 2 rows (`limit 2`).\n',
    );
  });
});

describe('%diff', () => {
  test('matches rows by their group key and shows changed, added and removed ones', async () => {
    await bench().run('%%time 2026-01-02\na << web | summarize n = count(), load = sum(load) by host');
    await bench().run(
      '%%time 2026-01-02\nb << web | where ms > 5 | extend host = iff(load > 1, "c", host) | summarize n = count(), load = sum(load) by host',
    );
    const text = shown(await bench().run('%diff a b'))[0];
    expect(text?.split('\n').map(line => line.replace(/ +/g, ' ').trim())).toEqual([
      'a -> b: rows: 1 changed, 1 added, 1 removed, 0 the same',
      '',
      'row host n load',
      'removed a 1 0.25',
      'changed b 2 → 1 2 → 0.5',
      'added c 1 1.5',
    ]);
    expect(shown(await bench().run('%diff a a'))).toEqual(['a and a are the same: 2 rows']);
  });

  test.each<[what: string, before: string, after: string, options: string, lines: readonly string[]]>([
    [
      'values that become null, and nulls that get a value',
      'project ms, user',
      'project ms = case(ms == 5, 50, ms == 50, 5, ms), user',
      '--key ms',
      ['row ms user', 'changed 50 null \u2192 x', 'changed 5 x \u2192 null'],
    ],
    [
      'keys that are null',
      'project user, ms',
      'project user, ms = ms + 1 | where ms < 100',
      '--key user',
      ['row user ms', 'removed y 9007199254740991', 'changed null 50 \u2192 51', 'changed x 5 \u2192 6'],
    ],
    [
      'nulls of rows that are only in one',
      'where ms < 100 | project ms, user',
      'where ms > 5 and ms < 100 | extend ms = ms + 1 | project ms, user',
      '--key ms',
      ['row ms user', 'removed 50 null', 'removed 5 x', 'added 51 null'],
    ],
  ])('shows %s', async (_, before, after, options, lines) => {
    await bench().run(`%%time 2026-01-02\na << web | ${before}\n\nb << web | ${after}`);
    const text = shown(await bench().run(`%diff a b ${options}`))[0];
    const table = text?.split('\n').map(line => line.replace(/ +/g, ' ').trim());
    expect(table?.slice(2)).toEqual(lines);
  });

  test('shows fields with the names of members that every object has', async () => {
    await bench().run(
      'a << datatable(k: long, constructor: string, v: long)[1, "same", 1]\n\nb << datatable(k: long, constructor: string, v: long)[1, "same", 2, 2, "new", 3]',
    );
    const text = shown(await bench().run('%diff a b --key k'))[0];
    expect(
      text
        ?.split('\n')
        .map(line => line.replace(/ +/g, ' ').trim())
        .slice(2),
    ).toEqual(['row k constructor v', 'changed 1 1 → 2', 'added 2 new 3']);
  });

  test('treats numbers within the tolerance as equal', async () => {
    await bench().run('a << print x = 1.0\n\nb << print x = 1.01');
    expect(shown(await bench().run('%diff a b --tolerance 0.01'))).toEqual(['a and b are the same: 1 row']);
    expect(shown(await bench().run('%diff a b --tolerance 0.009'))[0]).toContain('0 the same');
  });

  test.each([
    ['%diff a nope', '%diff: there is no result nope'],
    ['%diff a b --key x', '%diff: a has no field x'],
    ['%diff a b --tolerance 2', '%diff: --tolerance is a number from 0 to less than 1'],
  ])('refuses %s', async (line, message) => {
    await bench().run('a << print n = 1\n\nb << print n = 2');
    expect(traceback(await bench().run(line))[0]).toBe(`magic: ${message}`);
  });
});
