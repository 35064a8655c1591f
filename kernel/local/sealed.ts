import { crc32 } from 'node:zlib';

/**
 * Small JSON files with a checksum, which tells whether one is as it was written. One that people edit and commit is read all the same
 * when its checksum differs, as an edit by hand and damage look alike, and whoever asks for it is told.
 */

const member = 'checksum';

/** What is said of a file whose checksum differs, as in "it {reason}". */
export const changedReason = 'is not as it was written: it was edited by hand, or is damaged';

/** A sentence that says what to do with such a file. */
export const changedRemedy = `If it is right, delete its line with \`${member}\`.`;

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
