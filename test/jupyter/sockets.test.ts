import { expect, onTestFinished, test } from 'vitest';
import { curveKeyPair, Dealer } from 'zeromq';
import { endpoint } from '../../kernel/jupyter/connection.js';
import { startKernel } from '../../kernel/jupyter/jupyter-server.js';
import { bindChannels } from '../../kernel/jupyter/sockets.js';
import { Client, LOCAL } from './client.js';
import { EchoHandler } from './echo-handler.js';

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

test('a connection with CurveZMQ keys is encrypted on every channel', async () => {
  const connection = { ...LOCAL, curve: curveKeyPair() };
  const kernel = await startKernel(connection, () => new EchoHandler(), { log: fail });
  onTestFinished(() => kernel.shutdown(false));
  const client = new Client(kernel.connection);
  onTestFinished(() => client.close());
  await client.subscribe();
  const id = await client.send('control', 'kernel_info_request', {});
  const { content } = await client.next(({ type, parent }) => type === 'kernel_info_reply' && parent === id);
  expect([content.status, await client.ping('beat')]).toEqual(['ok', 'beat']);

  const { shell_port, control_port, iopub_port, stdin_port, hb_port } = kernel.connection;
  for (const port of [shell_port, control_port, iopub_port, stdin_port, hb_port]) {
    const plain = new Dealer({ linger: 0 });
    onTestFinished(() => plain.close());
    const refused = new Promise(resolve => plain.events.on('disconnect', resolve));
    plain.connect(endpoint(kernel.connection, port));
    await refused;
  }
});
