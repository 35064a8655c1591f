import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../kernel/api/client.js';
import { startService, tabular } from '../service.js';

test.each([
  ['none', {}, undefined],
  ['most of it left', { limit: '5000', remaining: '501', reset: '4102444800' }, undefined],
  [
    'a tenth left',
    { limit: '5000', remaining: '500', reset: '4102444800' },
    'Only 500 of 5,000 GB·ms of the query limit of the plan are left; it resets at 2100-01-01T00:00:00Z.',
  ],
  [
    'nothing left, without a reset',
    { limit: '5000', remaining: '0' },
    'Only 0 of 5,000 GB·ms of the query limit of the plan are left.',
  ],
  [
    'an out-of-range reset',
    { limit: '10', remaining: '1', reset: '99999999999' },
    'Only 1 of 10 GB·ms of the query limit of the plan are left.',
  ],
  ['no numbers', { limit: '<b>', remaining: '-1', reset: 'soon' }, undefined],
  ['empty', { limit: '', remaining: '' }, undefined],
  ['a limit alone', { limit: '5000' }, undefined],
])('headers of a query limit: %s', async (_, members, expected) => {
  const headers = Object.fromEntries(
    Object.entries(members).map(([name, value]) => [`X-QueryLimit-${name}`, value]),
  );
  const service = await startService(() => ({ headers, body: tabular([], []) }));
  const client = createClient({ profileName: 'p', url: service.url }, { version: '1.2.3' });
  onTestFinished(() => service.close());
  onTestFinished(() => client.close());
  expect((await client.query({ apl: 'web' })).nearLimit).toEqual(expected);
});
