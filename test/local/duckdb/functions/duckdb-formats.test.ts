import { describe } from 'vitest';
import { formats } from '../../../../kernel/local/duckdb/functions/duckdb-formats.js';
import { b, type Case, checkAll, d, j, n, nul, openEngine, r, s } from './harness.js';

const engine = openEngine();

describe('encodings', () => {
  checkAll(engine, formats, [
    [
      'base64_decode_toarray',
      [s('aGVsbG8gd29ybGQ=')],
      [104, 101, 108, 108, 111, 32, 119, 111, 114, 108, 100],
    ],
    ['base64_decode_toarray', [s('/w==')], [255]],
    ['base64_decode_toarray', [s('')], []],
    ['base64_decode_toarray', [s('aGVsbG8')], []],
    ['base64_decode_toarray', [nul('string')], null],
    ['base64_decode_tostring', [s('VGhpcyBpcyBhIHRlc3QgbWVzc2FnZQ==')], 'This is a test message'],
    ['base64_decode_tostring', [s('aMOp')], 'hé'],
    ['base64_decode_tostring', [s('/w==')], '\ufffd'],
    ['base64_decode_tostring', [s("'); --")], null],
    ['base64_encode_fromarray', [j([192, 168, 0, 1])], 'wKgAAQ=='],
    ['base64_encode_fromarray', [j([256])], ''],
    ['base64_encode_fromarray', [j('x')], ''],
    ['base64_encode_fromarray', [nul('dynamic')], ''],
    ['base64_encode_tostring', [s('application/json')], 'YXBwbGljYXRpb24vanNvbg=='],
    ['base64_encode_tostring', [s('é')], 'w6k='],
    ['url_encode', [s('frontend: server')], 'frontend%3A%20server'],
    ['url_encode', [s("é/~-_.'")], '%C3%A9%2F~-_.%27'],
    ['url_decode', [s('service%3Dfrontend%26version%3D1.0')], 'service=frontend&version=1.0'],
    ['url_decode', [s('a+b%20c')], 'a+b c'],
    ['url_decode', [s('%zz%')], '%zz%'],
    ['url_decode', [s('%ff%C3%A9')], '\ufffdé'],
    ['url_decode', [nul('string')], null],
    [
      'quote',
      [s('/search?q="x"\\\n\u0001é\u200b\u{e0001}')],
      '"/search?q=\\"x\\"\\\\\\n\\x01é\\u200b\\U000e0001"',
    ],
    ['quote', [s('')], '""'],
    ['unicode_codepoints_from_string', [s('user☠️9')], [117, 115, 101, 114, 9760, 65039, 57]],
    ['unicode_codepoints_from_string', [s('a\n')], [97, 10]],
    ['unicode_codepoints_from_string', [s('')], []],
    ['unicode_codepoints_to_string', [j([72, 84, 84, 80])], 'HTTP'],
    ['unicode_codepoints_to_string', [j([0x1f680, 55296, -1, 1114112])], '🚀\ufffd\ufffd\ufffd'],
    ['unicode_codepoints_to_string', [j({})], null],
  ]);
});

describe('sizes', () => {
  checkAll(engine, formats, [
    ['format_bytes', [n(8765432n), n(2n)], '8.36 MB'],
    ['format_bytes', [n(3456789n), n(2n)], '3.30 MB'],
    ['format_bytes', [r(456780), n(2n)], '446.07 KB'],
    ['format_bytes', [n(564n)], '564 Bytes'],
    ...['kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'].map(
      (unit, at) => ['format_bytes', [r(10 ** (3 * at + 3)), n(0n), s(''), n(10n)], `1 ${unit}`] as const,
    ),
    ['format_bytes', [n(10332n), n(1n)], '10.1 KB'],
    ['format_bytes', [n(20010332n)], '19 MB'],
    ['format_bytes', [n(20010332n), n(0n), s('KB')], '19541 KB'],
    ['format_bytes', [n(20010332n), n(2n), s(''), n(10n)], '20.01 MB'],
    ['format_bytes', [n(1500n), n(1n), s(''), n(10n)], '1.5 kB'],
    ['format_bytes', [n(1500n), n(1n), s('furlong')], null],
    ['format_bytes', [n(1500n), n(1n), s(''), n(3n)], null],
    ['format_bytes', [n(-2048n)], '-2 KB'],
    ['format_bytes', [r(Number.NaN)], null],
    ['parse_bytes', [s('512 KB')], 524288n],
    ['parse_bytes', [s('512 KB'), n(10n)], 512000n],
    ['parse_bytes', [s('1.5 GiB'), n(10n)], 1610612736n],
    ['parse_bytes', [s(' 7 ')], 7n],
    ['parse_bytes', [s('3 bytes')], 3n],
    ['parse_bytes', [s('2g')], 2147483648n],
    ['parse_bytes', [s('9007199254740993')], 9007199254740993n],
    ['parse_bytes', [s('9 YB')], 0n],
    ['parse_bytes', [s('-1 KB')], 0n],
    ['parse_bytes', [s('lots')], 0n],
    ['parse_bytes', [nul('string')], null],
  ]);
});

const url = (text: string, parts: object): Case<'parse_url'> => [
  'parse_url',
  [s(text)],
  { scheme: '', host: '', port: '', path: '', username: '', password: '', query: {}, fragment: '', ...parts },
];
const path = (text: string, parts: object): Case<'parse_path'> => [
  'parse_path',
  [s(text)],
  {
    Scheme: '',
    RootPath: '',
    DirectoryPath: '',
    DirectoryName: '',
    Filename: '',
    Extension: '',
    AlternateDataStream: '',
    ...parts,
  },
];

describe('URLs and paths', () => {
  checkAll(engine, formats, [
    url('http://frontend:8080/api/endpoint', {
      scheme: 'http',
      host: 'frontend',
      port: '8080',
      path: '/api/endpoint',
    }),
    url('http://example.com/../../etc/passwd', {
      scheme: 'http',
      host: 'example.com',
      path: '/../../etc/passwd',
    }),
    url('scheme://me:s%3At@host:1/p?k1=v1&k2=a+b&k1=x#frag', {
      scheme: 'scheme',
      host: 'host',
      port: '1',
      path: '/p',
      username: 'me',
      password: 's:t',
      query: { k1: ['v1', 'x'], k2: 'a b' },
      fragment: 'frag',
    }),
    url('https://[::1]:443', { scheme: 'https', host: '[::1]', port: '443' }),
    url('/just/a/path?__proto__=1', {
      path: '/just/a/path',
      query: JSON.parse('{"__proto__": "1"}') as object,
    }),
    url('', {}),
    ['parse_url', [nul('string')], null],
    [
      'parse_urlquery',
      [s('?user_id=12345&action=checkout&currency=USD')],
      { user_id: '12345', action: 'checkout', currency: 'USD' },
    ],
    ['parse_urlquery', [s('search=&lt;script&id=1 OR 1=1')], { search: '', 'lt;script': '', id: '1 OR 1=1' }],
    ['parse_urlquery', [s('a=%20&b')], { a: ' ', b: '' }],
    ['parse_urlquery', [s('')], {}],
    ['parse_urlquery', [j({ a: '1' })], { a: '1' }],
    ['parse_urlquery', [j('a=1')], { a: '1' }],
    [
      'format_url',
      [j({ scheme: 'https', host: 'api.example.com', path: '/api/users' })],
      'https://api.example.com/api/users',
    ],
    [
      'format_url',
      [j({ scheme: 'http', host: 'localhost', port: 8080, path: '/frontend' })],
      'http://localhost:8080/frontend',
    ],
    [
      'format_url',
      [j({ scheme: 'https', host: 'secure.example.com', path: '/admin', user: 'user123' })],
      'https://user123@secure.example.com/admin',
    ],
    [
      'format_url',
      [
        j({
          scheme: 'https',
          host: 'h',
          path: 'a b?é',
          query: { q: "it's", n: [1, 2] },
          fragment: 'f g',
          username: 'a@b',
          password: 'p:w',
        }),
      ],
      'https://a%40b:p%3Aw@h/a%20b%3F%C3%A9?q=it%27s&n=1&n=2#f%20g',
    ],
    ['format_url', [j({ path: '/x', query: 'a=1' })], '/x?a=1'],
    ['format_url', [j([])], null],
    path('/api/v1/messages/users', {
      DirectoryPath: '/api/v1/messages',
      DirectoryName: 'messages',
      Filename: 'users',
    }),
    path('C:\\temp\\file.txt', {
      RootPath: 'C:',
      DirectoryPath: 'C:\\temp',
      DirectoryName: 'temp',
      Filename: 'file.txt',
      Extension: 'txt',
    }),
    path('file:///C:/temp/file.gz:some.exe', {
      Scheme: 'file',
      RootPath: 'C:',
      DirectoryPath: 'C:/temp',
      DirectoryName: 'temp',
      Filename: 'file.gz',
      Extension: 'gz',
      AlternateDataStream: 'some.exe',
    }),
    path('.profile', { Filename: '.profile' }),
    path('', {}),
  ]);
});

describe('records and JSON', () => {
  checkAll(engine, formats, [
    ['parse_csv', [s('200,201,204,304')], ['200', '201', '204', '304']],
    ['parse_csv', [s('a,"b, ""c""",')], ['a', 'b, "c"', '']],
    ['parse_csv', [s('"two\nlines",x\nsecond record')], ['two\nlines', 'x']],
    ['parse_csv', [s('a"b,"c"d')], ['a"b', 'cd']],
    ['parse_csv', [s('"open')], ['open']],
    ['parse_csv', [s('')], ['']],
    ['parse_csv', [nul('string')], null],
    ['parse_json', [s('{"a": [1, 2.50]}')], { a: [1, 2.5] }],
    ['parse_json', [s('{oops')], '{oops'],
    ['parse_json', [s('')], ''],
    ['parse_json', [s('null')], null],
    ['parse_json', [s('[1,]')], '[1,]'],
    ['parse_json', [j('[1]')], [1]],
    ['parse_json', [j({ a: 1 })], { a: 1 }],
    ['parse_json', [n(5n)], 5],
    ['parse_json', [nul('string')], null],
  ]);
});

describe('pairs and hashes', () => {
  checkAll(engine, formats, [
    ['pair', [s('method'), s('GET')], { key: 'method', separator: ':', value: 'GET' }],
    ['pair', [s('a'), s('b'), s('=')], { key: 'a', separator: '=', value: 'b' }],
    ['parse_pair', [s('method:GET')], { key: 'method', separator: ':', value: 'GET' }],
    ['parse_pair', [s('a:b:c')], { key: 'a', separator: ':', value: 'b:c' }],
    ['parse_pair', [s('plain')], { key: '', separator: ':', value: 'plain' }],
    ['parse_pair', [s('a=>b'), s('=>')], { key: 'a', separator: '=>', value: 'b' }],
    ['parse_pair', [nul('string')], null],
    [
      'find_pair',
      [j(['server:web01', 'env:prod']), s('server'), s('*')],
      { key: 'server', separator: ':', value: 'web01' },
    ],
    ['find_pair', [j(['a:xay', 'a:xbyz']), s('*'), s('x*y*z')], { key: 'a', separator: ':', value: 'xbyz' }],
    ['find_pair', [j(['a:aa']), s('a'), s('aa*aa')], null],
    ['find_pair', [j(['a=b']), s('a'), s('b'), s('=')], { key: 'a', separator: '=', value: 'b' }],
    ['find_pair', [j([1, null]), s('*'), s('*')], null],
    ['find_pair', [j({}), s('*'), s('*')], null],
    ['hash_md5', [s('World')], 'f5a7924e621e84c9280a9a27e1bcb7f6'],
    ['hash_md5', [s('')], 'd41d8cd98f00b204e9800998ecf8427e'],
    ['hash_sha1', [s('test')], 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3'],
    ['hash_sha1', [n(1n)], '356a192b7913b04c54574d18c28d46e6395428ab'],
    ['hash_sha1', [b(true)], '5ffe533b830f08a0326348a9160afafc8ada44db'],
    ['hash_sha256', [d(80_000_000_000n)], 'a6af40ded8546222ae67c4d2e74caccfc490d0872f97e74de1dec70e9b915e5a'],
    ['hash_sha256', [s('1')], '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b'],
    [
      'hash_sha512',
      [s('')],
      'cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e',
    ],
    ['hash_md5', [nul('string')], null],
    ['hash', [s('a')], 3338456974352240327n],
    ['hash', [j('a')], 3338456974352240327n],
    ['hash', [nul('string')], null],
  ]);
});
