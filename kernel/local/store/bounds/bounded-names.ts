import { stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { letGo } from '../../../files.js';
import { underEither } from '../../../signals.js';
import { LocalError } from '../../local-errors.js';
import { kindOf, kindOfSync } from '../sources/source-files.js';

/** Intervals for checking file names, and for checking again once one is a pipe, in milliseconds. */
const lookMs = 250;
const releaseMs = 20;

/** Number of names per check; the next check continues with the following ones. */
const namesAtOnce = 100;

/**
 * Runs work that opens files by name, and aborts it if one is replaced by a pipe, socket or device: opening a pipe blocks until someone
 * writes to it, regardless of signals. Rejects with LocalError (`not-a-file`) in that case.
 */
export async function whileFiles<T>(
  files: () => readonly string[],
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lookout = new Lookout(files);
  const signals = signal === undefined ? [] : [signal];
  try {
    return await underEither([...signals, lookout.signal], work);
  } catch (error) {
    // Aborted work may have left a thread blocked on a pipe.
    void lookout.look(files());
    throw lookout.found ?? error;
  } finally {
    lookout.stop();
  }
}

/** Checks names periodically, and releases whoever blocks on a pipe. */
class Lookout {
  found: LocalError | undefined;
  readonly #files: () => readonly string[];
  readonly #replaced = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #stopped = false;

  constructor(files: () => readonly string[]) {
    this.#files = files;
    this.#wait();
  }

  get signal(): AbortSignal {
    return this.#replaced.signal;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      const files = this.#files();
      if (this.#next >= files.length) this.#next = 0;
      const some = files.slice(this.#next, this.#next + namesAtOnce);
      this.#next += namesAtOnce;
      void this.look(some).then(() => this.#stopped || this.#wait());
    }, lookMs);
    this.#timer.unref();
  }

  /** Checks some of the names; with pipes among them, until the work has ended and nothing blocks on them. */
  async look(files: readonly string[]): Promise<void> {
    const pipes: string[] = [];
    for (const [index, kind] of (await kindsOf(files)).entries()) {
      const file = files[index] ?? '';
      if (kind === 'a named pipe') pipes.push(file);
      if (kind === 'a named pipe' || kind === 'a socket' || kind === 'a device') this.#end(file, kind);
    }
    for (;;) {
      const waiting = pipes.filter(letGo);
      if (pipes.length === 0 || (this.#stopped && waiting.length === 0)) return;
      await delay(releaseMs, undefined, { ref: false });
    }
  }

  #end(file: string, kind: string): void {
    const message = `${file} was replaced by ${kind} while it was being read.`;
    this.found ??= new LocalError('invalid', 'not-a-file', message, {
      hint: 'Restore the file or rename it, then try again.',
    });
    this.#replaced.abort(this.found);
  }
}

/**
 * Returns the kind of each file. If all threads of this process are blocked on pipes, checks synchronously, which is otherwise avoided
 * because a network disk may block.
 */
async function kindsOf(files: readonly string[]): Promise<readonly string[]> {
  const looked = Promise.all(files.map(kindOf));
  // Runs after the stats of the files, and the null device is on no disk.
  const turn = stat(devNull).catch(() => undefined);
  const isStuck = await Promise.race([
    Promise.race([looked, turn]).then(() => false),
    delay(lookMs, true, { ref: false }),
  ]);
  return isStuck ? files.map(kindOfSync) : looked;
}
