import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aplKernel } from '../commands/command.js';
import { damaged, goneProcess, sampleLog, wholeIn } from '../local/store/append/logs.js';
import { builtService, randomOf, rounds, temporaryDirectory, Victim } from './bench.js';

/** Datasets whose logs are damaged before each start of the service. */
const datasetsAtOnce = 50;

/** Records per log, with two events each. */
const records = 40;

test('intact records of a damaged log are kept, and the log is set aside and named by doctor', async () => {
  const dataDir = await temporaryDirectory();
  const random = randomOf('logs');
  const log = await sampleLog(join(dataDir, 'log'), records);
  const owner = await goneProcess();
  const count = rounds('logs', 50, 2_000);
  let lost = 0;
  for (let round = 0; round < count; round += datasetsAtOnce) {
    rmSync(join(dataDir, 'datasets'), { recursive: true, force: true });
    const datasets = Array.from({ length: Math.min(datasetsAtOnce, count - round) }, (_, index) => {
      const name = `d${index}`;
      const directory = join(dataDir, 'datasets', name);
      mkdirSync(directory, { recursive: true });
      const copy = damaged(log.bytes, random, 2_000);
      writeFileSync(join(directory, `${owner}-${crypto.randomUUID()}.log`), copy);
      return { name, directory, copy };
    });
    const victim = await Victim.start(dataDir);
    const aside: string[] = [];
    for (const { name, directory, copy } of datasets) {
      const whole = wholeIn(copy, log);
      lost += records - whole.length;
      expect([name, await idsOf(victim, name)]).toEqual([name, whole]);
      const left = readdirSync(directory).filter(file => !file.endsWith('.parquet'));
      expect(left.map(file => readFileSync(join(directory, file)).equals(copy))).toEqual(
        copy.equals(log.bytes) ? [] : [true],
      );
      aside.push(...left.map(file => join(directory, file)));
    }
    await victim.kill();
    expect(await namedByDoctor(dataDir)).toEqual(aside.sort());
  }
  console.log(`${lost} of ${count * records} records were damaged`);
});

test('a service keeps running when its log goes to a closed pipe', async () => {
  const directory = await temporaryDirectory();
  const log = await sampleLog(join(directory, 'log'), records);
  const dataDir = join(directory, 'data');
  const owner = await goneProcess();
  const names = Array.from({ length: 5 }, (_, index) => `d${index}`);
  for (const name of names) {
    mkdirSync(join(dataDir, 'datasets', name), { recursive: true });
    writeFileSync(
      join(dataDir, 'datasets', name, `${owner}-${crypto.randomUUID()}.log`),
      log.bytes.subarray(0, -5),
    );
  }
  const command = ['bash', '-c', 'exec "$@" 2> >(exec true)', 'bash', ...builtService(dataDir)];
  const victim = await Victim.start(dataDir, { command });
  // The service's log names each of them.
  for (const name of names) expect((await idsOf(victim, name)).length).toBe(records - 1);
  await victim.expectHealthy();
  expect(victim.hasEnded).toBe(false);
});

/** Returns the ids in a dataset; each must occur twice. */
async function idsOf(victim: Victim, dataset: string): Promise<number[]> {
  const [[rows] = []] = await victim.columns(`${dataset} | count`);
  if (rows === 0) return [];
  const [ids = [], counts = []] = await victim.columns(
    `${dataset} | summarize n = count() by id | order by id asc | take 1000`,
  );
  expect(counts.filter(times => times !== 2)).toEqual([]);
  return ids.map(Number);
}

async function namedByDoctor(dataDir: string): Promise<string[]> {
  const { stdout } = await aplKernel(['doctor'], { APL_KERNEL_DATA: dataDir, HOME: dataDir });
  return stdout
    .split('\n')
    .flatMap(line => /^warning {2}damaged +(.*\.log\.damaged), /.exec(line)?.[1] ?? []);
}
