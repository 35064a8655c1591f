import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { decodeSteps, decodeTabular } from '../../../kernel/result/decode/decode-arrow.js';
import { inSlices, type Steps } from '../../../kernel/result/decode/decode-slices.js';
import { responseBytes } from '../sample.js';

/** Returns a response with a column of over a megabyte, its columns before or after its fields. */
function largeBody(cell: (row: number) => string, order: 'fields first' | 'columns first'): Uint8Array {
  const cells = Array.from({ length: 50_000 }, (_, row) => cell(row)).join(',');
  const body = responseBytes([{ columns: [['c', 'string', `[${cells}]`]] }]);
  if (order === 'fields first') return body;
  const response = JSON.parse(new TextDecoder().decode(body));
  const [{ fields, ...rest }] = response.tables;
  return new TextEncoder().encode(JSON.stringify({ ...response, tables: [{ ...rest, fields }] }));
}

const bodies: readonly [string, Uint8Array][] = [
  ['strings', largeBody(row => `"a value of some length ${row}"`, 'fields first')],
  ['strings before their fields', largeBody(row => `"a value of some length ${row}"`, 'columns first')],
  [
    'strings and one number',
    largeBody(row => (row === 40_000 ? '1' : `"some value ${row}"`), 'fields first'),
  ],
  ['multibyte characters', largeBody(row => `"été 東京 🙂 ${row}"`, 'fields first')],
];

test.each(bodies)('decodes a large result of %s in many steps to the same table', (_, body) => {
  const work = decodeSteps(body);
  let steps = 1;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(steps).toBeGreaterThan(body.length / 2 ** 17);
  const [table] = step.value.tables;
  expect(table?.data.numRows).toBe(50_000);
  expect(table?.data.toString()).toBe(decodeTabular(body).tables[0]?.data.toString());
});

test('keeps characters split between slices, and replaces invalid UTF-8 with U+FFFD', () => {
  for (let shift = 0; shift < 4; shift++) {
    const text = `${'x'.repeat(2 ** 20 + shift - 120)}${'🙂'.repeat(100)}`;
    const body = responseBytes([{ columns: [['c', 'string', `["${text}"]`]] }]);
    expect(decodeTabular(body).tables[0]?.data.getChildAt(0)?.get(0)).toBe(text);
    body[body.indexOf(0xf0)] = 0x80;
    expect(decodeTabular(body).tables[0]?.data.getChildAt(0)?.get(0)).toContain('\ufffd');
  }
});

/** Counts to `end`, one millisecond per step. */
function* counting(end: number): Steps<number> {
  for (let count = 0; count < end; count++) {
    for (const until = performance.now() + 1; performance.now() < until; ) Math.random();
    yield;
  }
  return end;
}

test('yields to other work between slices', async () => {
  let turns = 0;
  let done = false;
  const others = (async () => {
    for (; !done; turns++) await nextTurn();
  })();
  expect(await inSlices(counting(50))).toBe(50);
  done = true;
  await others;
  expect(turns).toBeGreaterThan(3);
});

test('stops with the reason of an abort', async () => {
  const abort = new AbortController();
  const work = inSlices(counting(1_000_000), abort.signal);
  setTimeout(() => abort.abort(new Error('enough')), 10);
  await expect(work).rejects.toThrow('enough');
});
