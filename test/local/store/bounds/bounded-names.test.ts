import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { whileFiles } from '../../../../kernel/local/store/bounds/bounded-names.js';
import { temporaryDirectory } from '../../service.js';

test.skipIf(process.platform === 'win32')(
  'pipes that block every thread are detected and released',
  async () => {
    const directory = await temporaryDirectory();
    // More than the 16 threads of a service.
    const pipes = Array.from({ length: 20 }, (_, n) => path.join(directory, `${n}`));
    execFileSync('mkfifo', pipes);
    const work = whileFiles(
      () => pipes,
      undefined,
      signal => Promise.all(pipes.map(pipe => readFile(pipe, { signal }))),
    );
    await expect(work).rejects.toThrow(/was replaced by a named pipe while it was being read\.$/);
  },
);
