import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import undici from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, type Downloaded, downloadNote, withDownload } from '../../kernel/api/download.js';
import { certify, hasOpenssl } from './certificates.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const csv = 'n\n1\n2\n';
let answer: Answer = () => undefined;
let server: Server;
let agent: undici.Agent;
let directory = '';
let base = '';

beforeAll(async () => {
  if (!hasOpenssl()) return;
  directory = mkdtempSync(join(tmpdir(), 'apl-kernel-test-'));
  const { ca, key, cert } = certify(directory, 'IP:127.0.0.1');
  server = createServer({ key, cert }, (request, response) => answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent = new undici.Agent({ connect: { ca: readFileSync(ca) } });
});

afterAll(async () => {
  await agent?.destroy();
  server?.closeAllConnections();
  server?.close();
  if (directory !== '') rmSync(directory, { recursive: true, force: true });
});

interface Content extends Downloaded {
  readonly text: string;
}

function get(path: string, given: Answer, options: object = {}): Promise<Content> {
  answer = given;
  const use = async (file: Downloaded) => ({ ...file, text: await readFile(file.path, 'latin1') });
  return withDownload(new URL(base + path), use, { dispatcher: agent, ...options });
}

const plain: Answer = (_, response) => response.end(csv);

describe.skipIf(!hasOpenssl())('a download', () => {
  test('is a file named as in the address, hashed, and removed after use', async () => {
    const asked: unknown[] = [];
    const found = await get('/a/rows.csv?sig=secret', (request, response) => {
      asked.push([request.url, request.headers['accept-encoding'], request.headers.authorization]);
      plain(request, response);
    });
    const sha256 = createHash('sha256').update(csv).digest('hex');
    expect(asked).toEqual([['/a/rows.csv?sig=secret', 'identity', undefined]]);
    expect([basename(found.path), found.text]).toEqual(['rows.csv', csv]);
    expect(downloadNote(found)).toBe(`Downloaded from ${base}/a/rows.csv: 6 bytes, SHA-256 ${sha256}.`);
    await expect(readdir(dirname(found.path))).rejects.toThrow('ENOENT');
  });

  test.each([
    ['/..%2f..%2fetc%2fpasswd', '2f_.._2fetc_2fpasswd'],
    ['/.ssh', 'ssh'],
    ['/', 'download'],
    ['/a%20b.csv', 'a_b.csv'],
  ])('of %s gets a safe name in its own directory', async (path, name) => {
    const { path: file } = await get(path, plain);
    expect(basename(file)).not.toMatch(/^\.|[/\\%]/);
    if (!path.includes('..')) expect(basename(file)).toBe(name);
  });

  test.each([
    ['gzip', gzipSync(csv), 'rows.csv'],
    ['br', brotliCompressSync(csv), 'rows.csv.gz'],
    ['deflate', deflateSync(csv), 'rows.csv.gz'],
  ])('with the encoding %s is decoded', async (encoding, bytes, name) => {
    const found = await get('/rows.csv.gz', (_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes),
    );
    expect([basename(found.path), found.text, found.bytes]).toEqual([name, csv, 6]);
  });

  test('follows redirects to the same host', async () => {
    const found = await get('/old.csv', ({ url }, response) =>
      url === '/old.csv' ? response.writeHead(302, { location: '/New.csv' }).end() : response.end(csv),
    );
    expect([found.text, found.address]).toEqual([csv, `${base}/old.csv`]);
  });

  test.each<[what: string, given: Answer, message: string, options?: object]>([
    [
      'a redirect to another host',
      (_, response) => response.writeHead(302, { location: 'https://files.invalid/x.csv?sig=secret' }).end(),
      'BASE/rows.csv redirects to another host, files.invalid',
    ],
    [
      'a redirect to the same host without TLS',
      ({ headers }, response) => response.writeHead(301, { location: `http://${headers.host}/` }).end(),
      'BASE/rows.csv redirects to another host, HOST',
    ],
    [
      'a redirect loop',
      (_, response) => response.writeHead(302, { location: '/rows.csv' }).end(),
      'BASE/rows.csv redirects too many times',
    ],
    [
      'an error status',
      (_, response) => response.writeHead(404).end(),
      'BASE/rows.csv responded with status 404',
    ],
    [
      'a web page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>'),
      'BASE/rows.csv is a web page, not a file',
    ],
    [
      'a content-length over the limit',
      (_, response) => response.writeHead(200, { 'content-length': 3_000_000_000 }).write('n'),
      'BASE/rows.csv is larger than 2 GB, the maximum download size',
    ],
    [
      'a body over the limit without a content-length',
      (_, response) => {
        response.write(csv);
        response.end(csv);
      },
      'BASE/rows.csv is larger than 10 B, the maximum download size',
      { mostBytes: 10 },
    ],
    [
      'a body over the limit after decompression',
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(' '.repeat(2e6))),
      'BASE/rows.csv is larger than 1 MB, the maximum download size',
      { mostBytes: 1e6 },
    ],
    [
      'an unknown encoding',
      (_, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end(csv),
      'BASE/rows.csv has an unsupported encoding, zstd',
    ],
    [
      'a truncated response',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write(csv, () => response.destroy());
      },
      'BASE/rows.csv was cut off after 6 bytes: nothing was imported',
    ],
    [
      'truncated chunks',
      (_, response) => void response.write(csv, () => response.destroy()),
      'BASE/rows.csv was cut off after 6 bytes: nothing was imported',
    ],
    [
      'truncated gzip',
      (_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(csv).subarray(0, -4)),
      'BASE/rows.csv was cut off after 6 bytes: nothing was imported',
    ],
  ])('is refused: %s', async (_, given, message, options) => {
    const said = message.replace('BASE', base).replace('HOST', new URL(base).host);
    await expect(get('/rows.csv', given, options)).rejects.toMatchObject({ message: said });
  });

  test('is refused from a host with an untrusted certificate', async () => {
    const stranger = new undici.Agent();
    const failed = get('/rows.csv', plain, { dispatcher: stranger });
    await expect(failed).rejects.toMatchObject({ code: 'download' });
    await stranger.destroy();
  });

  test('stops at an interrupt and leaves no file', async () => {
    const abort = new AbortController();
    const usual = process.env.TMPDIR;
    process.env.TMPDIR = await mkdtemp(join(directory, 'own-'));
    try {
      const given: Answer = (_, response) => void response.write(csv, () => abort.abort());
      await expect(get('/rows.csv', given, { signal: abort.signal })).rejects.toThrow('aborted');
      expect(await readdir(process.env.TMPDIR)).toEqual([]);
    } finally {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
    }
  });
});

test.each<[string, string | undefined]>([
  ['rows.csv', undefined],
  ['https.csv', undefined],
  ['~/https://x', undefined],
  ['https://files.example/a.csv?b=c', 'https://files.example/a.csv?b=c'],
])('detects whether %s is an address', (written, address) => {
  expect(addressOf(written)?.href).toBe(address);
});

test.each([
  [
    'http://files.example/a.csv?sig=s',
    'http://files.example/a.csv is not downloaded because HTTP is not secure',
  ],
  [
    'https://user:word@files.example/a.csv',
    'https://files.example/a.csv is not downloaded because its URL contains a user or a password',
  ],
  ['https://[x', 'https://[x is not a URL'],
])('refuses %s', (written, message) => {
  expect(() => addressOf(written)).toThrow(message);
});
