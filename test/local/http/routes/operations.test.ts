import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sharedService } from '../../service.js';

/** Every operation that the hosted service documents, and what the local one does with it. */

const service = sharedService();

const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/operations.md'), 'utf8');
const rows = [...page.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) (\S+) \| (\w+) \|$/gm)].map(
  ([, method = '', route = '', state = '']) => [method, route, state] as const,
);

const count = (wanted: string) => rows.filter(([, , state]) => state === wanted).length;

test('the page lists the documented operations, and counts those that are served', () => {
  expect(rows.length).toBe(103);
  const [served, none, refused] = [count('served'), count('none'), count('refused')];
  expect(page).toContain(
    `\n${served} of 103 are served, ${none} answer that there is none, and ${refused} are refused.\n`,
  );
});

test.each(rows)('%s %s is %s', async (method, route, state) => {
  // Of users and organizations there is one each.
  const id = /^\/v2\/(users|orgs)\//.test(route) ? 'local' : 'x';
  const answer = await service().send(method, route.replaceAll(/\{[^}]*\}/g, id));
  const text = await answer.text();
  const found =
    answer.status === 422 && text.includes('"The local service does not support ')
      ? 'refused'
      : text.includes('"Not found: The service has no ')
        ? 'missing'
        : /^\{"code":404,"message":"Not found: The local service has no [a-z ]+: there is none with the id \\"x\\"\./.test(
              text,
            )
          ? 'none'
          : 'served';
  expect([found, answer.status < 500]).toEqual([state, true]);
});

test.each([
  ['/v1/metrics', 'application/json'],
  ['/v2/views', 'text/csv'],
  ['/v2/monitors', 'application/json'],
])('%s is refused by name, whatever its body: %s', async (route, type) => {
  const answer = await service().json('POST', route, '{"', { 'content-type': type });
  expect([answer.status, answer.body.detail?.errorType]).toEqual([422, 'not-supported']);
});

test('the one user and the one organization are found by their ids, and no others', async () => {
  const get = async (path: string) => (await service().send('GET', path)).json();
  expect(await get('/v2/users/local')).toEqual(await get('/v2/user'));
  expect(await get('/v2/users')).toEqual([await get('/v2/user')]);
  expect(await get('/v2/orgs')).toEqual([await get('/v2/orgs/local')]);
  for (const path of ['/v2/users/someone', '/v2/orgs/other'])
    expect((await service().send('GET', path)).status).toBe(404);
});
