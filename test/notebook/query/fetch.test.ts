import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../kernel/api/client.js';
import { fetchAll } from '../../../kernel/notebook/query/fetch.js';
import { parseTime } from '../../../kernel/time.js';
import { type Reply, type Seen, startService, tabular } from '../../api/service.js';
import { type Bench, everyday, localToken, queries, shown, startBench, traceback } from '../session.js';

/** An event of a service with its own row limit, in time order. */
interface Event {
  readonly time: string;
  readonly n: number;
}

/** 2,500 events, 500 at each time, and three with their own times. */
const events: readonly Event[] = Array.from({ length: 2_503 }, (_, n) => ({
  time: n < 2_500 ? `2026-03-04T04:${10 + Math.floor(n / 500)}:00Z` : `2026-03-04T05:00:0${n - 2_500}Z`,
  n,
}));

const fields = [
  { name: '_time', type: 'datetime' },
  { name: 'n', type: 'integer' },
];

/** Answers with at most `most` rows of `events`, latest first, from the cursor, which is a row offset. */
function answer(seen: Seen, most: number, all = events): Reply {
  const { body, path, headers } = seen;
  const isLocal = headers.authorization === `Bearer ${localToken}`;
  if (!path.endsWith('_apl')) return everyday(seen);
  const { startTime, endTime, cursor = '0', defaultLimit } = JSON.parse(body);
  const [start, end] = [parseTime(startTime) ?? 0n, parseTime(endTime) ?? 0n];
  const found = all
    .filter(({ time }) => (parseTime(time) ?? 0n) >= start && (parseTime(time) ?? 0n) < end)
    .toReversed();
  const from = Number(cursor);
  const page = found.slice(from, from + Math.min(most, defaultLimit));
  const cells = [page.map(({ time }) => time), page.map(({ n }) => n)];
  const next = from + page.length;
  const messages =
    next < found.length
      ? [{ priority: 'warn' as const, count: 1, code: 'row_limit_request', msg: 'more' }]
      : [];
  // The local service counts only the rows read for a page.
  const rowsMatched = isLocal ? next : found.length;
  const status = { rowsMatched, minCursor: String(next), maxCursor: '', messages };
  const body2 = tabular(fields, cells, status);
  const [table] = body2.tables;
  return { body: { ...body2, tables: [{ ...table, order: [{ field: '_time', desc: true }] }] } };
}

let bench: Bench;

/** Each event exactly once: the count, the distinct count and the sum. */
const once = '%assert rows == 2503 and dcount(n) == 2503 and sum(n) == 3131253';

describe('the local service', () => {
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench.close());

  test('is paged by cursors: each row once, in order', async () => {
    bench.service.answer(seen => answer(seen, 300));
    const run = await bench.run(`%fetch --all\n${once}\nz << web | where n >= 0`);
    expect(traceback(run)).toEqual([]);
    expect(queries(bench.service)).toHaveLength(9);
    expect(shown(run).join('\n')).not.toMatch(/Only|contains the first/);
  });

  test('stops at --max, and says so', async () => {
    bench.service.answer(seen => answer(seen, 300));
    const run = await bench.run('%fetch --max 700\n%assert rows == 700 and min(n) == 1803\nweb');
    expect(traceback(run)).toEqual([]);
    expect(shown(run).join('\n')).toContain(
      'Only 700 rows were fetched (--max 700). %fetch --all fetches every row.',
    );
  });

  test.each([
    ['an interrupt', 'interrupted'],
    ['a failure', "did not respond with the API's JSON"],
  ])('keeps the fetched rows after %s, and says so', async (what, why) => {
    const stop = new AbortController();
    bench.service.answer(seen => {
      if (queries(bench.service).length < 4) return answer(seen, 300);
      if (what === 'a failure') return { body: 'nonsense' };
      stop.abort();
      return () => undefined;
    });
    const run = await bench.run('%fetch --all\nz << web', { signal: stop.signal });
    expect(run.outcome.status).toBe(what === 'a failure' ? 'ok' : 'error');
    const text = shown(run).join('\n');
    expect(text).toContain('Only 900 rows were fetched (');
    expect(text).toContain('Run the cell again to fetch every row.');
    expect(text).toContain(why);
    const after = await bench.run('%assert rows == 900 and dcount(n) == 900 and max(n) == 2502');
    expect(traceback(after)).toEqual([]);
  });

  test('shows how many rows were fetched, or what the next page waits for', async () => {
    const stop = new AbortController();
    let shownBefore = Number.POSITIVE_INFINITY;
    bench.service.answer(seen => {
      if (seen.path.startsWith('/v1/local/queries/'))
        return {
          body:
            bench.passed.length > shownBefore
              ? { state: 'waiting', before: 1 }
              : { state: 'running', rows: 5 },
        };
      if (queries(bench.service).length < 4) return answer(seen, 300);
      shownBefore = bench.passed.length;
      return () => undefined;
    });
    const have = /^fetched: 900 rows \(/;
    const onPassing = () => {
      if (bench.passed.length > shownBefore && !have.test(bench.passed.at(-1) ?? '')) stop.abort();
    };
    await bench.run('%fetch --all\nweb', { signal: stop.signal, onPassing });
    expect(bench.passed[shownBefore]).toMatch(have);
    expect(bench.passed.at(-1)).toMatch(/^waiting: 1 query before this one \(/);
  });

  test.each([
    ['web | summarize count()', '`summarize count()` does not work row by row'],
    ['web | limit 5', '`%fetch --max N` sets the number of rows'],
    ['web | sort by n asc', '`sort by n asc` does not work row by row'],
    ['web | where rand() > 0.5', '`rand()` returns different values on each page'],
    ['print 1', 'the query does not read one dataset'],
    ['', 'the cell has no query'],
  ])('refuses a query that needs all rows at once: %s', async (query, why) => {
    const run = await bench.run(`%fetch --all\n${query}`);
    expect([traceback(run).join('\n'), queries(bench.service)]).toEqual([expect.stringContaining(why), []]);
  });
});

describe('any other service', () => {
  beforeEach(async () => {
    bench = await startBench({
      environment: service => ({ url: service.url, token: 'xaat-4711' }),
    });
  });
  afterEach(() => bench.close());

  test('is paged by intervals of the range, split if they reach its limit', async () => {
    bench.service.answer(seen => answer(seen, 600));
    const run = await bench.run(`%use environment\n%fetch --all\n${once}\nz << web`);
    expect(traceback(run)).toEqual([]);
  });

  test.each([
    ['more', 2503],
    ['as many', 700],
    ['fewer', 650],
  ])(
    'reports at --max whether there are more rows, even if only returned rows are counted: %s',
    async (_, held) => {
      bench.service.answer(seen => {
        const given = answer(seen, 60_000, events.slice(0, held));
        if (typeof given === 'object' && typeof given.body === 'object') {
          const { status, tables } = given.body as ReturnType<typeof tabular>;
          if (status) Object.assign(status, { rowsMatched: tables[0]?.columns?.[0]?.length, messages: [] });
        }
        return given;
      });
      const rows = Math.min(held, 700);
      const run = await bench.run(`%use environment\n%fetch --max 700\n%assert rows == ${rows}\nweb`);
      expect(traceback(run)).toEqual([]);
      const said = shown(run).join('\n');
      const notice = 'Only 700 rows were fetched (--max 700). %fetch --all fetches every row.';
      expect([said.includes('were fetched'), said.includes(notice)]).toEqual([held > 700, held > 700]);
    },
  );

  test('is retried after a temporary refusal', async () => {
    let refused = false;
    bench.service.answer(seen => {
      if (queries(bench.service).length !== 3 || refused) return answer(seen, 600);
      refused = true;
      return { status: 429, headers: { 'retry-after': '0' }, body: { message: 'rate limit exceeded' } };
    });
    const run = await bench.run(`%use environment\n%fetch --all\n${once}\nweb`);
    expect([traceback(run), refused]).toEqual([[], true]);
  });

  test('warns above the result if little of the query limit is left, as of the last response', async () => {
    bench.service.answer(seen => {
      const headers = {
        'x-querylimit-limit': '5000',
        'x-querylimit-remaining': String(400 - queries(bench.service).length),
        'x-querylimit-reset': '4102444800',
      };
      return { ...answer(seen, 600), headers };
    });
    const run = await bench.run('%use environment\n%fetch --all\nweb');
    expect(shown(run).join('\n')).toContain(
      `Only ${400 - queries(bench.service).length} of 5,000 GB·ms of the query limit of the plan are left; it resets at 2100-01-01T00:00:00Z.`,
    );
  });

  test('keeps what it returned if it cannot return all rows of one time, and says so', async () => {
    const same = Array.from({ length: 700 }, (_, n) => ({ time: '2026-03-04T04:10:00Z', n }));
    bench.service.answer(seen => answer(seen, 600, same));
    const run = await bench.run('%use environment\n%fetch --all\n%assert rows == 600\nweb');
    expect(shown(run).join('\n')).toContain(
      'Only 600 of 700 matching rows were fetched (more rows at 2026-03-04T04:10:00Z than fit in one response)',
    );
  });
});

describe('pages stay within the memory budget of one result', () => {
  const request = { apl: 'web', startTime: '2026-03-04T04:00:00Z', endTime: '2026-03-04T06:00:00Z' };

  test.each([
    ['by cursors', true],
    ['by intervals of the range', false],
  ])('%s', async (_, isLocal) => {
    const service = await startService(seen => answer(seen, 600));
    const client = createClient({ profileName: 'p', url: service.url }, { version: '1.2.3' });
    onTestFinished(() => service.close());
    onTestFinished(() => client.close());
    const mostBytes = 40_000;
    const taken: number[] = [];
    const fetched = await fetchAll(
      request,
      { most: Number.POSITIVE_INFINITY },
      {
        ask: part => client.query(part),
        signal: new AbortController().signal,
        isLocal,
        mostBytes,
        tell: rows => taken.push(rows),
      },
    );
    expect(fetched.stopped).toMatchObject({
      why: '40 kB, the memory limit of one result',
      hint: 'Fetch fewer fields with `| project …`, or a shorter range.',
    });
    const rows = JSON.parse(new TextDecoder().decode(fetched.raw.body)).tables[0].columns[1];
    expect([rows.length, new Set(rows).size]).toEqual([taken.at(-1), taken.at(-1)]);
    expect(rows.length).toBeGreaterThan(0);
    expect(fetched.raw.body.length).toBeLessThan(mostBytes);
  });
});
