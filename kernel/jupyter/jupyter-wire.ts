import { createHmac, timingSafeEqual } from 'node:crypto';
import { present } from '../present.js';

/** The version of the messaging protocol that this kernel implements: https://jupyter-client.readthedocs.io/en/stable/messaging.html */
export const PROTOCOL_VERSION = '5.4';

/** The frame between the routing identities and the signed message. */
export const DELIMITER = Buffer.from('<IDS|MSG>');

/** A JSON object in a message. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Identifies one message. Unknown scalar fields of a received header are retained, so that a reply names its parent exactly. */
export interface Header {
  readonly msg_id: string;
  readonly msg_type: string;
  readonly session: string;
  readonly username: string;
  readonly date: string;
  readonly version: string;
}

/** A protocol message on any channel; `identities` are the routing frames, or the topic on iopub. */
export interface Message {
  readonly identities: readonly Uint8Array[];
  readonly header: Header;
  /** Empty if no request caused the message, as for the starting status. */
  readonly parentHeader: JsonObject;
  readonly metadata: JsonObject;
  readonly content: JsonObject;
  readonly buffers: readonly Uint8Array[];
}

/** Reason why frames were rejected as a message. */
export type RejectionCode =
  | 'too-large'
  | 'too-many-frames'
  | 'no-delimiter'
  | 'too-few-frames'
  | 'bad-signature'
  | 'replayed-signature'
  | 'malformed-json'
  | 'malformed-header'
  | 'unsupported-version';

/**
 * The result of decoding; `reason` is one line and quotes nothing from the message. A signed message that is too large lacks its
 * content but is returned, as its sender waits for a reply.
 */
export type Decoded =
  | { readonly kind: 'message'; readonly message: Message }
  | {
      readonly kind: 'rejected';
      readonly code: RejectionCode;
      readonly reason: string;
      readonly message?: Message;
    };

/** Signs and verifies the four JSON frames of a message with HMAC-SHA256; an empty key signs nothing and accepts everything. */
export interface Signer {
  sign(parts: readonly Uint8Array[]): string;
  verify(parts: readonly Uint8Array[], signature: Uint8Array): boolean;
}

/** Returns the signer for the connection's key. */
export function createSigner(key: string): Signer {
  if (key === '') return { sign: () => '', verify: () => true };
  const sign = (parts: readonly Uint8Array[]): string => {
    const hmac = createHmac('sha256', key);
    for (const part of parts) hmac.update(part);
    return hmac.digest('hex');
  };
  return {
    sign,
    verify(parts, signature) {
      // Only lowercase hex matches: another spelling would pass as a new signature.
      const expected = Buffer.from(sign(parts));
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    },
  };
}

/** Remembers at least the latest `capacity` signatures, and never more than twice as many. */
export class SeenSignatures {
  readonly #capacity: number;
  #recent = new Set<string>();
  #older = new Set<string>();

  constructor(capacity = 32_768) {
    this.#capacity = capacity;
  }

  /** Returns whether the signature is new, and records it. */
  admit(signature: string): boolean {
    if (this.#recent.has(signature) || this.#older.has(signature)) return false;
    this.#recent.add(signature);
    if (this.#recent.size >= this.#capacity) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    return true;
  }
}

/** Limits of one received message. */
export interface WireLimits {
  readonly maxBytes: number;
  readonly maxFrames: number;
}

/** Maximum header size, in bytes: all of its fields are short. */
const MAX_HEADER_BYTES = 64 * 1024;

/** 32 MiB in 4,096 frames: far larger than any cell, far smaller than a machine's memory. */
const WIRE_LIMITS: WireLimits = { maxBytes: 32 * 1024 * 1024, maxFrames: 4096 };

/**
 * Returns the frames of a signed message: identities, delimiter, signature, four JSON objects, buffers.
 * https://jupyter-client.readthedocs.io/en/stable/messaging.html#the-wire-protocol
 */
export function encode(message: Message, signer: Signer): Uint8Array[] {
  const parts = [message.header, message.parentHeader, message.metadata, message.content].map(part =>
    Buffer.from(JSON.stringify(part)),
  );
  return [...message.identities, DELIMITER, Buffer.from(signer.sign(parts)), ...parts, ...message.buffers];
}

/** Returns the message in `frames`, or the reason for rejecting them; never throws, whatever their content. */
export function decode(
  frames: readonly Uint8Array[],
  signer: Signer,
  seen: SeenSignatures,
  limits: WireLimits = WIRE_LIMITS,
): Decoded {
  if (frames.length > limits.maxFrames) {
    return rejected('too-many-frames', `${frames.length} frames, over ${limits.maxFrames}`);
  }
  const at = frames.findIndex(frame => DELIMITER.equals(frame));
  if (at < 0) return rejected('no-delimiter', 'no <IDS|MSG> frame');
  const [signature, header, parent, metadata, content, ...buffers] = frames.slice(at + 1);
  if (!signature || !header || !parent || !metadata || !content) {
    return rejected('too-few-frames', `${frames.length - at - 1} frames after the delimiter, not 5 or more`);
  }
  const parts = [header, parent, metadata, content];
  if (!signer.verify(parts, signature)) return rejected('bad-signature', 'the signature does not match');
  // Without a key there is no signature to remember.
  if (signature.length > 0 && !seen.admit(Buffer.from(signature).toString('latin1'))) {
    return rejected('replayed-signature', 'a message with this signature was received before');
  }
  const identities = frames.slice(0, at);
  const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
  if (bytes > limits.maxBytes) return tooLarge(identities, header, `${bytes} bytes, over ${limits.maxBytes}`);
  return read(identities, parts, buffers);
}

function tooLarge(identities: readonly Uint8Array[], header: Uint8Array, reason: string): Decoded {
  const empty = Buffer.from('{}');
  const short = header.length > MAX_HEADER_BYTES ? empty : header;
  const decoded = read(identities, [short, empty, empty, empty], []);
  return {
    ...rejected('too-large', reason),
    ...present({ message: decoded.kind === 'message' ? decoded.message : undefined }),
  };
}

function read(
  identities: readonly Uint8Array[],
  parts: readonly Uint8Array[],
  buffers: readonly Uint8Array[],
): Decoded {
  const objects = parts.map(parseObject);
  const bad = objects.indexOf(undefined);
  if (bad >= 0) return rejected('malformed-json', `the ${PART_NAMES[bad]} is not a JSON object in UTF-8`);
  const [fields = {}, parentHeader = {}, metadata = {}, content = {}] = objects;
  const header = readHeader(fields);
  if (!header) return rejected('malformed-header', 'the header lacks a msg_id, msg_type, session or version');
  if (!/^5(\.|$)/.test(header.version)) {
    return rejected(
      'unsupported-version',
      `the protocol version is not 5.x as this kernel's ${PROTOCOL_VERSION}`,
    );
  }
  return { kind: 'message', message: { identities, header, parentHeader, metadata, content, buffers } };
}

const PART_NAMES = ['header', 'parent header', 'metadata', 'content'];

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function parseObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a JSON value is an object, neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readHeader(fields: JsonObject): Header | undefined {
  const { msg_id, msg_type, session, version, username = '', date = '' } = fields;
  if (typeof msg_id !== 'string' || msg_id === '') return undefined;
  if (typeof msg_type !== 'string' || typeof session !== 'string' || typeof version !== 'string')
    return undefined;
  if (typeof username !== 'string' || typeof date !== 'string') return undefined;
  // Every reply repeats this header: scalars only, so that nested input cannot overflow the serializer.
  const scalars = Object.entries(fields).filter(([, value]) => typeof value !== 'object' || value === null);
  return { ...Object.fromEntries(scalars), msg_id, msg_type, session, version, username, date };
}

function rejected(code: RejectionCode, reason: string): Extract<Decoded, { readonly kind: 'rejected' }> {
  return { kind: 'rejected', code, reason };
}
