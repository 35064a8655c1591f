import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyExamples, notebooksIn } from '../../../kernel/commands/lab/examples.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'apl-examples-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test("copies examples once: the user's changes stay, and missing files are added", () => {
  const [from, to] = [join(root, 'from'), join(root, 'to')];
  mkdirSync(join(from, 'data'), { recursive: true });
  mkdirSync(join(from, '.ipynb_checkpoints'));
  for (const name of ['b.ipynb', 'a.ipynb', 'data/x.csv', '.ipynb_checkpoints/a.ipynb'])
    writeFileSync(join(from, name), 'as it came');
  copyExamples(from, to);
  expect(notebooksIn(to)).toEqual(['a.ipynb', 'b.ipynb']);
  expect(existsSync(join(to, '.ipynb_checkpoints'))).toBe(false);
  writeFileSync(join(to, 'a.ipynb'), 'changed');
  rmSync(join(to, 'data', 'x.csv'));
  copyExamples(from, to);
  expect(readFileSync(join(to, 'a.ipynb'), 'utf8')).toBe('changed');
  expect(readFileSync(join(to, 'data', 'x.csv'), 'utf8')).toBe('as it came');
  expect(readFileSync(join(from, 'a.ipynb'), 'utf8')).toBe('as it came');
});
