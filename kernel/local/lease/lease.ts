import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { AplKernelError } from '../../errors.js';
import { userName } from '../../machine.js';
import { present } from '../../present.js';
import { visible } from '../../text.js';
import { type DirectoryAccess, unannounced, usualBeatMs } from './access.js';
import {
  createFile,
  type Holder,
  isGone,
  isThere,
  leaseFile,
  leasesIn,
  nobody,
  readHolder,
  rewrite,
} from './lease-file.js';
import { ownName, ownProcess, stateOf } from './processes.js';
import { clearScratch } from './scratch.js';

/**
 * One data directory has one service. The holder of its lease has written the file `lease-N.json` with the highest N, and keeps changing
 * it. The next holder creates N + 1, which only one process can do, on any file system; it then removes the drafts of its predecessors and
 * their lease files. A holder that was suspended thus finds out that it has lost the lease before it confirms any write. Times of two
 * machines are never compared: a waiting service watches the file by its own clock.
 */

/** Options for taking and renewing a lease. */
export interface LeaseOptions {
  readonly version: string;
  readonly log: (text: string) => void;
  /** Interval of renewals, in milliseconds (default: 2,000). */
  readonly beatMs?: number;
  /** Silence after which others may take the lease, in milliseconds (default: 20,000). */
  readonly takeoverMs?: number;
}

/** Another service holds the data directory. */
class InUseError extends AplKernelError {
  constructor(dataDir: string, seen: Seen) {
    const message = `the data directory ${dataDir} is in use by ${describe(dataDir, seen)}`;
    super('data-directory-held', message, { hint: inUseHint });
  }
}

const inUseHint =
  'Stop that service on its machine (`npx apl-kernel serve --stop`), or use another directory with APL_KERNEL_DATA or `serve --data`.';

/** This service no longer owns its data directory. */
class LeaseLostError extends AplKernelError {
  constructor() {
    const hint =
      'Send the request to the service that uses it now; a kernel finds or starts one with its next query.';
    super('lease-lost', 'This service no longer owns its data directory.', { hint });
  }
}

/**
 * Takes the lease of a data directory. Waits while its holder is starting, closing or silent, and throws InUseError once it proves alive.
 */
export async function takeLease(dataDir: string, options: LeaseOptions): Promise<Lease> {
  const watch = new LeaseWatch(dataDir, options);
  for (let told = false; ; ) {
    const seen = await watch.look();
    if (seen.state === 'held') throw new InUseError(dataDir, seen);
    if (seen.state === 'vacant') {
      const lease = await Lease.follow(seen.number, dataDir, options);
      if (lease !== undefined) return lease;
    } else if (!told && seen.watchedMs > quietMs) {
      told = true;
      options.log(waiting(dataDir, seen, options));
    }
    await delay(pollMs);
  }
}

/** Resolves when the lease of a data directory can be taken at once. Throws InUseError like {@link takeLease}. */
export async function awaitVacancy(dataDir: string, options: LeaseOptions): Promise<void> {
  if ((await new LeaseWatch(dataDir, options).look()).state === 'vacant') return;
  // Saves others the wait for a silent holder.
  (await takeLease(dataDir, options)).release();
}

/** Returns a sentence about the holder of a data directory, from a quick check; undefined if it seems to have none. */
export async function holderOf(dataDir: string): Promise<string | undefined> {
  if (!isThere(dataDir)) return undefined;
  const seen = await new LeaseWatch(dataDir, {}).look();
  return seen.state === 'vacant' ? undefined : describe(dataDir, seen);
}

/** The lease of a data directory, while this process holds it. */
export class Lease implements DirectoryAccess {
  readonly #dataDir: string;
  readonly #number: number;
  readonly #takeoverMs: number;
  readonly #timer: NodeJS.Timeout;
  #content: Holder;
  #renewed: ClockReading;
  #isAnnounced = () => true;
  #onEnd: (reason: string) => void = () => {};
  #lost = false;

  private constructor(dataDir: string, number: number, content: Holder, beatMs: number) {
    this.#dataDir = dataDir;
    this.#number = number;
    this.#content = content;
    this.#takeoverMs = content.takeoverMs;
    this.#renewed = now();
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  /** Creates the lease after the given number, whose lease is over, or 0 if there was none; undefined if another process was faster. */
  static async follow(
    before: number,
    dataDir: string,
    { version, log, beatMs = usualBeatMs, takeoverMs = usualTakeoverMs }: LeaseOptions,
  ): Promise<Lease | undefined> {
    const number = before + 1;
    const content: Holder = {
      ...(await ownProcess()),
      ...{ owner: await ownName(), host: hostname(), user: userName(), version },
      ...{ since: new Date().toISOString(), phase: 'starting', takeoverMs, beat: 0 },
    };
    if (!createFile(leaseFile(dataDir, number), content)) return undefined;
    const lease = new Lease(dataDir, number, content, beatMs);
    try {
      const [highest, ...earlier] = leasesIn(dataDir);
      // A process that was slow to create it may come after others.
      if (highest === number) {
        await lease.#succeed(earlier, log);
        return lease;
      }
    } catch (error) {
      lease.#abandon();
      throw error;
    }
    lease.#abandon();
    return undefined;
  }

  open(url: string, isAnnounced: () => boolean, onEnd: (reason: string) => void): void {
    this.#isAnnounced = isAnnounced;
    this.#onEnd = onEnd;
    this.#show({ phase: 'open', url });
  }

  closing(): void {
    this.#onEnd = () => {};
    this.#show({ phase: 'closing' });
  }

  release(): void {
    clearInterval(this.#timer);
    this.#onEnd = () => {};
    this.#show({ phase: 'ended' });
  }

  /** Throws LeaseLostError if the lease is known to belong to another service. */
  check(): void {
    this.#look();
    if (this.#lost) throw new LeaseLostError();
  }

  /**
   * Throws LeaseLostError unless this service holds the lease now, or the system's error if that cannot be determined. Anything on disk
   * before the call is there for the next holder too.
   */
  confirm(): void {
    const failure = this.#look();
    if (this.#lost) throw new LeaseLostError();
    if (failure !== undefined) throw failure;
  }

  /** Checks whether the lease is still valid; returns the error if that cannot be determined. */
  #look(): unknown {
    if (!this.#isFresh()) return this.#tryRenew();
    try {
      if (!this.#lost && !this.#isOwn()) this.#lose();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Returns whether the last renewal is recent enough, both by a clock that stops during sleep and by one that does not. */
  #isFresh(): boolean {
    const [before, after] = [this.#renewed, now()];
    const passedMs = Math.max(after.runMs - before.runMs, Math.abs(after.wallMs - before.wallMs));
    return passedMs < this.#takeoverMs / 2;
  }

  /** Returns whether the file exists without a successor. */
  #isOwn(): boolean {
    return (
      isThere(leaseFile(this.#dataDir, this.#number)) && !isThere(leaseFile(this.#dataDir, this.#number + 1))
    );
  }

  #beat(): void {
    if (this.#content.phase === 'open' && !this.#isAnnounced()) this.#onEnd(unannounced);
    else this.#tryRenew();
  }

  #show(change: Pick<Holder, 'phase' | 'url'>): void {
    this.#content = { ...this.#content, ...change };
    this.#tryRenew();
  }

  /** Renews the lease; returns the error on failure, after which the next attempt may succeed. */
  #tryRenew(): unknown {
    if (this.#lost) return undefined;
    const began = now();
    try {
      if (!this.#isOwn()) return this.#lose();
      this.#content = { ...this.#content, beat: this.#content.beat + 1 };
      rewrite(leaseFile(this.#dataDir, this.#number), this.#content);
      this.#renewed = began;
      return undefined;
    } catch (error) {
      return isGone(error) ? this.#lose() : error;
    }
  }

  #lose(): void {
    this.#lost = true;
    clearInterval(this.#timer);
    this.#onEnd('the data directory belongs to another service now');
  }

  /** Keeps anything of earlier holders from becoming part of a dataset from here on; writes they acknowledged are on disk. */
  async #succeed(earlier: readonly number[], log: LeaseOptions['log']): Promise<void> {
    const files = earlier.map(number => leaseFile(this.#dataDir, number));
    const before = files.map(file => readHolder(file).holder);
    const known = before.filter(each => each !== undefined);
    // The writer of an unreadable lease may own any of the drafts.
    const predecessors =
      known.length < before.length ? 'anybody' : known.filter(({ phase }) => phase !== 'ended');
    await clearScratch(this.#dataDir, predecessors);
    for (const file of files) {
      try {
        rmSync(file, { force: true, recursive: true });
      } catch (error) {
        // The lease is over whether or not its file exists; anything that another user has put there stays.
        log(`an old lease cannot be removed: ${visible(String(error))}`);
      }
    }
  }

  #abandon(): void {
    clearInterval(this.#timer);
    rmSync(leaseFile(this.#dataDir, this.#number), { force: true });
  }
}

const usualTakeoverMs = 20_000;
const pollMs = 50;

/** Timeout for an unreadable file: a live holder that can write it rewrites it with the next beat. */
const damagedTakeoverMs = 3.5 * usualBeatMs;

/** Shorter waits are not reported: a live holder has shown up by then. */
const quietMs = 2_500;

/** Maximum time for starting or closing, in milliseconds. */
const timeoutMs = 60_000;

/** Maximum wait for a lease, in milliseconds, unless its holder announced a longer interval. */
export const longestWaitMs = timeoutMs + usualTakeoverMs;

interface ClockReading {
  /** From a clock that stops during sleep. */
  readonly runMs: number;
  readonly wallMs: number;
}

function now(): ClockReading {
  return { runMs: performance.now(), wallMs: Date.now() };
}

/** Returns the silence after which a lease can be taken; `usualMs` applies to a holder that does not specify it. */
function takeoverOf(holder: Holder | undefined, usualMs: number): number {
  return holder?.takeoverMs ?? Math.min(usualMs, damagedTakeoverMs);
}

/** The state of a lease, as seen from outside. */
interface Seen {
  readonly state: 'vacant' | 'held' | 'undecided';
  /** Number of the lease; 0 if there is none. */
  readonly number: number;
  readonly holder?: Holder;
  /** How long this holder has been watched. */
  readonly watchedMs: number;
}

/** Watches the lease of a data directory from outside. */
class LeaseWatch {
  readonly #dataDir: string;
  /** Default for a holder that does not specify it. */
  readonly #takeoverMs: number;
  #last = performance.now();
  #text: string | undefined;
  #owner: string | undefined;
  #watchedMs = 0;
  #silentMs = 0;

  constructor(dataDir: string, { takeoverMs = usualTakeoverMs }: Pick<LeaseOptions, 'takeoverMs'>) {
    this.#dataDir = dataDir;
    this.#takeoverMs = takeoverMs;
  }

  async look(): Promise<Seen> {
    const [number = 0] = leasesIn(this.#dataDir);
    const { text, holder } = number === 0 ? nobody : readHolder(leaseFile(this.#dataDir, number));
    const state = await this.#judge(`${number} ${text}`, holder);
    return {
      ...{ state: number === 0 ? 'vacant' : state, number },
      watchedMs: this.#watchedMs,
      ...present({ holder }),
    };
  }

  async #judge(text: string, holder: Holder | undefined): Promise<Seen['state']> {
    const passedMs = this.#passed();
    const moved = this.#text !== undefined && this.#text !== text;
    const isNew = this.#owner !== holder?.owner;
    this.#watchedMs = isNew ? 0 : this.#watchedMs + passedMs;
    this.#silentMs = moved || isNew ? 0 : this.#silentMs + passedMs;
    this.#text = text;
    this.#owner = holder?.owner;
    if (holder?.phase === 'ended' || (holder && (await stateOf(holder)) === 'gone')) return 'vacant';
    const takeoverMs = takeoverOf(holder, this.#takeoverMs);
    if (this.#silentMs >= takeoverMs) return 'vacant';
    const lives = moved && !isNew && (holder?.phase ?? 'open') === 'open';
    return lives || this.#watchedMs >= timeoutMs + takeoverMs ? 'held' : 'undecided';
  }

  /** Returns the time since the last call, ignoring time in which this process was suspended. */
  #passed(): number {
    const last = this.#last;
    this.#last = performance.now();
    return Math.min(this.#last - last, 10 * pollMs);
  }
}

function describe(dataDir: string, { holder, number }: Seen): string {
  if (holder === undefined) return visible(`an unknown service: ${leaseFile(dataDir, number)} is damaged`);
  const { host, pid, user, since, version, url } = holder;
  const where = url === undefined ? '' : ` at ${url}`;
  return visible(
    `the local service${where} of apl-kernel ${version}: process ${pid} of ${user} on ${host}, since ${since}`,
  );
}

function waiting(dataDir: string, seen: Seen, { takeoverMs = usualTakeoverMs }: LeaseOptions): string {
  const seconds = Math.ceil(takeoverOf(seen.holder, takeoverMs) / 1_000);
  return `waiting up to ${seconds} s for the data directory ${dataDir}, last used by ${describe(dataDir, seen)}`;
}
