import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../kernel/api/client.js';
import { AccessToken } from '../../kernel/api/profile.js';
import { AplKernelError } from '../../kernel/errors.js';

/** Everything that may answer in place of the service: bytes on a socket, and what a query says of them. */

type Fault = (socket: Socket) => void;

const secret = 'xaat-12345678-secret';

function http(status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array): Fault {
  const bytes = Buffer.from(body as Uint8Array);
  const lines = Object.entries({ 'content-length': String(bytes.length), ...headers }).map(each =>
    each.join(': '),
  );
  const head = `HTTP/1.1 ${status} Said\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`;
  return socket => socket.end(Buffer.concat([Buffer.from(head), bytes]));
}

const raw =
  (bytes: string | Uint8Array): Fault =>
  socket =>
    socket.end(bytes);
const json = { 'content-type': 'application/json' };
const said = (status: number, message: string, headers = {}) =>
  http(status, { ...json, ...headers }, JSON.stringify({ code: status, message }));
const page = (status: number) =>
  http(status, { 'content-type': 'text/html' }, '<html><body>Bad Gateway</body></html>');
const text = (status: number, body: string) => http(status, { 'content-type': 'text/plain' }, body);

const statuses = [
  301, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 413, 414, 415, 418, 421, 422, 423, 424,
  426, 428, 429, 430, 431, 451, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 522, 524, 530,
];
const whole = '{"format":"tabular","status":{},"tables":[],"datasetNames":[],"fieldsMetaMap":{}}';

const faults: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries(statuses.map(status => [`${status} in JSON`, said(status, 'no luck')])),
  ...Object.fromEntries(
    [200, 400, 403, 429, 500, 502, 503, 504].map(status => [`${status}, a web page`, page(status)]),
  ),
  ...Object.fromEntries(
    [400, 429, 500, 503].map(status => [`${status}, plain text`, text(status, 'line 1: parse error\n')]),
  ),
  '200, an error': http(200, json, '{"code":500,"message":"shard 7 is gone"}'),
  '200, an error without a code': http(200, json, '{"message":"shard 7 is gone"}'),
  '200, the error of a wrong query': http(200, json, '{"code":400,"message":"no such field"}'),
  '200, no body': http(200, json, ''),
  '200, a list': http(200, json, '[1,2]'),
  '200, a text': http(200, json, '"done"'),
  '200, JSON that is cut off': http(200, json, whole.slice(0, 40)),
  '200, fewer bytes than announced': http(200, { ...json, 'content-length': '999' }, whole),
  '200, packed with br': http(200, { ...json, 'content-encoding': 'br' }, whole),
  '200, packed with zstd': http(200, { ...json, 'content-encoding': 'zstd' }, whole),
  '200, packed with deflate': http(200, { ...json, 'content-encoding': 'deflate' }, whole),
  '200, gzip that is none': http(200, { ...json, 'content-encoding': 'gzip' }, whole),
  '200, gzip that is cut off': http(
    200,
    { ...json, 'content-encoding': 'gzip' },
    gzipSync(whole.repeat(9)).subarray(0, 30),
  ),
  '200, a chunk of a wrong size': raw(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${whole}`),
  '500, 3 MB': said(500, `it broke: ${'x'.repeat(3_000_000)}`),
  '429, over a budget': said(429, 'spend budget exceeded', { 'retry-after': '754' }),
  '429, over a rate': said(429, 'rate limit exceeded', {
    'x-ratelimit-scope': 'user',
    'x-ratelimit-limit': '10',
    'x-ratelimit-reset': '4102444800',
  }),
  '429, over the limit of queries': said(429, 'limit exceeded', {
    'x-querylimit-limit': '5000',
    'x-querylimit-remaining': '0',
    'x-querylimit-reset': '4102444800',
  }),
  '429, a gateway that names a time': said(429, 'slow down', { 'retry-after': '754' }),
  'the token in a message': said(400, `bad token ${secret}`),
  'a redirect to another host': said(302, '', { location: 'https://elsewhere.example/login' }),
  'not HTTP: SSH': raw('SSH-2.0-OpenSSH_9.6\r\n'),
  'not HTTP: TLS, which refuses': raw(Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46])),
  'not HTTP: zeros': raw(Buffer.alloc(64)),
  'closed at once': socket => socket.end(),
  'reset at once': socket => socket.resetAndDestroy(),
  'half a header, then closed': raw('HTTP/1.1 200 OK\r\ncontent-le'),
  'half a body, then reset': socket => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n${whole}`, () =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    );
  },
  'headers of 200 KB': http(200, { 'x-long': 'y'.repeat(200_000) }, whole),
};

interface Outcome {
  readonly requests: number;
  readonly error: unknown;
}

/** Sends a query to what answers each connection so; `{host}` stands for its address. */
async function met(answer: Fault, timeLimitMs = 20_000): Promise<Outcome> {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      answer(socket);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = { profileName: 'prod', url, token: new AccessToken(secret) } as const;
  const client = createClient(endpoint as never, { version: '1', timeLimitMs, retryMs: 1 });
  const error = await client.query({ apl: 'logs' }).then(
    () => undefined,
    (each: unknown) => each,
  );
  await client.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  return { requests, error };
}

function spoken(error: unknown): string {
  if (!(error instanceof AplKernelError)) return String(error ?? 'an answer');
  const short = error.message.replace(/127\.0\.0\.1:\d+/g, '{host}').replace(/x{50,}.*$/, 'xxx…');
  return [`\`${error.code}\` ${short}.`, error.hint].filter(Boolean).join(' ').replaceAll('|', '\\|');
}

const file = path.join(import.meta.dirname, '../../docs/faults.md');
const isUpdate = process.env.UPDATE_GOLDEN === '1';
const head = `# What a query says of everything that may answer it

Each row is an answer that a real socket gave, the number of requests that were sent, and what is shown. A request that only reads is
sent again where that is safe. \`UPDATE_GOLDEN=1 npx vitest run --project service test/api/faults.test.ts\` writes the table.

| answer | requests | shown |
|---|---|---|
`;

test('each fault is named, and the page has what is said of it', async () => {
  const lines: string[] = [];
  for (const [name, fault] of Object.entries(faults)) {
    const { requests, error } = await met(fault);
    expect([name, error instanceof AplKernelError]).toEqual([name, true]);
    expect(spoken(error)).not.toContain(secret);
    lines.push(`| ${name} | ${requests} | ${spoken(error)} |\n`);
  }
  expect(lines.length).toBeGreaterThanOrEqual(70);
  const page = head + lines.join('');
  if (isUpdate) writeFileSync(file, page);
  expect(page).toBe(readFileSync(file, 'utf8'));
});

describe('random faults', () => {
  test('a thousand answers of any bytes, cut anywhere: every query ends, by an error of ours or an answer', async () => {
    const good = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${whole.length}\r\n\r\n${whole}`;
    const random = seeded(20_261_125);
    const ended: unknown[] = [];
    const one = async () => {
      const bytes = Buffer.from(good);
      for (let change = random(4); change > 0; change--) bytes[random(bytes.length)] = random(256);
      const cut = bytes.subarray(0, random(2) === 0 ? bytes.length : random(bytes.length));
      ended.push((await met(random(8) === 0 ? socket => socket.write(cut) : raw(cut), 300)).error);
    };
    for (let round = 0; round < 50; round++) await Promise.all(Array.from({ length: 20 }, one));
    expect(ended.length).toBe(1000);
    expect(ended.filter(error => error !== undefined && !(error instanceof AplKernelError))).toEqual([]);
  });
});

/** Whole numbers below a bound, the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
