import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { npm, root, run } from './process.mjs';

/** The compiled command. */
export const main = join(root, 'dist', 'main.js');

/** Inputs of the build; their content decides whether it is up to date. */
const INPUTS = [
  'package-lock.json',
  'tsconfig.json',
  'scripts/bundle.mjs',
  'scripts/notices.mjs',
  'kernel',
  'labextension',
];
const GENERATED = /^(node_modules|lib|labextension|.*\.tsbuildinfo)$/;

/**
 * Bundles the kernel into dist/ and builds the JupyterLab extension into labextension/labextension/, unless both are up to date.
 * @param {(step: string) => void} say receives each step
 */
export async function ensureBuild(say) {
  const stamp = join(root, 'dist', 'build.stamp');
  const wanted = contentHash(INPUTS);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say('Compiling the kernel');
  // Built aside and then renamed: kernels may be starting from dist/ at the same time, or store compiled code in it.
  const [dist, fresh, old] = [join(root, 'dist'), join(root, 'dist.new'), join(root, 'dist.old')];
  for (const directory of [fresh, old]) rmSync(directory, { recursive: true, force: true });
  await bundle(fresh);
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
  say('Building the JupyterLab extension');
  await build(...npm(['run', '--silent', 'build', '--workspace', 'labextension']));
  writeFileSync(stamp, wanted);
}

/**
 * Installs the built kernel and extension into a Python environment.
 * @param {string} venv
 */
export async function installInto(venv) {
  const { code, text } = await run(process.execPath, [main, 'install', '--prefix', venv]);
  if (code !== 0) throw new Error(`The kernel could not be installed:\n${text}`);
}

/** @param {string} program @param {string[]} args */
async function build(program, args) {
  const { code, text } = await run(program, args);
  if (code !== 0) throw new Error(`The build failed:\n${text}`);
}

/** @param {readonly string[]} paths @returns {string} */
function contentHash(paths) {
  const hash = createHash('sha256').update(root);
  for (const path of paths.flatMap(path => filesUnder(path))) {
    hash.update(path).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .filter(name => !GENERATED.test(name))
    .sort()
    .flatMap(name => filesUnder(join(path, name)));
}

if (argv[1] === fileURLToPath(import.meta.url)) await ensureBuild(console.log);
