import { expect, onTestFinished, test } from 'vitest';
import { Dealer } from 'zeromq';
import { endpoint } from '../../kernel/jupyter/connection.js';
import { bindChannels } from '../../kernel/jupyter/sockets.js';
import { LOCAL } from './client.js';

const fail = (line: string) => {
  throw new Error(line);
};

test('messages sent before closing arrive in order', async () => {
  const channels = await bindChannels(LOCAL, fail);
  const client = new Dealer({ linger: 0, routingId: 'client', receiveHighWaterMark: 0 });
  onTestFinished(() => client.close());
  client.connect(endpoint(channels.connection, channels.connection.shell_port));
  const count = 5_000;
  const closed = new Promise<void>(resolve => {
    const ended = channels.shell.listen(([identity]) => {
      for (let i = 0; i < count; i += 1)
        channels.shell.send([identity ?? Buffer.alloc(0), Buffer.from(`${i}`)]);
      resolve(Promise.all([channels.close(), ended]).then(() => undefined));
    });
  });
  await client.send('hello');
  const received: string[] = [];
  while (received.length < count) received.push(String((await client.receive())[0]));
  await closed;
  expect(received.every((text, i) => text === `${i}`)).toBe(true);
});

test('channels can be closed twice', async () => {
  const channels = await bindChannels(LOCAL, fail);
  await channels.close();
  await expect(channels.close()).resolves.toBeUndefined();
});
