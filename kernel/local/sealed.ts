import { crc32 } from 'node:zlib';

/**
 * Small JSON files with a checksum, which tells whether one is as it was written. One that people edit and commit is read all the same
 * when its checksum differs, as an edit by hand and damage look alike; only `doctor --check-data` says so.
 */

const member = 'checksum';

/** Returns the text of a file with this content. */
export function sealedText(content: object): string {
  return `${JSON.stringify(sealed(content), null, 2)}\n`;
}

/** Returns the text of a file in one line. */
export function sealedLine(content: object): string {
  return `${JSON.stringify(sealed(content))}\n`;
}

function sealed(content: object): object {
  return { ...content, [member]: checksumOf(content) };
}

/** Returns the content of a file, and whether it is as it was written; undefined where the file has no checksum. */
export function unsealed(value: unknown): { readonly content: unknown; readonly intact?: boolean } {
  if (typeof value !== 'object' || value === null || !(member in value)) return { content: value };
  const { [member]: checksum, ...content } = value;
  return { content, intact: checksum === checksumOf(content) };
}

/** Of the members and their order, whatever the white space. */
function checksumOf(content: object): string {
  return crc32(JSON.stringify(content)).toString(16).padStart(8, '0');
}
