import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import undici, { type Dispatcher } from 'undici';
import { present } from '../present.js';
import { formatBytes, formatCount, withoutCredentials } from '../text.js';
import { ApiError } from './api-errors.js';
import { errorCodes } from './failures/transport.js';
import { dispatcherTo, unlessAborted } from './network/network-connection.js';

/** A file that was downloaded, as it lies on this machine for the time of its import. */
export interface Downloaded {
  readonly path: string;
  /** Its address without what may be secret there, as it is shown. */
  readonly address: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface DownloadOptions {
  readonly signal?: AbortSignal;
  /** What connects, if not what the environment says. */
  readonly dispatcher?: Dispatcher;
  /** The size of a file at most (default: 2 GB). */
  readonly mostBytes?: number;
}

/** A file cannot be downloaded. */
class DownloadError extends ApiError {}

/** Returns the address that a file is named by; undefined for a path. Throws ApiError for one that is never downloaded. */
export function addressOf(written: string): URL | undefined {
  if (!/^https?:[\\/]{2}/i.test(written)) return undefined;
  const shown = withoutCredentials(written);
  if (!URL.canParse(written)) throw refusal(`${shown} is not an address`, 'Check it.');
  const address = new URL(written);
  if (address.protocol !== 'https:')
    throw refusal(`${shown} is not downloaded: anyone on the network could change it`, 'Use https.');
  if (address.username !== '' || address.password !== '')
    throw refusal(`${shown} is not downloaded with a user or a password in its address`, byHand);
  return address;
}

const byHand = 'Download it yourself, as in `curl -LO ADDRESS`, and import the file.';

/**
 * Downloads a file into a directory of its own for the time of `use`. It follows addresses of the same host only. Throws ApiError for
 * what is too large, is cut off, or is a page in place of a file.
 */
export async function withDownload<Result>(
  address: URL,
  use: (file: Downloaded) => Promise<Result>,
  options: DownloadOptions = {},
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-kernel-'));
  try {
    return await use(await download(address, directory, options));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function download(address: URL, directory: string, options: DownloadOptions): Promise<Downloaded> {
  const shown = withoutCredentials(address.href);
  const mostBytes = options.mostBytes ?? usualBytes;
  const dispatcher = options.dispatcher ?? dispatcherTo(address);
  try {
    const { headers, body } = await answerOf(address, dispatcher, options.signal);
    // It may fail before anybody reads it.
    body.on('error', () => undefined);
    const encoding = headerOf(headers, 'content-encoding');
    if (/^text\/html\b/i.test(headerOf(headers, 'content-type')) && !/\.html?$/i.test(address.pathname))
      throw refusal(`${shown} is a web page, not a file`, byHand);
    if (Number(headerOf(headers, 'content-length')) > mostBytes) throw tooLarge(shown, mostBytes);
    const path = join(directory, nameOf(address, encoding));
    const hash = createHash('sha256');
    let bytes = 0;
    const count = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        hash.update(chunk);
        if (bytes > mostBytes) done(tooLarge(shown, mostBytes));
        else done(null, chunk);
      },
    });
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    const steps = [body, ...decoders(shown, encoding), count, file];
    await pipeline(steps, present({ signal: options.signal })).catch(cause => {
      if (cause instanceof ApiError || options.signal?.aborted) throw cause;
      throw refusal(
        `${shown} was cut off after ${plainBytes(bytes)}: nothing is imported`,
        'Try again, or download it yourself, as in `curl -LO -C - ADDRESS`.',
        cause,
      );
    });
    return { path, address: shown, bytes, sha256: hash.digest('hex') };
  } finally {
    if (options.dispatcher === undefined) await dispatcher.destroy();
  }
}

const usualBytes = 2_000_000_000;

/** Between two parts of an answer. */
const silenceMs = 60_000;

const mostRedirects = 5;

/** Returns the answer that has the file. */
async function answerOf(
  address: URL,
  dispatcher: Dispatcher,
  signal: AbortSignal | undefined,
): Promise<{ headers: Dispatcher.ResponseData['headers']; body: Readable }> {
  let at = address;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const shown = withoutCredentials(at.href);
    const asked = undici.request(at, {
      dispatcher,
      headers: { 'accept-encoding': 'identity' },
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      ...present({ signal }),
    });
    const answer = await unlessAborted(signal, asked).catch(cause => {
      if (signal?.aborted || cause instanceof ApiError) throw cause;
      const why = errorCodes(cause).join(', ') || 'no HTTP';
      throw refusal(`${shown} cannot be downloaded (${why})`, 'Check the address and the network.', cause);
    });
    if (answer.statusCode === 200) return answer;
    answer.body.on('error', () => undefined).destroy();
    const location = [answer.headers.location ?? ''].flat()[0] ?? '';
    if (answer.statusCode < 300 || answer.statusCode > 399 || !URL.canParse(location, at.href))
      throw refusal(`${shown} answers with status ${answer.statusCode}`, 'Check the address.');
    at = new URL(location, at);
    if (at.origin !== address.origin)
      throw refusal(
        `${withoutCredentials(address.href)} redirects to another host, ${at.host}, which is not followed`,
        `Import ${withoutCredentials(at.href)} itself if you trust it.`,
      );
  }
  throw refusal(`${withoutCredentials(address.href)} redirects too many times`, byHand);
}

const unpackers = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;

/** Returns what undoes the encoding of an answer, which some servers use though nobody asks them to. */
function decoders(shown: string, encoding: string): readonly Transform[] {
  if (encoding === '' || encoding === 'identity') return [];
  const unpacker = Object.entries(unpackers).find(([name]) => name === encoding)?.[1];
  if (unpacker !== undefined) return [unpacker()];
  throw refusal(`${shown} has an encoding that is not supported, ${encoding.slice(0, 20)}`, byHand);
}

/** The name in the address; a server that says a `.gz` is an encoding has it unpacked. */
function nameOf({ pathname }: URL, encoding: string): string {
  const last = pathname.split('/').at(-1) ?? '';
  const name = last
    .replace(/%[\da-f]{2}|[^\w.-]/gi, '_')
    .replace(/^[._-]+/, '')
    .slice(-100);
  const plain = encoding === 'gzip' ? name.replace(/\.gz$/i, '') : name;
  return plain === '' ? 'download' : plain;
}

function headerOf(headers: Dispatcher.ResponseData['headers'], name: string): string {
  return [headers[name] ?? ''].flat().join(', ').trim().toLowerCase();
}

function plainBytes(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${formatCount(bytes)} bytes`;
}

/** Says which bytes were imported. */
export function downloadNote({ address, bytes, sha256 }: Downloaded): string {
  return `Downloaded from ${address}: ${plainBytes(bytes)}, SHA-256 ${sha256}.`;
}

function tooLarge(shown: string, mostBytes: number): DownloadError {
  return refusal(`${shown} has more than ${formatBytes(mostBytes)}, the most that is downloaded`, byHand);
}

function refusal(message: string, hint: string, cause?: unknown): DownloadError {
  return new DownloadError(message, { code: 'download', hint, ...present({ cause }) });
}
