import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aplKernel, scratchDirectory } from './command.js';

test('a second run gives the same notebook, without a service and without its data', async () => {
  const home = scratchDirectory();
  const environment = (data: string) => ({ HOME: home, PATH: '', APL_KERNEL_DATA: join(home, data) });
  const cells = [
    '%import events.ndjson --dataset events --replace',
    "%time all\n['events'] | summarize n = count() by host",
    "slow << ['events'] | where ms > 5 | project _time, host, ms\n\nslow | summarize max(ms) by host",
    "%time last 6h\n['sample-http-logs'] | summarize count() by bin_auto(_time)",
  ];
  writeFileSync(join(home, 'in.apl'), cells.join('\n// %%\n'));
  const rows = ['a', 'b'].map((host, index) => ({
    _time: `2026-01-02T1${index}:00:00Z`,
    host,
    ms: index * 9,
  }));
  writeFileSync(join(home, 'events.ndjson'), rows.map(row => JSON.stringify(row)).join('\n'));
  const first = environment('first');
  const run = (output: string, env: Record<string, string>) =>
    aplKernel(['run', 'in.apl', '-o', output, '--cache', 'answers'], env);
  expect(await run('first.ipynb', first)).toMatchObject({ code: 0 });
  await aplKernel(['serve', '--stop'], first);
  writeFileSync(join(home, 'events.ndjson'), '');
  mkdirSync(join(home, 'second'), { mode: 0o500 });
  expect(await run('second.ipynb', environment('second'))).toMatchObject({ code: 0 });
  const text = (file: string) => readFileSync(join(home, file), 'utf8');
  expect(text('second.ipynb')).toBe(text('first.ipynb'));
  expect(text('first.ipynb').match(/"sha256"/g)?.length).toBeGreaterThan(3);
});
