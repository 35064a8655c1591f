import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { strings } from '../../../../kernel/local/duckdb/functions/duckdb-strings.js';
import { checkPattern } from '../../../../kernel/local/duckdb/regex.js';
import type { SqlArg, SqlTemplate } from '../../../../kernel/local/sql/sql-template.js';
import { b, checkAll, context, d, evaluator, j, n, nul, opaque, openEngine, r, s } from './harness.js';

const engine = openEngine();
const maxLong = 9223372036854775807n;

describe('measuring and comparing', () => {
  checkAll(engine, strings, [
    ['strlen', [s('héllo 👩‍🚀')], 9n],
    ['strlen', [s('')], 0n],
    ['strlen', [nul('string')], null],
    ['string_size', [s('héllo')], 6n],
    ['strcmp', [s('a'), s('b')], -1n],
    ['strcmp', [s('b'), s('a')], 1n],
    ['strcmp', [s('é'), s('é')], 0n],
    ['strcmp', [nul('string'), s('a')], null],
    ['isascii', [s('GET /')], true],
    ['isascii', [s('café')], false],
    ['isascii', [s('')], true],
    ['isempty', [s('')], true],
    ['isempty', [s(' ')], false],
    ['isempty', [nul('string')], true],
    ['isempty', [n(0n)], false],
    ['isempty', [j('')], true],
    ['isempty', [j([])], false],
    ['isempty', [nul('dynamic')], true],
    ['isnotempty', [s('a')], true],
    ['isnotempty', [nul('long')], false],
    ['isnull', [s('')], false],
    ['isnull', [nul('datetime')], true],
    ['isnotnull', [s('')], true],
    ['isnotnull', [nul('string')], false],
    ['coalesce', [s(''), nul('string'), s('c')], 'c'],
    ['coalesce', [nul('string'), s('')], ''],
    ['coalesce', [nul('long'), n(0n), n(1n)], 0n],
    ['coalesce', [nul('long'), nul('long')], null],
    ['coalesce', [j(''), j([1])], [1]],
  ]);
});

describe('searching', () => {
  checkAll(engine, strings, [
    ['countof', [s('/'), s('/api/v1/users')], 3n],
    ['countof', [s('aa'), s('aaaa')], 2n],
    ['countof', [s(''), s('héy')], 4n],
    ['countof', [s('é'), s('éaé')], 2n],
    ['countof_regex', [s('[0-9]+'), s('/users/123/posts/456')], 2n],
    ['countof_regex', [s("'"), s("it''s")], 2n],
    ['countof_regex', [s('a'), nul('string')], null],
    ['extract', [s('/users/([0-9]+)'), n(1n), s('/users/42')], '42', [1]],
    ['extract', [s('/users/([0-9]+)'), n(0n), s('x/users/42')], '/users/42', [1]],
    ['extract', [s('x([0-9]*)'), n(1n), s('x')], '', [1]],
    ['extract', [s('a([0-9]+)?'), n(1n), s('a')], '', [1]],
    ['extract', [s('a([0-9]){0}b'), n(1n), s('ab')], '', [1]],
    ['extract', [s('a(b|)'), n(1n), s('a')], '', [1]],
    ['extract', [s('a(\\b)'), n(1n), s('a')], '', [1]],
    ['extract', [s('a(^)?'), n(1n), s('b')], null, [1]],
    ['extract', [s('page=([0-9]+)'), n(1n), s('page=')], null, [1]],
    ['extract', [s('page=([0-9]+)'), n(1n), nul('string')], null, [1]],
    ['extract', [s('x*'), n(0n), s('y')], '', [1]],
    ['extract', [s('y'), n(0n), s('x')], null, [1]],
    ['extract', [s('y'), n(0n), nul('string')], null, [1]],
    ['extract', [s('pattern'), n(1n), s('pattern')], null, [0, 1]],
    ['extract', [s('(a)'), n(-1n), s('a')], null, [1]],
    [
      'extract',
      [s('(?P<key>[a-z]+)=(?P<value>.*)'), n(2n), s("k='); DROP TABLE x; --")],
      "'); DROP TABLE x; --",
      [1],
    ],
    ['extract_all', [s('([0-9]+)'), j([1]), s('/users/123/posts/456')], ['123', '456'], [0]],
    [
      'extract_all',
      [s('([a-z])([0-9])'), j([1, 2]), s('a1 b2')],
      [
        ['a', '1'],
        ['b', '2'],
      ],
      [0],
    ],
    ['extract_all', [s('([a-z])([0-9])'), j([2]), s('a1 b2')], ['1', '2'], [0]],
    ['extract_all', [s('[a-z]'), j([0]), s('ab')], ['a', 'b'], [0]],
    [
      'extract_all',
      [s('(?P<key>[a-z])(=)(?<value>[0-9])'), j(['value', 1, '2']), s('a=1 b=2')],
      [
        ['1', 'a', '='],
        ['2', 'b', '='],
      ],
      [0, 1],
    ],
    ['extract_all', [s('([0-9]+)'), j([1]), s('none')], [], [0]],
    ['extract_all', [s('([0-9]+)'), j([1]), nul('string')], null, [0]],
    ['extract_all', [s('([0-9]+)'), j([5]), s('1')], null, [0]],
    ['indexof', [s('/api/v2/users'), s('/v')], 4n],
    ['indexof', [s('héllo'), s('l')], 2n],
    ['indexof', [s('a'), s('b')], -1n],
    ['indexof', [s('a'), s('')], 0n],
    ['indexof', [nul('string'), s('a')], null],
    ['indexof', [s('👩‍🚀abcabc'), s('b'), n(5n)], 7n],
    ['indexof', [s('abcabc'), s('b'), n(-3n)], 4n],
    ['indexof', [s('abcabc'), s('b'), n(0n), n(1n)], -1n],
    ['indexof', [s('abcabc'), s('c'), n(0n), n(-1n), n(2n)], 5n],
    ['indexof', [s('abcabc'), s('c'), n(0n), n(-2n), n(1n)], null],
    ['indexof', [s('abcabc'), s('c'), n(100n)], -1n],
    ['indexof', [s('abcabc'), s('c'), n(maxLong)], -1n],
    ['indexof_regex', [s('/api/user-12345/settings'), s('user-[0-9]+')], 5n],
    ['indexof_regex', [s('é\nabc'), s('^abc')], -1n],
    ['indexof_regex', [s('é\nabc'), s('(?m)^abc')], 2n],
    ['indexof_regex', [s('abc'), s('^(a)')], 0n],
    ['indexof_regex', [s('aXaX'), s('(?i)x'), n(2n)], 3n],
    ['indexof_regex', [s('👩‍🚀aaa'), s('a+'), n(0n), n(1n)], 3n],
    ['indexof_regex', [s('aaa'), s('a+'), n(0n), n(2n)], -1n],
    ['indexof_regex', [s('ab ab'), s('ab'), n(0n), n(2n)], 3n],
    ['indexof_regex', [s('ab ab'), s('ab'), n(1n), n(1n), n(2n)], -1n],
    ['indexof_regex', [s('ab'), s('a'), n(-1n)], null],
    ['indexof_regex', [s('ab'), s('a'), n(0n), n(0n)], null],
    ['indexof_regex', [nul('string'), s('a')], null],
  ]);
});

describe('cutting and replacing', () => {
  checkAll(engine, strings, [
    ['substring', [s('/api/users'), n(1n), n(3n)], 'api'],
    ['substring', [s('héllo'), n(1n)], 'éllo'],
    ['substring', [s('hello'), n(10n), n(2n)], ''],
    ['substring', [s('hello'), n(-3n), n(2n)], 'll'],
    ['substring', [s('hello'), n(-9n), n(2n)], 'he'],
    ['substring', [s('hello'), n(1n), n(-1n)], ''],
    ['substring', [s('hello'), n(1n), n(maxLong)], 'ello'],
    ['substring', [s('hello'), n(maxLong), n(maxLong)], ''],
    ['substring', [nul('string'), n(1n)], null],
    ['substring', [s('hello'), nul('long'), n(2n)], null],
    ['substring', [s('hello'), n(1n), nul('long')], null],
    ['substring', [nul('string'), n(2n), n(0n)], null],
    ['split', [s('/api/users'), s('/')], ['', 'api', 'users']],
    ['split', [s(''), s(',')], ['']],
    ['split', [s('hé"'), s('')], ['h', 'é', '"']],
    ['split', [nul('string'), s(',')], null],
    ['replace_string', [s('.1.'), s('.X.'), s('10.1.1.1')], '10.X.1.1'],
    ['replace_string', [s(''), s('x'), s('ab')], 'ab'],
    ['replace_regex', [s('^(2[0-9]{2})$'), s('SUCCESS-$1'), s('200')], 'SUCCESS-200'],
    [
      'replace_regex',
      [s('([0-9]{4})[0-9]{8}([0-9]{4})'), s('$1********$2'), s('/api?cc=1234567890123456')],
      '/api?cc=1234********3456',
    ],
    ['replace_regex', [s('a'), s('\\1$0'), s('a')], '\\1a'],
    ['replace_regex', [s('(a)(b)'), s(['$', '{2}', '$', '{1}'].join('')), s('ab ab')], 'ba ba'],
    ['replace_regex', [s("'"), s("''"), s("it's")], "it''s"],
    ['replace_regex', [s('a'), s('b'), nul('string')], null],
    ['reverse', [s('/admin')], 'nimda/'],
    ['reverse', [s('éa')], 'aé'],
    ['regex_quote', [s('/api/v1/users[1].*\\')], '/api/v1/users\\[1\\]\\.\\*\\\\'],
    ['tolower', [s('ÀB')], 'àb'],
    ['toupper', [s('àb')], 'ÀB'],
    ['totitle', [s('éa b')], 'Éa b'],
    ['totitle', [s('')], ''],
    ['translate', [s('0123456789abcdefghijklmnopqrstuvwxyz'), s('##########*'), s('bd6d-17')], '**#*-##'],
    ['translate', [s('aeiou'), s(''), s('product-catalog')], 'prdct-ctlg'],
    ['translate', [s('0123456789'), s('#'), s('404')], '###'],
    ['translate', [s('a'), s('xyz'), s('aa')], 'xx'],
    ['trim', [s('-_'), s('--a-b__')], 'a-b'],
    ['trim', [s('é'), s('éaé')], 'a'],
    ['trim', [s(''), s(' a ')], ' a '],
    ['trim_start', [s('/'), s('//api/')], 'api/'],
    ['trim_end', [s('/?&'), s('/api/?')], '/api'],
    ['trim_space', [s('\t\u00a0\u3000 a b\v\n')], 'a b'],
    ['trim_regex', [s('[/]+'), s('/api/users/')], 'api/users'],
    ['trim_regex', [s('(^(dev|prod|staging)-)|(-v[0-9.]+$)'), s('prod-cart-v1.2')], 'cart'],
    ['trim_regex', [s('[^a-z0-9_]'), s('..user123!!')], 'user123'],
    ['trim_start_regex', [s('^(ERROR|WARN|INFO): '), s('ERROR: /admin')], '/admin'],
    ['trim_start_regex', [s('https?://[^/]+'), s('https://api.example.com/users')], '/users'],
    ['trim_end_regex', [s('[0-9]+$'), s('/api/users/42')], '/api/users/'],
    ['trim_end_regex', [s('-v[0-9]+[.][0-9]+$'), s('cart-v1.0')], 'cart'],
    ['trim_end_regex', [s('a'), nul('string')], null],
    ['strip_ansi_escapes', [s('\u001b[1;31mfailed\u001b[0m')], 'failed'],
    ['strip_ansi_escapes', [s('\u001b]8;;http://x\u0007link\u001b]8;;\u001b\\')], 'link'],
    ['strip_ansi_escapes', [s('\u001b(Ba\u009b2Jb')], 'ab'],
    ['strip_ansi_escapes', [s('[31m')], '[31m'],
  ]);
});

describe('joining', () => {
  checkAll(engine, strings, [
    [
      'strcat',
      [s('a'), n(1n), b(true), r(1.5), d(1500n), j({ a: 1 }), nul('string')],
      'a1true1.51.5µs{"a":1}',
    ],
    ['strcat', [nul('string')], ''],
    ['strcat', [s('a')], 'a'],
    ['strcat_delim', [s(','), s('GET'), nul('string'), n(200n)], 'GET,,200'],
    ['strcat_delim', [s("','"), s('a'), s('b')], "a','b"],
    ['strrep', [s('ab'), n(3n), s('-')], 'ab-ab-ab'],
    ['strrep', [nul('string'), n(0n)], null],
    ['strrep', [s('a'), nul('long')], null],
    ['strrep', [s('a'), n(1n)], 'a'],
    ['strrep', [s('a'), n(0n)], ''],
    ['strrep', [s('a'), n(-5n)], ''],
    ['strrep', [s('a'), n(maxLong)], 'a'.repeat(1024)],
  ]);
});

describe('regular expressions', () => {
  const refused = (name: keyof typeof strings, args: readonly SqlArg[]) => {
    const template = strings[name] as SqlTemplate;
    return () => template(args, context);
  };
  it('refuse an invalid constant with its position', () => {
    expect(refused('countof_regex', [s('(a'), s('a')])).toThrow(
      expect.objectContaining({
        argIndex: 0,
        message: 'invalid regular expression: missing closing ): `(a`',
      }),
    );
    expect(refused('indexof_regex', [s('a'), s('(?=a)')])).toThrow(expect.objectContaining({ argIndex: 1 }));
    expect(refused('extract', [s('(a)'), n(10n), s('a')])).toThrow(expect.objectContaining({ argIndex: 1 }));
    expect(refused('trim_end_regex', [s('\\Qa'), s('a')])).toThrow(expect.objectContaining({ argIndex: 0 }));
    expect(refused('extract_all', [opaque(s('a')), j([0]), s('a')])).toThrow('must be a constant');
    expect(refused('extract_all', [s('(?P<a>.)(?P<b>.)'), j(['c']), s('a')])).toThrow(
      expect.objectContaining({
        argIndex: 1,
        message: 'the regular expression has no group `c`',
        hint: 'Its named groups: a, b.',
      }),
    );
  });
  it.each([
    ['(?<n>a)', 2n],
    ['(?<n>a)(?P<m>A)', 1n],
    ['\\(\\?<n>', 1n],
    ['[(?<n>]+', 1n],
    ['[](?<n>]', 6n],
    ['[^](?<n>]', 15n],
    ['[[:alpha:](?<n>]', 15n],
    ['\\Q(?<n>\\E', 1n],
    ['\\Q(?<n>', 1n],
    ['\\\\(?<n>a)', 1n],
    ['\\p{Latin}(?<n>A)', 1n],
    ['[\\](?<n>]', 6n],
    ['(?:(?<n>a)|(?<m>b))', 3n],
    ['\\\\p\\{Emoji\\}', 1n],
    ['\\Q\\p{Emoji}\\E', 1n],
  ] as const)('%s means the same to the parser and the engine', async (pattern, count) => {
    const args = [s(pattern), s('aA(?<n>]b\\p{Emoji} \\a')] as const;
    const evaluate = evaluator(engine, strings);
    expect((await evaluate('countof_regex', args)).value).toBe(count);
    expect((await evaluate('countof_regex', args.map(opaque))).value).toBe(count);
  });
  it('know the character classes of the engine', async () => {
    const source = readFileSync(createRequire(import.meta.url).resolve('re2js'), 'utf8');
    const names = new Set([...source.matchAll(/\b[A-Z][A-Za-z_]{0,40}\b/g)].map(([name]) => name));
    const accepted = [...names].filter(name => {
      try {
        checkPattern(`\\p{${name}}`);
        return true;
      } catch {
        return false;
      }
    });
    expect(accepted.length).toBeGreaterThan(150);
    const tests = accepted.map(name => `regexp_matches('a', '\\p{${name}}')`);
    expect((await engine.query(`SELECT ${tests.join(', ')}`))[0]).toHaveLength(accepted.length);
  });
  it.each(['countof_regex', 'replace_regex', 'trim_regex'] as const)(
    'give null for an invalid pattern from data: %s',
    async name => {
      const args = name === 'replace_regex' ? [opaque(s('(')), s('x'), s('a')] : [opaque(s('(')), s('a')];
      expect((await evaluator(engine, strings)(name, args)).value).toBe(null);
    },
  );
});
