import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Removes the home directory of a server that has ended or been asked to, once it and the kernels and services that it started have ended:
 * they write to it until then. Throws as `endLeavings` does.
 */
export async function removeHome(home: string): Promise<void> {
  await endLeavings(home);
  rmSync(home, { recursive: true, force: true });
}

/**
 * Asks all processes but one that have this directory in their environment to end, and resolves once they have. Throws with their ids after
 * a minute. Does nothing on systems other than Linux.
 */
export async function endLeavings(home: string, spared?: number): Promise<void> {
  const living = () => livingIn(home).filter(pid => pid !== spared);
  for (const pid of living()) askToEnd(pid);
  for (let tries = 0; living().length > 0; tries++) {
    if (tries === 600) throw new Error(`These processes of ${home} do not end: ${living().join(', ')}`);
    await sleep(100);
  }
}

function askToEnd(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    // It has ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns the ids of the processes that have this directory in their environment. */
function livingIn(home: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  return pids.filter(pid => environmentOf(pid).includes(home)).map(Number);
}

/** Returns the environment of a process; empty if it has ended or belongs to another user. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
