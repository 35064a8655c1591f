import { MessageChannel } from 'node:worker_threads';
import duckdb from '@duckdb/node-bindings';

/** A vector of the engine. */
export type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;

/** Buffers transferred to a closed port are freed at once. */
const { port1: nowhere } = new MessageChannel();
nowhere.close();

/**
 * Copies of the engine's memory; the binding makes a new one each time. Left to the garbage collector, the copies of a large result would
 * trigger many full collections, which take longer than reading the result.
 */
export class Copies {
  #buffers: ArrayBuffer[] = [];

  /** Returns the first bytes of a vector. */
  data(vector: Vector, bytes: number): Uint8Array<ArrayBuffer> {
    return this.#own(duckdb.vector_get_data(vector, bytes));
  }

  /** Returns a bit for each row of a vector, set if it is not null; null if all are set. */
  validity(vector: Vector, rows: number): Uint8Array | null {
    const bits = duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8);
    return bits === null ? null : this.#own(bits);
  }

  /** Returns the bytes at an address. */
  at(address: number, bytes: number): Uint8Array {
    pointer[0] = BigInt(address);
    return this.#own(duckdb.get_data_from_pointer(pointer.buffer, 0, bytes));
  }

  /** Frees the memory of all copies, which become empty. */
  release(): void {
    if (this.#buffers.length > 0) nowhere.postMessage(null, this.#buffers);
    this.#buffers = [];
  }

  #own(copy: Uint8Array): Uint8Array<ArrayBuffer> {
    const own = copy as Uint8Array<ArrayBuffer>;
    if (own.byteLength === own.buffer.byteLength) this.#buffers.push(own.buffer);
    return own;
  }
}

const pointer = new BigUint64Array(1);
