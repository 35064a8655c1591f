import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Client, freeConnection } from './client.js';

const PROGRAM = fileURLToPath(new URL('echo-kernel.ts', import.meta.url));

/** Spawns an echo kernel process as Jupyter does, and connects a subscribed client. */
async function spawnEcho(): Promise<{
  readonly client: Client;
  readonly child: ChildProcess;
  exit(): Promise<unknown>;
}> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-kernel-'));
  const connection = await freeConnection();
  const file = join(directory, 'connection.json');
  await writeFile(file, JSON.stringify(connection));
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, file, join(directory, 'history')], {
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const client = new Client(connection);
  onTestFinished(async () => {
    client.close();
    child.kill('SIGKILL');
    await exited;
    await rm(directory, { recursive: true });
  });
  await client.subscribe();
  return { client, child, exit: async () => exited };
}

test('the heartbeat answers while JavaScript is busy', async () => {
  const { client } = await spawnEcho();
  const id = await client.send('shell', 'execute_request', {
    code: 'out before\nsleep 1\nblock 1000\nout after',
  });
  await client.next(({ content }) => content.text === 'before');
  for (let beat = 0; beat < 50; beat += 1) expect(await client.ping(`beat ${beat}`)).toBe(`beat ${beat}`);
  expect(client.seen.filter(({ content }) => content.text === 'after')).toEqual([]);
  expect((await client.reply(id)).content.status).toBe('ok');
});

test('SIGINT interrupts the cell, and the kernel keeps running', async () => {
  const { client, child } = await spawnEcho();
  const id = await client.send('shell', 'execute_request', { code: 'sleep 60000' });
  await client.next(({ type }) => type === 'execute_input');
  child.kill('SIGINT');
  expect((await client.reply(id)).content).toMatchObject({ status: 'error', ename: 'InterruptedError' });
  expect((await client.execute('out a')).reply.content.status).toBe('ok');
});

/** Milliseconds from message to signal; they travel by different routes, so either may arrive first. */
test.each([-10, -1, 0, 1, 2, 5, 10, 20, 50])(
  'SIGINT %i ms after a cell was sent is not lost',
  async after => {
    const { client, child } = await spawnEcho();
    expect((await client.execute('out ready')).reply.content.status).toBe('ok');
    for (let round = 0; round < 5; round += 1) {
      if (after < 0) {
        child.kill('SIGINT');
        await delay(-after);
      }
      const id = await client.send('shell', 'execute_request', { code: 'sleep 60000' });
      if (after >= 0) {
        await delay(after);
        child.kill('SIGINT');
      }
      expect((await client.reply(id)).content).toMatchObject({ status: 'error', ename: 'InterruptedError' });
    }
    expect((await client.execute('out a')).reply.content.status).toBe('ok');
  },
);

const endings: readonly (readonly [boolean, number])[] = [
  [false, 0],
  [true, 3],
];
test.each(endings)(
  'shutdown_request with restart %s ends the process with %i while a cell runs',
  async (restart, code) => {
    const { client, exit } = await spawnEcho();
    await client.send('shell', 'execute_request', { code: 'sleep 60000' });
    await client.next(({ type }) => type === 'execute_input');
    expect((await client.request('control', 'shutdown_request', { restart })).content).toEqual({
      status: 'ok',
      restart,
    });
    expect(await exit()).toEqual([code, null]);
  },
);

test('a cell that ignores interrupts does not keep the process alive', async () => {
  const { client, exit } = await spawnEcho();
  await client.send('shell', 'execute_request', { code: 'deaf 60000' });
  await client.next(({ type }) => type === 'execute_input');
  await client.request('control', 'shutdown_request', { restart: false });
  expect(await exit()).toEqual([0, null]);
});

test('the heartbeat does not delay a sudden exit', async () => {
  const { client, exit } = await spawnEcho();
  await client.send('shell', 'execute_request', { code: 'exit 7' });
  expect(await exit()).toEqual([7, null]);
});
