import { stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { letGo } from '../../../files.js';
import { underEither } from '../../../signals.js';
import { LocalError } from '../../local-errors.js';
import { kindOf, kindOfSync } from '../sources/source-files.js';

/** How often names are looked at, in milliseconds; and once a pipe has one of them. */
const lookMs = 250;
const releaseMs = 20;

/** Names that are looked at in one look: of more, the next ones follow in the next. */
const namesAtOnce = 100;

/**
 * Runs work that opens files by their names, and ends it if a pipe, a socket or a device takes the place of one: whoever opens a pipe waits
 * for somebody who writes into it, deaf to every signal. Rejects with LocalError (`not-a-file`) then.
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
    // What ended early may have left somebody behind who waits.
    void lookout.look(files());
    throw lookout.found ?? error;
  } finally {
    lookout.stop();
  }
}

/** Looks at names from time to time, and lets go of whoever waits at a pipe. */
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

  /** Looks at some of the names; if pipes have them, until the work has ended and nobody waits there. */
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
    const message = `${file} was replaced by ${kind} while it was read.`;
    this.found ??= new LocalError('invalid', 'not-a-file', message, {
      hint: 'Put the file back, or give it another name, and read it again.',
    });
    this.#replaced.abort(this.found);
  }
}

/**
 * Returns what has each of these names. If every thread of this process waits at a pipe, none is left to look with: then this one looks,
 * which it does not otherwise, as a disk on a network may keep it waiting.
 */
async function kindsOf(files: readonly string[]): Promise<readonly string[]> {
  const looked = Promise.all(files.map(kindOf));
  // Its turn comes after those of the files, and the null device is on no disk.
  const turn = stat(devNull).catch(() => undefined);
  const isStuck = await Promise.race([
    Promise.race([looked, turn]).then(() => false),
    delay(lookMs, true, { ref: false }),
  ]);
  return isStuck ? files.map(kindOfSync) : looked;
}
