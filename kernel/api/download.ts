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

/** A downloaded file, which exists until the end of its import. */
export interface Downloaded {
  readonly path: string;
  /** Its address for display, without credentials. */
  readonly address: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface DownloadOptions {
  readonly signal?: AbortSignal;
  /** The connection to use (default: per the environment). */
  readonly dispatcher?: Dispatcher;
  /** Maximum size of a file (default: 2 GB). */
  readonly mostBytes?: number;
}

/** A file could not be downloaded. */
class DownloadError extends ApiError {}

/** Returns the URL of a file that is named by one; undefined for a path. Throws ApiError for an address that is not allowed. */
export function addressOf(written: string): URL | undefined {
  if (!/^https?:[\\/]{2}/i.test(written)) return undefined;
  const shown = withoutCredentials(written);
  if (!URL.canParse(written)) throw refusal(`${shown} is not a URL`, 'Check it.');
  const address = new URL(written);
  if (address.protocol !== 'https:')
    throw refusal(`${shown} is not downloaded because HTTP is not secure`, 'Use https.');
  if (address.username !== '' || address.password !== '')
    throw refusal(`${shown} is not downloaded because its URL contains a user or a password`, byHand);
  return address;
}

const byHand = 'Download it yourself, as in `curl -LO ADDRESS`, and import the file.';

/**
 * Downloads a file into a temporary directory that exists while `use` runs. Follows redirects only within the same origin. Throws
 * ApiError if the file is too large or truncated, or if a web page arrives instead.
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
    // It may fail before anyone reads it.
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
        `${shown} was cut off after ${plainBytes(bytes)}: nothing was imported`,
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

/** Timeout between two chunks of a response. */
const silenceMs = 60_000;

const mostRedirects = 5;

/** Returns the response with the file. */
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
      throw refusal(`${shown} responded with status ${answer.statusCode}`, 'Check the address.');
    at = new URL(location, at);
    if (at.origin !== address.origin)
      throw refusal(
        `${withoutCredentials(address.href)} redirects to another host, ${at.host}`,
        `Import ${withoutCredentials(at.href)} itself if you trust it.`,
      );
  }
  throw refusal(`${withoutCredentials(address.href)} redirects too many times`, byHand);
}

const unpackers = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const;

/** Returns decoders for the content encoding, which some servers use without being asked. */
function decoders(shown: string, encoding: string): readonly Transform[] {
  if (encoding === '' || encoding === 'identity') return [];
  const unpacker = Object.entries(unpackers).find(([name]) => name === encoding)?.[1];
  if (unpacker !== undefined) return [unpacker()];
  throw refusal(`${shown} has an unsupported encoding, ${encoding.slice(0, 20)}`, byHand);
}

/** Returns the file name in the address, without `.gz` if the server declares that as an encoding. */
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

/** Describes the imported bytes. */
export function downloadNote({ address, bytes, sha256 }: Downloaded): string {
  return `Downloaded from ${address}: ${plainBytes(bytes)}, SHA-256 ${sha256}.`;
}

function tooLarge(shown: string, mostBytes: number): DownloadError {
  return refusal(`${shown} is larger than ${formatBytes(mostBytes)}, the maximum download size`, byHand);
}

function refusal(message: string, hint: string, cause?: unknown): DownloadError {
  return new DownloadError(message, { code: 'download', hint, ...present({ cause }) });
}
