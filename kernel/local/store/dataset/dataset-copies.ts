/*
 * File synchronization leaves copies of our files under other names: `NAME (1).parquet`,
 * `NAME.sync-conflict-20260101-120000-ABC.log`, `Copy of NAME.parquet`. Our file names are unique, so the content of each counts once,
 * whatever its copies are called.
 */

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** Beginnings of our file names, by ending. Parquet files of earlier versions have no checksum in their name. */
const beginnings: readonly (readonly [ending: string, beginning: RegExp])[] = [
  ['.parquet', new RegExp(`\\d+-(?<id>${uuid})(?:\\.[0-9a-f]{8})?(?![0-9a-f])`)],
  ['.log', new RegExp(`(?:[0-9a-f]{8}-)?\\d+-[0-9a-f]{12}-(?<id>${uuid})(?![0-9a-f])`)],
];

/** Returns the original name of a file that may be a copy; the name itself if another program chose it. */
export function givenName(name: string): string {
  return given(name)?.name ?? name;
}

/** Returns the id of our file that a file is or is a copy of, undefined if another program chose its name. */
export function givenId(name: string): string | undefined {
  return given(name)?.id;
}

/**
 * Returns the duplicates among the names in a directory: copies of the same file, and copies of a log whose events are in a Parquet file.
 * `ids` are ids of files that used to exist. Of several copies, the original name counts, otherwise the first.
 */
export function copiesAmong(names: readonly string[], ids: Iterable<string> = []): ReadonlySet<string> {
  const parts = names.flatMap(name => (name.endsWith('.parquet') ? (givenId(name) ?? []) : []));
  const stored = new Set([...parts, ...ids]);
  const counted = new Map<string, string>();
  for (const name of names) {
    const own = givenName(name);
    if (own === name || !counted.has(own)) counted.set(own, name);
  }
  const isCopy = (name: string) =>
    counted.get(givenName(name)) !== name ||
    (name.endsWith('.log') && givenName(name) !== name && stored.has(givenId(name) ?? ''));
  return new Set(names.filter(isCopy));
}

/** Returns why a file does not count, as in "it {reason}". */
export function copyReason(name: string): string {
  return `is a copy of ${givenName(name)}, and is ignored`;
}

function given(name: string): { readonly name: string; readonly id: string } | undefined {
  for (const [ending, beginning] of beginnings) {
    const found = name.endsWith(ending) ? beginning.exec(name) : undefined;
    if (found) return { name: `${found[0]}${ending}`, id: found.groups?.id ?? '' };
  }
  return undefined;
}
