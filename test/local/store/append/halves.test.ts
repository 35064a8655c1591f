import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Halves } from '../../../../kernel/local/store/append/halves.js';

/** Passes a text in two chunks; returns the output and the number of bytes saved. */
async function through(text: string, at = text.length): Promise<readonly [text: string, saved: number]> {
  const halves = new Halves();
  const bytes = Buffer.from(text);
  const pieces = Readable.from([bytes.subarray(0, at), bytes.subarray(at)]);
  const out: Buffer[] = [];
  for await (const chunk of pieces.pipe(halves)) out.push(chunk);
  return [Buffer.concat(out).toString(), halves.saved];
}

test.each([
  ['a surrogate pair', String.raw`"\ud83d\uDE00"`, '"\u{1f600}"', 8],
  ['a lone high surrogate', String.raw`"\ud83d"`, String.raw`"\ufffd"`, 0],
  ['a lone low surrogate', String.raw`"\uDE00"`, String.raw`"\ufffd"`, 0],
  ['a lone surrogate before a pair', String.raw`"\ud83d\ud83d\ude00"`, '"\\ufffd\u{1f600}"', 8],
  ['a lone surrogate at the end', String.raw`"\ud83d`, String.raw`"\ufffd`, 0],
  ['a preceding backslash', String.raw`"\\ud83d\\\ud83d"`, String.raw`"\\ud83d\\\ufffd"`, 0],
  [
    'other escapes',
    String.raw`"\u00e9\n\"\ud7ff\ue000\UD83D"`,
    String.raw`"\u00e9\n\"\ud7ff\ue000\UD83D"`,
    0,
  ],
  ['letters beyond ASCII', '"\u00e9 \u{1f600}"', '"\u00e9 \u{1f600}"', 0],
])('%s', async (_, text, wanted, saved) => {
  for (let at = 0; at <= Buffer.byteLength(text); at += 1)
    expect(await through(text, at)).toEqual([wanted, saved]);
});

const unit = fc.constantFrom('\\', '\\\\', '\\"', '\\ud83d', '\\ude00', '\\u00e9', 'u', 'd83d', '\u{1f600}');

test('JSON keeps everything but lone surrogates, however it is chunked', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { maxLength: 12 }), fc.nat(60), async (units, at) => {
      const text = `"${units.join('')}"`;
      const [out, saved] = await through(text, Math.min(at, Buffer.byteLength(text)));
      expect(saved).toBe(Buffer.byteLength(text) - Buffer.byteLength(out));
      expect(parsed(out)).toBe(parsed(text));
    }),
    { numRuns: 2_000 },
  );
});

/** Returns the parsed value as JSON; undefined if the text is not JSON. */
function parsed(text: string): string | undefined {
  try {
    return JSON.parse(text).toWellFormed();
  } catch {
    return undefined;
  }
}
