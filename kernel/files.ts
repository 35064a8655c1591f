import type { FileHandle } from 'node:fs/promises';

/**
 * Writes all of the bytes, at a position or after what was written before. A disk that gets full takes a part of them without an
 * error, and refuses the rest with one.
 */
export async function writeAll(
  file: Pick<FileHandle, 'write'>,
  bytes: Uint8Array,
  position?: number,
): Promise<void> {
  for (let from = 0; from < bytes.byteLength; ) {
    const at = position === undefined ? null : position + from;
    from += (await file.write(bytes, from, bytes.byteLength - from, at)).bytesWritten;
  }
}
