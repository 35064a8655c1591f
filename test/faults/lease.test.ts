import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { takeLease } from '../../kernel/local/lease/lease.js';
import {
  canUnshare,
  freeze,
  inPlace,
  places,
  randomOf,
  rounds,
  temporaryDirectory,
  Victim,
} from './bench.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, 'dist', 'main.js');

/** Wraps a command like `inPlace`, with the directory mounted under another name. */
function mounted(dataDir: string, elsewhere: string, command: readonly string[]): readonly string[] {
  const script = 'mount --bind "$0" "$1" && shift && exec "$@"';
  return inPlace('a container', ['sh', '-c', script, dataDir, elsewhere, ...command]);
}

/** Interval of a service's heartbeats, and the silence after which another service takes over, in milliseconds. */
const [beatMs, takeoverMs] = [100, 1_500];

/** A bundle, as compiling the kernel at each start would take most of the time. It resolves the engine from two folders below the root. */
const leasedProgram = join(root, 'out', 'faults', 'leased.mjs');

beforeAll(() => {
  buildSync({
    entryPoints: [join(root, 'test', 'faults', 'leased.ts')],
    outfile: leasedProgram,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
});

function leased(dataDir: string): readonly string[] {
  return [process.execPath, leasedProgram, dataDir, String(beatMs), String(takeoverMs)];
}

/** Returns the exit code and stderr of a command that is expected to fail. */
async function refusalOf(command: readonly string[], env = {}): Promise<{ code: number; stderr: string }> {
  const [program = '', ...args] = command;
  return promisify(execFile)(program, args, { cwd: root, env: { ...process.env, ...env } }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
}

/** Events per batch. */
const batchEvents = 3;

/** Delay between requests of a client while its service is undisturbed. */
const betweenMs = 30;

/** Batches that clients sent, and those that any service acknowledged. */
interface Ledger {
  asked: number;
  readonly acknowledged: Set<number>;
  /** Number of answers without a batch that had been acknowledged before the query. */
  stale: number;
  /** Delay of each client between two requests. */
  betweenMs: number;
}

test.runIf(canUnshare())(
  'services in separate namespaces take turns, and no event is lost or doubled',
  async () => {
    const dataDir = await temporaryDirectory();
    const elsewhere = await temporaryDirectory();
    const random = randomOf('lease');
    const ledger: Ledger = { asked: 0, acknowledged: new Set(), stale: 0, betweenMs };
    const commands = [
      inPlace('a container', leased(dataDir)),
      inPlace('the container of another user', leased(dataDir)),
      mounted(dataDir, elsewhere, leased(elsewhere)),
    ];
    const another = () => commands[Math.floor(random() * commands.length)] ?? [];
    const told = { ended: 0, killed: 0, suspended: 0 };
    const count = rounds('lease', 3, 100);
    let holder = await Victim.start(dataDir, { command: another() });
    await holder.send('POST', '/v2/datasets', { name: 'events' });
    let work = clients(holder, ledger);
    for (let round = 0; round < count; round++) {
      // Small files are merged after 1.5 s.
      await delay(random() * 2_500);
      expect(await refusalOf(another())).toEqual({
        code: 1,
        stderr: expect.stringContaining('is in use by'),
      });
      // Batches are in flight when the fault occurs.
      ledger.betweenMs = 0;
      await delay(200);
      const fault = (['suspended', 'killed', 'ended'] as const)[round % 3] ?? 'suspended';
      told[fault]++;
      if (fault === 'suspended') await freeze(holder.pid);
      else await (fault === 'killed' ? holder.kill() : holder.stop());
      const next = await Victim.start(dataDir, { command: another() });
      await check(next, ledger);
      ledger.betweenMs = betweenMs;
      const more = clients(next, ledger);
      if (fault === 'suspended') {
        await delay(random() * 300);
        // It finds that another service took over, and exits.
        process.kill(holder.pid, 'SIGCONT');
        await expect.poll(() => holder.hasEnded).toBe(true);
      }
      await Promise.all(work);
      await check(next, ledger);
      [holder, work] = [next, more];
    }
    await holder.stop();
    await Promise.all(work);
    const last = await Victim.start(dataDir, { command: leased(dataDir) });
    await check(last, ledger);
    expect(readdirSync(join(dataDir, 'datasets', 'events')).filter(name => name.endsWith('.log'))).toEqual(
      [],
    );
    const { ended, killed, suspended } = told;
    console.log(
      `${ledger.acknowledged.size} of ${ledger.asked} batches acknowledged; ${ended} services ended, ${killed} killed, ${suspended} suspended`,
    );
  },
);

function clients(victim: Victim, ledger: Ledger): Promise<unknown>[] {
  return [writer, writer, writer, reader].map(each => each(victim, ledger).catch(() => undefined));
}

async function writer(victim: Victim, ledger: Ledger): Promise<void> {
  for (;;) {
    const id = ledger.asked++;
    const event = { _time: new Date(1.75e12 + id).toISOString(), id };
    if ((await victim.ingest('events', new Array(batchEvents).fill(event))).status !== 200) return;
    ledger.acknowledged.add(id);
    if (ledger.betweenMs > 0) await delay(ledger.betweenMs);
  }
}

/** Queries the dataset repeatedly; each query flushes earlier batches to files. */
async function reader(victim: Victim, ledger: Ledger): Promise<void> {
  for (;;) {
    const before = ledger.acknowledged.size;
    const { status, body } = await victim.query('events | count');
    if (status !== 200) return;
    if (Number(body.tables[0].columns[0][0]) < before * batchEvents) ledger.stale++;
    await delay(20 + ledger.betweenMs);
  }
}

async function check(victim: Victim, ledger: Ledger): Promise<void> {
  const acknowledged = [...ledger.acknowledged];
  const counts = new Map<number, number>();
  const [[rows] = []] = (await victim.columns('events | count')) as number[][];
  if (rows !== 0) {
    const [ids = [], found = []] = await victim.columns(
      'events | summarize n = count() by id | take 1000000',
    );
    for (const [index, id] of ids.entries()) counts.set(Number(id), Number(found[index]));
  }
  expect(acknowledged.filter(id => counts.get(id) !== batchEvents)).toEqual([]);
  expect([...counts].filter(([id, times]) => times !== batchEvents || id >= ledger.asked)).toEqual([]);
  expect(ledger.stale).toBe(0);
}

test.runIf(canUnshare())(
  'kernels in two namespaces share a reachable service, and report an unreachable one',
  async () => {
    const home = await temporaryDirectory();
    const dataDir = join(home, 'data');
    mkdirSync(dataDir);
    const victim = await Victim.start(dataDir);
    writeFileSync(join(home, 'in.apl'), 'print x = 40 + 2');
    const run = [process.execPath, main, 'run', join(home, 'in.apl'), '-o', join(home, 'out.ipynb')];
    const env = { HOME: home, APL_KERNEL_DATA: dataDir };
    const reached = await refusalOf(inPlace('a container', run), env);
    expect(reached.code).toBe(0);
    const apart = ['unshare', '--net', ...(places['a container'] ?? []), ...run];
    expect((await refusalOf(apart, env)).code).toBe(1);
    const written = readFileSync(join(home, 'out.ipynb'), 'utf8');
    expect(written).toContain(
      `the data directory ${dataDir} is in use by the local service at http://127.0.0.1:`,
    );
    expect(written).toContain(`process ${victim.pid} of `);
    await victim.expectHealthy();
  },
);

/** Mounts a file system; prints why if this user may not. */
function mount(options: readonly string[], directory: string): boolean {
  try {
    execFileSync('mount', [...options, directory], { stdio: 'pipe' });
  } catch (error) {
    console.log(
      `${options.join(' ')}: not tried, as it cannot be mounted here (${String(error).split('\n')[0]})`,
    );
    return false;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', directory]));
  return true;
}

test('a lease on a directory that becomes read-only does not end its service, but confirms no write', async () => {
  const dataDir = await temporaryDirectory();
  if (!mount(['--bind', dataDir], dataDir)) return;
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const lease = await takeLease(dataDir, { version: 'test', log: () => undefined });
  execFileSync('mount', ['-o', 'remount,ro,bind', dataDir]);
  // The lease cannot be renewed.
  vi.setSystemTime(Date.now() + 3_600_000);
  lease.check();
  expect(() => lease.confirm()).toThrow('EROFS');
});

/** File systems that can be tested without a network; each is created at `directory`, with its backing files in `beside`. */
const fileSystems: Readonly<Record<string, (directory: string, beside: string) => boolean>> = {
  'the one of temporary files': () => true,
  tmpfs: directory => mount(['-t', 'tmpfs', 'none'], directory),
  overlay: (directory, beside) => {
    const parts = ['lower', 'upper', 'work'].map(name => join(beside, name));
    for (const part of parts) mkdirSync(part);
    const [lower, upper, work] = parts;
    return mount(
      ['-t', 'overlay', '-o', `lowerdir=${lower},upperdir=${upper},workdir=${work}`, 'none'],
      directory,
    );
  },
  vfat: (directory, beside) => formatted('mkfs.vfat', 'vfat', directory, beside),
  ext4: (directory, beside) => formatted('mkfs.ext4', 'ext4', directory, beside),
  // Without locks between separate mounts.
  FUSE: (directory, beside) => mount(['-t', 'fuse.bindfs', beside], directory),
};

function formatted(format: string, type: string, directory: string, beside: string): boolean {
  const image = join(beside, 'image');
  writeFileSync(image, Buffer.alloc(16 * 2 ** 20));
  try {
    execFileSync(format, [image], { stdio: 'pipe' });
  } catch (error) {
    console.log(`${type}: not tried, as none can be made here (${String(error).split('\n')[0]})`);
    return false;
  }
  return mount(['-t', type, '-o', 'loop', image], directory);
}

test.each(Object.keys(fileSystems))(
  'of many processes that want a directory on %s, one holds it at a time',
  async name => {
    const [dataDir, beside] = [await temporaryDirectory(), await temporaryDirectory()];
    if (fileSystems[name]?.(dataDir, beside) !== true) return;
    let holding = 0;
    const turns: number[] = [];
    const one = async () => {
      const lease = await takeLease(dataDir, { version: 'test', log: () => undefined, beatMs: 20 });
      turns.push(++holding);
      lease.confirm();
      await delay(10);
      lease.confirm();
      holding--;
      lease.release();
    };
    await Promise.all(Array.from({ length: 20 }, one));
    expect([turns, readdirSync(dataDir).filter(entry => entry.startsWith('lease-'))]).toEqual([
      new Array(20).fill(1),
      ['lease-20.json'],
    ]);
  },
);
