import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pressure } from '../../../kernel/local/engine/workers/pressure.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const MiB = 2 ** 20;

/** A process limited to 1,000 MiB, with a list of its stopped statements. */
function processOf(memory: { used: number | undefined; scarce?: boolean; free?: number }) {
  const stopped: string[] = [];
  const pressure = new Pressure({
    used: () => memory.used,
    most: () => 1000 * MiB,
    scarce: () => memory.scarce ?? false,
    giveBack: async () => {
      memory.used = (memory.used ?? 0) - (memory.free ?? 0);
      memory.free = 0;
    },
  });
  const begin = (name: string, own?: () => number) =>
    pressure.watch(({ code }) => void stopped.push(`${name}: ${code}`), own);
  const grow = async (bytes: number) => {
    memory.used = (memory.used ?? 0) + bytes;
    await vi.advanceTimersByTimeAsync(25);
  };
  return { stopped, begin, grow };
}

test('the statement using the most memory is stopped before the process runs out', async () => {
  const { stopped, begin, grow } = processOf({ used: 100 * MiB });
  begin('first');
  await grow(300 * MiB);
  begin('second');
  await grow(590 * MiB);
  expect(stopped).toEqual([]);
  await grow(20 * MiB);
  await grow(0);
  expect(stopped).toEqual(['first: engine-memory']);
});

test('free memory is released before a statement is stopped', async () => {
  const memory = { used: 100 * MiB, free: 200 * MiB };
  const { stopped, begin, grow } = processOf(memory);
  begin('large');
  await grow(950 * MiB);
  await grow(0);
  expect([memory.used / MiB, stopped]).toEqual([850, []]);
  memory.free = 100 * MiB;
  await grow(200 * MiB);
  await grow(0);
  expect([memory.used / MiB, stopped]).toEqual([950, []]);
  await grow(100 * MiB);
  await grow(0);
  expect(stopped).toEqual(['large: engine-memory']);
});

test('a statement is stopped at once if the process is far beyond its limit', async () => {
  const { stopped, begin, grow } = processOf({ used: 100 * MiB, free: 500 * MiB });
  begin('large');
  await grow(1010 * MiB);
  expect(stopped).toEqual(['large: engine-memory']);
});

test('no second statement is stopped before the first has ended', async () => {
  const { stopped, begin, grow } = processOf({ used: 100 * MiB });
  const first = begin('first');
  await grow(400 * MiB);
  begin('second');
  await grow(800 * MiB);
  await grow(800 * MiB);
  expect(stopped).toEqual(['first: engine-memory']);
  first.end();
  await grow(0);
  expect(stopped).toEqual(['first: engine-memory', 'second: engine-memory']);
});

test('a statement that took little memory continues, whatever the process uses', async () => {
  const { stopped, begin, grow } = processOf({ used: 990 * MiB });
  begin('light');
  await grow(120 * MiB);
  expect(stopped).toEqual([]);
});

test('a statement is stopped too if other programs exhaust the memory of the machine', async () => {
  const { stopped, begin, grow } = processOf({ used: 100 * MiB, scarce: true });
  begin('large');
  await grow(120 * MiB);
  expect(stopped).toEqual([]);
  await grow(10 * MiB);
  expect(stopped).toEqual(['large: engine-memory']);
});

test('a child process counts toward the limit, and is stopped for its own use', async () => {
  const { stopped, begin, grow } = processOf({ used: 100 * MiB });
  const child = { bytes: 400 * MiB };
  const first = begin('child', () => child.bytes);
  begin('beside');
  await grow(450 * MiB);
  expect(stopped).toEqual([]);
  child.bytes = 500 * MiB;
  await grow(0);
  await grow(0);
  expect(stopped).toEqual(['child: engine-memory']);
  first.end();
  await grow(500 * MiB);
  expect(stopped).toEqual(['child: engine-memory', 'beside: engine-memory']);
});

test('memory taken before a statement began is not charged to it', async () => {
  const { stopped, begin, grow } = processOf({ used: 100 * MiB });
  begin('first').end();
  await grow(1000 * MiB);
  begin('second');
  await grow(100 * MiB);
  expect(stopped).toEqual([]);
});

test('nothing is stopped if memory use is unknown', async () => {
  const { stopped, begin } = processOf({ used: undefined, scarce: true });
  begin('unknown');
  await vi.advanceTimersByTimeAsync(1000);
  expect(stopped).toEqual([]);
});

test('the peak memory of each statement is reported, even after it is freed', async () => {
  const { begin, grow } = processOf({ used: 100 * MiB });
  const child = { bytes: 80 * MiB };
  const [elsewhere, beside] = [begin('elsewhere', () => child.bytes), begin('beside')];
  child.bytes = 180 * MiB;
  await grow(300 * MiB);
  child.bytes = 90 * MiB;
  await grow(-200 * MiB);
  expect([elsewhere.taken() / MiB, beside.taken() / MiB]).toEqual([100, 300]);
});
