import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { AccessToken } from '../../../kernel/api/profile.js';
import { asJson } from '../../../kernel/local/engine/engine-columns.js';
import { watchUnseen } from '../../../kernel/local/engine/engine-request.js';
import { type Deployment, Statements } from '../../../kernel/local/trino/protocol/statement.js';
import { ClusterError } from '../../../kernel/local/trino/protocol/trino-failure.js';
import { probeClusters } from '../../../kernel/local/trino/trino-probe.js';
import { readRows } from '../../../kernel/local/trino/trino-reader.js';
import { deploymentAt } from '../../cluster/cases.js';

type Answer = (request: IncomingMessage, response: ServerResponse, url: string) => void;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Starts a coordinator that gives these responses in order, repeating the last one, and records its requests. */
async function coordinator(
  answers: readonly Answer[],
  more: Partial<Deployment> = {},
  timing: ConstructorParameters<typeof Statements>[1] = {},
) {
  const asked: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let at = 0;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    request.resume().on('end', () => {
      if (request.method === 'DELETE') return response.writeHead(204).end();
      const answer = answers[Math.min(at++, answers.length - 1)];
      return answer?.(request, response, url);
    });
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const statements = new Statements(deploymentAt(url, more), { retryMs: 1, untakenMs: 200, ...timing });
  closing.push(
    () => statements.close(),
    () => new Promise(resolve => server.closeAllConnections() ?? server.close(resolve)),
  );
  return { url, statements, asked, headers };
}

const running = { state: 'RUNNING' };
const columns = [{ name: 'n', type: 'bigint' }];
const json =
  (page: object): Answer =>
  (_request, response) =>
    response.end(JSON.stringify(page));
const first: Answer = (_request, response, url) =>
  response.end(JSON.stringify({ id: 'q1', nextUri: `${url}/v1/statement/q1/1?slug=x`, stats: running }));
const rows: Answer = (_request, response, url) =>
  response.end(
    `{"id":"q1","nextUri":"${url}/v1/statement/q1/2","columns":${JSON.stringify(columns)},"data":[[9223372036854775807],[null]],"stats":{"state":"RUNNING"}}`,
  );
const finished = json({ id: 'q1', stats: { state: 'FINISHED' } });
const status =
  (code: number): Answer =>
  (_request, response) =>
    response.writeHead(code).end('no');
const torn: Answer = (_request, response) => response.end('{"id":"q1","data":[[1],[2');
const reset: Answer = (_request, response) => response.socket?.destroy();

async function read(statements: Statements, signal?: AbortSignal, watch = watchUnseen): Promise<string> {
  const order = {
    sql: 'SELECT 1',
    fields: [{ name: 'n', type: 'long' }],
    limit: 10,
    mostBytes: 1e6,
  } as const;
  const options = signal === undefined ? {} : { signal };
  const { columns } = await readRows(statements, order, { ...options, watch, limitMs: 60_000 });
  return asJson(columns).bytes(0).toString();
}

describe('an answer', () => {
  test('joins all pages and keeps every digit', async () => {
    const { statements, asked, headers } = await coordinator([first, rows, finished]);
    expect(await read(statements)).toBe('9223372036854775807,null');
    expect(asked).toEqual(['POST /v1/statement', 'GET /v1/statement/q1/1?slug=x', 'GET /v1/statement/q1/2']);
    expect(headers[0]).toMatchObject({
      'x-trino-user': 'me',
      'x-trino-time-zone': 'UTC',
      'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
      'x-trino-session': 'query_max_run_time=60s',
    });
    expect(headers[0]).not.toHaveProperty('authorization');
  });

  test.each([
    ['a truncated page', [first, torn, first, rows, finished]],
    ['a forgotten query', [first, status(404), first, rows, finished]],
    ['a premature end', [first, rows, json({ stats: running }), first, rows, finished]],
    [
      'a failure of the cluster',
      [
        first,
        json({ error: { errorName: 'PAGE_TRANSPORT_TIMEOUT', errorType: 'INTERNAL_ERROR' } }),
        first,
        rows,
        finished,
      ],
    ],
    [
      'a time without workers',
      [
        json({ error: { errorName: 'NO_NODES_AVAILABLE', errorType: 'INTERNAL_ERROR' } }),
        first,
        rows,
        finished,
      ],
    ],
  ] as const)('is read again after %s, with each row once', async (_, answers) => {
    const { statements } = await coordinator(answers);
    expect(await read(statements)).toBe('9223372036854775807,null');
  });

  test.each([
    ['a status of a busy cluster', [status(503), first, status(429), rows, finished]],
    ['a reset connection', [first, reset, rows, finished]],
  ] as const)('continues after %s', async (_, answers) => {
    const { statements } = await coordinator(answers);
    expect(await read(statements)).toBe('9223372036854775807,null');
  });

  test.each([
    ['truncated pages', [first, torn], 'The response of the cluster is damaged or incomplete.'],
    [
      'a row with too few cells',
      [json({ columns, data: [[]], stats: { state: 'FINISHED' } })],
      'The response of the cluster is damaged or incomplete.',
    ],
    [
      'another type',
      [json({ columns: [{ name: 'n', type: 'double' }], stats: running })],
      'The field `n` was not computed as a long: this is a bug in the local service.',
    ],
    [
      'status 429',
      [status(429)],
      /^The cluster at 127\.0\.0\.1:\d+ is not accepting queries \(status 429\)\.$/,
    ],
    ['status 401', [status(401)], /rejected the user or the secret of the deployment \(status 401\)\.$/],
    ['another server', [status(418)], /does not respond like Trino \(status 418\)\.$/],
    [
      'a query beyond the limits',
      [
        json({
          id: 'q1',
          error: {
            message: 'secret value',
            errorName: 'EXCEEDED_GLOBAL_MEMORY_LIMIT',
            errorType: 'INSUFFICIENT_RESOURCES',
          },
        }),
      ],
      'The query exceeds the resource limits of the cluster (EXCEEDED_GLOBAL_MEMORY_LIMIT, query q1).',
    ],
    [
      'a full queue',
      [json({ error: { errorName: 'QUERY_QUEUE_FULL', errorType: 'INSUFFICIENT_RESOURCES' } })],
      'The query queue of the cluster is full.',
    ],
    [
      'workers that do not come back',
      Array(2).fill(json({ error: { errorName: 'NO_NODES_AVAILABLE', errorType: 'INTERNAL_ERROR' } })),
      'The cluster has no workers to run the query.',
    ],
  ] as const)('is never partial: %s', async (_, answers, message) => {
    const { statements } = await coordinator(answers);
    await expect(read(statements)).rejects.toThrow(message);
  });

  test('is given up without progress, and the query is canceled', async () => {
    const silent: Answer = () => undefined;
    const { statements, asked } = await coordinator([first, silent, first, silent], {}, { stallMs: 1_000 });
    await expect(read(statements)).rejects.toThrow(/it made no progress on the cluster/);
    expect(asked.filter(each => each.startsWith('DELETE'))).toEqual(
      Array(2).fill('DELETE /v1/statement/q1/1?slug=x'),
    );
  });
});

describe('a cluster that accepts no query', () => {
  test.each([
    ['resets connections', reset, /^The cluster at 127\.0\.0\.1:\d+ cannot be reached\.$/],
    ['is down behind a gateway', status(503), /is not accepting queries \(status 503\)\.$/],
  ])('and %s is given up after the timeout', async (_, answer, message) => {
    const { statements, asked } = await coordinator([answer], {}, { untakenMs: 0 });
    await expect(read(statements)).rejects.toThrow(message);
    expect(asked).toEqual(['POST /v1/statement']);
  });

  test('is waited for until an interrupt', async () => {
    const { statements } = await coordinator([status(429)], {}, { untakenMs: 600_000, retryMs: 300_000 });
    const stop = new AbortController();
    const reasons: string[] = [];
    const isHeldUp = (reason: string) => {
      reasons.push(reason);
      stop.abort();
    };
    const interrupted = read(statements, stop.signal, { ...watchUnseen, isHeldUp });
    await expect(interrupted).rejects.toMatchObject({ code: 'query-canceled' });
    expect(reasons).toEqual([
      expect.stringMatching(/^The cluster at \S+ is not accepting queries \(status 429\); retrying$/),
    ]);
  });
});

test('an interrupt cancels the query on the cluster', async () => {
  const stop = new AbortController();
  const { statements, asked } = await coordinator([first, () => stop.abort()]);
  await expect(read(statements, stop.signal)).rejects.toMatchObject({ code: 'query-canceled' });
  expect(asked.at(-1)).toBe('DELETE /v1/statement/q1/1?slug=x');
});

test('doctor counts the tables and reports what is wrong with a deployment', async () => {
  const names = json({ data: [['events', 'ts', 'timestamp(9)']], stats: { state: 'FINISHED' } });
  const { url } = await coordinator([names]);
  const other = await coordinator([
    json({ error: { errorName: 'CATALOG_NOT_FOUND', errorType: 'USER_ERROR' } }),
  ]);
  const probes = await probeClusters(
    [deploymentAt(url), deploymentAt(other.url, { profileName: 'none' })],
    10_000,
  );
  expect(
    probes.map(({ name, outcome }) => [name, outcome instanceof Error ? outcome.message : outcome]),
  ).toEqual([
    ['lake', { tables: 1, place: 'memory.default' }],
    ['none', 'The cluster has no catalog of this name.'],
  ]);
});

describe('a secret', () => {
  test.each([
    [false, 'Bearer s3cret-token'],
    [true, `Basic ${Buffer.from('me:s3cret-token').toString('base64')}`],
  ])(
    'is sent as the deployment configures (password: %s), and never in an error',
    async (usesPassword, expected) => {
      const { engine } = deploymentAt('http://127.0.0.1');
      const more = { token: new AccessToken('s3cret-token'), engine: { ...engine, usesPassword } };
      const { statements, headers } = await coordinator([status(401)], more);
      const error = await read(statements).catch((each: unknown) => each);
      expect(headers[0]?.authorization).toBe(expected);
      expect(error).toBeInstanceOf(ClusterError);
      expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toMatch(/s3cret|bWU6/);
    },
  );

  test('goes only to the host of the deployment, whatever host the next page has', async () => {
    const elsewhere: Answer = (_request, response) =>
      response.end(
        JSON.stringify({ id: 'q1', nextUri: 'http://example.invalid/v1/statement/q1/1', stats: running }),
      );
    const { statements, asked } = await coordinator([elsewhere, rows, finished]);
    expect(await read(statements)).toBe('9223372036854775807,null');
    expect(asked[1]).toBe('GET /v1/statement/q1/1');
  });
});

test('an error of Trino is not repeated verbatim', async () => {
  const { statements } = await coordinator([
    json({
      error: {
        message: "Invalid JSON value: 'of a user'",
        errorName: 'X'.repeat(80),
        errorType: 'USER_ERROR',
      },
    }),
  ]);
  await expect(read(statements)).rejects.toThrow(
    'The cluster rejected the SQL generated for this query (UNKNOWN, query UNKNOWN).',
  );
});
