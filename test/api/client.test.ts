import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ConnectionError, InterruptedError, TruncatedAnswerError } from '../../kernel/api/api-errors.js';
import { type Client, createClient } from '../../kernel/api/client.js';
import { AccessToken } from '../../kernel/api/profile.js';
import { answer, failureOf, request, secret, useService } from './connections.js';
import { type Reply, startService } from './service.js';

const connections = useService();
const { connect } = connections;

/** Starts a TCP server that writes `text` and closes; returns its address. */
async function rawServer(text: string): Promise<{ url: string; close(): void }> {
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(text));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Starts a TCP server that answers each request with its own APL, then repeats the answer `late` ms later on the same connection. */
async function answeringTwice(late: number): Promise<{ url: string; close(): void }> {
  const server = createServer(socket => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', data => {
      text += data;
      const asked = /\r\n\r\n\{"apl":"(q\d+)".*\}$/.exec(text)?.[1];
      if (asked === undefined) return;
      text = '';
      const body = JSON.stringify({ asked });
      const reply = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      socket.write(reply);
      setTimeout(() => socket.write(reply), late);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe('a query', () => {
  test('is posted to the API host, with the parameters of the API', async () => {
    await connect().query(request);
    const [seen] = connections.service.seen;
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

  test('accepts Arrow only from the local service, except if JSON is requested or recorded', async () => {
    const both = 'application/vnd.apache.arrow.stream, application/json';
    const endpoint = { profileName: 'local', url: connections.service.url, token: new AccessToken(secret) };
    const recorded = createClient(endpoint, { version: '1.2.3', via: (_, send) => send() });
    const local = connect({ profileName: 'local' });
    await local.query(request);
    await local.query({ ...request, asJson: true });
    await recorded.query(request);
    await local.datasets().catch(() => undefined);
    await recorded.close();
    const { seen } = connections.service;
    expect(seen.map(({ headers }) => headers.accept)).toEqual([both, ...Array(3).fill('application/json')]);
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual(request);
  });

  test('goes to the edge host if there is one, and other requests to the API host', async () => {
    const edge = await startService(() => ({ body: answer }));
    const client = connect({ edgeUrl: `${edge.url}/base` });
    await client.query(request);
    connections.service.answer(() => ({ body: [] }));
    await client.datasets();
    expect(edge.seen.map(each => each.path)).toEqual(['/base/v1/query/_apl']);
    expect(connections.service.seen.map(each => each.path)).toEqual(['/v2/datasets']);
    await edge.close();
  });

  test('names the organization only with a personal token', async () => {
    for (const token of ['xapt-1', 'xaat-1', 'else'])
      await connect({ token: new AccessToken(token), orgId: 'acme' }).query(request);
    expect(connections.service.seen.map(({ headers }) => headers['x-axiom-org-id'])).toEqual([
      'acme',
      undefined,
      undefined,
    ]);
  });

  test('returns the bytes of the body and the trace id', async () => {
    const text = '{"tables":[[9007199254740993]]}';
    connections.service.answer(() => ({ headers: { 'x-axiom-trace-id': 'abc' }, body: text }));
    const { elapsedMs, body, ...facts } = await connect().query(request);
    expect(new TextDecoder().decode(body)).toBe(text);
    expect(elapsedMs).toBeGreaterThan(0);
    expect(facts).toEqual({ traceId: 'abc' });
  });

  test('requests gzip except on the loopback address', async () => {
    const { port } = new URL(connections.service.url);
    for (const host of ['127.0.0.1', 'localhost', '0.0.0.0']) {
      await connect({ url: `http://${host}:${port}` }).query(request);
    }
    const encodings = connections.service.seen.map(({ headers }) => headers['accept-encoding']);
    expect(encodings).toEqual(['identity', 'identity', 'gzip']);
  });

  test('accepts a chunked response', async () => {
    const pieces = ['{"a":', '[1,', '2]}'];
    connections.service.answer(() => async response => {
      for (const piece of pieces) {
        response.write(piece);
        await delay(20);
      }
      response.end();
    });
    const { body } = await connect().query(request);
    expect(new TextDecoder().decode(body)).toBe('{"a":[1,2]}');
  });

  test('accepts a gzip response', async () => {
    connections.service.answer(() => ({
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(answer)),
    }));
    const { body } = await connect().query(request);
    expect(JSON.parse(new TextDecoder().decode(body))).toEqual(answer);
  });

  test('reuses its connection only with the local service', async () => {
    const used = async (profileName: string) => {
      const ports = new Set<number>();
      connections.service.answer(() => response => {
        ports.add(response.socket?.remotePort ?? 0);
        response.end(JSON.stringify(answer));
      });
      const client = connect({ profileName });
      for (let count = 0; count < 4; count++) {
        await client.query(request);
        await delay(1);
      }
      return ports.size;
    };
    expect([await used('local'), await used('prod')]).toEqual([1, 4]);
  });

  test.each([0, 2, 5])('ignores a duplicate response sent %i ms later', async late => {
    const server = await answeringTwice(late);
    const client = connect({ url: server.url });
    const answers: string[] = [];
    for (let count = 0; count < 12; count++) {
      const { body } = await client.query({ ...request, apl: `q${count}` });
      answers.push(new TextDecoder().decode(body));
    }
    server.close();
    expect(answers).toEqual(Array.from({ length: 12 }, (_, count) => `{"asked":"q${count}"}`));
  });
});

test.each(['identity', 'gzip'])('a response of many pieces (%s) is complete', async coding => {
  const words = Array.from({ length: 2_500_000 }, (_, index) => String(index));
  const body = Buffer.from(`{"words":[${words.join(',')}]}`);
  connections.service.answer(() => response => {
    response.writeHead(200, { 'content-encoding': coding });
    response.end(coding === 'gzip' ? gzipSync(body, { level: 1 }) : body);
  });
  expect(body.equals((await connect().query(request)).body)).toBe(true);
});

describe('a response over the size limit', () => {
  const bomb = (bytes: number) => ({
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.concat([Buffer.from('["'), Buffer.alloc(bytes, 'a'), Buffer.from('"]')])),
  });
  const mib = 1024 * 1024;

  afterEach(() => vi.restoreAllMocks());

  test('is refused by its content-length', async () => {
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(2400 * mib);
    connections.service.answer(() => response => {
      response.writeHead(200, { 'content-length': String(600 * mib + 1) });
      response.write('{');
    });
    const error = await failureOf(connect().query(request));
    expect([error.code, error.message, error.hint]).toEqual([
      'answer-too-large',
      `the response from ${new URL(connections.service.url).host} is larger than 600 MiB, the maximum size`,
      'Aggregate in the query, project fewer fields, or narrow the time range.',
    ]);
  });

  test('is refused while decompressing', async () => {
    connections.service.answer(() => bomb(65 * mib));
    const error = await failureOf(connect().datasets());
    expect([error.code, error.message]).toEqual([
      'answer-too-large',
      `the response from ${new URL(connections.service.url).host} is larger than 64 MiB, the maximum size`,
    ]);
    connections.service.answer(() => bomb(2 * mib));
    expect((await failureOf(connect().currentUser())).code).toBe('not-json');
  });

  test('is refused if it never ends', async () => {
    connections.service.answer(() => response => {
      const more = () => {
        while (response.write('a'.repeat(mib)));
        response.once('drain', more);
      };
      more();
    });
    expect((await failureOf(connect().currentUser())).code).toBe('answer-too-large');
    await expect.poll(() => connections.service.aborted).toEqual(['/v2/user']);
  });

  test('with an error status gives the error without its message', async () => {
    connections.service.answer(() => ({ ...bomb(2 * mib), status: 500 }));
    const error = await failureOf(connect().query(request));
    expect(error.message).toBe(`${new URL(connections.service.url).host} failed with status 500`);
  });
});

describe('a connection', () => {
  test('that is refused', async () => {
    const gone = await startService(() => ({}));
    await gone.close();
    const error = await failureOf(connect({ url: gone.url }).query(request));
    expect([error instanceof ConnectionError && error.refused, error.message]).toEqual([
      true,
      `nothing answers at ${new URL(gone.url).host} (connection refused)`,
    ]);
  });

  test('to an unknown host', async () => {
    const error = await failureOf(connect({ url: 'http://no-such-host.invalid' }).query(request));
    expect([error.code, error.message]).toEqual([
      'host-not-found',
      'the host name no-such-host.invalid could not be resolved',
    ]);
  });

  test('that cannot use TLS', async () => {
    const error = await failureOf(
      connect({ url: connections.service.url.replace('http:', 'https:') }).query(request),
    );
    expect([error.name, error.code]).toEqual(['TlsError', 'tls']);
  });

  test('that ends before the response', async () => {
    connections.service.answer(() => response => response.socket?.destroy());
    const error = await failureOf(connect().query(request));
    expect([error.name, error.code]).toEqual(['ConnectionError', 'connection-lost']);
  });

  test('that ends within the response', async () => {
    const server = await rawServer('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"format":');
    const error = await failureOf(connect({ url: server.url }).query(request));
    server.close();
    expect(error instanceof TruncatedAnswerError).toBe(true);
  });
});

describe('a request', () => {
  test.each([
    ['local', { timeLimitMs: 9000 }],
    ['prod', undefined],
  ])(
    'of the profile %s has the options %j if the client has a time limit',
    async (profileName, queryOptions) => {
      await connections.connect({ profileName }, 9000).query({ apl: 'web', startTime: '', endTime: '' });
      expect(JSON.parse(connections.service.seen[0]?.body ?? '').queryOptions).toEqual(queryOptions);
    },
  );

  test('fails at the time limit, which the error names', async () => {
    connections.service.answer(() => () => undefined);
    const error = await failureOf(connect({}, 80).query(request));
    expect([error.code, error.message]).toEqual([
      'time-limit',
      `${new URL(connections.service.url).host} did not finish within the time limit of 0.08 s`,
    ]);
  });

  test('that imports a file has no time limit', async () => {
    const report = { dataset: 'a', rows: 0, fields: [], timeField: '', notes: [], rowsBefore: 0, rowsNow: 0 };
    connections.service.answer(() => response => setTimeout(() => response.end(JSON.stringify(report)), 150));
    expect(await connect({}, 50).importFile({ path: '/a', dataset: 'a' })).toEqual(report);
  });

  test('can be interrupted, which the service notices', async () => {
    const abort = new AbortController();
    connections.service.answer(() => () => abort.abort());
    const error = await failureOf(connect().query(request, abort.signal));
    expect(error instanceof InterruptedError).toBe(true);
    await expect.poll(() => connections.service.aborted).toEqual(['/v1/datasets/_apl']);
  });

  test('can be interrupted in the middle of a response', async () => {
    const abort = new AbortController();
    connections.service.answer(() => response => {
      response.write('{"format":');
      setTimeout(() => abort.abort(), 30);
    });
    const error = await failureOf(connect().query(request, abort.signal));
    expect(error instanceof InterruptedError).toBe(true);
  });

  test('is not sent if it was already interrupted', async () => {
    const error = await failureOf(connect().query(request, AbortSignal.abort()));
    expect([error.code, connections.service.seen.length]).toEqual(['interrupted', 0]);
  });
});

describe('other requests', () => {
  const star = { kind: 'apl', name: 'n', who: 'u', metadata: { a: 'b' }, query: { apl: 'web' } } as const;

  test.each<readonly [string, (client: Client) => Promise<unknown>, unknown, string, unknown]>([
    [
      'list',
      client => client.listStarred({ who: 'all', limit: 2, offset: 4 }),
      [{ ...star, id: 's1' }],
      'GET /v2/apl-starred-queries?who=all&limit=2&offset=4',
      { items: [{ ...star, id: 's1' }], notices: [] },
    ],
    [
      'list of null',
      client => client.listStarred({}),
      null,
      'GET /v2/apl-starred-queries?',
      { items: [], notices: [] },
    ],
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
      { items: [{ id: 'web', name: 'web', description: '' }], notices: [] },
    ],
    [
      'fields',
      client => client.fields('web logs'),
      [{ name: 'a', type: 'string' }],
      'GET /v2/datasets/web%20logs/fields?',
      { items: [{ name: 'a', type: 'string', unit: '', hidden: false, description: '' }], notices: [] },
    ],
    [
      'user',
      client => client.currentUser(),
      { id: 'u', name: 'Ada', email: 'a@b' },
      'GET /v2/user?',
      { id: 'u', name: 'Ada', email: 'a@b' },
    ],
    [
      'import',
      client => client.importFile({ path: '/a.csv', dataset: 'a' }),
      {
        dataset: 'a',
        rows: 2,
        fields: [{ name: 'x', type: 'string' }],
        timeField: 'ts',
        notes: [],
        rowsBefore: 1,
        rowsNow: 3,
        firstTime: 'a',
        lastTime: 'b',
      },
      'POST /v1/local/import?',
      {
        dataset: 'a',
        rows: 2,
        fields: [{ name: 'x', type: 'string' }],
        timeField: 'ts',
        notes: [],
        rowsBefore: 1,
        rowsNow: 3,
        firstTime: 'a',
        lastTime: 'b',
      },
    ],
  ])('%s', async (_, call, reply, line, expected) => {
    connections.service.answer(() => ({ body: JSON.stringify(reply) }));
    expect(await call(connect())).toEqual(expected);
    const [seen] = connections.service.seen;
    expect(`${seen?.method} ${seen?.path}?${new URLSearchParams(seen?.parameters)}`).toBe(line);
  });

  test('delete', async () => {
    connections.service.answer(() => response => response.writeHead(204).end());
    await connect().deleteStarred('s1');
    expect([connections.service.seen[0]?.method, connections.service.seen[0]?.path]).toEqual([
      'DELETE',
      '/v2/apl-starred-queries/s1',
    ]);
  });

  test('name the member of a response that has the wrong shape', async () => {
    connections.service.answer(() => ({ body: { id: 3 } }));
    const error = await failureOf(connect().currentUser());
    expect([error.code, (error.cause as Error).message]).toEqual([
      'not-json',
      'user.id should be a string, not a number',
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
  ])('does not appear if it is %s', async (_, reply) => {
    connections.service.answer(() => reply);
    const error = await failureOf(connect().query(request));
    const { inspect } = await import('node:util');
    expect(
      [error.message, error.hint, error.stack, JSON.stringify(error), inspect(error, { depth: 9 })].join(
        '\n',
      ),
    ).not.toMatch(/1{8}|-2222-|-3333-|-4444-|5{12}/);
  });
});
