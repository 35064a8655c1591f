import { execFileSync } from 'node:child_process';
import {
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  anySize,
  bytesOf,
  bytesOfSync,
  decoded,
  openFile,
  openFileSync,
  overwrite,
  textOf,
  writeAll,
} from '../kernel/files.js';
import { systemRefusal } from '../kernel/machine.js';

/** A file that accepts three bytes at a time, like a disk that is filling up. */
class SlowFile {
  readonly written: (readonly [text: string, position: number | null])[] = [];

  readonly write = (async (bytes: Uint8Array, from: number, length: number, position: number | null) => {
    const part = bytes.subarray(from, from + Math.min(3, length));
    this.written.push([Buffer.from(part).toString(), position]);
    return { bytesWritten: part.length, buffer: bytes };
  }) as unknown as Parameters<typeof writeAll>[0]['write'];
}

test('writeAll writes the rest after a short write, at the right position', async () => {
  const file = new SlowFile();
  await writeAll(file, Buffer.from('abcdefgh'), 100);
  await writeAll(file, Buffer.from('ijkl'));
  expect(file.written).toEqual([
    ['abc', 100],
    ['def', 103],
    ['gh', 106],
    ['ijk', null],
    ['l', null],
  ]);
});

/** Encodings in which Windows editors save a text. */
const saved: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8': text => Buffer.from(text),
  'UTF-8 with a mark': text => Buffer.from(`\ufeff${text}`),
  'UTF-16': text => Buffer.from(`\ufeff${text}`, 'utf16le'),
};

test.each(Object.entries(saved))('reads a file in %s as text', async (_, bytes) => {
  const file = temporaryFile();
  writeFileSync(file, bytes('time = "1h" # \u00fc \u{1f469}\r\n'));
  expect(await textOf(file)).toBe('time = "1h" # \u00fc \u{1f469}\r\n');
});

test('decoding invalid UTF-8 throws only if asked to', () => {
  expect(decoded(Buffer.from([0x61, 0xe9]))).toBe('a\ufffd');
  expect(() => decoded(Buffer.from([0x61, 0xe9]), { fatal: true })).toThrow(TypeError);
});

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apl-files-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'file');
}

/** Special files that never end or never begin. */
const specials: Readonly<Record<string, (file: string) => unknown>> = {
  'a pipe': file => execFileSync('mkfifo', [file]),
  'a link to a pipe': file => {
    execFileSync('mkfifo', [`${file}.pipe`]);
    symlinkSync(`${file}.pipe`, file);
  },
  'a device': file => symlinkSync('/dev/zero', file),
  'a socket': async file => {
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>(resolve => server.listen(file, resolve));
  },
};

const ways: Readonly<Record<string, (file: string) => unknown>> = {
  'to read all of it': bytesOf,
  'to read it as text': textOf,
  'to read all of it at once': bytesOfSync,
  'to append': file => openFileSync(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600),
  'to change it': file => openFile(file, constants.O_RDWR),
  'to write all of it': file => overwrite(file, 'text'),
};

describe.skipIf(process.platform === 'win32')('opening a file', () => {
  describe.each(Object.entries(specials))('with %s in its place', (_, put) => {
    test.each(Object.entries(ways))('refuses %s without blocking', async (__, way) => {
      const file = temporaryFile();
      await put(file);
      const error: unknown = await (async () => way(file))().catch(each => each);
      expect(systemRefusal(error)?.reason).toBe('it is a pipe, a socket or a device');
    });
  });
  test('accepts the null device', async () => {
    const file = temporaryFile();
    symlinkSync(devNull, file);
    await overwrite(file, 'text');
    expect(await textOf(file)).toBe('');
  });
  test('refuses a directory', async () => {
    const error: unknown = await bytesOf(tmpdir()).catch(each => each);
    expect(systemRefusal(error)?.reason).toBe('it is a directory');
  });
  test.each(Object.entries(ways))('reports a dangling link when asked %s', async (_, way) => {
    const file = temporaryFile();
    symlinkSync(join(file, '..', 'unmounted', 'file'), file);
    const error: unknown = await (async () => way(file))().catch(each => each);
    expect(systemRefusal(error)?.reason).toBe('it is a broken link');
  });
  test('reads at most 64 MiB whole, or 2 GiB on request', async () => {
    const file = temporaryFile();
    writeFileSync(file, '');
    truncateSync(file, 2 ** 26);
    expect((await bytesOf(file)).length).toBe(2 ** 26);
    truncateSync(file, 2 ** 26 + 1);
    for (const way of [bytesOf, textOf, bytesOfSync]) {
      const error: unknown = await (async () => way(file))().catch(each => each);
      expect(systemRefusal(error)?.reason).toBe('it is too large to be read at once');
    }
    expect((await bytesOf(file, anySize)).length).toBe(2 ** 26 + 1);
    truncateSync(file, 2 ** 40);
    const error: unknown = await bytesOf(file, anySize).catch(each => each);
    expect(systemRefusal(error)?.reason).toBe('it is too large to be read at once');
  });
  test('overwriting truncates longer content', async () => {
    const file = temporaryFile();
    writeFileSync(file, 'a longer text');
    await overwrite(file, 'text');
    expect([await textOf(file), bytesOfSync(file).toString()]).toEqual(['text', 'text']);
  });
});

test('only files.ts writes to open files in the kernel', () => {
  const sources = readdirSync('kernel', { recursive: true, encoding: 'utf8' }).filter(path =>
    /\.ts$/.test(path),
  );
  const writes = /\b(?:file|handle)\??\.write\(/i;
  expect(sources.filter(path => writes.test(readFileSync(`kernel/${path}`, 'utf8')))).toEqual(['files.ts']);
});
