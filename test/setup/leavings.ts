import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Removes the home directory of a server that has ended or is asked to, once it, the kernels and the services that it started have
 * ended too: they write to it until then. Throws as `endLeavings` does.
 */
export async function removeHome(home: string): Promise<void> {
  await endLeavings(home);
  rmSync(home, { recursive: true, force: true });
}

/**
 * Asks every process that has this directory in its environment to end, but for one, and resolves once they have. Throws with their
 * ids after a minute. A system without /proc is not asked.
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
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The ids of the processes that have this directory in their environment. */
function livingIn(home: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  return pids.filter(pid => environmentOf(pid).includes(home)).map(Number);
}

/** Empty for a process that has ended meanwhile or belongs to another user. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
