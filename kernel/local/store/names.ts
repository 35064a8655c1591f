/**
 * Returns whether a text can be the name of a dataset: not empty, no longer than a directory name may be, without invisible
 * characters.
 */
export function isDatasetName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= longestName &&
    !hasInvisible(name) &&
    encodeName(name).length <= longestEncoded
  );
}

/** The rule of {@link isDatasetName} in words. */
export const nameRule =
  'A dataset name has 1 to 128 characters, none of them invisible; escaped as in a URL it has at most 240.';

const longestName = 128;

/** File systems take 255 bytes at most. */
const longestEncoded = 240;

/** Returns the name of a dataset's directory, valid on any system: `%` escapes, and no leading dot. */
export function encodeName(name: string): string {
  const escaped = encodeURIComponent(name).replace(/[*'()!~]/g, escapeCharacter);
  return escaped.startsWith('.') ? `%2E${escaped.slice(1)}` : escaped;
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Returns the name of a directory's dataset; undefined for a directory that {@link encodeName} gives to none. */
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
