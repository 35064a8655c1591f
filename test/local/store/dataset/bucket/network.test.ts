import { afterEach, describe, expect, test, vi } from 'vitest';
import { compileRequest } from '../../../../../kernel/local/sql/compile.js';
import { certify, hasOpenssl } from '../../../../api/certificates.js';
import { secureEndOf, tunnelTo } from '../../../../setup/tunnel.js';
import { temporaryDirectory, testService } from '../../../service.js';
import { eventsFile, sharedBucket } from './server.js';

const bucket = sharedBucket();

const variables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap(name => [
  name,
  name.toLowerCase(),
]);

/** Imports over a network configured by these variables, with a service started under them. */
async function imported(env: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  for (const name of [...variables, 'AWS_CA_BUNDLE', 'APL_KERNEL_CA_CERTS']) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  await bucket.put('app/a.parquet', eventsFile([0, 1000]));
  const service = await testService({ compile: compileRequest });
  const { status, body } = await service.json('POST', '/v1/local/import', {
    path: 's3://logs/app',
    dataset: 'app',
  });
  if (status !== 200) return [status, body.message];
  const { body: answer } = await service.query('app | count', {
    startTime: '1970-01-01T00:00:00Z',
    endTime: '1970-01-02T00:00:00Z',
  });
  return [status, answer.tables?.[0]?.columns?.[0]?.[0]];
}

const port = () => Number(new URL(process.env.AWS_ENDPOINT_URL ?? '').port);
afterEach(() => vi.unstubAllEnvs());

describe('a bucket behind a proxy', () => {
  const beyond = { AWS_ENDPOINT_URL: 'http://s3.invalid:81' };

  test('is read through the proxy of the environment', async () => {
    const { url, asked } = await tunnelTo(port());
    expect(await imported({ ...beyond, HTTP_PROXY: url })).toEqual([200, 2]);
    expect(new Set(asked)).toEqual(new Set(['s3.invalid:81']));
  });

  test.each([
    [407, 'the proxy PROXY asks for a user and a password (status 407)', 'Write them into HTTPS_PROXY'],
    [403, 'the proxy PROXY refuses to connect to s3.invalid (status 403)', 'Name s3.invalid in NO_PROXY'],
    [503, 'the proxy PROXY cannot connect to s3.invalid (status 503)', 'Run the cell again in a moment'],
  ])('is not blamed for status %d of the proxy', async (status, says, hint) => {
    const { url, asked } = await tunnelTo(port(), status);
    const said = `s3://logs/app/ cannot be read: ${says.replace('PROXY', new URL(url).host)}. ${hint}`;
    expect(await imported({ ...beyond, HTTP_PROXY: url })).toEqual([503, expect.stringContaining(said)]);
    expect(asked).toEqual(['s3.invalid:81']);
  });

  test('is not blamed if the proxy does not answer, and no message has the secret of its address', async () => {
    const refused = await imported({ ...beyond, HTTP_PROXY: 'http://me:s3cret@127.0.0.1:1' });
    expect(refused).toEqual([
      503,
      's3://logs/app/ cannot be read: the proxy 127.0.0.1:1 cannot be reached (ECONNREFUSED). HTTPS_PROXY or HTTP_PROXY names it: check its address. Name s3.invalid in NO_PROXY if it can be reached without a proxy, and restart the local service.',
    ]);
  });

  test('on this machine uses no proxy', async () => {
    expect(await imported({ HTTP_PROXY: 'http://127.0.0.1:1' })).toEqual([200, 2]);
  });

  test('is reached directly if NO_PROXY names it', async () => {
    const { url, asked } = await tunnelTo(port());
    const [status] = await imported({ ...beyond, HTTP_PROXY: url, NO_PROXY: 's3.invalid' });
    expect([status, asked]).toEqual([503, []]);
  });
});

describe.skipIf(!hasOpenssl())('a bucket with a certificate of a private authority', () => {
  async function signed() {
    const { ca, ...certificate } = certify(await temporaryDirectory(), 'DNS:s3.invalid');
    const proxy = await tunnelTo(await secureEndOf(port(), certificate));
    return { ca, env: { AWS_ENDPOINT_URL: 'https://s3.invalid', HTTPS_PROXY: proxy.url } };
  }

  test.each(['AWS_CA_BUNDLE', 'APL_KERNEL_CA_CERTS'])('is read if %s names the authority', async variable => {
    const { ca, env } = await signed();
    expect(await imported({ ...env, [variable]: ca })).toEqual([200, 2]);
  });

  test('is not read without a named authority', async () => {
    const { env } = await signed();
    expect(await imported(env)).toEqual([
      503,
      's3://logs/app/ cannot be read: the secure connection failed (Error, UNABLE_TO_VERIFY_LEAF_SIGNATURE). If its certificate is issued by your company or its proxy, set AWS_CA_BUNDLE or NODE_EXTRA_CA_CERTS to the file of the certificate authority and restart the local service: stop it with `apl-kernel serve --stop`.',
    ]);
  });

  test('is not read if the authority file is unreadable', async () => {
    const { env } = await signed();
    expect(await imported({ ...env, APL_KERNEL_CA_CERTS: '/nowhere.pem' })).toEqual([
      503,
      's3://logs/app/ cannot be read: the authorities of NODE_EXTRA_CA_CERTS cannot be read (ENOENT). Check that NODE_EXTRA_CA_CERTS names a file of certificates in PEM, and restart the local service.',
    ]);
  });
});
