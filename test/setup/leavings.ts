import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Removes the home directory of a server that has ended, once the kernels and services that it started have ended too, as they
 * are asked to: they write to it until then. Throws with their ids after a minute. A system without /proc is not asked.
 */
export async function removeHome(home: string): Promise<void> {
  for (const pid of livingIn(home)) askToEnd(pid);
  for (let tries = 0; livingIn(home).length > 0; tries++) {
    if (tries === 600) throw new Error(`These processes of ${home} do not end: ${livingIn(home).join(', ')}`);
    await sleep(100);
  }
  rmSync(home, { recursive: true, force: true });
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
