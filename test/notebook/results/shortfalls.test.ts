import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NotebookOutput } from '../../../kernel/headless/notebook.js';
import { notebookPage } from '../../../kernel/headless/report/page.js';
import { notices, realBench } from '../real-bench.js';
import { type CellRun, printed, shown, traceback } from '../session.js';
import { metadata } from './rows.js';

/** 1,500 events in 25 hours, one a minute: the default limit leaves out the first 500 minutes. */
const events = Array.from({ length: 1500 }, (_, minute) => ({
  _time: new Date(Date.UTC(2026, 2, 4) + minute * 60_000).toISOString(),
  n: minute,
  host: minute % 2 === 0 ? 'a' : 'b',
}));

const bench = realBench({ web: events });
const range = '%%time 2026-03-04..2026-03-06\n';
const run = (code: string) => bench().run(range + code);

const cut = '`z` holds the first 1,000 of 1,500 rows (the default limit)';
const whole = 'All of them: `z << web | extend m = n | limit 1500`.';
const sentence = `${cut}. ${whole}`;

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-cut-'));
  await run('z << web | extend m = n');
  await run('whole << web | summarize n = count() by host');
});
afterAll(() => rm(directory, { recursive: true }));

/** Everything that a cell printed and showed, with the notices above its tables. */
function said(cell: CellRun): string {
  expect(traceback(cell)).toEqual([]);
  return [printed(cell), ...notices(cell), ...shown(cell)].join('\n');
}

/** Whatever reads a result: a cell that reads `z`, and what of it names the cut. */
const readers: Readonly<Record<string, () => Promise<string>>> = {
  'a query': async () => notices(await run('z | summarize count()')).join('\n'),
  'a query of a query': async () => {
    await run('y << z | where n > 600');
    return notices(await run('y | count')).join('\n');
  },
  'a query by let': async () => notices(await run('let t = z;\nt | count')).join('\n'),
  'a join': async () => notices(await run('web | join kind=inner (z) on n | count')).join('\n'),
  'a union': async () => notices(await run('union z, web | count')).join('\n'),
  'a list of in': async () => notices(await run('web | where n in ((z | project n)) | count')).join('\n'),
  'a chart over time': async () => chartText(await run('z | summarize count() by bin(_time, 1h)')),
  'a chart by name': async () => chartText(await run('z | summarize count() by host')),
  'a chart of one number': async () => chartText(await run('// @viz stat\nz | summarize count()')),
  'a picture': async () => picture(await run('z | summarize count() by host')),
  '%viz': async () => {
    await run('named << z | summarize n = count() by host;');
    return chartText(await run('%viz bar --from named'));
  },
  '%export': async () => {
    await run('part << z | project n;');
    return said(await run(`%export ${join(directory, 'part.csv')} --from part`));
  },
  '%assert': async () => printed(await run('%assert rows > 1\nz | summarize count() by host')),
  'a failed %assert': async () =>
    traceback(await run('%assert rows > 5\nz | summarize count() by host')).join('\n'),
  '%diff': async () => {
    await run('other << z | extend m = n | limit 1000');
    return said(await run('%diff z other --key n'));
  },
  '%results': async () =>
    `\`z\` holds ${/the first 1,000 of 1,500 rows \(the default limit\)/.exec(said(await run('%results z')))?.[0]}`,
  'provenance of a table': async () =>
    JSON.stringify((metadata(await run('z | count')) as { shortfalls: unknown }).shortfalls),
  'an outline without data': async () => shown(await run('%retain off\nz | count')).join('\n'),
  'a report': async () => {
    await run('%retain on');
    const { outputs } = await run('z | count');
    const kept = outputs.flatMap((each): NotebookOutput[] =>
      'data' in each ? [{ output_type: 'display_data', data: each.data, metadata: each.metadata }] : [],
    );
    const page = notebookPage(
      {
        cells: [{ cell_type: 'code', source: 'z | count', outputs: kept, metadata: {}, execution_count: 1 }],
        metadata: {},
        nbformat: 4,
        nbformat_minor: 5,
      },
      { title: 'R' },
    );
    return (
      /<dt>Incomplete<\/dt><dd>1 of 1 outputs: ([^<]*)/.exec(page)?.[1]?.replaceAll('&#96;', '`') ?? page
    );
  },
  'a result as an expression': async () => {
    await run('w << z | count');
    const { outcome } = await bench().run('%results', { expressions: { w: 'w' } });
    return JSON.stringify(outcome);
  },
};

function chartText({ outputs, outcome }: CellRun): string {
  const chart = outputs.find(each => 'data' in each && 'image/svg+xml' in each.data);
  return chart !== undefined && 'data' in chart ? String(chart.data['text/plain']) : JSON.stringify(outcome);
}

/** The texts of a picture, joined. */
function picture({ outputs }: CellRun): string {
  const chart = outputs.find(each => 'data' in each && 'image/svg+xml' in each.data);
  const svg = chart !== undefined && 'data' in chart ? String(chart.data['image/svg+xml']) : '';
  return [...svg.replace(/<(?:title|desc)[^>]*>[^<]*<\/(?:title|desc)>/g, '').matchAll(/>([^<]+)</g)]
    .map(([, text]) => text)
    .join(' ');
}

describe('what reads a result that a limit cut says so:', () => {
  test.each(Object.keys(readers))('%s', async name => {
    expect((await readers[name]?.())?.toLowerCase()).toContain(cut.toLowerCase());
  });
});

test('the notice has the query that fetches all of them, above the result itself too', async () => {
  expect(notices(await run('z | summarize count()'))).toEqual([sentence]);
  expect(notices(await run('z << web | extend m = n\n\nz | count')).join()).toContain(whole);
  expect(notices(await run('web | extend m = n')).join()).not.toContain('All of them');
  expect(notices(await run('_ | count')).join()).toContain('All of them: `web | extend m = n | limit 1500`.');
  await run('z3 << web | extend m = n | limit 1500');
  expect(notices(await run('z3 | count'))).toEqual([]);
});

describe('a chart over time of a result that was cut', () => {
  test('begins and ends with its rows', async () => {
    const cell = await run('z | summarize count() by bin(_time, 1h)');
    expect(metadata(cell)).toMatchObject({
      startTime: '2026-03-04T08:20:00Z',
      endTime: '2026-03-05T00:59:00.000000001Z',
    });
    expect(chartText(cell)).toBe(
      'Bar chart of count_; over time from 2026-03-04 08:20:00 to 2026-03-05 00:59:00 UTC; count_: lowest 40 at 2026-03-04 08:00:00, highest 60 at 2026-03-04 09:00:00; `z` holds the first 1,000 of 1,500 rows (the default limit); the first and the last bin are partial.',
    );
  });

  test('shows gaps and no zeros where rows in between may be missing', async () => {
    await run('sparse << web | where n % 200 == 0 | sort by n * 7 % 1000 desc | limit 4');
    expect(chartText(await run('sparse | summarize count() by bin(_time, 1h)'))).toContain(
      'bins the result leaves out are gaps in count_',
    );
    await run('newest << web | where n % 200 == 0 | limit 4');
    expect(chartText(await run('newest | summarize count() by bin(_time, 1h)'))).toContain(
      'bins without rows are 0 in count_',
    );
    expect(chartText(await run('union newest, sparse | summarize count() by bin(_time, 1h)'))).toContain(
      'bins the result leaves out are gaps in count_',
    );
  });
});

describe('what a query leaves out by its own text is said to those that read it:', () => {
  test.each([
    ['web | limit 5', '`z` holds the first 5 of 1,500 rows (`limit 5`).'],
    ['web | take 5 | project n', '`z` holds the first 5 of 1,500 rows (`take 5`).'],
    ['web | top 3 by n', '`z` holds the first 3 of 1,500 rows (`top 3 by n`).'],
    ['web | limit 5 | where n > 0', '`z` holds what is left of 5 rows at most (`limit 5`).'],
    [
      'web | limit 700 | summarize n = count() by host',
      '`z` holds what is left of 700 rows at most (`limit 700`).',
    ],
    ['web | summarize n = count() by n | limit 7', '`z` holds the first 7 rows (`limit 7`).'],
    ['web | summarize n = count() by host | limit 7', undefined],
    ['web | where n < 5 | limit 5', undefined],
    ['web | sample 0.5', '`z` holds a sample (`sample 0.5`).'],
    ['web | sample 0.5 | summarize count()', '`z` holds a sample (`sample 0.5`).'],
  ])('%s', async (query, expected) => {
    await run(`z << ${query};`);
    expect(notices(await run('z | count'))).toEqual(expected === undefined ? [] : [expected]);
    await run('z << web | extend m = n');
  });

  test('a sample in its own chart too', async () => {
    expect(chartText(await run('web | sample 0.5 | summarize count() by host'))).toContain(
      'the result holds a sample (`sample 0.5`)',
    );
  });
});

test('a comparison names the period whose rows are not all', async () => {
  const cell = await bench().run(
    '%%time 2026-03-05..2026-03-06\n%compare -1d\n%%limit 50\nweb | summarize n = count() by n2 = n',
  );
  expect(notices(cell).filter(text => text.includes('holds'))).toEqual([
    '`1d before` holds the first 50 of more rows (the limit set by %limit).',
  ]);
});
