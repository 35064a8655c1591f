import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { venvBin } from '../kernel/commands/lab/python.js';
import { ensureBuild } from './build.mjs';
import { npm, root, run } from './process.mjs';
import { buildVsix } from './vsix.mjs';
import { buildWheels, PLATFORMS } from './wheel.mjs';

const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const about = read('package.json');
/** The oldest supported Node, and other common ones; each is an npm package with the program in it. */
const NODES = [about.engines.node.replace('>=', ''), '22', '24'];

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    platform: { type: 'string', multiple: true, default: [`${process.platform}-${process.arch}`] },
    all: { type: 'boolean', default: false },
    to: { type: 'string', default: join(root, 'out', 'release') },
  },
});
if (!values['dry-run']) {
  console.error(
    'Only `npm run release -- --dry-run` runs here: the workflow release.yml uploads what it made.',
  );
  process.exit(2);
}

checkVersions();
rmSync(values.to, { recursive: true, force: true });
const sums = await artifacts(values.to);
const again = await artifacts(join(values.to, 'again'));
const different = Object.keys(sums).filter(name => sums[name] !== again[name]);
if (different.length > 0) throw new Error(`Two builds differ: ${different.join(', ')}`);
rmSync(join(values.to, 'again'), { recursive: true });
console.log('Two builds have the same bytes');
for (const version of NODES) await inEmptyHome(`npm package on Node ${version}`, fromNpm(version));
await inEmptyHome('wheel', fromWheel);
writeFileSync(
  join(values.to, 'SHA256SUMS'),
  Object.entries(sums)
    .map(([name, sum]) => `${sum}  ${name}\n`)
    .join(''),
);
console.table(Object.entries(sums).map(([file, sha256]) => ({ file, sha256: sha256.slice(0, 16) })));

/** Checks that everything with a version has the same one. */
function checkVersions() {
  const extension = read('labextension/package.json').version;
  if (extension !== about.version)
    throw new Error(`labextension is ${extension}, the package ${about.version}`);
  if (!/^## /m.test(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')))
    throw new Error('The changelog is empty');
}

/**
 * Builds everything from scratch into a directory.
 * @param {string} directory
 * @returns {Promise<Record<string, string>>} the SHA-256 of each file
 */
async function artifacts(directory) {
  mkdirSync(directory, { recursive: true });
  for (const built of ['dist', 'labextension/lib', 'labextension/labextension'])
    rmSync(join(root, built), { recursive: true, force: true });
  await ensureBuild(console.log);
  checkNotices();
  await must(...npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', directory]));
  await buildWheels(values.all ? Object.keys(PLATFORMS) : values.platform, directory);
  await buildVsix(directory);
  await writeBom(directory);
  const files = readdirSync(directory).filter(name => /\.(tgz|whl|vsix|cdx\.json)$/.test(name));
  const sumOf = (/** @type {string} */ name) =>
    createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
  return Object.fromEntries(files.sort().map(name => [name, sumOf(name)]));
}

/** Throws if a package in the page's bundle came without its license; the build of the kernel has its own check. */
function checkNotices() {
  const { packages } = read('labextension/labextension/static/third-party-licenses.json');
  const bare = packages.filter((/** @type {any} */ { licenseId }) => !licenseId);
  const names = bare.map((/** @type {any} */ { name }) => name);
  if (names.length > 0) throw new Error(`No license is known of ${names.join(', ')}`);
}

/** Writes a CycloneDX list of the shipped packages: those to install, and those inside the bundles. @param {string} directory */
async function writeBom(directory) {
  const text = await must(...npm(['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--silent']));
  const { serialNumber: _, metadata, components, ...rest } = JSON.parse(text);
  const inKernel = [
    ...readFileSync(join(root, 'dist', 'licenses.txt'), 'utf8').matchAll(/^━━ (\S+) (\S+) \(/gm),
  ];
  const inPage = read('labextension/labextension/static/third-party-licenses.json').packages;
  const shipped = new Set([
    ...inKernel.map(([, name, version]) => `${name}@${version}`),
    ...inPage.map((/** @type {any} */ { name, versionInfo }) => `${name}@${versionInfo}`),
  ]);
  const isShipped = (/** @type {any} */ { group, name, version, properties = [] }) =>
    shipped.has(`${group ? `${group}/` : ''}${name}@${version}`) ||
    !properties.some((/** @type {any} */ property) => property.name === 'cdx:npm:package:development');
  const kept = components.filter(isShipped);
  const refs = new Set([
    metadata.component['bom-ref'],
    ...kept.map((/** @type {any} */ each) => each['bom-ref']),
  ]);
  const dependencies = rest.dependencies
    .filter((/** @type {any} */ { ref }) => refs.has(ref))
    .map((/** @type {any} */ { ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((/** @type {string} */ each) => refs.has(each)),
    }));
  // The folder name, and the time and tools of creation, differ between machines.
  const { timestamp: __, tools: ___, component, ...described } = metadata;
  const bom = {
    ...rest,
    metadata: { ...described, component: { ...component, name: about.name } },
    components: kept,
    dependencies,
  };
  writeFileSync(join(directory, `apl-kernel-${about.version}.cdx.json`), `${JSON.stringify(bom, null, 1)}\n`);
}

/**
 * Installs the kernel in an empty home, and runs the first example with it.
 * @param {string} name
 * @param {(home: string, env: NodeJS.ProcessEnv) => Promise<readonly string[]>} install returns the command, and may change the PATH
 */
async function inEmptyHome(name, install) {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-release-'));
  const env = { HOME: home, PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data') };
  try {
    const [program = '', ...args] = await install(home, env);
    const example = join(root, 'examples', '01-first-look.ipynb');
    await must(program, [...args, 'run', example, '--out', join(home, 'out')], { cwd: home, env });
    if (!existsSync(join(home, 'out', '01-first-look.html'))) throw new Error('The example wrote no page');
    await run(program, [...args, 'serve', '--stop'], { cwd: home, env });
    console.log(`The first example runs from the ${name} in an empty home`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Installs the npm package with its own Node, first on the PATH: engine-strict refuses packages that require a newer one.
 * @param {string} version
 */
function fromNpm(version) {
  return async (/** @type {string} */ home, /** @type {NodeJS.ProcessEnv} */ env) => {
    const node = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
    const options = ['--no-audit', '--no-fund', '--no-package-lock'];
    const [program, args] = npm([
      'install',
      '--prefix',
      join(home, 'node'),
      ...options,
      `${node}@${version}`,
    ]);
    await must(program, args, { cwd: home });
    const bin = join(home, 'node', 'node_modules', node, 'bin');
    env.PATH = `${bin}${delimiter}${env.PATH}`;
    const ours = join(bin, process.platform === 'win32' ? 'node.exe' : 'node');
    const found = (await must(ours, ['--version'])).trim();
    if (!found.startsWith(`v${version}.`)) throw new Error(`Node ${version} is ${found}`);
    const tarball = join(values.to, `apl-kernel-${about.version}.tgz`);
    await must(ours, [npmScript(), 'install', '--prefix', home, ...options, '--engine-strict', tarball], {
      cwd: home,
    });
    return [join(home, 'node_modules', '.bin', 'apl-kernel')];
  };
}

/** Returns the npm that runs this script; engine-strict checks against the Node that runs it. */
function npmScript() {
  const script = process.env.npm_execpath;
  if (script === undefined) throw new Error('Run this by `npm run release`');
  return script;
}

/** Installs the wheel without Node, using the one on the PATH; among all platforms, pip picks the matching wheel. @param {string} home */
async function fromWheel(home) {
  const venv = join(home, 'env');
  await must('python3', ['-m', 'venv', venv]);
  const found = ['--no-index', '--find-links', values.to, 'apl-kernel-slim'];
  await must(venvBin(venv, 'python'), ['-m', 'pip', 'install', '-q', ...found]);
  return [venvBin(venv, 'apl-kernel')];
}

/** @param {string} program @param {readonly string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options] */
async function must(program, args, options) {
  const { code, text } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${text}`);
  return text;
}
