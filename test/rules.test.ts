import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * What the files of a folder may import besides those of that folder; `*` is everything. The longest row that a file's path
 * begins with is its own; every file has one. Names are relative to kernel/, or those of packages.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'apl/operators': ['apl/catalog/entry'],
  'apl/syntax': ['apl/operators', 'apl/catalog/entry', 'text', 'time'],
  'apl/catalog': ['apl/syntax', 'apl/operators'],
  'apl/plan': ['apl/syntax', 'apl/operators/combining', 'apl/catalog/entry', 'time'],
  'apl/bind': ['apl/syntax', 'apl/operators', 'apl/catalog', 'apl/plan', 'text', 'time'],
  'apl/editor': ['apl', '@lezer/common', '@lezer/highlight', 'text'],
  jupyter: ['zeromq', 'node:*', 'errors', 'text'],
  api: ['undici', 'smol-toml', 'node:*', 'errors', 'text', 'time'],
  result: [
    'apache-arrow',
    'hyparquet-writer',
    'vega',
    'vega-lite',
    'apl/operators/drawing',
    'string-width',
    'node:*',
    'errors',
    'api/wire',
    'text',
    'time',
  ],
  notebook: [
    'apache-arrow',
    'apl',
    'api',
    'result',
    'errors',
    'jupyter/message',
    'smol-toml',
    'string-width',
    'fastest-levenshtein',
    'proper-lockfile',
    'text',
    'time',
    'node:*',
  ],
  headless: [
    'apl/syntax/cell',
    'apl/syntax/parameters',
    'apl/editor/colours/highlight',
    '@lezer/highlight',
    'notebook/time-range',
    'result/compare',
    'result/ipc',
    'result/mime',
    'errors',
    'jupyter/message',
    'markdown-it',
    'node:*',
    'text',
    'time',
  ],
  commands: [
    'local',
    'headless',
    'result/compare',
    'api/imports',
    'api/wire',
    'api/profile',
    'errors',
    'jupyter/message',
    'notebook/magics/effects/effects',
    'text',
    'zeromq',
    '@duckdb/*',
    'node:*',
  ],
  'local/samples': ['apl/catalog', 'apl/plan', 'local/sql/compiled', 'local/duckdb/literal'],
  'local/functions': ['node:*', 're2js', 'time'],
  'local/duckdb': [
    'apl',
    'errors',
    'local/functions',
    'local/sql/atom',
    'local/sql/auto-bin',
    'local/sql/dialect',
    'local/sql/template',
    '@duckdb/*',
    'node:*',
    're2js',
    'time',
  ],
  'local/sql': ['apl', 'api/wire', 'errors', 'time'],
  // The one place that says which engine the SQL is for.
  'local/sql/compile.ts': ['apl', 'api/wire', 'local/sql', 'local/duckdb/dialect', 'time'],
  'local/engine': ['apl', 'api/wire', 'errors', 'local', '@duckdb/*', 'node:*', 'text', 'time'],
  'local/store': [
    'apl',
    'text',
    'time',
    'api/logs',
    'api/wire',
    'api/notices',
    'errors',
    'jupyter/glob',
    'local',
    '@duckdb/*',
    'fzstd',
    'proper-lockfile',
    'node:*',
  ],
  'local/results': ['apl', 'api/wire', 'local', '@duckdb/*', 'apache-arrow', 'fastify', 'node:*'],
  'local/check': ['local', 'node:*'],
  'local/otlp': ['apl/catalog', 'local', 'node:*', 'protobufjs', '@opentelemetry/*', 'time'],
  'local/http': [
    'apl',
    'api/imports',
    'api/wire',
    'api/notices',
    'errors',
    'local',
    'fastify',
    '@fastify/*',
    'node:*',
    'text',
    'time',
  ],
  local: ['errors', 'local/store/format', 'node:*', 'proper-lockfile', 'text'],
  'errors.ts': [],
  'machine.ts': ['errors', 'node:*'],
  'present.ts': [],
  'text.ts': [],
  'time.ts': [],
  'main.ts': ['*'],
};

/** Files that anyone may import. */
const EVERYWHERE = ['machine', 'present'];

const LONGEST_FILE = 700;
const LONGEST_FUNCTION = 70;
const LARGEST_FOLDER = 16;
/** What SQL has between quotes besides the texts of literal.ts: constants and members of our own unions. */
const QUOTED_CONSTANTS: ReadonlySet<string> = new Set([
  'local/duckdb/checks: cardNumbers',
  "local/duckdb/expressions: Object.is(value, -0) ? '-0' : value",
  "local/duckdb/expressions: value > 0 ? '' : '-'",
  'local/duckdb/functions/arrays: direction',
  'local/duckdb/functions/conversion: isoTime',
  'local/duckdb/functions/conversion: realText',
  'local/duckdb/functions/conversion: type',
  'local/duckdb/functions/conversion: value.type',
  'local/duckdb/functions/net: address',
  'local/engine/columns: new Date(day * 86_400_000).toISOString().slice(0, 10)',
  'local/engine/duckdb: memoryMb',
  'local/engine/parquet: metadataKey',
  'local/store/readers/json-passes: format',
]);

/** The assertions of types in apl/: the compiler cannot follow a row of a table to the node that is made from it. */
const ASSERTED: readonly string[] = [
  'apl/bind/pipeline: (b: Binder, o: Operator, s: Stage) => Stage',
  'apl/editor/colours/highlight: Record<NodeName, number>',
  'apl/editor/colours/roles: Record<Role, number>',
  'apl/editor/link: Readonly<Record<string, unknown>>',
  'apl/plan/walk: Held<R>',
  'apl/plan/walk: Part<Scalar, Scalar>',
  'apl/syntax/bounds: Readonly<Record<string, unknown>>',
  'apl/syntax/readers/pipeline: Operator',
  'apl/syntax/readers/source: Source',
  'apl/syntax/walk: (value: unknown, visitor: Visitor) => void',
  'apl/syntax/walk: Readonly<Record<string, unknown>>',
];

/** Folders that hold more, and how many at most. */
const LARGER: Readonly<Record<string, number>> = {
  // Beside the folders that mirror kernel/: one for each other kind of test.
  test: 23,
  // A campaign each.
  'test/faults': 18,
};

/** Files of the kernel that the extension may use: they run in a browser, with all that they import. */
const IN_THE_BROWSER =
  /^(?:apl\/.*|text|time|present|result\/(?:field|display\/(?:format|text)|ipc\/lz4|chart\/units)|notebook\/results\/protocol)$/;

const kernelFiles = sourceFiles(join(root, 'kernel')).filter(path => !path.endsWith('/parser.ts'));
const extensionFiles = sourceFiles(join(root, 'labextension', 'src'));

describe('who may import whom', () => {
  for (const path of kernelFiles) {
    test(relative(root, path), () => expect(forbiddenImports(path)).toEqual([]));
  }
  for (const path of kernelFiles.filter(file => IN_THE_BROWSER.test(importName(file)))) {
    test(`${importName(path)} runs in a browser`, () => {
      expect(kernelImports(path).filter(name => !IN_THE_BROWSER.test(name))).toEqual([]);
      expect(readFileSync(path, 'utf8')).not.toMatch(/from 'node:/);
    });
  }
  for (const path of extensionFiles) {
    test(relative(root, path), () =>
      expect(kernelImports(path).filter(name => !IN_THE_BROWSER.test(name))).toEqual([]),
    );
  }
});

test('no folder of kernel/, labextension/src/ and test/ holds more than can be taken in', () => {
  const roots = ['kernel', 'labextension/src', 'test'];
  const folders = [...roots, ...roots.flatMap(foldersBelow)];
  const crowded = folders.filter(
    folder => readdirSync(join(root, folder)).length > (LARGER[folder] ?? LARGEST_FOLDER),
  );
  expect(crowded).toEqual([]);
});

describe('every source file', () => {
  const everything = ['kernel', 'labextension/src', 'test', 'bench', 'scripts'].flatMap(folder =>
    sourceFiles(join(root, folder)),
  );
  const offenders = (folder: string, wrong: (text: string) => boolean, but = '') =>
    everything
      .filter(path => path.startsWith(join(root, folder)) && path !== join(root, but))
      .filter(path => wrong(readFileSync(path, 'utf8')))
      .map(path => relative(root, path));

  test('has at most 700 lines', () => {
    expect(offenders('', text => text.split('\n').length > LONGEST_FILE + 1)).toEqual([]);
  });
  test('has no function of more than 70 lines, other than flat switches and tables', () => {
    const code = everything.filter(path => /\.(ts|mjs)$/.test(path) && !path.startsWith(join(root, 'test')));
    expect(code.flatMap(longFunctions)).toEqual([]);
  });
  test('leaves nothing to be done later', () => {
    const mark = new RegExp(
      ['TO' + 'DO', 'FIX' + 'ME', '@ts-' + 'ignore', '@ts-' + 'expect-error', 'eslint-' + 'disable'].join(
        '|',
      ),
    );
    expect(offenders('', text => mark.test(text))).toEqual([]);
  });
  test('asks for the kind of a relation only in the plan, its rewrites and its SQL', () => {
    const asking = offenders('kernel', text =>
      /\brelation\.kind (?:===|!==)|switch \((?:relation|each)\.kind\)/.test(text),
    );
    const places = /^kernel\/(?:apl\/plan\/|local\/sql\/(?:rewrite\/|relation\.ts$))/;
    expect(asking.filter(path => !places.test(path))).toEqual([]);
  });
  test('names every kind of relation in a switch, so that the type check finds the places of a new one', () => {
    const switches = (text: string) =>
      text.match(/^( *)switch \((?:relation|each)\.kind\) \{\n[\s\S]*?^\1\}/gm) ?? [];
    expect(offenders('kernel', text => switches(text).some(each => each.includes('default:')))).toEqual([]);
  });
  test('takes the ids of columns from the plan, not from a range of numbers', () => {
    const range = /\b\d+_000_000_000\b|\b\d+e9\b/;
    const folders = ['kernel/apl/plan', 'kernel/local/sql'];
    expect(folders.flatMap(folder => offenders(folder, text => range.test(text)))).toEqual([]);
    const counting = /\bid: [\w.#]*(?:\+\+| \+ )|\w+ \+ \w*\.id\b/i;
    expect(offenders('kernel', text => counting.test(text))).toEqual(['kernel/apl/plan/plan.ts']);
  });
  test('of local/sql writes no SQL that only one engine understands', () => {
    const spelling =
      /::[A-Z]|\bapl_|TRY\(|TRY_CAST|json_|list_|epoch_|MATERIALIZED|DISTINCT FROM|SEMI|QUALIFY|ILIKE/;
    expect(offenders('kernel/local/sql', text => spelling.test(text))).toEqual([]);
  });
  test('marks what is private with #; a constructor cannot be', () => {
    const offending =
      /^\s*(?:private|protected|public) (?!constructor)|constructor\((?:[^)]*,)?\s*(?:private|protected|public|readonly) /m;
    expect(offenders('', text => offending.test(text))).toEqual([]);
  });
  test('of the kernel leaves a missing member out by present(), and never says `?` and `undefined` of one', () => {
    const offending =
      /\.\.\.\([^()]*\? \{\} : \{ ?['\w]|\.\.\.\([^;]*? \? \{ \w[^{}]*\} : \{\}\)|\.\.\.\(.* && \{|^ *(?:readonly )?\w+\?: [^;(<]*\| undefined;/m;
    expect(offenders('kernel', text => offending.test(text))).toEqual([]);
  });
  test('of apl/ is synchronous, as editors call it while somebody types', () => {
    expect(offenders('kernel/apl', text => /\basync\b|\bawait\b|\bPromise</.test(text))).toEqual([]);
  });
  test('of local/ quotes for SQL by literal.ts, or a constant of ours', () => {
    const writers = ['sql', 'duckdb', 'engine', 'store', 'samples', 'results'].map(
      name => `kernel/local/${name}`,
    );
    const found = writers
      .flatMap(folder => sourceFiles(join(root, folder)))
      .flatMap(path =>
        [...readFileSync(path, 'utf8').matchAll(/(?:'|(?<!=)")\$\{([^{}]*)\}/g)].map(
          ([, part]) => `${importName(path)}: ${part}`,
        ),
      );
    expect(
      found.filter(place => !QUOTED_CONSTANTS.has(place) && !place.startsWith('local/duckdb/literal:')),
    ).toEqual([]);
  });
  test('reads no token but for the request header, and to take it out of messages', () => {
    expect(offenders('kernel', text => text.includes('.reveal()')).sort()).toEqual([
      'kernel/api/client.ts',
      'kernel/api/failure.ts',
    ]);
  });
  test('of the kernel fails by an AplKernelError; other errors end in the file or folder that throws them', () => {
    const plain = offenders('kernel', text => /\bextends Error\b/.test(text), 'kernel/errors.ts');
    expect(plain.sort()).toEqual([
      'kernel/local/duckdb/bounds/costs.ts',
      'kernel/local/functions/deadline.ts',
      'kernel/local/functions/sql/parse.ts',
      'kernel/notebook/results/view.ts',
    ]);
    expect(offenders('kernel', text => /\bthrow new Error\(/.test(text))).toEqual([
      'kernel/jupyter/history.ts',
    ]);
  });
  test('of apl/ asserts no type, but where one table makes both a node and what reads it', () => {
    const found = sourceFiles(join(root, 'kernel', 'apl')).flatMap(assertionsIn);
    expect(found.sort()).toEqual(ASSERTED);
  });
  test('leaves argv and env to main.ts, and the choice of its compiled code by argv to start.ts', () => {
    expect(offenders('kernel', text => /\bprocess\.(argv|env)\b/.test(text), 'kernel/main.ts')).toEqual([
      'kernel/commands/start.ts',
    ]);
  });
});

/** Each invariant ends with the tests that hold it, as `file under test/: title`. */
describe('an invariant of kernel/README.md names tests that there are', () => {
  const [, section = ''] = readFileSync(join(root, 'kernel', 'README.md'), 'utf8').split(
    /^## What must stay true$|^## The build$/m,
  );
  test.each(section.split(/^- /m).slice(1))('%s', invariant => {
    const named = [...invariant.matchAll(/`(\S+\.test\.ts): ([^`]+)`/g)];
    expect(named).not.toEqual([]);
    for (const [, file = '', title = ''] of named)
      expect(readFileSync(join(root, 'test', file), 'utf8')).toContain(title);
  });
});

/** `npm ci` refuses a lock that lacks one, on every platform. */
test('the lock file holds every package that its packages need, of every platform', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { dependencies?: object; optionalDependencies?: object }>>;
  };
  const held = new Set(Object.keys(packages).map(path => path.split('node_modules/').at(-1)));
  const needed = Object.values(packages).flatMap(each =>
    Object.keys({ ...each.dependencies, ...each.optionalDependencies }),
  );
  expect(needed.filter(name => !held.has(name))).toEqual([]);
});

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly body?: Node | readonly Node[] | null;
  readonly argument?: Node | null;
  readonly typeAnnotation?: Node;
}

/** The types that a file asserts, by `as`; `as const` and the first half of `as unknown as` assert none. */
function assertionsIn(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  const found: string[] = [];
  visitNodes(text, path, node => {
    if (node.type !== 'TSAsExpression' || node.typeAnnotation === undefined) return;
    const type = text.slice(node.typeAnnotation.start, node.typeAnnotation.end);
    if (type !== 'const' && type !== 'unknown') found.push(`${importName(path)}: ${type}`);
  });
  return found;
}

/** The place and length of each function that is too long. */
function longFunctions(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  const lines = ({ start, end }: Node) => text.slice(start, end).split('\n').length;
  const found: string[] = [];
  visitNodes(text, path, node => {
    const { body } = node;
    if (/Function/.test(node.type) && body && !Array.isArray(body)) {
      const flat = flatPart(body as Node);
      const counted = lines(node) - (flat === undefined ? 0 : lines(flat));
      const line = text.slice(0, node.start).split('\n').length;
      if (counted > LONGEST_FUNCTION) found.push(`${relative(root, path)}:${line} has ${lines(node)} lines`);
    }
  });
  return found;
}

/** Visits every object of a syntax tree: nodes, and what lies between them. */
function visitNodes(text: string, path: string, use: (node: Node) => void): void {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    use(value as Node);
    for (const part of Object.values(value)) visit(part);
  };
  visit(parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' }).body);
}

/** The switch or the table that a function's body is, after a few lines at most. */
function flatPart(body: Node): Node | undefined {
  const last = Array.isArray(body.body) ? body.body.at(-1) : body;
  const value = last?.type === 'ReturnStatement' ? last.argument : last;
  return /^(SwitchStatement|ObjectExpression|ArrayExpression)$/.test(value?.type ?? '') ? value : undefined;
}

/** Imports that the table does not allow. */
function forbiddenImports(path: string): readonly string[] {
  const owner = ownerOf(relative(join(root, 'kernel'), path));
  const allowed = ALLOWED[owner];
  if (allowed === undefined) return [`${owner} has no row in the table`];
  return importsOf(path)
    .map(specifier => nameOf(path, specifier))
    .filter(name => ![...EVERYWHERE, ...allowed].some(pattern => matches(pattern, name)))
    .filter(name => !isOwn(name, owner));
}

/** Whether a name is a file of the folder that the row is for; a package never is. */
function isOwn(name: string, owner: string): boolean {
  return kernelFiles.includes(join(root, 'kernel', `${name}.ts`)) && ownerOf(name) === owner;
}

/** The longest row of the table that a file's path begins with; the path itself where there is none. */
function ownerOf(name: string): string {
  const file = name.endsWith('.ts') ? name : `${name}.ts`;
  const rows = Object.keys(ALLOWED).filter(row => row === file || file.startsWith(`${row}/`));
  return rows.sort((a, b) => b.length - a.length)[0] ?? file;
}

/** `api/client` for a file of the kernel, the package or built-in module's own name otherwise. */
function nameOf(path: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const inKernel = relative(join(root, 'kernel'), join(dirname(path), specifier));
  return inKernel.replace(/\.js$/, '');
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
  return name === pattern || name.startsWith(`${pattern}/`);
}

function kernelImports(path: string): readonly string[] {
  return importsOf(path)
    .filter(specifier => specifier.startsWith('.'))
    .map(specifier => nameOf(path, specifier))
    .filter(name => !name.startsWith('..'));
}

/** A file of the kernel as imports name it: `result/text`. */
function importName(path: string): string {
  return relative(join(root, 'kernel'), path).replace(/\.ts$/, '');
}

/** The module names of every import, export from, and import() in a file. */
function importsOf(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const forms =
    /(?:^|\n)\s*(?:import|export)\b[^;'"`]*?from\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [...text.matchAll(forms)].map(([, from, bare, lazy]) => from ?? bare ?? lazy ?? '');
}

function foldersBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter(entry => entry.isDirectory() && entry.name !== '__pycache__')
    .map(entry => relative(root, join(entry.parentPath, entry.name)));
}

function sourceFiles(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && /\.(ts|mts|mjs|js|py)$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name));
}
