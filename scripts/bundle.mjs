import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { build } from 'esbuild';
import { licenses } from './notices.mjs';
import { root } from './process.mjs';

/** The entry point for Node, and the program it runs, by their names below dist/. */
const START = { main: 'kernel/commands/start.ts' };
const PROGRAM = { commands: 'kernel/main.ts' };

/** The program of an engine's process, the used parts of a protocol's packages, and large, rarely used packages. */
const ENGINE = { engine: 'kernel/local/engine/engine-process.ts' };
const PROTOCOL = { 'agent-protocol': 'kernel/protocols/mcp/sdk.ts' };
const PACKAGES = {
  'aws-s3': '@aws-sdk/client-s3',
  'language-server': 'vscode-languageserver/node',
  // The CommonJS build, which is the package's default export.
  'markdown-it': createRequire(import.meta.url).resolve('markdown-it'),
  oauth4webapi: 'oauth4webapi',
  protobufjs: 'protobufjs/light.js',
  'semantic-conventions': '@opentelemetry/semantic-conventions/incubating',
  undici: 'undici',
  vega: 'vega',
};

/** The file below dist/ of each package imported by such a name. */
const FILES = new Map(Object.entries(PACKAGES).map(([name, path]) => [isAbsolute(path) ? name : path, name]));

/** Native code stays where npm installs it, and so does the code that locates it. */
const NATIVE = ['zeromq/lib/load-addon.js', '@duckdb/node-bindings'];

/**
 * The HTTP framework loads these only for schemas, its own logging and test requests. The service uses none of them, and they would be
 * half of the code it reads at startup.
 */
const UNUSED = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request', 'pino'];

/** A CommonJS program only has the path of its file. */
const FILE_URL = "const fileUrl=require('node:url').pathToFileURL(__filename).href;";

/** @type {import('esbuild').Plugin} */
const packagesApart = {
  name: 'packages-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/sdk\.js$/ }, ({ kind, importer }) =>
      kind !== 'entry-point' && importer.includes('protocols')
        ? { path: './agent-protocol.cjs', external: true }
        : undefined,
    );
    onResolve({ filter: /^[@\w]/ }, ({ path, kind }) =>
      kind !== 'entry-point' && FILES.has(path)
        ? { path: `./${FILES.get(path)}.cjs`, external: true }
        : undefined,
    );
  },
};

/**
 * Bundles everything but the loader of the sockets' package: Node would compile the rest on each start.
 * @type {import('esbuild').Plugin}
 */
const addonInPlace = {
  name: 'addon-in-place',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/load-addon$/ }, () => ({ path: 'zeromq/lib/load-addon.js', external: true }));
  },
};

/**
 * Avoids Vega's own `fetch` with its Unicode tables, which makes Node print a warning. Charts load nothing.
 * @type {import('esbuild').Plugin}
 */
const fetchOfNode = {
  name: 'fetch-of-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node-fetch$/ }, ({ path }) => ({ path, namespace: 'global' }));
    onLoad({ filter: /./, namespace: 'global' }, () => ({ contents: 'module.exports = globalThis.fetch;' }));
  },
};

/** A package whose default export is a function, and whose evaluation takes a quarter of a kernel's startup. */
const SLOW_TO_EVALUATE = 'string-width';

/**
 * Evaluates such a package when its function is first called.
 * @type {import('esbuild').Plugin}
 */
const evaluatedLate = {
  name: 'evaluated-late',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${SLOW_TO_EVALUATE}$`) }, ({ path, namespace }) =>
      namespace === 'late' ? undefined : { path, namespace: 'late' },
    );
    onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
      contents: `let work;\nexport default (...given) => (work ??= require('${path}').default)(...given);`,
      resolveDir: root,
    }));
  },
};

/**
 * Source maps of packages name only their files: maps of their lines would be ten times as large as those of kernel/.
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

/** Maps everything to the first character of the file. */
const FILE_MAP = btoa(JSON.stringify({ version: 3, sources: [''], mappings: 'AAAA' }));

/**
 * Writes the programs of the kernel, with the packages they use, as one file each: Node opens and links each file separately, which for a
 * thousand of them is most of the startup time, and the compiled code of a single file can be cached. Dynamic imports are evaluated
 * on demand. White space costs time to read too. Names are kept for stacks and profiles, and lines are short because Node prints the line
 * of an uncaught error.
 * @param {string} directory
 */
export async function bundle(directory) {
  const apart = { ...ENGINE, ...PROTOCOL, ...PACKAGES };
  const outputs = await Promise.all([
    build({ ...options(directory), entryPoints: START, format: 'esm', sourcemap: 'external' }),
    build({ ...programOptions(directory), entryPoints: PROGRAM, sourcemap: 'external' }),
    build({ ...programOptions(directory), entryPoints: apart }),
  ]);
  for (const file of readdirSync(directory).filter(name => name.endsWith('.map'))) {
    const map = join(directory, file);
    writeFileSync(map.replace(/map$/, 'lines'), mapsOfLines(readFileSync(map, 'utf8')));
    rmSync(map);
  }
  const inputs = outputs.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  writeFileSync(join(directory, 'licenses.txt'), licenses(inputs));
}

/** Writes only the program of an engine's process. @param {string} directory */
export async function bundleEngine(directory) {
  await build({ ...programOptions(directory), entryPoints: ENGINE });
}

/** @param {string} directory */
function programOptions(directory) {
  return {
    ...options(directory),
    format: /** @type {const} */ ('cjs'),
    outExtension: { '.js': '.cjs' },
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'fileUrl' },
    banner: { js: FILE_URL },
    external: [...NATIVE, ...UNUSED],
    plugins: [packagesApart, addonInPlace, evaluatedLate, fetchOfNode, packagesByFile],
  };
}

/** @param {string} directory */
function options(directory) {
  return /** @type {const} */ ({
    absWorkingDir: root,
    outdir: directory,
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160,
    platform: 'node',
    target: `node${oldestNode()}`,
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
  });
}

/**
 * Returns a source map for each line of a program, each on a line of its own: reading a stack then parses only the few it needs, while
 * the map of the whole program takes a quarter of a second to read.
 * @param {string} map @returns {string}
 */
function mapsOfLines(map) {
  const { sources, mappings } = JSON.parse(map);
  /** @type {Segment} A source position applies until the next one, even across lines. */
  let last = [0];
  return decode(mappings)
    .map(segments => {
      const whole = segments[0]?.[0] === 0 ? segments : [atStart(last), ...segments];
      last = whole.at(-1) ?? last;
      const used = [...new Set(whole.flatMap(([, source]) => source ?? []))];
      const own = whole.map(segment => withSource(segment, source => used.indexOf(source)));
      return JSON.stringify({
        version: 3,
        sources: used.map(source => sources[source]),
        mappings: encode([own]),
      });
    })
    .join('\n');
}

/** @typedef {import('@jridgewell/sourcemap-codec').SourceMapSegment} Segment */

/** @param {Segment} segment @returns {Segment} */
function atStart(segment) {
  return segment.length === 1 ? [0] : [0, segment[1], segment[2], segment[3]];
}

/**
 * @param {Segment} segment
 * @param {(source: number) => number} numberOf
 * @returns {Segment} the segment with the index of its source among those of its line
 */
function withSource(segment, numberOf) {
  if (segment.length === 1) return segment;
  const [column, source, line, place] = segment;
  return [column, numberOf(source), line, place];
}

/** @returns {string} */
function oldestNode() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '');
}
