import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { largestAnswer, makeDirectory, memoryAtMost } from '../kernel/machine.js';

describe('available memory', () => {
  const GIB = 2 ** 30;

  afterEach(() => vi.restoreAllMocks());

  test.each([
    ['without a limit', 0, totalmem()],
    ["with a limit beyond the memory of the machine, cgroups' value for no limit", 2 ** 63, totalmem()],
    ['in a container', GIB / 4, GIB / 4],
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
  ])('%d MiB of memory allow an answer of %d MiB', (memory, most) => {
    expect(largestAnswer(memory * 2 ** 20)).toBe(most * 2 ** 20);
  });
});

describe('directories', () => {
  let scratch = '';

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'apl-directory-'));
  });

  afterEach(() => rmSync(scratch, { recursive: true }));

  test('makeDirectory creates missing parents, for this user only, and can run twice', () => {
    const deep = join(scratch, 'a', 'b', 'c');
    makeDirectory(deep);
    makeDirectory(deep);
    expect(statSync(deep).mode & 0o777).toBe(0o700);
    expect(statSync(join(scratch, 'a')).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['a file', () => join(scratch, 'file')],
    ['a path below a file', () => join(scratch, 'file', 'x')],
    ['a path below /proc, which has no such name', () => '/proc/apl-kernel/data'],
  ])('makeDirectory rejects %s without blocking', (_, directory) => {
    writeFileSync(join(scratch, 'file'), '');
    expect(() => makeDirectory(directory())).toThrow();
  });
});
