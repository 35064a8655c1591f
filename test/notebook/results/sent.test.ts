import { expect, test } from 'vitest';
import { type Client, createClient } from '../../../kernel/api/client.js';
import { AccessToken } from '../../../kernel/api/profile.js';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { SentResults } from '../../../kernel/notebook/results/sent.js';
import { testService } from '../../local/service.js';
import { sampleResult } from '../../result/sample.js';

test('each selection of columns is sent as its own table until the whole result was sent', async () => {
  const { service } = await testService();
  const token = new AccessToken(service.token);
  const client = createClient({ profileName: 'local', url: service.url, token }, { version: '1.2.3' });
  const columns = Array.from({ length: 13 }, (_, at) => [`c${at}`, 'integer', `[${at}]`] as const);
  const cached = {
    id: 'wide',
    result: sampleResult([{ columns }]),
    query: new QueryText('wide'),
    bytes: 104,
  };
  const sent = new SentResults();
  const idsOf = async (reads: readonly object[]) => {
    const wanted = new Map(reads.map((read, at) => [`t${at}`, { cached, ...read }]));
    const { tables } = await sent.send(client, wanted, new AbortController().signal);
    return Object.values(tables).map(({ id }) => id);
  };
  const some = [{ places: [1, 12] }, { places: [11, 2] }, { places: [1, 1], isWritable: true }] as const;
  expect(await idsOf(some)).toEqual(['wide:1-12', 'wide:11-2', 'wide:1-1:writable']);
  expect(await idsOf([{}, ...some])).toEqual(['wide', 'wide', 'wide', 'wide:1-1:writable']);
  await client.close();
});

test('concurrent requests share one lease, and continue if one is canceled', async () => {
  const { service } = await testService();
  const token = new AccessToken(service.token);
  const client = createClient({ profileName: 'local', url: service.url, token }, { version: '1.2.3' });
  let leases = 0;
  const counted: Client = {
    ...client,
    leaseResults: signal => {
      leases += 1;
      return client.leaseResults(signal);
    },
  };
  const result = sampleResult([{ columns: [['n', 'integer', '[1,2,3]']] }]);
  const wanted = new Map([['_', { cached: { id: 'three', result, query: new QueryText('n'), bytes: 24 } }]]);
  const sent = new SentResults();
  const impatient = new AbortController();
  const { signal } = new AbortController();
  const first = sent.send(counted, wanted, impatient.signal);
  const others = [sent.send(counted, wanted, signal), sent.send(counted, wanted, signal)];
  impatient.abort();
  await expect(first).rejects.toThrow();
  const [one, other] = await Promise.all(others);
  expect(one?.lease).toBe(other?.lease);
  expect((await sent.send(counted, wanted, signal)).lease).toBe(one?.lease);
  expect(leases).toBe(2);
  await client.close();
});
