import { crc32 } from 'node:zlib';

/**
 * A Bloom filter of the values that a field has in a row group, in pages that are checked and read alone: all bits of a value are in
 * one page. With 16 bits for each row and 4 for each value it takes 0.3 % of the values that are not there for ones that are.
 */
export const pageBytes = 4096;

const checksumBytes = 4;
const bitsAPage = (pageBytes - checksumBytes) * 8;
const bitsARow = 16;
const bitsAValue = 4;

/** The hash of a value, in two halves of 32 bits. */
export interface ValueHash {
  readonly low: number;
  readonly high: number;
}

/** Returns how many pages the filter of a row group has. */
export function pagesOf(rows: number): number {
  return Math.max(1, Math.ceil((rows * bitsARow) / bitsAPage));
}

/** Returns which of so many pages has the bits of a value. */
export function pageOf(low: number, pages: number): number {
  return low % pages;
}

/** Sets the bits of a value in the page that begins at `start`. */
export function addTo(pages: Uint8Array, start: number, high: number): void {
  for (let bit = 0; bit < bitsAValue; bit++) {
    const at = bitOf(high, bit);
    const byte = start + (at >>> 3);
    pages[byte] = (pages[byte] ?? 0) | (1 << (at & 7));
  }
}

/** Whether a page may have a value: true for each that was added, and for few others. */
export function mayHold(page: Uint8Array, high: number): boolean {
  for (let bit = 0; bit < bitsAValue; bit++) {
    const at = bitOf(high, bit);
    if (((page[at >>> 3] ?? 0) & (1 << (at & 7))) === 0) return false;
  }
  return true;
}

function bitOf(high: number, bit: number): number {
  return ((high & 0xffff) + bit * ((high >>> 16) | 1)) % bitsAPage;
}

/** Writes the checksum at the end of each page, which is also one of its number. */
export function seal(pages: Buffer): void {
  for (let page = 0; page * pageBytes < pages.length; page++) {
    const end = (page + 1) * pageBytes - checksumBytes;
    pages.writeUInt32LE(checksumOf(pages.subarray(page * pageBytes, end), page), end);
  }
}

/** Whether a page is as it was written, and has this number. */
export function isSealed(page: Buffer, number: number): boolean {
  const end = pageBytes - checksumBytes;
  return page.length === pageBytes && page.readUInt32LE(end) === checksumOf(page.subarray(0, end), number);
}

function checksumOf(bits: Buffer, number: number): number {
  return crc32(bits, number + 1);
}
