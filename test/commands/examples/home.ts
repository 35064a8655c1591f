import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aplKernel, root } from '../command.js';

const used: Record<string, string>[] = [];

/** Ends the services of all homes and removes the homes; called after all tests of a file. */
export async function endHomes(): Promise<void> {
  const homes = used.splice(0);
  for (const env of homes) await aplKernel(['serve', '--stop'], env);
  for (const { HOME: home = '' } of homes) rmSync(home, { recursive: true, force: true });
}

/** Returns the environment of a new home with a copy of the examples and its own data directory; {@link endHomes} ends its services. */
export function freshHome(): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-examples-'));
  cpSync(join(root, 'examples'), home, { recursive: true });
  shorten(home);
  return during({ HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'kept') });
}

/** Returns the environment of the same home on another day, with an empty data directory. */
export function later(env: Record<string, string>): Record<string, string> {
  const APL_KERNEL_DATA = join(env.HOME ?? '', 'another');
  return during({ ...env, APL_KERNEL_DATA, APL_KERNEL_NOW: '2027-06-15T12:34:56Z' });
}

function during(env: Record<string, string>): Record<string, string> {
  used.push(env);
  return env;
}

/** The weekly report, and its changes to cover one day: a week of samples takes the engine six times as long. */
const WEEKLY = '04-weekly-report.ipynb';
const OF_A_DAY = [
  ['2026-01-19..2026-01-26', '2026-01-19..2026-01-20'],
  ['rows == 7', 'rows == 1'],
] as const;

/** Shortens the weekly report in a folder to one day; throws if the report has changed too much. */
export function shorten(folder: string): void {
  let text = readFileSync(join(root, 'examples', WEEKLY), 'utf8');
  for (const [week, day] of OF_A_DAY) {
    if (!text.includes(week)) throw new Error(`${WEEKLY} has no ${week}.`);
    text = text.replaceAll(week, day);
  }
  writeFileSync(join(folder, WEEKLY), text);
}

/** Timeout for starting two services and running the notebook five times. */
export const FIVE_RUNS_MS = 480_000;
