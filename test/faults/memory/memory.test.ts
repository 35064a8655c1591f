import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Client, freeConnection } from '../../jupyter/client.js';
import { builtService, mainProgram, rounds, temporaryDirectory, Victim } from '../bench.js';
import { type Heap, HeapMeter, slopeOf } from './heap.js';

/** Cells of every kind, those that fail too. */
const cells = [
  '%time last 2m',
  'print a = 1',
  'print a = "text", b = now(), c = dynamic({"a": [1, 2]})',
  "['sample-http-logs'] | where status >= 500 | limit 20",
  "['sample-http-logs'] | summarize count() by bin_auto(_time), method",
  "['sample-http-logs'] | summarize count() by status",
  'kept << range x from 1 to 100 step 1',
  'kept | summarize sum(x)',
  '%param p = 5\n%params\nprint a = p',
  '%datasets',
  'print a = nonsense',
  'nothing | count',
  '%nonsense',
  'print a = (',
  '%assert rows > 5\nprint a = 1',
  '%echo text',
  '%help summarize',
  '%results',
  'print a = 1 | where a == "xaat-1234"',
];

/** A kernel as Jupyter starts it, with a client, whose heap can be measured. */
async function startKernel(directory: string, meter: HeapMeter) {
  const connection = await freeConnection();
  const file = join(directory, 'connection.json');
  await writeFile(file, JSON.stringify(connection));
  const env = { ...process.env, HOME: directory, APL_KERNEL_DATA: join(directory, 'data') };
  const args = [...meter.nodeArguments, mainProgram, 'kernel', '--connection-file', file];
  const child = spawn(process.execPath, args, { env, cwd: directory, stdio: 'ignore' });
  const client = new Client(connection);
  onTestFinished(async () => {
    client.close();
    child.kill('SIGKILL');
    await once(spawn(process.execPath, [mainProgram, 'serve', '--stop'], { env, stdio: 'ignore' }), 'exit');
  });
  await client.subscribe();
  return { client, pid: child.pid ?? 0 };
}

test('the memory of a kernel does not grow with the cells that it runs', async () => {
  const directory = await temporaryDirectory();
  const meter = new HeapMeter(directory);
  const { client, pid } = await startKernel(directory, meter);
  const figures: Heap[] = [];
  const run = async (times: number) => {
    for (let done = 0; done < times; done += 1) {
      await client.execute(cells[done % cells.length] ?? '', { stop_on_error: false });
      client.seen.length = 0;
    }
    // What is kept of results has a bound of its own, which takes longer to reach.
    await client.execute('%results --drop');
    figures.push(await meter.measure(pid));
  };
  const count = rounds('cells of a kernel', 2_000, 100_000);
  // Node 24 takes more than a thousand cells to have compiled and remembered all that it does for them.
  await run(100 * cells.length);
  figures.pop();
  const step = Math.ceil(count / 10 / cells.length) * cells.length;
  for (let done = 0; done <= count; done += step) await run(step);
  expectLevel('cell', figures, step);
});

const queries = [
  'print a = 1',
  "['sample-http-logs'] | where status >= 500 | limit 20",
  "['sample-http-logs'] | summarize count() by bin_auto(_time), method",
  'range x from 1 to 100 step 1 | summarize sum(x)',
  'print a = nonsense',
  'nothing | count',
  'print a = (',
  "print x = strcat_array(series_fir(dynamic([7]), dynamic([1])), ',')",
  'kept | summarize count() by n',
];

const lanes = 4;

test('the memory of a service does not grow with the queries that it answers', async () => {
  const meter = new HeapMeter(await temporaryDirectory());
  const dataDir = await temporaryDirectory();
  const victim = await Victim.start(dataDir, { command: builtService(dataDir, meter.nodeArguments) });
  await victim.send('POST', '/v2/datasets', { name: 'kept' });
  await victim.ingest('kept', [{ n: 1 }, { n: 2 }]);
  const figures: Heap[] = [];
  let asked = 0;
  const lane = async (last: number) => {
    while (asked < last) {
      // Texts differ, as those of people do.
      const apl = `// ${asked}\n${queries[asked % queries.length]}`;
      asked += 1;
      const window = { startTime: 'now-10m', endTime: 'now' };
      await victim.send('POST', '/v1/datasets/_apl?format=tabular', { apl, ...window });
    }
  };
  const run = async (times: number) => {
    const last = asked + times;
    await Promise.all(Array.from({ length: lanes }, () => lane(last)));
    figures.push(await meter.measure(victim.pid));
  };
  const count = rounds('queries of a service', 3_000, 1_000_000);
  await run(1_000);
  figures.pop();
  const step = Math.ceil(count / 10);
  for (let done = 0; done <= count; done += step) await run(step);
  expectLevel('query', figures, step);
});

/** A leak of two kilobytes each is twice as much. */
const mostBytes = 1_024;

function expectLevel(what: string, figures: readonly Heap[], step: number): void {
  const used = figures.map(each => each.used);
  const slope = slopeOf(used, step);
  const texts = figures.map(
    ({ used, resident }) => `${(used / 1e6).toFixed(2)} of ${(resident / 1e6).toFixed(0)}`,
  );
  console.log(`bytes a ${what}: ${slope.toFixed(0)}; MB after each ${step}: ${texts.join(', ')}`);
  expect(slope).toBeLessThan(mostBytes);
}
