import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer as createPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InterruptedError, TlsError } from '../../../kernel/api/api-errors.js';
import { createClient } from '../../../kernel/api/client.js';
import { AccessToken } from '../../../kernel/api/profile.js';
import { certify, hasOpenssl } from '../certificates.js';
import { failureOf } from '../connections.js';
import { secret } from './fault-server.js';

/** Returns how a query fails against a server without a secure connection. */
async function said(server: Server): Promise<readonly [isTls: boolean, hint: string]> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ profileName: 'prod', url, token: new AccessToken(secret) }, { version: '1' });
  onTestFinished(() => client.close());
  const error = await failureOf(client.query({ apl: 'logs' }));
  expect(error.message).not.toContain(secret);
  return [error instanceof TlsError, error.hint?.split(/[:.]/)[0] ?? ''];
}

function signed(hosts: string): TlsOptions {
  const directory = mkdtempSync(join(tmpdir(), 'apl-secure-'));
  const { key, cert } = certify(directory, hosts);
  rmSync(directory, { recursive: true });
  return { key, cert };
}

describe.runIf(hasOpenssl())('an insecure connection is refused', () => {
  test('if the authority is unknown', async () => {
    const server = createServer(signed('IP:127.0.0.1'));
    expect(await said(server)).toEqual([
      true,
      'The certificate is from an authority that this machine does not trust',
    ]);
  });

  test('if the service uses an old TLS version', async () => {
    const server = createServer({
      ...signed('IP:127.0.0.1'),
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
      ciphers: 'ALL:@SECLEVEL=0',
    });
    server.on('tlsClientError', () => undefined);
    expect(await said(server)).toEqual([true, 'The service uses a version of TLS before 1']);
  });
});

test('an interrupt ends the wait for a TLS handshake on a silent port', async () => {
  const sockets: Socket[] = [];
  const controller = new AbortController();
  const server = createPlain(socket => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => controller.abort());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ profileName: 'prod', url, token: new AccessToken(secret) }, { version: '1' });
  const error = await failureOf(client.query({ apl: 'logs' }, controller.signal));
  expect(error).toBeInstanceOf(InterruptedError);
  // The server would see the end of the first connection before this new one.
  const later = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(later, 'connect');
  later.destroy();
  expect(sockets[0]?.readableEnded).toBe(false);
  await client.close();
});

test('reports a port that does not speak TLS', async () => {
  const server = createPlain(socket =>
    socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  );
  expect(await said(server)).toEqual([true, 'That port does not speak TLS']);
});
