import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Client, createClient } from '../../kernel/api/client.js';
import {
  ApiError,
  ConnectionError,
  InterruptedError,
  QueryError,
  TruncatedAnswerError,
} from '../../kernel/api/errors.js';
import { type Endpoint, Token } from '../../kernel/api/profile.js';
import { type Reply, type Service, startService, tabular } from './service.js';

const secret = 'xaat-11111111-2222-3333-4444-555555555555';
const request = { apl: 'web | count', startTime: '2026-03-04T04:00:00Z', endTime: '2026-03-04T05:00:00Z' };
const answer = tabular([{ name: 'n', type: 'integer' }], [[1]]);

let service: Service;
let clients: Client[];

beforeEach(async () => {
  clients = [];
  service = await startService(() => ({ body: answer }));
});

afterEach(async () => {
  await Promise.all(clients.map(client => client.close()));
  await service.close();
});

function connect(endpoint: Partial<Endpoint> = {}, timeLimitMs?: number): Client {
  const client = createClient(
    { profileName: 'prod', url: service.url, token: new Token(secret), ...endpoint },
    { version: '1.2.3', ...(timeLimitMs === undefined ? {} : { timeLimitMs }) },
  );
  clients.push(client);
  return client;
}

async function failureOf(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    reason => reason,
  );
  if (error instanceof ApiError) return error;
  throw error;
}

/** Starts a TCP server that writes this and closes; returns its address. */
async function rawServer(text: string): Promise<{ url: string; close(): void }> {
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(text));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe('a query', () => {
  test('is posted to the API host, with what the API wants to know', async () => {
    await connect().query(request);
    const [seen] = service.seen;
    expect([seen?.method, seen?.path, seen?.parameters]).toEqual([
      'POST',
      '/v1/datasets/_apl',
      { format: 'tabular' },
    ]);
    expect(JSON.parse(seen?.body ?? '')).toEqual(request);
    const { authorization, accept, 'user-agent': agent, 'content-type': type } = seen?.headers ?? {};
    expect({ authorization, accept, agent, type }).toEqual({
      authorization: `Bearer ${secret}`,
      accept: 'application/json',
      agent: 'apl-kernel/1.2.3',
      type: 'application/json',
    });
    expect(seen?.headers['x-axiom-org-id']).toBe(undefined);
  });

  test('goes to the edge host where there is one, everything else to the API host', async () => {
    const edge = await startService(() => ({ body: answer }));
    const client = connect({ edgeUrl: `${edge.url}/base` });
    await client.query(request);
    service.answer(() => ({ body: [] }));
    await client.datasets();
    expect(edge.seen.map(each => each.path)).toEqual(['/base/v1/query/_apl']);
    expect(service.seen.map(each => each.path)).toEqual(['/v2/datasets']);
    await edge.close();
  });

  test('of a personal token names the organisation', async () => {
    await connect({ token: new Token('xapt-1'), orgId: 'acme' }).query(request);
    expect(service.seen[0]?.headers['x-axiom-org-id']).toBe('acme');
  });

  test('is answered with the bytes of the body and the facts of the headers', async () => {
    const headers = {
      'x-axiom-trace-id': 'abc',
      'x-axiom-history-query-id': 'h1',
      'x-querylimit-limit': '1000',
      'x-querylimit-remaining': '900',
      'x-querylimit-reset': '1772600767',
      'x-ratelimit-scope': 'organization',
      'x-ratelimit-remaining': '9',
    };
    const text = '{"tables":[[9007199254740993]]}';
    service.answer(() => ({ headers, body: text }));
    const { elapsedMs, body, ...facts } = await connect().query(request);
    expect(new TextDecoder().decode(body)).toBe(text);
    expect(elapsedMs).toBeGreaterThan(0);
    expect(facts).toEqual({
      traceId: 'abc',
      historyQueryId: 'h1',
      queryLimit: { limit: 1000, remaining: 900, resetSeconds: 1772600767 },
      rateLimit: { scope: 'organization', remaining: 9 },
    });
  });

  test('asks for gzip unless it stays on this machine', async () => {
    const { port } = new URL(service.url);
    for (const host of ['127.0.0.1', 'localhost', '0.0.0.0']) {
      await connect({ url: `http://${host}:${port}` }).query(request);
    }
    const encodings = service.seen.map(({ headers }) => headers['accept-encoding']);
    expect(encodings).toEqual(['identity', 'identity', 'gzip']);
  });

  test('may be answered in gzip', async () => {
    service.answer(() => ({
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(answer)),
    }));
    const { body } = await connect().query(request);
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(answer);
  });

  test('keeps its connection for the next one', async () => {
    const ports = new Set<number>();
    service.answer(() => response => {
      ports.add(response.socket?.remotePort ?? 0);
      response.end(JSON.stringify(answer));
    });
    const client = connect();
    for (let count = 0; count < 4; count++) {
      await client.query(request);
      await delay(1);
    }
    expect(ports.size).toBe(1);
  });
});

describe('an error body becomes', () => {
  const json = (status: number, message: string, headers: Record<string, string> = {}): Reply => ({
    status,
    headers,
    body: { code: status, message },
  });
  test.each<readonly [string, Reply, string, string, string]>([
    [
      '401',
      json(401, 'invalid token'),
      'UnauthorizedError',
      'unauthorized',
      '{host} does not accept the token of the profile prod: invalid token',
    ],
    [
      '403',
      json(403, 'missing capability'),
      'ForbiddenError',
      'forbidden',
      'the token of the profile prod may not run a query: missing capability',
    ],
    [
      '404',
      json(404, 'dataset not found'),
      'NotFoundError',
      'not-found',
      'could not run a query: not found: dataset not found',
    ],
    [
      '409',
      json(409, 'entity exists'),
      'ConflictError',
      'exists',
      'could not run a query: it exists already: entity exists',
    ],
    [
      '413',
      json(413, ''),
      'RequestError',
      'too-large',
      'could not run a query: the request is too large for {host}',
    ],
    ['422', json(422, 'no'), 'RequestError', 'refused', '{host} refused to run a query with status 422: no'],
    [
      '429 of a rate limit',
      {
        status: 429,
        headers: {
          'x-ratelimit-scope': 'user',
          'x-ratelimit-limit': '10',
          'x-ratelimit-reset': '1772600767',
        },
        body: { message: 'rate limit exceeded' },
      },
      'RateLimitError',
      'rate-limited',
      'too many requests to {host} (limit 10 per user): rate limit exceeded; it resets at 2026-03-04T05:06:07.000Z',
    ],
    [
      '429 of a budget',
      json(429, 'budget exceeded', { 'retry-after': '754' }),
      'BudgetError',
      'budget-exhausted',
      'the spend budget of this token is used up: budget exceeded; requests are taken again in 12 min 34 s',
    ],
    [
      '430',
      json(430, 'limit'),
      'PlanLimitError',
      'plan-limit',
      "the query limit of the organisation's plan is used up: limit",
    ],
    [
      '500 with a trace',
      json(500, 'boom', { 'x-axiom-trace-id': 't1' }),
      'ServiceError',
      'service-failed',
      '{host} failed with status 500: boom (trace t1)',
    ],
    [
      '503 without a body',
      { status: 503 },
      'ServiceError',
      'service-failed',
      '{host} failed with status 503',
    ],
    [
      'a proxy page',
      { status: 502, headers: { 'content-type': 'text/html' }, body: '<html><h1>Bad gateway</h1></html>' },
      'UnexpectedAnswerError',
      'html-answer',
      "{host} answered with a web page (status 502) instead of the API's JSON",
    ],
    [
      'a sign-in page that says 200',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' },
      'UnexpectedAnswerError',
      'html-answer',
      "{host} answered with a web page (status 200) instead of the API's JSON",
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://app.axiom.co/login?token=1' } },
      'UnexpectedAnswerError',
      'redirected',
      '{host} redirects to app.axiom.co instead of answering (status 302)',
    ],
    [
      'text',
      { body: 'ok' },
      'UnexpectedAnswerError',
      'not-json',
      "{host} answered something that is not the API's JSON",
    ],
    [
      'an empty body',
      { body: '' },
      'UnexpectedAnswerError',
      'not-json',
      "{host} answered something that is not the API's JSON",
    ],
    [
      'half a body',
      { body: '{"format":"tabular","tab' },
      'TruncatedAnswerError',
      'truncated-answer',
      'the answer of {host} ended before it was complete',
    ],
    [
      'half a gzip body',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(JSON.stringify(answer)).subarray(0, 40) },
      'TruncatedAnswerError',
      'truncated-answer',
      'the answer of {host} ended before it was complete',
    ],
    [
      'a damaged gzip body',
      { headers: { 'content-encoding': 'gzip' }, body: 'no gzip at all' },
      'UnexpectedAnswerError',
      'damaged-answer',
      'the answer of {host} is damaged: it says gzip and is not',
    ],
  ])('%s', async (_, reply, name, code, message) => {
    service.answer(() => reply);
    const error = await failureOf(connect().query(request));
    const host = new URL(service.url).host;
    expect([error.name, error.code, error.message]).toEqual([name, code, message.replaceAll('{host}', host)]);
  });

  test('a query error that says where', async () => {
    service.answer(() => ({
      status: 400,
      body: {
        code: 400,
        message: 'compile error',
        detail: {
          errorType: 'compile',
          compileErrorCode: 'unknown-field',
          line: 2,
          column: 9,
          message: 'unknown field `stauts`',
          hint: 'did you mean `status`?',
        },
      },
    }));
    const error = await failureOf(connect().query(request));
    expect(error instanceof QueryError && [error.code, error.message, error.hint, error.position]).toEqual([
      'unknown-field',
      'unknown field `stauts`',
      'did you mean `status`?',
      { line: 2, column: 9 },
    ]);
  });

  test("an error whose hint is the service's own", async () => {
    service.answer(() => ({
      status: 404,
      body: { message: 'no dataset `wbe`', detail: { hint: 'Did you mean `web`?' } },
    }));
    const error = await failureOf(connect().fields('wbe'));
    expect([error.message, error.hint]).toEqual([
      'could not read the fields of wbe: not found: no dataset `wbe`',
      'Did you mean `web`?',
    ]);
  });

  test('a refused import', async () => {
    service.answer(() => ({
      status: 400,
      body: {
        code: 400,
        message: 'No such file. Check it.',
        detail: { errorType: 'no-file', message: 'No such file.', hint: 'Check it.' },
      },
    }));
    const error = await failureOf(connect().importFile({ path: '/a', dataset: 'a' }));
    expect([error.name, error.code, error.message, error.hint]).toEqual([
      'RequestError',
      'no-file',
      'could not import a file: No such file.',
      'Check it.',
    ]);
  });

  test('a query error that does not say where', async () => {
    service.answer(() => ({ status: 400, body: { message: 'cannot parse' } }));
    const error = await failureOf(connect().query(request));
    expect(error instanceof QueryError && [error.code, error.message, error.position]).toEqual([
      'invalid-query',
      'cannot parse',
      undefined,
    ]);
  });

  test('a missing token, where none was sent', async () => {
    service.answer(() => json(401, 'no token'));
    const client = createClient({ profileName: 'prod', url: service.url }, { version: '1' });
    clients.push(client);
    const error = await failureOf(client.query(request));
    expect(error.message).toBe(`${new URL(service.url).host} wants a token and the profile prod has none`);
  });
});

describe('a connection that', () => {
  test('is refused', async () => {
    const { url } = service;
    await service.close();
    const error = await failureOf(connect({ url }).query(request));
    expect([error instanceof ConnectionError && error.refused, error.message]).toEqual([
      true,
      `nothing answers at ${new URL(url).host} (connection refused)`,
    ]);
    service = await startService(() => ({}));
  });

  test('has no host', async () => {
    const error = await failureOf(connect({ url: 'http://no-such-host.invalid' }).query(request));
    expect([error.code, error.message]).toEqual([
      'host-not-found',
      'the host name no-such-host.invalid could not be resolved',
    ]);
  });

  test('cannot be secured', async () => {
    const error = await failureOf(connect({ url: service.url.replace('http:', 'https:') }).query(request));
    expect([error.name, error.code]).toEqual(['TlsError', 'tls']);
  });

  test('ends before the answer', async () => {
    service.answer(() => response => response.socket?.destroy());
    const error = await failureOf(connect().query(request));
    expect([error.name, error.code]).toEqual(['ConnectionError', 'connection-lost']);
  });

  test('ends within the answer', async () => {
    const server = await rawServer('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"format":');
    const error = await failureOf(connect({ url: server.url }).query(request));
    server.close();
    expect(error instanceof TruncatedAnswerError).toBe(true);
  });
});

describe('a request', () => {
  test('has a time limit, which is said', async () => {
    service.answer(() => () => undefined);
    const error = await failureOf(connect({}, 80).query(request));
    expect([error.code, error.message]).toEqual([
      'time-limit',
      `${new URL(service.url).host} did not finish within the time limit of 0.08 s`,
    ]);
  });

  test('that imports a file has none', async () => {
    const report = { dataset: 'a', rows: 0, fields: [], timeField: '', notes: [] };
    service.answer(() => response => setTimeout(() => response.end(JSON.stringify(report)), 150));
    expect(await connect({}, 50).importFile({ path: '/a', dataset: 'a' })).toEqual(report);
  });

  test('can be interrupted, and the service sees it', async () => {
    const abort = new AbortController();
    service.answer(() => () => abort.abort());
    const error = await failureOf(connect().query(request, abort.signal));
    expect(error instanceof InterruptedError).toBe(true);
    await expect.poll(() => service.aborted).toEqual(['/v1/datasets/_apl']);
  });

  test('can be interrupted in the middle of an answer', async () => {
    const abort = new AbortController();
    service.answer(() => response => {
      response.write('{"format":');
      setTimeout(() => abort.abort(), 30);
    });
    const error = await failureOf(connect().query(request, abort.signal));
    expect(error instanceof InterruptedError).toBe(true);
  });

  test('is not sent when it was interrupted before', async () => {
    const error = await failureOf(connect().query(request, AbortSignal.abort()));
    expect([error.code, service.seen.length]).toEqual(['Interrupted', 0]);
  });
});

describe('the other requests', () => {
  const star = { kind: 'apl', name: 'n', who: 'u', metadata: { a: 'b' }, query: { apl: 'web' } } as const;

  test.each<readonly [string, (client: Client) => Promise<unknown>, unknown, string, unknown]>([
    [
      'list',
      client => client.listStarred({ who: 'all', limit: 2, offset: 4 }),
      [{ ...star, id: 's1' }],
      'GET /v2/apl-starred-queries?who=all&limit=2&offset=4',
      [{ ...star, id: 's1' }],
    ],
    ['list of none', client => client.listStarred({}), null, 'GET /v2/apl-starred-queries?', []],
    [
      'get',
      client => client.getStarred('a/b'),
      star,
      'GET /v2/apl-starred-queries/a%2Fb?',
      { ...star, id: 'a/b' },
    ],
    [
      'create',
      client => client.createStarred(star),
      { ...star, id: 's2' },
      'POST /v2/apl-starred-queries?',
      { ...star, id: 's2' },
    ],
    [
      'put',
      client => client.putStarred('s3', star),
      star,
      'PUT /v2/apl-starred-queries/s3?',
      { ...star, id: 's3' },
    ],
    [
      'datasets',
      client => client.datasets(),
      [{ name: 'web' }],
      'GET /v2/datasets?',
      [{ id: 'web', name: 'web', description: '' }],
    ],
    [
      'fields',
      client => client.fields('web logs'),
      [{ name: 'a', type: 'string' }],
      'GET /v2/datasets/web%20logs/fields?',
      [{ name: 'a', type: 'string', unit: '', hidden: false, description: '' }],
    ],
    [
      'map fields',
      client => client.mapFields('web'),
      ['attributes'],
      'GET /v2/datasets/web/mapfields?',
      ['attributes'],
    ],
    [
      'user',
      client => client.currentUser(),
      { id: 'u', name: 'Ada', email: 'a@b' },
      'GET /v2/user?',
      { id: 'u', name: 'Ada', email: 'a@b' },
    ],
    [
      'ingest',
      client =>
        client.ingest('web', '{"a":1}\n', { contentType: 'application/x-ndjson', timestampField: 'ts' }),
      { ingested: 1, failed: 0, failures: [], processedBytes: 8 },
      'POST /v1/datasets/web/ingest?timestamp-field=ts',
      { ingested: 1, failed: 0, failures: [], processedBytes: 8 },
    ],
    [
      'import',
      client => client.importFile({ path: '/a.csv', dataset: 'a' }),
      { dataset: 'a', rows: 2, fields: [{ name: 'x', type: 'string' }], timeField: 'ts', notes: [] },
      'POST /v1/local/import?',
      { dataset: 'a', rows: 2, fields: [{ name: 'x', type: 'string' }], timeField: 'ts', notes: [] },
    ],
  ])('%s', async (_, call, reply, line, expected) => {
    service.answer(() => ({ body: JSON.stringify(reply) }));
    expect(await call(connect())).toEqual(expected);
    const [seen] = service.seen;
    expect(`${seen?.method} ${seen?.path}?${new URLSearchParams(seen?.parameters)}`).toBe(line);
  });

  test('delete', async () => {
    service.answer(() => response => response.writeHead(204).end());
    await connect().deleteStarred('s1');
    expect([service.seen[0]?.method, service.seen[0]?.path]).toEqual([
      'DELETE',
      '/v2/apl-starred-queries/s1',
    ]);
  });

  test('say which part of an answer is not as described', async () => {
    service.answer(() => ({ body: [{ name: 3 }] }));
    const error = await failureOf(connect().datasets());
    expect([error.code, (error.cause as Error).message]).toEqual([
      'not-json',
      'datasets[0].name should be a string, not a number',
    ]);
  });
});

describe('the token', () => {
  test.each<readonly [string, Reply]>([
    ['echoed in an error', { status: 403, body: { message: `Bearer ${secret} is wrong; ${secret}` } }],
    [
      'echoed in a query error',
      { status: 400, body: { message: 'x', detail: { message: `bad ${secret}` } } },
    ],
    ['echoed in a page', { status: 500, headers: { 'content-type': 'text/html' }, body: `<b>${secret}</b>` }],
    ['echoed as text', { body: secret }],
    ['echoed in a redirect', { status: 307, headers: { location: `https://h/?${secret}` } }],
  ])('does not appear when it is %s', async (_, reply) => {
    service.answer(() => reply);
    const error = await failureOf(connect().query(request));
    const { inspect } = await import('node:util');
    expect(
      [error.message, error.hint, error.stack, JSON.stringify(error), inspect(error, { depth: 9 })].join(
        '\n',
      ),
    ).not.toContain('1111');
  });
});
