import { fork } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../process.mjs';

/** @typedef {'noticed' | 'by types' | 'survived' | 'time limit'} Outcome */

/** A process that runs tests of the copy. If it does not respond in time it is killed, and the next run starts another. */
export class Runner {
  #copy;
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child;
  /** @type {string[]} */
  #changed = [];

  constructor(/** @type {string} */ copy) {
    this.#copy = copy;
  }

  /** Records a file for the next run to read again. */
  changed(/** @type {string} */ path) {
    this.#changed.push(path);
  }

  /**
   * @param {readonly string[]} changed files since the previous run
   * @param {readonly string[]} tests
   * @param {number} limitMs none: no limit
   * @returns {Promise<Outcome>}
   */
  async run(changed, tests, limitMs = 0) {
    this.#child ??= await this.#started();
    const child = this.#child;
    child.send({ changed: [...this.#changed.splice(0), ...changed], tests });
    return new Promise(settle => {
      const timer = limitMs > 0 ? setTimeout(() => this.end(), limitMs) : undefined;
      const done = (/** @type {Outcome} */ outcome) => {
        clearTimeout(timer);
        child.off('message', answered).off('close', closed);
        settle(outcome);
      };
      const answered = (/** @type {{ passed: boolean }} */ { passed }) =>
        done(passed ? 'survived' : 'noticed');
      const closed = (/** @type {number | null} */ _, /** @type {string | null} */ signal) => {
        this.#child = undefined;
        done(signal === 'SIGKILL' ? 'time limit' : 'noticed');
      };
      child.on('message', answered).on('close', closed);
    });
  }

  end() {
    if (this.#child?.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
  }

  /** @returns {Promise<import('node:child_process').ChildProcess>} */
  #started() {
    const child = fork(join(root, 'scripts', 'mutate', 'tests.mjs'), {
      cwd: this.#copy,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    return new Promise(settle => child.once('message', () => settle(child)));
  }
}
