import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { AplKernelError } from '../errors.js';
import { inDataDir, placeOf, placesOf, writeError } from './data-layout.js';
import { awaitVacancy, longestWaitMs } from './lease/lease.js';
import { lockOf } from './lease/lock.js';
import { openToAppend } from './sealed.js';
import { endShared, findShared, type RuntimeFile, runtimeFilePath, serviceFormat } from './shared.js';
import { hasCode } from './store/store-files.js';
import { checkFormat } from './store/store-format.js';

/** The address of the running local service and its token. */
export interface LocalAddress {
  readonly url: string;
  readonly token: string;
  /** Whether a service used earlier by this kernel had stopped and this kernel started its replacement. */
  readonly restarted: boolean;
}

/** The local service from the perspective of one kernel. */
export interface LocalService {
  /**
   * Returns the address of a responding service, starting one if needed. Throws LaunchError. `doubted`: a request has just failed, so the
   * service is checked even if it seems to be up.
   */
  connect(signal?: AbortSignal, doubted?: boolean): Promise<LocalAddress>;
  /** Returns a sentence about what `connect` is waiting for, without a period; undefined if not worth reporting. */
  waiting(): string | undefined;
  /** Releases the service, which exits once no kernel holds it. */
  close(): void;
}

export interface LaunchOptions {
  /** Directory for the runtime file and the log; created if missing. */
  readonly dataDir: string;
  /** Starts a detached process that will write the runtime file, and returns its exit as a promise. */
  readonly spawn: () => SpawnedService;
  readonly log: (text: string) => void;
  /** Version of this program. */
  readonly version: string;
  /** Time for a new service to start listening, in milliseconds (default: 30,000). */
  readonly startLimitMs?: number;
  /** Time for a running service to respond before it is killed as frozen, in milliseconds (default: 10,000). */
  readonly timeoutMs?: number;
}

export interface SpawnedService {
  /** Resolves with a sentence when the process has ended or could not be started. */
  readonly ended: Promise<string>;
}

/** The local service could not be started. */
export class LaunchError extends AplKernelError {
  constructor(message: string, dataDir: string, cause?: unknown, hint = seeLog(dataDir)) {
    super('local-service', message, { hint, cause });
  }
}

function seeLog(dataDir: string): string {
  return `See ${inDataDir(dataDir, 'service.log')}; run \`npx apl-kernel doctor\` to diagnose the problem.`;
}

/** Returns the local service of a data directory, not yet started. */
export function createLocalService(options: LaunchOptions): LocalService {
  return new Launcher(options);
}

/** Returns the running local service of a data directory, without starting or holding it. */
export function runningService(dataDir: string): LocalService {
  return { connect: () => addressOf(dataDir), waiting: () => undefined, close: () => undefined };
}

async function addressOf(dataDir: string): Promise<LocalAddress> {
  for (const place of placesOf(dataDir)) {
    const found = await findShared(place);
    if (found.kind === 'running') return { url: found.file.url, token: found.file.token, restarted: false };
  }
  throw new LaunchError(
    'no local service is running',
    dataDir,
    undefined,
    'A kernel starts one with its first query.',
  );
}

/** Starts a service process that outlives this one and writes its log to `service.log` in the data directory. */
export function spawnDetached(
  command: string,
  args: readonly string[],
  dataDir: string,
  env?: NodeJS.ProcessEnv,
): SpawnedService {
  const log = openLog(inDataDir(placeOf(dataDir).directory, 'service.log'));
  const child = spawn(command, args, { detached: true, env, stdio: ['ignore', log, log], windowsHide: true });
  if (log !== 'ignore') closeSync(log);
  child.unref();
  const ended = new Promise<string>(resolve => {
    child.on('error', error => resolve(error.message));
    child.on('exit', (code, signal) =>
      resolve(signal === null ? `it exited with code ${code}` : `it was terminated by ${signal}`),
    );
  });
  return { ended };
}

/** Opens the log if possible: a service without a log is better than none. Its path may be a directory, or another user's file. */
function openLog(file: string): number | 'ignore' {
  try {
    return openToAppend(file);
  } catch {
    return 'ignore';
  }
}

const pollMs = 25;

class Launcher implements LocalService {
  readonly #options: LaunchOptions;
  #held: { readonly file: RuntimeFile; readonly request: ClientRequest } | undefined;
  #pending: Promise<LocalAddress> | undefined;
  #waiting: string | undefined;
  #usedBefore = false;
  #closed = false;

  constructor(options: LaunchOptions) {
    this.#options = options;
  }

  async connect(signal?: AbortSignal, doubted = false): Promise<LocalAddress> {
    if (doubted) await this.#drop();
    const file = this.#held?.file;
    if (file !== undefined) return { url: file.url, token: file.token, restarted: false };
    this.#pending ??= this.#find().finally(() => {
      this.#pending = undefined;
      this.#waiting = undefined;
    });
    return signal === undefined ? this.#pending : abortable(this.#pending, signal);
  }

  waiting(): string | undefined {
    return this.#waiting;
  }

  close(): void {
    this.#closed = true;
    this.#held?.request.destroy();
    this.#held = undefined;
  }

  /** Drops a service that does not prove its identity, before its connection shows that it is gone. */
  async #drop(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    const found = await this.#running();
    if (found?.secret === held.file.secret || this.#held !== held) return;
    this.#held = undefined;
    held.request.destroy();
  }

  async #find(): Promise<LocalAddress> {
    const running = await this.#running();
    const { file, isOwn } = running === undefined ? await this.#start() : { file: running, isOwn: false };
    await this.#hold(file);
    const restarted = this.#usedBefore && isOwn;
    this.#usedBefore = true;
    return { url: file.url, token: file.token, restarted };
  }

  /** Returns the service named in the runtime file, if it proves its identity. Kills a frozen one. */
  async #running(): Promise<RuntimeFile | undefined> {
    const { dataDir, log, timeoutMs } = this.#options;
    for (const place of placesOf(dataDir)) {
      const found = await findShared(place, timeoutMs);
      if (found.kind === 'running') return this.#understood(found.file);
      if (found.kind !== 'frozen') continue;
      log('the local service no longer responds: stopping it');
      await endShared(place, found.file, 0);
    }
    return undefined;
  }

  /** Throws LaunchError for a service started by a newer program, which this kernel may misunderstand. */
  #understood(file: RuntimeFile): RuntimeFile {
    const { format, version } = file;
    if (format <= serviceFormat) return file;
    throw new LaunchError(
      `the local service was started by apl-kernel ${version}, which is newer than this kernel`,
      this.#options.dataDir,
      undefined,
      `Restart the kernel with apl-kernel ${version} or later, or stop the service with \`npx apl-kernel serve --stop\`: the next query starts this version.`,
    );
  }

  /** Starts a service, unless another process has started one in the meantime. */
  async #start(): Promise<{ readonly file: RuntimeFile; readonly isOwn: boolean }> {
    const { dataDir, log } = this.#options;
    await checkFormat(dataDir);
    const place = openPlace(dataDir);
    this.#waiting = 'waiting for another process that is starting the local service';
    const unlock = await this.#lock(place);
    this.#waiting = undefined;
    try {
      const other = (await this.#running()) ?? (await this.#vacate(place));
      if (other !== undefined) return { file: other, isOwn: false };
      // If this is a directory, the service sets it aside.
      await rm(runtimeFilePath(place), { force: true }).catch(unlessDirectory);
      log('starting the local service');
      return { file: await this.#await(this.#options.spawn(), place), isOwn: true };
    } finally {
      await unlock();
    }
  }

  /** Waits until no service holds the data directory. Returns the holder if this kernel can connect to it by then. */
  async #vacate(place: string): Promise<RuntimeFile | undefined> {
    const { dataDir, version } = this.#options;
    // A read-only service is in nobody's way.
    if (place !== dataDir) return undefined;
    try {
      await awaitVacancy(dataDir, { version, log: text => this.#wait(text) });
      return undefined;
    } catch (error) {
      const file = await this.#running();
      if (file === undefined) throw error;
      return file;
    } finally {
      this.#waiting = undefined;
    }
  }

  #wait(text: string): void {
    this.#waiting = text;
    this.#options.log(text);
  }

  /** Takes the start lock, held by one kernel at a time; the others then find the service that it started. */
  async #lock(place: string): Promise<() => Promise<void>> {
    const { log } = this.#options;
    const lockfilePath = inDataDir(place, 'service.lock');
    const onCompromised = (error: Error) => log(`the start lock was lost: ${error.message}`);
    const timeoutMs = this.#limitMs + longestWaitMs + 2_000;
    return lockOf(lockfilePath, { timeoutMs, onCompromised }).catch(error => {
      if (!hasCode(error, 'ELOCKED'))
        throw new LaunchError(
          `the local service cannot start: ${lockfilePath} cannot be created`,
          place,
          error,
        );
      throw new LaunchError(
        'another process is taking too long to start the local service',
        place,
        error,
        `If no other kernel is starting, remove ${lockfilePath}.`,
      );
    });
  }

  async #await(service: SpawnedService, place: string): Promise<RuntimeFile> {
    let ended: string | undefined;
    service.ended.then(
      reason => {
        ended = reason;
      },
      error => {
        ended = String(error);
      },
    );
    for (
      const started = performance.now();
      performance.now() - started < this.#limitMs;
      await delay(pollMs)
    ) {
      const file = await this.#running();
      if (file !== undefined) return file;
      if (ended !== undefined) throw new LaunchError(`the local service did not start: ${ended}`, place);
    }
    throw new LaunchError(`the local service did not start within ${this.#limitMs / 1000} s`, place);
  }

  /** Keeps one streaming request open: the service counts these, and its end shows at once that the service is gone. */
  #hold(file: RuntimeFile): Promise<void> {
    return new Promise((resolve, reject) => {
      const alive = request(`${file.url}/v1/alive`, { headers: authorization(file), agent: false });
      const release = () => {
        if (this.#held?.request !== alive) return;
        this.#held = undefined;
        if (!this.#closed) this.#options.log('the local service is no longer running');
      };
      alive.on('response', response => {
        if (response.statusCode !== 200) {
          alive.destroy(new Error(`status ${response.statusCode}`));
          return;
        }
        this.#held = { file, request: alive };
        response.socket.unref();
        response.on('close', release).resume();
        if (this.#closed) alive.destroy();
        resolve();
      });
      alive.on('error', error => {
        release();
        reject(
          new LaunchError(
            'the local service stopped while the kernel was connecting',
            this.#options.dataDir,
            error,
          ),
        );
      });
      alive.on('close', release).end();
    });
  }

  get #limitMs(): number {
    return this.#options.startLimitMs ?? 30_000;
  }
}

/** Throws LaunchError if the service cannot write any file. */
export function checkWritable(dataDir: string): void {
  const error = writeError(dataDir);
  if (error !== undefined) throw unwritable(dataDir, error);
}

/** Returns the directory for the service's files. Throws LaunchError if there is none. */
function openPlace(dataDir: string): string {
  try {
    return placeOf(dataDir).directory;
  } catch (error) {
    throw unwritable(dataDir, error);
  }
}

function unwritable(dataDir: string, cause: unknown): LaunchError {
  const { code = '' } = cause as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const hint = `Free some space on the disk of ${dataDir}, or set APL_KERNEL_DATA to a directory on another disk.`;
    return new LaunchError('the local service cannot start: its disk is full', dataDir, cause, hint);
  }
  const hint = `Make ${dataDir} writable, or set APL_KERNEL_DATA to a writable directory.`;
  return new LaunchError(
    'the local service cannot start: its data directory is not writable',
    dataDir,
    cause,
    hint,
  );
}

function unlessDirectory(error: unknown): void {
  if (!hasCode(error, 'ERR_FS_EISDIR')) throw error;
}

function authorization(file: RuntimeFile): { readonly authorization: string } {
  return { authorization: `Bearer ${file.token}` };
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
