import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Client, freeConnection } from '../../jupyter/client.js';
import {
  builtService,
  childrenOf,
  mainProgram,
  memoryOf,
  rounds,
  temporaryDirectory,
  Victim,
} from '../bench.js';
import { growthOf, type Heap, HeapMeter } from './heap.js';

/** Repeated requests: each kind in turn, with a slow one at every twentieth position. */
class Mix {
  readonly #light: readonly string[];
  readonly #heavy: readonly string[];

  constructor(light: readonly string[], heavy: readonly string[]) {
    this.#light = light;
    this.#heavy = heavy;
  }

  at(index: number): string {
    const [kinds, turn] = index % heavyEvery === 0 ? [this.#heavy, index / heavyEvery] : [this.#light, index];
    return kinds[turn % kinds.length] ?? '';
  }
}

const heavyEvery = 20;

/** Cells of every kind, including failures. */
const cells = new Mix(
  [
    'print a = 1',
    'print a = "text", b = now(), c = dynamic({"a": [1, 2]})',
    'kept << range x from 1 to 100 step 1',
    'kept | summarize sum(x)',
    '%param p = 5\n%params\nprint a = p',
    'print a = nonsense',
    'nothing | count',
    '%nonsense',
    'print a = (',
    '%assert rows > 5\nprint a = 1',
    '%echo text',
    '%help summarize',
    '%results',
    'print a = 1 | where a == "xaat-1234"',
  ],
  [
    '%time last 2m',
    "['sample-http-logs'] | where status >= 500 | limit 20",
    "['sample-http-logs'] | summarize count() by bin_auto(_time), method",
    "['sample-http-logs'] | summarize count() by status",
    '%datasets',
  ],
);

/** Starts a kernel like Jupyter does, with a client; its heap can be measured. */
async function startKernel(directory: string, nodeArguments: readonly string[]) {
  const connection = await freeConnection();
  const file = join(directory, 'connection.json');
  await writeFile(file, JSON.stringify(connection));
  const env = { ...process.env, HOME: directory, APL_KERNEL_DATA: join(directory, 'data') };
  const args = [...nodeArguments, mainProgram, 'kernel', '--connection-file', file];
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

/** Cells queued in the kernel while one runs. */
const queued = 10;

test('the memory of a kernel does not grow with the cells that it runs', async () => {
  const directory = await temporaryDirectory();
  const meter = new HeapMeter(directory);
  const count = rounds('cells of a kernel', 600, 100_000);
  const { client, pid } = await startKernel(directory, meter.nodeArguments(count));
  const figures: Heap[] = [];
  let sent = 0;
  const run = async (times: number) => {
    const last = sent + times;
    while (sent < last) {
      const batch = Array.from({ length: Math.min(queued, last - sent) }, () => cells.at(sent++));
      await Promise.all(batch.map(code => client.execute(code, { stop_on_error: false })));
      client.seen.length = 0;
    }
    // The result cache has its own limit, which takes longer to reach.
    await client.execute('%results --drop');
    figures.push(told(sent, await meter.measure(pid)));
  };
  // The kernel loads code until each kind has run in each of its positions.
  await run(400);
  figures.pop();
  const step = Math.ceil(count / 10);
  for (let done = 0; done <= count; done += step) await run(step);
  expectLevel('cell', figures, step);
});

const queries = new Mix(
  ['print a = 1', 'print a = nonsense', 'nothing | count', 'print a = (', 'print b = strcat("a", "b")'],
  [
    "['sample-http-logs'] | where status >= 500 | limit 20",
    'range x from 1 to 100 step 1 | summarize sum(x)',
    "['sample-http-logs'] | summarize count() by bin_auto(_time), method",
    "print x = strcat_array(series_fir(dynamic([7]), dynamic([1])), ',')",
    'kept | summarize count() by n',
  ],
);

const writers = 6;

test('the memory of a service does not grow with the queries that it answers', async () => {
  const meter = new HeapMeter(await temporaryDirectory());
  const dataDir = await temporaryDirectory();
  const count = rounds('queries of a service', 600, 1_000_000);
  const victim = await Victim.start(dataDir, { command: builtService(dataDir, meter.nodeArguments(count)) });
  await victim.send('POST', '/v2/datasets', { name: 'kept' });
  await victim.ingest('kept', [{ n: 1 }, { n: 2 }]);
  const figures: Heap[] = [];
  const connection = victim.connection(writers);
  let asked = 0;
  const writer = async (last: number) => {
    while (asked < last) {
      // Distinct texts, like those of real users.
      const apl = `// ${asked}\n${queries.at(asked)}`;
      asked += 1;
      await connection.query({ apl, startTime: 'now-2m', endTime: 'now' });
    }
  };
  const run = async (times: number) => {
    const last = asked + times;
    await Promise.all(Array.from({ length: writers }, () => writer(last)));
    figures.push(told(asked, await meter.measure(victim.pid)));
  };
  await run(400);
  figures.pop();
  const step = Math.ceil(count / 10);
  for (let done = 0; done <= count; done += step) await run(step);
  expectLevel('query', figures, step);
});

/** Prints a figure as soon as it is measured, in case a long campaign is stopped early. */
function told(done: number, figure: Heap): Heap {
  console.log(`after ${done}: ${megabytes(figure)} MB`);
  return figure;
}

function megabytes({ used, resident }: Heap): string {
  return `${(used / 1e6).toFixed(2)} of ${(resident / 1e6).toFixed(0)}`;
}

/** Half of a leak of two kilobytes per call. */
const mostBytes = 1_024;

/** Expects the heap not to grow, as every step does the same work. */
function expectLevel(what: string, figures: readonly Heap[], step: number): void {
  const growth = growthOf(figures.map(({ used }) => used)) / step;
  const said = `bytes a ${what}: ${growth.toFixed(0)}; MB after each ${step}: ${figures.map(megabytes).join(', ')}`;
  console.log(said);
  expect(growth, said).toBeLessThan(mostBytes);
}

test('long values of many rows are computed in a child process, and only it ends if they are too long', async () => {
  const dataDir = await temporaryDirectory();
  // Makes the service see a machine of 1 GiB, in which the values of the current rows may take 16 MiB.
  const environment = {
    NODE_OPTIONS: '--import=data:text/javascript,process.constrainedMemory=()=>2**30',
  };
  const command = withoutProc(builtService(dataDir));
  const victim = await Victim.start(dataDir, { environment, command });
  const long = (rows: number, repeated: number) =>
    `range i from 1 to ${rows} step 1 | extend s = strcat(i, strrep(strrep("x", 1000), ${repeated})) | summarize sum(strlen(s))`;
  expect(await victim.columns(long(1000, 10))).toEqual([[10_002_893]]);
  expect(childrenOf(victim.pid)).toEqual([]);
  expect(await victim.columns(long(1000, 30))).toEqual([[30_002_893]]);
  expect(childrenOf(victim.pid)).toHaveLength(1);
  let most = 0;
  const watching = setInterval(() => {
    most = Math.max(most, memoryOf(victim.pid));
  }, 10);
  const { status, body } = await victim.query(long(1_000_000, 1000)).finally(() => clearInterval(watching));
  expect([status, body.message]).toEqual([
    400,
    expect.stringContaining('stopped before the machine ran out of memory: its values are too large'),
  ]);
  expect(most).toBeLessThan(400);
  await victim.expectHealthy();
});

/** Runs a command in a mount namespace with an empty /proc: as on other systems, a process can then only see its own memory use. */
function withoutProc(command: readonly string[]): readonly string[] {
  const hiding = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh'];
  const { status } = spawnSync('env', [...hiding, 'true']);
  if (status === 0) return ['env', ...hiding, ...command];
  console.log('/proc is not hidden: nothing can be mounted here');
  return command;
}
