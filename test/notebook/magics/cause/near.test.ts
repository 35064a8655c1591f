import { expect, test } from 'vitest';
import { realBench } from '../../real-bench.js';
import { printed, shown, traceback } from '../../session.js';

/** Returns deployments, one per second from 10:10 on. */
const deployments = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...{ _time: new Date(Date.UTC(2026, 0, 1, 10, 10, at)).toISOString() },
    ...{ service: 'api', version: `1.0.${at}` },
  }));

const bench = realBench({
  web: Array.from({ length: 40 }, (_, at) => ({
    ...{ _time: new Date(Date.UTC(2026, 0, 1, 10, at)).toISOString(), status: 200 },
  })),
  releases: deployments(100),
  rollouts: deployments(101),
});

test('%investigate lists no dataset with more than 100 deployments near the range, but names it', async () => {
  const run = await bench().run("%investigate 2026-01-01T10:10Z..2026-01-01T10:20Z ['web']");
  expect(traceback(run)).toEqual([]);
  const found = [...printed(run).matchAll(/%assert rows == (\d+)\n\['(\w+)'\]/g)];
  expect(found.map(([, rows, name]) => `${rows} ${name}`)).toEqual(['100 releases']);
  expect(shown(run).join('\n')).toContain('Not listed, with more than 100 events nearby: rollouts.');
});
