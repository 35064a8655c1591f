import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.js';

/**
 * Gives the tests a directory for programs of engine processes and removes it afterwards. It is inside the project because programs resolve
 * their packages from their own location.
 */
export function setup(): () => void {
  const output = join(root, 'test-output');
  mkdirSync(output, { recursive: true });
  const directory = mkdtempSync(join(output, 'engines-'));
  process.env.APL_TEST_ENGINES = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
