import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Agent as Dispatcher, fetch } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { bytesOfSync } from '../../kernel/files.js';
import { placesOf } from '../../kernel/local/data-layout.js';
import { type RuntimeFile, runtimeFilePath } from '../../kernel/local/shared.js';
import { removeHome } from '../setup/leavings.js';

/**
 * `FAULTS=long` repeats each fault a few hundred times, `FAULTS=50` fifty times, at random positions; `FAULTS_SEED=N` repeats a run.
 * Without either, the positions are the same in every run, so that a commit passes or fails for its own reasons.
 */
const wanted = process.env.FAULTS || undefined;
const seed = Number(
  process.env.FAULTS_SEED ?? (wanted === undefined ? 1 : Math.floor(Math.random() * 2 ** 31)),
);
/** Whether faults are repeated more often, or at other positions, than in a normal run. */
export const isCampaign = wanted !== undefined;
/** Path of the built program. */
export const mainProgram = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Returns the number of rounds for a fault, and prints it with the seed. */
export function rounds(name: string, usual: number, long: number): number {
  const count = wanted === 'long' ? long : Number(wanted ?? usual);
  console.log(`${name}: ${count} rounds, FAULTS_SEED=${seed}`);
  return count;
}

/** Returns a generator of random numbers from 0 to 1, determined by seed and name (mulberry32). */
export function randomOf(name: string): () => number {
  let state = [...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Creates a directory that is removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-faults-'));
  // Services started by a kernel write to it until they end.
  onTestFinished(() => removeHome(directory));
  return directory;
}

/** Mounts a file system of a few megabytes; undefined if this user may not. */
export async function smallDisk(): Promise<string | undefined> {
  const directory = await temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'none', directory], { stdio: 'pipe' });
  } catch (error) {
    console.log(
      `disk full: not tried, as no small file system can be mounted here (${String(error).split('\n')[0]})`,
    );
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', directory]));
  return directory;
}

/** Status and body of a service response. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what is read from it is compared with exact values
  readonly body: any;
}

/**
 * Returns the command of the built service on a data directory, as kernels share it, but with no time limit that a query could reach on a
 * busy machine.
 */
export function builtService(dataDir: string, nodeArguments: readonly string[] = []): readonly string[] {
  const options = ['--managed', '--query-timeout', '86400', '--data', dataDir];
  return [process.execPath, ...nodeArguments, mainProgram, 'serve', ...options];
}

/** Options for starting a service. */
interface Start {
  readonly environment?: NodeJS.ProcessEnv;
  /** User to run the service as, if not the current one. */
  readonly uid?: number;
  /** The built service by default. */
  readonly command?: readonly string[];
}

/** Returns the runtime files of a service; a killed service may leave one that cannot be removed. */
function runtimeFilesOf(dataDir: string): readonly RuntimeFile[] {
  return placesOf(dataDir)
    .map(runtimeFilePath)
    .filter(each => existsSync(each))
    .flatMap(file => {
      try {
        return [JSON.parse(bytesOfSync(file).toString())];
      } catch {
        // A damaged file counts as absent.
        return [];
      }
    });
}

/** A service as a separate process over a data directory. */
export class Victim {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  /** Path of its stderr output. */
  readonly #log: string;
  #file: RuntimeFile | undefined;
  #connections = new Dispatcher();

  private constructor(dataDir: string, child: ChildProcess, log: string) {
    this.dataDir = dataDir;
    this.#child = child;
    this.#log = log;
  }

  static async start(
    dataDir: string,
    { environment, uid, command = builtService(dataDir) }: Start = {},
  ): Promise<Victim> {
    const before = runtimeFilesOf(dataDir).map(({ secret }) => secret);
    const env = { ...process.env, UV_THREADPOOL_SIZE: '16', ...environment };
    const [program = '', ...args] = command;
    const user = uid === undefined ? {} : { uid, gid: uid };
    const log = join(await temporaryDirectory(), 'log');
    const stderr = openSync(log, 'w');
    const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', stderr], ...user });
    closeSync(stderr);
    const victim = new Victim(dataDir, child, log);
    onTestFinished(() => victim.kill());
    const another = () => runtimeFilesOf(dataDir).find(({ secret }) => !before.includes(secret));
    await expect.poll(another, { interval: 25 }).toBeDefined();
    victim.#file = another();
    victim.#hold();
    return victim;
  }

  /** Process id of the service; in a pid namespace, the spawned process is its parent `unshare`. */
  get pid(): number {
    const { pid = 0, spawnfile } = this.#child;
    return spawnfile === 'unshare' ? (childrenOf(pid)[0] ?? pid) : pid;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until the process has ended, and returns how, with the last lines it wrote. */
  async howEnded(): Promise<string> {
    await expect.poll(() => this.hasEnded).toBe(true);
    const { exitCode, signalCode } = this.#child;
    const last = readFileSync(this.#log, 'utf8').trim().split('\n').slice(-20).join('\n');
    return `ended with ${signalCode ?? exitCode}, and wrote last: ${last}`;
  }

  get #running(): RuntimeFile {
    if (this.#file === undefined) throw new Error('the service has not started');
    return this.#file;
  }

  /** Holds the service open like a kernel: it ends after a while without one. */
  #hold(): void {
    const { url, token } = this.#running;
    const alive = request(`${url}/v1/alive`, { headers: { authorization: `Bearer ${token}` }, agent: false });
    alive.on('response', response => response.on('error', () => undefined).resume());
    alive.on('error', () => undefined).end();
  }

  /** Ends the process as a user would. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Ends the process as a crash would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.hasEnded) return;
    const ended = once(this.#child, 'exit');
    process.kill(this.pid, signal);
    await ended;
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    type = 'application/json',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const { url, token } = this.#running;
    const response = await fetch(url + path, {
      dispatcher: this.#connections,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
      },
      ...(body !== undefined && { body: encoded(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Returns a listing, and its notice about files that cannot be read. */
  async listing(path: string): Promise<{ readonly names: unknown; readonly notice: string }> {
    const { url, token } = this.#running;
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url + path, { dispatcher: this.#connections, headers });
    expect(response.status).toBe(200);
    const notice = decodeURIComponent(response.headers.get('x-apl-kernel-notice') ?? '');
    return { names: await response.json(), notice };
  }

  query(apl: string, signal?: AbortSignal, id?: string): Promise<Answer> {
    return this.send(
      'POST',
      '/v1/datasets/_apl?format=tabular',
      { apl, startTime: '2020-01-01T00:00:00Z', endTime: '2030-01-01T00:00:00Z' },
      signal,
      'application/json',
      id === undefined ? {} : { 'x-apl-query': id },
    );
  }

  /** Returns a client that sends many queries cheaply over up to `most` connections and discards the responses. */
  connection(most: number): { query(body: object): Promise<void> } {
    const { url, token } = this.#running;
    const agent = new Agent({ keepAlive: true, maxSockets: most });
    onTestFinished(() => agent.destroy());
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return {
      query: body =>
        new Promise((resolve, reject) => {
          const options = { method: 'POST', agent, headers };
          const sent = request(`${url}/v1/datasets/_apl?format=tabular`, options, response => {
            response.on('end', resolve).on('error', reject).resume();
          });
          sent.on('error', reject).end(JSON.stringify(body));
        }),
    };
  }

  /** Returns the columns of a query's first table; fails unless the query succeeds. */
  async columns(apl: string): Promise<unknown[][]> {
    const { status, body } = await this.query(apl);
    expect([status, body.message]).toEqual([200, undefined]);
    return body.tables[0].columns;
  }

  /** Repeats a light query in its own thread; `end` returns the latencies in milliseconds and fails on a wrong answer. */
  canary(apl: string, value: number): { end(): Promise<readonly number[]> } {
    const { url, token } = this.#running;
    const worker = new Worker(new URL('./bombs/canary.mjs', import.meta.url), {
      workerData: { url, token, apl, value },
    });
    onTestFinished(async () => void (await worker.terminate()));
    const ended = once(worker, 'message');
    return {
      end: async () => {
        worker.postMessage('end');
        const [{ latencies, wrong }] = await ended;
        expect(wrong).toEqual([]);
        return latencies;
      },
    };
  }

  ingest(dataset: string, events: readonly object[], signal?: AbortSignal): Promise<Answer> {
    const lines = events.map(event => JSON.stringify(event)).join('\n');
    return this.send('POST', `/v1/datasets/${dataset}/ingest`, lines, signal, 'application/x-ndjson');
  }

  /** Opens a connection, writes these bytes, and returns it. */
  async raw(text: string): Promise<Socket> {
    const { hostname, port } = new URL(this.#running.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  }

  /** Returns the head of a request without its final blank line. */
  head(method: string, path: string, more: readonly string[] = []): string {
    const { url, token } = this.#running;
    const { host } = new URL(url);
    return [`${method} ${path} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${token}`, ...more].join(
      '\r\n',
    );
  }

  /** Returns the number of open file descriptors of the process. */
  descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Expects every worker to answer immediately, however many queries came before. */
  async expectHealthy(): Promise<void> {
    const scripted = "print x = strcat_array(series_fir(dynamic([7]), dynamic([1])), ',')";
    const all = [...Array.from({ length: 6 }, () => 'print x = 7'), scripted, scripted, scripted];
    const answers = await Promise.all(all.map(apl => this.columns(apl)));
    expect(answers.map(columns => String(columns[0]?.[0]))).toEqual(all.map(() => '7'));
  }

  /** Expects all workers to be free: four long queries and eight apparently short ones run at once, and a fifth long one waits. */
  async expectEveryWorkerFree(): Promise<void> {
    const abort = new AbortController();
    const long = "['sample-http-logs'] | summarize dcount(uri) by status";
    const looksShort =
      'range x from 1 to 400000 step 1 | extend i = range(1, 2000) | mv-expand i | summarize sum(x * toint(i))';
    const texts = [...Array.from({ length: 4 }, () => long), ...Array.from({ length: 8 }, () => looksShort)];
    const ask = (apl: string, id: string) => this.query(apl, abort.signal, id).catch(() => 'left');
    const running = texts.map((apl, index) => ask(apl, `query-${index}`));
    const progress = async (id: string) => (await this.send('GET', `/v1/local/queries/${id}`)).body;
    const rows = () =>
      Promise.all(texts.map(async (_, index) => (await progress(`query-${index}`)).rows > 0));
    await expect.poll(rows).toEqual(texts.map(() => true));
    const last = ask(long, 'query-last');
    await expect.poll(() => progress('query-last')).toEqual({ state: 'waiting', before: 0 });
    abort.abort();
    expect(new Set(await Promise.all([...running, last]))).toEqual(new Set(['left']));
  }

  /** Expects descriptors to be released and the processor to be idle. */
  async expectAtRest(base: number): Promise<void> {
    // Either end would keep idle connections open for 72 s.
    await this.#connections.close();
    this.#connections = new Dispatcher();
    await expect.poll(() => this.descriptors()).toBeLessThanOrEqual(base);
    await expect.poll(() => this.#ticksOver(500), { interval: 10 }).toBeLessThan(25);
  }

  /** Returns the CPU time of the process and its engines over this many milliseconds, in hundredths of a second. */
  async #ticksOver(ms: number): Promise<number> {
    const before = this.#ticks();
    await delay(ms);
    return this.#ticks() - before;
  }

  #ticks(): number {
    return [this.pid, ...childrenOf(this.pid)].reduce((sum, pid) => sum + ticksOf(pid), 0);
  }
}

/** Returns the engine processes of a service. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && fieldsOf(Number(name))[1] === String(pid))
    .map(Number);
}

/** Suspends a process before it can start another; resolves once it is stopped. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await expect.poll(() => fieldsOf(pid)[0]).toBe('T');
}

/** Returns whether a process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  const [state] = fieldsOf(pid);
  return state !== undefined && state !== 'Z';
}

/** Returns the resident memory of a process, in MiB; 0 if it has ended. */
export function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

function encoded(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function ticksOf(pid: number): number {
  const fields = fieldsOf(pid);
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

/** Returns the fields of `/proc/PID/stat` from the state and the parent on; none if the process has ended. */
function fieldsOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Isolated environments: a process in one cannot see whether a process in another is running. */
export const places: Readonly<Record<string, readonly string[]>> = {
  'a container': ['--pid', '--mount', '--fork', '--mount-proc', '--kill-child'],
  'the container of another user': [
    '--user',
    '--map-root-user',
    '--pid',
    '--mount',
    '--fork',
    '--mount-proc',
    '--kill-child',
  ],
};

type Place = keyof typeof places;

/** Wraps a command to run in an isolated environment. */
export function inPlace(place: Place, command: readonly string[]): readonly string[] {
  return ['unshare', ...(places[place] ?? []), ...command];
}

/** Returns whether this user may create namespaces here. */
export function canUnshare(): boolean {
  try {
    for (const place of Object.keys(places)) execFileSync('unshare', inPlace(place, ['true']).slice(1));
    return true;
  } catch (error) {
    console.log(`namespaces: not tried, as none can be made here (${String(error).split('\n')[0]})`);
    return false;
  }
}
