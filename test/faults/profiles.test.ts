import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { engineFailure } from '../../kernel/local/engine/engine-failure.js';
import { scarceResource } from '../../kernel/machine.js';
import { randomOf, rounds, smallDisk, temporaryDirectory, Victim } from './bench.js';

/** Queries of every kind: constants, files, generated rows, streamed results, JavaScript functions. */
const cases: readonly (readonly [apl: string, first: readonly unknown[], rows: number])[] = [
  ['print x = 1', [1], 1],
  ['d | count', [1000], 1],
  ['d | summarize s = sum(a) by b = a % 3 | sort by b asc', [0, 166_833], 3],
  ['range x from 1 to 300000 step 1 | where x % 2 == 0 | count', [150_000], 1],
  ['range x from 1 to 60000 step 1 | limit 60000', [1], 60_000],
  [
    'range x from 1 to 9 step 1 | extend _time = datetime(2026-01-01) | summarize sum(x) by bin(_time, 1h), b = x % 3',
    ['2026-01-01T00:00:00Z', 0, 18],
    3,
  ],
  ["print x = strcat_array(series_fir(dynamic([7]), dynamic([1])), ',')", ['7'], 1],
];

async function expectAnswers(victim: Victim): Promise<void> {
  const answers = await Promise.all(
    cases.map(async ([apl]) => {
      const columns = await victim.columns(apl);
      return [apl, columns.map(([first]) => first), columns[0]?.length];
    }),
  );
  expect(answers).toEqual(cases);
}

async function startWith(temporary: string): Promise<Victim> {
  const victim = await Victim.start(await temporaryDirectory(), { environment: { TMPDIR: temporary } });
  await victim.send('POST', '/v2/datasets', { name: 'd' });
  await victim.ingest(
    'd',
    Array.from({ length: 1000 }, (_, a) => ({ a })),
  );
  return victim;
}

/** Ways to harm the contents of a directory. */
const harms: readonly ((directory: string) => void)[] = [
  empty,
  fill,
  directory => rmSync(join(directory, 'filler'), { force: true }),
];

/** Empties a directory, except for what the service writes to it in the meantime. */
function empty(directory: string): void {
  for (const name of readdirSync(directory)) {
    try {
      rmSync(join(directory, name), { recursive: true, force: true });
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOTEMPTY');
    }
  }
}

/** More than a small disk holds. */
const filler = Buffer.alloc(17 * 2 ** 20);

function fill(directory: string): void {
  try {
    writeFileSync(join(directory, 'filler'), filler);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}

test('queries are answered while the temporary directory is filled and emptied', async () => {
  const small = await smallDisk();
  const temporary = small ?? (await temporaryDirectory());
  const victim = await startWith(temporary);
  const random = randomOf('temporary files');
  const possible = small === undefined ? harms.slice(0, 1) : harms;
  const timer = setInterval(() => possible[Math.floor(random() * possible.length)]?.(temporary), 5);
  onTestFinished(() => clearInterval(timer));
  const count = rounds('temporary files', 20, 500);
  for (let round = 0; round < count; round++) await expectAnswers(victim);
  clearInterval(timer);
  rmSync(join(temporary, 'filler'), { force: true });
  await expectAnswers(victim);
});

test('a service starts and answers while the temporary directory is full', async () => {
  const small = await smallDisk();
  if (small === undefined) return;
  expect(scarceResource([small])).not.toBe('disk space');
  fill(small);
  expect(scarceResource([small])).toBe('disk space');
  expect(engineFailure(new Error('Failed to query'), [small])).toMatchObject({
    code: 'engine-disk',
    message: 'The disk of the local service is full.',
  });
  const victim = await startWith(small);
  await expectAnswers(victim);
  const { body } = await victim.query("['sample-http-logs'] | where status == '200' | take 3");
  expect([body.tables[0].columns[0].length, body.status.messages]).toEqual([
    3,
    [expect.objectContaining({ priority: 'warn', code: 'not_counted' })],
  ]);
  await victim.expectHealthy();
});
