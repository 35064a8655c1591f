import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/engine.cjs', import.meta.url));

/** Starts an engine process as the built service does. */
export function spawnEngine(): ChildProcess {
  return fork(program, { serialization: 'advanced' });
}
