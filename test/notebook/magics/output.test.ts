import { describe, expect, test } from 'vitest';
import { markdownOutput, tableOutput, textOutput } from '../../../kernel/notebook/magics/output.js';

const plain = (rows: readonly (readonly string[])[], caption = 'c') =>
  String(tableOutput(['name', 'n'], rows, caption).data['text/plain']);
const html = (rows: readonly (readonly string[])[], caption = 'c') =>
  String(tableOutput(['name', 'n'], rows, caption).data['text/html']);

describe('a small table', () => {
  test('is aligned by display width', () => {
    const rows = [
      ['a', '1'],
      ['longer', '22'],
      ['\u5317\u4eac', '3'],
    ];
    expect(plain(rows).split('\n')).toEqual([
      'c',
      '',
      'name    n',
      'a       1',
      'longer  22',
      '\u5317\u4eac    3',
    ]);
  });

  test('shows at most 60 rows in plain text, and says so', () => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => [`r${at}`, '']);
    expect(plain(rows(60)).split('\n').at(-1)?.trim()).toBe('r59');
    const lines = plain(rows(61)).split('\n');
    expect(lines.slice(-2).map(line => line.trim())).toEqual(['r59', 'The first 60 of 61 rows are shown.']);
  });

  test('without rows is only its caption', () => {
    expect([plain([]), html([])]).toEqual(['c', expect.stringMatching(/^(<div[^>]*>)+c(<\/div>)+$/)]);
  });

  test('has space between its columns, unless the page styles tables', () => {
    expect(html([['a', '1']])).toContain('<style>:where(.apl-list :is(th,td)){padding:2px 8px}');
  });

  test('has a header and a line for each row', () => {
    const cells = [...html([['a', '1']]).matchAll(/<(th|td)\b[^>]*>([^<]*)</g)];
    expect(cells.map(([, tag, text]) => `${tag} ${text}`)).toEqual(['th name', 'th n', 'td a', 'td 1']);
  });

  test('wraps values of more than 32 characters', () => {
    expect(html([['x'.repeat(32), '']])).not.toContain('pre-wrap;');
    expect(html([['x'.repeat(33), '']])).toContain(
      'white-space:pre-wrap;overflow-wrap:anywhere;min-width:16em"',
    );
  });

  test('truncates long values, with a tooltip, and long words of its caption', () => {
    const rows = [['x'.repeat(301), 'y'.repeat(300)]];
    expect(html(rows)).toContain(` title="${'x'.repeat(301)}">${'x'.repeat(299)}\u2026</td>`);
    expect(html(rows)).toContain(`">${'y'.repeat(300)}</td>`);
    expect(html([['x'.repeat(2001), '']])).toContain(` title="${'x'.repeat(1999)}\u2026">`);
    expect(plain(rows, `with "${'z'.repeat(4_000)}"`).split('\n')).toEqual([
      `with "${'z'.repeat(199)}\u2026"`,
      '',
      `name${' '.repeat(298)}n`,
      `${'x'.repeat(299)}\u2026  ${'y'.repeat(300)}`,
    ]);
  });

  test('opts out of LaTeX rendering', () => {
    expect(html([['$a$', '$b$']], '$c$')).toMatch(/^<div class="tex2jax_ignore mathjax_ignore">.*<\/div>$/s);
  });

  test('renders code in its caption as code', () => {
    expect(html([], 'write `a<b` or `c`, not `')).toContain(
      'write <code>a&#60;b</code> or <code>c</code>, not &#96;</div>',
    );
  });
});

describe('untrusted text is escaped:', () => {
  const hidden = [
    '\u001b]0;t\u0007',
    '\u009b2J',
    '\r',
    '\u202e',
    '\u2066',
    '\u2069',
    '\u200b',
    '\u2028',
    '\ufeff',
  ];

  test.each(hidden)('%j', text => {
    const value = `a${text}b`;
    const outputs = [tableOutput([value], [[value]], value), textOutput(value)];
    const shown = outputs.flatMap(({ data }) => Object.values(data)).map(String);
    for (const each of shown) expect(each.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  });

  test('markup', () => {
    const value = '<img src=x onerror="a()">&\'';
    const shown = html([[value, value]], value);
    expect(shown).not.toMatch(/<img|onerror="/);
    expect(shown).toContain('&#60;img');
  });

  test('line breaks in a cell of the plain text', () => {
    expect(plain([['a\nb', '1']]).split('\n')).toEqual(['c', '', 'name  n', 'a b   1']);
  });
});

test('Markdown output is its own plain text', () => {
  expect(markdownOutput('**a**')).toEqual({
    data: { 'text/markdown': '**a**', 'text/plain': '**a**' },
    metadata: {},
  });
});
