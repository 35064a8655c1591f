import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { AplKernelError } from '../../errors.js';
import { anySize, bytesOf, decoded, removeFile } from '../../files.js';
import { systemRefusal } from '../../machine.js';
import { parseTime } from '../../time.js';

/** A recording cannot be read, is damaged, or lacks a requested response. */
export class RecordingError extends AplKernelError {}

/** Facts stored with the bytes of a response. */
export interface AnswerFacts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Time that the service took, in milliseconds. */
  readonly elapsedMs: number;
  /** Hash of the state of its datasets; absent if the service does not report it. */
  readonly version?: string;
}

/** A response with its body. */
export interface RecordedAnswer extends AnswerFacts {
  readonly body: Uint8Array;
}

/** Maximum bytes of a recording's responses on disk. */
const MAX_RECORDING_BYTES = 256 * 1024 * 1024;

/** The file that marks a directory as a recording and has its start time. */
const ABOUT_FILE = 'recording.json';
const ANSWER_FILE = /^[0-9a-f]{64}\.answer$/;

/** The recorded responses in a directory: one file each, named by the hash of the request. Ignores other files. */
export class AnswerStore {
  readonly directory: string;
  /** Nanoseconds since 1970; relative times count from here in every run. */
  readonly begunAt: bigint;
  readonly #maxBytes: number;
  /** Bytes by file name. */
  readonly #files: Map<string, number>;

  private constructor(directory: string, begunAt: bigint, files: Map<string, number>, maxBytes: number) {
    this.directory = directory;
    this.begunAt = begunAt;
    this.#files = files;
    this.#maxBytes = maxBytes;
  }

  /** Opens the recording in a directory; returns undefined if there is none. Throws RecordingError. */
  static async open(directory: string, maxBytes = MAX_RECORDING_BYTES): Promise<AnswerStore | undefined> {
    const bytes = await contentOf(join(directory, ABOUT_FILE));
    if (bytes === undefined) return undefined;
    const begunAt = begunAtOf(decoded(bytes));
    if (begunAt === undefined) throw damaged(join(directory, ABOUT_FILE));
    const names = (await readdir(directory)).filter(name => ANSWER_FILE.test(name));
    const sizes = await Promise.all(
      names.map(async name => [name, (await lstat(join(directory, name))).size] as const),
    );
    return new AnswerStore(directory, begunAt, new Map(sizes), maxBytes);
  }

  /** Starts a recording as of a time; deletes the responses of an earlier one in the directory. Throws RecordingError. */
  static async begin(
    directory: string,
    begunAt: { readonly nanos: bigint; readonly text: string },
    maxBytes = MAX_RECORDING_BYTES,
  ): Promise<AnswerStore> {
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      for (const name of await readdir(directory))
        if (ANSWER_FILE.test(name)) await removeFile(join(directory, name));
      await replace(join(directory, ABOUT_FILE), aboutText(begunAt.text));
    } catch (error) {
      throw unwritable(directory, error);
    }
    return new AnswerStore(directory, begunAt.nanos, new Map(), maxBytes);
  }

  get answers(): number {
    return this.#files.size;
  }

  get bytes(): number {
    return [...this.#files.values()].reduce((sum, size) => sum + size, 0);
  }

  get maxBytes(): number {
    return this.#maxBytes;
  }

  /** Returns the response for a key; undefined if there is none. Throws RecordingError if it was modified on disk. */
  async read(key: string): Promise<RecordedAnswer | undefined> {
    const file = join(this.directory, `${key}.answer`);
    const bytes = await contentOf(file);
    if (bytes === undefined) return undefined;
    const end = bytes.indexOf('\n');
    const sum = bytes.subarray(0, end).toString('latin1');
    const rest = bytes.subarray(end + 1);
    if (end < 0 || sum !== sumOf(key, rest)) throw damaged(file);
    const split = rest.indexOf('\n');
    const facts = JSON.parse(rest.subarray(0, split).toString('utf8')) as AnswerFacts;
    return { ...facts, body: await promisify(gunzip)(rest.subarray(split + 1)) };
  }

  /** Writes a response; returns false if the recording would exceed its limit. Throws RecordingError. */
  async write(key: string, { body, ...facts }: RecordedAnswer): Promise<boolean> {
    const name = `${key}.answer`;
    const packed = await promisify(gzip)(body);
    const rest = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), packed]);
    const bytes = Buffer.concat([Buffer.from(`${sumOf(key, rest)}\n`), rest]);
    if (this.bytes - (this.#files.get(name) ?? 0) + bytes.length > this.#maxBytes) return false;
    try {
      await replace(join(this.directory, name), bytes);
    } catch (error) {
      throw unwritable(this.directory, error);
    }
    this.#files.set(name, bytes.length);
    return true;
  }
}

/** Returns a file's content, undefined if there is none; a dangling link counts as unreadable. */
async function contentOf(file: string): Promise<Buffer | undefined> {
  try {
    return await bytesOf(file, anySize);
  } catch (error) {
    if ((await lstat(file).catch(() => undefined)) === undefined) return undefined;
    throw unreadable(file, error);
  }
}

/** Includes the key in the hash: a response in the wrong file counts as damaged. */
function sumOf(key: string, bytes: Uint8Array): string {
  return createHash('sha256').update(key).update(bytes).digest('hex');
}

async function replace(file: string, content: string | Uint8Array): Promise<void> {
  const beside = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    await writeFile(beside, content, { mode: 0o600 });
    await chmod(beside, 0o600);
    await rename(beside, file);
  } catch (error) {
    await rm(beside).catch(() => undefined);
    throw error;
  }
}

function aboutText(begunAt: string): string {
  return `${JSON.stringify({ format: 1, moment: begunAt, sum: sumOf('moment', Buffer.from(begunAt)) })}\n`;
}

/** Recordings of earlier versions have no checksum. */
function begunAtOf(text: string): bigint | undefined {
  try {
    const about: unknown = JSON.parse(text);
    const { format, moment, sum } = about as Readonly<Record<string, unknown>>;
    if (format !== 1 || typeof moment !== 'string') return undefined;
    return sum === undefined || sum === sumOf('moment', Buffer.from(moment)) ? parseTime(moment) : undefined;
  } catch {
    return undefined;
  }
}

function damaged(file: string): RecordingError {
  return new RecordingError('recording-damaged', `the recorded response ${file} is damaged`, {
    hint: 'Its content has changed. Restore it from version control, or record again with `%cache record`.',
  });
}

function unreadable(file: string, cause: unknown): RecordingError {
  return new RecordingError('recording', `${file} of the recording cannot be read`, {
    hint: 'Check that it is a readable file.',
    cause,
  });
}

function unwritable(directory: string, cause: unknown): RecordingError {
  const { reason = '', hint = 'Check that it is a writable directory.' } = systemRefusal(cause) ?? {};
  return new RecordingError(
    'recording',
    `the recording ${directory} cannot be written${reason && `: ${reason}`}`,
    {
      hint,
      cause,
    },
  );
}
