import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { aplKernel, scratchDirectory } from './command.js';

const used: Record<string, string>[] = [];

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

const damages: Readonly<Record<string, (file: string) => void>> = {
  'that is truncated': file => truncateSync(file, readFileSync(file).length >> 2),
  'that is empty': file => truncateSync(file, 0),
  'whose second half is zeroed': file => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, bytes.length >> 1));
  },
  'replaced by a directory': file => {
    rmSync(file);
    mkdirSync(file);
    writeFileSync(join(file, 'inside'), '');
  },
  'replaced by a pipe': file => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
  },
};

const spec = /ERROR +kernelspec +.*kernel\.json cannot be read, or is not JSON\n +-> remove it/;

/** Expected if the log is replaced by something else; a truncated or empty log is valid. */
const log = /warning +log +.*service\.log cannot be written: it is a .*\n +-> move it away/;

/**
 * The kernel's own files, all damaged together: the kernel's message for each, and doctor's message with its advice. An empty file
 * has nothing to complain about.
 */
const files: readonly (readonly [
  file: string,
  content: string,
  said: RegExp | undefined,
  byDoctor: RegExp | undefined,
])[] = [
  [
    '.apl-kernel.toml',
    'time = "last 2h"\nlimit = 500\ntimeout = 60\n',
    /\.apl-kernel\.toml (?:is not valid TOML|cannot be read).*\. \S/,
    /warning +settings .*\.apl-kernel\.toml (?:is not valid TOML|cannot be read).*\n +-> \S/,
  ],
  [
    '.axiom.toml',
    'active_deployment = "prod"\n[deployments.prod]\nurl = "https://api.example.org"\ntoken = "none"\n',
    /~\/\.axiom\.toml (?:is not valid TOML|cannot be read)/,
    /warning +profiles .*\.axiom\.toml (?:is not valid TOML|cannot be read).*\n +-> \S/,
  ],
  [
    'data/queries.jsonl',
    '{"at":"2026-01-01T00:00:00Z","profile":"local","apl":"print 1","startTime":"a","endTime":"b","elapsedMs":1}\n'.repeat(
      3,
    ),
    undefined,
    undefined,
  ],
  [
    '.local/share/jupyter/kernels/apl/kernel.json',
    `{"argv":["node"],"language":"axiom-apl"}\n`,
    undefined,
    spec,
  ],
  ['data/service.log', 'a line\n'.repeat(8), undefined, undefined],
];

test.each(Object.entries(damages))(
  'queries run, and doctor reports each kernel file %s',
  async (damage, harm) => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
    used.push(env);
    mkdirSync(env.APL_KERNEL_DATA, { mode: 0o700 });
    for (const [name, content] of files) {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), content);
      harm(join(home, name));
    }
    writeFileSync(join(home, 'q.apl'), 'print answer = 6 * 7\n');
    const { code } = await aplKernel(['run', 'q.apl'], env);
    const notebook = readFileSync(join(home, 'out', 'q.ipynb'), 'utf8');
    expect([code, notebook.includes('answer'), notebook.includes('42')]).toEqual([0, true, true]);
    const { stdout } = await aplKernel(['doctor'], env);
    const isEmpty = damage === 'that is empty';
    for (const [name, , said, byDoctor] of files) {
      if (said !== undefined && !isEmpty) expect(notebook, name).toMatch(said);
      if (byDoctor !== undefined && (!isEmpty || byDoctor === spec)) expect(stdout, name).toMatch(byDoctor);
    }
    expect([damage, log.test(stdout)]).toEqual([damage, damage.startsWith('replaced by')]);
  },
);
