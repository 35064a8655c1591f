/**
 * A field of a Thrift struct in the compact protocol (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
 */
export interface ThriftField {
  readonly type: number;
  /** Encoded value, without the header. */
  readonly bytes: Buffer;
}

export type ThriftStruct = Map<number, ThriftField>;

const thrift = {
  true: 1,
  false: 2,
  byte: 3,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

/** Returns the structs of a list, none if the field is absent. Throws RangeError like {@link ThriftReader}. */
export function structsOf(field: ThriftField | undefined): readonly ThriftStruct[] {
  if (field === undefined) return [];
  const reader = new ThriftReader(field.bytes);
  const { size } = reader.listHeader();
  return Array.from({ length: size }, () => reader.struct());
}

/** Returns the struct in a field, empty if the field is absent. Throws RangeError like {@link ThriftReader}. */
export function structOf(field: ThriftField | undefined): ThriftStruct {
  return field === undefined ? new Map() : new ThriftReader(field.bytes).struct();
}

/** Returns the strings of a list, none if the field is absent. */
export function textsOf(field: ThriftField | undefined): readonly string[] {
  if (field === undefined) return [];
  const reader = new ThriftReader(field.bytes);
  const { size } = reader.listHeader();
  return Array.from({ length: size }, () => reader.binary().toString('utf8'));
}

/** Returns the string in a field, empty if the field is absent. */
export function textOf(field: ThriftField | undefined): string {
  return bytesOf(field)?.toString('utf8') ?? '';
}

/** Returns the bytes of a binary field. */
export function bytesOf(field: ThriftField | undefined): Buffer | undefined {
  return field && new ThriftReader(field.bytes).binary();
}

/** Returns the number in a field, exact up to 2^52. */
export function numberOf(field: ThriftField | undefined): number | undefined {
  if (field === undefined) return undefined;
  const doubled = new ThriftReader(field.bytes).varint();
  return doubled % 2 === 0 ? doubled / 2 : -(doubled + 1) / 2;
}

/** Returns the encoding of a struct. */
export function structBytes(struct: ThriftStruct): Buffer {
  let last = 0;
  const parts = [...struct]
    .sort(([a], [b]) => a - b)
    .flatMap(([id, { type, bytes }]) => {
      const header = Buffer.from([((id - last) << 4) | type]);
      last = id;
      return [header, bytes];
    });
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Returns a list of structs as an encoded field. */
export function structsField(structs: readonly ThriftStruct[]): ThriftField {
  const { length } = structs;
  const size: number[] = [];
  for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) size.push((rest % 128) + 128);
  size.push(Math.floor(length / 128 ** size.length));
  const header = length < 15 ? [(length << 4) | thrift.struct] : [0xf0 | thrift.struct, ...size];
  return { type: thrift.list, bytes: Buffer.concat([Buffer.from(header), ...structs.map(structBytes)]) };
}

/** Reads the compact protocol; throws RangeError at an early end. */
export class ThriftReader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads the header of the field after the one with id `last`; undefined at the end of the struct. */
  fieldHeader(last: number): { id: number; type: number } | undefined {
    const byte = this.#byte();
    if (byte === 0) return undefined;
    const id = byte >> 4 === 0 ? this.varint() / 2 : last + (byte >> 4);
    return { id, type: byte & 0x0f };
  }

  listHeader(): { size: number; type: number } {
    const byte = this.#byte();
    return { size: byte >> 4 === 15 ? this.varint() : byte >> 4, type: byte & 0x0f };
  }

  struct(): ThriftStruct {
    const fields: ThriftStruct = new Map();
    let last = 0;
    for (let header = this.fieldHeader(0); header !== undefined; header = this.fieldHeader(last)) {
      const start = this.at;
      this.skip(header.type);
      fields.set(header.id, { type: header.type, bytes: this.#bytes.subarray(start, this.at) });
      last = header.id;
    }
    return fields;
  }

  /** Reads an unsigned number of any length: a size, or twice a nonnegative number. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  binary(): Buffer {
    const size = this.varint();
    this.at += size;
    return this.#bytes.subarray(this.at - size, this.at);
  }

  skip(type: number): void {
    switch (type) {
      case thrift.true:
      case thrift.false:
        return;
      case thrift.byte:
        this.at += 1;
        return;
      case thrift.double:
        this.at += 8;
        return;
      case thrift.binary:
        this.binary();
        return;
      case thrift.list:
      case thrift.set: {
        const { size, type: inner } = this.listHeader();
        for (let index = 0; index < size; index++) this.#skipInList(inner);
        return;
      }
      case thrift.map: {
        const size = this.varint();
        const types = size === 0 ? 0 : this.#byte();
        for (let index = 0; index < size; index++) {
          this.#skipInList(types >> 4);
          this.#skipInList(types & 0x0f);
        }
        return;
      }
      case thrift.struct:
        for (let at = this.fieldHeader(0); at !== undefined; at = this.fieldHeader(at.id)) this.skip(at.type);
        return;
      default:
        this.varint();
    }
  }

  /** Booleans in lists take a byte. */
  #skipInList(type: number): void {
    if (type === thrift.true || type === thrift.false) this.at += 1;
    else this.skip(type);
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new RangeError('the footer of a Parquet file ends early');
    return byte;
  }
}
