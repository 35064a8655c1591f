import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import {
  cut,
  escapeHtml,
  escapeMarkdown,
  escapeMarkdownCell,
  escapeMarkdownLine,
  formatBytes,
  formatCount,
  isolated,
  isolatedWords,
  markdownParts,
  maskedTokens,
  oneLine,
  partRead,
  plural,
  spreadsheetText,
  visible,
  visibleAgain,
  visibleLines,
  withoutTokens,
  withoutTokensIn,
} from '../kernel/text.js';

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Characters and fragments with a meaning in Markdown or LaTeX. */
const markdownSign = fc.constantFrom(
  ...'\\`*_{}[]()<>#|~!&$:@+-.;w0a \n',
  '&#92;',
  '<span>',
  'begin',
  'ref',
  'www.',
);

describe('invisible characters are made visible', () => {
  test.each([
    ['plain text', 'plain text'],
    ['a\nb\tc', 'a\u21b5b\u21e5c'],
    [
      '\u001b[31mred\u0007\u0000\u007f',
      '\u27e8U+001B\u27e9[31mred\u27e8U+0007\u27e9\u27e8U+0000\u27e9\u27e8U+007F\u27e9',
    ],
    ['\u009b2J', '\u27e8U+009B\u27e92J'],
    ['evil\u202etxt.exe', 'evil\u27e8U+202E\u27e9txt.exe'],
    [
      '\u2066a\u2069\u200f\u061c',
      '\u27e8U+2066\u27e9a\u27e8U+2069\u27e9\u27e8U+200F\u27e9\u27e8U+061C\u27e9',
    ],
    [
      'pay\u200bpal\ufeff\u00ad\u2060',
      'pay\u27e8U+200B\u27e9pal\u27e8U+FEFF\u27e9\u27e8U+00AD\u27e9\u27e8U+2060\u27e9',
    ],
    ['a\u200db', 'a\u27e8U+200D\u27e9b'],
    ['tag \u{e0041}', 'tag \u27e8U+E0041\u27e9'],
    ['a\u2028b', 'a\u27e8U+2028\u27e9b'],
    ['a\r\nb\rc\n\r', 'a\u21b5b\u27e8U+000D\u27e9c\u21b5\u27e8U+000D\u27e9'],
    ['half \ud800', 'half \ufffd'],
    [
      '\ud83d\udc69\u200d\ud83d\udc67 \u2764\ufe0f \u05e9\u05dc\u05d5\u05dd',
      '\ud83d\udc69\u200d\ud83d\udc67 \u2764\ufe0f \u05e9\u05dc\u05d5\u05dd',
    ],
  ])('%j', (text, expected) => expect(visible(text)).toBe(expected));
});

test('line breaks stay in text of several lines, and other invisible characters are marked', () => {
  expect(visibleLines('a\nb\r\n\tc\r\u202e\u001b[2J')).toBe(
    'a\nb\n\tc\u27e8U+000D\u27e9\u27e8U+202E\u27e9\u27e8U+001B\u27e9[2J',
  );
});

test.each(['\u05d0', 'a\u0627b', '\ufb1d', '\ufefc', '\u{10800}', '\u{1e900}'])(
  '%s is isolated because it has right-to-left letters',
  text => expect(isolated(text)).toBe(`\u2068${text}\u2069`),
);

test.each(['ascii', 'caf\u00e9 \u65e5\u672c \u{1f469} \ufeff'])('%s is not isolated', text =>
  expect(isolated(text)).toBe(text),
);

test('isolates each run of right-to-left words in a sentence', () =>
  expect(isolatedWords('a \u05d0\u05d1 \u05d2 b, \u0627 c')).toBe(
    'a \u2068\u05d0\u05d1 \u05d2\u2069 b, \u2068\u0627\u2069 c',
  ));

test('marking text again keeps right-to-left isolation and shows other marks', () => {
  const text = `a ${isolated('\u05d0')} b\n\u2068x\u2069 \u2068\u202e\u2069`;
  expect(visibleAgain(text)).toBe(
    'a \u2068\u05d0\u2069 b\nx \u27e8U+2068\u27e9\u27e8U+202E\u27e9\u27e8U+2069\u27e9',
  );
});

describe('HTML', () => {
  test.each([
    [`<a href="x" title='y'>&\``, '&#60;a href=&#34;x&#34; title=&#39;y&#39;&#62;&#38;&#96;'],
    ['\u202e<\u0000\n\t', '\u27e8U+202E\u27e9&#60;\u27e8U+0000\u27e9\n\t'],
  ])('%j', (text, expected) => expect(escapeHtml(text)).toBe(expected));

  test('escaped text has no markup and no invisible character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const html = escapeHtml(text).replace(/&#\d+;/g, '');
        expect(html).not.toMatch(/[&<>"'`]/);
        expect(visibleLines(html)).toBe(html);
      }),
    );
  });
});

describe('Markdown', () => {
  test.each([
    ['<b> *b* _i_ `c` ~~d~~ # h', '\\<b\\> \\*b\\* \\_i\\_ \\`c\\` \\~\\~d\\~\\~ \\# h'],
    ['[x](javascript:y) ![i](z)', '\\[x\\](javascript\\:y) \\!\\[i\\](z)'],
    ['a|b\r\nc\u202e', 'a\\|b\u21b5c\u27e8U+202E\u27e9'],
    ['www.evil.invalid me@evil.invalid &lt;', 'www\\.evil.invalid me\\@evil.invalid \\&lt;'],
    ['- item', '\\- item'],
    ['12. item', '12\\. item'],
    ['-5', '-5'],
    ['C:\\temp', 'C\\:&#92;temp'],
    ['5$', '5\\$'],
    ['5$ or 6$', '5<span>\\$</span> or 6<span>\\$</span>'],
    ['\\(x\\) \\\\', '<span>&#92;</span>(x<span>&#92;</span>) <span>&#92;</span>&#92;'],
    ['\\begin{x} \\ref{y}', '<span>&#92;</span>begin\\{x\\} <span>&#92;</span>ref\\{y\\}'],
    ['@@0@@', '&#64;\\@0&#64;\\@'],
  ])('escapes %j as %j', (text, expected) => expect(escapeMarkdown(text)).toBe(expected));

  test('any escaped text is shown as that text on one line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: markdownSign })), text => {
        const shown = [...markdownParts(escapeMarkdown(text))];
        expect(shown.every(({ kind }) => kind === 'text')).toBe(true);
        expect(shown.map(part => part.text).join('')).toBe(visible(text).replace(/\s+/g, ' '));
      }),
    );
  });

  test.each([
    ...[
      '2026-11-24T02:20:00Z',
      '_time',
      'GET /api/v1/carts?id=1&b=2',
      '["a", {"b": 1}]',
      'C:\\temp',
      '5 * 3',
    ],
    ...['service_name', '#1 (first)', '!x > 5', 'a_b_c', '50% ~ 60%'],
  ])('a table cell leaves %j unchanged', text => expect(escapeMarkdownCell(text)).toBe(text));

  test('a table cell escapes markup', () => {
    expect(escapeMarkdownCell('a | b')).toBe('a \\| b');
    expect(escapeMarkdownCell('[x](javascript:y)')).toBe('\\[x\\](javascript\\:y)');
    expect(escapeMarkdownCell('5$ or 6$')).toBe('5<span>\\$</span> or 6<span>\\$</span>');
  });

  test.each([
    ['*b*', '\\*b\\*'],
    ['~~d~~', '\\~\\~d\\~\\~'],
    ['an _i_', 'an \\_i\\_'],
    ['a_ b_c', 'a\\_ b\\_c'],
  ])('a table cell escapes the pair in %j', (text, expected) =>
    expect(escapeMarkdownCell(text)).toBe(expected),
  );

  test('a table cell shows any text as plain text', () => {
    const reader = new MarkdownIt({ html: true, linkify: true });
    const unescaped = (html: string) =>
      html
        .replace(/<\/?span>/g, '')
        .replace(/&(lt|gt|amp|quot);/g, (_, name: string) => ENTITIES[name] ?? '');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: markdownSign })), text => {
        const html = reader.render(`| a |\n|---|\n| ${escapeMarkdownCell(text)} |\n`);
        const cell = /<td>(.*)<\/td>/s.exec(html)?.[1] ?? '';
        expect(unescaped(cell).trim()).toBe(visible(text).replace(/\s+/g, ' ').trim());
      }),
    );
  });

  test.each([
    '2026-01-26T15:09:00Z..2026-01-26T15:36:00Z',
    'Events: 6,218',
    'req_duration_ms >= 500',
    'a - b',
  ])('a line leaves %j unchanged', text => expect(escapeMarkdownLine(text)).toBe(text));

  test('a line shows any text as one plain paragraph', () => {
    const reader = new MarkdownIt({ html: true, linkify: true });
    const starts = fc.constantFrom(
      '',
      '# ',
      '> ',
      '- ',
      '+ ',
      '1. ',
      '2) ',
      '=',
      '---',
      '    ',
      '\t',
      '[a]: b',
      '***',
    );
    const unescaped = (html: string) =>
      html
        .replace(/<\/?span>/g, '')
        .replace(/&(lt|gt|amp|quot);/g, (_, name: string) => ENTITIES[name] ?? '');
    fc.assert(
      fc.property(starts, fc.oneof(fc.string(), fc.string({ unit: markdownSign })), (start, rest) => {
        const text = `${start}${rest}`;
        const html = reader.render(`before\n\n${escapeMarkdownLine(text)}\n`);
        const line = visible(text).replace(/\s+/g, ' ').trim();
        expect(html.split('\n').slice(1).map(unescaped).join('\n')).toBe(
          line === '' ? '' : `<p>${line}</p>\n`,
        );
      }),
    );
  });

  test('markdownParts splits code, line breaks and escapes, without their markup', () => {
    expect([...markdownParts('a `b\\*` \\* `` c`d ``  \ne')].filter(({ text }) => text !== '')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b\\*' },
      { kind: 'text', text: ' ' },
      { kind: 'text', text: '*' },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'c`d' },
      { kind: 'break', text: '\n' },
      { kind: 'text', text: 'e' },
    ]);
  });
});

test('cutting keeps surrogate pairs whole', () => {
  expect(cut('abcdef', 6)).toBe('abcdef');
  expect(cut('abcdefg', 6)).toBe('abcde\u2026');
  expect(cut('abcd\ud83d\ude00fg', 6)).toBe('abcd\u2026');
});

test.each([
  ['  a\r\n\t b\u2028c ', 'a b c'],
  ['\u001b[31mred\n\u202e', '\u27e8U+001B\u27e9[31mred \u27e8U+202E\u27e9'],
  ['abc defg', 'abc de\u2026'],
])('%j fits on one line', (text, expected) => {
  expect(oneLine(text, text.startsWith('abc') ? 7 : 80)).toBe(expected);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [1_234_567_890, '1,234,567,890'],
  [-12_345, '-12,345'],
  [1_234.5678, '1,234.5678'],
  [Number.MAX_SAFE_INTEGER, '9,007,199,254,740,991'],
])('%d is written as %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test('a noun is plural unless its count is one', () => {
  expect([plural(1, 'row'), plural(0, 'row'), plural(12_345, 'query', 'queries')]).toEqual([
    '1 row',
    '0 rows',
    '12,345 queries',
  ]);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [999_499, '999 kB'],
  [12_345_678, '12.3 MB'],
  [1_000_000_000, '1 GB'],
  [5e15, '5000 TB'],
])('%d bytes are written as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0.1, 0, '10 %'],
  [0.5, 24_680, '50 %, about 12,000 rows'],
  [0.509, 12_345_678, '50 %, about 6,300,000 rows'],
  [0, 10, '0 %'],
  [0.1, 10, '10 %, about 1 row'],
  [0.999, 0, '99 %'],
  [1, 24_680, '100 %, about 25,000 rows'],
])('progress at %d of an import of about %d rows is written as %s', (share, rows, text) => {
  expect(partRead(share, rows)).toBe(text);
});

describe('masking access tokens', () => {
  test.each([
    ['key xaat-1a2b-3c and xapt-9', 'key *** and ***'],
    ['"xaat-1"', '"***"'],
    ['%20xaat-1', '%20***'],
    ['token_xaat-1', 'token_***'],
    ['maxapt-1', 'maxapt-1'],
    ['Authorization: Bearer ya29.a0AfB_byC-1234', 'Authorization: Bearer ***'],
    ['bearer\n0123456789abcdef', 'bearer\n***'],
    ['bearer of news, bearer tokens', 'bearer of news, bearer tokens'],
  ])('turns %j into %j', (text, kept) => {
    expect(withoutTokens(text)).toBe(kept);
    expect(maskedTokens(text).length).toBe(text.length);
    expect(maskedTokens(text) === text).toBe(kept === text);
  });

  test('covers keys and values of JSON', () => {
    const value = { 'xaat-1': ['xapt-2', 3, null, true], a: 'b' };
    expect(withoutTokensIn(value)).toEqual({ '***': ['***', 3, null, true], a: 'b' });
  });
});

/** Prefixes that spreadsheets run or split into cells: https://owasp.org/www-community/attacks/CSV_Injection */
const dangerous = ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20', '\t', '\r', '\n'];

describe.each(dangerous)('a spreadsheet cell that begins with %j', sign => {
  test.each([
    '',
    ' ',
    '  ',
    '\t',
    '\r',
    '\n',
    '\u00a0',
    '\u3000',
    '\ufeff',
    '\u200b',
    '\u0000',
    "'",
    "''",
    " '",
  ])('is escaped after %j', before => {
    const isText = before === " '";
    const text = `${before}${sign}1+1`;
    expect(spreadsheetText(text)).toBe(isText ? text : `'${text}`);
  });
});

test.each(['', 'a=1', '1', '1-2', "it's", "'quoted'", 'a\n=1', '#1', '%', '|'])(
  '%j is not escaped for a spreadsheet',
  text => {
    expect(spreadsheetText(text)).toBe(text);
  },
);
