import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { formatCount } from '../../../../kernel/text.js';
import { realService } from '../../real-bench.js';
import { type Bench, type CellRun, printed, queries, shown, startBench, traceback } from '../../session.js';

const clock = () => BigInt(Date.now()) * 1_000_000n;

let service: Awaited<ReturnType<typeof realService>>;
let grid: Bench;
let terminal: Bench;
let dataDir: string;
/** Requests that a hosted service receives within six seconds, while the other tests run. */
let askedOfHosted: Promise<readonly string[]>;
/** Events carry the number of their test, so that tests can share a dataset. */
let round = 0;

beforeAll(async () => {
  askedOfHosted = tailOfHosted();
  dataDir = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
  service = await realService(dataDir);
  const { url, token } = service;
  const local = () => ({ connect: async () => ({ url, token, restarted: false }), close: () => undefined });
  grid = await startBench({ local, now: clock });
  terminal = await startBench({ local, now: clock, consoleWidth: 100 });
  await fetch(`${url}/v2/datasets`, { ...sent({ name: 'app' }) });
  await ingest([{ round: -1, n: 0, level: 'info', message: 'first' }]);
});

afterAll(async () => {
  await askedOfHosted;
  await grid.close();
  await terminal.close();
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
});

beforeEach(() => {
  round += 1;
});

async function tailOfHosted(): Promise<readonly string[]> {
  const bench = await startBench({
    environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-1' }),
  });
  const run = await bench.run('%tail web --for 6s');
  const asked = queries(bench.service).map(({ apl }) => String(apl));
  await bench.close();
  expect(traceback(run)).toEqual([]);
  return asked;
}

function sent(body: object): RequestInit {
  const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
  return { method: 'POST', headers, body: JSON.stringify(body) };
}

async function ingest(events: readonly object[]): Promise<void> {
  const answer = await fetch(`${service.url}/v1/datasets/app/ingest`, sent(events));
  expect(answer.status).toBe(200);
}

/** Load during the first test: 300 events or, with TAIL_SECONDS, 1,000 events every 100 ms for that long. */
const seconds = Number(process.env.TAIL_SECONDS ?? 0);
const load =
  seconds > 0 ? { batches: seconds * 10, size: 1_000, pause: 100 } : { batches: 30, size: 10, pause: 0 };

/** Returns event n of a test. Its message is incompressible, so that an output cannot hold all of the 200 newest events. */
function eventOf(n: number) {
  const digest = (at: number) => createHash('sha512').update(`${n} ${at}`).digest('base64');
  const message = seconds > 0 ? '' : Array.from({ length: 50 }, (_, at) => digest(at)).join('');
  return { round, n, level: 'info', message };
}

/** Ingests batches of events numbered from 0, each a pause after the start of the previous one. */
async function ingestAll({ batches, size, pause }: typeof load): Promise<void> {
  for (let batch = 0; batch < batches; batch += 1) {
    const events = Array.from({ length: size }, (_, at) => eventOf(batch * size + at));
    await Promise.all([ingest(events), sleep(pause)]);
  }
}

/** Runs a cell until `isEnough` holds for its output, then stops it; `work` may wait for output. */
async function until(
  bench: Bench,
  cell: string,
  work: (isSeen: (part: string) => Promise<void>) => Promise<void>,
  isEnough: (text: string) => boolean,
) {
  const stop = new AbortController();
  let seen: readonly string[] = [];
  const running = bench.run(cell, {
    signal: stop.signal,
    answer: '',
    onOutput: text => {
      seen = [...seen, text];
    },
  });
  // Only events stored from then on are shown.
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  await work(part => expect.poll(() => seen.join('\n')).toContain(part));
  await expect.poll(() => isEnough(seen.join('\n'))).toBe(true);
  stop.abort();
  return running;
}

const answerTo = async (bench: Bench, query: string): Promise<string> => {
  const run = await bench.run(query);
  expect(traceback(run)).toEqual([]);
  return shown(run).join('\n').replace(/\s+/g, ' ');
};

interface Facts {
  readonly query: string;
  readonly startTime: string;
  readonly endTime: string;
}

/** Checks that each output shows the newest rows within its row and byte limits and reports what it omits. */
function expectBounded(outputs: CellRun['outputs'], rows: number): void {
  const live = outputs.flatMap(each => {
    if (!('metadata' in each)) return [];
    const { live: is, tables } = (each.metadata.apl ?? {}) as Partial<Live>;
    return is && tables ? [{ total: is.events, kept: tables[0].rows, data: each.data }] : [];
  });
  expect(live.at(-1)?.total).toBe(load.batches * load.size);
  for (const { total, kept, data } of live) {
    const text = String(data['text/html']);
    expect(kept).toBe(Math.min(total, rows));
    expect(text).toContain(
      total > rows ? `: ${formatCount(total)}; the newest ${rows} are here.` : `: ${total}.`,
    );
    // On a busy machine the first output may hold few enough events to show all of them.
    const shownRows = text.split('<tr').length - 2;
    expect(text.includes(`Showing the first ${shownRows} of ${kept} rows`)).toBe(shownRows < kept);
    expect(data).toHaveProperty(['application/vnd.apache.arrow.stream'], expect.any(String));
    const arrow = Buffer.from(String(data['application/vnd.apache.arrow.stream']), 'base64');
    expect(arrow.length).toBeLessThanOrEqual(512 * 1024);
  }
}

interface Live {
  readonly live: { readonly events: number };
  readonly tables: readonly [{ readonly rows: number }];
}

const statusOf = ({ outcome }: CellRun) => outcome.status;

describe('%tail', () => {
  test(
    'counts each event once, shows the newest, and freezes its range when stopped',
    async () => {
      const count = load.batches * load.size;
      const run = await until(
        grid,
        `%tail app | where round == ${round} --rows 200`,
        () => ingestAll(load),
        text => text.includes(`: ${formatCount(count)}; the newest 200 are here`),
      );
      expect(traceback(run)).toEqual([]);
      expect(statusOf(run)).toBe('ok');
      expect(run.outputs[0]).toMatchObject({ kind: 'display' });
      expect(run.outputs.slice(1).every(({ kind }) => kind === 'update')).toBe(true);
      expectBounded(run.outputs, 200);
      const last = run.outputs.at(-1);
      const apl = last !== undefined && 'metadata' in last ? (last.metadata.apl as Facts) : undefined;
      expect(apl).not.toHaveProperty('live');
      expect(apl).toMatchObject({ frozen: true, result: { rows: 200 } });
      // Events stored at the end of one query belong to the next.
      expect(apl?.query).toMatch(/\| where _sysTime >= datetime\(\S+\) and _sysTime < datetime\(\S+\)\n/);
      const [first, end] = [count - 200, count - 1].map(formatCount);
      expect(await answerTo(grid, '_ | summarize count(), dcount(n), min(n), max(n)')).toContain(
        `200 200 ${first} ${end}`,
      );
      const again = `%%time ${apl?.startTime}..${apl?.endTime}\n${apl?.query} | summarize rows = count() by n | summarize count(), max(rows), sum(n)`;
      const sum = formatCount((count * (count - 1)) / 2);
      expect(await answerTo(grid, again)).toContain(`${formatCount(count)} 1 ${sum}`);
    },
    120_000 + seconds * 2_000,
  );

  test('shows events with an old time only within --within', async () => {
    const old = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const run = await until(
      grid,
      `%%tail --within 1h\napp\n| where round == ${round}\n| project _time, n`,
      () =>
        ingest([
          { round, n: 1, _time: old(30) },
          { round, n: 2, _time: old(90) },
          { round, n: 3, _time: old(0) },
        ]),
      text => text.includes(': 2.'),
    );
    expect(statusOf(run)).toBe('ok');
    expect(await answerTo(grid, '_ | summarize sum(n)')).toContain('4');
  });

  test('in a terminal prints each event once in arrival order, and counts those beyond the limit', async () => {
    const run = await until(
      terminal,
      `%tail ['app'] | where round == ${round}`,
      async isSeen => {
        await ingest(Array.from({ length: 1_003 }, () => ({ round, n: 0 })));
        await isSeen('and 3 events more');
        await ingest([{ round, n: 1, level: 'error', message: 'disk\u001b[31m full' }]);
        await ingest([{ round, n: 2, level: 'info', message: 'ok', path: 'a b' }]);
      },
      text => text.includes('path="a b"'),
    );
    expect(statusOf(run)).toBe('ok');
    const lines = printed(run)
      .split('\n')
      .map(line => line.replace(/^\d{4}-\S+Z /, ''));
    const more = '\u2026 and 3 events more, too many at once or stored late';
    expect(lines.slice(1, 1_001).every(line => line === `round=${round} n=0`)).toBe(true);
    expect(lines.slice(1_001, 1_005)).toEqual([
      more,
      `disk⟨U+001B⟩[31m full round=${round} n=1 level=error`,
      `ok round=${round} n=2 level=info path="a b"`,
      '1,005 events. `_` has the newest. To query all of them:',
    ]);
    expect(lines[1_005]).toMatch(/^%%time /);
    expect(await answerTo(terminal, '_ | summarize sum(n), count()')).toContain(' 3 500 ');
  });

  test('ends after --for if nobody can stop it', async () => {
    let isWaiting: () => void = () => undefined;
    const waiting = new Promise<void>(resolve => {
      isWaiting = resolve;
    });
    const running = grid.run(`%tail --for 2s app | where round == ${round}`, { onOutput: isWaiting });
    await waiting;
    await ingest([{ round, n: 7 }]);
    const run = await running;
    expect(traceback(run)).toEqual([]);
    expect(shown(run).at(-1)).toContain(': 1.');
  });

  test('keeps an option that is part of a string in the query', async () => {
    let isWaiting: () => void = () => undefined;
    const waiting = new Promise<void>(resolve => {
      isWaiting = resolve;
    });
    const query = `app | where round == ${round} and note == "ran with --for 2s"`;
    const running = grid.run(`%tail ${query} --for 2s`, { onOutput: isWaiting });
    await waiting;
    await ingest([{ round, note: 'ran with --for 2s' }]);
    const run = await running;
    expect(traceback(run)).toEqual([]);
    expect(shown(run).at(-1)).toContain(': 1.');
  });

  test.each<[string, () => Bench, number]>([
    ['a grid', () => grid, 500],
    ['lines', () => terminal, 2_000],
  ])(
    'reports no new events once every stored event would be visible: in %s',
    async (_, bench, milliseconds) => {
      const run = await bench().run('%tail app | where round == 0 --for 1ms', { answer: '' });
      const said = [...shown(run), printed(run)].join('\n');
      const [, end = ''] =
        /^No events of app were stored from \S+ to (\S+) with a `_time` within 15m0s of then\.$/m.exec(
          said,
        ) ?? [];
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(end) + milliseconds);
    },
  );

  test('queries a hosted service at most every five seconds', async () => {
    const [first = ''] = await askedOfHosted;
    const [from = '', to = ''] = [...first.matchAll(/datetime\((\S+?)\)/g)].map(([, time = '']) => time);
    expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(4_400);
  });

  test.each<[string, string]>([
    ['%tail app', 'nobody can stop it here: give a duration, such as `--for 30s`'],
    ['%tail', 'name a dataset'],
    ['%tail app | count --for 1s', '`count` needs all events at once'],
    ['%tail app | sort by _time asc --for 1s', 'needs all events at once'],
    ['%tail print x = 1 --for 1s', 'the query reads no dataset'],
    ['%tail app | extend x = rand() --for 1s', '`rand()` returns different values each time'],
    ['%tail app --for 0s', '--for is a duration such as 30s or 5m, not 0s'],
    ['%tail app --for soon', '--for is a duration such as 30s or 5m, not soon'],
    ['%tail app --for 1s --rows 0', '--rows is a number from 1 to 10,000'],
    ['%tail app | where ( --for 1s', '%tail:'],
    ['%tail nothing --for 1s', 'nothing'],
    ['%%tail --for 1s\napp\n\napp', 'write one query below it'],
  ])('refuses %s', async (cell, words) => {
    expect(traceback(await grid.run(cell)).join('\n')).toContain(words);
  });
});
