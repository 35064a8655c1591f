import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { dispatcherTo } from '../../kernel/api/connection.js';

/** What arrives of a large answer from this machine, in the pieces that the socket gave, none of which is copied here. */

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test.each([
  ['small pieces', 500, 100],
  ['large pieces', 12, 900_000],
  ['both', 60, undefined],
])('%s stay as they were sent, while others come on the same connections', async (_, count, size) => {
  const sizeOf = (piece: number) => size ?? (piece % 3 === 0 ? 400_000 : 50 + piece);
  const pieces = (mark: number) =>
    Array.from({ length: count }, (_, piece) => Buffer.alloc(sizeOf(piece), (mark * 31 + piece) % 251));
  server = createServer(async (request, response) => {
    for (const piece of pieces(Number(request.url?.slice(1)))) {
      response.write(piece);
      await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatcher = dispatcherTo(new URL(origin));
  const answers = await Promise.all(
    [0, 1, 2, 3].map(async mark => {
      const { body } = await dispatcher.request({ origin, path: `/${mark}`, method: 'GET' });
      const arrived: Uint8Array[] = [];
      for await (const piece of body) arrived.push(piece as Uint8Array);
      return arrived;
    }),
  );
  for (const [mark, arrived] of answers.entries())
    expect(Buffer.concat(arrived).equals(Buffer.concat(pieces(mark)))).toBe(true);
  await dispatcher.close();
});
