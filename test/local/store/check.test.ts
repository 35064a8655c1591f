import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkData } from '../../../kernel/local/check/check.js';
import { fileKinds } from '../../../kernel/local/check/kinds.js';
import { sealedLine, sealedText } from '../../../kernel/local/sealed.js';
import { temporaryDirectory } from '../service.js';

const fixture = fileURLToPath(new URL('formats/0/data', import.meta.url));

/** Creates a data directory with a file of every kind. */
async function whole(): Promise<string> {
  const dataDir = await temporaryDirectory();
  cpSync(fixture, dataDir, { recursive: true });
  writeFileSync(path.join(dataDir, 'format.json'), '{"format":1,"version":"1.2.3"}\n');
  writeFileSync(
    path.join(dataDir, 'imports.json'),
    sealedLine({ imports: [['d', '["/d.csv",1,null,null]']] }),
  );
  writeFileSync(path.join(dataDir, 'logins.json'), '[]\n');
  return dataDir;
}

/** Returns the first file of a kind below a data directory. */
function fileOf(dataDir: string, pattern: RegExp): string {
  const names = readdirSync(dataDir, { recursive: true }).map(String).sort();
  const found = names.find(name => pattern.test(name));
  if (found === undefined) throw new Error(`no file is ${pattern}`);
  return path.join(dataDir, found);
}

test('an intact data directory has every kind of file and no fault', async () => {
  const dataDir = await whole();
  for (const { pattern } of fileKinds) expect(fileOf(dataDir, pattern)).toContain(dataDir);
  expect(await checkData(dataDir)).toEqual({ files: 28, faults: [] });
});

type Damage = (file: string) => void;

const flippedAt =
  (place: number): Damage =>
  file => {
    const bytes = readFileSync(file);
    bytes[place] = (bytes[place] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  };

const cut: Damage = file => writeFileSync(file, readFileSync(file).subarray(0, 30));
const cutAtEnd: Damage = file => writeFileSync(file, readFileSync(file).subarray(0, -10));
const emptied: Damage = file => writeFileSync(file, '');
const directory: Damage = file => {
  rmSync(file);
  mkdirSync(file);
};

/** Damages of each kind, in the order of the table, with the reported reason. */
const damages: readonly (readonly (readonly [name: string, damage: Damage, reason: string])[])[] = [
  [
    ['cut', cutAtEnd, 'is truncated, or not a Parquet file'],
    ['emptied', emptied, 'is empty'],
    ['with flipped bits', flippedAt(8), 'is damaged: its values are unreadable'],
    ['a directory', directory, 'cannot be read: it is a directory'],
  ],
  [
    ['cut', cut, 'is damaged: it lists the files that were replaced'],
    ['a directory', directory, 'cannot be read: it is a directory'],
  ],
  [
    ['with flipped bits', flippedAt(40), 'is damaged: some of its batches cannot be read'],
    ['emptied', emptied, 'is damaged: some of its batches cannot be read'],
  ],
  [
    ['cut', cut, 'cannot be read: it is not JSON'],
    ['a list', file => writeFileSync(file, '[]'), 'is damaged: it is not a JSON object'],
  ],
  [
    ['cut', cut, 'cannot be read: it is not JSON'],
    ['without a name', file => writeFileSync(file, '{"query":{"apl":"x"}}'), nameless()],
    ['a directory', directory, 'cannot be read: it is a directory'],
  ],
  [['cut', cut, 'cannot be read: it is not JSON']],
  [
    [
      'with a truncated line',
      file => writeFileSync(file, '{"sess\n'),
      'is damaged: 1 of its 1 lines cannot be read',
    ],
  ],
  [
    [
      'of the wrong type',
      file => writeFileSync(file, '{}\n{"at":5}\n'),
      'is damaged: 2 of its 2 lines cannot be read',
    ],
  ],
  [
    [
      'of the wrong type',
      file => writeFileSync(file, '{"format":"x"}'),
      'cannot be read: it contains no format number',
    ],
  ],
  [['with flipped bits', flippedAt(14), 'is damaged: its checksum does not match']],
  [['emptied', emptied, 'is damaged: some of its sign-ins cannot be read']],
  [['cut', cut, 'cannot be read: it is not JSON']],
];

function nameless(): string {
  return 'cannot be read: starred query.name should be a string, not missing';
}

const table = damages.flatMap((rows, index) =>
  rows.map(([name, damage, reason]) => ({ kind: fileKinds[index], name, damage, reason })),
);

test('every kind of file has damages in the table', () => {
  expect(damages.length).toBe(fileKinds.length);
});

test.each(table)('$kind.pattern, $name: $reason', async ({ kind, damage, reason }) => {
  const dataDir = await whole();
  if (kind === undefined) throw new Error('no kind');
  const file = fileOf(dataDir, kind.pattern);
  damage(file);
  const { faults } = await checkData(dataDir);
  expect(faults).toEqual([{ file, state: 'damaged', reason, remedy: kind.remedy }]);
});

test('values outside their statistics are reported', async () => {
  const dataDir = await whole();
  const file = fileOf(dataDir, /^datasets\/web\/.*7e67855d.*\.parquet$/);
  const bytes = readFileSync(file);
  const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
  const greatest = Buffer.alloc(8);
  greatest.writeBigInt64LE(7n);
  const at = bytes.indexOf(greatest, footer);
  expect(at).toBeGreaterThan(footer);
  for (let place = at; place >= 0; place = bytes.indexOf(greatest, place + 1)) bytes[place] = 6;
  writeFileSync(file, bytes);
  const { faults } = await checkData(dataDir);
  expect(faults.map(each => [each.file, each.reason])).toEqual([
    [file, 'is damaged: values in its column n do not match their statistics'],
  ]);
});

test.each([
  ['a starred query', /^starred\//, 'Orders by price'],
  ['the note on a dataset', /^datasets\/[^/]+\/dataset\.json$/, 'created'],
])('%s edited by hand is reported as changed, not damaged', async (_, pattern, text) => {
  const dataDir = await whole();
  const file = fileOf(dataDir, pattern);
  writeFileSync(file, sealedText(JSON.parse(readFileSync(file, 'utf8'))));
  expect((await checkData(dataDir)).faults).toEqual([]);
  writeFileSync(file, readFileSync(file, 'utf8').replace(text, `${text}?`));
  const { faults } = await checkData(dataDir);
  expect(faults.map(({ state, reason }) => [state, reason])).toEqual([
    ['changed', 'does not match its checksum: it was edited by hand or is damaged'],
  ]);
});
