import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { mainProgram, temporaryDirectory } from '../bench.js';
import { giveTo, stranger } from './damages.js';

/** What kernels and the service keep for themselves in a data directory. */
const files = [
  'service.json',
  'service.lock',
  'service.log',
  'format.json',
  'history.jsonl',
  'queries.jsonl',
  '.cache',
  '.tmp',
];

/** What may stand in the place of one. */
const places: Readonly<Record<string, (path: string) => void>> = {
  'a directory with a file': path => {
    mkdirSync(path);
    chownSync(path, stranger, stranger);
    writeFileSync(join(path, 'inside'), 'x');
  },
  'a file of another program': path => writeFileSync(path, 'neither JSON nor a directory\n'),
  'a file of another user': path => {
    writeFileSync(path, '{}\n');
    chownSync(path, 0, 0);
    chmodSync(path, 0o600);
  },
};

/** Runs the program as a user whom the system does not know by name, as in a container. */
async function runAs(home: string, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data') };
  const options = { cwd: home, env, uid: stranger, gid: stranger };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [mainProgram, ...args], options);
  return stdout + stderr;
}

/** Runs a notebook of one query, which starts a service, and returns what it shows. */
async function answerIn(home: string): Promise<string> {
  const [script, output] = [join(home, 'n.apl'), join(home, 'out.ipynb')];
  writeFileSync(script, 'range n from 1 to 3 step 1 | summarize total = sum(n)\n');
  onTestFinished(() => runAs(home, ['serve', '--stop']).then(() => undefined));
  await runAs(home, ['run', script, '-o', output]);
  const { cells } = JSON.parse(readFileSync(output, 'utf8'));
  return [cells.at(-1).outputs.at(-1).data['text/plain']].flat().join('');
}

test.each(Object.entries(places))('%s in the place of each keeps nobody from asking', async (_, place) => {
  const home = await temporaryDirectory();
  const dataDir = join(home, 'data');
  mkdirSync(dataDir);
  giveTo(dataDir, stranger);
  for (const file of files) place(join(dataDir, file));
  expect(await answerIn(home)).toMatch(/total\n─+\n\s+6\n/);
});
