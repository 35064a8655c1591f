import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { inspectFile } from '../../../../kernel/local/store/bounds/bounded-file.js';
import { temporaryDirectory } from '../../service.js';

const text = 'a,b\n'.repeat(500_000);
const packed = gzipSync(text);

test.each<
  readonly [what: string, content: string | Uint8Array, mostBytes: number | undefined, isIntact: boolean]
>([
  ['decompressed to its end', packed, undefined, true],
  ['decompressed in part', packed, 1000, false],
  ['truncated', packed.subarray(0, -1), undefined, false],
  ['with another checksum', packed.with(-5, (packed.at(-5) ?? 0) ^ 1), undefined, false],
  ['not compressed', text, undefined, false],
])('an inspection tells whether a compressed file is intact: %s', async (_, content, mostBytes, isIntact) => {
  const file = path.join(await temporaryDirectory(), 'a.csv.gz');
  await writeFile(file, content);
  expect((await inspectFile(file, { name: 'a.csv.gz', format: 'csv' }, mostBytes)).isIntact).toBe(isIntact);
});
