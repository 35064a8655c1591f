import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { ErrorCode } from '../../errors.js';
import { ServiceError } from '../http/service-error.js';
import { emptyWhenMissing, hasCode, locked, removeLeftovers, replaceFile } from './files.js';

/** What is stored in a directory of documents. */
export interface DocumentKind<T> {
  /** What one is called in messages. */
  readonly name: string;
  /** Before each id. */
  readonly prefix: string;
  /** Returns the document in a file; throws for anything else. */
  readonly read: (value: unknown) => T;
  readonly unknown: { readonly code: ErrorCode; readonly hint: string };
  readonly unreadable: ErrorCode;
}

/** Small documents in a directory: one JSON file each, replaced as a whole, so that they can be reviewed and committed. */
export class Documents<T extends object> {
  readonly #directory: string;
  readonly #kind: DocumentKind<T>;

  constructor(directory: string, kind: DocumentKind<T>) {
    this.#directory = directory;
    this.#kind = kind;
  }

  /** Returns all documents, in no order. */
  async list(): Promise<Stored<T>[]> {
    await removeLeftovers(this.#directory);
    const names = await readdir(this.#directory).catch(emptyWhenMissing);
    const ids = names.flatMap(name => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []));
    const found = await Promise.all(ids.filter(isId).map(id => this.#read(id)));
    return found.filter(each => each !== undefined);
  }

  /** Stores a document under a new id. */
  async create(document: T): Promise<Stored<T>> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return this.#write(this.#kind.prefix + crypto.randomUUID().replaceAll('-', ''), document);
  }

  /** Returns one document; throws ServiceError (404) when there is none. */
  async get(id: string): Promise<Stored<T>> {
    const found = isId(id) ? await this.#read(id) : undefined;
    if (found === undefined) throw this.#unknown(id);
    return found;
  }

  /** Replaces a document by what `change` makes of it; throws ServiceError (404) when there is none. */
  async replace(id: string, change: (before: Stored<T>) => T): Promise<Stored<T>> {
    return this.#alone(id, before => this.#write(id, change(before)));
  }

  /** Deletes a document; throws ServiceError (404) when there is none. */
  async remove(id: string): Promise<void> {
    return this.#alone(id, () => rm(this.#file(id), { force: true }));
  }

  /** Works on a document that nobody else changes or deletes meanwhile. */
  async #alone<R>(id: string, work: (before: Stored<T>) => Promise<R>): Promise<R> {
    await this.get(id);
    return locked(`${this.#file(id)}.lock`, async () => work(await this.get(id)));
  }

  async #read(id: string): Promise<Stored<T> | undefined> {
    const file = this.#file(id);
    try {
      return { ...this.#kind.read(JSON.parse(await readFile(file, 'utf8'))), id };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      const { name, unreadable } = this.#kind;
      throw new ServiceError(500, unreadable, `The ${name} ${id} cannot be read: ${file}`, {
        hint: 'Repair the file or delete it.',
        cause: error,
      });
    }
  }

  async #write(id: string, document: T): Promise<Stored<T>> {
    const stored = { ...document, id };
    await replaceFile(this.#file(id), `${JSON.stringify(stored, null, 2)}\n`);
    return stored;
  }

  #file(id: string): string {
    return path.join(this.#directory, `${id}.json`);
  }

  #unknown(id: string): ServiceError {
    const { name, unknown } = this.#kind;
    return new ServiceError(404, unknown.code, `There is no ${name} ${JSON.stringify(id)}.`, {
      hint: unknown.hint,
    });
  }
}

/** A document as it is stored: always with its id. */
export type Stored<T> = T & { readonly id: string };

/** An id is a file name and nothing else. */
function isId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);
}
