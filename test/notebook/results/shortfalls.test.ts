import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NotebookOutput } from '../../../kernel/headless/notebook.js';
import { notebookPage } from '../../../kernel/headless/report/page.js';
import * as chartKinds from '../../../kernel/result/chart/kinds/kind-list.js';
import { exportFormats } from '../../../kernel/result/export/export-formats.js';
import type { Shortfall } from '../../../kernel/result/result.js';
import { notices, realBench } from '../real-bench.js';
import { type CellRun, printed, shown, traceback } from '../session.js';
import { metadata } from './rows.js';

/** 1,500 events in 25 hours, one per minute: the default limit omits the first 500 minutes. */
const events = Array.from({ length: 1500 }, (_, minute) => ({
  _time: new Date(Date.UTC(2026, 2, 4) + minute * 60_000).toISOString(),
  n: minute,
  host: minute % 2 === 0 ? 'a' : 'b',
}));

/** Status of these datasets, as a hosted service would report it. */
const reported: Readonly<Record<string, object>> = { part: { isPartial: true }, rough: { isEstimate: true } };

const bench = realBench({ web: events, part: events, rough: events }, { status: reported });
const range = '%%time 2026-03-04..2026-03-06\n';
const run = (code: string) => bench().run(range + code);

const query = 'web | extend m = n';
const cut = '`z` contains the first 1,000 rows, not all of them (the default limit)';
const whole = `All of them: \`%%fetch --all\` above \`z << ${query}\`.`;
const sentence = `${cut}. ${whole}`;

/** Cells that leave `z` with fewer rows than there are, and the notice about it, by kind of shortfall. */
const kinds: Readonly<Record<Shortfall['kind'], readonly [cells: readonly string[], said: string]>> = {
  cut: [[`z << ${query}`], cut],
  sampled: [['z << web | sample 0.9 | extend m = n | limit 1600'], '`z` contains a sample (`sample 0.9`)'],
  partial: [
    ['z << part | extend m = n | limit 1600'],
    '`z` contains only part of the rows: the service did not read all data in the range',
  ],
  estimated: [
    ['z << rough | extend m = n | limit 1600'],
    '`z` contains an estimate: the service did not count every row',
  ],
  replayed: [
    [
      '%cache record DIR/answers\nz << web | extend m = n | limit 1600',
      '%cache replay DIR/answers\nz << web | extend m = n | limit 1600',
      '%cache off',
    ],
    '`z` contains a recorded response, as of 2026-03-04T05:06:07.123456789Z',
  ],
};

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-cut-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function keep(kind: Shortfall['kind']): Promise<void> {
  for (const cell of kinds[kind][0])
    expect(traceback(await run(cell.replaceAll('DIR', directory)))).toEqual([]);
  await run('whole << web | summarize n = count() by host');
}

/** Returns everything that a cell printed and showed, with the notices above its tables. */
function said(cell: CellRun): string {
  expect(traceback(cell)).toEqual([]);
  return [printed(cell), ...notices(cell), ...shown(cell)].join('\n');
}

async function chartOf(kind: string): Promise<string> {
  const asked = chartQueries[kind] ?? 'z | summarize count() by host';
  return chartText(await run(`// @viz ${kind}\n${asked}`));
}

/** Queries for the chart kinds that do not draw counts by name. */
const chartQueries: Readonly<Record<string, string>> = {
  line: 'z | summarize count() by bin(_time, 1h)',
  area: 'z | summarize count() by bin(_time, 1h), host',
  heat: 'z | summarize histogram(n, 10) by bin(_time, 1h)',
  scatter: 'z | project m, n | limit 100',
  shares: 'z | summarize spotlight(n > 900, m)',
  stat: 'z | summarize count()',
};

/** Everything that reads a result: each runs a cell that reads `z` and returns the text that names the shortfall. */
const readers: Readonly<Record<string, () => Promise<string>>> = {
  'a query': async () => notices(await run('z | summarize count()')).join('\n'),
  'a query of a query': async () => {
    await run('y << z | where n > 600');
    return notices(await run('y | count')).join('\n');
  },
  'a query by `let`': async () => notices(await run('let t = z;\nt | count')).join('\n'),
  'a join': async () => notices(await run('web | join kind=inner (z) on n | count')).join('\n'),
  'a union': async () => notices(await run('union z, web | count')).join('\n'),
  'a lookup': async () => notices(await run('whole | lookup (z) on n | count')).join('\n'),
  'a list of `in`': async () => notices(await run('web | where n in ((z | project n)) | count')).join('\n'),
  ...Object.fromEntries(Object.keys(chartKinds).map(kind => [`a chart: ${kind}`, () => chartOf(kind)])),
  'a static image': async () => svgText(await run('z | summarize count() by host')),
  'a grid': async () => {
    const { result } = metadata(await run('z | project n')) as {
      readonly result: { readonly id: string };
    };
    return noted(result.id);
  },
  '`%viz`': async () => {
    await run('named << z | summarize n = count() by host;');
    return chartText(await run('%viz bar --from named'));
  },
  ...Object.fromEntries(
    exportFormats.map(({ endings: [extension = ''] }) => [
      `\`%export\` to .${extension}`,
      async () => {
        await run('rest << z | project n;');
        return said(await run(`%export ${join(directory, `rest.${extension}`)} --from rest --force`));
      },
    ]),
  ),
  '`%assert`': async () => printed(await run('%assert rows > 1\nz | summarize count() by host')),
  'a failed `%assert`': async () =>
    traceback(await run('%assert rows > 5\nz | summarize count() by host')).join('\n'),
  '`%diff`': async () => {
    await run('other << web | extend m = n | limit 1000');
    return said(await run('%diff z other --key n'));
  },
  '`%results`': async () => said(await run('%results z')),
  'provenance of a table': async () =>
    JSON.stringify((metadata(await run('z | count')) as { shortfalls: unknown }).shortfalls),
  'an output without data': async () => shown(await run('%%retain off\nz | count')).join('\n'),
  'a report': async () => reportOf(await run('z | count')),
  'a result as an expression': async () => {
    await run('w << z | count');
    const { outcome } = await bench().run('%results', { expressions: { w: 'w' } });
    return JSON.stringify(outcome);
  },
};

/** Normalizes words for any format: some drop the backticks, some begin a sentence. */
function plain(text: string): string {
  return text.replaceAll('`', '').toLowerCase();
}

/** Resolves with the notes that a grid receives when it opens a result. */
function noted(result: string): Promise<string> {
  return new Promise(resolve => {
    const send = (data: unknown) => resolve((data as { readonly notes: readonly string[] }).notes.join('\n'));
    const comm = { id: 'c', target: 'apl.results', send, close: () => undefined };
    bench().handler.commOpen(comm, { result }, []);
  });
}

function reportOf({ outputs }: CellRun): string {
  const kept = outputs.flatMap((each): NotebookOutput[] =>
    'data' in each ? [{ output_type: 'display_data', data: each.data, metadata: each.metadata }] : [],
  );
  const cell = {
    cell_type: 'code',
    source: 'z | count',
    outputs: kept,
    metadata: {},
    execution_count: 1,
  } as const;
  const page = notebookPage({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }, { title: 'R' });
  return (
    /<dt>Incomplete<\/dt><dd>1 of 1 outputs: (.*?)<\/dd>/.exec(page)?.[1]?.replace(/<\/?code>/g, '`') ?? page
  );
}

function chartText({ outputs, outcome }: CellRun): string {
  const chart = outputs.find(each => 'data' in each && 'image/svg+xml' in each.data);
  return chart !== undefined && 'data' in chart ? String(chart.data['text/plain']) : JSON.stringify(outcome);
}

/** Returns the texts of an image, joined. */
function svgText({ outputs }: CellRun): string {
  const chart = outputs.find(each => 'data' in each && 'image/svg+xml' in each.data);
  const svg = chart !== undefined && 'data' in chart ? String(chart.data['image/svg+xml']) : '';
  return [...svg.replace(/<(?:title|desc)[^>]*>[^<]*<\/(?:title|desc)>/g, '').matchAll(/>([^<]+)</g)]
    .map(([, text]) => text)
    .join(' ');
}

describe.each(Object.entries(kinds))('every reader of a result that is %s reports it:', (kind, [, text]) => {
  beforeAll(() => keep(kind as Shortfall['kind']));

  test.each(Object.keys(readers))('%s', async name => {
    const found = plain((await readers[name]?.()) ?? '');
    // A list of results has a name column.
    expect(found).toContain(plain(name === '`%results`' ? text.replace('`z` contains ', '') : text));
  });
});

test.each([
  ['cut', 'warn'],
  ['sampled', 'info'],
  ['partial', 'warn'],
  ['estimated', 'warn'],
  ['replayed', 'info'],
] as const)(
  'the metadata of a query over a result that is %s has its kind, as level %s',
  async (kind, level) => {
    await keep(kind);
    const { shortfalls, limits } = metadata(await run('z | count')) as {
      readonly shortfalls: unknown;
      readonly limits: unknown;
    };
    expect(shortfalls).toEqual([{ kind, text: kinds[kind][1] }]);
    expect(limits).toEqual([{ level, text: kind === 'cut' ? sentence : `${kinds[kind][1]}.` }]);
  },
);

test('the page lists every reader of a result and every kind of shortfall', async () => {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const names = Object.keys(kinds);
  const how = ({ 0: cells, 1: text }: (typeof kinds)['cut'], kind: string) =>
    row([
      kind,
      cells.map(cell => `\`${cell.replace('\n', ' ↵ ').replaceAll('|', '\\|')}\``).join('<br>'),
      text,
    ]);
  const text = [
    head,
    row(['shortfall', 'cells', 'message']),
    row(['---', '---', '---']),
    ...Object.entries(kinds).map(([kind, each]) => how(each, kind)),
    '',
    row(['read by', ...names]),
    row(['---', ...names.map(() => '---')]),
    ...Object.keys(readers).map(name => row([name, ...names.map(() => 'reported')])),
    '',
  ].join('\n');
  if (process.env.UPDATE_GOLDEN === '1') await writeFile(page, text);
  expect(await readFile(page, 'utf8')).toBe(text);
});

const page = join(import.meta.dirname, '../../../docs/shortfalls.md');

const head = `# Incomplete and replayed results

A result may be cut by a limit, sampled, or replayed from a recording. A result of a hosted service may also be partial or estimated.
Anything that reads such a result reports this above its own answer, however many results lie in between. In a grid, the sentence is above
the cells that a user copies or saves.

\`test/notebook/results/shortfalls.test.ts\` runs each reader on each kind and writes this page.

`;

test('the notice suggests a query that fetches all rows', async () => {
  await keep('cut');
  expect(notices(await run('z | summarize count()'))).toEqual([sentence]);
  expect(notices(await run('z << web | extend m = n\n\nz | count')).join()).toContain(whole);
  expect(notices(await run('web | extend m = n')).join()).not.toContain('All of them');
  expect(notices(await run('_ | count')).join()).toContain(
    'All of them: `%%fetch --all` above `web | extend m = n`.',
  );
  expect(notices(await run('z4 << web | sort by n')).join()).toContain(
    'Up to 50,000 of them: `z4 << web | sort by n | limit 50000`.',
  );
  await run('_ << web\n| extend m = n');
  expect(notices(await run('_ | count')).join()).toContain('All of them: `%%fetch --all` above `…`.');
  await run('z3 << web | extend m = n | limit 1500');
  expect(notices(await run('z3 | count'))).toEqual([]);
});

describe('a chart over time of a cut result', () => {
  test('begins and ends with its rows', async () => {
    const cell = await run('z | summarize count() by bin(_time, 1h)');
    expect(metadata(cell)).toMatchObject({
      startTime: '2026-03-04T08:20:00Z',
      endTime: '2026-03-05T00:59:00.000000001Z',
    });
    expect(chartText(cell)).toBe(
      'Bar chart of count_; over time from 2026-03-04 08:20:00 to 2026-03-05 00:59:00 UTC; count_: lowest 40 at 2026-03-04 08:00:00, highest 60 at 2026-03-04 09:00:00; `z` contains the first 1,000 rows, not all of them (the default limit); the first and the last bin are partial.',
    );
  });

  test('shows gaps instead of zeros if rows in between may be missing', async () => {
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

describe('readers report what the query of a result left out:', () => {
  test.each([
    ['web | limit 5', '`z` contains the first 5 rows (`limit 5`).'],
    ['web | take 5 | project n', '`z` contains the first 5 rows (`take 5`).'],
    ['web | top 3 by n', '`z` contains the first 3 rows (`top 3 by n`).'],
    ['web | limit 5 | where n > 0', '`z` contains what remains of at most 5 rows (`limit 5`).'],
    [
      'web | limit 700 | summarize n = count() by host',
      '`z` contains what remains of at most 700 rows (`limit 700`).',
    ],
    ['web | summarize n = count() by n | limit 7', '`z` contains the first 7 rows (`limit 7`).'],
    ['web | summarize n = count() by host | limit 7', undefined],
    ['web | where n < 5 | limit 5', undefined],
    ['web | sample 0.5', '`z` contains a sample (`sample 0.5`).'],
    ['web | sample 0.5 | summarize count()', '`z` contains a sample (`sample 0.5`).'],
  ])('%s', async (query, expected) => {
    await run(`z << ${query};`);
    expect(notices(await run('z | count'))).toEqual(expected === undefined ? [] : [expected]);
    await run('z << web | extend m = n');
  });

  test('a sample is reported in its own chart', async () => {
    expect(chartText(await run('web | sample 0.5 | summarize count() by host'))).toContain(
      'the result contains a sample (`sample 0.5`)',
    );
  });
});

test('a comparison names the period with missing rows', async () => {
  const cell = await bench().run(
    '%%time 2026-03-05..2026-03-06\n%compare -1d\n%%limit 50\nweb | summarize n = count() by n2 = n',
  );
  expect(notices(cell).filter(text => text.includes('contains'))).toEqual([
    '`1d before` contains the first 50 rows, not all of them (the limit set by %limit).',
  ]);
});
