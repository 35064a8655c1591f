import { setImmediate as nextTurn } from 'node:timers/promises';

/** Long work in small steps: it pauses at each yield, until the yielded promise resolves, and returns its result at the end. */
export type Steps<T> = Generator<Promise<void> | undefined, T>;

/** Maximum delay for other work, in milliseconds: completion and interrupts take a few turns of the event loop. */
const sliceMs = 5;

/** Does the work in slices, and other pending work in between; throws the reason of an aborted signal. */
export async function inSlices<T>(work: Steps<T>, signal?: AbortSignal): Promise<T> {
  while (true) {
    signal?.throwIfAborted();
    const until = performance.now() + sliceMs;
    let step = work.next();
    while (!step.done && step.value === undefined && performance.now() < until) step = work.next();
    if (step.done) return step.value;
    await (step.value ?? nextTurn());
  }
}

/** Does the work synchronously, if it never waits. */
export function atOnce<T>(work: Steps<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}
