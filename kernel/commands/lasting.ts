import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inDataDir } from '../local/data-layout.js';
import { makeOwnDirectory } from '../local/store/store-files.js';
import type { PackageFiles } from './install.js';

/** Folders in which package runners cache packages. */
const CACHES = [
  // npx, `pnpm dlx` and `yarn dlx`.
  /[\\/](?:_npx|dlx(?:-[^\\/]+)?|xfs-[^\\/]+)[\\/]/,
  // uvx.
  /[\\/](?:archive|environments)-v\d+[\\/]/,
  // `pipx run`.
  /[\\/]pipx[\\/](?:\.?cache[\\/])?[0-9a-f]{15}[\\/]/i,
];

function isInCache(path: string): boolean {
  return CACHES.some(cache => cache.test(path));
}

/** Returns the location in which `lasting` finds or puts the package. */
export async function lastingFiles(files: PackageFiles, dataDir: string): Promise<PackageFiles> {
  if (!isInCache(files.root)) return files;
  const program = await readFile(join(dirname(files.main), 'commands.cjs'));
  const hash = createHash('sha256').update(program).digest('hex').slice(0, 12);
  const root = join(inDataDir(dataDir, 'tools'), `program-${files.version}-${hash}`);
  return { ...files, root, main: join(root, 'dist', 'main.js') };
}

/**
 * Returns the package in a permanent location, for later starts: its own, or, if it is in a runner's cache, a copy in the data directory
 * with its dependencies.
 */
export async function lasting(files: PackageFiles, dataDir: string): Promise<PackageFiles> {
  const copy = await lastingFiles(files, dataDir);
  if (copy.root === files.root || existsSync(copy.main)) return copy;
  await publish(copy.root, async fresh => {
    await copyFolder(files.root, fresh);
    for (const [name, folder] of await packagesOf(files.root)) {
      const to = join(fresh, 'node_modules', name);
      await mkdir(dirname(to), { recursive: true });
      await copyFolder(folder, to);
    }
  });
  return copy;
}

/** Returns the running Node in a permanent location, as an absolute path: a wheel that bundles Node has it beside the package. */
export async function lastingNode(
  { execPath, version }: { readonly execPath: string; readonly version: string },
  dataDir: string,
): Promise<string> {
  if (!isInCache(execPath)) return execPath;
  const copy = join(inDataDir(dataDir, 'tools'), `node-${version}`, basename(execPath));
  if (!existsSync(copy))
    await publish(dirname(copy), async fresh => {
      await mkdir(fresh);
      await copyFile(execPath, join(fresh, basename(execPath)), constants.COPYFILE_FICLONE);
    });
  return copy;
}

/** Creates a folder, an absolute path, atomically; `write` fills it under another name. */
async function publish(folder: string, write: (fresh: string) => Promise<void>): Promise<void> {
  const fresh = `${folder}.new-${crypto.randomUUID()}`;
  await makeOwnDirectory(dirname(folder));
  try {
    await write(fresh);
    await rename(fresh, folder).catch(error => {
      // Another process was first.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Returns the folders of a package's dependencies outside of it, by name. */
async function packagesOf(root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const folders = [root];
  for (const folder of folders) {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const needed = folderOf(name, folder);
      if (needed === undefined || found.has(name)) continue;
      found.set(name, needed);
      folders.push(needed);
    }
  }
  return found;
}

/** Returns the folder in which Node finds a package that another imports; undefined for one of another platform. */
function folderOf(name: string, from: string): string | undefined {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return undefined;
}
