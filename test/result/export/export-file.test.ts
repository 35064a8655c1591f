import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Data,
  Dictionary,
  Float64,
  Int32,
  Schema,
  Table,
  tableFromIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { exportTable } from '../../../kernel/result/export/export-file.js';
import { exportFormats } from '../../../kernel/result/export/export-formats.js';
import { temporaryDirectory } from '../../local/service.js';
import { tableRows } from '../../notebook/results/rows.js';
import { cells as cellsOf, sampleResult } from '../sample.js';
import { exactTable } from './exact.js';

interface Options {
  readonly force?: boolean;
  readonly signal?: AbortSignal;
  readonly directory?: string;
  readonly table?: Table;
}

async function write(name: string, more: Options = {}) {
  const directory = more.directory ?? (await temporaryDirectory());
  const { force = false, signal = new AbortController().signal, table = exactTable() } = more;
  const file = await exportTable(table, join(directory, name), {
    force,
    signal,
    progress: () => undefined,
  });
  return { directory, file, text: await readFile(join(directory, name), 'utf8') };
}

describe('exporting a table as', () => {
  test('CSV leaves nulls empty, quotes empty strings and escapes formulas', async () => {
    const { text, file } = await write('t.csv');
    expect(text).toBe(
      [
        "n,t,d,r,s,x,b,'=name",
        '9223372036854775807,2026-03-04T05:06:07.123456789Z,86400000000001,0.1,"","{""a"":[1,null]}",true,1',
        '-9223372036854775808,1999-01-01T00:00:00Z,-1,NaN,\'=cmd(),"[1,2]",false,2',
        ',,,inf,,,,3',
        '0,,,-inf,"\'+1\n,""x""",null,,4',
        "1,,,-0,''=twice,,,5",
        '2,,,1e+300,\u{1F600}\u202E\u200B,,,6',
        '',
      ].join('\n'),
    );
    expect([file.rows, file.bytes, file.loss]).toEqual([6, Buffer.byteLength(text), undefined]);
  });

  test('TSV', async () => {
    const { text } = await write('t.tsv');
    expect(text.split('\n')[0]).toBe("n\tt\td\tr\ts\tx\tb\t'=name");
    expect(text).toContain('\t"\'+1\n,""x"""\t');
  });

  test.each([
    ['t.csv', 'a,b', '"a,b"'],
    ['t.csv', 'a"b', '"a""b"'],
    ['t.csv', 'a\rb', '"a\rb"'],
    ['t.csv', 'a\nb', '"a\nb"'],
    ['t.csv', 'a\tb', 'a\tb'],
    ['t.tsv', 'a\tb', '"a\tb"'],
    ['t.tsv', 'a,b', 'a,b'],
  ])('%s writes %j as a name and as a value as %j', async (name, value, written) => {
    const table = new Table({ [value]: vectorFromArray([value], new Utf8()) });
    expect((await write(name, { table })).text).toBe(`${written}\n${written}\n`);
  });

  test('JSON lines puts a value with line breaks on one line', async () => {
    const texts = vectorFromArray(['{\n"a":\r\n1}'], new Utf8());
    const schema = new Schema(exactTable().schema.fields.filter(({ name }) => name === 'x'));
    const { text } = await write('t.ndjson', {
      table: new Table(schema, { x: texts.data[0] as Data<Utf8> }),
    });
    expect(text).toBe('{"x":{ "a": 1}}\n');
  });

  test('JSON lines keeps every digit, and reports values that JSON lacks', async () => {
    const { text, file } = await write('t.ndjson');
    expect(text.split('\n').slice(0, 3)).toEqual([
      '{"n":9223372036854775807,"t":"2026-03-04T05:06:07.123456789Z","d":86400000000001,"r":0.1,"s":"","x":{"a":[1,null]},"b":true,"=name":1}',
      '{"n":-9223372036854775808,"t":"1999-01-01T00:00:00Z","d":-1,"r":null,"s":"=cmd()","x":[1,2],"b":false,"=name":2}',
      '{"n":null,"t":null,"d":null,"r":null,"s":null,"x":null,"b":null,"=name":3}',
    ]);
    expect(file.loss).toBe(
      '3 numbers are NaN or infinite: JSON cannot represent such numbers, so null is written instead.',
    );
  });

  test('JSON', async () => {
    const { text } = await write('t.json');
    const rows = JSON.parse(text) as { s: unknown }[];
    expect(rows.map(({ s }) => s)).toEqual([
      '',
      '=cmd()',
      null,
      '+1\n,"x"',
      "'=twice",
      '\u{1F600}\u202E\u200B',
    ]);
  });

  test('Markdown escapes markup in cells', async () => {
    const { text } = await write('t.md');
    expect(text.split('\n').slice(0, 2)).toEqual([
      '| n | t | d | r | s | x | b | =name |',
      '| --: | :-- | --: | --: | :-- | :-- | :-- | --: |',
    ]);
    expect(text.split('\n')).toHaveLength(9);
    const table = new Table({ '$a$ <b>': vectorFromArray(['\\(c\\) | [d](e)', 'f\ng']) });
    expect((await write('t.md', { table })).text.split('\n')).toEqual([
      '| <span>\\$</span>a<span>\\$</span> \\<b\\> |',
      '| :-- |',
      '| <span>&#92;</span>(c<span>&#92;</span>) \\| \\[d\\](e) |',
      '| f\u21b5g |',
      '',
    ]);
  });

  test('Arrow keeps the cells, types and metadata', async () => {
    const { directory } = await write('t.arrow');
    const bytes = await readFile(join(directory, 't.arrow'));
    // A stream has neither of these magic strings.
    expect([bytes.toString('latin1', 0, 6), bytes.toString('latin1', bytes.length - 6)]).toEqual([
      'ARROW1',
      'ARROW1',
    ]);
    const read = tableFromIPC(bytes);
    expect(tableRows(read)).toEqual(tableRows(exactTable()));
    expect(read.schema.fields.map(({ type }) => String(type))).toEqual([
      'Int64',
      'Timestamp<NANOSECOND, UTC>',
      'Duration<NANOSECOND>',
      'Float64',
      'Utf8',
      'Utf8',
      'Bool',
      'Int64',
    ]);
    expect(read.schema.fields[5]?.metadata.get('ARROW:extension:name')).toBe('arrow.json');
  });

  test('Arrow writes batches of 65,536 rows without dictionaries', async () => {
    const texts = Array.from({ length: 65_537 }, (_, row) => `t${row % 3}`);
    const encoded = vectorFromArray(texts, new Dictionary(new Utf8(), new Int32()));
    const { directory, file } = await write('t.arrow', { table: new Table({ s: encoded }) });
    const read = tableFromIPC(await readFile(join(directory, 't.arrow')));
    expect([file.rows, read.numRows, read.batches.map(batch => batch.numRows)]).toEqual([
      65_537,
      65_537,
      [65_536, 1],
    ]);
    expect([String(read.schema.fields[0]?.type), read.getChild('s')?.toArray()]).toEqual(['Utf8', texts]);
  });

  test('Arrow writes no bytes for nulls beside strings that repeat', async () => {
    const cells = cellsOf(70_000, row => (row < 10 ? 'long'.repeat(10_000) : null));
    const table = sampleResult([{ columns: [['s', 'string', cells]] }]).tables[0]?.data;
    expect(String(table?.schema.fields[0]?.type)).toBe('Dictionary<Int32, Utf8>');
    const { file } = await write('t.arrow', table && { table });
    expect(file.rows).toBe(70_000);
    expect(file.bytes).toBeLessThan(2 ** 20);
  });

  test('JSON lines reports a single value that JSON lacks', async () => {
    const { file } = await write('t.ndjson', {
      table: new Table({ r: vectorFromArray([1, 2, Number.NaN], new Float64()) }),
    });
    expect(file.loss).toBe(
      '1 number is NaN or infinite: JSON cannot represent such numbers, so null is written instead.',
    );
  });
});

test('the suggested polars code has the type of each column', () => {
  const { schema } = exactTable();
  const python = (ending: string) => {
    const format = exportFormats.find(({ endings }) => endings.includes(ending));
    return format?.polars?.('"t"', schema);
  };
  const rest = `"d": pl.Int64, "r": pl.Float64, "s": pl.String, "x": pl.String, "b": pl.Boolean`;
  expect([python('csv'), python('ndjson')]).toEqual([
    `pl.read_csv("t", schema={"n": pl.Int64, "t": pl.Datetime("ns", "UTC"), ${rest}, "'=name": pl.Int64})`,
    `pl.read_ndjson("t", schema={"n": pl.Int64, "t": pl.String, ${rest}, "=name": pl.Int64})`,
  ]);
});

test('the suggested pandas code has the types, and parses times only if there are any', () => {
  const csv = exportFormats.find(({ endings }) => endings.includes('csv'));
  const timed = csv?.pandas?.('"t"', exactTable().schema);
  expect(timed).toContain(', parse_dates=["t"], date_format="ISO8601", keep_default_na=False,');
  const plain = new Table({ r: vectorFromArray([1.5], new Float64()) });
  expect(csv?.pandas?.('"t"', plain.schema)).toBe(
    'pd.read_csv("t", dtype={"r": "float64"}, keep_default_na=False, na_values={"r": ["", "NaN"]})',
  );
});

const pandasTypes = [
  `dtype={"n": "Int64", "d": "Int64", "r": "float64", "s": "string", "x": "string", "b": "boolean", "'=name": "Int64"}`,
  'parse_dates=["t"], date_format="ISO8601", keep_default_na=False',
  `na_values={"n": [""], "t": [""], "d": [""], "r": ["", "NaN"], "s": [""], "x": [""], "b": [""], "'=name": [""]}`,
].join(', ');
const polarsTypes = `schema={"n": pl.Int64, "t": pl.Datetime("ns", "UTC"), "d": pl.Int64, "r": pl.Float64, "s": pl.String, "x": pl.String, "b": pl.Boolean, "'=name": pl.Int64}`;

test.each<readonly [ending: string, pandas: string | undefined, polars: string | undefined]>([
  ['csv', `pd.read_csv("t", ${pandasTypes})`, `pl.read_csv("t", ${polarsTypes})`],
  ['tsv', `pd.read_csv("t", sep="\\t", ${pandasTypes})`, `pl.read_csv("t", separator="\\t", ${polarsTypes})`],
  [
    'jsonl',
    'pd.DataFrame(map(json.loads, open("t", encoding="utf-8")), dtype=object)',
    `pl.read_ndjson("t", schema={"n": pl.Int64, "t": pl.String, "d": pl.Int64, "r": pl.Float64, "s": pl.String, "x": pl.String, "b": pl.Boolean, "=name": pl.Int64})`,
  ],
  [
    'json',
    'pd.DataFrame(json.load(open("t", encoding="utf-8")), dtype=object)',
    'pl.read_json("t", infer_schema_length=None)',
  ],
  ['parquet', 'pd.read_parquet("t", dtype_backend="pyarrow")', 'pl.read_parquet("t")'],
  ['feather', 'pd.read_feather("t", dtype_backend="pyarrow")', 'pl.read_ipc("t")'],
  ['md', undefined, undefined],
])('the suggested code of a %s file is complete', (ending, pandas, polars) => {
  const format = exportFormats.find(({ endings }) => endings.includes(ending));
  const { schema } = exactTable();
  expect([format?.pandas?.('"t"', schema), format?.polars?.('"t"', schema)]).toEqual([pandas, polars]);
});

describe('an exported file', () => {
  test('replaces an existing one only if requested', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 't.csv'), 'mine');
    await expect(write('t.csv', { directory })).rejects.toMatchObject({
      code: 'export',
      message: 't.csv already exists',
      hint: 'Choose another name, or replace it with `--force`.',
    });
    expect(await readFile(join(directory, 't.csv'), 'utf8')).toBe('mine');
    expect((await write('t.csv', { directory, force: true })).text).toMatch(/^n,t,d/);
    expect(await readdir(directory)).toEqual(['t.csv']);
  });

  test('is removed if the export is interrupted', async () => {
    const directory = await temporaryDirectory();
    const stop = new AbortController();
    const table = exactTable();
    const writing = exportTable(table, join(directory, 't.csv'), {
      force: false,
      signal: stop.signal,
      progress: () => stop.abort(),
    });
    await expect(writing).rejects.toThrow();
    expect(await readdir(directory)).toEqual([]);
  });

  test.each([
    ['t', 'the file name has no extension'],
    ['t.xlsx', 'there is no format for the extension .xlsx'],
    ['none/t.csv', 't.csv could not be written: the directory does not exist'],
    ['folder.csv', 'folder.csv already exists'],
  ])('is refused for %s', async (name, message) => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'folder.csv'));
    await expect(write(name, { directory })).rejects.toMatchObject({ message });
    expect(await readdir(directory)).toEqual(['folder.csv']);
  });

  test('with an unknown ending is refused with the known ones', async () => {
    const known = exportFormats.flatMap(({ endings }) => endings.map(each => `.${each}`));
    const refusal = write('t.xlsx', { directory: await temporaryDirectory() });
    await expect(refusal).rejects.toMatchObject({ hint: expect.stringContaining('.csv, .') });
    await expect(refusal).rejects.toMatchObject({
      hint: expect.stringMatching(new RegExp(`: ${known.join(', ').replaceAll('.', '\\.')}\\.$`)),
    });
  });

  test('replaces a link, but neither its target nor a directory', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'folder.csv'));
    await writeFile(join(directory, 'kept'), 'kept');
    await symlink('kept', join(directory, 'link.csv'));
    await expect(write('folder.csv', { directory, force: true })).rejects.toMatchObject({
      message: 'folder.csv could not be written: it is a directory',
      hint: 'No partial file was left.',
    });
    await write('link.csv', { directory, force: true });
    expect(await readFile(join(directory, 'kept'), 'utf8')).toBe('kept');
    expect((await readdir(directory)).sort()).toEqual(['folder.csv', 'kept', 'link.csv']);
  });
});
