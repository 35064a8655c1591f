import { totalmem } from 'node:os';
import process from 'node:process';
import { afterEach, expect, test, vi } from 'vitest';
import { memoryAtMost } from '../kernel/memory.js';

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
