import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatasetInfo } from '../../../api/wire.js';
import { textOf } from '../../../files.js';
import { sealedLine, unsealed } from '../../../local/sealed.js';
import { makeDirectory } from '../../../machine.js';

/** The extent of a dataset: two states that differ in it are different. */
type ImportedDataset = Pick<DatasetInfo, 'rows' | 'firstTime' | 'lastTime'>;

/**
 * Records which file each dataset was imported from, for every kernel of a data directory: replacing its rows with the same file
 * loses nothing, so a notebook that does so can run again without asking. Missing or damaged entries lead to a question.
 */
export class ImportLog {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns whether the dataset still has exactly the rows imported from this file. */
  async isImportOf(dataset: string, path: string, held: ImportedDataset): Promise<boolean> {
    return (await this.#read()).get(dataset) === factsOf(path, held);
  }

  /** Records that a dataset now has the rows of one file, or with `path` undefined, other rows too. */
  async note(dataset: string, path: string | undefined, held: ImportedDataset): Promise<void> {
    const noted = await this.#read();
    if (path === undefined) noted.delete(dataset);
    else noted.set(dataset, factsOf(path, held));
    const draft = `${this.#file}.${randomUUID()}.tmp`;
    try {
      makeDirectory(dirname(this.#file));
      await writeFile(draft, sealedLine({ imports: [...noted] }), { mode: 0o600 });
      await rename(draft, this.#file);
    } catch {
      await rm(draft).catch(() => undefined);
    }
  }

  async #read(): Promise<Map<string, string>> {
    try {
      const { content, intact } = unsealed(JSON.parse(await textOf(this.#file)));
      const { imports } = content as { readonly imports?: unknown };
      return new Map(intact === true && Array.isArray(imports) ? imports.filter(isEntry) : []);
    } catch {
      return new Map();
    }
  }
}

function factsOf(path: string, { rows, firstTime, lastTime }: ImportedDataset): string {
  return JSON.stringify([path, rows ?? null, firstTime ?? null, lastTime ?? null]);
}

function isEntry(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every(part => typeof part === 'string');
}
