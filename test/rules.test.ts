import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { analyse } from 'scslre';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { logFormats } from '../kernel/api/logs/log-formats.js';
import { ALLOWED } from './setup/allowed-imports.js';
import { IN_THE_BROWSER } from './setup/in-the-browser.js';
import { root, type Source, sourcesIn, target, withoutEnding } from './setup/sources.js';
import { WORDS } from './setup/words.js';

/** Files that anyone may import. */
const EVERYWHERE = ['files', 'machine', 'present', 'signals'];

const LONGEST_FILE = 700;
const LONGEST_FUNCTION = 70;
const LARGEST_FOLDER = 16;
/** Values put between SQL quotes outside the literal modules: constants and members of our own unions. */
const QUOTED_CONSTANTS: readonly string[] = [
  'local/duckdb/duckdb-checks: cardNumbers',
  "local/duckdb/duckdb-expressions: Object.is(value, -0) ? '-0' : value",
  "local/duckdb/duckdb-expressions: value > 0 ? '' : '-'",
  'local/duckdb/functions/duckdb-arrays: direction',
  'local/duckdb/functions/duckdb-conversion: isoTime',
  'local/duckdb/functions/duckdb-conversion: realText',
  'local/duckdb/functions/duckdb-conversion: type',
  'local/duckdb/functions/duckdb-conversion: value.type',
  'local/duckdb/functions/duckdb-net: address',
  'local/engine/duckdb: memoryMb',
  'local/engine/engine-parquet: metadataKey',
  'local/engine/reading/read-chunks: new Date(day * 86_400_000).toISOString().slice(0, 10)',
  'local/store/readers/json-passes: format',
];

/** Type assertions in apl/: the compiler cannot follow a table row to the node that is made from it. */
const ASSERTED: readonly string[] = [
  'apl/bind/bind-pipeline: (b: Binder, o: Operator, s: Stage) => Stage',
  'apl/editor/colors/color-roles: Record<Role, number>',
  'apl/editor/colors/highlight: Record<NodeName, number>',
  'apl/editor/editor-link: Readonly<Record<string, unknown>>',
  'apl/plan/plan-walk: Children<R>',
  'apl/plan/plan-walk: Part<Scalar, Scalar>',
  'apl/syntax/bounds: Readonly<Record<string, unknown>>',
  'apl/syntax/readers/read-pipeline: Operator',
  'apl/syntax/readers/read-source: Source',
  'apl/syntax/syntax-walk: (value: unknown, visitor: Visitor) => void',
  'apl/syntax/syntax-walk: Readonly<Record<string, unknown>>',
];

/**
 * Files that open files through Node, which waits forever for the other end of a pipe. Files with a fixed name, as in a data directory, are
 * opened by kernel/files.ts.
 */
const OPENERS: readonly string[] = [
  // The functions for all other modules.
  'files',
  // New files with unpredictable names.
  'api/download',
  'api/login/login-store',
  'commands/compiled-code',
  'commands/install',
  'commands/lab/lab',
  'commands/lab/python',
  'commands/papermill',
  'commands/service',
  'local/http/routes/hec',
  'local/lease/lease-file',
  'local/otlp/otlp-ingest',
  'local/data-layout',
  'local/store/append/append-body',
  'local/store/append/append-log',
  'local/store/append/append-rows',
  'local/store/bounds/bounded-copies',
  'local/store/dataset/bucket/client',
  'local/store/dataset/bucket/bucket-copy',
  'local/store/dataset/bucket/bucket-open',
  'local/store/store-files',
  'local/store/ingest',
  'notebook/magics/effects/effect-imports',
  'notebook/recording/recording-store',
  'notebook/settings',
  'result/export/export-file',
  // Files named by the user: a pipe may be intended, or an import has already refused it.
  'headless/headless-file',
  'jupyter/connection',
  'local/store/bounds/bounded-file',
  'local/store/readers/*',
  'local/store/sources/*',
  // Files provided by the system, or just created by this program or its engine.
  'commands/lasting',
  'commands/stack',
  'jupyter/jupyter-terminal',
  'local/engine/engine-process',
  'local/engine/workers/worker',
  'local/lease/processes',
  'machine',
  'main',
];

/** Functions of Node that open a file by name. */
const OPENING = /^(?:open|(?:read|write|append|copy)File|create(?:Read|Write)Stream)(?:Sync)?$/;

/** Folders that hold more files, and how many: update the row along with its folder. */
const LARGER: Readonly<Record<string, number>> = {
  // The main parts, and the modules that any of them may use.
  kernel: 20,
  // The folders that mirror kernel/, plus one for each other kind of test.
  test: 28,
  // One engine for this machine and one for clusters.
  'kernel/local': 17,
  'test/local': 17,
  // One file per campaign.
  'test/faults': 18,
};

const kernelSources = sourcesIn('kernel');
const extensionSources = sourcesIn('labextension/src');
const everything = [...kernelSources, ...extensionSources, ...sourcesIn('test', 'bench', 'scripts')];
const kernelNames = new Set(kernelSources.map(importName));

describe('who may import whom', () => {
  const forBrowsers = kernelSources.filter(source => runsInBrowsers(importName(source)));

  test('kernel files import only what their row of the table allows', () => {
    expect(kernelSources.flatMap(forbiddenImports)).toEqual([]);
  });
  test('every row of the table is used in full', () => {
    expect(Object.entries(ALLOWED).flatMap(([owner, allowed]) => staleImports(owner, allowed))).toEqual([]);
    const named = kernelSources.flatMap(kernelImports);
    expect(EVERYWHERE.filter(name => !named.includes(name))).toEqual([]);
  });
  test('browser code imports only browser code', () => {
    expect(forBrowsers.flatMap(source => beyond(source, kernelImports(source)))).toEqual([]);
    expect(
      forBrowsers.flatMap(source =>
        beyond(
          source,
          source.imports.filter(name => name.startsWith('node:')),
        ),
      ),
    ).toEqual([]);
  });
  test('the extension imports only browser code from the kernel, and uses all of it', () => {
    expect(extensionSources.flatMap(source => beyond(source, kernelImports(source)))).toEqual([]);
    const used = [...extensionSources, ...forBrowsers].flatMap(kernelImports);
    expect(IN_THE_BROWSER.filter(pattern => !used.some(name => matches(pattern, name)))).toEqual([]);
  });
});

test('the kernel never uses readline, which splits at U+2028 on some versions of Node', () => {
  const importing = sourcesIn('kernel').filter(({ text }) =>
    /'(?:node:)?readline(?:\/promises)?'/.test(text),
  );
  expect(importing.map(({ path }) => path)).toEqual([]);
});

test('only signals.ts combines abort signals: a timeout in AbortSignal.any may never fire', () => {
  const using = sourcesIn('kernel').filter(({ text }) => text.includes('AbortSignal.any('));
  expect(using.map(({ path }) => path)).toEqual([]);
});

test('no folder of kernel/, labextension/src/ and test/ has too many entries', () => {
  const roots = ['kernel', 'labextension/src', 'test'];
  const folders = [...roots, ...roots.flatMap(foldersBelow)];
  const sizes = folders.map(folder => [folder, readdirSync(join(root, folder)).length] as const);
  expect(Object.fromEntries(sizes.filter(([, size]) => size > LARGEST_FOLDER))).toEqual(LARGER);
});

const PAGES = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(name =>
  name.endsWith('.md'),
);
const DOCS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'kernel/README.md',
  ...PAGES.map(name => `docs/${name}`),
];

const lines = [
  ...everything.filter(({ path }) => path !== 'test/setup/words.ts'),
  ...DOCS.map(path => ({ path, text: readFileSync(join(root, path), 'utf8') })),
].flatMap(({ path, text }) =>
  text.split('\n').map((line, index) => ({ place: `${path}:${index + 1}`, line })),
);

describe.each(WORDS)('$not is spelled $but', ({ not, except = [] }) => {
  test('in code, messages, tests and docs', () => {
    const found = lines.filter(({ line }) => not.test(line) && !except.some(each => each.test(line)));
    expect(found.map(({ place, line }) => `${place}: ${line.trim()}`)).toEqual([]);
  });
});

test('every exception to a word rule is still needed', () => {
  const excepted = WORDS.flatMap(({ except = [] }) => except);
  expect(excepted.filter(each => !lines.some(({ line }) => each.test(line)))).toEqual([]);
});

describe('regular expressions of the kernel and the extension do not take exponential time', () => {
  const isExponential = (pattern: RegExp) => analyse(pattern).reports.some(({ exponential }) => exponential);
  const sources = [...kernelSources, ...extensionSources];

  test('as literals', () => {
    const literals = sources.flatMap(source =>
      patternsIn(source).map(pattern => [source.path, pattern] as const),
    );
    expect(literals.length).toBeGreaterThan(1000);
    const exponential = literals.filter(([, pattern]) => isExponential(pattern));
    expect(exponential.map(([path, pattern]) => `${path}: ${pattern}`)).toEqual([]);
  });

  test('and outside of the language, no literal overflows the stack on a long string', () => {
    const outside = sources.filter(({ path }) => !path.startsWith('kernel/apl/'));
    // One of them stands for a character. After some millions, V8 throws.
    const perCharacter = (pattern: RegExp) => pattern.source.includes(String.raw`\\]|\\.)*`);
    const found = outside.flatMap(source => patternsIn(source).filter(perCharacter));
    expect(found.map(String)).toEqual([]);
  });

  test('as constants of modules', async () => {
    const composing = sources.filter(({ text }) => /^(?:const|export const) [^;]*new RegExp\(/m.test(text));
    const made: [string, RegExp][] = [];
    const native = globalThis.RegExp;
    for (const { path } of composing) {
      // Loads the packages that the module imports, so that the second time only its own patterns are made.
      await import(/* @vite-ignore */ `../${path}`);
      globalThis.RegExp = new Proxy(native, {
        construct: (target, given: [string, string?]) => {
          const pattern = new target(...given);
          made.push([path, pattern]);
          return pattern;
        },
      });
      try {
        await import(/* @vite-ignore */ `../${path}?patterns`);
      } finally {
        globalThis.RegExp = native;
      }
    }
    expect(made.length).toBeGreaterThan(50);
    expect(made.filter(([, pattern]) => isExponential(pattern))).toEqual([]);
  });

  test('in the formats of logs', () => {
    const patterns: string[] = [];
    JSON.stringify(logFormats, (key, value: unknown) => {
      if (/^(?:pattern|begins|header|unless)$/.test(key) && typeof value === 'string') patterns.push(value);
      return value;
    });
    expect(patterns.length).toBeGreaterThan(100);
    expect(patterns.filter(pattern => isExponential(new RegExp(pattern, 'u')))).toEqual([]);
  });
});

describe('every source file', () => {
  const offenders = (folder: string, wrong: (text: string) => boolean, but = '') =>
    everything
      .filter(({ path }) => path.startsWith(folder) && path !== but)
      .filter(({ text }) => wrong(text))
      .map(({ path }) => path);

  test('has at most 700 lines', () => {
    expect(offenders('', text => text.split('\n').length > LONGEST_FILE + 1)).toEqual([]);
  });
  test('of kernel/ and labextension/ has a unique name', () => {
    const names = [...kernelSources, ...extensionSources].map(({ path }) => path.split('/').at(-1));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
  test('has no function longer than 70 lines, except flat switches and tables', () => {
    const code = everything.filter(({ path }) => /\.(ts|mjs)$/.test(path) && !path.startsWith('test/'));
    expect(code.flatMap(longFunctions)).toEqual([]);
  });
  test('has no to-do comments or disabled checks', () => {
    const mark = new RegExp(
      ['TO' + 'DO', 'FIX' + 'ME', '@ts-' + 'ignore', '@ts-' + 'expect-error', 'eslint-' + 'disable'].join(
        '|',
      ),
    );
    expect(offenders('', text => mark.test(text))).toEqual([]);
  });
  test('checks the kind of a relation only in the plan, its rewrites and its SQL', () => {
    const asking = offenders('kernel', text =>
      /\brelation\.kind (?:===|!==)|switch \((?:relation|each)\.kind\)/.test(text),
    );
    const places = /^kernel\/(?:apl\/plan\/|local\/sql\/(?:rewrite\/|relation\.ts$))/;
    expect(asking.filter(path => !places.test(path))).toEqual([]);
  });
  test('switches over kinds of relations without a default, so that the type check finds missing ones', () => {
    const switches = (text: string) =>
      text.match(/^( *)switch \((?:relation|each)\.kind\) \{\n[\s\S]*?^\1\}/gm) ?? [];
    expect(offenders('kernel', text => switches(text).some(each => each.includes('default:')))).toEqual([]);
  });
  test('gets column ids from the plan, not from a numeric range', () => {
    const range = /\b\d+_000_000_000\b|\b\d+e9\b/;
    const folders = ['kernel/apl/plan', 'kernel/local/sql'];
    expect(folders.flatMap(folder => offenders(folder, text => range.test(text)))).toEqual([]);
    const counting = /\bid: [\w.#]*(?:\+\+| \+ )|\w+ \+ \w*\.id\b/i;
    expect(offenders('kernel', text => counting.test(text))).toEqual(['kernel/apl/plan/plan.ts']);
  });
  test('of local/sql writes SQL that every engine understands', () => {
    const spelling =
      /::[A-Z]|\bapl_|TRY\(|TRY_CAST|json_|list_|epoch_|MATERIALIZED|DISTINCT FROM|SEMI|QUALIFY|ILIKE/;
    // `IS DISTINCT FROM` is standard.
    expect(offenders('kernel/local/sql', text => spelling.test(text))).toEqual([
      'kernel/local/sql/standard.ts',
    ]);
  });
  test('of local/ imports an engine only where it is chosen', () => {
    const engines = /from '(?:@duckdb\/|[./]+\/duckdb\/|[./]+\/engine\/(?:duckdb\.|reading|workers))/;
    const folders = ['kernel/local/sql', 'kernel/local/http'];
    expect(folders.flatMap(folder => offenders(folder, text => engines.test(text)))).toEqual([
      'kernel/local/sql/compile.ts',
      'kernel/local/http/engines.ts',
      // The store's engine stores events.
      'kernel/local/http/routes/ingest-routes.ts',
      'kernel/local/http/routes/otlp-routes.ts',
    ]);
    const seam = /engine\/(?:columns|reader|request|run|scans)\.ts$/;
    const own = /from '(?:@duckdb\/|\.\.\/duckdb\/|\.\/(?:duckdb\.|reading|workers))/;
    const found = offenders('kernel/local/engine', text => own.test(text));
    expect(found.filter(file => seam.test(file))).toEqual([]);
  });
  test('marks private members with #, except constructors', () => {
    const offending =
      /^\s*(?:private|protected|public) (?!constructor)|constructor\((?:[^)]*,)?\s*(?:private|protected|public|readonly) /m;
    expect(offenders('', text => offending.test(text))).toEqual([]);
  });
  test('of the kernel omits undefined members with present(), and declares them with `?` only', () => {
    const offending =
      /\.\.\.\([^()]*\? \{\} : \{ ?['\w]|\.\.\.\([^;]*? \? \{ \w[^{}]*\} : \{\}\)|\.\.\.\(.* && \{|^ *(?:readonly )?\w+\?: [^;(<]*\| undefined;/m;
    expect(offenders('kernel', text => offending.test(text))).toEqual([]);
  });
  test('of the kernel takes names in a data directory from its layout', () => {
    const literal = /join\((?:this\.#)?(?:dataDir|dataDirectory\(\)|place(?:Of\(dataDir\)\.directory)?), '/;
    const isJupyters = ({ path }: Source) => path.endsWith('commands/install.ts');
    const found = kernelSources.filter(source => !isJupyters(source) && literal.test(source.text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
  test('of the kernel opens files through files.ts if another program could have put a pipe there', () => {
    const imported = /import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g;
    const opens = ({ text }: Source) =>
      [...text.matchAll(imported)].some(([, names = '']) =>
        names.split(',').some(name => OPENING.test(name.trim())),
      );
    const found = kernelSources.filter(opens).map(importName);
    expect(found.filter(name => !OPENERS.some(each => matches(each, name)))).toEqual([]);
    expect(OPENERS.filter(each => !found.some(name => matches(each, name)))).toEqual([]);
    expect(offenders('kernel', text => /import (?:\* as )?\w+ from 'node:fs/.test(text))).toEqual([]);
  });
  test('of apl/ is synchronous, because editors call it on every keystroke', () => {
    expect(offenders('kernel/apl', text => /\basync\b|\bawait\b|\bPromise</.test(text))).toEqual([]);
  });
  test('of local/ quotes SQL through the literal file of an engine, except for known constants', () => {
    const writers = /^local\/(?:sql|duckdb|engine|store|samples|results|trino)\//;
    const found = kernelSources
      .filter(
        source => writers.test(importName(source)) && !/\/(?:duckdb|trino)-literal$/.test(importName(source)),
      )
      .flatMap(source =>
        [...source.text.matchAll(/(?:'|(?<!=)")\$\{([^{}]*)\}/g)].map(
          ([, part]) => `${importName(source)}: ${part}`,
        ),
      );
    expect([...new Set(found)].sort()).toEqual(QUOTED_CONSTANTS);
  });
  test('of local/duckdb/ writes optional SQL arguments through sqlOr()', () => {
    const reads = (text: string) => /\w\]?\?\.sql\b/.test(text);
    expect(offenders('kernel/local/duckdb', reads)).toEqual([]);
  });
  test('reveals a token only for the request header', () => {
    expect(offenders('kernel', text => text.includes('.reveal()')).sort()).toEqual([
      'kernel/api/client.ts',
      'kernel/local/trino/protocol/statement.ts',
    ]);
  });
  test('of the kernel throws AplKernelError, except for errors caught in the same file or folder', () => {
    const plain = offenders('kernel', text => /\bextends Error\b/.test(text), 'kernel/errors.ts');
    expect(plain.sort()).toEqual([
      'kernel/local/duckdb/bounds/costs.ts',
      'kernel/local/functions/deadline.ts',
      'kernel/local/functions/sql/sql-parse.ts',
      'kernel/local/store/sources/converted/printed.ts',
      'kernel/notebook/results/result-view.ts',
    ]);
    expect(offenders('kernel', text => /\bthrow new Error\(/.test(text))).toEqual(['kernel/local/sealed.ts']);
  });
  test('of apl/ has no type assertions, except in tables that pair a node with its reader', () => {
    const found = kernelSources.filter(({ path }) => path.startsWith('kernel/apl/')).flatMap(assertionsIn);
    expect(found.sort()).toEqual(ASSERTED);
  });
  test('of test/ starts a local service through a helper that puts it into the service project', () => {
    const starts = /\/(?:commands\/service|engine\/spawned|local\/http\/server)\.js'/;
    const places = /^test\/(?:local|api|jupyter|commands|faults|cluster)\//;
    const found = offenders('test', text => starts.test(text)).filter(path => !places.test(path));
    expect(found).toEqual(['test/notebook/real-bench.ts']);
  });
  test('of test/ opens a dataset store through a helper that closes it before its directory is removed', () => {
    const opens = (text: string) => /\b(?:new|extends) DatasetStore\b/.test(text);
    expect(offenders('test', opens)).toEqual(['test/local/store/dataset/stores.ts']);
  });
  test('of test/ clicks in an editor through a helper that moves the pointer off its words', () => {
    const clicks = (text: string) => /\.cm-(?:content|line)\b[^;]*\.click\(/.test(text);
    expect(offenders('test', clicks)).toEqual([]);
  });

  test('of test/ measures memory only in its own process', () => {
    const measures = (text: string) => /\b(?:processMemory|ownMemory|memoryUsage(?:\.rss)?)\(\)/.test(text);
    const places = /^test\/(?:faults|setup)\//;
    expect(offenders('test', measures).filter(path => !places.test(path))).toEqual([]);
  });
  test('of test/ that is shared registers hooks only in functions, because test files share modules', () => {
    const hooks =
      /^(?:before|after)(?:All|Each)\(|^(?:export )?const .* = (?:await )?(?:sharedService|openQueries|openEngine|realBench|useService)\(/m;
    const found = offenders('test/', text => hooks.test(text)).filter(path => !path.endsWith('.test.ts'));
    expect(found).toEqual([]);
  });
  test('of the kernel reads argv and env only in main.ts, start.ts and authorities.ts', () => {
    expect(offenders('kernel', text => /\bprocess\.(argv|env)\b/.test(text), 'kernel/main.ts')).toEqual([
      'kernel/commands/start.ts',
      'kernel/api/network/authorities.ts',
    ]);
  });
});

/** Each invariant ends with the tests that enforce it, as `file under test/: title`. */
describe('every invariant of kernel/README.md cites existing tests', () => {
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

/** `npm ci` refuses a lock file that lacks one, on every platform. */
test('the lock file has every dependency, for every platform', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { dependencies?: object; optionalDependencies?: object }>>;
  };
  const held = new Set(Object.keys(packages).map(path => path.split('node_modules/').at(-1)));
  const needed = Object.values(packages).flatMap(each =>
    Object.keys({ ...each.dependencies, ...each.optionalDependencies }),
  );
  expect(needed.filter(name => !held.has(name))).toEqual([]);
});

test('every package runs on the oldest supported Node', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const oldest = /\d+\.\d+/.exec(read('package.json').engines.node)?.[0] ?? '';
  const packages = read('package-lock.json').packages as Readonly<
    Record<string, { engines?: { node?: string } }>
  >;
  const refused = Object.entries(packages).filter(
    ([, { engines }]) => !takesNode(engines?.node ?? '*', oldest),
  );
  expect(refused.map(([path]) => path)).toEqual([]);
  expect(
    ['>=22.12.0', '^22 || ^24', '^18.0.0', '>=20.20.0'].filter(range => takesNode(range, oldest)),
  ).toEqual([]);
});

/** Whether a range such as `^20.19.0 || >=22.12.0` includes a version of Node, given as `20.19`. */
function takesNode(range: string, version: string): boolean {
  const number = (text: string) => {
    const [major = '0', minor = '0'] = text.split('.');
    return Number(major) * 1_000 + Number(minor);
  };
  const holds = (comparator: string) => {
    const [, sign = '', bound = ''] = /^([<>=^~]*)v?(\d+(?:\.\d+)?)/.exec(comparator) ?? [];
    const [wanted, given] = [number(bound), number(version)];
    if (bound === '') return comparator === '*';
    if (sign === '<' || sign === '<=') return given < wanted;
    const isSameMajor = Math.floor(wanted / 1_000) === Math.floor(given / 1_000);
    return given >= wanted && (sign.startsWith('>') || isSameMajor);
  };
  return range
    .replace(/([<>=^~])\s+/g, '$1')
    .split('||')
    .some(part => part.trim().split(/\s+/).every(holds));
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly body?: Node | readonly Node[] | null;
  readonly argument?: Node | null;
  readonly typeAnnotation?: Node;
  readonly regex?: { readonly pattern: string; readonly flags: string };
}

/** Returns the types that a file asserts with `as`; skips `as const` and the first half of `as unknown as`. */
function assertionsIn(source: Source): readonly string[] {
  const { path, text } = source;
  const found: string[] = [];
  visitNodes(text, path, node => {
    if (node.type !== 'TSAsExpression' || node.typeAnnotation === undefined) return;
    const type = text.slice(node.typeAnnotation.start, node.typeAnnotation.end);
    if (type !== 'const' && type !== 'unknown') found.push(`${importName(source)}: ${type}`);
  });
  return found;
}

/** Returns the literal regular expressions of a source file. */
function patternsIn({ path, text }: Source): readonly RegExp[] {
  const found: RegExp[] = [];
  visitNodes(text, path, ({ regex }) => {
    if (regex !== undefined) found.push(new RegExp(regex.pattern, regex.flags));
  });
  return found;
}

/** Returns the position and length of each function that is too long. */
function longFunctions({ path, text }: Source): readonly string[] {
  const lines = ({ start, end }: Node) => text.slice(start, end).split('\n').length;
  const found: string[] = [];
  visitNodes(text, path, node => {
    const { body } = node;
    if (/Function/.test(node.type) && body && !Array.isArray(body)) {
      const flat = flatPart(body as Node);
      const counted = lines(node) - (flat === undefined ? 0 : lines(flat));
      const line = text.slice(0, node.start).split('\n').length;
      if (counted > LONGEST_FUNCTION) found.push(`${path}:${line} has ${lines(node)} lines`);
    }
  });
  return found;
}

/** Visits every object of a syntax tree: nodes, and everything between them. */
function visitNodes(text: string, path: string, use: (node: Node) => void): void {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    use(value as Node);
    for (const part of Object.values(value)) visit(part);
  };
  visit(parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' }).body);
}

/** Returns the switch or table that makes up a function's body, after a few lines at most. */
function flatPart(body: Node): Node | undefined {
  const last = Array.isArray(body.body) ? body.body.at(-1) : body;
  const value = last?.type === 'ReturnStatement' ? last.argument : last;
  return /^(SwitchStatement|ObjectExpression|ArrayExpression)$/.test(value?.type ?? '') ? value : undefined;
}

/** Returns imports that the table does not allow, as `file imports name`. */
function forbiddenImports(source: Source): readonly string[] {
  const owner = ownerOf(importName(source));
  const allowed = ALLOWED[owner];
  if (allowed === undefined) return [`${owner} has no row in the table`];
  return namesIn(source)
    .filter(name => ![...EVERYWHERE, ...allowed].some(pattern => matches(pattern, name)))
    .filter(name => !isOwn(name, owner))
    .map(name => `${importName(source)} imports ${name}`);
}

/** Returns imports that a row of the table allows but no file of its folder uses; the row itself if the folder has no files. */
function staleImports(owner: string, allowed: readonly string[]): readonly string[] {
  const sources = kernelSources.filter(source => ownerOf(importName(source)) === owner);
  if (sources.length === 0) return [owner];
  const names = sources.flatMap(namesIn).filter(name => !isOwn(name, owner));
  return allowed
    .filter(pattern => !names.some(name => matches(pattern, name)))
    .map(pattern => `${owner}: ${pattern}`);
}

/** Whether a name is a file of the folder that the row covers; a package never is. */
function isOwn(name: string, owner: string): boolean {
  return kernelNames.has(name) && ownerOf(name) === owner;
}

/** Returns the longest row of the table that is a prefix of a file's path; the path itself if there is none. */
function ownerOf(name: string): string {
  const file = name.endsWith('.ts') ? name : `${name}.ts`;
  const rows = Object.keys(ALLOWED).filter(row => row === file || file.startsWith(`${row}/`));
  return rows.sort((a, b) => b.length - a.length)[0] ?? file;
}

/** Returns a file's imports: `api/client` for a file of the kernel, or the name of a package or built-in module. */
function namesIn(source: Source): readonly string[] {
  return source.imports.map(specifier => target(source, specifier).replace(/^kernel\//, ''));
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
  return name === pattern || name.startsWith(`${pattern}/`);
}

/** Returns the files of the kernel that a file imports. */
function kernelImports(source: Source): readonly string[] {
  return source.imports
    .map(specifier => target(source, specifier))
    .filter(name => name.startsWith('kernel/'))
    .map(name => name.replace(/^kernel\//, ''));
}

function runsInBrowsers(name: string): boolean {
  return IN_THE_BROWSER.some(pattern => matches(pattern, name));
}

/** Returns those imports of a file that do not run in a browser, as `file imports name`. */
function beyond({ path }: Source, names: readonly string[]): readonly string[] {
  return names.filter(name => !runsInBrowsers(name)).map(name => `${path} imports ${name}`);
}

/** Returns the name by which imports refer to a file of the kernel: `result/text`. */
function importName({ path }: Source): string {
  return withoutEnding(path).replace(/^kernel\//, '');
}

function foldersBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter(entry => entry.isDirectory() && entry.name !== '__pycache__')
    .map(entry => relative(root, join(entry.parentPath, entry.name)));
}
