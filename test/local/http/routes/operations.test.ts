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

test('the page lists the documented operations, and counts those that are served', () => {
  const served = rows.filter(([, , state]) => state === 'served').length;
  expect(rows.length).toBe(103);
  expect(page).toContain(`\n${served} of 103 are served.\n`);
});

test.each(rows)('%s %s is %s', async (method, route, state) => {
  const answer = await service().send(method, route.replaceAll(/\{[^}]*\}/g, 'x'));
  const text = await answer.text();
  const found =
    answer.status === 501
      ? 'refused'
      : text.includes('"Not found: The service has no ')
        ? 'missing'
        : 'served';
  expect([found, answer.status < 500 || answer.status === 501]).toEqual([state, true]);
  if (state === 'refused')
    expect(JSON.parse(text).message).toMatch(/^The local service does not support [a-zA-Z]/);
});
