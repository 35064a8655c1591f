/**
 * 32-bit hashes of values and words. A word is a run of ASCII letters and digits, in lower case; `has` matches such words regardless of the
 * characters around them.
 */

/** Returns the hash of a value, or of a lowercase word. */
export function hashOf(value: string | bigint): number {
  if (typeof value === 'bigint')
    return hashOfLong(Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n)));
  const bytes = Buffer.from(value);
  return hashOfBytes(bytes, 0, bytes.length);
}

export function hashOfBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = basis;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), prime);
  return mixed(hash);
}

/** Returns the hash of a 64-bit integer, given its halves. */
export function hashOfLong(low: number, high: number): number {
  return mixed(low ^ mixed(high ^ basis));
}

/** Calls `add` with the hash of each word in UTF-8 bytes. */
export function hashWords(bytes: Uint8Array, start: number, end: number, add: (hash: number) => void): void {
  let hash = basis;
  let isWord = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    const letter = byte < 0x80 ? (folded[byte] as number) : foldedBeyond(bytes, at);
    if (letter > 0) {
      hash = Math.imul(hash ^ letter, prime);
      isWord = true;
      if (byte >= 0x80) at += byte === 0xe2 ? 2 : 1;
    } else if (isWord) {
      add(mixed(hash));
      hash = basis;
      isWord = false;
    }
  }
  if (isWord) add(mixed(hash));
}

/** Mixes a hash so that each bit depends on all bits of the input. */
export function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}

const [basis, prime] = [0x811c9dc5, 0x01000193];

/** ASCII letters and digits in lower case; 0 for all others. */
const folded = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const letter = String.fromCharCode(code).toLowerCase();
  return /[a-z0-9]/.test(letter) ? letter.charCodeAt(0) : 0;
});

/** Folds the non-ASCII letters that equal ASCII letters ignoring case: long s, capital I with dot above, and the Kelvin sign. */
function foldedBeyond(bytes: Uint8Array, at: number): number {
  if (bytes[at] === 0xc5 && bytes[at + 1] === 0xbf) return 0x73;
  if (bytes[at] === 0xc4 && bytes[at + 1] === 0xb0) return 0x69;
  return bytes[at] === 0xe2 && bytes[at + 1] === 0x84 && bytes[at + 2] === 0xaa ? 0x6b : 0;
}
