import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { withCutLine } from '../../../../kernel/local/store/readers/without-line.js';
import { temporaryDirectory } from '../../service.js';

test('a read-only file gets a writable copy with its cut line as text', async () => {
  const workDir = path.join(await temporaryDirectory(), 'work');
  await mkdir(workDir);
  const file = path.join(workDir, 'events.ndjson');
  await writeFile(file, '{"v":1}\n{"v":2}\n{"v":');
  await chmod(file, 0o444);
  const { file: whole = '' } = (await withCutLine(file, workDir)) ?? {};
  expect(await readFile(whole, 'utf8')).toBe('{"v":1}\n{"v":2}\n{"message":"{\\"v\\":"}\n');
  expect((await stat(whole)).mode & 0o777).toBe(0o600);
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([
    '{"v":1}\n{"v":2}\n{"v":',
    0o444,
  ]);
});
