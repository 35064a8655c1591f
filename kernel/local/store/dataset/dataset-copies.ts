/*
 * Programs that synchronize directories leave copies of our files under other names: `NAME (1).parquet`,
 * `NAME.sync-conflict-20260101-120000-ABC.log`, `Copy of NAME.parquet`. No two files of ours have the same name: what one holds counts
 * once, whatever its copies are called.
 */

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** What names of ours begin with, by how they end. Those of Parquet files of earlier versions have no checksum. */
const beginnings: readonly (readonly [ending: string, beginning: RegExp])[] = [
  ['.parquet', new RegExp(`\\d+-(?<id>${uuid})(?:\\.[0-9a-f]{8})?(?![0-9a-f])`)],
  ['.log', new RegExp(`(?:[0-9a-f]{8}-)?\\d+-[0-9a-f]{12}-(?<id>${uuid})(?![0-9a-f])`)],
];

/** Returns the name that we gave to a file which may be a copy; its own if another program chose it. */
export function givenName(name: string): string {
  return given(name)?.name ?? name;
}

/** Returns the id of the file of ours that a file is, or is a copy of; undefined if another program chose its name. */
export function givenId(name: string): string | undefined {
  return given(name)?.id;
}

/**
 * Returns those of the names in a directory that do not count, as another one is of the same file, or is a Parquet file with the events of
 * the same log; `ids` are those of files that were there. It is the name that we gave to a file which counts, or else the first.
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

/** Why a file does not count, as in "it {reason}". */
export function copyReason(name: string): string {
  return `is a copy of ${givenName(name)}, and does not count`;
}

function given(name: string): { readonly name: string; readonly id: string } | undefined {
  for (const [ending, beginning] of beginnings) {
    const found = name.endsWith(ending) ? beginning.exec(name) : undefined;
    if (found) return { name: `${found[0]}${ending}`, id: found.groups?.id ?? '' };
  }
  return undefined;
}
