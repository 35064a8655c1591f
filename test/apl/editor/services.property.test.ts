import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { complete } from '../../../kernel/apl/editor/completion/complete.js';
import { references, rename } from '../../../kernel/apl/editor/editor-definition.js';
import { hover, signatureHelp } from '../../../kernel/apl/editor/help/hover.js';
import { format } from '../../../kernel/apl/editor/layout/layout-format.js';
import { environment } from '../environment.js';

const word = fc.constantFrom(
  ...[
    'web',
    'spans',
    'let',
    'a',
    '=',
    ';',
    '|',
    'where',
    'summarize',
    'by',
    'join',
    'kind',
    'on',
    '$left',
    '.',
  ],
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    "'x'",
    '"',
    "'",
    '==',
    'in',
    'union',
    'search',
    'print',
    'count',
  ],
  ...[
    'datatable',
    'typeof',
    'mv-expand',
    'parse',
    'with',
    '*',
    '5m',
    '1',
    '-',
    '..',
    '\n',
    '\n\n',
    '// c\n',
    '%time',
  ],
  ...[
    'status',
    "['geo.city']",
    'attributes',
    'strlen',
    'make-series',
    'project-away',
    'lookup',
    'let t = web;',
    '<<',
  ],
);
const soup = fc.array(word, { maxLength: 30 }).map(words => words.join(' '));
const text = fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 60 }));

describe('editor services never fail on any text', () => {
  test('in completion, hover, signatures, references, renaming and formatting', () => {
    fc.assert(
      fc.property(text, fc.nat(200), (input, place) => {
        const offset = Math.min(place, input.length);
        const { from, to } = complete(input, offset, environment);
        expect(from <= offset && offset <= to && to <= input.length).toBe(true);
        const found = hover(input, offset, environment);
        if (found !== undefined) expect(found.from <= found.to && found.to <= input.length).toBe(true);
        signatureHelp(input, offset);
        references(input, offset, environment);
        rename(input, offset, 'b c', environment);
        expect(format(format(input))).toBe(format(input));
      }),
      { numRuns: 600, seed: 11 },
    );
  });

  test('with 20,000 open brackets', () => {
    const deep = `web | where ${'('.repeat(20_000)}`;
    expect(complete(deep, deep.length, environment).items).toEqual([]);
    expect(hover(deep, deep.length, environment)).toBeUndefined();
    expect(format(deep)).toBe(deep.replace(' | ', '\n| '));
  });
});
