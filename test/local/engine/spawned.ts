import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleEngine } from '../../../scripts/bundle.mjs';

/** A bundle of the current sources for each test process; an engine that loads each source file takes three times as long to start. */
const directory = mkdtempSync(join(process.env.APL_TEST_ENGINES ?? tmpdir(), 'engine-'));
await bundleEngine(directory);

/** Starts an engine process from the current sources. */
export function spawnEngine(): ChildProcess {
  return fork(join(directory, 'engine.cjs'), { serialization: 'advanced' });
}
