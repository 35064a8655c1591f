import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createProxy, type Server } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { certify, hasOpenssl } from '../api/certificates.js';
import { tabular } from '../api/service.js';
import { aplKernel, scratchDirectory } from './command.js';

const secret = 'xaat-12345678-secret-of-tls';

async function listen(server: Server | ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

test.skipIf(!hasOpenssl()).each([
  ['of an authority named in NODE_EXTRA_CA_CERTS', true],
  ['of an unknown authority', false],
])('a TLS service behind a proxy, with a certificate %s', async (_, isNamed) => {
  const home = scratchDirectory();
  const { ca, key, cert } = certify(home, 'DNS:api.invalid');
  const tokens: unknown[] = [];
  const service = await listen(
    createServer({ key, cert }, ({ headers }, response) => {
      tokens.push(headers.authorization);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(tabular([{ name: 'n', type: 'integer' }], [[4711]])));
    }),
  );
  const asked: unknown[] = [];
  const passed: Buffer[] = [];
  const proxy = await listen(
    createProxy().on('connect', ({ url, headers }, socket, head) => {
      asked.push([url, headers.authorization, headers['proxy-authorization']]);
      const there = connect(service, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        there.write(head);
        socket.on('data', data => passed.push(data)).pipe(there);
        there.on('data', data => passed.push(data)).pipe(socket);
      });
      for (const each of [socket, there]) each.on('error', () => there.destroy());
    }),
  );
  writeFileSync(
    join(home, '.axiom.toml'),
    `[deployments.prod]\nurl = "https://api.invalid"\ntoken = "${secret}"\n`,
  );
  writeFileSync(join(home, 'in.apl'), 'web | count\n');
  const run = await aplKernel(['run', 'in.apl', '--profile', 'prod'], {
    HOME: home,
    PATH: '',
    APL_KERNEL_DATA: join(home, 'data'),
    HTTPS_PROXY: `http://127.0.0.1:${proxy}`,
    ...(isNamed ? { NODE_EXTRA_CA_CERTS: ca } : {}),
  });
  const notebook = readFileSync(join(home, 'out/in.ipynb'), 'utf8');
  expect([run.code, notebook.includes('4711'), tokens]).toEqual(
    isNamed ? [0, true, [`Bearer ${secret}`]] : [1, false, []],
  );
  if (!isNamed) expect(notebook).toContain('set NODE_EXTRA_CA_CERTS to its certificate file');
  expect(new Set(asked.map(each => JSON.stringify(each)))).toEqual(
    new Set(['["api.invalid:443",null,null]']),
  );
  const seen = Buffer.concat(passed).toString('latin1');
  expect([seen.length > 0, seen.includes(secret), seen.includes('4711')]).toEqual([true, false, false]);
});
