import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../kernel/local/engine/process.ts', import.meta.url));

/** Starts an engine process of the sources as they are. */
export function spawnEngine(): ChildProcess {
  return fork(program, { serialization: 'advanced', execArgv: ['--import', 'tsx'] });
}
