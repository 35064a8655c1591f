import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readNotebook, replaceFile } from '../../kernel/headless/headless-file.js';
import { sourceOf } from '../../kernel/headless/notebook.js';

async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'apl-file-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test.each([0o600, 0o640, 0o664])('replacing a file keeps its permissions: %o', async mode => {
  const file = join(await directory(), 'a.ipynb');
  await writeFile(file, 'old');
  await chmod(file, mode);
  await replaceFile(file, 'new');
  expect([await readFile(file, 'utf8'), await modeOf(file)]).toEqual(['new', mode.toString(8)]);
});

test.each(['utf8', 'utf16le'] as const)(
  'reads a notebook and a script saved by a Windows editor: %s',
  async encoding => {
    const made = await directory();
    const cells = [
      { cell_type: 'code', source: 'print x = 1', metadata: {}, outputs: [], execution_count: null },
    ];
    const notebook = JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });
    for (const [name, text] of [
      ['a.ipynb', notebook],
      ['a.apl', 'print x = 1\r\n'],
    ] as const) {
      const file = join(made, name);
      await writeFile(file, `\ufeff${text}`, encoding);
      expect((await readNotebook(file)).cells.map(sourceOf)).toEqual(['print x = 1']);
    }
  },
);

test.each<[what: string, make: (file: string) => unknown, reason: string]>([
  ['a directory', file => mkdir(file), ': it is a directory'],
  ['a pipe', file => execFileSync('mkfifo', [file]), ': it is a pipe, a socket or a device'],
  ['an endless device', file => symlink('/dev/zero', file), ': it is a pipe, a socket or a device'],
  ['a link to itself', file => symlink(file, file), ': its symbolic links form a loop'],
  ['a dangling link', file => symlink('gone.ipynb', file), ': it is a broken link'],
  ['nothing', () => undefined, ''],
])('%s instead of a notebook is reported without blocking', async (_, make, reason) => {
  const file = join(await directory(), 'a.ipynb');
  await make(file);
  await expect(readNotebook(file)).rejects.toMatchObject({
    code: 'notebook-unreadable',
    message: `cannot read ${file}${reason}`,
  });
});

test('a new file has default permissions', async () => {
  const made = await directory();
  await replaceFile(join(made, 'a.ipynb'), 'new');
  await writeFile(join(made, 'b.ipynb'), 'other');
  expect(await modeOf(join(made, 'a.ipynb'))).toBe(await modeOf(join(made, 'b.ipynb')));
});

test('writing through a link keeps the link and replaces its target', async () => {
  const made = await directory();
  await writeFile(join(made, 'a.ipynb'), 'old');
  await symlink('a.ipynb', join(made, 'link.ipynb'));
  await replaceFile(join(made, 'link.ipynb'), 'new');
  expect((await lstat(join(made, 'link.ipynb'))).isSymbolicLink()).toBe(true);
  expect(await readFile(join(made, 'a.ipynb'), 'utf8')).toBe('new');
  expect((await readdir(made)).sort()).toEqual(['a.ipynb', 'link.ipynb']);
});

test('a failed write is reported and leaves no file', async () => {
  const made = await directory();
  await expect(replaceFile(join(made, 'gone', 'a.ipynb'), 'new')).rejects.toMatchObject({
    code: 'notebook-unwritable',
    hint: 'check that its directory exists and may be written to',
  });
  expect(await readdir(made)).toEqual([]);
});
