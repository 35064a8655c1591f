import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cut, LogReading } from '../../../kernel/api/logs/log-format.js';
import { logFormats } from '../../../kernel/api/logs/log-formats.js';

const at = '[10/Oct/2025:13:55:36 +0000]';

/** Lines that match the usual cut of each format. */
const usualLines: Readonly<Record<string, readonly string[]>> = {
  combined: [
    `192.0.2.1 - ann ${at} "GET /cart?id=7 HTTP/1.1" 200 612 "http://shop.example/" "curl/8.5.0 (x)"`,
    `2001:db8::1 - - ${at} "HEAD / HTTP/2" 304 -`,
  ],
};

const cases = logFormats.flatMap(({ name, reading }) =>
  reading.kind !== 'lines'
    ? []
    : reading.shapes.flatMap(shape =>
        shape.usual === undefined ? [] : [{ name, reading, shape, usual: shape.usual }],
      ),
);

/** Returns the values that a cut finds in a line, and whether all of its patterns match; undefined if the first does not. */
function valuesOf(
  { pattern, splits = [] }: Cut,
  line: string,
  { absent }: Extract<LogReading, { kind: 'lines' }>,
) {
  const found = new RegExp(pattern, 'u').exec(line);
  if (found === null) return undefined;
  const groups: Record<string, string | undefined> = { ...found.groups };
  let isWhole = true;
  for (const { group, pattern } of splits) {
    const part = new RegExp(pattern, 'u').exec(groups[group] ?? '');
    delete groups[group];
    Object.assign(groups, part?.groups);
    isWhole &&= part !== null;
  }
  const isValue = ([name, value]: readonly [string, string | undefined]) =>
    value !== undefined && value !== '' && !(absent?.fields.includes(name) && value === absent.text);
  return { isWhole, values: Object.fromEntries(Object.entries(groups).filter(isValue)) };
}

const signs = [
  '',
  ' ',
  '  ',
  '"',
  '\\"',
  '\\',
  '[',
  ']',
  '-',
  ' - ',
  ',',
  ', ',
  '\t',
  ':',
  '/',
  '" "',
  'x',
  '7',
  'é',
];
const edit = fc.record({ at: fc.nat(120), length: fc.nat(3), text: fc.constantFrom(...signs) });

test.each(cases)(
  'the fast pattern of $name gives the same values as its full pattern',
  ({ name, reading, shape, usual }) => {
    let fitting = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...(usualLines[name] ?? [])),
        fc.array(edit, { maxLength: 3 }),
        (line, edits) => {
          const changed = edits.reduce(
            (text, { at, length, text: sign }) => text.slice(0, at) + sign + text.slice(at + length),
            line,
          );
          const found = valuesOf(usual, changed, reading);
          if (!found?.isWhole) return;
          fitting += 1;
          expect(valuesOf(shape, changed, reading)).toEqual(found);
        },
      ),
      { numRuns: 4_000, seed: 7 },
    );
    expect(fitting).toBeGreaterThan(1_000);
  },
);
