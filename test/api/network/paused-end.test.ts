import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import undici, { type Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { dispatcherTo } from '../../../kernel/api/network/network-connection.js';

/** Sends a response of so many bytes to each request for `/BYTES`, and ends the connection. */
async function serve(
  head: (bytes: number) => string,
  body: (bytes: number) => readonly (string | Buffer)[],
  end: (socket: Socket) => unknown = socket => socket.end(),
): Promise<URL> {
  const server = createServer(socket => {
    socket
      .on('error', () => undefined)
      .once('data', request => {
        const bytes = Number(/^GET \/(\d+)/.exec(request.toString('latin1'))?.[1]);
        socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n${head(bytes)}\r\n`);
        for (const part of body(bytes)) socket.write(part);
        end(socket);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Returns the length of a response, read so slowly that it has ended by then, or why it is incomplete. */
async function readSlowly(base: URL, bytes: number, dispatcher: Dispatcher): Promise<number | string> {
  try {
    const { body } = await undici.request(new URL(`/${bytes}`, base), { dispatcher, reset: true });
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      for (let turn = 0; turn < 5; turn++) await nextTurn();
    }
    return length;
  } catch {
    return 'incomplete';
  }
}

const sizes = Array.from({ length: 60 }, (_, index) => 64 * 1024 + index * 8 * 1024);
const content = (bytes: number) => Buffer.alloc(bytes, 'a');
const chunk = (bytes: number) => [`${bytes.toString(16)}\r\n`, content(bytes), '\r\n'];
const given = (bytes: number) => `Content-Length: ${bytes}\r\n`;
const chunked = () => 'Transfer-Encoding: chunked\r\n';

test.each<[string, ...Parameters<typeof serve>]>([
  ['of a given length', given, bytes => [content(bytes)]],
  ['in chunks', chunked, bytes => [...chunk(bytes), '0\r\n\r\n']],
  ['that ends with its connection', () => '', bytes => [content(bytes)]],
])('a response %s is read to its end, however late', async (_, ...response) => {
  const base = await serve(...response);
  const dispatcher = dispatcherTo(base);
  onTestFinished(() => dispatcher.destroy());
  for (const bytes of sizes) expect(await readSlowly(base, bytes, dispatcher)).toBe(bytes);
});

test.each<[string, ...Parameters<typeof serve>]>([
  ['cut off', bytes => given(bytes + 1), bytes => [content(bytes)]],
  ['cut off between chunks', chunked, bytes => chunk(bytes)],
  [
    'reset',
    bytes => given(bytes + 1),
    bytes => [content(bytes)],
    socket => setImmediate(() => socket.resetAndDestroy()),
  ],
])('a response that is %s before it is read fails its request, not the process', async (_, ...response) => {
  const base = await serve(...response);
  const dispatcher = dispatcherTo(base);
  onTestFinished(() => dispatcher.destroy());
  for (const bytes of sizes) expect(await readSlowly(base, bytes, dispatcher)).toBe('incomplete');
});
