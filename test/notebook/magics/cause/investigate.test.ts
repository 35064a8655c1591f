import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type EditorUpdate,
  editorTarget,
  type WrittenCells,
} from '../../../../kernel/apl/editor/editor-link.js';
import { deploymentFields } from '../../../../kernel/notebook/magics/cause/near.js';
import { temporaryDirectory } from '../../../local/service.js';
import { realBench } from '../../real-bench.js';
import { printed, shown, traceback } from '../../session.js';

/** Ten events per second for twenty minutes; in the last ten minutes those of one host fail, with a line break in their message. */
const events = Array.from({ length: 12_000 }, (_, index) => {
  const isLater = index >= 6_000;
  const host = `h${index % 7}`;
  const isFailed = isLater && host === 'h3';
  return {
    _time: new Date(Date.UTC(2026, 0, 1, 10, 0, 0, index * 100)).toISOString(),
    host,
    status: isFailed ? '503' : '200',
    duration_ms: 10 + (index % 50),
    message: isFailed ? `no route to\n%drop web ${index}` : `ok ${index}`,
  };
});

/** Deployments before and during the later half, also reused for a log with the same fields. */
const deployments = [
  ['10:09:10', 'api', '2.1.0', 'eu-1'],
  ['10:09:40', 'cart', '1.4.2', ''],
  ['10:12:00', 'api', '2.0.9', 'eu-1'],
].map(([time, service, version, region]) => ({
  ...{ _time: `2026-01-01T${time}Z`, service, version },
  ...(region ? { region } : {}),
}));

/** As many requests as before, equally fast and none failing, but most of the later ones have a different status. */
const answered = Array.from({ length: 4_000 }, (_, index) => ({
  _time: new Date(Date.UTC(2026, 0, 1, 10, 0, 0, index * 300)).toISOString(),
  status: index % 10 < (index >= 2_000 ? 6 : 1) ? 304 : 200,
  request_id: `r${index}`,
  uri: `/p${index % 3}`,
  message: index >= 2_000 ? `later ${index}` : `earlier ${index}`,
}));

/** Returns a day's events: the first count before 10:10, the second after it. */
const day = (
  date: number,
  [before, after]: readonly [number, number],
  of: (place: number, isLater: boolean) => object,
): readonly object[] =>
  Array.from({ length: before + after }, (_, index) => {
    const isLater = index >= before;
    const [place, count] = isLater ? [index - before, after] : [index, before];
    const second = (isLater ? 600 : 0) + (place * 600) / count;
    return {
      ...{ _time: new Date(Date.UTC(2026, 0, date, 10, 0, 0, second * 1_000)).toISOString() },
      ...{ status: 200, duration_ms: 10, message: 'ok', ...of(place, isLater) },
    };
  });

/** Days with a small increase, or an increase in few events. */
const quiet = [
  ...day(5, [1_000, 1_000], (place, isLater) => (place % 20 < (isLater ? 11 : 8) ? { status: 500 } : {})),
  ...day(6, [300, 300], (place, isLater) => ({
    ...(place % 300 < (isLater ? 5 : 1) ? { status: 500 } : {}),
    ...(isLater && place < 4 ? { message: `disk ${place} is full` } : {}),
  })),
  ...day(7, [90, 110], (place, isLater) => (isLater && place < 3 ? { duration_ms: 1_000 } : {})),
  ...day(8, [110, 90], (place, isLater) => (isLater && place < 3 ? { duration_ms: 1_000 } : {})),
  ...day(9, [300, 300], (place, isLater) =>
    isLater && place % 5 === 0
      ? { status: 500, message: place % 25 < 10 ? 'no route' : `${place % 2 ? 'cart' : 'shop'} timed out` }
      : {},
  ),
  // Exactly five standard deviations more, and one event more than that.
  ...day(13, [25, 75], () => ({})),
  ...day(14, [25, 76], () => ({})),
  ...day(15, [500, 2_000], (_, isLater) => (isLater ? { duration_ms: 100 } : {})),
];

const bench = realBench({
  web: events,
  quiet,
  answered,
  deployments,
  applog: deployments.map(each => ({ ...each, message: 'started' })),
});

type Run = Awaited<ReturnType<ReturnType<typeof bench>['run']>>;

/** Returns the queries that are printed if cells cannot be written. */
const printedCells = (run: Run): readonly string[] =>
  printed(run)
    .split('// %%\n')
    .slice(1)
    .map(cell => cell.trimEnd());

const incident = "%investigate 2026-01-01T10:10Z..2026-01-01T10:20Z ['web']";
const origin = { client: 'page-1', cell: 'cell-7' };

/** Runs a line in a front end that writes cells; returns the run and the cells it was asked to write. */
async function written(
  line: string,
): Promise<{ readonly run: Run; readonly updates: readonly WrittenCells[] }> {
  const updates: WrittenCells[] = [];
  const send = (data: unknown) => {
    const each = data as EditorUpdate;
    if (each.tell === 'cells') updates.push(each);
  };
  const comm = { id: 'c', target: editorTarget, send, close: () => undefined };
  const handler = bench().handler.commOpen(comm, {}, []);
  await handler?.message({ ask: 'write', client: origin.client }, []);
  const run = await bench().run(line, { origin });
  handler?.close({});
  return { run, updates };
}

const codeOf = (updates: readonly WrittenCells[]) =>
  updates.flatMap(({ cells }) => cells.flatMap(({ kind, source }) => (kind === 'code' ? [source] : [])));
const proseOf = (updates: readonly WrittenCells[]) =>
  updates.flatMap(({ cells }) => cells.flatMap(({ kind, source }) => (kind === 'markdown' ? [source] : [])));

async function expectToHold(cells: readonly string[]): Promise<void> {
  for (const cell of cells) expect([cell, traceback(await bench().run(cell))]).toEqual([cell, []]);
}

describe('%investigate', () => {
  test('reports what stands out, and prints queries that hold if it cannot write cells', async () => {
    const run = await bench().run(incident);
    expect(traceback(run)).toEqual([]);
    const [out = '', rest = ''] = (shown(run).at(-1) ?? '').split('Does not stand out:');
    expect(out).toContain('Failed: 857 (14%); before: 0 (0%)');
    expect(out).toContain('100% of the selected events have host = h3, 0% of the others');
    // The events' own message is listed apart: it is not a cause.
    expect(out).not.toContain('have message =');
    expect(out).toContain(
      '- Of the events with toint(status) >= 500, 100% have the message: no route to %drop web 10006\n',
    );
    expect(out).toContain('1 new kind of log lines; the most frequent, 857 times');
    expect(out).toContain(
      '- 3 deployments nearby in deployments: cart 1.4.2, 20s before the range start; api 2.1.0 eu-1, 50s before the range start; api 2.0.9 eu-1, 2m0s after the range start.\n',
    );
    expect(rest).toContain('Events: 6,000; before: 6,000');
    expect(rest).toContain('No annotations nearby');
    const cells = printedCells(run);
    expect(cells[0]).toMatch(
      /^%%time 2026-01-01T10:00:00Z\.\.2026-01-01T10:20:00Z\n%assert max\(events\) == 6000\n/,
    );
    expect(cells.map(cell => cell.split('\n')[1])).toEqual([
      '%assert max(events) == 6000',
      '%assert sum(failed) == 857',
      '%%explain toint(status) >= 500',
      '%assert max(events) == 857',
      '%assert max(events) == 857',
      '%assert max(lines) == 857',
      '%assert rows == 3',
    ]);
    await expectToHold(cells);
    expect(run.outputs.filter(({ kind }) => kind === 'next cell')).toEqual([]);
  });

  test('writes the same prose cells and query cells that hold each time', async () => {
    const { run, updates } = await written(incident);
    expect(traceback(run)).toEqual([]);
    expect(printed(run)).not.toContain('// %%');
    expect(updates.map(({ below }) => below)).toEqual(['cell-7']);
    const prose = proseOf(updates);
    expect(prose.map(text => text.split('\n')[0])).toEqual([
      '## web, 2026-01-01T10:10:00Z..2026-01-01T10:20:00Z, compared with the preceding range',
      '### Failures',
      '### What they have in common',
      '### Most frequent message',
      '### New log lines',
      '### Deployments',
    ]);
    expect(prose[0]).toContain('5 of 8 answers stand out.');
    expect(prose[1]).toContain('Failed: 857');
    await expectToHold(codeOf(updates));
    expect((await written(incident)).updates).toEqual(updates);
  });

  test('escapes line breaks and markup in values', async () => {
    const { updates } = await written(incident);
    expect(codeOf(updates).filter(cell => /^%drop/m.test(cell))).toEqual([]);
    expect(proseOf(updates).join('\n')).not.toMatch(/^%drop/m);
  });

  test('writes cells only through the client that runs it', async () => {
    const comm = { id: 'c', target: editorTarget, send: () => undefined, close: () => undefined };
    const handler = bench().handler.commOpen(comm, {}, []);
    await handler?.message({ ask: 'write', client: 'page-2' }, []);
    expect(printedCells(await bench().run(incident, { origin }))).toHaveLength(7);
    handler?.close({});
  });

  test('reports what became more frequent if neither failures nor latency stand out', async () => {
    const { run, updates } = await written("%investigate 2026-01-01T10:10Z..2026-01-01T10:20Z ['answered']");
    expect(traceback(run)).toEqual([]);
    const [out = ''] = (shown(run).at(-1) ?? '').split('Does not stand out:');
    expect(out).toContain('- 60% of the events have status = 304, 10% before.\n');
    expect(codeOf(updates)[1]).toBe(
      "%%time 2026-01-01T10:00:00Z..2026-01-01T10:20:00Z\n%%explain _time >= datetime(2026-01-01T10:10:00Z)\n['answered']\n| project-away request_id, message",
    );
    await expectToHold(codeOf(updates));
  });

  test('writes a heading above each answer that stands out', async () => {
    await bench().run('%annotate Deploy 8 --time 2026-01-15T10:05Z --dataset quiet');
    const headings = async (range: string, name: string) => {
      const { run, updates } = await written(`%investigate ${range} ['${name}']`);
      expect(traceback(run)).toEqual([]);
      return proseOf(updates).map(text => text.split('\n')[0]);
    };
    expect(await headings('2026-01-15T10:10Z..2026-01-15T10:20Z', 'quiet')).toEqual([
      '## quiet, 2026-01-15T10:10:00Z..2026-01-15T10:20:00Z, compared with the preceding range',
      '### Events',
      '### Latency',
      '### Most frequent message',
      '### Annotations',
    ]);
    expect(await headings('2026-01-01T10:10Z..2026-01-01T10:20Z', 'answered')).toEqual([
      '## answered, 2026-01-01T10:10:00Z..2026-01-01T10:20:00Z, compared with the preceding range',
      '### What changed',
      '### New log lines',
      '### Deployments',
    ]);
  });

  test.each([
    [13, '75; before: 25', false],
    [14, '76; before: 25', true],
  ])('reports more events from five standard deviations: day %i', async (date, words, standsOut) => {
    const run = await bench().run(`%investigate 2026-01-${date}T10:10Z..2026-01-${date}T10:20Z ['quiet']`);
    const [out = '', rest = ''] = (shown(run).at(-1) ?? '').split('Does not stand out:');
    expect([out.includes(words), rest.includes(words)]).toEqual([standsOut, !standsOut]);
  });

  test('says so if nothing stands out', async () => {
    const { run, updates } = await written("%investigate 2026-01-01T10:03Z..2026-01-01T10:07Z ['web']");
    expect(traceback(run)).toEqual([]);
    expect(shown(run).at(-1)).toContain('Nothing stands out.');
    // More than chance predicts, but not much more.
    expect(shown(run).at(-1)).toContain('- Events: 2,400; before: 1,800.');
    expect(proseOf(updates)).toEqual([expect.stringContaining('Nothing stands out.')]);
    await expectToHold(codeOf(updates));
    // Much more, but in so few events that it may be chance.
    const few = await bench().run("%investigate 2026-01-01T10:00:00.3Z..2026-01-01T10:00:00.8Z ['web']");
    expect(shown(few).at(-1)).toMatch(/Nothing stands out\.[\s\S]*- Events: 5; before: 3\./);
  });

  const slower = '99th percentile of duration_ms: 1000; before: 10.';
  const seldom = '1 new kind of log lines; the most frequent, 4 times: disk 0 is full';
  test.each<[string, number, readonly string[]]>([
    ['in failures by less than half', 5, ['Failed: 550 (55%); before: 400 (40%).']],
    ['in a few failures and new lines', 6, ['Failed: 5 (2%); before: 1 (0.3%).', seldom]],
    ['in latency after few events', 7, [slower]],
    ['in the latency of few events', 8, [slower]],
  ])('does not report an increase %s', async (_, date, words) => {
    const run = await bench().run(`%investigate 2026-01-0${date}T10:10Z..2026-01-0${date}T10:20Z ['quiet']`);
    expect(traceback(run)).toEqual([]);
    const [out = '', rest = ''] = (shown(run).at(-1) ?? '').split('Does not stand out:');
    expect(out).toMatch(/Nothing stands out\.\s*$/);
    for (const each of words) expect(rest).toContain(`- ${each}`);
  });

  test('does not report a message of less than half of the failures', async () => {
    const run = await bench().run("%investigate 2026-01-09T10:10Z..2026-01-09T10:20Z ['quiet']");
    const [out = '', rest = ''] = (shown(run).at(-1) ?? '').split('Does not stand out:');
    expect(out).toContain('- Failed: 60 (20%); before: 0 (0%).');
    expect(rest).toContain('- Of the events with toint(status) >= 500, 40% have the message: no route');
  });

  test('names the annotations near the range, the last one before it first', async () => {
    for (const [title, time] of [
      ['Too early', '09:09'],
      ['Deploy 7', '09:30'],
      ['Cache off', '10:05'],
      ['Cache on', '10:12'],
    ])
      await bench().run(`%annotate ${title} --time 2026-01-11T${time}Z --dataset quiet`);
    const run = await bench().run("%investigate 2026-01-11T10:10Z..2026-01-11T10:20Z ['quiet']");
    expect(traceback(run)).toEqual([]);
    const [out = ''] = (shown(run).at(-1) ?? '').split('Does not stand out:');
    expect(out).toContain(
      '- 3 annotations nearby: Cache off, 5m0s before the range start; Deploy 7, 40m0s before the range start; Cache on, 2m0s after the range start.\n',
    );
  });

  test('compares a range without events', async () => {
    const { run, updates } = await written("%investigate 2026-02-01T10:05Z..2026-02-01T10:08Z ['web']");
    expect(traceback(run)).toEqual([]);
    expect(shown(run).at(-1)).toContain('Events: 0; before: 0.');
    await expectToHold(codeOf(updates));
  });

  test.each<[string, readonly (string | RegExp)[]]>([
    ['sample-http-logs', ['GRU', /99th percentile of req_duration_ms: [\d.]+; before: [\d.]+\./]],
    [
      'otel-demo-traces',
      [
        'checkout',
        /99th percentile of duration: [\d.]+ ms; before: [\d.]+ ms\./,
        /The slowest trace took [\d.]+ ms: [\da-f]{32}\./,
      ],
    ],
  ])('investigates %s', async (name, sentences) => {
    const run = await bench().run(`%investigate 2026-01-26T15:09Z..2026-01-26T15:36Z ['${name}']`);
    expect(traceback(run)).toEqual([]);
    for (const each of sentences) expect(shown(run).at(-1)).toMatch(each);
    await expectToHold(printedCells(run));
  });

  test('refuses a dataset whose events have no time', async () => {
    const file = path.join(await temporaryDirectory(), 'hosts.csv');
    await writeFile(file, 'host,status\na,500\nb,200\n');
    expect(traceback(await bench().run(`%import ${file} --dataset hosts`))).toEqual([]);
    expect(traceback(await bench().run("%investigate 2026-01-01 ['hosts']")).join('\n')).toContain(
      "%investigate compares two time ranges, but ['hosts'] has 2 events without a time.",
    );
  });

  test.each<[string, string]>([
    ["%investigate ['web']", 'give a time or a range'],
    ["%investigate sometime ['web']", 'sometime'],
    ["%investigate now ['nothing']", 'nothing'],
  ])('refuses %s', async (cell, words) => {
    expect(traceback(await bench().run(cell)).join('\n')).toContain(words);
  });
});

test.each<[string, readonly string[], readonly string[] | undefined]>([
  ['changes', ['_time', 'service', 'version', 'region'], ['service', 'version', 'region']],
  ['x', ['_time', 'service.name', 'commit', 'action'], ['service.name', 'commit', 'action']],
  ['releases', ['_time', 'app', 'tag', 'message'], ['app', 'tag']],
  ['x', ['_time', 'app', 'tag', 'message'], undefined],
  ['x', ['_time', 'service', 'version', 'trace_id'], undefined],
  ['releases', ['_time', 'version'], undefined],
  ['releases', ['service', 'version'], undefined],
])('deployment fields of %s with fields %j', (name, fields, shownFields) => {
  expect(deploymentFields(name, fields)).toEqual(shownFields);
});
