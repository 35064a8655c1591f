import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../../kernel/api/client.js';
import { answer, failureOf, request, useService } from '../connections.js';
import { type Reply, startService } from '../service.js';

const connections = useService();
const { connect } = connections;

const star = { kind: 'apl', name: 'n', who: 'u', metadata: {}, query: { apl: 'web' } } as const;
const reset: Reply = response => response.socket?.destroy();
const cut: Reply = response => {
  response.write('{"tables":');
  setTimeout(() => response.socket?.destroy(), 20);
};
const cutByReset: Reply = response => {
  response.write('{"tables":');
  setTimeout(() => response.socket?.resetAndDestroy(), 20);
};
const status = (code: number, headers: Record<string, string> = {}): Reply => ({
  status: code,
  headers,
  body: { message: 'no' },
});
const inOneHour = String(Math.floor(Date.now() / 1000) + 3600);

const query = (client: Client) => client.query(request);
const write = (client: Client) => client.createStarred(star);

describe('a request is sent', () => {
  test.each<readonly [number, string, (client: Client) => Promise<unknown>, Reply]>([
    [4, 'a query after 502', query, status(502)],
    [4, 'a query after 503', query, status(503)],
    [4, 'a query after 504', query, status(504)],
    [4, 'a query after 429', query, status(429)],
    [4, 'a query after 429 with a wait of zero', query, status(429, { 'retry-after': '0' })],
    [
      4,
      'a query after 429 with a wait until a time in the past',
      query,
      status(429, { 'x-ratelimit-reset': '1000000000' }),
    ],
    [4, 'a query after a date in the past', query, status(429, { 'retry-after': new Date(0).toUTCString() })],
    [4, 'a query after an invalid wait', query, status(503, { 'retry-after': 'soon' })],
    [4, 'a query whose connection is reset', query, reset],
    [4, 'a listing after 503', client => client.datasets(), status(503)],
    [4, 'a write after 429, as it was not executed', write, status(429)],
    [1, 'a write after 502', write, status(502)],
    [1, 'a write after 503', write, status(503)],
    [1, 'a write after 504', write, status(504)],
    [1, 'a write whose connection is reset', write, reset],
    [1, 'an update after 503', client => client.putStarred('a', star), status(503)],
    [1, 'a deletion after 503', client => client.deleteStarred('a'), status(503)],
    [1, 'a query after 400', query, status(400)],
    [1, 'a query after 430', query, status(430)],
    [1, 'a query after 500', query, status(500)],
    [1, 'a query after 501', query, status(501)],
    [1, 'a query after 505', query, status(505)],
    [1, 'a query with a truncated response', query, cut],
    [1, 'a query with a response cut off by a reset', query, cutByReset],
    [1, 'a query after a long wait', query, status(429, { 'retry-after': '31' })],
    [1, 'a query after an infinite wait', query, status(503, { 'retry-after': 'Infinity' })],
    [1, 'a query after a rate limit of an hour', query, status(429, { 'x-ratelimit-reset': inOneHour })],
    [
      1,
      'a query after a reset time in milliseconds',
      query,
      status(429, { 'x-ratelimit-reset': `${inOneHour}000` }),
    ],
    [1, 'a query after a relative reset of an hour', query, status(429, { 'x-querylimit-reset': '3600' })],
    [1, 'a query after an hour in the IETF header', query, status(429, { 'ratelimit-reset': '3600' })],
    [
      1,
      'a query after an hour by a clock a year behind ours',
      query,
      status(429, { date: 'Tue, 25 Nov 2025 12:00:00 GMT', 'retry-after': 'Tue, 25 Nov 2025 13:00:00 GMT' }),
    ],
    [
      4,
      'a query after a short wait by a clock years ahead of ours',
      query,
      status(429, { date: 'Tue, 04 Dec 2057 12:00:00 GMT', 'x-ratelimit-reset': '2774692800' }),
    ],
  ])('%i times: %s', async (times, _, ask, reply) => {
    connections.service.answer(() => reply);
    await failureOf(ask(connect()));
    expect(connections.service.seen.length).toBe(times);
  });

  test('until it succeeds, and returns the response of the last try', async () => {
    const replies: Reply[] = [status(503), reset, { body: answer }, status(500)];
    connections.service.answer(() => replies.shift() as Reply);
    const { body } = await connect().query(request);
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(answer);
    expect(connections.service.seen.length).toBe(3);
  });

  test('once to the local service, which the kernel restarts', async () => {
    connections.service.answer(() => status(503));
    await failureOf(connect({ profileName: 'local' }).query(request));
    expect(connections.service.seen.length).toBe(1);
  });

  test('once if the wait would exceed the time limit', async () => {
    connections.service.answer(() => status(503, { 'retry-after': '20' }));
    const error = await failureOf(connect({}, 10_000).query(request));
    expect([error.code, connections.service.seen.length]).toEqual(['service-failed', 1]);
  });

  test('again, even for a write, if the connection was refused', async () => {
    const gone = await startService(() => ({}));
    await gone.close();
    const client = connect({ url: gone.url }, undefined, 60);
    const reasons = new Set<string>();
    const error = failureOf(client.createStarred(star));
    for (let ended = false; !ended; ) {
      ended = await Promise.race([error.then(() => true), delay(0, false)]);
      const pause = client.pause();
      if (pause !== undefined) reasons.add(`${pause.reason}, try ${pause.next}`);
    }
    expect((await error).code).toBe('connection-refused');
    expect([...reasons]).toContain('ECONNREFUSED, try 4');
  });
});

test('a wait lasts as long as requested, is reported, and ends at an interrupt', async () => {
  connections.service.answer(() => status(429, { 'retry-after': '20' }));
  const client = connect();
  const interrupt = new AbortController();
  const error = failureOf(client.query(request, interrupt.signal));
  while (client.pause() === undefined) await delay(5);
  const { reason, next, ms = 0 } = client.pause() ?? {};
  expect([reason, next]).toEqual(['status 429', 2]);
  expect(ms).toBeGreaterThanOrEqual(20_000);
  expect(ms).toBeLessThanOrEqual(25_000);
  interrupt.abort();
  const half = delay(ms / 2).then(() => 'half of the wait has passed');
  expect(await Promise.race([error.then(({ code }) => code), half])).toBe('interrupted');
  expect([client.pause(), connections.service.seen.length]).toEqual([undefined, 1]);
});

describe('the local service', () => {
  const connectOwn = () => connect({ profileName: 'local' });

  test('receives a query again if it had just closed the connection', async () => {
    const served = new WeakSet<object>();
    let closed = 0;
    connections.service.answer(() => response => {
      const { socket } = response;
      if (socket === null) return;
      if (served.has(socket)) {
        closed++;
        socket.destroy();
        return;
      }
      served.add(socket);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    const client = connectOwn();
    let asked = 0;
    for (; closed === 0; asked++) await query(client);
    expect(connections.service.seen.length).toBe(asked + 1);
  });

  test('receives a write once', async () => {
    connections.service.answer(() => reset);
    expect(await failureOf(write(connectOwn()))).toMatchObject({ code: 'connection-lost' });
    expect(connections.service.seen.length).toBe(1);
  });

  test('is reported as gone if nothing answers any more', async () => {
    connections.service.answer(() => response => {
      void connections.service.close();
      response.socket?.destroy();
    });
    expect(await failureOf(query(connectOwn()))).toMatchObject({ code: 'connection-lost' });
    expect(connections.service.seen.length).toBe(1);
  });
});
