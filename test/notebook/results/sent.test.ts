import { expect, test } from 'vitest';
import { type Client, createClient } from '../../../kernel/api/client.js';
import { AccessToken } from '../../../kernel/api/profile.js';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
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

test('a dropped result is dropped by the service with all its selections, and is sent again when needed', async () => {
  const service = await testService({ compile: compileRequest });
  const token = new AccessToken(service.service.token);
  const { url } = service.service;
  const client = createClient({ profileName: 'local', url, token }, { version: '1.2.3' });
  const columns = ['a', 'b', 'c'].map(name => [name, 'integer', '[1,2]'] as const);
  const sent = new SentResults();
  const sends = async (id: string, read: object) => {
    const cached = { id, result: sampleResult([{ columns }]), query: new QueryText(id), bytes: 48 };
    return sent.send(client, new Map([['t', { cached, ...read }]]), new AbortController().signal);
  };
  const part = await sends('r1', { places: [0, 2] });
  const whole = await sends('r1', {});
  const other = await sends('r11', {});
  const statuses = () =>
    Promise.all(
      [part, whole, other].map(async results => (await service.query('t | count', { results })).status),
    );
  expect(await statuses()).toEqual([200, 200, 200]);
  sent.drop('r1');
  await expect.poll(statuses).toEqual([410, 410, 200]);
  await sends('r1', {});
  expect(await statuses()).toEqual([410, 200, 200]);
  await client.close();
});
