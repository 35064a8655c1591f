import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aggregates } from '../../../kernel/apl/catalog/aggregates.js';
import { functions } from '../../../kernel/apl/catalog/all-functions.js';
import type { FunctionEntry, ParamType } from '../../../kernel/apl/catalog/entry.js';
import { limits } from '../../../kernel/apl/syntax/syntax-limits.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { limitCases } from '../../apl/limits.js';
import { pipeline } from '../../apl/queries.js';
import { type Answer, sharedService, temporaryDirectory } from '../service.js';

const service = sharedService({ compile: compileRequest });

/** Words of the engine, of SQL, of this program's files and of its stack traces. */
const foreign =
  /duckdb|\b(?:binder|parser|catalog|conversion|serialization|constraint|invalid input|out of range|out of memory|not implemented|io) error|internal error|\bselect\b.*\bfrom\b|read_parquet|read_csv|try_cast|::[a-z]+|\bapl_[a-z]|\bvarchar\b|\bbigint\b|\bhugeint\b|\bline \d+:|candidate|\.parquet|node_modules|\bat \S+ \(|[/\\](?:tmp|home|root|usr|work)[/\\]|call stack/i;

/** Returns what is wrong with a response; undefined if the query ran or was refused in terms of the language. */
function fault({ status, body }: Answer): string | undefined {
  if (status === 200) return undefined;
  const { message, detail } = body;
  const word = foreign.exec(`${message} ${detail?.message} ${detail?.hint}`)?.[0];
  return status < 500 && word === undefined ? undefined : `${status} ${message} (${word})`;
}

/** Returns each query whose response is an internal error or uses foreign words, with that response. */
async function faultsOf(queries: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const apl of queries) {
    const wrong = fault(await service().query(apl));
    if (wrong !== undefined) found.push(`${apl.slice(-160)} -> ${wrong}`);
  }
  return found;
}

test('random pipelines cause no internal error', async () => {
  expect(await faultsOf(fc.sample(pipeline, { numRuns: 200, seed: 1 }))).toEqual([]);
}, 600_000);

/** Values that attackers and broken programs write into logs, by type. */
const garbage = [
  `datatable(s:string, j:dynamic, l:long, r:real, t:datetime, d:timespan, b:bool)[`,
  [
    `'', dynamic([]), 0, 0.0, datetime(1677-09-22), 0s, true`,
    `'(', dynamic({}), -9223372036854775807, -1e308, datetime(2262-04-11), -106751d, false`,
    `'[1,', dynamic(['(', {}, null]), 9223372036854775807, todouble('inf'), datetime(1970-01-01), 106751d, true`,
    `'9999-99-99T99:99:99Z', dynamic('x'), -1, todouble('nan'), datetime(2026-02-28), 1ns, bool(null)`,
    `'%00\\u0000\\u202e\\\\', dynamic([1e308, -1]), 1000000, 1e-320, datetime(null), timespan(null), true`,
    `'${'9'.repeat(400)}', dynamic([[[[]]]]), long(null), real(null), datetime(2000-01-01), 36500d, false`,
  ].join(', '),
  ']',
].join('');

const columns: Readonly<Record<ParamType, string>> = {
  bool: 'b',
  long: 'l',
  real: 'r',
  string: 's',
  datetime: 't',
  timespan: 'd',
  dynamic: 'j',
  number: 'r',
  any: 'j',
  scalar: 's',
  array: 'j',
  map: 'j',
  type: 'typeof(long)',
  field: 's',
};

const constants: Readonly<Partial<Record<ParamType, readonly string[]>>> = {
  string: ["'('", "''", "'%z\\\\'", `'${'a'.repeat(300)}'`],
  long: ['-1', '0', '9223372036854775807'],
  real: ['-1e308', "todouble('nan')", '1e-320'],
  number: ['-1e308', '9223372036854775807', '0'],
  timespan: ['0s', '-106751d', '1ns'],
};

/** Returns calls of a function with garbage in columns and in constants. */
function calls({ name, params }: FunctionEntry): readonly string[] {
  const written = [0, 1, 2].map(choice => {
    const args = params.map(({ type, constant }) => {
      const list = constants[type] ?? [];
      return constant || choice > 0
        ? (list[choice % Math.max(1, list.length)] ?? columns[type])
        : columns[type];
    });
    return `${name}(${args.join(', ')})`;
  });
  return [...new Set(written)];
}

const called = functions.filter(each => each.unavailable === undefined);

/** Maximum number of calls per query. */
const mostCalls = 16;

/** Does the same for calls, several per query; only those of a failing query are tried individually. */
async function faultsOfCalls(
  all: readonly string[],
  write: (list: string) => string,
): Promise<readonly string[]> {
  const found: string[] = [];
  const tryAll = async (some: readonly string[]): Promise<void> => {
    const apl = write(some.map((call, at) => `x${at} = ${call}`).join(', '));
    if (some.length === 1) found.push(...(await faultsOf([apl])));
    else if ((await service().query(apl)).status !== 200) {
      await tryAll(some.slice(0, some.length / 2));
      await tryAll(some.slice(some.length / 2));
    }
  };
  for (let at = 0; at < all.length; at += mostCalls) await tryAll(all.slice(at, at + mostCalls));
  return found;
}

test('functions of garbage values cause no internal error', async () => {
  const write = (list: string) => `${garbage} | project ${list}`;
  expect(await faultsOfCalls(called.flatMap(calls), write)).toEqual([]);
}, 600_000);

/** Frequent values of a column are in a dictionary in the file, and the engine evaluates all of its entries, whatever a row needs. */
test('functions of garbage repeated in a file cause no internal error', async () => {
  const rows = [
    `"s":"","l":-9223372036854775808,"r":-1.7e308,"q":"1677-09-22T00:00:00Z","b":true`,
    `"s":"(","l":9223372036854775807,"r":5e-324,"q":"2262-04-11T00:00:00Z","b":false`,
    `"s":"9999-99-99T99:99:99Z","l":-1,"r":-0.5,"q":"1969-12-31T23:59:59.999999999Z"`,
    `"s":"%00\\u0000\\u202e","r":1e300,"b":true`,
    `"s":"${'9'.repeat(400)}","l":1114112`,
  ];
  const file = path.join(await temporaryDirectory(), 'often.ndjson');
  const lines = Array.from({ length: 200 }, (_, n) => `{${rows[n % rows.length]}}`);
  await writeFile(file, lines.join('\n'));
  const imported = await service().json('POST', '/v1/local/import', { path: file, dataset: 'often' });
  expect([imported.status, imported.body.message]).toEqual([200, undefined]);
  const often = `often | extend t = todatetime(q), j = todynamic(s), d = totimespan(l)`;
  const write = (list: string) => `${often} | summarize count() by ${list}`;
  expect(await faultsOfCalls(called.flatMap(calls), write)).toEqual([]);
}, 600_000);

test('aggregates of garbage values cause no internal error', async () => {
  const write = (list: string) => `${garbage} | summarize ${list} by b`;
  expect(await faultsOfCalls(aggregates.flatMap(calls), write)).toEqual([]);
}, 600_000);

const conversions = [
  'tolong',
  'todouble',
  'tostring',
  'tobool',
  'todatetime',
  'totimespan',
  'parse_json',
  'toarray',
];

test('conversions of values that the type cannot hold cause no internal error', async () => {
  const all = conversions.flatMap(convert =>
    ['s', 'j', 'l', 'r', 't', 'd', 'b'].map(
      from =>
        `${garbage} | extend x = ${convert}(${from}) | summarize max(x), min(x), dcount(x), make_list(x) by isnull(x)`,
    ),
  );
  expect(await faultsOf(all)).toEqual([]);
}, 600_000);

test('queries beyond the limits cause no internal error', async () => {
  const all = Object.entries(limitCases).map(([name, { write, most }]) =>
    write((most ?? limits[name as keyof typeof limits].most) * 2),
  );
  expect(await faultsOf(all)).toEqual([]);
}, 600_000);

/** Small queries that demand a lot of resources. */
const bombs = [
  "print x = repeat('a', 9223372036854775807)",
  "print x = strrep('a', 1000000000)",
  'print x = range(1, 1000000000)',
  'range x from 1 to 9223372036854775807 step 1',
  'print x = pow(10, 1000000), y = exp(100000), z = 9223372036854775807 * 9223372036854775807',
  "print x = replace_regex('a*', 'b', strrep('a', 10000))",
  'range x from 1 to 2000 step 1 | extend k = 1 | join kind=inner (range y from 1 to 2000 step 1 | extend k = 1) on k | count',
  'print s = dynamic([1, 2]) | mv-expand s | extend s2 = s | mv-expand s2 to typeof(datetime)',
  "print parse_json(strrep('[', 10000))",
  "print x = format_datetime(now(), strrep('yyyy', 10000))",
  "print x = split(strrep(',', 100000), ',') | mv-expand x | summarize make_list(x), make_set(x)",
  "print x = 'a' matches regex '(a{1000}){1000}'",
  "print x = extract('(((((((((((a)))))))))))', 11, 'a')",
  'print x = datetime(2262-04-11) + 106751d, y = datetime(1677-09-22) - 106751d, z = -(-106751d)',
  'print x = series_fft(range(1, 100000))',
  'print x = bin(9223372036854775807, -1), y = bin(now(), 0s), z = bin(1.0, 0.0)',
  "externaldata(a:string)['/etc/passwd']",
  "externaldata(a:string)['file:///etc/passwd']",
  "externaldata(a:string)['external/../../../etc/passwd']",
  "['../../etc/passwd'] | count",
  "['/etc/passwd'] | count",
  "['sample\\u0000'] | count",
];

test.each(bombs)('a hostile query causes no internal error: %s', async apl =>
  expect(await faultsOf([apl])).toEqual([]),
);

test('files that do not match their extensions cause no internal error', async () => {
  const directory = await temporaryDirectory();
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'a.parquet': 'PAR1 and nothing else PAR1',
    'b.parquet': new Uint8Array(5000).fill(1),
    'c.json': '[{"a": 1}, {"a":',
    'd.ndjson': '\u0000\u0001\u0002\n{',
    'e.csv': new Uint8Array(3000).fill(0xff),
    'f.csv': `"${'x,'.repeat(6_000)}`,
    'g.csv.gz': 'no gzip',
    'h.json.zst': 'no zstd',
    'i.log': new Uint8Array(3000),
  };
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    await writeFile(file, content);
    const { status, body } = await service().json('POST', '/v1/local/import', {
      path: file,
      dataset: 'garbage',
    });
    // The user supplied the path and the name.
    const said = JSON.stringify([body.message, body.notes]).replaceAll(file, 'FILE').replaceAll(name, 'FILE');
    expect([name, status < 500, foreign.exec(said)?.[0]]).toEqual([name, true, undefined]);
  }
}, 600_000);
