import type { Pool } from 'undici';

/**
 * Lets a response end while nobody reads it. The library pauses its parser when enough of a body is waiting, and asserts that it is
 * not paused when the other side closes the connection, which ends the process. Only its release for newer versions of Node drains the
 * parser first, as this does.
 */
export function endingSafely(pool: Pool): Pool {
  return pool.on('connect', (_origin, targets) => {
    const socket = memberOf(targets.at(-1), 'socket');
    const parser = memberOf(socket, 'parser');
    if (parser !== undefined) mend(Object.getPrototypeOf(parser));
  });
}

/** The members of the library's parser that matter here. */
interface Parser {
  paused: boolean;
  readonly socket: { readonly destroyed: boolean; readonly readableLength: number };
  readonly llhttp: { llhttp_resume(state: unknown): void };
  readonly ptr: unknown;
  /** Parses what has arrived until enough of the body is waiting again. */
  resume(): void;
  /** Returns the error of a response that is incomplete. */
  finish(): Error | null;
}

const mended = new WeakSet<Parser>();

/** Replaces a method of all parsers, which the library does not export. */
function mend(parsers: Parser): void {
  if (mended.has(parsers)) return;
  mended.add(parsers);
  const { finish } = parsers;
  parsers.finish = function (this: Parser) {
    const { socket } = this;
    do this.resume();
    while (this.paused && !socket.destroyed && socket.readableLength > 0);
    // The socket of a response that is complete is destroyed.
    if (this.paused && socket.destroyed) return null;
    // The end of the connection may be that of the body.
    if (this.paused) this.llhttp.llhttp_resume(this.ptr);
    this.paused = false;
    return finish.call(this);
  };
}

/** Returns the member of an object whose key is a symbol with this description. */
function memberOf(object: unknown, description: string): object | undefined {
  if (typeof object !== 'object' || object === null) return undefined;
  const key = Object.getOwnPropertySymbols(object).find(each => each.description === description);
  const value: unknown = key && Reflect.get(object, key);
  return typeof value === 'object' && value !== null ? value : undefined;
}
