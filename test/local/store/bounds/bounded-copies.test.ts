import { createReadStream, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { writeCopy } from '../../../../kernel/local/store/bounds/bounded-copies.js';
import { temporaryDirectory } from '../../service.js';

test('a copy fails if its directory is deleted in the meantime', async () => {
  const directory = await temporaryDirectory();
  const [scratch, file] = [path.join(directory, 'scratch'), path.join(directory, 'file')];
  mkdirSync(scratch);
  writeFileSync(file, '');
  // More than is written between two disk checks.
  truncateSync(file, 40 * 2 ** 20);
  const source = createReadStream(file);
  source.once('data', () => rmSync(scratch, { recursive: true }));
  await expect(writeCopy(path.join(scratch, 'copy'), [source])).rejects.toMatchObject({ code: 'ENOENT' });
});

test.runIf(process.platform === 'linux')(
  'a disk that fills up between two checks is reported as full',
  async () => {
    await expect(writeCopy('/dev/full', [Readable.from([Buffer.from('text')])])).rejects.toMatchObject({
      kind: 'storage',
      code: 'engine-disk',
      message: 'The disk has no space left for an unpacked copy of the import.',
    });
  },
);
