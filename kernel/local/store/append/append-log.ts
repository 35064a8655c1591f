import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { writeAll } from '../../../files.js';
import { syncDirectory } from '../store-files.js';
import type { Batch } from './append-batch.js';
import { encodeHeader, encodeRecord, headerBytes } from './records.js';

/**
 * A file that batches are appended to; each is on disk before `append` resolves. Batches that arrive during a write share the next one.
 * After a failed write, the log accepts no more.
 */
export class BatchLog {
  readonly file: string;
  readonly #draft: string;
  #handle: FileHandle | undefined;
  #bytes = headerBytes;
  #records = 0;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failure: unknown;
  readonly #written: Batch[];

  /** The file is created under the name `draft`, on the same disk; `batches` are those already in it. */
  constructor(file: string, draft: string, batches: readonly Batch[] = []) {
    this.file = file;
    this.#draft = draft;
    this.#written = [...batches];
  }

  /** Batches on disk. */
  get batches(): readonly Batch[] {
    return this.#written;
  }

  /** Appends a batch; rejects if it may not be on disk. */
  append(batch: Batch): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, bytes: encodeRecord(batch, this.#records++), resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /** Waits for pending batches and closes the file. */
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
        // A partly written group must not reappear after a crash.
        await this.#handle?.truncate(this.#bytes).catch(() => undefined);
        for (const each of group) each.reject(error);
      }
    }
    // Cleared in the same turn: a batch appended as soon as an earlier one is acknowledged starts the next write.
    this.#writing = undefined;
  }

  async #writeGroup(bytes: Buffer): Promise<void> {
    const handle = this.#handle ?? (await this.#create());
    await writeAll(handle, bytes, this.#bytes);
    await handle.datasync();
    const acknowledged = this.#bytes + bytes.length;
    // Not synced, as it only has to outlive the process: without it, a file that is cut off later would look unfinished.
    await writeAll(handle, encodeHeader(acknowledged), 0);
    this.#bytes = acknowledged;
  }

  /** Creates the file with its header: an empty one would look like a truncated log. */
  async #create(): Promise<FileHandle> {
    this.#handle = await open(this.#draft, 'wx', 0o600);
    try {
      await writeAll(this.#handle, encodeHeader(headerBytes));
      await rename(this.#draft, this.file);
    } catch (error) {
      await rm(this.#draft, { force: true });
      throw error;
    }
    await syncDirectory(path.dirname(this.file));
    return this.#handle;
  }
}

interface Waiting {
  readonly batch: Batch;
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}
