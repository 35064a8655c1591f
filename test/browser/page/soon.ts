import { expect } from 'vitest';

/** Compares what `read` returns again and again, for as long as a page may take on a busy machine. */
export function soon<T>(read: () => T) {
  return expect.poll(read);
}
