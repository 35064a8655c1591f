/** Lines of events. */
export const sample = '{"level":"error","text":"the disk is full"}\n'.repeat(6);

/** These lines as the program zstd packs them, in base64. */
export const zstdSample =
  'KLUv/QRYrQEAxAJ7ImxldmVsIjoiZXJyb3IiLCJ0ZXh0IjoidGhlIGRpc2sgaXMgZnVsbCJ9CgEAzD5KlQGOanSE';

/** Returns a frame of Zstandard with blocks of bytes as they are (RFC 8878). */
export function zstdOf(bytes: Uint8Array): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += blockBytes) {
    const piece = bytes.subarray(at, at + blockBytes);
    blocks.push(blockHeader(raw, piece.length, at + blockBytes >= bytes.length), Buffer.from(piece));
  }
  return Buffer.concat([frameHeader, ...blocks]);
}

/** Returns a frame of which every four bytes stand for a block of 128 KiB. */
export function zstdBomb(blocks: number): Buffer {
  const block = Buffer.concat([blockHeader(repeated, blockBytes, false), Buffer.from('x')]);
  return Buffer.concat([frameHeader, ...new Array<Buffer>(blocks).fill(block), blockHeader(raw, 0, true)]);
}

const blockBytes = 128 * 1024;
const raw = 0;
const repeated = 1;

/** The magic number, no checksum and no size, a window of 128 KiB. */
const frameHeader = Buffer.from('28b52ffd0038', 'hex');

function blockHeader(type: number, size: number, last: boolean): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | (type << 1) | (last ? 1 : 0), 0, 3);
  return header;
}
