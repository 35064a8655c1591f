import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { venvBin } from '../kernel/commands/lab/python.js';
import { npm, root, run } from './process.mjs';

/**
 * Measures each installation method, in an empty home: downloaded and installed sizes, and the seconds from nothing until Jupyter could
 * see the kernel and until the first example has its chart; for those with `lab`, in JupyterLab in Chromium, and then once more from a
 * start without a network. `npm run ways` reads the packages from `npm run wheel` and `npm pack`.
 * @typedef {{ home: string, env: NodeJS.ProcessEnv, caches: string }} Place
 * @typedef {{ name: string, artifact?: RegExp, install: (place: Place) => Promise<readonly string[]>, lab?: Lab }} Way
 * @typedef {(place: Place, command: readonly string[]) => readonly string[]} Lab the command that starts JupyterLab
 */

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(root, 'out') },
    only: { type: 'string', default: '' },
  },
});

/** Brings up only the loopback interface, and becomes the program named by its arguments. */
const LOOPBACK = `
import fcntl, os, socket, struct, sys
with socket.socket() as any_socket:
    flags = struct.unpack_from('16sh', fcntl.ioctl(any_socket, 0x8913, struct.pack('16sh14x', b'lo', 0)))[1]
    fcntl.ioctl(any_socket, 0x8914, struct.pack('16sh14x', b'lo', flags | 1))
os.execvp(sys.argv[1], sys.argv[1:])
`;

/** Exposes the commands of JupyterLab to the page. */
const EXPOSED = '--LabApp.expose_app_in_browser=True';

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
  {
    name: 'pip install jupyterlab apl-kernel-slim; jupyter lab',
    install: place => inVenv(place, ['jupyterlab', artifactOf(/^apl_kernel_slim-.*\.whl$/)]),
    lab: ownLab,
  },
  {
    name: 'npm install -g apl-kernel; apl-kernel lab',
    artifact: /^apl-kernel-.*\.tgz$/,
    install: byNpm,
    lab: privateLab,
  },
  { name: 'npx apl-kernel lab', artifact: /^apl-kernel-.*\.tgz$/, install: byNpx, lab: privateLab },
];

const rows = [];
for (const way of ways.filter(({ name }) => name.includes(values.only))) {
  const row = await measured(way);
  console.log(Object.values(row).join(' | '));
  rows.push(row);
}
console.log(
  `\n| way | download | installed | kernel visible | first chart | again, without a network |\n|---|---|---|---|---|---|`,
);
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
    const command = await way.install({ home, env, caches });
    const steps = way.lab === undefined ? headless : inLab(way.lab);
    const times = await steps(way, { home, env, caches }, command, seconds);
    await run(command[0] ?? '', [...command.slice(1), 'serve', '--stop'], { env, cwd: home });
    const own = way.artifact === undefined ? 0 : statSync(artifactOf(way.artifact)).size;
    const cached = sizeOf(join(caches, 'npm', '_cacache')) + sizeOf(join(caches, 'wheels'));
    // npx installs into its cache.
    const byNpx = sizeOf(join(caches, 'npm', '_npx'));
    const apart = sizeOf(caches) - byNpx + sizeOf(join(home, 'pages')) + sizeOf(join(home, '.npm'));
    // The download size of pipx and uv is unknown: neither keeps the original files.
    const download = /^(?:pipx|uvx)/.test(way.name) ? '' : mb(own + cached);
    return { way: way.name, download, installed: mb(sizeOf(home) - apart), ...times };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * @typedef {{ visible: string, chart: string, again: string }} Times
 * @typedef {(way: Way, place: Place, command: readonly string[], seconds: () => string) => Promise<Times>} Steps
 */

/** @type {Steps} */
async function headless(way, { home, env }, [program = '', ...args], seconds) {
  if (!existsSync(join(home, 'env'))) await must(program, [...args, 'install'], { env, cwd: home });
  const kernelspec = join('share', 'jupyter', 'kernels', 'apl', 'kernel.json');
  const spec = [join(home, 'env', kernelspec), join(home, '.local', kernelspec)].find(existsSync);
  if (spec === undefined) throw new Error(`${way.name}: Jupyter would not see the kernel`);
  const [node, main] = JSON.parse(readFileSync(spec, 'utf8')).argv;
  if (/caches|archive-v/.test(node + main)) throw new Error(`${way.name}: the kernelspec is in a cache`);
  const visible = seconds();
  const example = join(root, 'examples', '01-first-look.ipynb');
  await must(program, [...args, 'run', example, '--out', join(home, 'pages')], { env, cwd: home });
  const page = readFileSync(join(home, 'pages', '01-first-look.html'), 'utf8');
  if (!page.includes('image/svg+xml')) throw new Error(`${way.name}: the first example has no chart`);
  return { visible, chart: seconds(), again: '' };
}

/** @param {Lab} lab @returns {Steps} */
function inLab(lab) {
  return async (_, place, command, seconds) => {
    const { home, env } = place;
    const watched = [process.execPath, join(root, 'scripts', 'ways', 'lab.mjs'), ...lab(place, command)];
    await must(process.execPath, watched.slice(1), { env, cwd: home });
    const chart = seconds();
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return { visible: '', chart, again: '' };
    const started = performance.now();
    await must('unshare', ['-n', 'python3', '-c', LOOPBACK, ...watched], { env, cwd: home });
    return { visible: '', chart, again: `${Math.round((performance.now() - started) / 1000)} s` };
  };
}

/** @type {Lab} */
function privateLab(_place, command) {
  return [...command, 'lab', EXPOSED];
}

/** Returns the JupyterLab of the environment, on a copy of the examples. @type {Lab} */
function ownLab({ home }) {
  const examples = join(home, 'examples');
  cpSync(join(root, 'examples'), examples, { recursive: true });
  return [
    venvBin(join(home, 'env'), 'jupyter'),
    'lab',
    '--no-browser',
    ...(process.getuid?.() === 0 ? ['--allow-root'] : []),
    `--ServerApp.root_dir=${examples}`,
    EXPOSED,
  ];
}

/** Returns the registry settings of this machine, which an empty home would lack. */
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
  // A cache may lack files that the registry does not allow it to store.
  const files = join(caches, 'wheels');
  await pip('download', '-q', '-d', files, ...packages);
  await pip('install', '-q', '--no-index', '--find-links', files, ...packages);
  return [venvBin(venv, 'apl-kernel')];
}

/** Installs a tool from PyPI outside the home, so that its size is not counted. @param {string} name @param {Place} place */
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

/** Clones the current commit. @param {Place} place */
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

/** Returns the bytes of a file or of everything in a folder, ignoring links. @param {string} path @returns {number} */
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
