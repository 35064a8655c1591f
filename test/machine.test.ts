import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { largestAnswer, makeDirectory, memoryAtMost } from '../kernel/machine.js';

describe('memory', () => {
  const GIB = 2 ** 30;

  afterEach(() => vi.restoreAllMocks());

  test.each([
    ['no bound', 0, totalmem()],
    ['a bound above what the machine has, as cgroups write for none', 2 ** 63, totalmem()],
    ['a container', GIB / 4, GIB / 4],
  ])('%s', (_, constrained, expected) => {
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(constrained);
    expect(memoryAtMost()).toBe(expected);
  });

  test.each([
    [0, 512],
    [2048, 512],
    [2052, 513],
    [4003, 1000],
    [8192, 2048],
    [1_000_000, 2048],
  ])('of %d MiB of memory an answer may take %d', (memory, most) => {
    expect(largestAnswer(memory * 2 ** 20)).toBe(most * 2 ** 20);
  });
});

describe('directories', () => {
  let scratch = '';

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'apl-directory-'));
  });

  afterEach(() => rmSync(scratch, { recursive: true }));

  test('a directory and those above it are made for this user alone, once', () => {
    const deep = join(scratch, 'a', 'b', 'c');
    makeDirectory(deep);
    makeDirectory(deep);
    expect(statSync(deep).mode & 0o777).toBe(0o700);
    expect(statSync(join(scratch, 'a')).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['a file', () => join(scratch, 'file')],
    ['below a file', () => join(scratch, 'file', 'x')],
    ['below /proc, where every name is missing', () => '/proc/apl-kernel/data'],
  ])('%s is refused at once', (_, directory) => {
    writeFileSync(join(scratch, 'file'), '');
    expect(() => makeDirectory(directory())).toThrow();
  });
});
