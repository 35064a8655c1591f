import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aplKernel, startAplKernel } from '../commands/command.js';
import { Client, freeConnection } from '../jupyter/client.js';
import { temporaryDirectory } from './bench.js';

/** A kernel as Jupyter starts it, and a function that runs a cell in it and returns what it shows as text. */
async function kernelIn(home: string, env: Readonly<Record<string, string>>) {
  const connection = await freeConnection();
  writeFileSync(join(home, 'connection.json'), JSON.stringify(connection));
  const kernel = startAplKernel(['kernel', '--connection-file', join(home, 'connection.json')], env);
  const exited = once(kernel, 'exit');
  const client = new Client(connection);
  onTestFinished(async () => {
    client.close();
    kernel.kill('SIGKILL');
    await exited;
  });
  await client.subscribe();
  return async (code: string) => {
    const { outputs } = await client.execute(code);
    return outputs.flatMap(({ type, content }) => {
      const data = content.data as Record<string, string> | undefined;
      if (type === 'error') return [`${content.evalue}`];
      return data?.['text/plain'] === undefined ? [] : [data['text/plain']];
    });
  };
}

test('a service that is ended and started again while a notebook is open loses none of its results', async () => {
  const home = await temporaryDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  const run = await kernelIn(home, env);
  onTestFinished(() => void aplKernel(['serve', '--stop'], env));
  await run('kept << range n from 1 to 1000 step 1');
  const before = await run('kept | summarize total = sum(n), rows = count()');
  expect(before.join('\n')).toMatch(/500,500\s+1,000/);
  for (let round = 0; round < 3; round++) {
    expect((await aplKernel(['serve', '--stop'], env)).stdout).toBe('the local service has ended\n');
    const after = await run('kept | summarize total = sum(n), rows = count()');
    expect(after.join('\n')).toMatch(/500,500\s+1,000/);
  }
});
