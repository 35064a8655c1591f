import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sharedService, temporaryDirectory } from '../../service.js';

const service = sharedService();
const update = process.env.UPDATE_GOLDEN === '1';
const page = path.join(import.meta.dirname, '../../../../docs/import-numbers.md');

/** Numbers in one column, as written. */
interface Case {
  readonly what: string;
  readonly values: readonly string[];
}

const cases: readonly Case[] = [
  { what: 'seconds', values: ['1707955200', '1707955201'] },
  { what: 'milliseconds', values: ['1707955200123', '1707955200124'] },
  { what: 'microseconds', values: ['1707955200123456', '1707955200123457'] },
  { what: 'nanoseconds, exact', values: ['1707955200123456789', '1707955200123456790'] },
  { what: 'seconds with a fraction', values: ['1707955200.25', '1707955200.123456'] },
  { what: 'seconds with nine fractional digits', values: ['1707955200.123456789'] },
  { what: 'milliseconds with a fraction', values: ['1707955200123.5'] },
  { what: 'an exponent', values: ['1.7079552e9', '1.7079552E+12'] },
  { what: 'mixed units', values: ['1707955200', '1707955200123', '1707955200123456789'] },
  { what: 'zero among seconds', values: ['0', '1707955200'] },
  { what: 'negative seconds', values: ['-1', '1707955200'] },
  { what: 'negative milliseconds', values: ['-62135596800', '-1707955200123'] },
  { what: 'the limit of 32 bits', values: ['2147483647', '2147483648', '4294967296'] },
  { what: 'outside the range of times', values: ['9999999999999999999', '1707955200'] },
  { what: 'missing values', values: ['1707955200', '', '1707955202'] },
  { what: 'spreadsheet days', values: ['45337', '45337.75'] },
  { what: 'spreadsheet days, the ends of the range', values: ['20000', '79999.999'] },
  { what: 'a number that is neither a day nor a time', values: ['19999', '80001'] },
  { what: 'digits of a date', values: ['20240215', '20240216'] },
  { what: 'digits of a date and a time', values: ['20240215103000', '20240215103001'] },
];

test('numbers are times in the unit of their size, or a note says what they are', async () => {
  const rows = [];
  for (const each of cases) rows.push(await rowOf(each));
  const text = `${intro}${rows.join('')}`;
  if (update) await writeFile(page, text);
  expect(text).toBe(await readFile(page, 'utf8'));
});

const intro = `# Numbers as times

The time field may contain numbers:

- seconds, milliseconds, microseconds or nanoseconds since 1970, with the unit of each number determined by its size
- spreadsheet days
- the digits of a date

They may be JSON numbers, JSON strings or CSV cells.

\`test/local/store/times/numbers.test.ts\` writes this table from imports at 2026-06-15T12:00:00Z. A form is omitted if its times equal those of
the previous form.

| numbers | values | as | times and notes |
|---|---|---|---|
`;

const forms: Readonly<Record<string, (value: string) => string>> = {
  CSV: value => value,
  JSON: value => (value === '' ? 'null' : value),
  'JSON string': value => (value === '' ? 'null' : JSON.stringify(value)),
};

async function rowOf({ what, values }: Case): Promise<string> {
  const seen = new Set<string>();
  const rows = [];
  for (const [form, write] of Object.entries(forms)) {
    const written = values.map(value => write(value));
    const isCsv = form === 'CSV';
    const lines = isCsv
      ? ['n,ts', ...written.map((value, n) => `${n},${value}`)]
      : written.map((value, n) => `{"n":${n},"ts":${value}}`);
    const outcome = await imported(lines, isCsv ? 'numbers.csv' : 'numbers.ndjson');
    if (seen.has(outcome)) continue;
    seen.add(outcome);
    rows.push(
      `| ${[what, values.map(value => value || '(none)').join('<br>'), form, outcome].join(' | ')} |\n`,
    );
  }
  return rows.join('');
}

let datasets = 0;

/** Returns the times of the rows in order, and the notes of the import. */
async function imported(lines: readonly string[], name: string): Promise<string> {
  const file = path.join(await temporaryDirectory(), name);
  await writeFile(file, `${lines.join('\n')}\n`);
  const dataset = `numbers${++datasets}`;
  const body = { path: file, dataset, timeField: 'ts' };
  const reply = await service().json('POST', '/v1/local/import', body);
  if (reply.status !== 200) return `refused: ${reply.body.message}`;
  const answer = await service().query(`dataset ${dataset}: n:long _time:datetime`);
  const [keys, times] = answer.body.tables[0].columns as [number[], string[]];
  const order = keys.map((_, index) => index).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
  return [...order.map(index => times[index] ?? ''), ...reply.body.notes].join('<br>');
}
