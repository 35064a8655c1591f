import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Seen } from '../../api/service.js';
import { everyday, shown, startBench, traceback } from '../session.js';
import { countsOverTime, releaseOf } from './answers.js';

const query =
  "%%time 2026-03-04T04:00Z..2026-03-04T05:00Z\n['web'] | summarize n = count() by bin(_time, 10m)";

test('a replay draws the recorded annotations, or none if none were recorded', async () => {
  const workDir = await mkdtemp(join(tmpdir(), 'apl-replay-'));
  onTestFinished(() => rm(workDir, { recursive: true, force: true }));
  const outputs = async (mode: string, cell: string, title: string) => {
    const bench = await startBench({
      workDir,
      reply: (seen: Seen) =>
        seen.path.endsWith('_apl')
          ? { body: countsOverTime }
          : seen.path === '/v2/annotations'
            ? { body: [releaseOf(title)] }
            : everyday(seen),
    });
    onTestFinished(() => bench.close());
    await bench.run(`%cache ${mode} answers`);
    const run = await bench.run(cell);
    expect(traceback(run)).toEqual([]);
    return shown(run)[0] ?? '';
  };
  expect(await outputs('record', query, 'Recorded')).toContain('1 annotation: Recorded');
  expect(await outputs('replay', query, 'Later')).toContain('1 annotation: Recorded');
  const silent = query.replace('10m', '20m');
  await outputs('record', `// @annotations off\n${silent}`, 'Recorded');
  const replayed = await outputs('replay', silent, 'Later');
  expect(replayed).toContain('chart of n');
});
