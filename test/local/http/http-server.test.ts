import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ownProcess } from '../../../kernel/local/lease/processes.js';
import { samples } from '../../../kernel/local/samples/all-samples.js';
import { findShared } from '../../../kernel/local/shared.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import type { Compile } from '../../../kernel/local/sql/compiled-query.js';
import { type Answer, sharedService, type TestService, temporaryDirectory, testService } from '../service.js';

/** Origin of a page that may use the service. */
const page = 'http://localhost:3000';
const service = sharedService({ origins: [page] });

interface Plain {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

/** Sends a request with exactly these headers, which fetch does not support. */
async function plain(
  to: TestService,
  route: string,
  headers: Record<string, string>,
  body?: string,
  method = body === undefined ? 'GET' : 'POST',
): Promise<Plain> {
  const sent = request(to.service.url + route, {
    method,
    headers,
    agent: false,
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) };
}

// ---- access control ----

const visitors: readonly (readonly [
  what: string,
  headers: (to: TestService) => Record<string, string>,
  status: number,
])[] = [
  ['the token of the service', to => ({ authorization: `Bearer ${to.service.token}` }), 200],
  [
    'the token with the prefix of a personal one',
    to => ({ authorization: `Bearer ${to.service.token.replace('xaat-', 'xapt-')}` }),
    200,
  ],
  ['no token', () => ({}), 401],
  ['another token', () => ({ authorization: 'Bearer x' }), 401],
  ['a prefix of the token', to => ({ authorization: `Bearer ${to.service.token.slice(0, -1)}` }), 401],
  ['another scheme', to => ({ authorization: `Basic ${to.service.token}` }), 401],
  ['localhost', to => ({ host: `localhost:${new URL(to.service.url).port}`, ...bearer(to) }), 200],
  ['::1', to => ({ host: `[::1]:${new URL(to.service.url).port}`, ...bearer(to) }), 200],
  [
    'a rebound host name',
    to => ({ host: `evil.example:${new URL(to.service.url).port}`, ...bearer(to) }),
    403,
  ],
  ['another port', to => ({ host: '127.0.0.1:1', ...bearer(to) }), 403],
  ['a host without port', to => ({ host: '127.0.0.1', ...bearer(to) }), 403],
  ['the origin of the service', to => ({ origin: to.service.url, ...bearer(to) }), 200],
  ['another origin', to => ({ origin: 'https://evil.example', ...bearer(to) }), 403],
  ['the origin null', to => ({ origin: 'null', ...bearer(to) }), 403],
  ['an origin of --cors', to => ({ origin: page, ...bearer(to) }), 200],
  ['an origin of --cors but no token', () => ({ origin: page }), 401],
  [
    'an origin of --cors under another scheme',
    to => ({ origin: 'https://localhost:3000', ...bearer(to) }),
    403,
  ],
  ['an origin of --cors on another port', to => ({ origin: 'http://localhost:30000', ...bearer(to) }), 403],
];

function bearer(to: TestService): Record<string, string> {
  return { authorization: `Bearer ${to.service.token}` };
}

test.each(visitors)('access control: a request with %s', async (_, headers, status) => {
  const answer = await plain(service(), '/v2/user', headers(service()));
  expect(answer.status).toBe(status);
  expect(answer.bytes.toString()).not.toContain(service().service.token);
});

test('a preflight request from another origin is refused', async () => {
  const answer = await service().send('OPTIONS', '/v2/user', undefined, { origin: 'https://evil.example' });
  expect(answer.status).toBe(403);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
});

test('a page of --cors may send a preflight without the token, and read answers and errors', async () => {
  const asked = {
    origin: page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,x-axiom-client',
  };
  const ahead = await plain(service(), '/v1/datasets/_apl', asked, undefined, 'OPTIONS');
  expect([ahead.status, ahead.headers['access-control-allow-origin']]).toEqual([204, page]);
  expect(ahead.headers['access-control-allow-headers']).toBe('authorization,x-axiom-client');
  expect(ahead.headers['access-control-allow-credentials']).toBeUndefined();
  const answer = await plain(service(), '/v2/user', { origin: page });
  expect([answer.status, answer.headers['access-control-allow-origin'], answer.headers.vary]).toEqual([
    401,
    page,
    'Origin',
  ]);
});

test('the service listens on the loopback interface only', () => {
  expect(new URL(service().service.url).hostname).toBe('127.0.0.1');
});

// ---- queries ----

test.each(['/v1/datasets/_apl', '/v1/query/_apl?format=tabular&nocache=true'])(
  'a query is answered at %s',
  async route => {
    const response = await service().send('POST', route, {
      apl: 'a:long\nSELECT 1::BIGINT',
      startTime: 'now-1h',
      endTime: 'now',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-axiom-trace-id')).toMatch(/^[0-9a-f]{32}$/);
    const body: Answer['body'] = await response.json();
    expect([body.format, body.datasetNames, body.fieldsMetaMap]).toEqual(['tabular', [], {}]);
    expect(body.tables[0].columns).toEqual([[1]]);
  },
);

test('an APL error is answered with its position and a hint', async () => {
  expect(await service().query('first\r\nsecond ?')).toEqual({
    status: 400,
    body: {
      code: 400,
      message: 'no such field. write another',
      detail: {
        errorType: 'compile',
        compileErrorCode: 'unknown-field',
        line: 2,
        column: 8,
        message: 'no such field',
        hint: 'write another',
      },
    },
  });
});

const refused: readonly (readonly [
  what: string,
  route: string,
  body: unknown,
  status: number,
  message: string,
])[] = [
  ['no APL', '/v1/datasets/_apl', {}, 400, '`apl` should be a query string.'],
  [
    'a member of the wrong type',
    '/v1/datasets/_apl',
    { apl: 'x', startTime: 5 },
    400,
    '`startTime` should be a string.',
  ],
  [
    'no body',
    '/v1/query/_apl',
    undefined,
    422,
    'The request has no body. Send a JSON object with the query in `apl`.',
  ],
  ['a body that is not an object', '/v1/datasets/_apl', [1], 400, 'The body should be a JSON object.'],
  [
    'an unknown format',
    '/v1/datasets/_apl?format=xml',
    { apl: 'x' },
    400,
    'Unsupported result format "xml". Use `format=tabular` or `format=legacy`.',
  ],
  ['no such route', '/v9/nothing', {}, 404, 'Not found: The service has no POST /v9/nothing.'],
];

test.each(refused)('a request is refused: %s', async (_, route, body, status, message) => {
  const answer = await service().json('POST', route, body);
  expect([answer.status, answer.body.code, answer.body.message]).toEqual([status, status, message]);
});

test('a body that is not JSON is refused', async () => {
  const answer = await service().json('POST', '/v1/datasets/_apl', '{"apl": ');
  expect([answer.status, answer.body.code]).toEqual([400, 400]);
});

test('a body beyond the limit is refused', async () => {
  const message = 'The body is larger than 1 KiB, the limit for this request.';
  const hint = 'Shorten the query, for example by importing long lists of values as a dataset.';
  const limited = await testService({ limits: { bodyBytes: 1024 } });
  const answer = await limited.json('POST', '/v1/datasets/_apl', { apl: 'x'.repeat(2000) });
  expect(answer).toEqual({
    status: 413,
    body: {
      code: 413,
      message: `${message} ${hint}`,
      detail: { errorType: 'too-large', message, hint },
    },
  });
});

test.each([
  ['gzip', 'gzip'],
  ['deflate, gzip;q=0.5', 'gzip'],
  ['gzip;q=0', undefined],
  ['identity', undefined],
])('a large answer to a client that accepts %s is encoded as %s', async (accepted, packed) => {
  const headers = { ...bearer(service()), 'content-type': 'application/json', 'accept-encoding': accepted };
  const body = JSON.stringify({ apl: "a:string\nSELECT 'text ' || i FROM range(10000) t(i)" });
  const answer = await plain(service(), '/v1/query/_apl', headers, body);
  expect(answer.headers['content-encoding']).toBe(packed);
  const text = (packed === 'gzip' ? gunzipSync(answer.bytes) : answer.bytes).toString();
  expect(JSON.parse(text).tables[0].columns[0].at(-1)).toBe('text 9999');
});

const endless =
  'a:long\nSELECT count(*) FROM range(10000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';

test('a client that disconnects frees its slot', async () => {
  const one = await testService({ limits: { connections: 1 } });
  const abort = new AbortController();
  const pending = fetch(`${one.service.url}/v1/query/_apl`, {
    method: 'POST',
    headers: { ...bearer(one), 'content-type': 'application/json' },
    body: JSON.stringify({ apl: endless }),
    signal: abort.signal,
  });
  const gone = expect(pending).rejects.toThrow('aborted');
  const behind = one.query('a:long\nSELECT 7::BIGINT');
  abort.abort();
  await gone;
  expect((await behind).body.tables[0].columns).toEqual([[7]]);
});

/** Sends a complete query and disconnects after `afterMs`, whatever the service is doing then. */
async function leaveEarly(to: TestService, apl: string, afterMs: number): Promise<void> {
  const body = JSON.stringify({ apl });
  const { hostname, port, host } = new URL(to.service.url);
  const head = [
    'POST /v1/query/_apl HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${to.service.token}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  await delay(afterMs);
  socket.destroy();
}

const rowsOf100Bytes = "extend text = strcat(strrep('a', 93), tostring(100000 + x)) | project text";

test.each([
  ['streamed', `range x from 1 to 20000 step 1 | ${rowsOf100Bytes} | limit 20000`],
  ['sorted', `range x from 1 to 20000 step 1 | ${rowsOf100Bytes} | sort by text`],
  ['grouped', `range x from 1 to 20000 step 1 | ${rowsOf100Bytes} | summarize count() by text`],
  [
    'with totals',
    `range x from 1 to 20000 step 1 | ${rowsOf100Bytes} | extend _time = now() | summarize count() by bin(_time, 1h), text`,
  ],
  [
    'computed in another process',
    `range x from 1 to 20000 step 1 | ${rowsOf100Bytes} | extend h = hash_sha512(text)`,
  ],
])('an oversized answer is refused before it uses the memory: %s', async (_, apl) => {
  const own = await testService({
    compile: compileRequest,
    limits: { answerBytes: 2 ** 20, connections: 1 },
  });
  const { status, body } = await own.query(apl);
  expect([status, body.detail]).toEqual([
    400,
    {
      errorType: 'answer-too-large',
      message: 'The result would be larger than 1 MiB, the maximum size.',
      hint: 'Aggregate in the query, project fewer fields, or set a lower limit.',
    },
  ]);
  const fitting = await own.query(apl.replace('20000', '4000'));
  expect([fitting.status, fitting.body.tables[0].columns[0].length]).toEqual([200, 4000]);
});

/** Ten years of a sample: too slow to wait for. */
const heavy = {
  apl: "['sample-http-logs'] | summarize sum(req_duration_ms)",
  startTime: '2020-01-01T00:00:00Z',
  endTime: '2030-01-01T00:00:00Z',
};
const heavyRows = 1_262_476_800;

test('short queries and schema requests overtake long ones; waiting clients learn their position', async () => {
  const limits = { connections: 3, long: 1 };
  const own = await testService({ compile: compileRequest, samples, limits });
  const abort = new AbortController();
  const ask = (id: string, client: string) =>
    fetch(`${own.service.url}/v1/query/_apl`, {
      method: 'POST',
      headers: {
        ...bearer(own),
        'content-type': 'application/json',
        'x-apl-query': id,
        'x-apl-client': client,
      },
      body: JSON.stringify(heavy),
      signal: abort.signal,
    }).catch(() => 'left');
  const state = (id: string) => own.json('GET', `/v1/local/queries/${id}`);
  const queries = [ask('a1', 'a')];
  await expect.poll(async () => (await state('a1')).body.rows).toBe(heavyRows);
  for (const id of ['a2', 'a3', 'a4', 'b1']) {
    queries.push(ask(id, id.slice(0, 1)));
    await expect.poll(async () => (await state(id)).body.state).toBe('waiting');
  }
  expect((await state('a4')).body).toEqual({ state: 'waiting', before: 3 });
  expect((await state('b1')).body).toEqual({ state: 'waiting', before: 0 });
  expect((await own.query('print x = 1')).body.tables[0].columns).toEqual([[1]]);
  expect((await own.json('GET', '/v2/datasets')).status).toBe(200);
  abort.abort();
  expect(new Set(await Promise.all(queries))).toEqual(new Set(['left']));
  await expect.poll(async () => (await state('a1')).status).toBe(404);
});

test('clients that disconnect while their queries are prepared leave nothing running', async () => {
  const one = await testService({ limits: { connections: 1, queue: 100 } });
  await Promise.all(Array.from({ length: 40 }, (_, index) => leaveEarly(one, endless, index % 14)));
  expect((await one.query('a:long\nSELECT 7::BIGINT')).body.tables[0].columns).toEqual([[7]]);
});

test('an engine failure fails only its own query', async () => {
  const lines: string[] = [];
  const own = await testService({ log: text => lines.push(text) });
  const failed = await own.query('a:long\nSELECT nonsense');
  expect([failed.status, failed.body.detail.errorType]).toEqual([500, 'engine-failed']);
  expect(lines.map(line => line.split(':')[0])).toEqual(['POST /v1/datasets/_apl?format=tabular']);
  expect((await own.query('a:long\nSELECT 1::BIGINT')).status).toBe(200);
});

test('engine messages do not reach the answer', async () => {
  const { body } = await service().query("a:long\nSELECT nonsense FROM read_parquet('/secret/file.parquet')");
  expect(JSON.stringify(body)).not.toMatch(/nonsense|secret|Error:|LINE/);
});

test('a busy JavaScript function does not block other queries, and can be interrupted', async () => {
  const own = await testService({ compile: compileRequest });
  const apl = `range x from 1 to 9000 step 1 | summarize s = make_list(x)
    | extend i = range(1, 5000) | mv-expand i | project array_length(series_fir(s, s))`;
  const abort = new AbortController();
  const body = JSON.stringify({ apl });
  const headers = { ...bearer(own), 'content-type': 'application/json' };
  const busy = fetch(`${own.service.url}/v1/query/_apl`, {
    method: 'POST',
    headers,
    body,
    signal: abort.signal,
  });
  const gone = expect(busy).rejects.toThrow('aborted');
  await delay(3_000);
  expect((await own.query('print x = 1')).body.tables[0].columns).toEqual([[1]]);
  abort.abort();
  await gone;
  const columns = async () =>
    (await own.query("print x = strcat_array(series_fir(dynamic([1, 2]), dynamic([1])), ',')")).body;
  expect((await Promise.all([columns(), columns(), columns()])).map(each => each.tables[0].columns)).toEqual([
    [['1,2']],
    [['1,2']],
    [['1,2']],
  ]);
});

test.each([
  [
    'range x from 1 to 1000000 step 1 | summarize s = make_list(x) | project array_length(series_fir(s, s))',
    'function-cost',
  ],
  [`print x = 'a' matches regex '${'x'.repeat(100_000)}'`, 'invalid-argument'],
  ["range x from 1 to toint('1048577') step 1 | count", 'too-much-computed'],
  ["range x from 0.5 to todouble('1048577') step 1 | count", 'too-much-computed'],
])('a query is refused for its cost: %#', async (apl, code) => {
  const own = await testService({ compile: compileRequest });
  const { status, body } = await own.query(apl);
  expect([status, body.detail.compileErrorCode ?? body.detail.errorType]).toEqual([400, code]);
});

// ---- datasets ----

test('datasets are created, described, listed and deleted', async () => {
  const own = await testService();
  const created = await own.json('POST', '/v2/datasets', { name: 'my logs', description: 'mine' });
  expect([created.status, created.body.id, created.body.description]).toEqual([200, 'my logs', 'mine']);
  expect((await own.json('POST', '/v2/datasets', { name: 'my logs' })).status).toBe(409);
  const event = '{"m":{"a":[1]},"x":1.5}';
  await own.json('POST', '/v1/datasets/my%20logs/ingest', event, { 'content-type': 'application/x-ndjson' });
  await own.json('PUT', '/v2/datasets/my%20logs/fields/x', { unit: 'ms', description: 'how long' });
  expect((await own.json('GET', '/v2/datasets/my%20logs/fields')).body).toEqual([
    { name: '_time', type: 'datetime', unit: '', hidden: false, description: '' },
    { name: '_sysTime', type: 'datetime', unit: '', hidden: false, description: '' },
    { name: 'm.a', type: 'dynamic', unit: '', hidden: false, description: '' },
    { name: 'x', type: 'float', unit: 'ms', hidden: false, description: 'how long' },
  ]);
  expect((await own.json('GET', '/v2/datasets/my%20logs/mapfields')).body).toEqual(['m.a']);
  const answer = (await own.query('dataset my logs: x:real')).body;
  expect(answer.datasetNames).toEqual(['my logs']);
  expect(answer.fieldsMetaMap['my logs'].at(-1)).toEqual({
    name: 'x',
    type: 'float',
    unit: 'ms',
    hidden: false,
    description: 'how long',
  });
  const { rowsExamined, rowsMatched, blocksExamined, minBlockTime, maxBlockTime } = answer.status;
  expect([rowsExamined, rowsMatched, blocksExamined]).toEqual([1, 1, 1]);
  expect([minBlockTime, maxBlockTime]).toEqual(['2026-06-15T12:00:00Z', '2026-06-15T12:00:00Z']);
  expect((await own.json('GET', '/v2/datasets')).body.map((each: { name: string }) => each.name)).toEqual([
    'my logs',
  ]);
  expect((await own.json('DELETE', '/v2/datasets/my%20logs')).status).toBe(204);
  expect((await own.json('GET', '/v2/datasets/my%20logs')).status).toBe(404);
  expect((await own.json('GET', '/v2/datasets/my%20logs/fields')).status).toBe(404);
});

test('lists of resources that a local service lacks are empty', async () => {
  expect(await service().json('GET', '/v2/monitors')).toEqual({ status: 200, body: [] });
  expect((await service().json('GET', '/v2/user')).body).toEqual({
    id: 'local',
    name: 'local',
    email: '',
    role: { id: 'owner', name: 'Owner' },
  });
});

test('the service runs APL and reports the position of an error', async () => {
  const own = await testService({ compile: compileRequest });
  const event =
    '{"_time":"2026-06-15T11:30:00Z","status":500}\n{"_time":"2026-06-15T11:31:00Z","status":200}';
  await own.json('POST', '/v2/datasets', { name: 'logs' });
  await own.json('POST', '/v1/datasets/logs/ingest', event, { 'content-type': 'application/x-ndjson' });
  const answer = await own.query('logs | where status == 500 | project _time, status');
  expect(answer.body.tables?.[0].columns).toEqual([['2026-06-15T11:30:00Z'], [500]]);
  expect([answer.body.status.rowsExamined, answer.body.status.rowsMatched]).toEqual([2, 1]);
  const wrong = await own.query('logs\n| where stauts == 500');
  expect([wrong.status, wrong.body.detail.line, wrong.body.detail.column]).toEqual([400, 2, 9]);
});

const counted: readonly (readonly [apl: string, examined: number, matched: number])[] = [
  ['counts | count', 5000, 5000],
  ['counts | where n % 10 == 0 | count', 5000, 500],
  ['counts | extend m = n * 2 | where m < 20 | sort by n | limit 3', 5000, 10],
  ['union (counts | where n < 3), (counts | where n == 9)', 10_000, 4],
  ['print x = 1', 0, 0],
];

test.each(counted)('rows examined and matched: %s', async (apl, examined, matched) => {
  const own = await testService({ compile: compileRequest });
  const events = Array.from({ length: 5000 }, (_, n) => ({ _time: '2026-06-15T11:30:00Z', n }));
  await own.json('POST', '/v2/datasets', { name: 'counts' });
  await own.json('POST', '/v1/datasets/counts/ingest', events);
  const { status } = (await own.query(apl)).body;
  expect([status.rowsExamined, status.rowsMatched]).toEqual([examined, matched]);
});

// ---- a managed service ----

function runtimeFile(of: TestService): string {
  return path.join(of.dataDir, 'service.json');
}

async function hold(to: TestService): Promise<ClientRequest> {
  const sent = request(`${to.service.url}/v1/alive`, { headers: bearer(to), agent: false });
  sent.on('error', () => {});
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const [chunk] = await once(response, 'data');
  expect([response.statusCode, String(chunk)]).toEqual([200, '{"alive":true}\n']);
  return sent;
}

test('a managed service writes its runtime file for its user alone, and removes it on close', async () => {
  const managed = await testService({ managed: true });
  const { url, token } = managed.service;
  const secret = expect.any(String);
  const content = { url, token, secret, ...(await ownProcess()), version: '1.2.3', format: 1 };
  expect(JSON.parse(await readFile(runtimeFile(managed), 'utf8'))).toEqual(content);
  const shared = await findShared(managed.dataDir);
  expect([shared.kind, 'file' in shared && shared.file.token]).toEqual(['running', token]);
  expect((await stat(runtimeFile(managed))).mode & 0o777).toBe(0o600);
  await managed.service.close();
  await expect(stat(runtimeFile(managed))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a proof request needs a nonce but no token', async () => {
  const nonce = 'ab'.repeat(32);
  const answer = await plain(service(), `/v1/local/proof?nonce=${nonce}`, {});
  expect([answer.status, answer.bytes.toString()]).toEqual([200, expect.stringMatching(/^[\w-]{43}$/)]);
  expect((await plain(service(), '/v1/local/proof?nonce=short', {})).status).toBe(400);
  expect((await plain(service(), `/v1/local/proof?nonce=${nonce}`, { host: 'evil.example' })).status).toBe(
    403,
  );
});

test('a closing service leaves the runtime file of its successor', async () => {
  const managed = await testService({ managed: true });
  await writeFile(runtimeFile(managed), '{"secret":"other"}');
  await managed.service.close();
  expect(await readFile(runtimeFile(managed), 'utf8')).toBe('{"secret":"other"}');
});

test('a managed service closes after its last holder is gone', async () => {
  const managed = await testService({ managed: true, limits: { idleMs: 1500 } });
  const [first, second] = [await hold(managed), await hold(managed)];
  first.destroy();
  await new Promise(resolve => setTimeout(resolve, 1800));
  expect((await managed.json('GET', '/v2/user')).status).toBe(200);
  second.destroy();
  await managed.service.closed;
  await expect(stat(runtimeFile(managed))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a managed service that nobody holds closes and logs why', async () => {
  const lines: string[] = [];
  const managed = await testService({ managed: true, limits: { idleMs: 10 }, log: text => lines.push(text) });
  await managed.service.closed;
  expect(lines).toEqual(['the service is no longer in use: closing']);
});

test('an unmanaged service is found too, and stays up without kernels', async () => {
  const own = await testService({ limits: { idleMs: 10 } });
  (await hold(own)).destroy();
  await new Promise(resolve => setTimeout(resolve, 100));
  expect((await own.json('GET', '/v2/user')).status).toBe(200);
  expect((await findShared(own.dataDir)).kind).toBe('running');
});

// ---- datasets that disappear while a query runs ----

/** Starts a service with the datasets `d`, which holds 1, and `other`, which holds 2; each compilation triggers the next of `events`. */
async function serviceWithEvents(...events: readonly ((root: string) => void)[]): Promise<TestService> {
  const dataDir = await temporaryDirectory();
  const left = [...events];
  const compile: Compile = (...request) => {
    const compiled = compileRequest(...request);
    // Only once the dataset is read, after which the query is compiled again.
    if (request[1].schema('d')?.open === false) left.shift()?.(path.join(dataDir, 'datasets'));
    return compiled;
  };
  const own = await testService({ dataDir, compile });
  for (const [name, n] of [
    ['d', 1],
    ['other', 2],
  ] as const) {
    await own.json('POST', '/v2/datasets', { name });
    await own.json('POST', `/v1/datasets/${name}/ingest`, [{ n, _time: '2026-06-15T11:59:59Z' }]);
    await own.json('GET', `/v1/local/datasets/${name}`);
  }
  return own;
}

const deleted = (root: string) => rmSync(path.join(root, 'd'), { recursive: true });
const replaced = (root: string) => {
  deleted(root);
  cpSync(path.join(root, 'other'), path.join(root, 'd'), { recursive: true });
};

const pipes = (root: string) => {
  const file = path.join(
    root,
    'd',
    readdirSync(path.join(root, 'd')).find(name => name.endsWith('.parquet')) ?? '',
  );
  rmSync(file);
  execFileSync('mkfifo', [file]);
};

test.each([
  ['is deleted', [deleted], 400, 'unknown dataset `d`'],
  ['is replaced', [replaced], 200, '[[2]]'],
  ['is replaced, then deleted', [replaced, deleted], 409, 'deleted twice while the query was running'],
] as const)('a query restarts if its dataset %s while it runs', async (_, events, status, text) => {
  const own = await serviceWithEvents(...events);
  const answer = await own.query('d | project n');
  expect(answer.status).toBe(status);
  expect(
    answer.status === 200 ? JSON.stringify(answer.body.tables[0].columns) : answer.body.message,
  ).toContain(text);
  expect(JSON.stringify(answer.body)).not.toContain(own.dataDir);
});

test('a query is refused if a pipe replaces one of its files while it runs', async () => {
  const own = await serviceWithEvents(pipes);
  const { status, body } = await own.query('d | project n');
  expect([status, body.message]).toEqual([
    400,
    expect.stringMatching(
      /^The dataset `d` cannot be read: \/.*\.parquet cannot be read: it is a pipe, a socket or a device\.$/,
    ),
  ]);
});
