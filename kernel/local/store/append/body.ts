import { type FileHandle, open } from 'node:fs/promises';
import { type Readable, type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { present } from '../../../present.js';
import { bodyTooLarge, ServiceError } from '../../http/service-error.js';

/** A request body as it arrives. */
export interface IncomingBody {
  readonly body: Readable;
  readonly contentEncoding: string;
  /** The largest body that is taken, in bytes after unpacking. */
  readonly maxBytes: number;
}

/** A body that has been read to its end: in memory where it is small, else in the file. */
export interface TakenBody {
  /** The size after unpacking. */
  readonly bytes: number;
  readonly small?: Buffer;
}

/** Reads a body to its end, into memory or, where it is large, into `file`; throws ServiceError. */
export async function takeBody(request: IncomingBody, file: string): Promise<TakenBody> {
  const sink = new BodySink(file, request.maxBytes);
  try {
    await pipeline([request.body, ...unpackers(request.contentEncoding), sink]);
    return { bytes: sink.bytes, ...present({ small: sink.small }) };
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new ServiceError(400, 'gzip', 'The body is not valid gzip.', { cause: error });
  }
}

/** Parsing a larger body in one go would hold up other requests. */
const smallBytes = 256 * 1024;

function unpackers(encoding: string): Transform[] {
  switch (encoding.toLowerCase()) {
    case '':
    case 'identity':
      return [];
    case 'gzip':
      return [createGunzip()];
    default:
      throw new ServiceError(
        415,
        'content-encoding',
        `The content encoding ${JSON.stringify(encoding)} is not supported.`,
        {
          hint: 'Send it as it is or with gzip.',
        },
      );
  }
}

/** Keeps a small body in memory, and writes a larger one to a file. */
class BodySink extends Writable {
  readonly #file: string;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #handle: FileHandle | undefined;

  constructor(file: string, maxBytes: number) {
    super();
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The whole body, unless it was too large. */
  get small(): Buffer | undefined {
    return this.#bytes > smallBytes ? undefined : Buffer.concat(this.#chunks);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes > this.#maxBytes)
      done(bodyTooLarge(this.#maxBytes, 'Send it in parts, or import it as a file.'));
    else if (this.#bytes <= smallBytes) done();
    else this.#save().then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    const closed = this.#handle?.close() ?? Promise.resolve();
    this.#handle = undefined;
    closed.then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const closed = this.#handle?.close() ?? Promise.resolve();
    closed.then(() => done(error), done);
  }

  async #save(): Promise<void> {
    this.#handle ??= await open(this.#file, 'w', 0o600);
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    await this.#handle.writeFile(bytes);
  }
}
