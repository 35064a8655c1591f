import { crc32 } from 'node:zlib';
import { mixed } from './bloom-hash.js';

/**
 * Size of a page of a Bloom filter, in bytes. A filter covers one field in one row group; each page is checked and read separately, and all
 * bits of a value are in one page. The number of pages is a power of two, so that a sparse filter can be folded into fewer pages. At most a
 * quarter of the bits are set: one in 250 absent values is a false positive.
 */
export const pageBytes = 4096;

const checksumBytes = 4;
const bitsAPage = (pageBytes - checksumBytes) * 8;
const bitsAValue = 4;
const mostSet = 0.25;

/** Returns the initial number of pages of a filter for this many values. */
export function pagesFor(values: number): number {
  const pages = (values * bitsAValue) / (bitsAPage * mostSet);
  return 2 ** Math.max(0, Math.ceil(Math.log2(pages)));
}

/** Sets the bits of a value in a filter with this many pages. */
export function addTo(filter: Uint8Array, pages: number, hash: number): void {
  const page = pageOf(hash, pages) * pageBytes;
  const bits = mixed(hash ^ 0x9e3779b9);
  for (let bit = 0; bit < bitsAValue; bit++) {
    const at = bitOf(bits, bit);
    const byte = page + (at >>> 3);
    filter[byte] = (filter[byte] as number) | (1 << (at & 7));
  }
}

/** Returns the page with the bits of a value. */
export function pageOf(hash: number, pages: number): number {
  return (hash & (pages - 1)) >>> 0;
}

/** Whether a page may contain a value: true for each added value, and for a few others. */
export function mayHold(page: Uint8Array, hash: number): boolean {
  const bits = mixed(hash ^ 0x9e3779b9);
  for (let bit = 0; bit < bitsAValue; bit++) {
    const at = bitOf(bits, bit);
    if (((page[at >>> 3] as number) & (1 << (at & 7))) === 0) return false;
  }
  return true;
}

function bitOf(bits: number, bit: number): number {
  return ((bits & 0xffff) + bit * ((bits >>> 16) | 1)) % bitsAPage;
}

/** Folds a filter into the fewest pages with at most a quarter of their bits set. */
export function foldedFilter(filter: Buffer): Buffer {
  let folded = filter;
  while (folded.length > pageBytes && setBits(folded) * 2 <= mostSet * folded.length * 8) {
    const half = folded.length / 2;
    const next = Buffer.from(folded.subarray(0, half));
    for (let at = 0; at < half; at++) next[at] = (next[at] as number) | (folded[half + at] as number);
    folded = next;
  }
  return folded;
}

function setBits(bytes: Uint8Array): number {
  let bits = 0;
  for (const byte of bytes) bits += bitsOf[byte] as number;
  return bits;
}

const bitsOf = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** Writes the checksum at the end of each page, which also covers the page number. */
export function seal(pages: Buffer): void {
  for (let page = 0; page * pageBytes < pages.length; page++) {
    const end = (page + 1) * pageBytes - checksumBytes;
    pages.writeUInt32LE(checksumOf(pages.subarray(page * pageBytes, end), page), end);
  }
}

/** Whether a page is intact and has this number. */
export function isSealed(page: Buffer, number: number): boolean {
  const end = pageBytes - checksumBytes;
  return page.length === pageBytes && page.readUInt32LE(end) === checksumOf(page.subarray(0, end), number);
}

function checksumOf(bits: Buffer, number: number): number {
  return crc32(bits, number + 1);
}
