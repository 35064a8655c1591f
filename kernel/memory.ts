import { totalmem } from 'node:os';
import process from 'node:process';

/** Returns how many bytes of memory this process may use at most: those of the machine, or of the container that it runs in. */
export function memoryAtMost(): number {
  const container = process.constrainedMemory();
  // Without a bound it is 0, or more than any machine has.
  return container > 0 ? Math.min(container, totalmem()) : totalmem();
}
