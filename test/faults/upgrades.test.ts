import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aplKernel } from '../commands/command.js';
import { Client, freeConnection } from '../jupyter/client.js';
import { mainProgram, temporaryDirectory } from './bench.js';

type Environment = Readonly<Record<string, string>>;

/** Returns the environment of kernels in a new directory; their service ends with the test. */
async function place(): Promise<Environment> {
  const home = await temporaryDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  onTestFinished(() => void aplKernel(['serve', '--stop'], env));
  return env;
}

/** Copies the built program as another version, optionally with another service format. */
async function programOf(version: string, format = 1): Promise<string> {
  const [root, built] = [await temporaryDirectory(), dirname(mainProgram)];
  cpSync(built, join(root, 'dist'), {
    recursive: true,
    filter: path => basename(path) !== 'compiled',
  });
  const about = JSON.parse(readFileSync(join(built, '..', 'package.json'), 'utf8'));
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...about, version }));
  symlinkSync(join(built, '..', 'node_modules'), join(root, 'node_modules'));
  const file = join(root, 'dist', 'commands.cjs');
  const parts = readFileSync(file, 'utf8').split('serviceFormat=1');
  expect(parts.length).toBe(2);
  writeFileSync(file, parts.join(`serviceFormat=${format}`));
  return join(root, 'dist', 'main.js');
}

/** Starts a kernel like Jupyter does; returns a function that runs a cell and returns its output as text. */
async function kernelIn(env: Environment, program = mainProgram) {
  const [connection, home] = [await freeConnection(), env.HOME ?? ''];
  const file = join(home, `connection-${connection.shell_port}.json`);
  mkdirSync(home, { recursive: true });
  writeFileSync(file, JSON.stringify(connection));
  const kernel = spawn(process.execPath, [program, 'kernel', '--connection-file', file], { env, cwd: home });
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
    const shown = outputs.flatMap(({ type, content }) => {
      const data = content.data as Record<string, string> | undefined;
      return type === 'error' ? [[content.traceback].flat().join('\n')] : [data?.['text/plain'] ?? ''];
    });
    return shown.join('\n');
  };
}

/** Returns the running service's description of itself. */
function serviceOf(env: Environment): { readonly version: string } {
  return JSON.parse(readFileSync(join(env.APL_KERNEL_DATA ?? '', 'service.json'), 'utf8'));
}

async function stopService(env: Environment): Promise<void> {
  expect((await aplKernel(['serve', '--stop'], env)).stdout).toBe('the local service has ended\n');
}

const keep = (rows: number) => `kept << range n from 1 to ${rows} step 1`;
const total = 'kept | summarize total = sum(n), rows = count()';

test('stopping and restarting the service loses no results of an open notebook', async () => {
  const env = await place();
  const run = await kernelIn(env);
  await run(keep(1_000));
  expect(await run(total)).toMatch(/500,500\s+1,000/);
  for (let round = 0; round < 3; round++) {
    await stopService(env);
    expect(await run(total)).toMatch(/500,500\s+1,000/);
  }
});

test.each([
  ['0.0.9', '9.0.0'],
  ['9.0.0', '0.0.9'],
])(
  'kernels of versions %s and %s share the service of either, and keep their results',
  async (...versions) => {
    const env = await place();
    const [first, second] = await Promise.all(versions.map(version => programOf(version)));
    const before = await kernelIn(env, first);
    await before(keep(1_000));
    const after = await kernelIn(env, second);
    await after(keep(10));
    for (const version of versions) {
      expect(await after(total)).toMatch(/55\s+10/);
      expect(await before(total)).toMatch(/500,500\s+1,000/);
      expect(serviceOf(env).version).toBe(version);
      await stopService(env);
      await after('print 1');
    }
  },
);

test('an old kernel reports a newer service and what to restart, and keeps its results', async () => {
  const env = await place();
  const old = await kernelIn(env, await programOf('0.0.9'));
  await old(keep(1_000));
  const renewed = await kernelIn(env, await programOf('9.0.0', 2));
  const answers = async () => expect(await renewed('print answer = 42')).toMatch(/answer\n─+\n\s+42\n/);
  await answers();
  expect(serviceOf(env).version).toBe('0.0.9');
  await stopService(env);
  await answers();
  expect(serviceOf(env).version).toBe('9.0.0');
  for (let round = 0; round < 2; round++) {
    const said = await old(total);
    expect(said).toContain(
      'the local service was started by apl-kernel 9.0.0, which is newer than this kernel',
    );
    expect(said).toContain('Restart the kernel with apl-kernel 9.0.0 or later, or');
  }
  await stopService(env);
  expect(await old(total)).toMatch(/500,500\s+1,000/);
  expect(serviceOf(env).version).toBe('0.0.9');
  await answers();
});
