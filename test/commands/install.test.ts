import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { install, stableNodePath } from '../../kernel/commands/install.js';
import { aplKernel, root, scratchDirectory, treeOf } from './command.js';

const KERNEL_FILES = ['kernel.json', 'logo-32x32.png', 'logo-64x64.png', 'logo-svg.svg'];

describe('install', () => {
  test('writes the kernelspec and extension under the prefix, and uninstall restores the tree', async () => {
    const home = scratchDirectory();
    const prefix = join(home, 'env');
    mkdirSync(join(prefix, 'share', 'jupyter', 'kernels', 'python3'), { recursive: true });
    mkdirSync(join(prefix, 'lib', 'python3.11', 'site-packages'), { recursive: true });
    writeFileSync(join(prefix, 'share', 'jupyter', 'kernels', 'python3', 'kernel.json'), '{}');
    const before = treeOf(home);
    const env = { HOME: home, PATH: '' };

    const installed = await aplKernel(['install', '--prefix', prefix], env);
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    const added = Object.keys(treeOf(home)).filter(path => !(path in before));
    const inKernel = added.filter(path => path.startsWith('env/share/jupyter/kernels/apl/'));
    expect(inKernel.map(path => path.split('/').at(-1)).sort()).toEqual(KERNEL_FILES);
    const extension = 'env/share/jupyter/labextensions/@apl-kernel/labextension/';
    const built = Object.keys(treeOf(join(root, 'labextension', 'labextension')));
    expect(added.filter(path => path.startsWith(extension)).sort()).toEqual(
      [...built, 'install.json'].map(path => `${extension}${path}`).sort(),
    );
    const packages = 'env/lib/python3.11/site-packages/';
    const ours = added.filter(path => path.startsWith(packages)).map(path => path.slice(packages.length));
    const about = ours.find(path => path.endsWith('/RECORD')) ?? '';
    const record = readFileSync(join(home, packages, about), 'utf8')
      .split(',,\n')
      .slice(0, -1);
    expect(ours.sort()).toEqual(record.sort());
    expect(ours).toContain('apl_kernel_papermill.py');

    expect(await aplKernel(['install', '--prefix', prefix], env)).toMatchObject({ code: 0 });
    expect(Object.keys(treeOf(home)).filter(path => !(path in before))).toEqual(added);

    expect(await aplKernel(['uninstall', '--prefix', prefix], env)).toMatchObject({ code: 0 });
    expect(treeOf(home)).toEqual(before);
  });

  test('writes a kernelspec that starts this copy and is interrupted by messages', async () => {
    const home = scratchDirectory();
    await aplKernel(['install', '--prefix', home], { HOME: home, PATH: '' });
    expect(JSON.parse(readFileSync(join(home, 'share/jupyter/kernels/apl/kernel.json'), 'utf8'))).toEqual({
      argv: [
        process.execPath,
        join(root, 'dist', 'main.js'),
        'kernel',
        '--connection-file',
        '{connection_file}',
      ],
      display_name: 'APL (Axiom)',
      language: 'axiom-apl',
      interrupt_mode: 'message',
      env: { UV_THREADPOOL_SIZE: '16' },
      metadata: { debugger: false, supported_encryption: ['curve'] },
    });
  });

  test("uses the platform's user directory if Jupyter is not on the PATH, and uninstall leaves no files", async () => {
    const home = scratchDirectory();
    const env = { HOME: home, PATH: '', XDG_DATA_HOME: join(home, 'data') };
    expect(await aplKernel(['install', '--user'], env)).toMatchObject({ code: 0 });
    expect(Object.keys(treeOf(home))).toContain('data/jupyter/kernels/apl/kernel.json');
    expect(await aplKernel(['uninstall'], env)).toMatchObject({ code: 0 });
    expect(treeOf(home)).toEqual({ data: 'directory' });
  });

  test.each([
    ['another kernel of the same name', '{"language":"apl"}'],
    ['a damaged kernelspec', '{"language":'],
  ])('leaves %s alone on uninstall', async (_, spec) => {
    const home = scratchDirectory();
    const directory = join(home, 'share/jupyter/kernels/apl');
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'kernel.json'), spec);
    const before = treeOf(home);
    expect(await aplKernel(['uninstall', '--prefix', home], { HOME: home, PATH: '' })).toMatchObject({
      code: 0,
    });
    expect(treeOf(home)).toEqual(before);
  });

  test.each<readonly [string, (file: string) => void]>([
    ['is truncated', file => writeFileSync(file, '{"language":')],
    ['is empty', file => writeFileSync(file, '')],
    ['is a directory', file => mkdirSync(join(file, 'inside'), { recursive: true })],
    ['is a pipe', file => void execFileSync('mkfifo', [file])],
    ['is a broken link', file => symlinkSync('/nowhere/kernel.json', file)],
  ])('replaces a kernelspec that %s', async (how, damage) => {
    const [home, pack] = [scratchDirectory(), scratchDirectory()];
    const [directory, machine] = [join(home, 'share/jupyter/kernels/apl'), { env: { PATH: '' }, home }];
    mkdirSync(directory, { recursive: true });
    damage(join(directory, 'kernel.json'));
    // A package without the extension.
    symlinkSync(join(root, 'kernel'), join(pack, 'kernel'));
    await install(
      { kind: 'prefix', prefix: home },
      { main: 'main.js', root: pack, version: '1.2.3', oldestNode: '20.19' },
      { ...machine, platform: process.platform, execPath: process.execPath },
    );
    expect(JSON.parse(readFileSync(join(directory, 'kernel.json'), 'utf8')).argv[1]).toBe('main.js');
    const others = readdirSync(directory).filter(name => !KERNEL_FILES.includes(name));
    expect(others.map(name => name.replace(/[0-9a-f-]{36}/, 'ID'))).toEqual(
      how === 'is a directory' ? ['kernel.json.ID.damaged'] : [],
    );
  });

  test('says what to do if it cannot write', async () => {
    const home = scratchDirectory();
    writeFileSync(join(home, 'file'), '');
    const { code, stderr } = await aplKernel(['install', '--prefix', join(home, 'file')], {
      HOME: home,
      PATH: '',
    });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `apl-kernel: cannot change ${home}/file/share/jupyter: ENOTDIR: not a directory, mkdir '${home}/file/share/jupyter/kernels/apl'\n` +
        '  use --user, or --prefix with a directory that you can write to\n',
    );
  });
});

describe('the Node of the kernelspec', () => {
  const machine = (path: string) => ({
    env: { PATH: path },
    platform: process.platform,
    home: '/',
    execPath: process.execPath,
  });

  test('is the one on the PATH if it is the same binary', () => {
    // Not under /tmp, which counts as temporary.
    const directory = mkdtempSync('/var/tmp/apl-kernel-');
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const link = join(directory, 'node');
    symlinkSync(process.execPath, link);
    expect(stableNodePath(machine(`/nowhere:${directory}`))).toBe(link);
  });

  test('is the running binary if the PATH has none, or only one of a single shell', () => {
    const perShell = join(scratchDirectory(), 'fnm_multishells', 'bin');
    mkdirSync(perShell, { recursive: true });
    symlinkSync(process.execPath, join(perShell, 'node'));
    expect(stableNodePath(machine(perShell))).toBe(process.execPath);
    expect(stableNodePath(machine(''))).toBe(process.execPath);
  });
});
