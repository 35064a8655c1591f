import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createSigner,
  DELIMITER,
  decode,
  encode,
  type Header,
  type Message,
  SeenSignatures,
} from '../../kernel/jupyter/jupyter-wire.js';

const signer = createSigner('key');

const header: Header = {
  msg_id: 'm1',
  msg_type: 'execute_request',
  session: 's1',
  username: 'u',
  date: '2026-01-01T00:00:00Z',
  version: '5.4',
};

const message: Message = {
  identities: [Buffer.from('client')],
  header,
  parentHeader: {},
  metadata: {},
  content: { code: 'print x = 1' },
  buffers: [Buffer.from([1, 2, 3])],
};

const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
const bytes = fc.uint8Array({ maxLength: 40 }).map(data => Buffer.from(data));

const anyMessage: fc.Arbitrary<Message> = fc.record({
  identities: fc.array(bytes, { maxLength: 3 }),
  header: fc.record({
    msg_id: fc.string({ minLength: 1 }),
    msg_type: fc.string(),
    session: fc.string(),
    username: fc.string(),
    date: fc.string(),
    version: fc.constantFrom('5.0', '5.3', '5.4', '5'),
  }),
  parentHeader: json,
  metadata: json,
  content: json,
  buffers: fc.array(bytes, { maxLength: 3 }),
});

describe('frames', () => {
  test('round-trip', () => {
    fc.assert(
      fc.property(anyMessage, sent => {
        const decoded = decode(encode(sent, signer), signer, new SeenSignatures());
        // One JSON round trip: JSON has no -0.
        expect(decoded).toEqual({
          kind: 'message',
          message: { ...sent, ...JSON.parse(JSON.stringify(jsonOf(sent))) },
        });
      }),
    );
  });

  test('fail the signature check when any signed byte is flipped', () => {
    const frames = encode(message, signer).map(frame => Buffer.from(frame));
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (position, flip) => {
        const flipped = frames.map(frame => Buffer.from(frame));
        const signed = Buffer.concat(flipped.slice(2, 7));
        const at = position % signed.length;
        signed[at] = (signed[at] ?? 0) ^ flip;
        let start = 0;
        for (const frame of flipped.slice(2, 7)) {
          signed.copy(frame, 0, start, start + frame.length);
          start += frame.length;
        }
        expect(decode(flipped, signer, new SeenSignatures())).toMatchObject({ code: 'bad-signature' });
      }),
      { numRuns: 500 },
    );
  });

  test('never throw when decoded, whatever they contain', () => {
    const frame = fc.oneof(
      bytes,
      fc.constant(Buffer.from('<IDS|MSG>')),
      fc.json().map(text => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 10 }), frames => {
        const { kind } = decode(frames, createSigner(''), new SeenSignatures());
        expect(['message', 'rejected']).toContain(kind);
      }),
    );
  });
});

describe('decode rejects', () => {
  const parts = (
    over: Partial<Record<'header' | 'parent' | 'metadata' | 'content', string | Buffer>> = {},
  ) => {
    const all = { header: JSON.stringify(header), parent: '{}', metadata: '{}', content: '{}', ...over };
    return [all.header, all.parent, all.metadata, all.content].map(part => Buffer.from(part));
  };
  const signed = (frames: Buffer[]) => [
    Buffer.from('<IDS|MSG>'),
    Buffer.from(signer.sign(frames)),
    ...frames,
  ];
  const withHeader = (over: object) => signed(parts({ header: JSON.stringify({ ...header, ...over }) }));
  const good = signed(parts());

  const cases: readonly (readonly [string, readonly Uint8Array[], string])[] = [
    ['no frames', [], 'no-delimiter'],
    ['no delimiter', good.slice(1), 'no-delimiter'],
    ['only a delimiter', good.slice(0, 1), 'too-few-frames'],
    ['one frame too few', good.slice(0, 5), 'too-few-frames'],
    [
      'another key',
      [...good.slice(0, 1), Buffer.from(createSigner('other').sign(parts())), ...parts()],
      'bad-signature',
    ],
    ['an empty signature', [...good.slice(0, 1), Buffer.alloc(0), ...parts()], 'bad-signature'],
    [
      'an uppercase signature',
      good.map((f, i) => (i === 1 ? Buffer.from(f.toString().toUpperCase()) : f)),
      'bad-signature',
    ],
    ['a part that is not JSON', signed(parts({ content: '{"a":' })), 'malformed-json'],
    ['an array as content', signed(parts({ content: '[]' })), 'malformed-json'],
    ['null as the parent', signed(parts({ parent: 'null' })), 'malformed-json'],
    [
      'bytes that are not UTF-8',
      signed(parts({ metadata: Buffer.from('{"a":"\xff"}', 'latin1') })),
      'malformed-json',
    ],
    ['no message id', withHeader({ msg_id: undefined }), 'malformed-header'],
    ['an empty message id', withHeader({ msg_id: '' }), 'malformed-header'],
    ['a number as the type', withHeader({ msg_type: 7 }), 'malformed-header'],
    ['no session', withHeader({ session: null }), 'malformed-header'],
    ['no version', withHeader({ version: undefined }), 'malformed-header'],
    ['version 4', withHeader({ version: '4.1' }), 'unsupported-version'],
    ['version 50', withHeader({ version: '50.1' }), 'unsupported-version'],
  ];
  test.each(cases)('%s', (_, frames, code) => {
    expect(decode(frames, signer, new SeenSignatures())).toMatchObject({ kind: 'rejected', code });
  });

  test('too many bytes or frames, with the header of a signed message that is too large', () => {
    const limits = { maxBytes: 1000, maxFrames: 10 };
    const decodeWithin = (frames: Uint8Array[]) => decode(frames, signer, new SeenSignatures(), limits);
    const large = decodeWithin([...good, Buffer.alloc(1000)]);
    const { header } = message;
    expect(large).toMatchObject({
      code: 'too-large',
      message: { header, identities: [], content: {}, buffers: [] },
    });
    const unsigned = good.with(good.findIndex(frame => DELIMITER.equals(frame)) + 1, Buffer.from('0'));
    expect(decodeWithin([...unsigned, Buffer.alloc(1000)])).toMatchObject({ code: 'bad-signature' });
    const wordy = { ...message, header: { ...header, username: 'x'.repeat(64 * 1024) } };
    expect(decodeWithin(encode(wordy, signer))).toEqual({
      kind: 'rejected',
      code: 'too-large',
      reason: expect.stringMatching(/^\d+ bytes, over 1000$/),
    });
    expect(decodeWithin([...good, ...Array.from({ length: 5 }, () => Buffer.alloc(0))])).toMatchObject({
      code: 'too-many-frames',
    });
  });

  test('a replayed signature', () => {
    const seen = new SeenSignatures();
    expect(decode(good, signer, seen).kind).toBe('message');
    expect(decode(good, signer, seen)).toMatchObject({ code: 'replayed-signature' });
  });
});

test('without a key, any signature passes and none is written', () => {
  const open = createSigner('');
  expect(encode(message, open)[2]).toEqual(Buffer.alloc(0));
  const seen = new SeenSignatures();
  expect([
    decode(encode(message, open), open, seen).kind,
    decode(encode(message, open), open, seen).kind,
  ]).toEqual(['message', 'message']);
});

test('a header keeps unknown scalars and drops objects and arrays', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const nested = JSON.stringify({ ...header, subshell_id: 'a' }).replace('}', `,"deep":${deep}}`);
  const frames = [nested, '{}', '{}', '{}'].map(part => Buffer.from(part));
  const all = [Buffer.from('<IDS|MSG>'), Buffer.from(signer.sign(frames)), ...frames];
  const decoded = decode(all, signer, new SeenSignatures());
  expect(decoded.kind === 'message' && decoded.message.header).toEqual({ ...header, subshell_id: 'a' });
});

test('seen signatures keep at least the latest hundred, and forget the oldest', () => {
  const seen = new SeenSignatures(100);
  const all = Array.from({ length: 1000 }, (_, i) => `signature ${i}`);
  expect(all.every(signature => seen.admit(signature))).toBe(true);
  expect(all.slice(-100).some(signature => seen.admit(signature))).toBe(false);
  expect(seen.admit('signature 0')).toBe(true);
});

function jsonOf({ parentHeader, metadata, content }: Message): object {
  return { parentHeader, metadata, content };
}
