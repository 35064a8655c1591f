import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../service.js';
import { importText, service, stored, useService } from '../readers/traps.js';
import { zstdOf } from '../zstd.js';
import { westernLines } from './western.js';

useService();

// ---- real-world files: several as one, in other encodings, with events inside an object ----

type Files = Readonly<Record<string, string | Uint8Array>>;

async function directoryOf(files: Files): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return directory;
}

let datasets = 0;

/** Creates a directory with these files, and imports those that match a pattern. */
async function importFiles(files: Files, pattern: string, options: object = {}) {
  const directory = await directoryOf(files);
  const dataset = `set${++datasets}`;
  const request = { path: path.join(directory, pattern), dataset, ...options };
  const { status, body } = await service().json('POST', '/v1/local/import', request);
  const message = typeof body.message === 'string' ? body.message.replaceAll(directory, '…') : undefined;
  return { dataset, status, notes: body.notes, message };
}

const line = (second: number, text: string) => `2025-10-10 13:55:0${second} ${text}\n`;

const logs: Files = {
  'app.log': line(4, 'd'),
  'app.log.1': line(3, 'c'),
  'app.log.2.gz': gzipSync(line(2, 'b')),
  'app.log.10.gz': gzipSync(line(1, 'a').trimEnd()),
  'app.log.3': '',
  '.app.log.4': 'hidden',
  'other.txt': 'other',
};

describe('several files become one dataset', () => {
  test('from a rotated set, oldest first, compressed or not, with or without a final line break', async () => {
    const { dataset, notes } = await importFiles(logs, 'app.log*');
    expect(notes[0]).toBe('Imported 4 files together.');
    expect(await stored(dataset, 'right(line, 1)')).toEqual(['a', 'b', 'c', 'd']);
  });

  test('from a directory and below it, by their dates', async () => {
    const files = {
      '2025/b-2025-10-02.log': line(2, 'b'),
      '2025/b-2025-10-10.log': line(3, 'c'),
      'a.log': line(1, 'a'),
      '.git/x.log': line(9, 'x'),
    };
    const { dataset, notes } = await importFiles(files, '.');
    expect(notes[0]).toBe('Imported 3 files together.');
    expect(await stored(dataset, 'right(line, 1)')).toEqual(['b', 'c', 'a']);
  });

  test('from a pattern with directories of any depth', async () => {
    const files = {
      'a.log': line(1, 'a'),
      'x/y/b.log': line(2, 'b'),
      'x/c.txt': line(3, 'c'),
      'x/[d].log': line(4, 'd'),
    };
    const { dataset } = await importFiles(files, '**/?.log');
    expect(await stored(dataset, 'right(line, 1)')).toEqual(['a', 'b']);
    const named = await importFiles(files, 'x/[d].log');
    expect(await stored(named.dataset, 'right(line, 1)')).toEqual(['d']);
  });

  test('but a dangling link among them is named', async () => {
    const directory = await directoryOf({ 'a.log': line(1, 'a') });
    await symlink(path.join(directory, 'gone'), path.join(directory, 'b.log'));
    const request = { path: directory, dataset: 'dangling' };
    const { status, body } = await service().json('POST', '/v1/local/import', request);
    expect([status, body.message]).toEqual([400, `There is no file ${path.join(directory, 'b.log')}.`]);
  });

  test('without those that hold no rows, which are named, and without waiting for a pipe', async () => {
    const directory = await directoryOf({ 'a\n1.log': line(1, 'a'), 'sub/b.log': line(2, 'b') });
    const inside = (name: string) => path.join(directory, name);
    await symlink(directory, inside('sub/up.log'));
    await symlink('/dev/zero', inside('zero.log'));
    execFileSync(
      'mkfifo',
      [...Array(7).keys()].map(n => inside(`pipe${n}.log`)),
    );
    const server = createServer().listen(inside('socket.log'));
    onTestFinished(() => void server.close());
    const request = { path: directory, dataset: 'special' };
    const { body } = await service().json('POST', '/v1/local/import', request);
    expect(body.notes.slice(0, 5)).toEqual([
      'Skipped because it is a link to a directory: `up.log`.',
      'Skipped because each is a named pipe: `pipe0.log`, `pipe1.log`, `pipe2.log`, `pipe3.log`, `pipe4.log`, 2 more.',
      'Skipped because it is a socket: `socket.log`.',
      'Skipped because it is a device: `zero.log`.',
      'Imported 2 files together.',
    ]);
    expect(await stored('special', 'right(line, 1)')).toEqual(['a', 'b']);
    const one = await service().json('POST', '/v1/local/import', { ...request, path: inside('pipe1.log') });
    expect([one.status, one.body.message]).toEqual([
      400,
      `${inside('pipe1.log')} is not a file: it is a named pipe.`,
    ]);
  });

  test('but an unreadable directory among them is named, and nothing is imported', async () => {
    const directory = await directoryOf({ 'a.log': line(1, 'a') });
    // Root can read everything except a path that is too long.
    const deep = path.join(directory, ...Array(25).fill('x'.repeat(200)));
    execFileSync('mkdir', ['-p', deep]);
    onTestFinished(() => void execFileSync('rm', ['-rf', path.join(directory, 'x'.repeat(200))]));
    for (const each of [directory, `${directory}/**/*.log`]) {
      const request = { path: each, dataset: 'deep' };
      const { status, body } = await service().json('POST', '/v1/local/import', request);
      expect([status, body.message]).toEqual([
        400,
        expect.stringMatching(/^\/.*x cannot be read: its name is too long\. Choose a shorter name\.$/),
      ]);
    }
  });

  test('from CSV: names are read once, and types hold for all files', async () => {
    const { dataset } = await importFiles({ 'a.csv': 'id,v\n1,2\n', 'b.csv': 'id,v\n2,x\n' }, '*.csv');
    expect(await stored(dataset, 'id, v')).toEqual(['1|2', '2|x']);
  });

  test.each([-1, 0, 1, 2 ** 21])('from CSV with names of a megabyte and %d bytes, read once', async more => {
    const rest = Array.from({ length: 1_000 }, (_, index) => `c${index}`).join(',');
    const names = `v,${rest},${'x'.repeat(2 ** 20 + more - rest.length - 4)}\n`;
    const row = (v: number) => `${v}${',1'.repeat(1_001)}\n`;
    const files = { 'a.csv': names + row(1), 'b.csv': names + row(2) };
    expect([names.length, await stored((await importFiles(files, '*.csv')).dataset, 'v')]).toEqual([
      2 ** 20 + more,
      ['1', '2'],
    ]);
  });

  test('from JSON: lines, arrays and lists in an object', async () => {
    const files = { 'a.json': '{"v":1}\n{"v":2}', 'b.json': '[{"v":3},\n{"v":4}]', 'c.json': '[]' };
    const { dataset } = await importFiles(files, '*.json');
    expect(await stored(dataset, 'v')).toEqual(['1', '2', '3', '4']);
    const records = { 'a.json': '{"Records":[{"v":1}]}', 'b.json.gz': gzipSync('{"Records":[{"v":2}]}') };
    const trail = await importFiles(records, '*.json*');
    expect(trail.notes.slice(0, 2)).toEqual([
      'Imported 2 files together.',
      'The events come from the list `Records`.',
    ]);
    expect(await stored(trail.dataset, 'v')).toEqual(['1', '2']);
  });

  test('and values only in directory names are named', async () => {
    const files = { 'year=2026/month=11/a.csv': 'v\n1\n', 'year=2026/month=12/a.csv': 'v\n2\n' };
    const { notes } = await importFiles(files, '.');
    expect(notes[1]).toBe(
      'Not imported as fields: `year`, `month` from the directory names. To tell the files apart, import each directory into its own dataset.',
    );
  });

  test('without the comments above the names of further files', async () => {
    const files = { 'a.csv': '# of a\nv\n1\n', 'b.csv': '# of b, é\n# now\nv\n2\n' };
    const { dataset, notes } = await importFiles(files, '.');
    expect(await stored(dataset, 'v')).toEqual(['1', '2']);
    expect(notes.slice(0, 3)).toEqual([
      'Imported 2 files together.',
      'Skipped above the tables of the other files: 2 lines.',
      'Skipped 1 line above the table: "# of a".',
    ]);
  });

  test('and a CSV in a directory named like a value has its own columns', async () => {
    const file = 'day=2026-11-01/a.csv';
    const { dataset, status } = await importFiles({ [file]: 'v,w\n1,x\n' }, file);
    expect([status, await stored(dataset, 'v, w')]).toEqual([200, ['1|x']]);
  });

  test.each<[string, Files, string, string]>([
    ['a pattern that nothing matches', logs, '*.csv', 'No file matches …/*.csv.'],
    ['a directory without files', { '.x': 'x' }, '.', '… contains no files to import.'],
    [
      'CSV with other fields',
      { 'a.csv': 'a,b\n1,2\n', 'b.csv': 'b,a\n1,2\n' },
      '*.csv',
      'b.csv differs from the files before it. Its first line differs from that of the first file.',
    ],
    [
      'files of other kinds',
      { 'a.csv': 'a,b\n1,2\n', 'b.log': 'x\n' },
      '*',
      'b.log differs from the files before it. It ends in .log, and others in .csv.',
    ],
    [
      'a private key among them',
      { 'a.log': 'x\n', 'b.log': '-----BEGIN RSA PRIVATE KEY-----\n' },
      '*',
      '…/b.log contains a private key, so it cannot be imported.',
    ],
  ])('or are refused: %s', async (_, files, pattern, message) => {
    const answer = await importFiles(files, pattern);
    expect([answer.status, answer.message?.slice(0, message.length)]).toEqual([400, message]);
  });
});

describe('other encodings', () => {
  const text = 'name,stadt\nMüller,Köln\n';
  const note =
    'The text is read as Windows-1252 because it is not UTF-8: set another encoding with `--encoding`.';
  test.each([
    ['UTF-16, little-endian', Buffer.from(`\ufeff${text}`, 'utf16le'), {}, false],
    ['UTF-16, big-endian', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), {}, false],
    ['UTF-16 without a mark, named', Buffer.from(text, 'utf16le'), { encoding: 'utf-16le' }, false],
    ['UTF-16 without a mark, little-endian', Buffer.from(text, 'utf16le'), {}, false],
    ['UTF-16 without a mark, big-endian', Buffer.from(text, 'utf16le').swap16(), {}, false],
    ['Latin-1', Buffer.from(text, 'latin1'), {}, true],
    ['Latin-1, named', Buffer.from(text, 'latin1'), { encoding: 'latin1' }, false],
    ['gzip', gzipSync(Buffer.from(text, 'latin1')), {}, true],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`), {}, false],
    ['UTF-8, named', Buffer.from(`\ufeff${text}`), { encoding: 'utf-8' }, false],
  ])('%s is read', async (_, content, options, isNoted) => {
    const name = content[0] === 0x1f ? 'a.csv.gz' : 'a.csv';
    const { dataset, body } = await importText(name, content, options);
    expect(body.notes.filter((each: string) => each.includes('1252'))).toEqual(isNoted ? [note] : []);
    expect(await stored(dataset, 'name, stadt')).toEqual(['Müller|Köln']);
  });

  test.each([
    [
      'EUC-JP',
      '\xa5\xb5\xa1\xbc\xa5\xd0\xa1\xbc\xa4\xac\xb8\xab\xa4\xc4\xa4\xab\xa4\xea\xa4\xde\xa4\xbb\xa4\xf3',
      'サーバーが見つかりません',
    ],
    [
      'EUC-KR',
      '\xbc\xad\xb9\xf6\xbf\xa1 \xbf\xac\xb0\xe1\xc7\xd2 \xbc\xf6 \xbe\xf8\xbd\xc0\xb4\xcf\xb4\xd9',
      '서버에 연결할 수 없습니다',
    ],
    ['GB18030', '\xce\xde\xb7\xa8\xc1\xac\xbd\xd3\xb5\xbd\xb7\xfe\xce\xf1\xc6\xf7', '无法连接到服务器'],
    [
      'Big5',
      '\xb5L\xaak\xb3s\xbdu\xa6\xdc\xa6\xf8\xaaA\xbe\xb9\xa1C\xbd\xd0\xc0\xcb\xacd\xba\xf4\xb8\xf4\xb3]\xa9w',
      '無法連線至伺服器。請檢查網路設定',
    ],
    [
      'Windows-1252',
      westernLines.map(([bytes]) => bytes).join('\n10:00 '),
      westernLines.map(([, words]) => words).join('\n10:00 '),
    ],
  ])('%s is recognized by its characters', async (label, bytes, words) => {
    const { dataset, body } = await importText('a.log', Buffer.from(`10:00 ${bytes}\n`, 'latin1'));
    expect(body.notes[0]).toBe(note.replace('Windows-1252', label));
    expect(await stored(dataset, 'line')).toEqual(`10:00 ${words}`.split('\n'));
  });

  test('bytes outside the encoding are counted by line, named or not', async () => {
    const text = Buffer.from(
      `${'\xce\xde\xb7\xa8\xc1\xac\xbd\xd3\n'.repeat(9_000)}\xff\xff a\n\xff`,
      'latin1',
    );
    const counted =
      'Bytes that are not GB18030 become \ufffd in 2 lines: set another encoding with `--encoding`.';
    for (const options of [{}, { encoding: 'gb18030' }]) {
      const { body } = await importText('a.log', text, options);
      expect([body.rows, body.notes.filter((each: string) => each.includes('\ufffd'))]).toEqual([
        9_002,
        [counted],
      ]);
    }
  });

  test.each([
    ['UTF-8', Buffer.from('é'), 'é', []],
    ['UTF-8 in lines', Buffer.from('é"}\n{"n":1,"text":"é'), 'é', []],
    ['UTF-8 with four bytes', Buffer.from('😀 é"}\n{"n":1,"text":"é'), '😀 é', []],
    [
      'EUC-KR',
      Buffer.from('\xbc\xad\xb9\xf6\xbf\xa1', 'latin1'),
      '서버에',
      [note.replace('Windows-1252', 'EUC-KR')],
    ],
  ])('%s is recognized if the first bytes end within a character', async (_, word, words, notes) => {
    const cell = Buffer.concat([word, Buffer.from(' ')]);
    for (let shift = 0; shift < 4; shift++) {
      const beginning = `{"n":1,"text":"${'a'.repeat(65_536)}`.slice(0, 65_535 - shift - 100 * cell.length);
      const cells = Array.from({ length: 200 }, () => cell);
      const text = Buffer.concat([Buffer.from(beginning), ...cells, Buffer.from('"}\n')]);
      const { dataset, body } = await importText('a.json', text);
      const said = body.notes.filter((each: string) => each.includes('UTF-8'));
      expect([shift, ...said]).toEqual([shift, ...notes]);
      const [first = ''] = await stored(dataset, 'text');
      expect(first.replace(/^a+/, '').trim().slice(0, words.length)).toBe(words);
    }
  });

  /** A file from a Japanese spreadsheet, and its counterparts in Chinese and Korean encodings, which so few characters do not identify. */
  const japanese = Buffer.from('name,\x8es\n\x8eR\x93c,\x96\xbc\x8c\xc3\x89\xae\n', 'latin1');
  test('Shift_JIS is recognized', async () => {
    const { dataset, body } = await importText('a.csv', japanese);
    expect(body.notes[0]).toBe(note.replace('Windows-1252', 'Shift_JIS'));
    expect(await stored(dataset, 'name, "市"')).toEqual(['山田|名古屋']);
  });

  test('a Mac OS dash within Latin words is not Shift_JIS', async () => {
    const names = ['Zu\x89\xdb\xd2Chen,1', 'Osuna\x89\xdb\xd2Gutierrez,2', 'a,3'];
    const { body } = await importText('a.csv', Buffer.from(['Title,n', ...names, ''].join('\n'), 'latin1'));
    expect(body.notes[0]).toBe(
      'Bytes that are not UTF-8 become \ufffd in 2 lines: set another encoding with `--encoding`.',
    );
  });

  test.each([
    ['GB 18030', '\xcc\xec,\xb1\xb1\xbe\xa9'],
    ['EUC-KR', '\xc1\xa4,\xbc\xad\xbf\xef'],
  ])('%s is not taken for Japanese, and the refusal names `--encoding`', async (_, line) => {
    const { status, body } = await importText('a.csv', Buffer.from(`name,v\n${line}\n`, 'latin1'));
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining('Set another encoding, such as gb18030, with `--encoding`'),
    ]);
  });

  test('the euro sign and quotes of Windows-1252 are read', async () => {
    const { dataset } = await importText('a.csv', Buffer.from('name,v\nMüller,\x80 \x93x\x94\n', 'latin1'));
    expect(await stored(dataset, 'v')).toEqual(['€ “x”']);
  });

  test('zero bytes do not make text UTF-16', async () => {
    const texts = ['a\0b\0c\0d\0\0e\0f\n', 'a\0b,c\0d\na\0b,c\0d\n', 'a\0\n\0'];
    const answers = await Promise.all(texts.map(each => importText('a.log', Buffer.from(each, 'latin1'))));
    expect(answers.map(({ body }) => body.rows)).toEqual([1, 2, 2]);
  });

  test('another encoding can be named', async () => {
    const { dataset } = await importText('a.csv', Buffer.from('name,v\nx,\xb1\n', 'latin1'), {
      encoding: 'iso-8859-2',
    });
    expect(await stored(dataset, 'v')).toEqual(['ą']);
    const { status, body } = await importText('a.csv', 'a,b\n1,2\n', { encoding: 'nope' });
    expect([status, body.message.split(' Use a WHATWG')[0]]).toEqual([400, 'Unknown encoding "nope".']);
  });

  const wrong = Buffer.from('M\xfcller,x\n', 'latin1');
  const csv = Buffer.concat([Buffer.from(text), wrong]);
  const log = (lines: number) => Buffer.concat([Buffer.from('Müller\n'.repeat(lines)), wrong]);

  test.each([
    ['a CSV', 'a.csv', csv, 'name', 'M\ufffdller', 2],
    ['gzip', 'a.csv', gzipSync(csv), 'name', 'M\ufffdller', 2],
    ['Zstandard', 'a.csv', zstdOf(csv), 'name', 'M\ufffdller', 2],
    ['a log', 'a.log', log(3), 'line', 'M\ufffdller,x', 4],
    ['after the sample', 'a.log', log(12_000), 'line', 'M\ufffdller,x', 12_001],
    ['the last byte', 'a.log', log(1).subarray(0, 10), 'line', 'M\ufffd', 2],
  ])('UTF-8 with a wrong byte stays UTF-8, and no line is lost: %s', async (...of) => {
    const [, name, content, field, value, rows] = of;
    const { dataset, body } = await importText(name, content);
    expect([body.notes[0], body.rows]).toEqual([
      'Bytes that are not UTF-8 become \ufffd in 1 line: set another encoding with `--encoding`.',
      rows,
    ]);
    expect((await stored(dataset, field)).at(-1)).toBe(value);
  });

  const wrongNames = Buffer.concat([Buffer.from('n\xff,v\n', 'latin1'), Buffer.from('unit,größe\nm,1\n')]);

  test.each([
    ['plain', 'a.csv', wrongNames],
    ['gzip', 'a.csv.gz', gzipSync(wrongNames)],
    ['Zstandard', 'a.csv.zst', zstdOf(wrongNames)],
  ])('names that are not UTF-8 stay names, and the next line is a row: %s', async (_, name, content) => {
    const { dataset, body } = await importText(name, content);
    expect([body.notes[0], body.fields.slice(2).map((field: { name: string }) => field.name)]).toEqual([
      'Bytes that are not UTF-8 become \ufffd in 1 line: set another encoding with `--encoding`.',
      ['n\ufffd', 'v'],
    ]);
    expect(await stored(dataset, 'v')).toEqual(['größe', '1']);
  });

  test('names that are not UTF-8 above a single row stay names', async () => {
    const { dataset, body } = await importText('a.csv', Buffer.from('n\xff,v\nm,w\n', 'latin1'));
    expect(body.notes?.[0] ?? body.message).toBe(
      'Bytes that are not UTF-8 become \ufffd in 1 line: set another encoding with `--encoding`.',
    );
    expect(await stored(dataset, 'v')).toEqual(['w']);
  });
});

describe('events in the list of an object', () => {
  test.each([
    ['{"Records":[{"v":1},{"v":2}]}', 'The events come from the list `Records`.'],
    [
      '{"type":"FeatureCollection","features":[{"v":1},{"v":2}]}',
      'The events come from the list `features`. Skipped 1 other field of the enclosing object: `type`.',
    ],
    [
      '{"kind":"List","items":[{"v":1},{"v":2}],"metadata":{"items":1}}',
      'The events come from the list `items`. Skipped 2 other fields of the enclosing object: `kind`, `metadata`.',
    ],
    [
      '{"a":"x\\\\","b":"\\" [{","items":[{"v":1},{"v":2}]}',
      'The events come from the list `items`. Skipped 2 other fields of the enclosing object: `a`, `b`.',
    ],
    [
      '\ufeff\n{ "data" : { "items" : [ {"v":1}, {"v":2} ] } }\n',
      'The events come from the list `data.items`.',
    ],
    [
      '{"results":[{"v":1},{"v":2}],"tags":["a"]}',
      'The events come from the list `results`. Skipped 1 other field of the enclosing object: `tags`.',
    ],
    [
      '{"took":5,"hits":{"total":{"value":2},"max_score":1,"hits":[{"v":1},{"v":2}]},"aggregations":{"x":1}}',
      'The events come from the list `hits.hits`. Skipped 4 other fields of the enclosing object: `took`, `hits.total`, `hits.max_score`, `aggregations`.',
    ],
    [
      '{"log":{"version":"1.2","pages":[{"id":"p"}],"entries":[{"v":1},{"v":2}]}}',
      'The events come from the list `log.entries`. Skipped 2 other fields of the enclosing object: `log.version`, `log.pages`.',
    ],
    ['{"traceEvents":[{"v":1},{"v":2}]}', 'The events come from the list `traceEvents`.'],
    ['{"workflow_runs":[{"v":1},{"v":2}]}', 'The events come from the list `workflow_runs`.'],
    [
      '{"Findings":[{"v":1},{"v":2}],"auditEvents":[{"v":3}]}',
      'The events come from the list `Findings`. Skipped 1 other field of the enclosing object: `auditEvents`.',
    ],
  ])('are read from %s', async (content, note) => {
    const { dataset, body } = await importText('a.json', content);
    expect(body.notes[0]).toBe(note);
    expect(await stored(dataset, 'v')).toEqual(['1', '2']);
  });

  test.each([
    ['a list with a meaningless name', '{"tags":[{"v":1}]}'],
    ['two lists', '{"items":[{"v":1}],"events":[{"v":2}]}'],
    ['two lists with other words in front', '{"auditEvents":[{"v":1}],"userEvents":[{"v":2}]}'],
    ['a name that only ends like one', '{"catalogs":[{"v":1}]}'],
    ['a list without objects', '{"items":[1,2]}'],
    ['several lines', '{"items":[{"v":1}]}\n{"items":[{"v":2}]}\n'],
    ['brackets in a string', '{"items":"[{\\"v\\":1}]","a":"\\\\"}'],
  ])('are not taken from %s', async (_, content) => {
    const { body } = await importText('a.json', content);
    expect(body.rows).toBe(content.split('\n').length - (content.endsWith('\n') ? 1 : 0));
    expect(body.notes.join()).not.toMatch('list');
  });

  test.each([
    [
      '{"id":1,"Traces":[{"v":1},{"v":2},{"v":3}]}',
      'The file is one event: `--path Traces` reads the objects in `Traces` as events.',
    ],
    [
      '{"a":{"my list":[{"v":1},{"v":2},{"v":3}]}}',
      'The file is one event: `--path "a.my list"` reads the objects in `a.my list` as events.',
    ],
  ])(
    'are not taken from an unusual list that is most of an event, which a note names: %s',
    async (content, note) => {
      const { body } = await importText('a.json', content);
      expect([body.rows, body.notes[0]]).toEqual([1, note]);
    },
  );

  test.each([
    '{"time":"2026-06-01T10:00:00Z","mounts":[{"v":1},{"v":2}]}',
    '{"time":"2026-06-01T10:00:00Z","metrics":[{"name":"a long name of a metric","unit":"ms"}]}',
  ])('are not taken from a small list, or one of one object, without a note: %s', async content => {
    const { body } = await importText('a.json', content);
    expect(body.notes).toEqual([]);
  });

  test('are read from the named list', async () => {
    const content = '{"a":{"b":[{"v":1}]},"items":[{"v":2}]}';
    const { dataset } = await importText('a.json', content, { list: 'a.b' });
    expect(await stored(dataset, 'v')).toEqual(['1']);
    const { body } = await importText('a.json', content, { list: 'nope' });
    expect(body.message).toBe('a.json has no list "nope". Its lists are a.b, items.');
  });
});

describe('Excel CSV', () => {
  test.each([
    ['sep=;\na;b\n1;x,y\n', '1|x,y'],
    ['"sep=\t"\r\na\tb\r\n1\tx,y\r\n', '1|x,y'],
    ['\ufeffSEP=|\na|b\n1|x,y\n', '1|x,y'],
    ['sep=,\na,b\n1,"x,y"\n', '1|x,y'],
  ])('names its delimiter in the first line: %j', async (content, value) => {
    const { dataset, body } = await importText('a.csv', content);
    expect(body.fields.slice(2).map((field: { name: string }) => field.name)).toEqual(['a', 'b']);
    expect(await stored(dataset, 'a, b')).toEqual([value]);
  });

  const note = 'Numbers use a decimal comma in `v`.';
  const numbers: readonly (readonly [what: string, values: string[], read: string[], isNoted: boolean])[] = [
    ['fractions', ['1,5', '-0,25', '3'], ['1.5', '-0.25', '3.0'], true],
    ['thousands', ['1.234,5', '12.345.678,25', '1.000'], ['1234.5', '12345678.25', '1000.0'], true],
    ['what may be thousands', ['1,234', '5,678'], ['1,234', '5,678'], false],
    ['that with one that is not', ['1,234', '5,6'], ['1.234', '5.6'], true],
    ['points too', ['1,5', '1.5'], ['1,5', '1.5'], false],
    ['lists', ['1,5', '1,2,3'], ['1,5', '1,2,3'], false],
    ['zeros in front', ['01,5', '1,5'], ['01,5', '1,5'], false],
  ];

  test('has numbers with decimal commas, decided per field', async () => {
    const rows = [0, 1, 2].map(n => numbers.map(([, values]) => values[n] ?? '').join(';'));
    const names = numbers.map((_, index) => `v${index}`);
    const { dataset, body } = await importText(
      'a.csv',
      `sep=;\n${[names.join(';'), ...rows, ''].join('\n')}`,
    );
    for (const [index, [what, , read]] of numbers.entries()) {
      const found = await stored(dataset, `v${index}`);
      expect([what, found.filter(each => each !== 'null')]).toEqual([what, read]);
    }
    const noted = names.filter((_, index) => numbers[index]?.[3]).map(name => `\`${name}\``);
    expect(body.notes[0]).toBe(note.replace('`v`', noted.join(', ')));
  });

  test('has decimal commas up to a value after the sample, and none between commas', async () => {
    const content = `v;w\n${'1,5;x\n'.repeat(10_300)}a;x\n`;
    const { dataset } = await importText('a.csv', content);
    expect(await stored(dataset, 'min(v), max(v), count(*)')).toEqual(['1,5|a|10301']);
    const other = await importText('a.csv', 'v,w\n"1,5",x\n');
    expect(await stored(other.dataset, 'v')).toEqual(['1,5']);
  });
});
