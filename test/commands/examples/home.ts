import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { aplKernel, root, scratchDirectory } from '../command.js';

const used: Record<string, string>[] = [];

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

/** The environment of a home with a copy of the examples, and a data directory of its own; its service ends with the test. */
export function freshHome(): Record<string, string> {
  const home = scratchDirectory();
  cpSync(join(root, 'examples'), home, { recursive: true });
  return during({ HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'kept') });
}

/** The same home on another day, with a data directory that is empty. */
export function later(env: Record<string, string>): Record<string, string> {
  const APL_KERNEL_DATA = join(env.HOME ?? '', 'another');
  return during({ ...env, APL_KERNEL_DATA, APL_KERNEL_NOW: '2027-06-15T12:34:56Z' });
}

function during(env: Record<string, string>): Record<string, string> {
  used.push(env);
  return env;
}

/** Two services start and the notebook runs five times. */
export const FIVE_RUNS_MS = 480_000;
