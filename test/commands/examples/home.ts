import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aplKernel, root } from '../command.js';

const used: Record<string, string>[] = [];

/** Ends the services of the homes that were made, and removes these: what a test file does after all its tests. */
export async function endHomes(): Promise<void> {
  const homes = used.splice(0);
  for (const env of homes) await aplKernel(['serve', '--stop'], env);
  for (const { HOME: home = '' } of homes) rmSync(home, { recursive: true, force: true });
}

/** The environment of a home with a copy of the examples, and a data directory of its own; {@link endHomes} ends its services. */
export function freshHome(): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-examples-'));
  cpSync(join(root, 'examples'), home, { recursive: true });
  shorten(home);
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

/** The weekly report, and what differs if it is of a day: a week of the samples takes the engine six times as long. */
const WEEKLY = '04-weekly-report.ipynb';
const OF_A_DAY = [
  ['2026-01-19..2026-01-26', '2026-01-19..2026-01-20'],
  ['rows == 7', 'rows == 1'],
] as const;

/** Has the weekly report in a folder be one of a day; throws if it has changed too much for that. */
export function shorten(folder: string): void {
  let text = readFileSync(join(root, 'examples', WEEKLY), 'utf8');
  for (const [week, day] of OF_A_DAY) {
    if (!text.includes(week)) throw new Error(`${WEEKLY} has no ${week}.`);
    text = text.replaceAll(week, day);
  }
  writeFileSync(join(folder, WEEKLY), text);
}

/** Two services start and the notebook runs five times. */
export const FIVE_RUNS_MS = 480_000;
