import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLocalService } from '../../../kernel/local/launch.js';
import { Elsewhere } from '../../local/lease/leases.js';
import { startBench, traceback } from '../session.js';

test('a cell waiting for the data directory shows its holder and can be interrupted', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-waiting-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const elsewhere = new Elsewhere(dataDir);
  elsewhere.show();
  let started = 0;
  const spawn = () => {
    started++;
    return { ended: Promise.resolve('it was not to start') };
  };
  const bench = await startBench({
    local: () => createLocalService({ dataDir, spawn, log: () => undefined, version: '1.2.3' }),
  });
  onTestFinished(() => bench.close());
  const interrupt = new AbortController();
  const cell = bench.run('print a = 1', { signal: interrupt.signal });
  await expect
    .poll(() => bench.passed.at(-1))
    .toMatch(
      /^waiting up to 600 s for the data directory \S+, last used by the local service at \S+ of apl-kernel 1\.2\.3: process \d+ of alice on web-1, since 2026-06-15T12:00:00\.000Z \(\d+\.\d s\)$/,
    );
  interrupt.abort();
  expect([traceback(await cell), started]).toEqual([
    [expect.stringMatching(/^Interrupted: the cell was stopped/)],
    0,
  ]);
  // The kernel itself keeps waiting, for the next cell.
  elsewhere.show({ phase: 'ended' });
  await expect.poll(() => started).toBe(1);
});
