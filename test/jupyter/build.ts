import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Compiles the echo kernel to a directory that lasts as long as the test, and returns its URL, ending in a slash. */
export async function buildKernel(): Promise<URL> {
  // Inside node_modules, so that the compiled files find their packages.
  const directory = await mkdtemp(join(ROOT, 'node_modules', '.echo-kernel-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--ignoreConfig',
    '--noCheck',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
  ];
  const source = join(ROOT, 'test', 'jupyter', 'echo-kernel.ts');
  await promisify(execFile)(process.execPath, [
    tsc,
    ...options,
    '--rootDir',
    ROOT,
    '--outDir',
    directory,
    source,
  ]);
  return pathToFileURL(`${directory}/`);
}
