import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../api/service.js';
import { realService } from '../real-bench.js';
import { type Bench, startBench, traceback } from '../session.js';

/** Number of events, more than one answer holds; FETCH_EVENTS=2500000 was run once. */
const count = Number(process.env.FETCH_EVENTS ?? 60_000);
/** Number of events with the same time. */
const twins = 3_000;
/** Timeout of the hook and the test, in milliseconds; long enough for large counts. */
const timeoutMs = count > 100_000 ? 3_600_000 : 180_000;

let bench: Bench;
/** A gateway with its own limits in front of a real service. */
let gateway: Service;
let queries = 0;
let onQuery: () => void = () => undefined;

/** Yields one event per line, all events of a second together. */
function* lines(): Generator<string> {
  for (let n = 0; n < count; n++) {
    const _time = new Date(Date.UTC(2026, 2, 4) + Math.floor(n / twins) * 1000).toISOString();
    yield `${JSON.stringify({ _time, n })}\n`;
  }
}

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-equal-times-'));
  const service = await realService(dataDir);
  const { url, token } = service;
  const file = join(dataDir, 'web.ndjson');
  await pipeline(Readable.from(lines()), createWriteStream(file));
  gateway = await startService(({ path, parameters, body, headers }) => {
    if (path.endsWith('_apl')) {
      queries++;
      onQuery();
      if (queries % 3 === 0)
        return { status: 429, headers: { 'retry-after': '0' }, body: { message: 'rate limit exceeded' } };
    }
    return response => {
      const to = `${url}${path}?${new URLSearchParams(parameters)}`;
      const { authorization = '' } = headers;
      const asks = fetch(to, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === '' ? {} : { method: 'POST', body }),
      });
      void asks.then(async answer => {
        const bytes = Buffer.from(await answer.arrayBuffer());
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes);
      });
    };
  });
  const connect = async () => ({ url, token, restarted: false });
  bench = await startBench({
    local: () => ({ connect, close: () => undefined }),
    environment: () => ({ url: gateway.url, token }),
  });
  expect(traceback(await bench.run(`%import ${file} --dataset web`))).toEqual([]);
  return async () => {
    await bench.close();
    await gateway.close();
    await service.close();
    await rm(dataDir, { recursive: true, force: true });
  };
}, timeoutMs);

const cell =
  '%use environment\n%%time 2026-03-04T00:00:00Z..2026-03-05T00:00:00Z\n%fetch --all\nall_of_them << web';

test(
  'fetches each event once if many share a time, despite interrupts and refusals',
  async () => {
    for (const stopAt of [2, 5]) {
      const stop = new AbortController();
      const until = queries + stopAt;
      onQuery = () => queries >= until && stop.abort();
      const run = await bench.run(cell, { signal: stop.signal });
      expect(traceback(run)[0]).toMatch(/^Interrupted/);
    }
    onQuery = () => undefined;
    const before = queries;
    const sum = (count * (count - 1)) / 2;
    const run = await bench.run(
      cell.replace(
        '%fetch',
        `%assert rows == ${count} and dcount(n) == ${count} and sum(n) == ${sum} and min(n) == 0\n%fetch`,
      ),
    );
    expect(traceback(run)).toEqual([]);
    expect(queries - before).toBeGreaterThan(Math.ceil(count / 50_000));
  },
  timeoutMs,
);
