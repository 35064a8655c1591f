import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { createServer as createSecureServer } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A proxy, and the hosts to which it was asked to connect. */
export interface Tunnel {
  readonly url: string;
  readonly asked: readonly string[];
}

/** Starts a proxy for one test that connects every host to a port of this machine, or answers with a status other than 200. */
export async function tunnelTo(port: number, status = 200): Promise<Tunnel> {
  const asked: string[] = [];
  const server = createServer().on('connect', ({ url = '' }, socket) => {
    asked.push(url);
    socket.on('error', () => undefined);
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n<html>`);
    const there = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    return there.on('error', () => socket.destroy());
  });
  return { url: `http://127.0.0.1:${await portOf(server)}`, asked };
}

/** Starts a TLS endpoint for one test that forwards decrypted traffic to a port of this machine; returns its port. */
export async function secureEndOf(
  port: number,
  certificate: { readonly key: Buffer; readonly cert: Buffer },
): Promise<number> {
  return portOf(
    createSecureServer(certificate, socket => {
      const there = connect(port, '127.0.0.1');
      socket.on('error', () => there.destroy());
      there.on('error', () => socket.destroy());
      there.pipe(socket).pipe(there);
    }),
  );
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
