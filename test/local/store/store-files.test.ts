import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { locked } from '../../../kernel/local/lease/lock.js';
import { placeFile, replaceFile, writeDurably } from '../../../kernel/local/store/store-files.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-kernel-files-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

/** Long enough for a reader to see a file while it is being written. */
const texts = ['a', 'b'].map(letter => letter.repeat(4_000_000));

test('a reader sees the old content or the new, never a mix', async () => {
  const file = join(directory, 'list.json');
  await replaceFile(file, texts[0] ?? '');
  let writing = true;
  const written = (async () => {
    for (let turn = 1; turn <= 10; turn++) await replaceFile(file, texts[turn % 2] ?? '');
    writing = false;
  })();
  const seen = new Set<number>();
  while (writing) seen.add(texts.indexOf(await readFile(file, 'utf8')));
  await written;
  expect([...seen].filter(index => index < 0)).toEqual([]);
  expect(await readdir(directory)).toEqual(['list.json']);
});

test('publishing a draft replaces the file and removes the draft', async () => {
  const [draft, file] = [join(directory, 'x.tmp'), join(directory, 'x.parquet')];
  await writeDurably(file, 'old');
  await writeDurably(draft, 'new');
  await placeFile(draft, file, { confirm: () => undefined, draftDir: directory });
  expect([await readdir(directory), await readFile(file, 'utf8')]).toEqual([['x.parquet'], 'new']);
});

test('a draft on another disk is copied through the drafts directory, and fails without it', async () => {
  const [draftDir, other] = [join(directory, 'drafts'), join(directory, 'other')];
  for (const each of [draftDir, other]) await mkdir(each);
  const [draft, file] = [join(other, 'x.tmp'), join(directory, 'x.parquet')];
  await writeDurably(draft, 'new');
  await placeFile(draft, file, { confirm: () => undefined, draftDir });
  expect([await readFile(file, 'utf8'), await readdir(draftDir)]).toEqual(['new', []]);
  // The new owner of the data directory has removed it.
  await rm(draftDir, { recursive: true });
  await expect(placeFile(draft, file, { confirm: () => undefined, draftDir })).rejects.toThrow('ENOENT');
});

test('a failed write leaves no draft', async () => {
  const nothing = undefined as unknown as string;
  await expect(replaceFile(join(directory, 'a'), nothing)).rejects.toThrow(TypeError);
  expect(await readdir(directory)).toEqual([]);
});

test('a directory in place of a file is set aside with its content', async () => {
  const file = join(directory, 'taken');
  await mkdir(join(file, 'inside'), { recursive: true });
  await replaceFile(file, 'text');
  expect(await readFile(file, 'utf8')).toBe('text');
  const [, aside = ''] = (await readdir(directory)).sort();
  expect(aside).toMatch(/^taken\.[0-9a-f-]{36}\.damaged$/);
  expect(await readdir(join(directory, aside))).toEqual(['inside']);
});

test('two locks in one directory are independent', async () => {
  const [first, second] = [join(directory, 'a.lock'), join(directory, 'b.lock')];
  await locked(first, () =>
    locked(second, async () => expect((await readdir(directory)).sort()).toEqual(['a.lock', 'b.lock'])),
  );
  expect(await readdir(directory)).toEqual([]);
  await Promise.all([
    locked(first, () => locked(second, async () => undefined)),
    locked(join(directory, 'c.lock'), async () => undefined),
  ]);
  expect(await readdir(directory)).toEqual([]);
});

test('a lock that cannot be created fails at once', async () => {
  const missing = join(directory, 'nothing', 'a.lock');
  await expect(locked(missing, async () => undefined)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a draft is not published if another service owns the directory by then', async () => {
  const [draft, file] = [join(directory, 'x.tmp'), join(directory, 'x.parquet')];
  await writeDurably(draft, 'new');
  const refuse = () => {
    throw new Error('lost');
  };
  await expect(placeFile(draft, file, { confirm: refuse, draftDir: directory })).rejects.toThrow('lost');
  expect(await readdir(directory)).toEqual(['x.tmp']);
});
