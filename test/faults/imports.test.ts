import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { canUnshare, inPlace, mainProgram, rounds, temporaryDirectory, Victim } from './bench.js';

/** Runs `apl-kernel import` on rows with these numbers. */
async function importRows(
  dataDir: string,
  numbers: readonly number[],
  options: readonly string[] = [],
  place: (command: readonly string[]) => readonly string[] = command => command,
): Promise<void> {
  const file = join(await temporaryDirectory(), 'rows.ndjson');
  await writeFile(file, numbers.map(n => `{"n":${n}}\n`).join(''));
  const args = ['import', file, '--dataset', 'd', '--data', dataDir, ...options];
  const [program = '', ...rest] = place([process.execPath, mainProgram, ...args]);
  await promisify(execFile)(program, rest);
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

/** Returns the number of rows and of distinct rows. */
async function counts(victim: Victim): Promise<unknown> {
  return (await victim.columns('d | summarize count(), dcount(n)')).map(([value]) => value);
}

test('imports beside a service that ingests, here and in a container, lose and double no rows', async () => {
  const dataDir = await temporaryDirectory();
  const victim = await Victim.start(dataDir);
  let over = false;
  let sent = 0;
  const ingesting = (async () => {
    await victim.send('POST', '/v2/datasets', { name: 'd' });
    for (; !over; sent += 10) {
      const { status } = await victim.ingest(
        'd',
        numbers(sent, 10).map(n => ({ n })),
      );
      expect(status).toBe(200);
    }
  })();
  const imports = rounds('imports beside a service', 3, 100);
  const isApart = canUnshare();
  for (let round = 0; round < imports; round++) {
    const rows = numbers(-100 * (round + 1), 100);
    await importRows(dataDir, rows, [], command =>
      isApart && round % 2 === 0 ? inPlace('a container', command) : command,
    );
  }
  over = true;
  await ingesting;
  const all = sent + 100 * imports;
  expect(await victim.columns('d | summarize count(), min(n), max(n), sum(n)')).toEqual([
    [all],
    [-100 * imports],
    [sent - 1],
    [(sent * (sent - 1)) / 2 - (100 * imports * (100 * imports + 1)) / 2],
  ]);
});

test.each<readonly [end: 'goes on' | 'is killed', restarted: boolean]>([
  ['goes on', false],
  ['goes on', true],
  ['is killed', true],
])(
  'rows replaced by an import do not come back from logs if the service %s (restarted: %s)',
  async (end, restarted) => {
    const dataDir = await temporaryDirectory();
    let victim = await Victim.start(dataDir);
    await victim.send('POST', '/v2/datasets', { name: 'd' });
    for (let round = 0; round < 4; round++)
      await victim.ingest(
        'd',
        numbers(round, 1).map(n => ({ n })),
      );
    if (end === 'is killed') await victim.kill();
    await importRows(dataDir, [7, 8], ['--replace']);
    if (restarted) {
      await victim.kill();
      victim = await Victim.start(dataDir);
    }
    expect(await counts(victim)).toEqual([2, 2]);
  },
);
