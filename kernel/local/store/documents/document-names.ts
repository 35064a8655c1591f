/*
 * A document is in the file ID.json. File synchronization leaves copies under other names, such as `ID (1).json` or `ID-HOST.json`,
 * which must not be listed.
 */

const ending = '.json';

/** A generated id; files written by hand have others. */
const given = /(?:ann_)?[0-9a-f]{32}(?![0-9a-f])/;

/** Returns the file name of a document. */
export function fileOf(id: string): string {
  return id + ending;
}

/** Whether a string is an id: a file name and nothing else. */
export function isId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);
}

/** Returns the document files among the names in a directory; hidden files belong to other programs. */
export function documentFiles(names: readonly string[]): readonly string[] {
  return names.filter(name => name.endsWith(ending) && !name.startsWith('.'));
}

/** Returns the id of the document in a file. */
export function idIn(name: string): string {
  return name.slice(0, -ending.length);
}

/** An unlisted file in a directory of documents. */
interface LeftOut {
  readonly state: 'copied' | 'misnamed';
  /** Why, as in "it {reason}". */
  readonly reason: string;
  /** Remedy, as in "to fix it, {remedy}". */
  readonly remedy: string;
}

/** Returns why a file is not listed, given the names in its directory; undefined if it is. */
export function leftOut(name: string, names: readonly string[]): LeftOut | undefined {
  const [id] = given.exec(name) ?? [];
  if (id !== undefined && fileOf(id) !== name && names.includes(fileOf(id)))
    return { state: 'copied', reason: `is a copy of ${fileOf(id)}`, remedy: 'delete it, or move it away' };
  if (isId(idIn(name))) return undefined;
  const remedy = 'rename it to at most 64 letters, digits, `-` and `_`, or move it away';
  return { state: 'misnamed', reason: 'has a name that is not a valid ID', remedy };
}
