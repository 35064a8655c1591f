import { describe, expect, test } from 'vitest';
import { notices, realBench } from '../../real-bench.js';
import { type CellRun, printed, shown, traceback } from '../../session.js';

const events = (day: string, hosts: Readonly<Record<string, readonly number[]>>) =>
  Object.entries(hosts).flatMap(([host, ms]) =>
    ms.map((each, index) => ({ _time: `${day}T${10 + index}:00:00Z`, host, ms: each, load: each / 4 })),
  );

const bench = realBench({
  web: [
    ...events('2026-01-01', { a: [10, 20], b: [5], c: [9_007_199_254_740_991] }),
    ...events('2026-01-02', { a: [30, 20], b: [5, 7], d: [1] }),
    ...events('2025-12-26', { a: [1] }),
  ],
  // The day before is larger for some, smaller for others.
  many: Array.from({ length: 8 }, (_, number) =>
    ['2026-01-01', '2026-01-02'].flatMap((day, late) =>
      [10, 11].map(hour => ({
        _time: `${day}T${hour}:00:00Z`,
        host: `h${number}`,
        number,
        ms: 10 * number + (late === number % 2 ? 100 : 1),
      })),
    ),
  ).flat(),
  gaps: [
    { _time: '2026-01-01T10:00:00Z', ms: 100 },
    { _time: '2026-01-02T10:00:00Z', ms: 2, host: 'null' },
  ],
});

/** Returns the lines of the last table that a cell showed, with single spaces. */
function table(cell: CellRun): readonly string[] {
  const lines = shown(cell).at(-1)?.split('\n') ?? [];
  return lines.map(line => line.replace(/ +/g, ' ').trim()).filter(line => line !== '');
}

/** The chart data that the tests read. */
interface ChartData {
  readonly data: readonly {
    readonly name: string;
    readonly values?: readonly { readonly s: string; readonly v: number | null; readonly o?: 1 }[];
  }[];
}

const compare = (line: string, query: string, day = '2026-01-02') =>
  bench().run(`%%time ${day}\n%compare ${line}\n${query}`);

describe('%compare', () => {
  test('shows the figures of both days, the change, and rows of one day only', async () => {
    const cell = await compare('-1d', 'web | summarize n = count(), ms = sum(ms) by host | sort by host asc');
    expect(traceback(cell)).toEqual([]);
    expect(table(cell)).toEqual([
      'Note: Compared with 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z.',
      'Note: 2 of 4 rows are in only one of the two periods; in the other, their figures are 0.',
      '4 rows × 9 columns · 2026-01-02T00:00:00Z to 2026-01-03T00:00:00Z',
      'host n before_n change_n percent_n (percent) ms before_ms change_ms percent_ms (percent)',
      '──── ─ ──────── ──────── ─────────────────── ── ───────────────────── ────────────────────── ────────────────────',
      'a 2 2 0 0 50 30 20 66.6667',
      'b 2 1 1 100 12 5 7 140.0000',
      'd 1 0 1 null 1 0 1 null',
      'c 0 1 -1 -100 0 9,007,199,254,740,991 -9,007,199,254,740,991 -100.0000',
      '20 rows examined',
    ]);
  });

  test('counts a missing sum of reals as zero too', async () => {
    const cell = await compare('-1d', 'web | summarize load = sum(load) by host | sort by host asc');
    expect(table(cell).slice(1, -1)).toEqual([
      'Note: 2 of 4 rows are in only one of the two periods; in the other, their figures are 0.',
      '4 rows × 5 columns · 2026-01-02T00:00:00Z to 2026-01-03T00:00:00Z',
      'host load before_load change_load percent_load (percent)',
      '──── ───── ─────────── ─────────── ──────────────────────',
      'a 12.50 7.50 5.00 66.6667',
      'b 3.00 1.25 1.75 140.0000',
      'd 0.25 0.00 0.25 null',
      'c 0.00 2.2518e15 -2.2518e15 -100.0000',
    ]);
  });

  test.each([
    [
      'bin(load, 0.25)',
      [
        '0.25 1 0 1 null',
        '1.25 1 1 0 0',
        '1.75 1 0 1 null',
        '5.00 1 1 0 0',
        '7.50 1 0 1 null',
        '2.50 0 1 -1 -100',
      ],
    ],
    ['bin(ms, 7)', ['0 2 1 1 100', '7 1 1 0 0', '14 1 1 0 0', '28 1 0 1 null']],
  ])('matches bins of a number, of any width: %s', async (bin, rows) => {
    const query = `web | where load < 100 | summarize n = count() by ${bin}`;
    const cell = await compare('-1d', query);
    expect(traceback(cell)).toEqual([]);
    expect(table(cell).filter(line => /^[\d.]+ \d+ \d+ /.test(line))).toEqual(rows);
  });

  test('aligns earlier time bins with the later ones, in the table and in the chart', async () => {
    const cell = await compare('-1d', 'web | summarize n = count() by bin(_time, 1h), host');
    expect(table(cell).slice(5, -1)).toEqual([
      '2026-01-02T10:00:00Z a 1 1 0 0',
      '2026-01-02T10:00:00Z b 1 1 0 0',
      '2026-01-02T10:00:00Z d 1 0 1 null',
      '2026-01-02T10:00:00Z c 0 1 -1 -100',
      '2026-01-02T11:00:00Z a 1 1 0 0',
      '2026-01-02T11:00:00Z b 1 0 1 null',
    ]);
    const drawn = cell.outputs.at(-2);
    expect(drawn && 'data' in drawn && drawn.data['text/plain']).toMatch(
      /^Line chart of n, change_n for a \u00b7 the range, a \u00b7 1d before,.*; bins without rows are 0 in n\.$/,
    );
    const svg = drawn && 'data' in drawn ? String(drawn.data['image/svg+xml']) : '';
    expect(['a · the range', 'a · 1d before', '2026-01-02, UTC'].filter(text => !svg.includes(text))).toEqual(
      [],
    );
    // Labels alternate between the later period, which carries the change, and the earlier one.
    const vega = drawn && 'data' in drawn ? drawn.data['application/vnd.vega.v5+json'] : {};
    const [figures, changes] = ['rows_0', 'rows_1'].map(rows =>
      ((vega as ChartData).data.find(({ name }) => name === rows)?.values ?? []).map(
        ({ s, v, o }) => `${s} ${o === 1 ? v : 'filled'}`,
      ),
    );
    expect(figures?.filter(each => !each.endsWith('filled'))).toEqual([
      ...['l0 1', 'l0 1', 'l1 1', 'l1 1', 'l2 1', 'l2 1', 'l3 1', 'l3 0'],
      ...['l4 1', 'l5 0', 'l6 0', 'l7 1'],
    ]);
    expect(changes).toEqual([
      ...['l0 0', 'l0 0', 'l1 filled', 'l1 filled', 'l2 0', 'l2 1', 'l3 filled', 'l3 filled'],
      ...['l4 1', 'l5 filled', 'l6 -1', 'l7 filled'],
    ]);
  });

  test.each<[string, number, readonly string[]]>([
    ['by one field', 8, ['h7', 'h6', 'h5', 'h4', 'h3']],
    ['by one field with a single group', 1, ['h0']],
  ])('charts both periods of each group that it draws: %s', async (_, hosts, drawn) => {
    const cell = await compare(
      '-1d',
      `many | where number < ${hosts} | summarize n = sum(ms) by bin(_time, 1h), host`,
    );
    const chart = cell.outputs.at(-2);
    const data = chart && 'data' in chart ? chart.data : {};
    const labels = String(data['image/svg+xml']).match(/h\d \u00b7 (?:the range|1d before)/g) ?? [];
    const lines = drawn.flatMap(host => [`${host} \u00b7 the range`, `${host} \u00b7 1d before`]);
    expect([...new Set(labels)]).toEqual(lines);
    expect(String(data['text/plain']).includes('the 5 of 8 groups by host with the highest total of n')).toBe(
      hosts === 8,
    );
  });

  test('compares a single row with a week before and with a range of two times', async () => {
    const single = 'web | summarize total = sum(ms), load = avg(load)';
    expect(table(await compare('-1w', single)).slice(-3, -1)).toEqual([
      'total 63 1 62 6,200',
      'load 3.15 0.25 2.9 1,160',
    ]);
    expect(table(await compare('2026-01-01', single)).slice(-3, -1)).toEqual([
      'total 63 9,007,199,254,741,026 -9,007,199,254,740,963 -100',
      'load 3.15 562,949,953,421,314 -562,949,953,421,311 -100',
    ]);
    expect(notices(await compare('2025-12-26..2026-01-02', single)).slice(-1)).toEqual([
      'The two ranges differ in length: totals of the longer one cover more time.',
    ]);
  });

  test('becomes the last result, which the next cell can check', async () => {
    await compare('-1d', 'web | summarize n = count() by host;');
    expect(printed(await bench().run('%assert max(percent_n) <= 100'))).toBe(
      'holds:  max(percent_n) <= 100 (max(percent_n) is 100)\n',
    );
    expect(traceback(await bench().run('%compare -1d'))[0]).toBe(
      'magic: %compare: the last result is already a comparison',
    );
  });

  test('compares the last result if the cell has no query, and hides a query ending in `;`', async () => {
    await bench().run('%%time 2026-01-02\nweb | summarize n = count()');
    expect(table(await bench().run('%compare -1d')).at(-2)).toBe('5 4 1 25');
    const silent = await compare('-1d', 'web | summarize n = count();');
    expect(shown(silent).length).toBe(1);
  });

  test.each([
    [
      'other aggregates',
      '-1d',
      'web | summarize n = count(), ms = avg(ms) by host',
      'd 1 0 1 null 1 null null null',
    ],
    ['a part of the rows', '-1d', 'web | summarize n = count() by host | where n < 2', 'd 1 null null null'],
    [
      'ranges of two lengths',
      '2025-12-31..2026-01-02',
      'web | summarize n = count() by host',
      'd 1 null null null',
    ],
  ])('leaves a missing figure null: %s', async (_, line, query, row) => {
    expect(table(await compare(line, query))).toContain(row);
  });

  test.each([
    ['top', 'top 2 by n'],
    ['limit', 'take 2'],
    ['sample', 'sample 1'],
    ['where', 'where n > 1'],
    ['search', 'search "a"'],
  ])('says that a row may be beyond the `%s` of one range', async (kind, operator) => {
    const cell = await compare('-1d', `web | summarize n = count() by host | ${operator}`);
    expect(notices(cell)).toContain(
      `The query keeps only some of its rows with \`${kind}\`: a row may be null in a range that has it, because the query dropped it there.`,
    );
  });

  test('counts a missing group as 0 after operators that keep every row', async () => {
    const columns = 'extend x = "x" | project host, n, x | project-away x | project-keep host, n';
    const order = 'project-rename k = n | project-reorder k | sort by k | serialize | as t | render table';
    const cell = await compare('-1d', `web | summarize n = count() by host | ${columns} | ${order}`);
    expect(notices(cell)).toEqual([
      'Compared with 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z.',
      '2 of 4 rows are in only one of the two periods; in the other, their figures are 0.',
    ]);
  });

  test('gives new fields unique names', async () => {
    await compare('-1d', 'web | summarize a = count(), before_a = count(), a_2 = count();');
    expect(printed(await bench().run('%assert max(before_a_2) == max(before_a_2_2)'))).toBe(
      'holds:  max(before_a_2) == max(before_a_2_2) (max(before_a_2) is 4, max(before_a_2_2) is 4)\n',
    );
  });

  test('compares each of nine rows, with null if the earlier period has none', async () => {
    const rows = 'number < 4 or number == 4 and _time % 1d < 11h';
    const there = 'number > 0 or _time >= datetime(2026-01-02)';
    const cell = await compare(
      '-1d',
      `many | where (${rows}) and (${there}) | summarize ms = max(ms) by bin(_time, 1h), host`,
    );
    const both = ['h0 1 null null null', 'h1 110 11 99 900.0000', 'h2 21 120 -99 -82.5000'];
    const hours = [10, 11].flatMap(hour =>
      [...both, 'h3 130 31 99 319.3548'].map(row => `2026-01-02T${hour}:00:00Z ${row}`),
    );
    expect(table(cell).slice(5, -1)).toEqual(
      hours.toSpliced(4, 0, '2026-01-02T10:00:00Z h4 41 140 -99 -70.7143'),
    );
  });

  test.each([
    ['-1d', 'web | project host, ms', 'there is no key to match the rows by'],
    ['-1d', 'web | summarize make_list(ms) by host', 'the result has no figures to compare'],
    [
      '-1d',
      'web | summarize n = count() by bin(_time, 7h)',
      'the two periods are not a whole number of bins apart, so their bins cannot be matched',
    ],
    [
      '2025-12-26..2026-01-02',
      'web | summarize n = count() by bin_auto(_time)',
      'the bins of the two periods differ in length',
    ],
    [
      '-1d',
      'web | summarize n = count() by host | project n',
      'the query drops host, which its rows are grouped by',
    ],
    ['-1d --key nope', 'web | summarize n = count() by host', 'the result has no field nope'],
    [
      'last 1d',
      'web | count',
      'last 1d is neither a duration with a minus, such as -1d, nor a range of two times',
    ],
    [
      '-1d',
      'print n = 1\n\n_ | count',
      'the query reads the named result _, which has no rows from an earlier time',
    ],
    ['1d', 'web | count', '1d is neither a duration with a minus, such as -1d, nor a range of two times'],
  ])('refuses %s of %s', async (line, query, message) => {
    expect(traceback(await compare(line, query))[0]).toBe(`magic: %compare: ${message}`);
  });

  test.each<[string, string, number]>([
    ['over time, both periods', 'web | summarize n = count() by bin(_time, 1h)', 2],
    [
      'not at all if the cell says `@viz none`',
      '// @viz none\nweb | summarize n = count() by bin(_time, 1h)',
      1,
    ],
    ['not at all if it is by name', 'web | summarize n = count() by host', 1],
    ['by name if the cell requests it', '// @viz bar\nweb | summarize n = count() by host', 2],
  ])('charts the result %s', async (_, query, outputs) => {
    const cell = await compare('-1d', `${query};`);
    expect(traceback(cell)).toEqual([]);
    expect(cell.outputs.filter(output => 'data' in output).length).toBe(outputs);
  });

  test('does not match null with the string "null"', async () => {
    const cell = await compare('-1d', 'gaps | summarize ms = sum(ms) by host');
    expect(notices(cell)).toContain(
      '2 of 2 rows are in only one of the two periods; in the other, their figures are 0.',
    );
    expect(table(cell).slice(-3, -1)).toEqual(['"null" 2 0 2 null', 'null 0 100 -100 -100']);
  });

  test.each([
    ['n = count(), ms = sum(ms)', 'their figures are 0'],
    ['ms = avg(ms)', 'their figures are null'],
    ['n = count(), ms = avg(ms)', 'their counts and sums are 0, and their other figures are null'],
  ])('names the value of %s for a group without rows', async (figures, said) => {
    const cell = await compare('-1d', `web | summarize ${figures} by host`);
    expect(notices(cell)).toContain(`2 of 4 rows are in only one of the two periods; in the other, ${said}.`);
  });

  test('names non-numeric fields as code, ten at most', async () => {
    const field = (name: string) => `['${name}'] = make_list(ms)`;
    const one = await compare('-1d', `web | summarize ${field('a, b\u202e')}, n = count() by host`);
    expect(notices(one)).toContain('Not compared because they are not numbers: `a, b⟨U+202E⟩`.');
    const names = Array.from({ length: 12 }, (_, index) => field(`f${index}`));
    const many = await compare('-1d', `web | summarize ${names.join(', ')}, n = count() by host`);
    expect(notices(many).at(-1)).toBe(
      'Not compared because they are not numbers: `f0`, `f1`, `f2`, `f3`, `f4`, `f5`, `f6`, `f7`, `f8`, `f9` and 2 more.',
    );
  });

  test('matches rows with the same key in order', async () => {
    const cell = await compare(
      '-1d --key host',
      'web | where host in ("a", "b") | sort by host asc, _time asc | project host, ms',
    );
    expect(table(cell).slice(-5, -1)).toEqual([
      'a 30 10 20 200',
      'a 20 20 0 0',
      'b 5 5 0 0',
      'b 7 null null null',
    ]);
  });

  test('matches rows by --key if there are no groups', async () => {
    const cell = await compare('-1d --key host', 'web | where host in ("b", "d") | project host, load');
    expect(table(cell).slice(-3, -1)).toEqual(['d 0.25 null null null', 'b 1.25 null null null']);
  });
});
