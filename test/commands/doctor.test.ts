import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type DoctorRequest, examine, type Finding, findingsText } from '../../kernel/commands/doctor.js';
import { Elsewhere, held } from '../local/lease/leases.js';
import { root, scratchDirectory } from './command.js';

const main = join(root, 'dist', 'main.js');

/** A machine with only a home directory. */
function bare(changed: Partial<DoctorRequest> = {}): DoctorRequest {
  const home = scratchDirectory();
  return {
    machine: { env: { PATH: '' }, platform: 'linux', home, execPath: process.execPath },
    files: { main, root, version: '1.2.3', oldestNode: '20.19' },
    nodeVersion: '20.19.0',
    dataDir: join(home, 'data'),
    checkData: false,
    workDir: home,
    ...changed,
  };
}

async function finding(name: string, request: DoctorRequest): Promise<Finding | undefined> {
  return (await examine(request)).find(each => each.name === name);
}

/** Writes JSON below the Jupyter data directory of the home; returns its path. */
function write({ machine }: DoctorRequest, name: string, value: unknown): string {
  const directory = join(machine.home, '.local/share/jupyter', name, '..');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(machine.home, '.local/share/jupyter', name), JSON.stringify(value));
  return join(machine.home, '.local/share/jupyter', name);
}

test('the README and package.json name the same oldest Node', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const oldest = engines.node.replace('>=', '');
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`Needs Node ${oldest} or newer`);
});

test.each([
  ['20.19.0', 'ok'],
  ['20.18.9', 'error'],
  ['18.20.0', 'error'],
  ['22.0.0', 'ok'],
])('reports Node %s as %s', async (nodeVersion, state) => {
  expect((await finding('node', bare({ nodeVersion })))?.state).toBe(state);
});

test('warns about pairing with plain Markdown through jupytext, but not with MyST', async () => {
  const request = bare();
  const workDir = join(request.workDir, 'team', 'notebooks');
  mkdirSync(workDir, { recursive: true });
  const found = async () =>
    (await examine({ ...request, workDir }))
      .filter(({ name }) => name === 'jupytext')
      .map(each => each.found);
  const notebook = (formats: string) =>
    JSON.stringify({ metadata: { kernelspec: { language: 'axiom-apl' }, jupytext: { formats } } });
  const settings = join(request.workDir, 'team', 'jupytext.toml');
  writeFileSync(settings, '# formats = "ipynb,md"\nformats = "ipynb,md:myst"\n');
  writeFileSync(join(workDir, 'a.ipynb'), notebook('ipynb,md:myst'));
  writeFileSync(join(request.workDir, 'team', 'pyproject.toml'), '[tool.other]\nformats = "md"\n');
  expect(await found()).toEqual([]);
  writeFileSync(settings, '[formats]\n"notebooks/" = "ipynb"\n"text/" = "md"\n');
  writeFileSync(join(workDir, 'a.ipynb'), notebook('ipynb,text//md:markdown'));
  expect(await found()).toEqual([
    expect.stringContaining(`${settings} pairs notebooks with md`),
    expect.stringContaining(`${join(workDir, 'a.ipynb')} pairs notebooks with md`),
  ]);
});

describe('the kernelspec', () => {
  const spec = 'kernels/apl/kernel.json';

  test('is fine if it starts this copy', async () => {
    const request = bare();
    const path = write(request, spec, { language: 'axiom-apl', argv: [process.execPath, main] });
    expect(await finding('kernelspec', request)).toEqual({ name: 'kernelspec', state: 'ok', found: path });
  });

  test('is a warning if it starts another copy', async () => {
    const request = bare();
    const path = write(request, spec, { language: 'axiom-apl', argv: [process.execPath, process.execPath] });
    expect(await finding('kernelspec', request)).toMatchObject({
      state: 'warning',
      found: `${path} starts another copy, ${process.execPath}`,
    });
  });

  test.each([
    ['of a missing program', { language: 'axiom-apl', argv: ['/gone', main] }],
    ["another project's kernel", { language: 'apl', argv: [process.execPath, main] }],
  ])('is an error if it is %s', async (_, content) => {
    const request = bare();
    write(request, spec, content);
    expect((await finding('kernelspec', request))?.state).toBe('error');
  });
});

test('a jupyter command that prints no JSON is treated as one without paths', async () => {
  const request = bare();
  const { home } = request.machine;
  writeFileSync(join(home, 'jupyter'), '#!/bin/sh\necho deprecated\n', { mode: 0o755 });
  const machine = { ...request.machine, env: { PATH: home } };
  const path = write(request, 'kernels/apl/kernel.json', {
    language: 'axiom-apl',
    argv: [process.execPath, main],
  });
  expect(await finding('kernelspec', { ...request, machine })).toMatchObject({ state: 'ok', found: path });
});

test.each([
  ['1.2.3', 'ok'],
  ['1.2.2', 'warning'],
])('reports an extension of version %s as %s', async (version, state) => {
  const request = bare();
  write(request, 'labextensions/@apl-kernel/labextension/package.json', { version });
  expect((await finding('extension', request))?.state).toBe(state);
});

test('a data directory that cannot be created is an error', async () => {
  const request = bare();
  writeFileSync(join(request.machine.home, 'file'), '');
  const dataDir = join(request.machine.home, 'file', 'data');
  expect(await finding('data', { ...request, dataDir })).toMatchObject({ state: 'error' });
  expect(await finding('data', request)).toMatchObject({ state: 'ok', found: request.dataDir });
});

test.each([
  [0o700, 'ok'],
  [0o710, 'warning'],
  [0o704, 'warning'],
])('reports a data directory with permissions %o as %s', async (mode, state) => {
  const request = bare();
  mkdirSync(request.dataDir);
  chmodSync(request.dataDir, mode);
  expect((await finding('data', request))?.state).toBe(state);
});

test('warns if the system does not report the memory of a process', async () => {
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('ENOENT: no such file or directory, uv_resident_set_memory');
  });
  onTestFinished(() => rss.mockRestore());
  expect(await finding('memory', bare())).toEqual({
    name: 'memory',
    state: 'warning',
    found: 'the system does not report how much memory a process uses',
    fix: 'mount /proc: without it, the service cannot stop a query before it uses up all memory',
  });
  rss.mockRestore();
  expect(await finding('memory', bare())).toBeUndefined();
});

test('names every damaged file that was set aside, and what to do', async () => {
  const request = bare();
  const directory = join(request.dataDir, 'datasets', 'web%20logs');
  mkdirSync(directory, { recursive: true });
  const files = [
    join(directory, '1.log.damaged'),
    join(directory, '2.log.damaged'),
    join(request.dataDir, 'x.damaged'),
  ];
  for (const file of [...files, join(directory, '3.log')]) writeFileSync(file, 'x'.repeat(12_345));
  const day = new Date(2 ** 40);
  for (const file of files) utimesSync(file, day, day);
  const found = (await examine(request)).filter(({ name }) => name === 'damaged');
  expect(found).toEqual(
    files.map(file => ({
      name: 'damaged',
      state: 'warning',
      found: `${file}, 12.3 kB, last written on 2004-11-03: not all of it could be read`,
      fix: 'the readable part is already in the dataset; delete the file when you no longer need the rest',
    })),
  );
  expect(await finding('damaged', bare())).toBe(undefined);
});

test('warns if other users can read the profiles', async () => {
  const request = bare();
  const path = join(request.machine.home, '.axiom.toml');
  const none = await finding('profiles', request);
  writeFileSync(path, '', { mode: 0o600 });
  const own = await finding('profiles', request);
  chmodSync(path, 0o640);
  expect([none?.state, own, await finding('profiles', request)]).toEqual([
    'ok',
    { name: 'profiles', state: 'ok', found: path },
    {
      name: 'profiles',
      state: 'warning',
      found: `other users can read ${path}`,
      fix: 'run `chmod 600 ~/.axiom.toml`',
    },
  ]);
});

test('`--check-data` reports damaged files as errors and hand-edited ones as warnings', async () => {
  const request = bare({ checkData: true });
  const starred = join(request.dataDir, 'starred');
  mkdirSync(starred, { recursive: true });
  const files = ['cut', 'edited', 'whole'].map(id => join(starred, `${id}.json`));
  const texts = ['{', '{"name":"a","query":{"apl":"x"},"checksum":"0"}', '{"name":"b","query":{"apl":"x"}}'];
  for (const [index, file] of files.entries()) writeFileSync(file, texts[index] ?? '');
  const fix = 'repair it, or delete it with `%unstar ID`';
  const found = (await examine(request)).filter(({ name }) => name === 'files' || name === 'file');
  expect(found).toEqual([
    { name: 'files', state: 'ok', found: '3 files read, 1 of them intact' },
    { name: 'file', state: 'error', found: `${files[0]} cannot be read: it is not JSON`, fix },
    {
      name: 'file',
      state: 'warning',
      found: `${files[1]} does not match its checksum: it was edited by hand or is damaged`,
      fix,
    },
  ]);
  const plain = await examine({ ...request, checkData: false });
  expect(plain.filter(({ name }) => name === 'file')).toEqual([]);
});

test('findings are aligned lines, each with its fix', () => {
  const findings: readonly Finding[] = [
    { name: 'node', state: 'ok', found: '20.19.0' },
    { name: 'kernelspec', state: 'error', found: 'gone', fix: 'mend it' },
    { name: 'x', state: 'warning', found: 'odd' },
  ];
  expect(findingsText(findings).split('\n')).toEqual([
    'ok       node        20.19.0',
    'ERROR    kernelspec  gone',
    '                     -> mend it',
    'warning  x           odd',
  ]);
});

test('findings contain no terminal control characters', () => {
  const found = '/tmp/\u001b[31mred\u202e\nfake line';
  const text = findingsText([{ name: 'data', state: 'error', found, fix: `chmod ${found}` }]);
  expect(text.split('\n').length).toBe(2);
  expect([...text].filter(character => character < ' ' || character === '\u202e')).toEqual(['\n']);
});

test('warns about a service elsewhere that holds the data directory, and names it', async () => {
  const request = bare();
  mkdirSync(request.dataDir);
  new Elsewhere(request.dataDir).show();
  expect(await finding('service', request)).toEqual({
    name: 'service',
    state: 'warning',
    found: `cannot be reached from here; the data directory was last used by ${held.replace('is in use by ', '')}`,
    fix: 'stop it there, or set APL_KERNEL_DATA to another directory; if it is no longer running, the first query takes over after a while',
  });
});
