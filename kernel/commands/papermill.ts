import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const MODULE = 'apl_kernel_papermill.py';
const COMPILED = '__pycache__';

/** Installs the module that teaches papermill about APL parameters into the Python environment in `prefix`; returns its paths. */
export async function installPapermill(
  prefix: string,
  root: string,
  version: string,
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const packages of sitePackages(prefix)) {
    await removePapermill(packages);
    const about = join(packages, `apl_kernel_papermill-${version}.dist-info`);
    await mkdir(about);
    for (const [name, text] of Object.entries(distInfo(version))) await writeFile(join(about, name), text);
    await cp(join(root, 'python', MODULE), join(packages, MODULE));
    written.push(join(packages, MODULE));
  }
  return written;
}

/** Removes what `installPapermill` installed; returns the paths of the module. */
export async function uninstallPapermill(prefix: string): Promise<readonly string[]> {
  const found = sitePackages(prefix).filter(packages => existsSync(join(packages, MODULE)));
  for (const packages of found) await removePapermill(packages);
  return found.map(packages => join(packages, MODULE));
}

/** Returns the site-packages directories in an environment; none if it has no Python. */
function sitePackages(prefix: string): readonly string[] {
  const unix = join(prefix, 'lib');
  const versions = existsSync(unix) ? readdirSync(unix).filter(name => /^python3\.\d+$/.test(name)) : [];
  const candidates = [
    ...versions.map(name => join(unix, name, 'site-packages')),
    join(prefix, 'Lib', 'site-packages'),
  ];
  return candidates.filter(existsSync);
}

async function removePapermill(packages: string): Promise<void> {
  const compiled = join(packages, COMPILED);
  const pyc = existsSync(compiled)
    ? readdirSync(compiled).filter(name => name.startsWith('apl_kernel_papermill.'))
    : [];
  for (const name of pyc) await rm(join(compiled, name));
  const about = readdirSync(packages).filter(name => /^apl_kernel_papermill-.*\.dist-info$/.test(name));
  for (const name of [MODULE, ...about]) await rm(join(packages, name), { recursive: true, force: true });
}

/** Returns the files of a wheel's metadata: https://packaging.python.org/en/latest/specifications/recording-installed-packages/ */
function distInfo(version: string): Readonly<Record<string, string>> {
  const about = `apl_kernel_papermill-${version}.dist-info`;
  return {
    METADATA: `Metadata-Version: 2.1\nName: apl-kernel-papermill\nVersion: ${version}\nSummary: Parameters of APL notebooks for papermill\n`,
    'entry_points.txt': '[papermill.engine]\napl = apl_kernel_papermill:AplEngine\n',
    INSTALLER: 'apl-kernel\n',
    RECORD: [
      MODULE,
      ...['METADATA', 'entry_points.txt', 'INSTALLER', 'RECORD'].map(name => `${about}/${name}`),
    ]
      .map(path => `${path},,\n`)
      .join(''),
  };
}
