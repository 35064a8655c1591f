import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type TestService, testService } from '../../service.js';

const route = '/v2/apl-starred-queries';

const example = {
  dataset: 'sample-http-logs',
  kind: 'apl',
  name: 'Errors by hour',
  who: 'local',
  metadata: { quickRange: '1h' },
  query: {
    apl: "['sample-http-logs'] | where status == '500' | summarize count() by bin(_time, 1h)",
    startTime: 'now-1d',
    endTime: 'now',
    cursor: '',
    defaultLimit: 1000,
    defaultOrder: [{ field: '_time', desc: true }],
    includeCursor: false,
    includeCursorField: false,
    libraries: [],
    variables: { n: 1 },
    queryOptions: { priority: 'low', disableCache: false },
  },
};

async function create(service: TestService, more: object): Promise<string> {
  return (await service.json('POST', route, { ...example, ...more })).body.id;
}

test('a starred query is created, read, replaced, listed and deleted', async () => {
  const service = await testService();
  const created = await service.json('POST', route, example);
  expect(created).toEqual({ status: 200, body: { ...example, id: created.body.id } });
  const { id } = created.body;
  expect(await service.json('GET', `${route}/${id}`)).toEqual({ status: 200, body: { ...example, id } });
  const changed = { ...example, name: 'New' };
  expect(await service.json('PUT', `${route}/${id}`, changed)).toEqual({
    status: 200,
    body: { ...changed, id },
  });
  expect((await service.json('GET', route)).body).toEqual([{ ...changed, id }]);
  expect(await service.json('DELETE', `${route}/${id}`)).toEqual({ status: 204, body: undefined });
  for (const method of ['GET', 'DELETE'])
    expect((await service.json(method, `${route}/${id}`)).status).toBe(404);
});

test('optional members of a query are in every answer, as clients expect', async () => {
  const service = await testService();
  const { dataset: _, ...others } = example;
  const least = { ...others, query: { apl: 'x | count' } };
  const created = await service.json('POST', route, least);
  const { id } = created.body;
  const answered = { ...least, id, dataset: '', query: { apl: 'x | count', queryOptions: {} } };
  const answers = [
    created,
    await service.json('GET', `${route}/${id}`),
    await service.json('PUT', `${route}/${id}`, least),
  ];
  expect(answers.map(({ body }) => body)).toEqual([answered, answered, answered]);
  expect((await service.json('GET', route)).body).toEqual([answered]);
});

test('PUT does not create an unknown id, and the answer says how to', async () => {
  const answer = await (await testService()).json('PUT', `${route}/nope`, example);
  expect([answer.status, answer.body.code]).toEqual([404, 404]);
  expect(answer.body.message).toBe('Not found: There is no starred query "nope".');
  expect(answer.body.detail.hint).toBe('Create a new one with POST or `%star --new`.');
});

test.each(['..%2F..%2Fsecret', '%2e%2e', 'a%00b', '.', 'x'.repeat(65)])(
  'the id %s is answered with 404',
  async id => {
    const service = await testService();
    await writeFile(path.join(service.dataDir, 'secret.json'), JSON.stringify(example));
    expect((await service.json('GET', `${route}/${id}`)).status).toBe(404);
  },
);

test('the list is filtered and paged', async () => {
  const service = await testService();
  const query = (apl: string) => ({ ...example.query, apl });
  const ids = {
    a: await create(service, { name: 'a', dataset: 'one', query: query('x | count') }),
    b: await create(service, { name: 'b', dataset: 'two', query: query('x | take 1') }),
    c: await create(service, { name: 'c', dataset: 'two', who: 'someone' }),
  };
  const names: Record<string, string> = { [ids.a]: 'a', [ids.b]: 'b', [ids.c]: 'c' };
  const listed = async (parameters: string) =>
    (await service.json('GET', route + parameters)).body
      .map((each: { id: string }) => names[each.id])
      .join('');
  expect(await listed('')).toBe('ab');
  expect(await listed('?who=all')).toBe('abc');
  expect(await listed('?who=team&dataset=two')).toBe('bc');
  expect(await listed('?who=someone')).toBe('c');
  expect(await listed('?qs=COUNT')).toBe('a');
  expect(await listed('?who=all&limit=1&offset=1')).toBe('b');
  const wrong = await service.json('GET', `${route}?limit=-1`);
  expect([wrong.status, wrong.body.message]).toEqual([400, '`limit` should be a whole number.']);
});

const { name: _name, ...nameless } = example;

const refused: readonly (readonly [body: unknown, message: string])[] = [
  [nameless, '`name` is missing.'],
  [{ ...example, name: '' }, '`name` is empty.'],
  [{ ...example, kind: 'sql' }, 'starred query.kind should be "apl", not a string.'],
  [{ ...example, metadata: { a: 1 } }, 'starred query.metadata.a should be a string, not a number.'],
  [{ ...example, nmae: 'x' }, '`nmae` is not a known property of a starred query.'],
  [{ ...example, query: 'x' }, '`query` should be a JSON object.'],
  [{ ...example, query: { apl: ' ' } }, '`query.apl` should be a query string.'],
  [
    { ...example, query: { ...example.query, defaultLimit: 1.5 } },
    '`query.defaultLimit` should be a non-negative integer.',
  ],
  [
    { ...example, query: { ...example.query, defaultOrder: [{ field: 'a' }] } },
    '`query.defaultOrder` should be a list of {"field": string, "desc": boolean}.',
  ],
  [[], 'The body should be a JSON object.'],
];

test.each(refused)('an invalid starred query is refused: %j', async (body, message) => {
  const service = await testService();
  const answer = await service.json('POST', route, body);
  expect(answer).toEqual({
    status: 400,
    body: { code: 400, message, detail: { errorType: 'invalid-request', message } },
  });
  expect((await service.json('GET', route)).body).toEqual([]);
});

test('each starred query is one file that can be read and committed', async () => {
  const service = await testService();
  const id = await create(service, {});
  const directory = path.join(service.dataDir, 'starred');
  expect(await readdir(directory)).toEqual([`${id}.json`]);
  const text = await readFile(path.join(directory, `${id}.json`), 'utf8');
  const { checksum, ...stored } = JSON.parse(text);
  expect(stored).toEqual({ ...example, id });
  expect(checksum).toMatch(/^[0-9a-f]{8}$/);
  expect(text).toBe(`${JSON.stringify({ ...stored, checksum }, null, 2)}\n`);
});

test('names are ordered alike on every machine: letters ignoring case, others by code point', async () => {
  const service = await testService();
  for (const name of ['b', '\u00e4', 'B', 'a', 'Z', '_', '1']) await create(service, { name });
  const names = (await service.json('GET', route)).body.map((query: { readonly name: string }) => query.name);
  expect(names).toEqual(['1', '_', 'a', 'B', 'b', 'Z', '\u00e4']);
});
