/** Response bodies: read whole, or forwarded as they arrive. */
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { AplKernelError } from '../errors.js';
import {
  bodyError,
  headerText,
  tooLargeError,
  trailingError,
  truncatedError,
  unexpectedBody,
} from './failures/api-failure.js';
import type { Attempt } from './failures/transport.js';
import { type AnswerOptions, arrowType } from './wire.js';

/** A decompressed body; undefined if it exceeds the limit, empty if it was forwarded. */
export interface ReadBody {
  readonly body: Uint8Array | undefined;
  readonly passedOn?: true;
}

/** Options for reading a body. */
export interface BodyRule {
  readonly attempt: Attempt;
  readonly maxBytes: number;
  /** Whether to truncate the body: the beginning of an error response is enough. */
  readonly cut: boolean;
  /** Receives a long JSON body of a successful response. */
  readonly receive?: NonNullable<AnswerOptions['receive']>;
}

const MiB = 1024 * 1024;

/** Maximum bytes of a body to copy before yielding to other work. */
const PIECE_BYTES = 8 * MiB;

/** Bodies longer than this are forwarded; a shorter successful response may still contain an error. */
export const SHORT_BYTES = 64 * 1024;

/** Discards an unread body, ignoring its errors. */
export function abandon(body: Readable): void {
  body.on('error', () => undefined).destroy();
}

/** Reads a body up to its limit. Throws an ApiError for a damaged body, or what `receive` throws. */
export async function readBody(
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  rule: BodyRule,
  signal: AbortSignal,
): Promise<ReadBody> {
  const { attempt, maxBytes, cut } = rule;
  const announced = Number(headerText(headers, 'content-length') ?? 0);
  if (announced > maxBytes && !cut) {
    abandon(body);
    return { body: undefined };
  }
  const isJson = !headerText(headers, 'content-type')?.startsWith(arrowType);
  const receive = cut || !isJson ? undefined : rule.receive;
  const isPacked = /gzip/i.test(headerText(headers, 'content-encoding') ?? '');
  const arrived = new Arrived(maxBytes, isPacked || cut || receive ? 0 : announced);
  const read = async (source: AsyncIterable<Uint8Array>) => {
    const chunks = source[Symbol.asyncIterator]();
    try {
      const isWhole = await arrived.collect(chunks, receive ? SHORT_BYTES : maxBytes);
      if (isWhole || arrived.overflowed || receive === undefined) return false;
      await passOn(await arrived.join(signal), chunks, { ...rule, receive }, signal);
      return true;
    } finally {
      await chunks.return?.();
    }
  };
  try {
    const passedOn = isPacked ? await unpacked(body, read) : await read(body);
    if (passedOn) return { body: new Uint8Array(), passedOn: true };
  } catch (error) {
    if (error instanceof AplKernelError) throw error;
    // Each kind of stream reports an early stop differently.
    if (!arrived.overflowed) throw bodyError(attempt, error);
  }
  if (arrived.overflowed && !cut) return { body: undefined };
  return { body: await arrived.join(signal) };
}

async function unpacked(
  body: Readable,
  read: (source: AsyncIterable<Uint8Array>) => Promise<boolean>,
): Promise<boolean> {
  const { pipeline } = await import('node:stream/promises');
  return pipeline(body, createGunzip(), read);
}

/** Forwards what has arrived and what follows. If it cannot be parsed, checks whether the body was truncated. */
async function passOn(
  first: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  { attempt, maxBytes, receive }: BodyRule & Required<Pick<BodyRule, 'receive'>>,
  signal: AbortSignal,
): Promise<void> {
  const { start } = edgesOf(first);
  // White space keeps the connection alive until there is a response.
  if (start !== '' && !start.startsWith('{')) throw unexpectedBody(attempt, start);
  let length = first.length;
  let end = first.subarray(-EDGE_BYTES);
  async function* others(): AsyncGenerator<Uint8Array> {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      length += next.value.length;
      if (length > maxBytes) throw tooLargeError(attempt, maxBytes);
      end = Buffer.concat([end, next.value.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
      yield next.value;
    }
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* others();
  }
  try {
    await receive(all());
  } catch (error) {
    if (!(error instanceof AplKernelError) || length > maxBytes) throw error;
    signal.throwIfAborted();
    for await (const _ of others());
    if (!textOf(end).endsWith('}')) throw truncatedError(attempt, error);
    throw error;
  }
}

/** Bytes to inspect at each end of a body. */
const EDGE_BYTES = 512;

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim();
}

/** Checks only the two ends: the decoder reads the middle, and a body truncated by a proxy should be reported as such. */
export function checkJsonEnds(body: Uint8Array, attempt: Attempt): void {
  const { start, end } = edgesOf(body);
  if (!start.startsWith('{')) throw unexpectedBody(attempt, start);
  if (end.endsWith('}')) return;
  throw body.length <= SHORT_BYTES && hasJsonAhead(textOf(body))
    ? trailingError(attempt)
    : truncatedError(attempt);
}

/** Returns the first and last bytes of a body, without the white space around it. */
function edgesOf(body: Uint8Array): { readonly start: string; readonly end: string } {
  let from = 0;
  while (isSpace(body[from])) from++;
  let to = body.length;
  while (to > from && isSpace(body[to - 1])) to--;
  const end = body.subarray(Math.max(from, to - EDGE_BYTES), to);
  return { start: textOf(body.subarray(from, from + EDGE_BYTES)), end: textOf(end) };
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns whether a text is JSON up to its last brace. */
function hasJsonAhead(text: string): boolean {
  try {
    JSON.parse(text.slice(0, text.lastIndexOf('}') + 1));
    return true;
  } catch {
    return false;
  }
}

/** The bytes received so far, up to a limit, in a few chunks: a growing buffer would copy all of them at once. */
class Arrived {
  readonly #maxBytes: number;
  readonly #full: Buffer[] = [];
  #last: Buffer;
  /** Bytes used in the last chunk. */
  #used = 0;
  #length = 0;

  constructor(maxBytes: number, expectedBytes: number) {
    this.#maxBytes = maxBytes;
    this.#last = Buffer.allocUnsafeSlow(expectedBytes || 64 * 1024);
  }

  get overflowed(): boolean {
    return this.#length > this.#maxBytes;
  }

  /** Reads until there are more than `enough` bytes; returns whether the body ended before that. */
  async collect(chunks: AsyncIterator<Uint8Array>, enough: number): Promise<boolean> {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      this.#length += next.value.length;
      if (this.overflowed) return false;
      this.#add(next.value);
      if (this.#length > enough) return false;
    }
    return true;
  }

  /** Joins the chunks into one buffer, yielding to other work between them. */
  async join(signal: AbortSignal): Promise<Uint8Array> {
    const last = this.#last.subarray(0, this.#used);
    if (this.#full.length === 0) return last;
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const piece of [...this.#full, last]) {
      whole.set(piece, at);
      at += piece.length;
      await nextTurn();
      signal.throwIfAborted();
    }
    return whole;
  }

  #add(chunk: Uint8Array): void {
    const fitting = chunk.subarray(0, this.#last.length - this.#used);
    this.#last.set(fitting, this.#used);
    this.#used += fitting.length;
    if (fitting.length === chunk.length) return;
    this.#full.push(this.#last);
    this.#last = Buffer.allocUnsafeSlow(Math.min(this.#last.length * 2, PIECE_BYTES));
    this.#used = 0;
    this.#add(chunk.subarray(fitting.length));
  }
}
