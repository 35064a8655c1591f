import { describe, expect, test } from 'vitest';
import { EXPLAINED_MIME, explainedReference } from '../../../../kernel/apl/editor/editor-events.js';
import { realBench } from '../../real-bench.js';
import { type CellRun, shown, traceback } from '../../session.js';

const events = Array.from({ length: 400 }, (_, index) => ({
  _time: `2026-01-01T${10 + Math.floor(index / 60)}:${String(index % 60).padStart(2, '0')}:00Z`,
  region: index % 4 === 0 ? 'GRU' : 'FRA',
  'user.plan': index % 3 === 0 ? 'it\'s "pro"' : 'free',
  code: index % 5,
  ms: (index % 4 === 0 ? 900 : 10) + index / 1000,
  bad: index % 4 === 0,
  odd: index % 3 === 0,
  third: index % 5 === 2,
  free: (index * 7919) % 11 < 3,
}));

const lines = events.map(({ _time, bad }, index) => ({
  ...{ _time, bad, said: `job ${index} ${bad ? 'got deadlock' : 'done'} after ${index * 7} ms` },
  tags: [`t${index}`, ...(bad ? ["it's"] : [])],
  ...{ roles: [`r${index}`, ...(bad ? [] : ['auth'])], host: `${bad ? '10.2' : '10.14'}.${index}.1`, index },
}));

const bench = realBench({ web: events, lines });

/** Returns the query that a cell suggests next. */
function onward(cell: CellRun): string {
  return (shown(cell).at(-1) ?? '').replace(/^[\s\S]*Continue with:\n/, '');
}

/** Runs a cell over the day of the events, then counts the rows of the query it suggests; returns that query and the count. */
async function goneOn(cell: string): Promise<readonly [onward: string, rows: string]> {
  const run = await bench().run(`%%time 2026-01-01\n${cell}`);
  expect(traceback(run)).toEqual([]);
  const query = onward(run);
  const next = await bench().run(`%%time 2026-01-01\n${query} | count`);
  expect(traceback(next)).toEqual([]);
  return [
    query,
    shown(next)
      .at(-1)
      ?.match(/^\s*(\d+)\s*$/m)?.[1] ?? '',
  ];
}

describe('%explain', () => {
  test('explains the events behind the last result, over the same range', async () => {
    await bench().run(
      '%%time 2026-01-01T10:00Z..2026-01-01T12:00Z\nweb | where code < 9 | summarize count() by region | take 1',
    );
    const cell = await bench().run('%explain bad');
    expect(traceback(cell)).toEqual([]);
    const [chart, table] = shown(cell);
    expect(chart).toMatch(
      /^Shares of region, ms; 100% of the selected events have region = GRU, 0% of the others;/,
    );
    expect(table).toContain('2026-01-01T10:00:00Z to 2026-01-01T12:00:00Z');
    expect(onward(cell)).toBe('web | where code < 9\n| where bad\n| where region == "GRU"');
    const given = cell.outputs.flatMap(each => ('data' in each ? [each.data[EXPLAINED_MIME]] : [])).at(-1);
    expect(explainedReference(given)).toEqual({
      ...{ events: 'web | where code < 9', condition: 'bad', found: 'region == "GRU"' },
      ...{ startTime: '2026-01-01T10:00:00Z', endTime: '2026-01-01T12:00:00Z', profile: 'local' },
    });
    expect(explainedReference({ ...(given as object), condition: 'bad\n%drop web' })).toBeUndefined();
    const kept = await bench().run('_ | project field = tostring(spotlight_[0].field)');
    expect(shown(kept).at(-1)).toMatch(/^region$/m);
  });

  test('explains the query of its cell', async () => {
    const cell = await bench().run(
      '%%time 2026-01-01\n%explain odd\nweb | project region, plan = ["user.plan"], odd',
    );
    expect(traceback(cell)).toEqual([]);
    expect(onward(cell)).toBe(
      'web | project region, plan = ["user.plan"], odd\n| where odd\n| where plan == "it\'s \\"pro\\""',
    );
  });

  test.each<[string, string, string, string]>([
    [
      'a string in a field with a dot',
      '%explain web | where odd',
      `| where ['user.plan'] == "it's \\"pro\\""`,
      '134',
    ],
    ['a number', '%explain ["web"] | where code >= 0 | where third', '| where code == 2', '80'],
    ['a condition after a dataset name', '%explain web where third', '| where code == 2', '80'],
    ['a range', '%explain web | project ms, bad | where bad', '| where ms >= 10.373', '100'],
    ['a word', '%explain lines | project said, bad | where bad', '| where said has "deadlock"', '100'],
    [
      'an array element',
      '%explain lines | project tags, bad | where bad',
      '| where set_has_element(tags, "it\'s")',
      '100',
    ],
    [
      'a missing array element',
      '%explain lines | project roles, bad | where bad',
      '| where not(coalesce(set_has_element(roles, "auth"), false))',
      '100',
    ],
    [
      'a prefix',
      '%explain lines | project host, bad | where bad',
      '| where host startswith_cs "10.2."',
      '100',
    ],
    [
      'a map member',
      `%explain lines | project bad, o = bag_pack('n', index, 'a "b', iff(bad, 1, 2)) | where bad`,
      '| where tostring(o["a \\"b"]) == "1"',
      '100',
    ],
  ])('suggests a query that runs and finds the events of %s', async (_, cell, last, rows) => {
    const [query, found] = await goneOn(cell);
    expect(query.split('\n').at(-1)).toBe(last);
    expect(found).toBe(rows);
  });

  test('explains the query below %%explain instead of running it, with its parameters and statements', async () => {
    await bench().run('%param most = 3');
    const cell = await bench().run(
      '%%time 2026-01-01\n%%explain third\nlet least = 0;\nweb\n| where code between (least .. most)\n| summarize count() by region',
    );
    expect(traceback(cell)).toEqual([]);
    expect(shown(cell).join('\n')).not.toContain('count_');
    expect(onward(cell)).toMatch(
      /\| where code between \(least \.\. most\)\n\| where third\n\| where code == 2$/,
    );
  });

  test('explains the rows of a named result', async () => {
    await bench().run('%%time 2026-01-01\nkept << web | where code != 4');
    const cell = await bench().run('%explain kept where third');
    expect(traceback(cell)).toEqual([]);
    expect(onward(cell)).toBe('kept\n| where third\n| where code == 2');
  });

  test('suggests no query if the differences may be chance', async () => {
    const cell = await bench().run('%%time 2026-01-01\n%explain web | project region, free | where free');
    expect(traceback(cell)).toEqual([]);
    expect(shown(cell).at(-1)).toContain(
      'No field distinguishes the selected events from the others better than chance.',
    );
    expect(shown(cell).join()).not.toContain('Go on');
  });

  test.each<[string, string, string]>([
    ['a missing condition', '%explain', '%explain: give a condition, such as status == "500"'],
    ['two conditions', '%explain web | where bad, odd', '%explain: '],
    ['an unclosed bracket', '%explain web where (bad', '%explain: '],
    ['a missing query below %%explain', '%%explain bad', '%explain: write one query below it'],
    [
      'a query without a final `where`',
      '%explain web | take 5',
      '%explain: the line must end with `where` and the condition',
    ],
  ])('refuses %s', async (_, cell, message) => {
    expect(traceback(await bench().run(cell))[0]).toContain(message);
  });

  test('refuses a last result that was itself computed from an older `_`', async () => {
    await bench().run('%%time 2026-01-01\nweb | take 9');
    await bench().run('_ | count');
    expect(traceback(await bench().run('%explain bad'))[0]).toContain(
      'reads `_`, which is now a different result',
    );
  });
});
