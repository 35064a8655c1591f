import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.js';

/**
 * Gives the tests a directory for programs of engine processes; in the end it is removed. It is in the project's, as programs find
 * their packages from where they are.
 */
export function setup(): () => void {
  const output = join(root, 'test-output');
  mkdirSync(output, { recursive: true });
  const directory = mkdtempSync(join(output, 'engines-'));
  process.env.APL_TEST_ENGINES = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
