/** Enables LZ4-compressed buffers in Arrow, for reading and writing, once this module is loaded. Free of Node.js. */
import { CompressionType, compressionRegistry, type Table, tableFromIPC } from 'apache-arrow';
import { decodeLz4, encodeLz4 } from './lz4.js';

compressionRegistry.set(CompressionType.LZ4_FRAME, { encode: encodeLz4, decode: decodeLz4 });

/** Returns the table of a stream; throws if it is damaged. */
export function tableOf(bytes: Uint8Array): Table {
  return tableFromIPC(bytes);
}
