import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { venvBin } from '../kernel/commands/lab/python.js';
import { npm, root, run } from './process.mjs';

/**
 * Measures each way in, in an empty home: what is downloaded and installed, and the seconds from nothing until Jupyter could see the
 * kernel and until the first example has its chart. `npm run ways` reads the packages that `npm run wheel` and `npm pack` made.
 * @typedef {{ home: string, env: NodeJS.ProcessEnv, caches: string }} Place
 * @typedef {{ name: string, artifact?: RegExp, install: (place: Place) => Promise<readonly string[]> }} Way
 */

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(root, 'out') },
    only: { type: 'string', default: '' },
  },
});

/** @type {readonly Way[]} */
const ways = [
  {
    name: 'pip install apl-kernel',
    install: place => inVenv(place, [artifactOf(/^apl_kernel-.*\.whl$/)]),
  },
  {
    name: 'pip install apl-kernel-slim',
    install: place => inVenv(place, [artifactOf(/^apl_kernel_slim-.*\.whl$/)]),
  },
  { name: 'pipx install apl-kernel', install: byPipx },
  { name: 'uvx apl-kernel', install: byUvx },
  { name: 'npm install -g apl-kernel', artifact: /^apl-kernel-.*\.tgz$/, install: byNpm },
  { name: 'npx apl-kernel', artifact: /^apl-kernel-.*\.tgz$/, install: byNpx },
  { name: 'from a clone', install: byClone },
];

const rows = [];
for (const way of ways.filter(({ name }) => name.includes(values.only))) {
  const row = await measured(way);
  console.log(Object.values(row).join(' | '));
  rows.push(row);
}
console.log(`\n| way | download | installed | kernel visible | first chart |\n|---|---|---|---|---|`);
for (const row of rows) console.log(`| ${Object.values(row).join(' | ')} |`);

/** @param {Way} way */
async function measured(way) {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-way-'));
  const caches = join(home, 'caches');
  const env = {
    ...{ HOME: home, PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data'), NO_COLOR: '1' },
    ...{
      npm_config_cache: join(caches, 'npm'),
      PIP_CACHE_DIR: join(caches, 'pip'),
      UV_CACHE_DIR: join(home, 'uv'),
    },
    ...registries(),
  };
  mkdirSync(caches);
  try {
    const started = performance.now();
    const seconds = () => `${Math.round((performance.now() - started) / 1000)} s`;
    const [program = '', ...args] = await way.install({ home, env, caches });
    if (!existsSync(join(home, 'env'))) await must(program, [...args, 'install'], { env, cwd: home });
    const kernelspec = join('share', 'jupyter', 'kernels', 'apl', 'kernel.json');
    if (!existsSync(join(home, 'env', kernelspec)) && !existsSync(join(home, '.local', kernelspec)))
      throw new Error(`${way.name}: Jupyter would not see the kernel`);
    const visible = seconds();
    const example = join(root, 'examples', '01-first-look.ipynb');
    await must(program, [...args, 'run', example, '--out', join(home, 'pages')], { env, cwd: home });
    const page = readFileSync(join(home, 'pages', '01-first-look.html'), 'utf8');
    if (!page.includes('image/svg+xml')) throw new Error(`${way.name}: the first example has no chart`);
    const chart = seconds();
    await run(program, [...args, 'serve', '--stop'], { env, cwd: home });
    const own = way.artifact === undefined ? 0 : statSync(artifactOf(way.artifact)).size;
    const cached = sizeOf(join(caches, 'npm', '_cacache')) + sizeOf(join(caches, 'wheels'));
    // npx installs into its cache.
    const byNpx = sizeOf(join(caches, 'npm', '_npx'));
    const apart = sizeOf(caches) - byNpx + sizeOf(join(home, 'pages')) + sizeOf(join(home, '.npm'));
    // What pipx and uv download is not known: neither keeps it as it came.
    const download = /^(?:pipx|uvx)/.test(way.name) ? '' : mb(own + cached);
    return { way: way.name, download, installed: mb(sizeOf(home) - apart), visible, chart };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A registry that this machine is set up for, which an empty home would not have. */
function registries() {
  const names = [
    'npm_config_registry',
    'PIP_INDEX_URL',
    'PIP_CONFIG_FILE',
    'UV_INDEX_URL',
    'UV_DEFAULT_INDEX',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'PIP_CERT',
  ];
  return Object.fromEntries(
    names.flatMap(name => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** @param {Place} place @param {readonly string[]} packages */
async function inVenv({ home, env, caches }, packages) {
  const venv = join(home, 'env');
  await must('python3', ['-m', 'venv', venv], { env, cwd: home });
  const pip = (/** @type {readonly string[]} */ ...args) =>
    must(venvBin(venv, 'python'), ['-m', 'pip', ...args], { env, cwd: home });
  // A cache need not have what a registry does not let it keep.
  const files = join(caches, 'wheels');
  await pip('download', '-q', '-d', files, ...packages);
  await pip('install', '-q', '--no-index', '--find-links', files, ...packages);
  return [venvBin(venv, 'apl-kernel')];
}

/** A tool from PyPI, beside the home, so that its size is not counted. @param {string} name @param {Place} place */
async function tool(name, { caches, env }) {
  const venv = join(caches, 'tools');
  await must('python3', ['-m', 'venv', venv], { env });
  await must(venvBin(venv, 'python'), ['-m', 'pip', 'install', '-q', '--no-cache-dir', name], { env });
  return venvBin(venv, name);
}

/** @param {Place} place */
async function byPipx(place) {
  const pipx = await tool('pipx', place);
  await must(pipx, ['install', artifactOf(/^apl_kernel-.*\.whl$/)], { env: place.env, cwd: place.home });
  return [join(place.home, '.local', 'bin', 'apl-kernel')];
}

/** @param {Place} place */
async function byUvx(place) {
  const uv = await tool('uv', place);
  return [uv, 'tool', 'run', '--from', artifactOf(/^apl_kernel-.*\.whl$/), 'apl-kernel'];
}

/** @param {Place} place */
async function byNpm({ home, env }) {
  const [program, args] = npm([
    'install',
    '--prefix',
    home,
    '-g',
    '--no-audit',
    '--no-fund',
    artifactOf(/^apl-kernel-.*\.tgz$/),
  ]);
  await must(program, args, { env, cwd: home });
  return [join(home, 'bin', 'apl-kernel')];
}

/** @param {Place} _place */
async function byNpx(_place) {
  const [program, args] = npm([
    'exec',
    '--yes',
    `--package=${artifactOf(/^apl-kernel-.*\.tgz$/)}`,
    '--',
    'apl-kernel',
  ]);
  return [program, ...args];
}

/** The commit that is checked out. @param {Place} place */
async function byClone({ home, env }) {
  const clone = join(home, 'clone');
  await must('git', ['clone', '-q', '--depth', '1', `file://${root}`, clone], { env, cwd: home });
  const [program, args] = npm(['ci', '--no-audit', '--no-fund']);
  await must(program, args, { env, cwd: clone });
  const [build, steps] = npm(['run', 'build']);
  await must(build, steps, { env, cwd: clone });
  return [process.execPath, join(clone, 'dist', 'main.js')];
}

/** @param {RegExp} pattern */
function artifactOf(pattern) {
  const name = readdirSync(values.from).find(each => pattern.test(each));
  if (name === undefined)
    throw new Error(
      `No package ${pattern} in ${values.from}: run \`npm run wheel\` and \`npm pack --pack-destination out\``,
    );
  return join(values.from, name);
}

/** The bytes of a file or of all in a folder; links count as nothing. @param {string} path @returns {number} */
function sizeOf(path) {
  if (!existsSync(path)) return 0;
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  const files = entries.filter(each => each.isFile()).map(each => join(each.parentPath, each.name));
  return files.reduce((bytes, file) => bytes + statSync(file).size, 0);
}

/** @param {number} bytes */
function mb(bytes) {
  return `${Math.round(bytes / 1e6)} MB`;
}

/** @param {string} program @param {readonly string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options] */
async function must(program, args, options) {
  const { code, text } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${text}`);
}
