import { type Dirent, type Stats, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { matchesGlob } from '../../../jupyter/glob.js';
import { formatCount, shownName, withoutCredentials } from '../../../text.js';
import { LocalError } from '../../local-errors.js';
import { hasCode } from '../store-files.js';
import { noSuchFile, notAFile, unreadableFile } from './source-formats.js';

/** Maximum number of files per import. */
export const mostFiles = 10_000;

/** Files to import, and notes on what was skipped. */
export interface FoundFiles {
  readonly files: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Returns the files of a path: the file, those below a directory, or those that match a pattern with `*`, `?`, `[a-z]` and `**`. Skips
 * hidden and empty files, and anything without rows, such as a socket; the oldest of a rotated set comes first. Throws LocalError.
 */
export async function filesOf(written: string): Promise<FoundFiles> {
  const address = /(?:^|[\\/])(https?):[\\/]+(.*)$/.exec(written);
  if (address !== null) throw noAddress(withoutCredentials(`${address[1]}://${address[2]}`));
  const file = path.resolve(written);
  const kind = await kindOf(file);
  if (kind === 'file' || kind === 'empty') return { files: [file], notes: [] };
  if (kind !== 'directory' && kind !== 'none') throw notAFile(file, `it is ${kind}`);
  const found = kind === 'directory' ? await below(file) : await matching(file);
  const kinds = await Promise.all(found.map(each => kindOf(each)));
  const ofKind = (...wanted: readonly string[]) =>
    found.filter((_, index) => wanted.includes(kinds[index] ?? ''));
  const files = ofKind('file', 'none');
  const notes = specialKinds.flatMap(([, special]) => leftOutNotes(special, ofKind(special)));
  if (files.length > 0) return { files: files.sort(byRotation), notes };
  if (kind === 'directory')
    throw new LocalError('invalid', 'no-such-file', `${file} contains no files to import.`);
  const pattern = /[*?[]/.test(file);
  throw pattern ? new LocalError('invalid', 'no-such-file', `No file matches ${file}.`) : noSuchFile(file);
}

/** File types without rows. They are never opened, as a pipe would block until someone writes to it. */
const specialKinds = [
  [found => found.isDirectory(), 'directory'],
  [found => found.isFIFO(), 'a named pipe'],
  [found => found.isSocket(), 'a socket'],
  [found => !found.isFile(), 'a device'],
] as const satisfies readonly (readonly [is: (found: Stats) => boolean, name: string])[];

type Kind = 'file' | 'empty' | 'none' | (typeof specialKinds)[number][1];

/** Returns the kind of a file. One that cannot be examined counts as a file: opening it reports the error. */
export async function kindOf(file: string): Promise<Kind> {
  return stat(file).then(kindBy, kindWithout);
}

/** Returns the kind of a file synchronously. */
export function kindOfSync(file: string): Kind {
  try {
    return kindBy(statSync(file));
  } catch (error) {
    return kindWithout(error);
  }
}

function kindBy(found: Stats): Kind {
  return specialKinds.find(([is]) => is(found))?.[1] ?? (found.size === 0 ? 'empty' : 'file');
}

function kindWithout(error: unknown): Kind {
  return hasCode(error, 'ENOENT', 'ENOTDIR') ? 'none' : 'file';
}

/** Returns a note on skipped files. Directories among them are links, as others are searched. */
function leftOutNotes(kind: Kind, left: readonly string[]): readonly string[] {
  if (left.length === 0) return [];
  const shown = left.slice(0, mostNamed).map(each => `\`${shownName(path.basename(each))}\``);
  const names = [...shown, ...(left.length > mostNamed ? [`${left.length - mostNamed} more`] : [])];
  const is = kind === 'directory' ? 'a link to a directory' : kind;
  return [`Skipped because ${left.length === 1 ? 'it is' : 'each is'} ${is}: ${names.join(', ')}.`];
}

const mostNamed = 5;

function noAddress(address: string): LocalError {
  return new LocalError(
    'invalid',
    'no-such-file',
    `${address} is a URL: only files on this machine can be imported.`,
    {
      hint: 'Download it first, for example with `curl -O URL`.',
    },
  );
}

async function below(directory: string): Promise<readonly string[]> {
  const entries = await entriesOf(directory);
  const found: string[] = [];
  for (const entry of entries) {
    const inner = path.join(directory, entry.name);
    if (entry.isDirectory()) found.push(...(await below(inner)));
    else found.push(inner);
    if (found.length > mostFiles) throw tooMany(directory);
  }
  return found;
}

async function matching(pattern: string): Promise<readonly string[]> {
  const { root } = path.parse(pattern);
  return matchingBelow(root, pattern.slice(root.length).split(path.sep));
}

async function matchingBelow(directory: string, [part = '', ...rest]: readonly string[]): Promise<string[]> {
  const inner = (name: string) => path.join(directory, name);
  if (!/[*?[]/.test(part)) {
    const found = await stat(inner(part)).catch(() => undefined);
    if (found === undefined) return [];
    return rest.length === 0 ? (found.isFile() ? [inner(part)] : []) : matchingBelow(inner(part), rest);
  }
  const found: string[] = part === '**' ? await matchingBelow(directory, rest.length > 0 ? rest : ['*']) : [];
  for (const entry of await entriesOf(directory)) {
    if (part === '**') {
      if (entry.isDirectory()) found.push(...(await matchingBelow(inner(entry.name), [part, ...rest])));
    } else if (matchesGlob(part, entry.name)) {
      if (rest.length > 0) found.push(...(await matchingBelow(inner(entry.name), rest)));
      else if (!entry.isDirectory()) found.push(inner(entry.name));
    }
    if (found.length > mostFiles) throw tooMany(directory);
  }
  return found;
}

/** Returns the entries of a directory that are not hidden, none if it is not a directory. Throws LocalError if it cannot be read. */
async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(error => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw unreadableFile(directory, error);
  });
  return entries.filter(({ name }) => !name.startsWith('.'));
}

function tooMany(directory: string): LocalError {
  const message = `${directory} contains more than ${formatCount(mostFiles)} files.`;
  return new LocalError('invalid', 'too-many-files', message, {
    hint: 'Import them in batches into one dataset.',
  });
}

/** Sorts rotated files, oldest first: they have a number, higher for older ones, or a date; the current file has neither. */
export function byRotation(a: string, b: string): number {
  const [left, right] = [rotationOf(a), rotationOf(b)];
  return (
    natural.compare(left.stem, right.stem) ||
    Number(right.rotated) - Number(left.rotated) ||
    (left.isNumber && right.isNumber ? right.number - left.number : natural.compare(a, b))
  );
}

const natural = new Intl.Collator('en', { numeric: true });

function rotationOf(file: string) {
  const [, stem = '', suffix = ''] = /^(.*?)(?:[.-](\d[\d.T_-]*))?$/s.exec(unpackedName(file)) ?? [];
  return { stem, rotated: suffix !== '', isNumber: /^\d{1,4}$/.test(suffix), number: Number(suffix) };
}

/** Returns a file name without its compression suffix. */
function unpackedName(file: string): string {
  return file.replace(/\.(gz|zst)$/i, '');
}

/** Returns the lowercase suffix that determines the format, even for a rotated and compressed file: `.log` for `a.log.2.gz`. */
export function endingOf(file: string): string {
  return path.extname(rotationOf(path.basename(file)).stem).toLowerCase();
}
