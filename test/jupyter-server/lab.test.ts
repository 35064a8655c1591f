import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../setup/free-port.js';
import { removeHome } from '../setup/leavings.js';
import { root } from './server.js';

test('lab opens JupyterLab with the kernel and copies of the examples, and ends on SIGINT', async () => {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-lab-'));
  onTestFinished(() => removeHome(home));
  const port = await freePort();
  const args = ['lab', '--environment', join(root, '.venv'), `--ServerApp.port=${port}`];
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), ...args], {
    env: { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise(settle => child.on('close', settle));
  const address = new URL(await addressIn(child));
  expect(address.pathname).toBe('/lab/tree/01-first-look.ipynb');

  const read = async (path: string) => {
    const response = await fetch(new URL(path + address.search, address));
    const body = await response.text();
    expect([response.status, response.ok ? '' : body]).toEqual([200, '']);
    return JSON.parse(body);
  };
  const { kernelspecs } = (await read('/api/kernelspecs')) as {
    kernelspecs: Record<string, { spec: { argv: readonly string[] } }>;
  };
  expect(kernelspecs.apl?.spec.argv[1]).toBe(join(root, 'dist', 'main.js'));
  const { content } = (await read('/api/contents/')) as { content: readonly { name: string }[] };
  expect(content.map(({ name }) => name).sort()).toEqual(readdirSync(join(root, 'examples')).sort());

  child.kill('SIGINT');
  expect(await ended).toBe(0);
  // The user's Jupyter is not used, and nothing is left in the data directory. Tools such as npm have caches.
  const visible = readdirSync(home).filter(name => !['.cache', '.npm', '.rustup'].includes(name));
  expect(visible).toEqual(['apl-examples']);
});

test('lab does not take another server on its port for its own', async () => {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-lab-'));
  onTestFinished(() => removeHome(home));
  const other = createServer((_, response) => response.end('{"version":"2.17.0"}'));
  onTestFinished(() => void other.close());
  const port = await new Promise<number>(settle => {
    other.listen(0, '127.0.0.1', () => settle((other.address() as AddressInfo).port));
  });
  const args = ['lab', '--environment', join(root, '.venv'), `--ServerApp.port=${port}`];
  const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), ...args], {
    env: { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (said += String(part)));
  const code = await new Promise(settle => child.on('close', settle));
  expect([code, said.includes('JupyterLab is at')]).toEqual([1, false]);
  expect(said).toContain(`port ${port} is not available`);
});

/** Resolves with the address printed once JupyterLab answers; throws with its output if it exits before. */
async function addressIn({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of stdout ?? []) {
    text += String(part);
    const [, address] = /at {2}(http\S+)/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`lab ended:\n${text}`);
}
