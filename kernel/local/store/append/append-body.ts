import { type FileHandle, open } from 'node:fs/promises';
import { Duplex, type Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { present } from '../../../present.js';
import { bodyTooLarge } from '../../local-errors.js';
import type { Inspector } from '../bounds/bounded-text.js';
import { Halves } from './halves.js';
import { copyOf, unpackers, unpackingError } from './unpack.js';

/** An incoming request body. */
export interface IncomingBody {
  readonly body: Readable;
  readonly contentEncoding: string;
  /** Maximum body size, in bytes after decompression. */
  readonly maxBytes: number;
  /** First line to put before the body, which lacks it. */
  readonly heading?: string;
  /** Whether the body is JSON, which may contain unpaired surrogates. */
  readonly json?: boolean;
}

/** A fully read body: in memory if small, otherwise in the file. */
export interface TakenBody {
  /** Size in bytes after decompression. */
  readonly bytes: number;
  readonly small?: Buffer;
}

/** Reads a whole body into memory or, if it is large, into `file`, passing each chunk to `inspector`. Throws LocalError. */
export async function takeBody(
  request: IncomingBody,
  file: string,
  inspector: Inspector | undefined,
): Promise<TakenBody> {
  const { body, maxBytes, contentEncoding, heading, json = false } = request;
  const sink = new BodySink(file, maxBytes, inspector);
  const halves = new Halves();
  try {
    const changes = [...(json ? [halves] : []), ...(heading === undefined ? [] : [below(heading)])];
    await pipeline([copyOf(body), ...unpackers(contentEncoding), ...changes, sink]);
    const bytes = sink.bytes + halves.saved - Buffer.byteLength(heading ?? '');
    return { bytes, ...present({ small: sink.small }) };
  } catch (error) {
    await forget(body);
    throw unpackingError(error, contentEncoding);
  }
}

/** Returns a stream that prepends a line to a text and strips its byte order mark. */
function below(heading: string): Duplex {
  return Duplex.from(async function* (text: AsyncIterable<Buffer>) {
    yield Buffer.from(heading);
    let start: Buffer | undefined = Buffer.alloc(0);
    for await (const chunk of text) {
      start = start && Buffer.concat([start, chunk]);
      if (start === undefined) yield chunk;
      else if (start.length >= byteOrderMark.length) {
        yield withoutMark(start);
        start = undefined;
      }
    }
    if (start !== undefined) yield start;
  });
}

const byteOrderMark = Buffer.from('\ufeff');

function withoutMark(text: Buffer): Buffer {
  return text.indexOf(byteOrderMark) === 0 ? text.subarray(byteOrderMark.length) : text;
}

/** Drains a refused body: many clients read the response only after sending everything, and some never read it otherwise. */
async function forget(body: Readable): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  await finished(body.unpipe().resume(), { writable: false, signal, cleanup: true }).catch(() => undefined);
}

/** Timeout for draining a refused body; after that, the response is sent while the rest still arrives. */
const timeoutMs = 10_000;

/** Limit for parsing in one go, which blocks other requests. */
const smallBytes = 256 * 1024;

/** Buffer size of writes: while long queries run, each write waits for a CPU, and a few large ones are ten times as fast. */
const writtenBytes = 2 ** 20;

/** Keeps a small body in memory and writes a larger one to a file. */
class BodySink extends Writable {
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #inspector: Inspector | undefined;
  #chunks: Buffer[] = [];
  /** Bytes in `#chunks`, not written to the file yet. */
  #pending = 0;
  #bytes = 0;
  #handle: FileHandle | undefined;

  constructor(file: string, maxBytes: number, inspector: Inspector | undefined) {
    super();
    this.#file = file;
    this.#maxBytes = maxBytes;
    this.#inspector = inspector;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The whole body, unless it was too large. */
  get small(): Buffer | undefined {
    return this.#bytes > smallBytes ? undefined : Buffer.concat(this.#chunks);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    try {
      this.#count(chunk);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (this.#bytes <= smallBytes || this.#pending < writtenBytes) done();
    else this.#save().then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    try {
      this.#inspector?.end();
    } catch (error) {
      done(error as Error);
      return;
    }
    this.#finish().then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const closed = this.#handle?.close() ?? Promise.resolve();
    closed.then(() => done(error), done);
  }

  #count(chunk: Buffer): void {
    this.#inspector?.take(chunk);
    this.#bytes += chunk.length;
    this.#pending += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes > this.#maxBytes)
      throw bodyTooLarge(this.#maxBytes, 'Split it into smaller requests, or import it as a file.');
  }

  async #finish(): Promise<void> {
    if (this.#bytes > smallBytes) await this.#save();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #save(): Promise<void> {
    this.#handle ??= await open(this.#file, 'w', 0o600);
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#pending = 0;
    await this.#handle.writeFile(bytes);
  }
}
