import path from 'node:path';
import { shownName } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { hasCode, versionOf } from '../store-files.js';
import { unreadableFile } from './source-formats.js';

/** Files that an import reads, with their versions at its start. */
export class Originals {
  readonly #files: readonly { readonly file: string; readonly version: string | undefined }[];

  constructor(files: readonly string[]) {
    this.#files = files.map(file => ({ file, version: versionOf(file)?.text }));
  }

  get files(): readonly string[] {
    return this.#files.map(({ file }) => file);
  }

  /** Returns a note if some have changed: the rows read may be incomplete, or a mix of both versions. */
  notes(): readonly string[] {
    const changed = this.#files.filter(({ file, version }) => versionOf(file)?.text !== version);
    if (changed.length === 0) return [];
    const names = changed.slice(0, mostNamed).map(({ file }) => `\`${shownName(path.basename(file))}\``);
    const more = changed.length > mostNamed ? [`${changed.length - mostNamed} more`] : [];
    return [
      `Changed during the import: ${[...names, ...more].join(', ')}. Rows may be missing: import again with \`%import … --replace\`.`,
    ];
  }

  /** Returns the error of an import: that a file is gone or became unreadable takes precedence over its consequences. */
  failure(error: unknown): unknown {
    const gone = this.#files.find(({ file }) => versionOf(file) === undefined)?.file;
    if (gone !== undefined)
      return new LocalError('invalid', 'no-such-file', `${gone} was deleted or moved during the import.`, {
        hint: 'Import it from its current location.',
        cause: error,
      });
    const [{ file } = { file: '' }] = this.#files;
    return hasCode(error, 'EACCES', 'EPERM') ? unreadableFile(file, error as NodeJS.ErrnoException) : error;
  }
}

const mostNamed = 5;
