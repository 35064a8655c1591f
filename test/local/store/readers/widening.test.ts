import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Connection, Engine } from '../../../../kernel/local/engine/duckdb.js';
import { engineWords } from '../../../../kernel/local/engine/engine-failure.js';
import { type CsvOptions, readCsv } from '../../../../kernel/local/store/readers/csv.js';
import { readJson } from '../../../../kernel/local/store/readers/json.js';
import { cells, type Reading } from '../../../../kernel/local/store/readers/reading.js';
import { temporaryDirectory } from '../../service.js';

let engine: Engine;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'apl-kernel-test-'));
  engine = await Engine.open({ dataDir, connections: 1 });
});
afterAll(async () => {
  await engine.close();
  await rm(dataDir, { recursive: true });
});

type Format = 'json' | 'csv';

/** Reads a file like an import; returns the final types, the notes, whether every value was checked first, and the number of passes. */
async function typesOf(format: Format, lines: readonly string[], options: CsvOptions = {}) {
  const workDir = await mkdtemp(path.join(dataDir, 'work-'));
  const file = path.join(workDir, 'events');
  await writeFile(file, lines.map(each => `${each}\n`).join(''));
  return engine.withConnection(async connection => {
    const statements: string[] = [];
    const run: Connection['run'] = sql => {
      statements.push(sql);
      return connection.run(sql);
    };
    const seen = { ...connection, run };
    let reading =
      format === 'csv'
        ? await readCsv(seen, { file, workDir }, options)
        : await readJson(seen, { file, sampleFile: undefined, workDir });
    let passes = 0;
    for (let failure: string | undefined; reading !== undefined; reading = await reading.wider?.(failure)) {
      passes += 1;
      failure = await failureOf(connection, reading);
      if (failure === undefined) break;
    }
    const looked = statements.some(sql => /map_keys|unnest/.test(sql) && sql.includes(`'${file}'`));
    const careful = reading?.from.includes('store_rejects') === true;
    const fields = reading?.fields ?? [];
    const quoted = fields.filter(({ sql }) => sql.includes("->>'$'")).map(({ name }) => name);
    return { types: fields.map(({ type }) => type), notes: reading?.notes, looked, passes, careful, quoted };
  });
}

async function failureOf(connection: Connection, { fields, from }: Reading): Promise<string | undefined> {
  try {
    await connection.run(`SELECT max(COLUMNS(*)) FROM (${cells(fields, from)})`);
    return undefined;
  } catch (error) {
    return engineWords(error);
  }
}

const holds = (field: string, type: string, before: string) =>
  `\`${field}\` is ${type}, because not all values after the sampled rows are ${before}.`;

const many = (line: string) => new Array<string>(12_000).fill(line);

test.each<readonly [what: string, odd: readonly string[], types: string, notes: readonly string[]]>([
  ['a real among integers', ['{"n":1.5}'], 'real string bool string', [holds('n', 'real', 'long')]],
  ['a string among integers', ['{"n":"-"}'], 'dynamic string bool string', [holds('n', 'dynamic', 'long')]],
  [
    'an integer beyond a real, and a real',
    ['{"n":9007199254740993}', '{"n":1.5}'],
    'dynamic string bool string',
    [holds('n', 'dynamic', 'long')],
  ],
  ['a number among strings', ['{"t":5}'], 'long dynamic bool string', [holds('t', 'dynamic', 'string')]],
  [
    'a string among booleans, and one among integers',
    ['{"b":"yes"}', '{"n":"no"}'],
    'dynamic string dynamic string',
    [holds('n', 'dynamic', 'long'), holds('b', 'dynamic', 'bool')],
  ],
])('JSON: %s widens its field without a pass over the other values', async (_, odd, types, notes) => {
  const usual = many('{"n":1,"t":"x","b":true,"u":null}');
  expect(await typesOf('json', [...usual, ...odd])).toMatchObject({
    types: types.split(' '),
    notes,
    looked: false,
  });
});

test.each<readonly [what: string, odd: readonly string[], passes: number, quoted: readonly string[]]>([
  ['no such string', [], 1, ['id']],
  ['a hexadecimal number of digits only', ['{"id":"123456789012"}'], 1, ['id']],
  ['a string like an integer', ['{"t":"12"}'], 2, ['id', 't']],
  ['one in each of two fields', ['{"t":"12"}', '{"t2":"true"}'], 3, ['id', 't', 't2']],
  [
    'one in each of many fields',
    ['{"t":"12"}', '{"t2":"12"}', '{"t3":"12"}', '{"t4":"12"}'],
    4,
    ['id', 't', 't2', 't3', 't4', 't5'],
  ],
])(
  'JSON: strings that are like other values only outside the sample, %s, are read with quotes in their fields',
  async (_, odd, passes, quoted) => {
    const usual = many('{"id":"1f00ba4c9e21","t":"x","t2":"x","t3":"x","t4":"x","t5":"x"}');
    expect(await typesOf('json', [...usual, ...odd])).toEqual({
      types: new Array(6).fill('string'),
      notes: [],
      looked: false,
      ...{ passes, careful: false, quoted },
    });
  },
);

test.each<readonly [what: string, odd: readonly string[], types: string, notes: readonly string[]]>([
  ['a real among integers', ['1.5,x,true,'], 'real string bool string', [holds('n', 'real', 'long')]],
  ['a string among integers', ['x,x,true,'], 'string string bool string', [holds('n', 'string', 'long')]],
  ['a null word among integers and booleans', ['NA,x,-,', '-,x,NA,'], 'long string bool string', []],
  ['a null word alone, and a string', ['1,x,true,NA', '1,x,true,é'], 'long string bool string', []],
  ['a null word alone, and an integer', ['1,x,true,NA', '1,x,true,5'], 'long string bool long', []],
  ['a time in a field that had none', ['1,x,true,2026-01-01T00:00:00Z'], 'long string bool datetime', []],
  [
    'an integer and then a string in a field that had none',
    ['1,x,true,5', '1,x,true,é'],
    'long string bool string',
    [],
  ],
  [
    'an integer beyond a real, and a real',
    ['9007199254740993,x,true,', '1.5,x,true,'],
    'string string bool string',
    [holds('n', 'string', 'long')],
  ],
  [
    'a string among booleans, and one among integers',
    ['1,x,yes,', '+,x,true,'],
    'string string string string',
    [holds('n', 'string', 'long'), holds('b', 'string', 'bool')],
  ],
])('CSV: %s widens its field without a pass over the other values', async (_, odd, types, notes) => {
  const lines = ['n,t,b,u', ...many('1,x,true,'), ...odd];
  expect(await typesOf('csv', lines)).toMatchObject({ types: types.split(' '), notes, looked: false });
});

/** Returns a line of n and 20 further columns, one of which has a value. */
const sparse = (n: string, column: number, value: string) =>
  [n, ...Array.from({ length: 20 }, (_, index) => (index === column ? value : ''))].join(',');

test.each([
  ['12,000 rows', 1, 4],
  ['180,000 rows', 15, 5],
])('CSV: columns with values only below %s share one pass over all values', async (_, times, passes) => {
  const odd = Array.from({ length: 20 }, (_, index) => sparse('1', index, index % 2 === 0 ? 'x' : '1.5'));
  const header = ['n', ...Array.from({ length: 20 }, (_, index) => `c${index}`)].join(',');
  const before = new Array(times).fill(many(sparse('1', -1, ''))).flat();
  const found = await typesOf('csv', [header, ...before, ...odd]);
  expect(found).toEqual({
    types: ['long', ...Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'string' : 'real'))],
    notes: [],
    looked: true,
    passes,
    careful: false,
    quoted: [],
  });
});

test('CSV: a late comma is a decimal comma if another value of its column says so', async () => {
  const rows = new Array<string>(12_000).fill('1;;;;');
  const odd = ['1;;;;1,234', '1;1.5;;;', '1;;1.5;;', '1;;;x;', '1;;;;1,5'];
  const file = [...rows.slice(1), ...odd];
  const { types, passes } = await typesOf('csv', ['n;a;b;c;d', ...file], { spreadsheet: true });
  expect([types, passes]).toEqual([['long', 'real', 'real', 'string', 'real'], 4]);
});

/** Objects without a value of u, some with one of o, before the given ones. */
const plain = many('{"n":1,"u":null,"o":{"a":1}}');

test.each<readonly [what: string, odd: readonly string[], types: string]>([
  ['a key', ['{"k":true}'], 'long string long bool'],
  [
    'a key with the words of an engine error',
    ['{"k":"a value does not fit field 0: 227822"}'],
    'long string long string',
  ],
  ['a key of an object within', ['{"o":{"a":2,"b":"x"}}'], 'long string long string'],
  ['a key with an object', ['{"k":{"l":1.5,"m":[1]}}'], 'long string long real dynamic'],
  ['an object for a number', ['{"n":{"x":1}}'], 'dynamic string long'],
  ['a number for an object', ['{"o":1}'], 'long string dynamic'],
  ['a value of a field that had none', ['{"u":2}'], 'long long long'],
  ['an object in a field that had none', ['{"u":{"v":"x","w":1}}'], 'long string long long'],
  ['a time in a field that had none', ['{"u":"2026-01-01T00:00:00Z \\"é\\""}'], 'long string long'],
  ['several of them', ['{"k":true}', '{"u":2}', '{"l":1}'], 'long long long bool long'],
])('JSON: %s outside the sample needs no pass over the other values', async (_, odd, types) => {
  const { types: found, looked } = await typesOf('json', [...plain, ...odd]);
  expect([found?.join(' '), looked]).toEqual([types, false]);
});

test.each<readonly [what: string, odd: readonly string[]]>([
  ['a truncated line', ['{"n":']],
  ['two lines of text', ['Traceback (most recent call last):', '{"n":2}', '  in line 3: {"n":5}']],
  ['a number, a list and an object with more after it', ['5', '[{"n":1}]', '{"n":1} {"n":2}']],
])('JSON: %s needs no pass over the other values', async (_, odd) => {
  const texts = odd.filter(line => line !== '{"n":2}').length;
  expect(await typesOf('json', [...plain, ...odd, ...plain.slice(0, 100)])).toMatchObject({
    types: ['long', 'string', 'long', 'string'],
    notes: [
      `Not JSON objects: ${texts} line${texts === 1 ? '' : 's'}, each imported as an event with the line in \`message\`.`,
    ],
    looked: false,
  });
});

test.each<readonly [what: string, lines: readonly string[], types: string]>([
  [
    'a key so early that more are likely',
    [...plain, '{"k":true}', ...new Array<string[]>(8).fill(plain).flat()],
    'long string long bool',
  ],
  [
    'more keys than single lookups are worth',
    [...plain, ...'abcdefghi'].map((each, at) => (at < plain.length ? each : `{"${each}":1}`)),
    'long string long long long long long long long long long long',
  ],
  ['a key twice in an object', [...plain, '{"n":1,"n":2}'], 'long string long'],
])('JSON: %s needs a pass over all values', async (_, lines, types) => {
  const { types: found, looked } = await typesOf('json', lines);
  expect([found?.join(' '), looked]).toEqual([types, true]);
});

test('CSV: thousands of columns fit in the memory of an import', async () => {
  const directory = await temporaryDirectory();
  const engine = await Engine.open({
    dataDir: directory,
    connections: 1,
    threads: 1,
    memoryBytes: 800 * 2 ** 20,
  });
  onTestFinished(() => engine.close());
  const file = path.join(directory, 'wide.csv');
  const row = (text: string) => Array.from({ length: 2000 }, (_, column) => `${text}${column}`).join(',');
  await writeFile(file, `${[row('c'), row('v'), row('w')].join('\n')}\n`);
  const reading = await engine.withConnection(connection =>
    readCsv(connection, { file, workDir: engine.workDir }),
  );
  expect(reading?.fields.map(({ name, type }) => `${name} ${type}`)).toEqual(
    Array.from({ length: 2000 }, (_, column) => `c${column} string`),
  );
});
