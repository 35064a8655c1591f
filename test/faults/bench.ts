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
 * `FAULTS=long` repeats each fault some hundred times, `FAULTS=50` fifty times, at places of their own; `FAULTS_SEED=N` repeats a
 * run. Without either the places are the same in every run, so that a commit passes or fails for its own reasons.
 */
const wanted = process.env.FAULTS || undefined;
const seed = Number(
  process.env.FAULTS_SEED ?? (wanted === undefined ? 1 : Math.floor(Math.random() * 2 ** 31)),
);
/** Whether faults are repeated more often, or elsewhere, than in each run. */
export const isCampaign = wanted !== undefined;
/** The built program. */
export const mainProgram = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Returns how often a campaign repeats its fault, and says so with the seed. */
export function rounds(name: string, usual: number, long: number): number {
  const count = wanted === 'long' ? long : Number(wanted ?? usual);
  console.log(`${name}: ${count} rounds, FAULTS_SEED=${seed}`);
  return count;
}

/** Returns random numbers from 0 to 1 that are the same for the same seed and name (mulberry32). */
export function randomOf(name: string): () => number {
  let state = [...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A directory that is gone after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-faults-'));
  // Services that a kernel has started write to it until they have ended.
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

/** What the service answered. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what is read from it is compared with exact values
  readonly body: any;
}

/** The built service, as kernels share it, over a data directory. */
export function builtService(dataDir: string, nodeArguments: readonly string[] = []): readonly string[] {
  return [process.execPath, ...nodeArguments, mainProgram, 'serve', '--managed', '--data', dataDir];
}

/** How a service is started. */
interface Start {
  readonly environment?: NodeJS.ProcessEnv;
  /** The user whom it runs as, if that is another. */
  readonly uid?: number;
  /** The built service when absent. */
  readonly command?: readonly string[];
}

/** The runtime files in the places of a service; that of a killed one stays if it cannot be removed. */
function runtimeFilesOf(dataDir: string): readonly RuntimeFile[] {
  return placesOf(dataDir)
    .map(runtimeFilePath)
    .filter(each => existsSync(each))
    .flatMap(file => {
      try {
        return [JSON.parse(bytesOfSync(file).toString())];
      } catch {
        // A damaged one is none.
        return [];
      }
    });
}

/** A service as a process of its own over a data directory. */
export class Victim {
  readonly dataDir: string;
  readonly #child: ChildProcess;
  /** What it writes to stderr. */
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

  /** That of the service; `unshare` is the parent of a process in a namespace of process ids. */
  get pid(): number {
    const { pid = 0, spawnfile } = this.#child;
    return spawnfile === 'unshare' ? (childrenOf(pid)[0] ?? pid) : pid;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until the process has ended, and returns how, with the last lines that it wrote. */
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

  /** As a kernel does: a service that nobody holds ends after a while. */
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

  /** What a listing has, and what it says beside it of files that cannot be read. */
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

  /** Sends queries over so many connections, and throws their answers away: for many of them, at little cost of its own. */
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

  /** The columns of a query's first table; fails on anything but an answer. */
  async columns(apl: string): Promise<unknown[][]> {
    const { status, body } = await this.query(apl);
    expect([status, body.message]).toEqual([200, undefined]);
    return body.tables[0].columns;
  }

  /** Asks a light query again and again on a thread of its own; `end` returns the latencies in milliseconds, and fails on a wrong answer. */
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

  /** The head of a request, complete but for its last line. */
  head(method: string, path: string, more: readonly string[] = []): string {
    const { url, token } = this.#running;
    const { host } = new URL(url);
    return [`${method} ${path} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${token}`, ...more].join(
      '\r\n',
    );
  }

  /** How many files and connections the process holds. */
  descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Every worker answers at once, however many queries were there before. */
  async expectHealthy(): Promise<void> {
    const scripted = "print x = strcat_array(series_fir(dynamic([7]), dynamic([1])), ',')";
    const all = [...Array.from({ length: 6 }, () => 'print x = 7'), scripted, scripted, scripted];
    const answers = await Promise.all(all.map(apl => this.columns(apl)));
    expect(answers.map(columns => String(columns[0]?.[0]))).toEqual(all.map(() => '7'));
  }

  /** No worker is taken: four long queries and eight that look short all run at once, and one more long one waits. */
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

  /** Descriptors are back, and no work goes on: the processor rests. */
  async expectAtRest(base: number): Promise<void> {
    // Idle connections would be kept for 72 s by either end.
    await this.#connections.close();
    this.#connections = new Dispatcher();
    await expect.poll(() => this.descriptors()).toBeLessThanOrEqual(base);
    await expect.poll(() => this.#ticksOver(500), { interval: 10 }).toBeLessThan(25);
  }

  /** Hundredths of a second that the process and its engines computed within so many milliseconds. */
  async #ticksOver(ms: number): Promise<number> {
    const before = this.#ticks();
    await delay(ms);
    return this.#ticks() - before;
  }

  #ticks(): number {
    return [this.pid, ...childrenOf(this.pid)].reduce((sum, pid) => sum + ticksOf(pid), 0);
  }
}

/** The engine processes of a service. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && fieldsOf(Number(name))[1] === String(pid))
    .map(Number);
}

/** Stops a process where it is, so that it starts no other; resolves once it stands. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await expect.poll(() => fieldsOf(pid)[0]).toBe('T');
}

/** Whether a process exists and runs. */
export function isRunning(pid: number): boolean {
  const [state] = fieldsOf(pid);
  return state !== undefined && state !== 'Z';
}

/** The memory of a process that is in use, in MiB; 0 of one that has ended. */
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

/** State, parent, and what follows in the system's line about a process; nothing of one that has ended. */
function fieldsOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Places of their own: a process in one cannot see whether that of another runs. */
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

/** A command in a place of its own. */
export function inPlace(place: Place, command: readonly string[]): readonly string[] {
  return ['unshare', ...(places[place] ?? []), ...command];
}

/** Whether this user may make namespaces here. */
export function canUnshare(): boolean {
  try {
    for (const place of Object.keys(places)) execFileSync('unshare', inPlace(place, ['true']).slice(1));
    return true;
  } catch (error) {
    console.log(`namespaces: not tried, as none can be made here (${String(error).split('\n')[0]})`);
    return false;
  }
}
