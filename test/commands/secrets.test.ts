import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { aplKernel, scratchDirectory, treeOf } from './command.js';

const used: Record<string, string>[] = [];

afterEach(async () => {
  for (const env of used.splice(0)) await aplKernel(['serve', '--stop'], env);
});

function fresh(): Record<string, string> {
  const home = scratchDirectory();
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data') };
  used.push(env);
  return env;
}

test('a token in the cells of a run is only in the source of the notebook', async () => {
  const env = fresh();
  const { HOME: home = '' } = env;
  const secret = '3f9a-77c1-secret';
  const cells = [
    `// xaat-${secret}\nprint a = 1`,
    `%echo xapt-${secret}`,
    `%param key = "xaat-${secret}"\n%params\nprint a = (key == "x")`,
    `%cache record rec\nprint a = strlen("xaat-${secret}")`,
    `print a = "Bearer ${secret}" == "x"\n| where nonsense == "xaat-${secret}"`,
    `%import "xaat-${secret}.csv"`,
  ];
  writeFileSync(join(home, 'in.apl'), cells.map(cell => `// %%\n${cell}\n`).join(''));
  await aplKernel(['run', 'in.apl', '--keep-going'], env);
  await aplKernel(['serve', '--stop'], env);
  const { 'in.apl': _, 'out/in.ipynb': notebook = '', ...others } = treeOf(home);
  const expected = ['out/in.html', 'data/queries.jsonl', 'data/service.log'];
  expect(Object.keys(others)).toEqual(expect.arrayContaining(expected));
  expect(Object.keys(others).filter(name => others[name]?.includes(secret))).toEqual([]);
  const outputs = JSON.stringify(
    JSON.parse(notebook).cells.map((cell: { outputs?: unknown }) => cell.outputs),
  );
  expect([outputs.includes('***'), outputs.includes(secret)]).toEqual([true, false]);
});

test.skipIf(process.platform === 'win32')('what is kept is for its user alone', async () => {
  const env = fresh();
  const { HOME: home = '', APL_KERNEL_DATA: data = '' } = env;
  writeFileSync(join(home, 'rows.csv'), 'n\n1\n');
  writeFileSync(
    join(home, 'in.apl'),
    '%import rows.csv --dataset d\n// %%\n%star --new s\nd | count\n// %%\n%annotate x --dataset d --time 2026-01-01T00:00Z\n',
  );
  expect((await aplKernel(['run', 'in.apl'], env)).code).toBe(0);
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const entries = readdirSync(data, { recursive: true, withFileTypes: true });
  const modes = entries.map(({ parentPath, name }) => [name, modeOf(join(parentPath, name))] as const);
  expect(modeOf(data)).toBe('700');
  // The engine writes Parquet files for all; their directory is private. Who holds the directory is told to everybody.
  const isForAll = (name: string) => name.endsWith('.parquet') || /^lease-\d+\.json$/.test(name);
  const open = modes.filter(([name, mode]) => !['700', '600'].includes(mode) && !isForAll(name));
  expect(open).toEqual([]);
});
