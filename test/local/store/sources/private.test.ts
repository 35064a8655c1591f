import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { importable } from '../../../../kernel/local/store/sources/private.js';
import { temporaryDirectory, testService } from '../../service.js';

/** Split, so that secret scanners ignore this file. */
const begin = '-----BEGIN';
const pem = (kind: string) => `${begin} ${kind}PRIVATE KEY-----\nAAAA\n-----END ${kind}PRIVATE KEY-----\n`;
const rows = 'a,b\n1,2\n';

interface Place {
  readonly dir: string;
  readonly dataDir: string;
}

async function place(): Promise<Place> {
  const dir = await temporaryDirectory();
  const dataDir = path.join(dir, 'data');
  for (const name of ['data', 'home/.ssh', 'home/.aws', 'home/logs', 'repo/.git'])
    await mkdir(path.join(dir, name), { recursive: true });
  return { dir, dataDir };
}

async function put({ dir }: Place, name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(dir, name);
  await writeFile(file, content);
  return file;
}

const hidden = 'is hidden, or in a hidden directory';
const own = 'is one of the kernel files';

/** Path and content of files that are never imported, with the reason. */
const refused: readonly (readonly [name: string, content: string | Uint8Array, reason: string])[] = [
  ['home/.ssh/known_hosts.csv', rows, hidden],
  ['home/.aws/credentials', '[default]\naws_secret_access_key = x\n', hidden],
  ['home/.apl-kernel.toml', 'limit = 5\n', hidden],
  ['home/.axiom.toml', '[deployments.p]\ntoken = "t"\n', hidden],
  ['home/.env', 'SECRET=1\n', hidden],
  ['repo/.git/config', 'a = b\n', hidden],
  ['data/service.json', rows, own],
  ['data/service.log', rows, own],
  ['data/logins.json', '[]\n', own],
  ['data/history.jsonl', '{"a":1}\n', own],
  ['data/queries.jsonl', '{"a":1}\n', own],
  ['data/queries.jsonl.old', '{"a":1}\n', own],
  ['home/id_rsa', pem('RSA '), 'contains a private key'],
  ['home/id_ed25519.txt', pem('OPENSSH '), 'contains a private key'],
  [
    'home/key.pem',
    `${begin} CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${pem('')}`,
    'contains a private key',
  ],
  ['home/encrypted.csv', pem('ENCRYPTED '), 'contains a private key'],
  ['home/windows.key', `\uFEFF${pem('EC ').replaceAll('\n', '\r\n')}`, 'contains a private key'],
  ['home/account.json', JSON.stringify({ private_key: pem('') }), 'contains a private key'],
  ['home/packed.csv.gz', gzipSync(pem('RSA ')), 'contains a private key'],
  ['home/key.ppk', 'PuTTY-User-Key-File-3: ssh-ed25519\n', 'contains a private key'],
  ['home/age.txt', '# created: today\nAGE-SECRET-KEY-1QQQ\n', 'contains a private key'],
  [
    'home/logins.csv',
    JSON.stringify([
      { profile: 'p', url: 'u', server: { issuer: 'i', token_endpoint: 't' }, accessToken: 'a' },
    ]),
    'contains the token of a sign-in',
  ],
  [
    'home/other.json',
    JSON.stringify({ url: 'http://127.0.0.1:1', token: 't', secret: 's', pid: 1 }),
    'contains the token of the local service',
  ],
  ['home/axiom.toml', '# mine\n[deployments.prod]\nurl = "x"\ntoken = "xaat-1"\n', 'contains an Axiom token'],
];

describe('an import refuses', () => {
  test.each(refused)('%s', async (name, content, refusal) => {
    const at = await place();
    const file = await put(at, name, content);
    const visibleLink = path.join(at.dir, 'home/logs/today.csv');
    await symlink(file, visibleLink);
    const around = `${at.dir}/home/logs/../../${name}`;
    for (const each of [file, visibleLink, around])
      expect(await importable(each, at.dataDir)).toMatchObject({ refusal });
  });

  test('a file behind a link to its directory, or a chain of links', async () => {
    const at = await place();
    await put(at, 'home/.ssh/hosts.csv', rows);
    await symlink(path.join(at.dir, 'home/.ssh'), path.join(at.dir, 'home/first'));
    await symlink(path.join(at.dir, 'home/first'), path.join(at.dir, 'home/second'));
    expect(await importable(path.join(at.dir, 'home/second/hosts.csv'), at.dataDir)).toMatchObject({
      refusal: hidden,
    });
  });

  test('the service token under another file name, or through a link to the data directory', async () => {
    const at = await place();
    const file = await put(at, 'data/service.json', rows);
    await link(file, path.join(at.dir, 'home/a.csv'));
    await symlink(at.dataDir, path.join(at.dir, 'home/d'));
    for (const name of ['home/a.csv', 'home/d/service.json'])
      expect(await importable(path.join(at.dir, name), at.dataDir)).toMatchObject({ refusal: own });
  });

  test.skipIf(process.platform !== 'linux')('the environment of a process', async () => {
    const { dataDir } = await place();
    for (const file of ['/proc/self/environ', `/proc/${process.pid}/environ`, '/sys/kernel/mm/hugepages'])
      expect(await importable(file, dataDir)).toMatchObject({
        refusal: 'is a virtual system file',
      });
  });
});

describe('an ordinary file', () => {
  test.each([
    ['home/logs/a.csv', rows],
    ['home/id_rsa.pub', 'ssh-rsa AAAA me@host\n'],
    ['home/cert.pem', `${begin} CERTIFICATE-----\nAAAA\n`],
    ['home/logs/app.log', `2026-01-01 saw ${begin} PRIVATE KEY----- in a request\n`],
    ['home/logs/a..b.log', rows],
    ['data/other.csv', rows],
  ])('is imported: %s', async (name, content) => {
    const at = await place();
    const file = await put(at, name, content);
    expect(await importable(file, at.dataDir)).toEqual({ path: file });
  });

  test('is read through its link', async () => {
    const at = await place();
    const file = await put(at, 'home/logs/a-2026.csv', rows);
    const latest = path.join(at.dir, 'home/latest.csv');
    await symlink(file, latest);
    expect(await importable(latest, at.dataDir)).toEqual({ path: file });
  });
});

test('the route refuses a private file with a reason and stores nothing', async () => {
  const service = await testService();
  const key = path.join(await temporaryDirectory(), 'id_rsa');
  await writeFile(key, pem('RSA '));
  await writeFile(path.join(service.dataDir, 'service.json'), rows);
  const answers = await Promise.all(
    [key, path.join(service.dataDir, 'datasets/../service.json')].map(file =>
      service.json('POST', '/v1/local/import', { path: file, dataset: 'd' }),
    ),
  );
  expect(answers.map(({ status, body }) => [status, body.message.split(' Such files')[0]])).toEqual([
    [400, `${key} contains a private key, so it cannot be imported.`],
    [
      400,
      `${path.join(service.dataDir, 'service.json')} is one of the kernel files, so it cannot be imported.`,
    ],
  ]);
  expect(
    (await service.json('GET', '/v2/datasets')).body.map(({ name }: { name: string }) => name),
  ).not.toContain('d');
});

test('a missing or unreadable file is not blamed on the service', async () => {
  const service = await testService();
  const dir = await temporaryDirectory();
  const loop = path.join(dir, 'loop.csv');
  await symlink(loop, loop);
  const messages = await Promise.all(
    [path.join(dir, 'none.csv'), loop].map(async file => {
      const { status, body } = await service.json('POST', '/v1/local/import', { path: file, dataset: 'd' });
      return [status, body.message];
    }),
  );
  expect(messages).toEqual([
    [400, `There is no file ${dir}/none.csv.`],
    [400, `${loop} cannot be read: its symbolic links form a loop. Move the existing file away.`],
  ]);
});
