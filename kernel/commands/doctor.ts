import { closeSync, constants, existsSync, lstatSync } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { profileFileWarning, profilesOf, readProfileFile } from '../api/profile.js';
import { AplKernelError } from '../errors.js';
import { openFileSync } from '../files.js';
import { inDataDir } from '../local/data-layout.js';
import { holderOf } from '../local/lease/lease.js';
import { findShared, type SharedService } from '../local/shared.js';
import { damagedSuffix } from '../local/store/store-files.js';
import { makeDirectory, processMemory, systemRefusal } from '../machine.js';
import { formatBytes, formatCount, plural, visible } from '../text.js';
import { output } from './command-process.js';
import {
  jupyterDataDirs,
  KERNEL_NAME,
  LABEXTENSION_NAME,
  type Machine,
  type PackageFiles,
  readJson,
} from './install.js';
import { markdownPairings } from './jupytext.js';

/** Result of one check; `fix` says what to do unless it is ok. The kernel works despite a warning. */
export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'error';
  readonly found: string;
  readonly fix?: string;
}

/** Inputs of the checks besides the machine. */
export interface DoctorRequest {
  readonly machine: Machine;
  readonly files: PackageFiles;
  readonly nodeVersion: string;
  /** Data directory of the local service. */
  readonly dataDir: string;
  /** Folder that the command was run in. */
  readonly workDir: string;
  /** Whether to read all of the data as well. */
  readonly checkData: boolean;
}

/** Checks everything that the kernel needs; returns one finding per check and per damaged file, in the order in which to fix them. */
export async function examine(request: DoctorRequest): Promise<readonly Finding[]> {
  const { machine, files } = request;
  const dataDirs = await jupyterDataDirs(machine);
  return [
    nodeFinding(request.nodeVersion, files.oldestNode),
    await moduleFinding('messaging', 'zeromq', () => import('zeromq')),
    await moduleFinding('engine', 'DuckDB', () => import('@duckdb/node-api')),
    await programFinding(machine, 'python', ['python3', 'python']),
    await programFinding(machine, 'jupyter', ['jupyter']),
    await kernelspecFinding(dataDirs, files),
    await labextensionFinding(dataDirs, files),
    ...memoryFindings(),
    await dataDirFinding(request.dataDir),
    ...(await damagedFindings(request.dataDir)),
    ...(request.checkData ? await dataFindings(request.dataDir) : []),
    ...(await bucketFindings(request.dataDir)),
    await profilesFinding(machine.home),
    ...(await settingsFindings(machine.home)),
    ...logFindings(request.dataDir),
    ...(await clusterFindings(machine.home)),
    ...(await pairingFindings(request)),
    serviceFinding(await findShared(request.dataDir, probeMs), await holderOf(request.dataDir)),
  ];
}

/** Returns a finding only if the system does not report a process's memory use. */
function memoryFindings(): readonly Finding[] {
  if (processMemory() !== undefined) return [];
  const found = 'the system does not report how much memory a process uses';
  const fix = 'mount /proc: without it, the service cannot stop a query before it uses up all memory';
  return [{ name: 'memory', state: 'warning', found, fix }];
}

/** Formats the findings as aligned lines, each problem followed by its fix; file names and versions cannot control the terminal. */
export function findingsText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const mark = { ok: 'ok     ', warning: 'warning', error: 'ERROR  ' };
  return findings
    .flatMap(({ name, state, found, fix }) => [
      `${mark[state]}  ${name.padEnd(width)}  ${visible(found)}`,
      ...(fix === undefined ? [] : [`${' '.repeat(11 + width)}-> ${visible(fix)}`]),
    ])
    .join('\n');
}

function nodeFinding(version: string, oldest: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  const runs = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (runs) return { name: 'node', state: 'ok', found: version };
  return { name: 'node', state: 'error', found: version, fix: `install Node ${oldest} or newer` };
}

async function moduleFinding(name: string, library: string, load: () => Promise<unknown>): Promise<Finding> {
  try {
    await load();
    return { name, state: 'ok', found: `${library} loads` };
  } catch (error) {
    const reason = error instanceof Error ? firstLine(error.message) : String(error);
    const fix = 'reinstall the package on this machine, with its optional dependencies';
    return { name, state: 'error', found: `${library} does not load: ${reason}`, fix };
  }
}

async function programFinding(machine: Machine, name: string, programs: readonly string[]): Promise<Finding> {
  for (const program of programs) {
    const version = await output(machine.env, program, ['--version']);
    if (version !== undefined) return { name, state: 'ok', found: jupyterCore(version) };
  }
  const fix = 'needed for JupyterLab only: `npx apl-kernel run` works without it';
  return { name, state: 'warning', found: 'not on the PATH', fix };
}

/** Returns the relevant versions: `jupyter --version` lists all its packages, but the server and the core are enough. */
function jupyterCore(version: string): string {
  const lines = version.split('\n').map(line => line.replace(/\s+/g, ' '));
  const versions = lines.filter(
    line => /^(jupyter_core|jupyterlab|jupyter_server) /.test(line) && !line.includes('not installed'),
  );
  return versions.length > 0 ? versions.join(', ') : (lines[0] ?? '');
}

async function kernelspecFinding(dataDirs: readonly string[], files: PackageFiles): Promise<Finding> {
  const name = 'kernelspec';
  const path = findFile(dataDirs, 'kernels', KERNEL_NAME, 'kernel.json');
  const fix = 'run `npx apl-kernel install`, with the options for the Jupyter that you use';
  // `apl-kernel lab` installs its own Jupyter, and headless runs need none.
  if (path === undefined)
    return {
      name,
      state: 'warning',
      found: 'not installed where Jupyter looks; `apl-kernel lab` works without it',
      fix,
    };
  const spec = await readJson(path);
  if (spec === undefined)
    return {
      name,
      state: 'error',
      found: `${path} cannot be read, or is not JSON`,
      fix: `remove it, then ${fix}`,
    };
  const argv = Array.isArray(spec.argv) ? spec.argv.map(String) : [];
  if (spec.language !== 'axiom-apl') {
    return {
      name,
      state: 'error',
      found: `${path} belongs to another kernel called apl`,
      fix: 'remove or rename it, then run `npx apl-kernel install`',
    };
  }
  // Jupyter runs the kernel in its own Python, and so uses the package installed there.
  if (argv.slice(0, 3).join(' ') === 'python -m apl_kernel')
    return { name, state: 'ok', found: `${path}, from a Python package` };
  const gone = argv.slice(0, 2).find(file => !existsSync(file));
  if (gone !== undefined)
    return { name, state: 'error', found: `${path} starts ${gone}, which does not exist`, fix };
  if (argv[1] !== files.main)
    return { name, state: 'warning', found: `${path} starts another copy, ${argv[1]}`, fix };
  return { name, state: 'ok', found: path };
}

async function labextensionFinding(dataDirs: readonly string[], files: PackageFiles): Promise<Finding> {
  const name = 'extension';
  const path = findFile(dataDirs, 'labextensions', LABEXTENSION_NAME, 'package.json');
  const fix = 'run `npx apl-kernel install`; without it, cells are not highlighted';
  if (path === undefined) return { name, state: 'warning', found: 'not installed where Jupyter looks', fix };
  const version = String((await readJson(path))?.version);
  if (version === files.version) return { name, state: 'ok', found: path };
  return { name, state: 'warning', found: `${path} is version ${version}, the kernel ${files.version}`, fix };
}

async function dataDirFinding(dataDir: string): Promise<Finding> {
  try {
    makeDirectory(dataDir);
    await access(dataDir, constants.R_OK | constants.W_OK);
    const { mode } = await stat(dataDir);
    if (process.platform === 'win32' || (mode & 0o077) === 0)
      return { name: 'data', state: 'ok', found: dataDir };
    const found = `other users can read ${dataDir}`;
    return { name: 'data', state: 'warning', found, fix: `run \`chmod 700 ${dataDir}\`` };
  } catch (error) {
    const found = `${dataDir} cannot be written: ${firstLine((error as Error).message)}`;
    return {
      name: 'data',
      state: 'error',
      found,
      fix: 'make it writable, or set APL_KERNEL_DATA to a directory that is',
    };
  }
}

/** Returns the number of files read, then a finding per file that is damaged or was edited by hand. */
async function dataFindings(dataDir: string): Promise<readonly Finding[]> {
  const { checkData } = await import('../local/check/check.js');
  const { files, faults } = await checkData(dataDir);
  const read: Finding = {
    name: 'files',
    state: 'ok',
    found: `${plural(files, 'file')} read, ${formatCount(files - faults.length)} of them intact`,
  };
  const found = faults.map(
    ({ file, state, reason, remedy }): Finding => ({
      name: 'file',
      state: state === 'damaged' ? 'error' : 'warning',
      found: `${file} ${reason}`,
      fix: remedy,
    }),
  );
  return [read, ...found];
}

/** Returns a finding per file that was set aside. */
async function damagedFindings(dataDir: string): Promise<readonly Finding[]> {
  const files = (await damagedIn(dataDir, inDataDir(dataDir, 'tools'))).sort();
  return Promise.all(
    files.map(async file => {
      const { size, mtime } = await stat(file);
      return {
        name: 'damaged',
        state: 'warning',
        found: `${file}, ${formatBytes(size)}, last written on ${mtime.toISOString().slice(0, 10)}: not all of it could be read`,
        fix: 'the readable part is already in the dataset; delete the file when you no longer need the rest',
      };
    }),
  );
}

async function damagedIn(directory: string, except: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const found = entries.map(async entry => {
    const path = join(directory, entry.name);
    if (entry.name.endsWith(damagedSuffix)) return [path];
    return entry.isDirectory() && path !== except ? damagedIn(path, except) : [];
  });
  return (await Promise.all(found)).flat();
}

/** Returns a finding per dataset in a bucket. */
async function bucketFindings(dataDir: string): Promise<readonly Finding[]> {
  const { probeBuckets } = await import('../local/store/dataset/bucket/bucket-probe.js');
  return (await probeBuckets(dataDir)).map(({ dataset, address, refusal }): Finding => {
    const name = 'bucket';
    if (refusal === undefined)
      return { name, state: 'ok', found: `${address}, of the dataset ${dataset}, can be listed` };
    const { message, hint = 'check the network' } = refusal;
    return { name, state: 'warning', found: `dataset ${dataset}: ${message}`, fix: hint };
  });
}

/** Returns a finding if the user's settings cannot be read. */
async function settingsFindings(homeDir: string): Promise<readonly Finding[]> {
  const { readSettings } = await import('../notebook/settings.js');
  const refusal = await readSettings({ homeDir, workDir: homeDir }).then(() => undefined, refusalOf);
  if (refusal === undefined) return [];
  const fix = refusal.hint ?? 'correct the file';
  return [{ name: 'settings', state: 'warning', found: refusal.message, fix }];
}

/** Returns a finding if the service cannot write its log, which it runs without. */
function logFindings(dataDir: string): readonly Finding[] {
  const path = inDataDir(dataDir, 'service.log');
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      closeSync(openFileSync(path, constants.O_WRONLY | constants.O_APPEND));
    return [];
  } catch (error) {
    const reason = systemRefusal(error)?.reason ?? firstLine((error as Error).message);
    const found = `${path} cannot be written: ${reason}. The service runs without a log`;
    return [
      { name: 'log', state: 'warning', found, fix: 'move it away: the next service creates a new one' },
    ];
  }
}

/** Returns the error if it is the kernel's own, as for unreadable files; rethrows anything else. */
function refusalOf(error: unknown): AplKernelError {
  if (error instanceof AplKernelError) return error;
  throw error;
}

async function profilesFinding(home: string): Promise<Finding> {
  const name = 'profiles';
  const path = join(home, '.axiom.toml');
  const refusal = await readProfileFile(home)
    .then(file => profilesOf(file, {}))
    .then(found => found.flatMap(each => ('refusal' in each ? [each.refusal] : []))[0], refusalOf);
  if (refusal !== undefined)
    return { name, state: 'warning', found: refusal.message, fix: refusal.hint ?? 'correct the file' };
  if (!existsSync(path))
    return { name, state: 'ok', found: 'no ~/.axiom.toml; the local service needs none' };
  const warning = await profileFileWarning(home);
  if (warning === undefined) return { name, state: 'ok', found: path };
  return {
    name,
    state: 'warning',
    found: `other users can read ${path}`,
    fix: 'run `chmod 600 ~/.axiom.toml`',
  };
}

/** Returns a finding per deployment on a cluster; an unreadable file is reported by another check. */
async function clusterFindings(home: string): Promise<readonly Finding[]> {
  const name = 'cluster';
  const profiles = await readProfileFile(home)
    .then(file => profilesOf(file, {}))
    .catch(() => []);
  if (profiles.every(each => 'refusal' in each || each.engine === undefined)) return [];
  const { probeClusters } = await import('../local/trino/trino-probe.js');
  return (await probeClusters(profiles, clusterMs)).map(({ name: deployment, outcome }): Finding => {
    if (outcome instanceof AplKernelError) {
      const { message, hint = 'check the network' } = outcome;
      return { name, state: 'warning', found: `${deployment}: ${message}`, fix: hint };
    }
    const { tables, place } = outcome;
    if (tables > 0)
      return { name, state: 'ok', found: `${deployment}: ${plural(tables, 'table')} in ${place}` };
    const fix = 'check catalog and schema in ~/.axiom.toml, and the permissions of its user';
    return { name, state: 'warning', found: `${deployment}: no table visible in ${place}`, fix };
  });
}

/** Timeout for a cluster, in milliseconds: other queries may be queued before this one. */
const clusterMs = 15_000;

async function pairingFindings({ workDir, machine }: DoctorRequest): Promise<readonly Finding[]> {
  return (await markdownPairings(workDir, machine.home)).map(path => ({
    name: 'jupytext',
    state: 'warning',
    found: `${path} pairs notebooks with md, which merges all APL cells into one if jupytext does not know the language`,
    fix: 'pair them with `ipynb,md:myst`, or serve them where apl-kernel was installed with pip',
  }));
}

/** Timeout for one check, in milliseconds: a user is waiting for the report. */
const probeMs = 2_000;

function serviceFinding(shared: SharedService, holder: string | undefined): Finding {
  const name = 'service';
  const isHere = shared.kind === 'running' || shared.kind === 'frozen';
  if (!isHere && holder !== undefined) {
    const found = `cannot be reached from here; the data directory was last used by ${holder}`;
    const fix =
      'stop it there, or set APL_KERNEL_DATA to another directory; if it is no longer running, the first query takes over after a while';
    return { name, state: 'warning', found, fix };
  }
  switch (shared.kind) {
    case 'none':
      return { name, state: 'ok', found: 'not running; the first query starts it' };
    case 'running':
      return { name, state: 'ok', found: `responds at ${shared.file.url}` };
    case 'frozen': {
      const found = `process ${shared.file.pid} does not respond at ${shared.file.url}`;
      return {
        name,
        state: 'warning',
        found,
        fix: 'wait a little, or stop it with `npx apl-kernel serve --stop`',
      };
    }
    case 'gone': {
      const found = 'not running; the last one ended without cleaning up, and the first query starts another';
      return { name, state: 'ok', found };
    }
  }
}

function findFile(dataDirs: readonly string[], ...below: readonly string[]): string | undefined {
  return dataDirs.map(directory => join(directory, ...below)).find(path => existsSync(path));
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
