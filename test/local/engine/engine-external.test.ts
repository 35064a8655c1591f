import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const files: Readonly<Record<string, string>> = {
  'people.csv':
    'name,age,born,tags\nAda,36,1815-12-10T00:00:00Z,"{""a"":[1]}"\n"x, ""y""\nz",,,plain\nshort\n',
  'extra.csv': 'a,1,not asked for\nb,2\n',
  'tabs.tsv': 'a\t1\nb\t2\n',
  'pipes.psv': 'a|1\nb|2\n',
  'semicolons.scsv': 'a;1\nb;2\n',
  'list.json': '[{"name":"a","n":9007199254740993,"in":{"x":1.5}},{"name":null,"in.x":2}]',
  'lines.ndjson': '{"name":"a","n":1}\n{"name":"b","n":"2"}\n',
  'notes.txt': 'one\r\ntwo\n\nfour\n',
  'noted.raw': 'a\nb',
  'broken.json': '{"name": "a"} nonsense',
  'deep/below.csv': 'a,1\n',
  'a[1].csv': 'a,1\n',
};

beforeAll(async () => {
  const root = path.join(service().dataDir, 'external');
  await mkdir(path.join(root, 'deep', 'folder'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(root, name), text);
  await writeFile(path.join(service().dataDir, 'outside.csv'), 'secret,1\n');
  await symlink(path.join(service().dataDir, 'outside.csv'), path.join(root, 'link.csv'));
  await symlink(service().dataDir, path.join(root, 'out'));
  await writeFile(path.join(root, 'large.csv'), 'a,1\n');
  await truncate(path.join(root, 'large.csv'), 5 * 2 ** 20 + 1);
});

const two = 'name:string, n:long';
const read: readonly (readonly [apl: string, columns: readonly (readonly unknown[])[]])[] = [
  [
    'externaldata (name:string, age:long, born:datetime, tags:dynamic) ["people.csv"] with (ignoreFirstRecord=true)',
    [
      ['Ada', 'x, "y"\nz', 'short'],
      [36, null, null],
      ['1815-12-10T00:00:00Z', null, null],
      [{ a: [1] }, 'plain', null],
    ],
  ],
  ['externaldata (name:string) ["people.csv"] with (skipFirstRow=true) | limit 1', [['Ada']]],
  ['externaldata (name:string) ["people.csv"] | limit 1', [['name']]],
  [
    `externaldata (${two}) ["extra.csv"]`,
    [
      ['a', 'b'],
      [1, 2],
    ],
  ],
  [
    `externaldata (${two}) ["tabs.tsv"]`,
    [
      ['a', 'b'],
      [1, 2],
    ],
  ],
  [
    `externaldata (${two}) ["pipes.psv"]`,
    [
      ['a', 'b'],
      [1, 2],
    ],
  ],
  [
    `externaldata (${two}) ["semicolons.scsv"]`,
    [
      ['a', 'b'],
      [1, 2],
    ],
  ],
  [
    `externaldata (${two}) ["deep/below.csv", "extra.csv"] with (format="csv")`,
    [
      ['a', 'a', 'b'],
      [1, 1, 2],
    ],
  ],
  [`externaldata (${two}, ['in.x']:real) ["list.json"]`, [['a', null], ['N'], [1.5, 2]]],
  [
    `externaldata (${two}) ["lines.ndjson"] with (format="multijson")`,
    [
      ['a', 'b'],
      [1, 2],
    ],
  ],
  ['externaldata (line:string) ["notes.txt"]', [['one', 'two', '', 'four']]],
  ['externaldata (text:string) ["noted.raw"]', [['a\nb']]],
  [`externaldata (${two}) ["extra.csv"] | where n > 1 | project n, name`, [[2], ['b']]],
  ['let known = externaldata (name:string, n:long) ["extra.csv"]; known | summarize sum(n)', [[3]]],
];

test.each(read)('%s', async (apl, columns) => {
  const response = await service().send('POST', '/v1/query/_apl', { apl });
  const text = await response.text();
  expect([response.status, text.includes('message')]).toEqual([200, false]);
  const [table] = JSON.parse(text.replace('9007199254740993,null', '"N"')).tables;
  expect(table.columns).toEqual(columns);
});

test('a file: address is read', async () => {
  const address = pathToFileURL(path.join(service().dataDir, 'external', 'extra.csv')).href;
  const { body } = await service().query(`externaldata (${two}) ["${address}"]`);
  expect(body.tables[0].columns).toEqual([
    ['a', 'b'],
    [1, 2],
  ]);
});

const refused: readonly (readonly [address: string, problem: string])[] = [
  [
    'https://user:pw@example.com/a.csv?token=hidden',
    '`https://example.com` requires network access, which the local service does not use',
  ],
  [
    'HTTP://example.com/a.csv',
    '`http://example.com` requires network access, which the local service does not use',
  ],
  ['s3://bucket/a.csv', '`s3://bucket` requires network access, which the local service does not use'],
  ['../outside.csv', '`outside.csv` is not in the directory `external`'],
  ['deep/../../outside.csv', '`outside.csv` is not in the directory `external`'],
  ['/etc/passwd', '`passwd` is not in the directory `external`'],
  ['file:///etc/passwd', '`passwd` is not in the directory `external`'],
  ['file://host/etc/passwd', 'the `file:` URL does not refer to a file on this machine'],
  ['link.csv', '`link.csv` is a link, or is in a linked directory'],
  ['out/outside.csv', '`outside.csv` is a link, or is in a linked directory'],
  ['large.csv', '`large.csv` is larger than 5 MiB, the maximum for `externaldata`'],
  ['missing.csv', 'there is no file `missing.csv` in the directory `external`'],
  ['deep', '`deep` is not a file'],
  ['', '`external` is not in the directory `external`'],
  ['a[1].csv', 'the name of the file contains one of * ? [ ] { }'],
  ['*.csv', 'the name of the file contains one of * ? [ ] { }'],
];

test.each(refused)('an address is refused: %s', async (address, problem) => {
  const before = 'externaldata (name:string)\n  [';
  const { status, body } = await service().query(`${before}"${address}"]`);
  expect([status, body.detail.compileErrorCode, body.detail.line, body.detail.column]).toEqual([
    400,
    'unavailable',
    2,
    4,
  ]);
  expect(body.detail.message).toBe(`\`externaldata\` cannot read this: ${problem}`);
  expect(JSON.stringify(body)).not.toContain(service().dataDir);
});

test('a malformed file is refused', async () => {
  const { status, body } = await service().query('externaldata (name:string) ["broken.json"]');
  expect([status, body.detail.errorType]).toEqual([400, 'unreadable']);
  expect(body.message).toBe('`broken.json` cannot be read: record 3 is malformed.');
});

test('an unknown format is refused', async () => {
  const { body } = await service().query('externaldata (name:string) ["extra.csv"] with (format="xlsx")');
  expect([body.detail.message, body.detail.column]).toEqual([
    '`format` of `externaldata` cannot be `xlsx`',
    55,
  ]);
});
