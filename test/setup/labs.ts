import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeHome } from './leavings.js';

/** Gives the servers of all test files a directory; afterwards ends the servers and removes it with everything left in it. */
export function setup(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'apl-kernel-labs-'));
  process.env.APL_TEST_LABS = directory;
  return () => removeHome(directory);
}
