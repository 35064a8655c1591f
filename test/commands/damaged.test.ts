import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { aplKernel, scratchDirectory } from './command.js';

const used: Record<string, string>[] = [];

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

const damages: Readonly<Record<string, (file: string) => void>> = {
  'that is cut': file => truncateSync(file, readFileSync(file).length >> 2),
  'that is empty': file => truncateSync(file, 0),
  'of which the second half is missing': file => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, bytes.length >> 1));
  },
  'in whose place is a directory': file => {
    rmSync(file);
    mkdirSync(file);
    writeFileSync(join(file, 'inside'), '');
  },
};

/** The kernel's own files, and what the kernel says of a damaged one; an empty file says nothing that could be wrong. */
const files: readonly (readonly [file: string, content: string, said: RegExp | undefined])[] = [
  [
    '.apl-kernel.toml',
    'time = "last 2h"\nlimit = 500\ntimeout = 60\n',
    /\.apl-kernel\.toml (?:is not valid TOML|cannot be read)/,
  ],
  [
    '.axiom.toml',
    'active_deployment = "prod"\n[deployments.prod]\nurl = "https://api.example.org"\ntoken = "none"\n',
    /~\/\.axiom\.toml (?:is not valid TOML|cannot be read)/,
  ],
  [
    'data/queries.jsonl',
    '{"at":"2026-01-01T00:00:00Z","profile":"local","apl":"print 1","startTime":"a","endTime":"b","elapsedMs":1}\n'.repeat(
      3,
    ),
    undefined,
  ],
];

describe.each(files)('%s', (name, content, said) => {
  test.each(Object.entries(damages))('%s stops no query', async (damage, harm) => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
    used.push(env);
    mkdirSync(env.APL_KERNEL_DATA, { mode: 0o700 });
    writeFileSync(join(home, name), content);
    harm(join(home, name));
    writeFileSync(join(home, 'q.apl'), 'print answer = 6 * 7\n');
    const { code } = await aplKernel(['run', 'q.apl'], env);
    const notebook = readFileSync(join(home, 'out', 'q.ipynb'), 'utf8');
    expect([code, notebook.includes('answer'), notebook.includes('42')]).toEqual([0, true, true]);
    if (said !== undefined && damage !== 'that is empty') expect(notebook).toMatch(said);
  });
});
