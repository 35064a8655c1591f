import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { probeClusters } from '../../../kernel/local/trino/trino-probe.js';
import { certify, hasOpenssl } from '../../api/certificates.js';
import { deploymentAt } from '../../cluster/cases.js';
import { secureEndOf, tunnelTo } from '../../setup/tunnel.js';
import { temporaryDirectory } from '../service.js';

afterEach(() => vi.unstubAllEnvs());

/** Starts a coordinator for one test with a single table; returns its port. */
async function coordinator(): Promise<number> {
  const server = createServer((_request, response) =>
    response.end(JSON.stringify({ data: [['events', 'ts', 'timestamp(9)']], stats: { state: 'FINISHED' } })),
  ).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Returns the result of `doctor` for a cluster at an address, over a network configured by these variables. */
async function probed(url: string, env: Readonly<Record<string, string>>): Promise<unknown> {
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'])
    for (const each of [name, name.toLowerCase()]) vi.stubEnv(each, undefined);
  vi.stubEnv('APL_KERNEL_CA_CERTS', undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const [probe] = await probeClusters([deploymentAt(url)], 10_000);
  const { outcome } = probe ?? {};
  return outcome instanceof Error ? [outcome.message, outcome.hint] : outcome;
}

const found = { tables: 1, place: 'memory.default' };

test('a cluster is reached through the proxy of the environment', async () => {
  const { url, asked } = await tunnelTo(await coordinator());
  expect(await probed('http://trino.invalid:81', { HTTP_PROXY: url })).toEqual(found);
  expect(asked).toEqual(['trino.invalid:81']);
});

test('a proxy failure is reported at once, as one of the proxy', async () => {
  const { url, asked } = await tunnelTo(await coordinator(), 407);
  expect(await probed('http://trino.invalid:81', { HTTP_PROXY: url })).toEqual([
    `The cluster at trino.invalid:81 cannot be reached: the proxy ${new URL(url).host} asks for a user and a password (status 407).`,
    'Write them into HTTPS_PROXY, as in http://USER:PASSWORD@HOST:PORT, or check the ones it has, and restart the local service.',
  ]);
  expect(asked).toEqual(['trino.invalid:81']);
});

test.skipIf(!hasOpenssl())(
  'a certificate of a private authority is trusted if the environment names it',
  async () => {
    const { ca, ...certificate } = certify(await temporaryDirectory(), 'DNS:trino.invalid');
    const { url, asked } = await tunnelTo(await secureEndOf(await coordinator(), certificate));
    const env = { HTTPS_PROXY: url };
    expect(await probed('https://trino.invalid', { ...env, APL_KERNEL_CA_CERTS: ca })).toEqual(found);
    const before = asked.length;
    expect(await probed('https://trino.invalid', env)).toEqual([
      'The cluster at trino.invalid cannot be reached: no secure connection to trino.invalid (UNABLE_TO_VERIFY_LEAF_SIGNATURE).',
      'The certificate is from an authority that this machine does not trust. If that is your company or its proxy, set NODE_EXTRA_CA_CERTS to its certificate file and restart the kernel; on an unfamiliar network, send nothing. The local service connects to the cluster: stop it with `apl-kernel serve --stop` to apply changes.',
    ]);
    expect(asked.length - before).toBe(1);
  },
);
