import { type FileHandle, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { syncDirectory } from '../files.js';
import type { Batch } from './batch.js';

/** A batch as JSON. 64-bit integers are strings, as JSON numbers may lose digits. */
interface Record extends Omit<Batch, 'events' | 'nowNs'> {
  readonly nowNs: string;
  readonly times: readonly string[];
  readonly cells: readonly (readonly (string | null)[])[];
}

/**
 * A file to which batches are appended; each is on the disk before `append` resolves. Batches that arrive while the disk is busy
 * share the next write. After a failed write, it accepts no more.
 */
export class BatchLog {
  readonly file: string;
  #handle: FileHandle | undefined;
  #bytes = 0;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failure: unknown;
  readonly #written: Batch[];

  /** `batches` are those that the file holds already. */
  constructor(file: string, batches: readonly Batch[] = []) {
    this.file = file;
    this.#written = [...batches];
  }

  /** The batches that are on the disk. */
  get batches(): readonly Batch[] {
    return this.#written;
  }

  /** Rejects when the batch may not be on the disk. */
  append(batch: Batch): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, bytes: encode(batch), resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /** Waits for pending batches, and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#failure !== undefined) throw this.#failure;
        await this.#writeGroup(Buffer.concat(group.map(each => each.bytes)));
        this.#written.push(...group.map(each => each.batch));
        for (const each of group) each.resolve();
      } catch (error) {
        this.#failure = error;
        // A group that was written in part must not reappear after a crash.
        await this.#handle?.truncate(this.#bytes).catch(() => undefined);
        for (const each of group) each.reject(error);
      }
    }
    // Not later: a batch appended as soon as one before it is acknowledged begins the next write.
    this.#writing = undefined;
  }

  async #writeGroup(bytes: Buffer): Promise<void> {
    const handle = this.#handle ?? (await this.#create());
    for (let written = 0; written < bytes.length; ) {
      written += (await handle.write(bytes, written, bytes.length - written, this.#bytes + written))
        .bytesWritten;
    }
    await handle.datasync();
    this.#bytes += bytes.length;
  }

  async #create(): Promise<FileHandle> {
    this.#handle = await open(this.file, 'wx', 0o600);
    await syncDirectory(path.dirname(this.file));
    return this.#handle;
  }
}

/** Returns the batches of a log, up to the first incomplete one, which was never acknowledged. */
export async function readLog(file: string): Promise<Batch[]> {
  const bytes = await readFile(file);
  const batches: Batch[] = [];
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const end = at + headBytes + bytes.readUInt32LE(at);
    const content = bytes.subarray(at + headBytes, end);
    if (end > bytes.length || content.length === 0 || crc32(content) !== bytes.readUInt32LE(at + 4)) break;
    batches.push(decode(content));
    at = end;
  }
  return batches;
}

interface Waiting {
  readonly batch: Batch;
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The length of a record and its checksum, four bytes each. */
const headBytes = 8;

function encode({ events, nowNs, ...rest }: Batch): Buffer {
  const record: Record = {
    ...rest,
    nowNs: String(nowNs),
    times: events.map(event => String(event.time)),
    cells: events.map(event => event.cells.map(cell => cell ?? null)),
  };
  const content = Buffer.from(JSON.stringify(record));
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(content.length, 0);
  head.writeUInt32LE(crc32(content), 4);
  return Buffer.concat([head, content]);
}

function decode(content: Buffer): Batch {
  const { nowNs, times, cells, ...rest } = JSON.parse(content.toString('utf8')) as Record;
  const events = times.map((time, row) => ({
    time: BigInt(time),
    cells: (cells[row] ?? []).map(cell => cell ?? undefined),
  }));
  return { ...rest, nowNs: BigInt(nowNs), events };
}
