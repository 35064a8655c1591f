/** Sample lines of events. */
export const sample = '{"level":"error","text":"the disk is full"}\n'.repeat(6);

/** The sample compressed by the zstd program, in base64. */
export const zstdSample =
  'KLUv/QRYrQEAxAJ7ImxldmVsIjoiZXJyb3IiLCJ0ZXh0IjoidGhlIGRpc2sgaXMgZnVsbCJ9CgEAzD5KlQGOanSE';

/** Returns a Zstandard frame with uncompressed blocks (RFC 8878). */
export function zstdOf(bytes: Uint8Array): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += blockBytes) {
    const piece = bytes.subarray(at, at + blockBytes);
    blocks.push(blockHeader(raw, piece.length, at + blockBytes >= bytes.length), Buffer.from(piece));
  }
  return Buffer.concat([frameHeader, ...blocks]);
}

/** Returns a Zstandard frame in which every four bytes expand to a block of 128 KiB. */
export function zstdBomb(blocks: number): Buffer {
  const block = Buffer.concat([blockHeader(repeated, blockBytes, false), Buffer.from('x')]);
  return Buffer.concat([frameHeader, ...new Array<Buffer>(blocks).fill(block), blockHeader(raw, 0, true)]);
}

const blockBytes = 128 * 1024;
const raw = 0;
const repeated = 1;

/** Magic number, without checksum and size, with a window of 128 KiB. */
const frameHeader = Buffer.from('28b52ffd0038', 'hex');

function blockHeader(type: number, size: number, last: boolean): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | (type << 1) | (last ? 1 : 0), 0, 3);
  return header;
}
