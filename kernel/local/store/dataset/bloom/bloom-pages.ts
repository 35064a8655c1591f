import { crc32 } from 'node:zlib';
import { mixed } from './bloom-hash.js';

/**
 * A Bloom filter of the values of a field in a row group, in pages that are checked and read alone: all bits of a value are in one page. The
 * number of pages is a power of two, so that a filter with few bits set is folded into fewer. Up to a quarter of its bits are set, so that it
 * takes one in 250 of the values that are not there for one that is.
 */
export const pageBytes = 4096;

const checksumBytes = 4;
const bitsAPage = (pageBytes - checksumBytes) * 8;
const bitsAValue = 4;
const mostSet = 0.25;

/** Returns how many pages a filter begins with that has room for so many values. */
export function pagesFor(values: number): number {
  const pages = (values * bitsAValue) / (bitsAPage * mostSet);
  return 2 ** Math.max(0, Math.ceil(Math.log2(pages)));
}

/** Sets the bits of a value in a filter of so many pages. */
export function addTo(filter: Uint8Array, pages: number, hash: number): void {
  const page = pageOf(hash, pages) * pageBytes;
  const bits = mixed(hash ^ 0x9e3779b9);
  for (let bit = 0; bit < bitsAValue; bit++) {
    const at = bitOf(bits, bit);
    const byte = page + (at >>> 3);
    filter[byte] = (filter[byte] as number) | (1 << (at & 7));
  }
}

/** Returns which of so many pages has the bits of a value. */
export function pageOf(hash: number, pages: number): number {
  return (hash & (pages - 1)) >>> 0;
}

/** Whether a page may have a value: true for each that was added, and for few others. */
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

/** Returns a filter in as few pages as have at most a quarter of their bits set. */
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
