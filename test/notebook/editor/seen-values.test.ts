import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Logins } from '../../../kernel/api/login/logins.js';
import { SeenValues } from '../../../kernel/notebook/editor/seen-values.js';
import { Session } from '../../../kernel/notebook/session.js';
import { parseRange } from '../../../kernel/notebook/time-range.js';
import { type Service, startService, tabular } from '../../api/service.js';
import { now, queries } from '../session.js';

let service: Service;
let home: string;
let session: Session;
let seen: SeenValues;

beforeEach(async () => {
  service = await startService(() => found('GET', 'POST'));
  home = await mkdtemp(join(tmpdir(), 'apl-seen-'));
  session = new Session({
    now: () => now,
    environment: {},
    homeDir: home,
    workDir: home,
    version: '1.2.3',
    local: {
      connect: async () => ({ url: service.url, token: 't', restarted: false }),
      close: () => undefined,
    },
    logins: new Logins({ file: join(home, 'logins.json') }),
    log: () => undefined,
  });
  seen = new SeenValues(session);
});

afterEach(async () => {
  vi.useRealTimers();
  await session.close();
  await service.close();
  await rm(home, { recursive: true });
});

function found(...values: readonly unknown[]) {
  return {
    body: tabular(
      [
        { name: 'value', type: 'dynamic' },
        { name: 'n', type: 'integer' },
      ],
      [values, values.map(() => 1)],
    ),
  };
}

const asked = () => queries(service).map(({ apl }) => apl);

/** Returns the known values of a field once the service has answered. */
async function values(field = 'method', datasets: readonly string[] = ['web']): Promise<readonly string[]> {
  seen.values(field, datasets);
  await seen.settle(10_000);
  return seen.values(field, datasets);
}

describe('values', () => {
  test('are queried over the time range, then cached', async () => {
    service.answer(() => ({ body: tabular([{ name: 'value', type: 'string' }], [['GET', null, 'POST']]) }));
    expect(seen.values('method', ['web'])).toEqual([]);
    expect(await seen.settle(10_000)).toBe(true);
    expect(seen.values('method', ['web'])).toEqual(['GET', 'POST']);
    expect(await seen.settle(10_000)).toBe(false);
    expect(queries(service)).toEqual([
      {
        apl: "['web'] | where isnotempty(['method']) | summarize n = count() by value = ['method'] | top 50 by n",
        startTime: '2026-03-04T04:06:07.123456789Z',
        endTime: '2026-03-04T05:06:07.123456789Z',
      },
    ]);
  });

  test('of several datasets are combined', async () => {
    service.answer(({ body }) => ({
      body: tabular([{ name: 'value', type: 'string' }], [[body.includes("['web']") ? 'a' : 'b']]),
    }));
    expect(await values('f', ['web', 'logs'])).toEqual(['a', 'b']);
  });

  test('are fetched once per range', async () => {
    await values();
    await values();
    expect(asked().length).toBe(1);
    session.range = parseRange('last 5m');
    expect(seen.values('method', ['web'])).toEqual([]);
    await seen.settle(10_000);
    expect(asked().length).toBe(2);
  });

  test('are refetched after a minute; the old ones are shown meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    service.answer(() => ({ body: tabular([{ name: 'value', type: 'string' }], [['old']]) }));
    await values();
    vi.advanceTimersByTime(59_999);
    await values();
    expect(asked().length).toBe(1);
    vi.advanceTimersByTime(1);
    service.answer(() => ({ body: tabular([{ name: 'value', type: 'string' }], [['new']]) }));
    expect(seen.values('method', ['web'])).toEqual(['old']);
    await seen.settle(10_000);
    expect(seen.values('method', ['web'])).toEqual(['new']);
    expect(asked().length).toBe(2);
  });

  test('are empty if the service refuses', async () => {
    service.answer(() => ({ status: 400, body: { message: 'no' } }));
    expect(await values()).toEqual([]);
  });

  test('are awaited no longer than the timeout', async () => {
    service.answer(() => () => undefined);
    expect(seen.values('method', ['web'])).toEqual([]);
    expect(await seen.settle(1)).toBe(true);
    expect(seen.values('method', ['web'])).toEqual([]);
  });

  test('of a field and dataset with quotes in their names are fetched', async () => {
    await values("it's", ["we'b\\"]);
    expect(asked()[0]).toContain("['we\\'b\\\\'] | where isnotempty(['it\\'s'])");
  });
});

test('keys of a nested map are fetched by its path', async () => {
  service.answer(() => ({ body: tabular([{ name: 'key', type: 'string' }], [['city']]) }));
  seen.keys(['attrs', 'geo'], ['web']);
  await seen.settle(10_000);
  expect(seen.keys(['attrs', 'geo'], ['web'])).toEqual(['city']);
  const map = "['attrs']['geo']";
  expect(asked()).toEqual([
    `['web'] | where isnotnull(${map}) | limit 200 | project key = bag_keys(${map}) | mv-expand key to typeof(string) | summarize n = count() by key | top 100 by n`,
  ]);
});
