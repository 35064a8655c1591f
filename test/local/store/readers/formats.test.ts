import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LogFormat, LogReading } from '../../../../kernel/api/logs/log-format.js';
import { type FileKind, logFormats } from '../../../../kernel/api/logs/log-formats.js';
import { importText, parquetOf, stored, useService } from './traps.js';

useService();

const update = process.env.UPDATE_GOLDEN === '1';
const page = path.join(import.meta.dirname, '../../../../docs/log-formats.md');

const head = `# Log formats

Each format that an import recognizes, with sample lines and the events they become. Use \`--format NAME\` for a format that is not
recognized. \`_time\` is the time of the event, and fields without a value are not shown. If part of a line does not fit any field, the whole
line is in \`line\`, next to the fields that can be read, so nothing is lost.

\`test/local/store/readers/formats.test.ts\` writes this page from imports at 2026-06-15T12:00:00Z.
`;

test('docs/log-formats.md shows the events of each example', async () => {
  const sections: string[] = [];
  for (const format of logFormats) sections.push(await sectionOf(format));
  const text = [head, ...sections].join('\n');
  if (update) await writeFile(page, text);
  expect(await readFile(page, 'utf8')).toBe(text);
}, 240_000);

async function sectionOf({ name, label, example, reading }: LogFormat): Promise<string> {
  const { dataset, body } = await importText(`${name}.log`, `${example.join('\n')}\n`);
  const notes: readonly string[] = body.notes;
  if (reading.kind !== 'text' && reading.kind !== 'json')
    expect(notes[0]).toBe(`The lines are read as ${label}.`);
  const names = ['_time', ...body.fields.slice(2).map((field: { name: string }) => field.name)];
  const events = await stored(dataset, "to_json([to_json(COLUMNS(* EXCLUDE ('_sysTime')))])");
  const shown = events.map(row => eventOf(names, JSON.parse(`[${row.replaceAll(']|[', '],[')}]`)));
  const more = notes.slice(1).map(note => `- ${note}\n`);
  const title = `${label[0]?.toUpperCase()}${label.slice(1)}.`;
  return [`## ${name}\n`, `${title}\n`, block(example), block(shown), ...more].join('\n');
}

function eventOf(names: readonly string[], values: readonly (readonly unknown[])[]): string {
  const members = names.flatMap((name, index) =>
    values[index]?.[0] === null ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(values[index]?.[0])}`],
  );
  return `{${members.join(', ')}}`;
}

function block(lines: readonly string[]): string {
  return `${lines.map(line => `    ${line}\n`).join('')}`;
}

// ---- the order of the file ----

/** Digits that do not occur elsewhere in a file. */
const firstNumber = 444_000_000;

/** SQL of the row's number, relative to the first one. */
const numberSql = "nullif(regexp_extract(concat_ws(' ', *COLUMNS(*)), '444(\\d{6})', 1), '')";

const manyRows = 130_000;

/** A generated file; for Parquet, a SELECT. */
interface LongFile {
  readonly format: string;
  readonly head?: string;
  readonly row: (no: number, n: number) => string;
}

/** Words to number in examples that do not contain "cart". */
const numbered: Readonly<Record<string, string>> = {
  'vpc-flow': '49152',
  zeek: 'CHh',
  'nps-csv': 'ann',
  'windows-csv': 'Spooler',
  'journald-export': 'publickey',
  'journald-verbose': 'publickey',
  prometheus: 'shop',
  fields: 'web',
  mongoexport: 'ann',
  'windows-xml': 'ann',
};

/** Variants of a format missing from its example, as lines of a repeated block. */
const furtherBlocks: readonly (readonly [format: string, what: string, lines: readonly string[]])[] = [
  [
    'w3c',
    'days in comments',
    ['#Date: 2024-05-02', '#Fields: time cs-uri-stem', '10:00:00 /cart', 'x cart y'],
  ],
  [
    'w3c',
    'fields that change',
    ['#Fields: date cs-uri-stem', '2024-05-02 /cart', '#Fields: cs-uri-stem', '/cart'],
  ],
];

/** Formats with events of several lines, and those that do not read each line by its shape, which "many rows" below covers. */
const ofSeveral = logFormats.filter(
  ({ reading }) =>
    !(['lines', 'pairs', 'text', 'json'] as const).some(kind => kind === reading.kind) ||
    (reading.kind === 'lines' && reading.begins?.unless !== undefined),
);

test('every example without "cart" has another word to number', () => {
  const others = ofSeveral.filter(({ example }) => !example.join('\n').includes('cart'));
  expect(Object.keys(numbered).toSorted()).toEqual(others.map(({ name }) => name).toSorted());
});

test.each([
  ...ofSeveral.map(({ name, example }) => [name, 'its example', example] as const),
  ...furtherBlocks,
])('events keep the order of the file: %s, %s', async (format, _, example) => {
  const block = example.join('\n');
  const blocks = Math.ceil(300 / example.length);
  const content = Array.from({ length: blocks }, (_, n) =>
    numberedBlock(block, numbered[format] ?? 'cart', n),
  );
  const { dataset, status } = await importText('x.log', `${content.join('\n\n')}\n`, { format });
  expect(status).toBe(200);
  expect(await orderOf(dataset)).toEqual(content.map((_, n) => n));
});

/** Appends a number to each occurrence of a word. */
function numberedBlock(block: string, word: string, n: number): string {
  return block.replaceAll(word, `${word}${firstNumber + n}`);
}

/** Returns the numbers in the stored rows, without adjacent duplicates. */
async function orderOf(dataset: string): Promise<number[]> {
  const rows = await stored(dataset, numberSql);
  const numbers = rows.filter(row => row !== 'null').map(Number);
  return numbers.filter((n, index) => n !== numbers[index - 1]);
}

const time = '2024-05-02T10:00:00Z';

/** Files for each reading method, with more rows than the engine gives to one thread. */
const long: Readonly<Record<LogReading['kind'] | FileKind, LongFile | string>> = {
  lines: { format: 'cri', row: (no, n) => (n % 9 === 0 ? `no time ${no}` : `${time} stdout F ${no}`) },
  headed: {
    format: 'w3c',
    head: '#Fields: time no',
    row: (no, n) => (n % 9 === 0 ? `#Date: 2024-05-02\nno time ${no}` : `10:00:00 ${no}`),
  },
  pairs: { format: 'logfmt', row: (no, n) => (n % 9 === 0 ? `no=${no} level=a` : `time=${time} no=${no}`) },
  text: { format: 'text', row: (no, n) => (n % 9 === 0 ? `no time ${no}` : `${time} ${no}`) },
  csv: { format: 'csv', head: 'time,no', row: (no, n) => (n % 9 === 0 ? `"a""b",${no}` : `${time},${no}`) },
  json: { format: 'json', row: no => `{"time":"${time}","no":${no}}` },
  converted: {
    format: 'loki',
    row: no => `{"streams":[{"stream":{"a":"b"},"values":[["1714644000000000000","${no}"]]}]}`,
  },
  parquet: `SELECT TIMESTAMP '2024-05-02' AS time, ${firstNumber} + range AS no FROM range(${manyRows})`,
};

test.each(Object.entries(long))('many rows keep the order of the file: %s', async (_, file) => {
  const { dataset, status } = await importLong(file);
  expect(status).toBe(200);
  const isAtItsPlace = `${numberSql}::INTEGER = file_row_number`;
  expect(await stored(dataset, `count(*), count(*) FILTER (${isAtItsPlace})`)).toEqual([
    `${manyRows}|${manyRows}`,
  ]);
});

async function importLong(file: LongFile | string): ReturnType<typeof importText> {
  if (typeof file === 'string') return importText('long.parquet', await parquetOf(file));
  const { format, head = '', row } = file;
  const rows = Array.from({ length: manyRows }, (_, n) => row(firstNumber + n, n));
  return importText('long', `${[head, ...rows].join('\n').trimStart()}\n`, { format });
}
