import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeHome } from './leavings.js';

/** Gives the servers of all test files a directory; in the end they are asked to end, and it is removed with all that is left. */
export function setup(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'apl-kernel-labs-'));
  process.env.APL_TEST_LABS = directory;
  return () => removeHome(directory);
}
