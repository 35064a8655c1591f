import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { AplKernelError, type ErrorCode } from '../../../errors.js';
import { decoded, openFile, removeFile } from '../../../files.js';
import { makeDirectory, systemRefusal } from '../../../machine.js';
import { locked } from '../../lease/lock.js';
import { LocalError } from '../../local-errors.js';
import { changedReason, changedRemedy, sealedText, unsealed } from '../../sealed.js';
import {
  directoryRemedy,
  hasCode,
  isDirectory,
  listed,
  removeLeftovers,
  replaceFile,
  setAside,
} from '../store-files.js';
import { type Damage, damageError } from './document-damage.js';
import { documentFiles, fileOf, idIn, isId, leftOut } from './document-names.js';

/** Kind of documents in a directory. */
export interface DocumentKind<T> {
  /** Singular and plural in messages. */
  readonly name: string;
  readonly names: string;
  /** Prefix of each id. */
  readonly prefix: string;
  /** Parses the document in a file; throws AplKernelError for anything else. */
  readonly read: (value: unknown) => T;
  /** Magic that deletes a document, without the id. */
  readonly deletedBy: string;
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

  /** Returns all documents, unsorted, and the damage to their files. */
  async list(): Promise<Listing<T>> {
    await removeLeftovers(this.#directory);
    const { names, fault } = await listed(this.#directory);
    const files = documentFiles(names);
    const others = new Map(files.map(name => [name, this.#leftOut(name, files)]));
    const listable = files.filter(name => others.get(name) === undefined);
    const found = await Promise.all(listable.map(name => this.#read(idIn(name))));
    return {
      documents: found.flatMap(each => (each?.kind === 'whole' ? [each.document] : [])),
      damages: [
        ...(fault === undefined ? [] : [this.#unlisted(fault)]),
        ...found.flatMap(each => each?.damage ?? []),
        ...[...others.values()].flatMap(each => each ?? []),
      ],
    };
  }

  /** Stores a document under a new id; throws LocalError if the directory cannot be created. */
  async create(document: T): Promise<Stored<T>> {
    const { fault } = await listed(this.#directory);
    if (fault !== undefined) throw damageError(this.#unlisted(fault), this.#kind.unreadable);
    makeDirectory(this.#directory);
    return this.#write(this.#kind.prefix + crypto.randomUUID().replaceAll('-', ''), document);
  }

  /** Returns a document; throws LocalError, `not-found` if it does not exist. */
  async get(id: string): Promise<Stored<T>> {
    const found = isId(id) ? await this.#read(id) : undefined;
    if (found === undefined) throw this.#unknown(id);
    if (found.kind === 'damaged') throw this.#damaged(found);
    return found.document;
  }

  /**
   * Replaces a document with the result of `change`, whose argument is undefined if it cannot be read; if the result is undefined, throws
   * like `get`. Throws LocalError (`not-found`) if it does not exist.
   */
  async replace(id: string, change: (before: Stored<T> | undefined) => T | undefined): Promise<Stored<T>> {
    return this.#alone(id, async () => {
      const found = await this.#read(id);
      if (found === undefined) throw this.#unknown(id);
      const after = change(found.kind === 'whole' ? found.document : undefined);
      if (after !== undefined) return this.#write(id, after);
      throw found.kind === 'damaged' ? this.#damaged(found) : this.#unknown(id);
    });
  }

  /** Deletes a document, even if unreadable; throws LocalError (`not-found`) if it does not exist. */
  async remove(id: string): Promise<void> {
    const removal = async () => {
      const file = this.#file(id);
      if (await isDirectory(file)) await setAside(file);
      else await removeFile(file);
    };
    return this.#alone(id, removal).catch(error => {
      // A full disk has no space for a lock, and this frees some.
      if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
      return removal();
    });
  }

  /** Runs work on a document under its lock. */
  async #alone<R>(id: string, work: () => Promise<R>): Promise<R> {
    const check = async () => {
      if (!isId(id) || !(await isThere(this.#file(id)))) throw this.#unknown(id);
    };
    await check();
    return locked(`${this.#file(id)}.lock`, async () => {
      await check();
      return work();
    });
  }

  async #read(id: string): Promise<Found<T> | undefined> {
    const file = this.#file(id);
    const { name, deletedBy } = this.#kind;
    try {
      const { content, intact } = unsealed(await jsonOf(file));
      const document = { ...this.#kind.read(content), id };
      if (intact !== false) return { kind: 'whole', document };
      const damage = {
        text: `The ${name} ${id} ${changedReason} (${file}).`,
        consequence: 'It is listed anyway.',
        remedy: changedRemedy,
      };
      return { kind: 'whole', document, damage };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      const damage = {
        text: `The ${name} ${id} cannot be read: ${faultReason(error)} (${file}).`,
        consequence: 'It is left out.',
        remedy: `Repair the file, or delete it with \`${deletedBy} ${id}\`.`,
      };
      return { kind: 'damaged', damage, cause: error };
    }
  }

  #leftOut(name: string, names: readonly string[]): Damage | undefined {
    const found = leftOut(name, names);
    if (found === undefined) return undefined;
    const { reason, remedy } = found;
    return {
      text: `${path.join(this.#directory, name)} ${reason}.`,
      consequence: 'It is left out.',
      remedy: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
    };
  }

  #unlisted(fault: string): Damage {
    return {
      text: `The ${this.#kind.names} cannot be read: ${this.#directory} ${fault}.`,
      consequence: 'None are listed.',
      remedy: directoryRemedy,
    };
  }

  async #write(id: string, document: T): Promise<Stored<T>> {
    const stored = { ...document, id };
    await replaceFile(this.#file(id), sealedText(stored));
    return stored;
  }

  #damaged({ damage, cause }: Damaged): LocalError {
    return damageError(damage, this.#kind.unreadable, cause);
  }

  #file(id: string): string {
    return path.join(this.#directory, fileOf(id));
  }

  #unknown(id: string): LocalError {
    const { name, unknown } = this.#kind;
    return new LocalError('not-found', unknown.code, `There is no ${name} ${JSON.stringify(id)}.`, {
      hint: unknown.hint,
    });
  }
}

/** A stored document, which always includes its id. */
export type Stored<T> = T & { readonly id: string };

/** Documents of a directory, and the damage to the directory and its files. */
export interface Listing<T> {
  readonly documents: readonly Stored<T>[];
  readonly damages: readonly Damage[];
}

type Found<T> = { readonly kind: 'whole'; readonly document: Stored<T>; readonly damage?: Damage } | Damaged;

interface Damaged {
  readonly kind: 'damaged';
  readonly damage: Damage;
  readonly cause: unknown;
}

/** Maximum size of a document, in bytes. */
const largest = 4 * 2 ** 20;

/** Returns the JSON in a file; throws for any other content. */
export async function jsonOf(file: string): Promise<unknown> {
  const handle = await openFile(file);
  try {
    const { size } = await handle.stat();
    if (size > largest) throw new NoDocument('it is larger than 4 MiB');
    if (size === 0) throw new NoDocument('it is empty');
    return JSON.parse(decoded(await handle.readFile(), { fatal: true }));
  } finally {
    await handle.close();
  }
}

/** The error for a file that cannot be a document. */
class NoDocument extends AplKernelError {
  constructor(reason: string) {
    super('unreadable', reason);
  }
}

/** Returns why a document could not be read, as in "it cannot be read: {reason}". */
export function faultReason(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (hasCode(error, 'ERR_ENCODING_INVALID_ENCODED_DATA')) return 'it is not UTF-8';
  if (error instanceof AplKernelError) return error.message.replace(/\.$/, '');
  return systemRefusal(error)?.reason ?? `the system reports ${(error as NodeJS.ErrnoException).code}`;
}

/** Whether a file exists, including a broken link. */
async function isThere(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined)) !== undefined;
}
