import { expect } from 'vitest';

/** Polls `read` until the assertion holds, for as long as a page may take on a busy machine. */
export function soon<T>(read: () => T) {
  return expect.poll(read);
}
