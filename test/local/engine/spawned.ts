import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleEngine } from '../../../scripts/bundle.mjs';

/** Each process of tests bundles the sources as they are then; an engine that loads each of them takes three times as long to start. */
const directory = mkdtempSync(join(process.env.APL_TEST_ENGINES ?? tmpdir(), 'engine-'));
await bundleEngine(directory);

/** Starts an engine process of the sources as they are. */
export function spawnEngine(): ChildProcess {
  return fork(join(directory, 'engine.cjs'), { serialization: 'advanced' });
}
