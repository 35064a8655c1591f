import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './process.mjs';

/** The programs of the kernel, by their names below dist/; what several of them load is in `chunks/`. */
const PROGRAMS = {
  main: 'kernel/main.ts',
  'local/engine/process': 'kernel/local/engine/process.ts',
};

/** Packages with machine code stay where npm puts them. */
const NATIVE = ['zeromq', '@duckdb/node-bindings'];

/**
 * The HTTP framework loads these for schemas, a log of its own and requests of tests only. The service has none of them, and half of
 * the code that it reads at a start would be theirs.
 */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request', 'pino'];

/** Packages that are CommonJS ask for Node's modules by `require`, which a module does not have. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module';
const require = requireOf(import.meta.url);`;

/**
 * Maps name only the files of packages, not their lines: those of their lines are ten times as large as the ones of kernel/, and are
 * read while everything else in the process waits, as soon as any stack is.
 * @type {import('esbuild').Plugin}
 */
const packagesByFile = {
  name: 'packages-by-file',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${FILE_MAP}`,
      loader: 'js',
    }));
  },
};

/** Everything is at the file's first character. */
const FILE_MAP = btoa(JSON.stringify({ version: 3, sources: [''], mappings: 'AAAA' }));

/**
 * Writes the programs of the kernel with the packages they use as a few files: Node opens and links each file by itself, and
 * a thousand of them take most of the time of a start. Code that is imported when it is needed stays apart. White space costs time to
 * read too; names stay, as stacks and profiles show them.
 * @param {string} directory
 */
export async function bundle(directory) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: PROGRAMS,
    outdir: directory,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${oldestNode()}`,
    external: [...NATIVE, ...UNUSED],
    plugins: [packagesByFile],
    banner: { js: REQUIRE },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
  });
  writeFileSync(join(directory, 'licenses.txt'), licenses(Object.keys(metafile.inputs)));
}

/** @returns {string} */
function oldestNode() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '');
}

/** @param {readonly string[]} files @returns {string} the licences of the packages that are in the bundle, which ask to be passed on */
function licenses(files) {
  const folders = new Set(files.flatMap(file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders].sort().map(licenseOf).join('\n\n');
}

/** @param {string} folder @returns {string} */
function licenseOf(folder) {
  const path = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const texts = readdirSync(path)
    .filter(file => /^(licen[cs]e|notice)/i.test(file))
    .map(file => readFileSync(join(path, file), 'utf8').trim());
  return [`━━ ${name} ${version} (${license})`, ...texts].join('\n\n');
}
