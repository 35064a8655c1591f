import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deploymentAt } from '../../../cluster/cases.js';
import { type TestService, testService } from '../../service.js';

/** Starts a coordinator for one test, which answers each statement with the columns of a table; returns its address. */
async function coordinator(): Promise<string> {
  const data = [
    ['events', 'ts', 'timestamp(9)', null],
    ['events', 'n', 'bigint', null],
    ['hosts', 'name', 'varchar', null],
  ];
  const server = createServer((_request, response) =>
    response.end(JSON.stringify({ data, stats: { state: 'FINISHED' } })),
  ).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let service: TestService;

beforeEach(async () => {
  const lake = deploymentAt(await coordinator());
  const { engine: _, ...hosted } = lake;
  service = await testService({
    deploymentOf: async name => (name === 'lake' ? lake : { ...hosted, profileName: name }),
  });
});

const get = (route: string, deployment = 'lake') =>
  service.json('GET', `/v1/deployments/${deployment}${route}`);

describe('a deployment on a cluster', () => {
  test('has the tables of the cluster as datasets', async () => {
    const description = 'a table of the cluster';
    expect(await get('/v2/datasets')).toEqual({
      status: 200,
      body: ['events', 'hosts'].map(name => ({ id: name, name, description })),
    });
  });

  test('has the columns of a table as fields', async () => {
    const { status, body } = await get('/v2/datasets/events/fields');
    const field = (name: string, type: string, description = '') => ({
      ...{ name, type, description },
      ...{ unit: '', hidden: false },
    });
    expect([status, body]).toEqual([
      200,
      [field('_time', 'datetime', 'the column ts'), field('ts', 'datetime'), field('n', 'integer')],
    ]);
    expect(await get('/v2/datasets/nope/fields')).toMatchObject({
      status: 404,
      body: { message: 'Not found: lake has no table `nope`.' },
    });
  });

  test('has the user of its requests', async () => {
    expect(await get('/v2/user')).toEqual({ status: 200, body: { id: 'me', name: 'me', email: '' } });
  });

  test.each(['/v2/annotations', '/v2/apl-starred-queries'])(
    'has nothing below %s, and stores nothing',
    async path => {
      expect(await get(path)).toEqual({ status: 200, body: [] });
      for (const [method, route] of [
        ['POST', path],
        ['GET', `${path}/a1`],
        ['PUT', `${path}/a1`],
        ['DELETE', `${path}/a1`],
      ] as const) {
        const { status, body } = await service.json(
          method,
          `/v1/deployments/lake${route}`,
          method === 'GET' ? undefined : {},
        );
        expect([method, status, body.message]).toEqual([
          method,
          422,
          'A cluster does not store starred queries or annotations.',
        ]);
      }
    },
  );
});

test.each(['/v2/datasets', '/v2/datasets/events/fields', '/v2/user'])(
  'a deployment without a cluster has no route %s',
  async route => {
    const { status, body } = await get(route, 'prod');
    expect([status, body.message]).toEqual([422, 'The kernel queries the Axiom deployment prod directly.']);
  },
);
