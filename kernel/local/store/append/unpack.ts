import { Duplex, PassThrough, pipeline, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { LocalError } from '../../local-errors.js';

/** Returns the pipeline steps that decompress a body of this content encoding. Throws LocalError (`media-type`) if it is not supported. */
export function unpackers(encoding: string): Duplex[] {
  const unpack = encodings[encoding.trim().toLowerCase()];
  if (unpack !== undefined) return unpack();
  const message = `Unsupported content encoding ${JSON.stringify(encoding)}.`;
  throw new LocalError('media-type', 'content-encoding', message, {
    hint: 'Send it uncompressed, or with gzip or zstd.',
  });
}

/** Returns a decompressed body with a count of the bytes received, which the framework compares with the announced length. */
export function unpackedBody(body: Readable, encoding: string): Readable {
  const steps = unpackers(encoding);
  if (steps.length === 0) return body;
  const end = new PassThrough();
  // The reader of `end` gets the error there.
  pipeline([copyOf(body), ...steps, end], () => {});
  const bytes = readUnpacked(end, encoding);
  const unpacked = Object.assign(Readable.from(bytes, { objectMode: false }), { receivedEncodedLength: 0 });
  body.on('data', (chunk: Buffer) => {
    unpacked.receivedEncodedLength += chunk.length;
  });
  return unpacked;
}

async function* readUnpacked(unpacked: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  try {
    yield* unpacked;
  } catch (error) {
    throw unpackingError(error, encoding);
  }
}

/** Returns a copy of a body: a pipeline destroys its source, here the connection, before the response is sent. */
export function copyOf(body: Readable): Readable {
  const copy = body.pipe(new PassThrough());
  finished(body, { writable: false }).catch(error => copy.destroy(error));
  return copy;
}

/** Returns an error for a body that does not decompress; any other error as is. */
export function unpackingError(error: unknown, encoding: string): unknown {
  return /^Z_/.test((error as NodeJS.ErrnoException).code ?? '') ? notPacked(encoding, error) : error;
}

function notPacked(encoding: string, cause: unknown): LocalError {
  const message = `The body is not valid ${encoding.trim().toLowerCase()}.`;
  return new LocalError('invalid', 'content-encoding', message, { cause });
}

/** Chunk size of decompressed data: writing a few large chunks to a file is faster. */
const packedChunkBytes = 256 * 1024;

const asItIs = (): Duplex[] => [];

const encodings: Readonly<Record<string, () => Duplex[]>> = {
  '': asItIs,
  identity: asItIs,
  // Sent by axiom-py for identity.
  '1': asItIs,
  gzip: () => [createGunzip({ chunkSize: packedChunkBytes })],
  zstd: () => [Duplex.from(unzstd)],
};

/** Decompresses Zstandard, which the oldest supported Node lacks. */
async function* unzstd(packed: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  const decoder = new Decompress(piece => {
    if (piece.length > 0) pieces.push(piece);
  });
  const push = (bytes: Uint8Array, last: boolean) => {
    try {
      decoder.push(bytes, last);
    } catch (error) {
      throw notPacked('zstd', error);
    }
    const unpacked = pieces;
    pieces = [];
    return unpacked;
  };
  for await (const chunk of packed) {
    for (let at = 0; at < chunk.length; at += sliceBytes)
      yield* push(chunk.subarray(at, at + sliceBytes), false);
  }
  yield* push(new Uint8Array(), true);
}

/** Four bytes can encode a block of 128 KiB: slices of this size yield at most 32 MiB at once before they are counted. */
const sliceBytes = 1024;
