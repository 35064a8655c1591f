import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { QueryError } from '../../../kernel/api/api-errors.js';
import { type Client, createClient } from '../../../kernel/api/client.js';
import { transportError } from '../../../kernel/api/failures/transport.js';
import { AccessToken, type Endpoint } from '../../../kernel/api/profile.js';
import { answer, failureOf, request, secret, useService } from '../connections.js';
import { type Reply, startService } from '../service.js';

const connections = useService();
const { connect } = connections;
const star = { kind: 'apl', name: 'n', who: 'u', metadata: {}, query: { apl: 'web' } } as const;

const serviceEnded =
  'Run the cell again: the service is started again. If it ends again, the machine may be out of memory: request fewer rows or fields, or shorter values.';

describe('the error for', () => {
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
      'could not run a query: something else changed it at the same time: entity exists',
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
      'the spend budget of this token is used up: budget exceeded; requests are accepted again in 12 min 34 s',
    ],
    [
      '430',
      json(430, 'limit'),
      'PlanLimitError',
      'plan-limit',
      "the query limit of the organization's plan is used up: limit",
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
      'ServiceError',
      'service-failed',
      'a gateway in front of {host} responded for it, with a web page (status 502)',
    ],
    [
      'a sign-in page with status 200',
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' },
      'UnexpectedAnswerError',
      'html-answer',
      "{host} responded with a web page (status 200) instead of the API's JSON",
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'https://app.axiom.co/login?token=1' } },
      'UnexpectedAnswerError',
      'redirected',
      '{host} redirects to app.axiom.co instead of answering (status 302)',
    ],
    [
      'plain text',
      { body: 'ok' },
      'UnexpectedAnswerError',
      'not-json',
      "{host} did not respond with the API's JSON",
    ],
    ['an empty body', { body: '' }, 'UnexpectedAnswerError', 'not-json', 'the response from {host} is empty'],
    [
      'a truncated body',
      { body: '{"format":"tabular","tab' },
      'TruncatedAnswerError',
      'truncated-answer',
      'the response from {host} ended before it was complete',
    ],
    [
      'a truncated gzip body',
      { headers: { 'content-encoding': 'gzip' }, body: gzipSync(JSON.stringify(answer)).subarray(0, 40) },
      'TruncatedAnswerError',
      'truncated-answer',
      'the response from {host} ended before it was complete',
    ],
    [
      'an invalid gzip body',
      { headers: { 'content-encoding': 'gzip' }, body: 'no gzip at all' },
      'UnexpectedAnswerError',
      'damaged-answer',
      'the response from {host} is damaged: it is declared as gzip but is not',
    ],
  ])('%s', async (_, reply, name, code, message) => {
    connections.service.answer(() => reply);
    const error = await failureOf(connect().query(request));
    const host = new URL(connections.service.url).host;
    expect([error.name, error.code, error.message]).toEqual([name, code, message.replaceAll('{host}', host)]);
  });

  test("a cluster is the local service's message, without an address", async () => {
    const engine = { name: 'trino', user: 'ann', catalog: 'hive', schema: 'logs' } as const;
    const cluster = { engine: { ...engine, usesPassword: false, approximate: false } };
    const told = 'The cluster at trino.example.com cannot be reached.';
    connections.service.answer(() => json(503, told));
    expect((await failureOf(connect(cluster).query(request))).message).toBe(told);
    connections.service.answer(() => ({ status: 503 }));
    expect((await failureOf(connect(cluster).query(request))).message).toMatch(/ failed with status 503$/);
  });

  test.each<readonly [string, string, string]>([
    ['an escape sequence', '\u001b]0;owned\u0007', 'invalid-query'],
    ['a line break', 'a\nb', 'invalid-query'],
    ['65 letters', 'x'.repeat(65), 'invalid-query'],
    ['64 letters', 'x'.repeat(64), 'x'.repeat(64)],
    ['the token', secret, 'invalid-query'],
    ['another token', 'xapt-22222222-2222', 'invalid-query'],
    ['empty', '', 'invalid-query'],
    ['a plain code', 'type_mismatch-2', 'type_mismatch-2'],
  ])('a query error whose code is %s has a safe code', async (_, sent, code) => {
    for (const detail of [{ compileErrorCode: sent }, { errorType: sent }]) {
      connections.service.answer(() => ({ status: 400, body: { message: 'no', detail } }));
      expect((await failureOf(connect().query(request))).code).toBe(code);
      if (code === 'invalid-query') {
        connections.service.answer(() => ({
          status: 400,
          body: { message: 'no', detail: { errorType: sent } },
        }));
        expect((await failureOf(connect().datasets())).code).toBe('bad-request');
      }
    }
  });

  test.each([
    ['Bearer ey.Jh-bG_c~i+/=', 'Bearer ***'],
    ['authorization: bearer abc', 'authorization: bearer ***'],
    ['a bearer', 'a bearer'],
    ['xaat-1-2 and xapt-3', '*** and ***'],
    ['maxapt-1', 'maxapt-1'],
  ])('a message masks whatever looks like a token: %s', async (message, shown) => {
    connections.service.answer(() => ({ status: 400, body: { message } }));
    expect((await failureOf(connect().query(request))).message).toBe(shown);
  });

  test('a response that repeats the token anywhere masks it', async () => {
    const token = 'an-access-token-4711';
    const client = connect({ token: new AccessToken(token) });
    const replies: readonly Reply[] = [
      json(403, `no ${token}`),
      {
        status: 400,
        body: { message: 'no', detail: { message: token, hint: `not ${token}`, errorType: token } },
      },
      json(500, 'no', { 'x-axiom-trace-id': token }),
      json(429, 'no', { 'x-ratelimit-scope': token, 'x-ratelimit-limit': token }),
      json(429, 'no', { 'retry-after': token }),
      { status: 302, headers: { location: `https://${token}.example.org/` } },
    ];
    for (const reply of replies) {
      connections.service.answer(() => reply);
      const { name, message, hint, code, traceId } = await failureOf(client.query(request));
      expect(`${name} ${JSON.stringify({ message, hint, code, traceId })}`).not.toContain(token);
    }
    connections.service.answer(() => ({ headers: { 'x-axiom-trace-id': token }, body: answer }));
    expect((await client.query(request)).traceId).toBe(undefined);
  });

  test.each<readonly [string, Readonly<Record<string, string>>, string]>([
    ['never', { 'x-ratelimit-reset': 'Infinity' }, ''],
    ['before 1970', { 'x-ratelimit-reset': '-1' }, ''],
    ['too far in the future', { 'x-ratelimit-reset': '1e300' }, ''],
    ['at an invalid time', { 'x-ratelimit-reset': 'soon' }, ''],
    ['in seconds', { 'retry-after': '59.5' }, '; requests are accepted again in 60 s'],
    ['immediately', { 'retry-after': '0' }, '; requests are accepted again in 0 s'],
    ['in the past', { 'retry-after': '-5' }, '; requests are accepted again later'],
    ['after infinity', { 'retry-after': 'Infinity' }, '; requests are accepted again later'],
    [
      'at a date',
      { 'retry-after': 'Wed, 04 Mar 2026 05:06:07 GMT' },
      '; requests are accepted again at 2026-03-04T05:06:07.000Z',
    ],
  ])('a rate limit that resets %s', async (_, headers, end) => {
    connections.service.answer(() => json(429, 'no', headers));
    const { message } = await failureOf(connect().query(request));
    expect(message).toBe(`too many requests to ${new URL(connections.service.url).host}: no${end}`);
  });

  test('a query error with a position', async () => {
    connections.service.answer(() => ({
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

  test('a response with a hint has that hint', async () => {
    connections.service.answer(() => ({
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
    connections.service.answer(() => ({
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

  test('a query error without a position', async () => {
    connections.service.answer(() => ({ status: 400, body: { message: 'cannot parse' } }));
    const error = await failureOf(connect().query(request));
    expect(error instanceof QueryError && [error.code, error.message, error.position]).toEqual([
      'invalid-query',
      'cannot parse',
      undefined,
    ]);
  });

  test.each<readonly [string, number, string]>([
    ['multiple choices', 300, 'redirected'],
    ['an unmodified response', 304, 'redirected'],
    ['an unassigned redirect', 399, 'redirected'],
    ['a bad request', 400, 'bad-request'],
  ])('%s: status %i', async (_, status, code) => {
    connections.service.answer(() => ({ status, body: { message: 'no' } }));
    expect((await failureOf(connect().datasets())).code).toBe(code);
  });

  test.each<readonly [string, Partial<Endpoint>, Reply, string]>([
    [
      'a personal token without an organization',
      { token: new AccessToken('xapt-1') },
      json(403, 'no'),
      'A personal token (xapt-) also needs the organization: set org_id in ~/.axiom.toml or AXIOM_ORG_ID.',
    ],
    [
      'a personal token with an organization',
      { token: new AccessToken('xapt-1'), orgId: 'acme' },
      json(403, 'no'),
      'Check that org_id is right; edge hosts refuse personal tokens (xapt-): use an API token (xaat-) there.',
    ],
    [
      'an API token',
      {},
      json(403, 'no'),
      'Use a token with that permission, or ask an administrator to grant it.',
    ],
    [
      'an overloaded service',
      {},
      json(503, 'no'),
      'Run the cell again; if it fails again, narrow the time range.',
    ],
    [
      'a service that timed out',
      {},
      json(504, 'no'),
      'Run the cell again; if it fails again, narrow the time range.',
    ],
    [
      'a service that failed',
      {},
      json(500, 'no'),
      'Run the cell again; if it fails again, report it to the operator of the service.',
    ],
    [
      'a lost connection',
      {},
      response => response.socket?.destroy(),
      'Run the cell again; check the network if it fails again. Ports that speak https need https:// in the URL.',
    ],
    [
      'a lost connection to the local service',
      { profileName: 'local' },
      response => response.socket?.destroy(),
      serviceEnded,
    ],
    [
      'a truncated response of the local service',
      { profileName: 'local' },
      response => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
        response.write('{', () => response.socket?.resetAndDestroy());
      },
      serviceEnded,
    ],
  ])('%s has its hint', async (_, endpoint, reply, hint) => {
    connections.service.answer(() => reply);
    expect((await failureOf(connect(endpoint).query(request))).hint).toBe(hint);
  });

  test.each([
    ['local', 'Run the cell again: the local service is started again.'],
    ['prod', 'Check the address of the profile, and that the service is running.'],
  ])('a refused connection of %s has its hint', async (profileName, hint) => {
    const gone = await startService(() => ({}));
    await gone.close();
    expect((await failureOf(connect({ profileName, url: gone.url }).query(request))).hint).toBe(hint);
  });

  test.each<readonly [string, (client: Client) => Promise<unknown>]>([
    ['run a query', client => client.query(request)],
    ['list starred queries', client => client.listStarred({})],
    ['read the starred query a', client => client.getStarred('a')],
    ['create a starred query', client => client.createStarred(star)],
    ['update the starred query a', client => client.putStarred('a', star)],
    ['delete the starred query a', client => client.deleteStarred('a')],
    ['list datasets', client => client.datasets()],
    ['read the fields of web', client => client.fields('web')],
    ['read the current user', client => client.currentUser()],
    ['import a file', client => client.importFile({ path: '/a', dataset: 'a' })],
  ])('a refusal to %s has the status and the trace', async (action, ask) => {
    connections.service.answer(() => json(403, 'no', { 'x-axiom-trace-id': 't1' }));
    const { message, status, traceId } = await failureOf(ask(connect()));
    expect([message, status, traceId]).toEqual([
      `the token of the profile prod may not ${action}: no`,
      403,
      't1',
    ]);
  });

  test('a missing token names the profile', async () => {
    connections.service.answer(() => json(401, 'no token'));
    const client = createClient({ profileName: 'prod', url: connections.service.url }, { version: '1' });
    const error = await failureOf(client.query(request));
    expect(error.message).toBe(
      `${new URL(connections.service.url).host} needs a token, and the profile prod has none`,
    );
  });
});

describe('a failed connection is reported with its cause', () => {
  const said = (code: string) => {
    const cause = new AggregateError([Object.assign(new Error('connect'), { code })]);
    const endpoint = { profileName: 'prod', url: 'https://api.example' };
    const { message, hint } = transportError({ endpoint, action: 'run a query', host: 'api.example' }, cause);
    return [message, hint?.split(/[:.;]/)[0]];
  };

  test.each([
    [
      'ENETUNREACH',
      'there is no network route to api.example',
      'Check that this machine is connected (Wi-Fi, VPN)',
    ],
    [
      'EHOSTUNREACH',
      'there is no network route to api.example',
      'Check that this machine is connected (Wi-Fi, VPN)',
    ],
    [
      'UND_ERR_CONNECT_TIMEOUT',
      'api.example did not respond in time',
      'A firewall, or a network that asks for a sign-in, may drop connections',
    ],
    [
      'ETIMEDOUT',
      'api.example did not respond in time',
      'A firewall, or a network that asks for a sign-in, may drop connections',
    ],
    ['EPERM', 'this machine refuses to connect to api.example', 'A firewall on this machine may block it'],
    ['ECONNRESET', 'the connection to api.example failed', 'Run the cell again'],
  ])('%s', (code, what, hint) => {
    expect(said(code)).toEqual([`${what} (${code})`, hint]);
  });
});
