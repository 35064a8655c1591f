/** Returns whether a string is a valid dataset name: not empty, no longer than a directory name may be, without invisible characters. */
export function isDatasetName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= longestName &&
    !hasInvisible(name) &&
    encodeName(name).length <= longestEncoded
  );
}

/** Description of {@link isDatasetName}'s rule. */
export const nameRule =
  'A dataset name must have 1 to 128 visible characters, and at most 240 when URL-encoded.';

const longestName = 128;

/** Maximum length of a directory name; file systems allow 255 bytes. */
const longestEncoded = 240;

/** Returns the directory name of a dataset, valid on any system: `%` escapes, and no leading dot. */
export function encodeName(name: string): string {
  const escaped = encodeURIComponent(name).replace(/[*'()!~]/g, escapeCharacter);
  return escaped.startsWith('.') ? `%2E${escaped.slice(1)}` : escaped;
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Returns the dataset name of a directory, undefined if {@link encodeName} cannot produce its name. */
export function decodeName(directory: string): string | undefined {
  try {
    const name = decodeURIComponent(directory);
    return encodeName(name) === directory ? name : undefined;
  } catch {
    return undefined;
  }
}

function hasInvisible(name: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Cs}]/u.test(name);
}
