import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { present } from '../../../../kernel/present.js';
import { isZone } from '../../../../kernel/time.js';
import { sharedService, temporaryDirectory } from '../../service.js';

const service = sharedService();
const update = process.env.UPDATE_GOLDEN === '1';
const page = path.join(import.meta.dirname, '../../../../docs/import-dates.md');

/** Values of one column, and the import's `--dates` option. */
interface Case {
  readonly what: string;
  readonly values: readonly string[];
  readonly dates?: string;
  readonly zone?: string;
}

/** Returns the first days of the quarters of these years. */
const quarters = (years: readonly number[], text: (month: string, year: number) => string): string[] =>
  years.flatMap(year => ['01', '04', '07', '10'].map(month => text(month, year)));
const dayFirst = quarters([2021, 2022, 2023], (month, year) => `01/${month}/${year}`);

const cases: readonly Case[] = [
  {
    what: 'one date has a day above 12',
    values: ['01/02/2024 10:00', '13/02/2024 11:00', '02/03/2024 12:00'],
  },
  { what: 'the same, month first', values: ['01/02/2024 10:00', '02/13/2024 11:00'] },
  { what: 'nothing determines the order', values: ['05/11/2026 10:00', '06/11/2026 10:00'] },
  { what: 'the same, specified', values: ['05/11/2026 10:00', '06/11/2026 10:00'], dates: 'dmy' },
  { what: 'the same, specified', values: ['05/11/2026 10:00', '06/11/2026 10:00'], dates: 'mdy' },
  { what: 'each the first of a month, in three years', values: dayFirst },
  {
    what: 'the same, month first',
    values: quarters([2021, 2022, 2023], (month, year) => `${month}/1/${year} 10:00`),
  },
  {
    what: 'the same, in two years',
    values: quarters([2021, 2022], (month, year) => `01/${month}/${year}`),
  },
  { what: 'the same, and another day', values: [...dayFirst, '02/03/2023'] },
  { what: 'dots', values: ['01.11.2026 10:00', '02.11.2026 10:00'] },
  { what: 'dots, and a month above 12', values: ['01.11.2026 10:00', '11.30.2026 10:00'] },
  { what: 'hyphens', values: ['05-11-2026 10:00', '25-11-2026 10:00'] },
  { what: 'two orders', values: ['13/02/2024', '02/13/2024'] },
  { what: 'two orders, one specified', values: ['13/02/2024', '02/13/2024'], dates: 'dmy' },
  { what: 'day and month are equal', values: ['05/05/2026', '06/06/2026'] },
  { what: 'days that do not exist', values: ['13/02/2024', '00/00/0000', '31/02/2024'] },
  { what: 'a leap day', values: ['29/02/2024', '01/02/2024'] },
  { what: 'two-digit years', values: ['31/01/24', '30/01/69'] },
  { what: 'two digits, some in the future', values: ['31/01/47', '30/01/99', '29/01/68 10:00'] },
  { what: 'two digits after the name of a month', values: ['17-Jun-47', '18-Jun-15'] },
  { what: 'two digits, year first', values: ['69/12/31', '24/01/13'] },
  { what: 'two digits, all below 13', values: ['05/11/06'] },
  { what: 'the same, two of them equal in the first date', values: ['01/01/02', '05/11/06'] },
  { what: 'two digits and dots', values: ['05.11.06'] },
  { what: 'two digits, year first, specified', values: ['24/01/02'], dates: 'ymd' },
  { what: 'single digits', values: ['1/2/2024 3:04', '13/2/2024 3:04'] },
  { what: '12 hours', values: ['13/02/2024 12:00 AM', '13/02/2024 12:00:01 PM', '13/02/2024 1:30pm'] },
  { what: 'an offset', values: ['13/02/2024 10:00:00 +02:00', '13/02/2024 10:00:00 -0130'] },
  { what: 'nanoseconds', values: ['13/02/2024 10:00:00.123456789'] },
  { what: 'in brackets', values: ['[13/02/2024 10:00]'] },
  { what: 'among other times', values: ['13/02/2024', '2024-02-14', '1707955200', '16 Feb 2024'] },
  { what: 'year first, in four digits', values: ['2024/02/01 10:00', '2024.02.03'] },
  {
    what: 'ISO weeks and days of the year',
    values: [
      '2026-W45-3',
      '2026W453',
      '2020-W53-5T10:00:00Z',
      '2026-W01',
      '2026-309',
      '2024-366T10:22:40,672',
    ],
  },
  {
    what: 'weeks and days that the year does not have',
    values: ['2021-W53-1', '2026-W00-1', '2026-366', '2026-000', '2026-11-05'],
  },
  { what: 'seconds in text, with and without a fraction', values: ['1707955200', '1707955200.25', 'x'] },
  {
    what: 'digits without separators',
    values: ['20240201', '202402011030', '20240201103000', '20240201103000123'],
  },
  { what: 'digits that are not a date', values: ['20240201', '20241301'] },
  {
    what: 'zone abbreviations',
    values: [
      '2024-02-01 10:00:00 EST',
      'Thu Feb 1 10:00:00 PDT 2024',
      '2024-02-01 10:00 CET',
      '2024-07-01 10:00:00.123 CEST',
      '2024-02-01 10:00 ACDT',
    ],
  },
  {
    what: 'a zone abbreviation with several offsets',
    values: ['2024-02-01 10:00:00 IST', '2024-02-01 10:00:00'],
  },
  {
    what: 'the same, specified',
    values: ['2024-02-01 10:00:00 IST', '2024-02-01 10:00:00 CET'],
    zone: 'Asia/Kolkata',
  },
  { what: 'spreadsheet days', values: ['45000.5', '45001', '45001.12345678'] },
  { what: 'spreadsheet days and another number', values: ['45000', '1707955200'] },
  {
    what: 'local times',
    values: ['2026-07-01 12:00', '2026-01-01 12:00:00.123456789', '01/Feb/2026:12:00:00', 'Mar 3 12:00:00'],
    zone: 'Europe/Berlin',
  },
  {
    what: 'local times among others',
    values: [
      '2026-07-01T12:00:00Z',
      '2026-07-01 12:00 +0300',
      '1782900000',
      'Wed Jul 1 12:00:00 EST 2026',
      '2026-07-01',
    ],
    zone: 'Europe/Berlin',
  },
  {
    what: 'local times in the skipped hour and in the repeated one',
    values: [
      '2026-03-29 01:59:59',
      '2026-03-29 02:30',
      '2026-03-29 03:00',
      '2026-10-25 02:30',
      '2026-10-25 03:00',
    ],
    zone: 'Europe/Berlin',
  },
  { what: 'a zone for times that have one', values: ['2026-07-01T12:00:00Z'], zone: 'Europe/Berlin' },
  { what: 'a zone for seconds since 1970', values: ['1782900000'], zone: 'Europe/Berlin' },
  { what: 'half an hour of daylight saving time', values: ['2026-04-05 01:45'], zone: 'Australia/Lord_Howe' },
  { what: 'spreadsheet days in a zone', values: ['46204.5', '46023.5'], zone: 'America/New_York' },
  {
    what: 'the name of the month in other languages',
    values: [
      '10 août 2025 13:55:36',
      'ven. 10 oct. 2025',
      'Freitag, 10. Oktober 2025',
      '10 de marzo de 2025',
      '10 ottobre 2025',
      '10 mrt 2025',
      '10 października 2025',
      '10-Dez-2025',
      '10 março 2025',
      '1er janvier 2025',
      'the 10 août 2025',
    ],
  },
  { what: 'the name of the month', values: ['05 Nov 2026', '05-Nov-26', 'Nov 5, 2026'] },
];

test('the dates of a column have one order or are refused', async () => {
  const rows = [];
  for (const each of cases) rows.push(await rowOf(each));
  const text = `${intro}${rows.join('')}`;
  if (update) await writeFile(page, text);
  expect(text).toBe(await readFile(page, 'utf8'));
});

const intro = `# Dates in imported files

The dates of a column have one order:

- All dates of the sample decide the order, or the whole file if they cannot. The rest of the file confirms it.
- Dates with dots have the day first, unless one of them cannot.
- If each date is the first of a month in one order, and three of them are in each of three years, that is the order.
- If nothing determines the order, nothing is imported. Specify it with \`--dates dmy\`, \`--dates mdy\` or \`--dates ymd\`; dates that do not fit
  then get the time of their import and are counted.
- Two-digit years from 69 to 99 are 19xx.

Times without a zone are UTC, or local times of \`--zone\`. A zone abbreviation with several offsets, such as IST, needs \`--zone\`.

In a field that has "date" in its name or is named by \`--time\`, numbers from 20,000 to 80,000 are spreadsheet days, and numbers of 8, 12, 14
or 17 digits that form a date are that date.

\`test/local/store/times/dates.test.ts\` writes this table from imports at 2026-06-15T12:00:00Z.

| dates | values | option | times, notes or refusal |
|---|---|---|---|
`;

async function rowOf({ what, values, dates, zone }: Case): Promise<string> {
  const { status, body, times } = await imported(
    ['n,date', ...values.map((value, n) => `${n},"${value}"`)],
    present({ dates, zone }),
  );
  const option = dates === undefined ? (zone === undefined ? '' : `--zone ${zone}`) : `--dates ${dates}`;
  const outcome = status === 200 ? [...times, ...body.notes] : [`refused: ${body.message}`];
  return `| ${[what, values.join('<br>'), option, outcome.join('<br>')].join(' | ')} |\n`;
}

// biome-ignore lint/suspicious/noExplicitAny: what is read from it is compared with exact values
type Reply = { readonly status: number; readonly body: any; readonly times: readonly string[] };

let datasets = 0;

async function imported(
  lines: readonly string[],
  options: Pick<Case, 'dates' | 'zone'> = {},
  name = 'dates.csv',
): Promise<Reply> {
  const file = path.join(await temporaryDirectory(), name);
  await writeFile(file, `${lines.join('\n')}\n`);
  const dataset = `dates${++datasets}`;
  const reply = await service().json('POST', '/v1/local/import', {
    path: file,
    dataset,
    timeField: 'date',
    ...options,
  });
  if (reply.status !== 200) return { ...reply, times: [] };
  return { ...reply, times: await timesOf(dataset) };
}

/** Returns the times of a dataset, in the order of its field `n`. */
async function timesOf(dataset: string): Promise<string[]> {
  const { body } = await service().query(`dataset ${dataset}: n:long _time:datetime`);
  const [keys, times] = body.tables[0].columns as [number[], string[]];
  const order = keys.map((_, index) => index).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
  return order.map(index => times[index] ?? '');
}

/** Returns the message of a refusal without its hint, as in the table. */
function withoutHint({ body }: Pick<Reply, 'body'>): string {
  return body.message.split(' Import with')[0];
}

const many = (date: string, count: number) => Array.from({ length: count }, (_, n) => `${n},${date}`);

test('a date after the sample that contradicts its order makes all dates decide', async () => {
  const dots = await imported(['n,date', ...many('01.02.2024', 12_000), '12000,02.13.2024']);
  expect([dots.body.notes, dots.times.at(-1)]).toEqual([
    ['Dates in `date` are read month first, as in "02.13.2024".'],
    '2024-02-13T00:00:00Z',
  ]);
  const mixed = await imported(['n,date', ...many('13/02/2024', 12_000), '12000,02/13/2024']);
  expect([mixed.status, withoutHint(mixed)]).toEqual([
    400,
    'The dates in `date` have no common order: "02/13/2024" and "13/02/2024".',
  ]);
  const late = await imported(['n,date', ...many('2024-02-13', 12_000), '12000,02/03/2024']);
  expect([late.status, withoutHint(late)]).toEqual([
    400,
    'The order of the dates in `date` is ambiguous: "02/03/2024" is 2024-03-02T00:00:00Z (day first) or 2024-02-03T00:00:00Z (month first).',
  ]);
});

test('a date after the sample decides an order that the sample leaves open', async () => {
  const { body, times } = await imported(['n,date', ...many('01/02/2024', 12_000), '12000,13/02/2024']);
  expect([body.notes, times[0], times.at(-1)]).toEqual([
    ['Dates in `date` are read day first, as in "13/02/2024".'],
    '2024-02-01T00:00:00Z',
    '2024-02-13T00:00:00Z',
  ]);
});

test('dates in JSON have one order too', async () => {
  const lines = ['01/02/2024', '13/02/2024'].map((date, n) => JSON.stringify({ n, date }));
  expect((await imported(lines, {}, 'dates.ndjson')).times).toEqual([
    '2024-02-01T00:00:00Z',
    '2024-02-13T00:00:00Z',
  ]);
});

test('the named field of an event body decides like that of a file', async () => {
  await service().json('POST', '/v2/datasets', { name: 'sent' });
  const send = (dates: readonly string[], query = '?timestamp-field=date') =>
    service().json(
      'POST',
      `/v1/datasets/sent/ingest${query}`,
      dates.map((date, n) => ({ n: n + (query.includes('format') ? 9 : 0), date })),
    );
  expect((await send(['01/02/2024', '02/02/2024'])).body.message).toBe(
    'The order of the dates in `date` is ambiguous: "01/02/2024" is 2024-02-01T00:00:00Z (day first) or 2024-01-02T00:00:00Z (month first). Set their format in the request, such as `timestamp-format=02/01/2006`.',
  );
  expect((await send(['01/02/2024', '13/02/2024'])).body.ingested).toBe(2);
  expect(
    (await send(['03/02/2024'], '?timestamp-field=date&timestamp-format=02/01/2006')).body.ingested,
  ).toBe(1);
  expect(await timesOf('sent')).toEqual([
    '2024-02-01T00:00:00Z',
    '2024-02-13T00:00:00Z',
    '2024-02-03T00:00:00Z',
  ]);
});

test('a separate date and time of day are combined in the order of the dates', async () => {
  const file = path.join(await temporaryDirectory(), 'apart.csv');
  await writeFile(file, 'n,Date,Time\n1,01.11.2026,2:30 PM\n2,25.11.2026,12:05 AM\n');
  const { body } = await service().json('POST', '/v1/local/import', { path: file, dataset: 'apart' });
  expect(body.notes).toEqual([
    'The time is combined from `Date`, `Time`.',
    'Dates in `Date, Time` are read day first, as in "25.11.2026 12:05 AM".',
  ]);
  expect(await timesOf('apart')).toEqual(['2026-11-01T14:30:00Z', '2026-11-25T00:05:00Z']);
});

test('a file with dates of no order is refused even if no field is named', async () => {
  const file = path.join(await temporaryDirectory(), 'guessed.csv');
  for (const [first, second] of [
    ['05/11/2026', '06/11/2026'],
    ['13/02/2024', '02/13/2024'],
  ]) {
    await writeFile(file, `n,Date\n1,${first}\n2,${second}\n`);
    const reply = await service().json('POST', '/v1/local/import', { path: file, dataset: 'guessed' });
    expect([reply.status, /^The (?:order of the )?dates in `Date` /.test(withoutHint(reply))]).toEqual([
      400,
      true,
    ]);
  }
});

test('an invalid date order is refused', async () => {
  const { status, body } = await imported(['n,date', '1,01/02/2024'], { dates: 'ydm' });
  expect([status, body.message]).toEqual([400, '`dates` should be dmy, mdy, ymd.']);
});

const inBerlin = [
  ['app.log', '2026-05-01 12:00:00 started', '2026-05-01T10:00:00Z'],
  ['syslog', 'May  1 12:00:00 web sshd[1]: Accepted', '2026-05-01T10:00:00Z'],
  ['pg.log', '2026-05-01 12:00:00.123 CEST [7] LOG:  ready', '2026-05-01T10:00:00.123Z'],
  ['access.log', '192.0.2.1 - - [01/May/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1', '2026-05-01T12:00:00Z'],
  ['a.ndjson', '{"time":"2026-05-01T12:00:00","n":1}', '2026-05-01T10:00:00Z'],
] as const;

test.each(inBerlin)('a time zone applies to %s: %s', async (name, line, time) => {
  const file = path.join(await temporaryDirectory(), name);
  await writeFile(file, `${line}\n`);
  const dataset = `dates${++datasets}`;
  const request = { path: file, dataset, zone: 'Europe/Berlin' };
  expect((await service().json('POST', '/v1/local/import', request)).status).toBe(200);
  const { body } = await service().query(`dataset ${dataset}: _time:datetime`);
  expect(body.tables[0].columns).toEqual([[time]]);
});

test.each([
  ['format', 0],
  ['zone', false],
  ['encoding', 7],
  ['list', []],
])('an import option that is not a string is refused: %s', async (option, value) => {
  const request = { path: '/nowhere.csv', dataset: 'x', [option]: value };
  const { status, body } = await service().json('POST', '/v1/local/import', request);
  expect([status, body.message.split(' should be ')[0]]).toEqual([400, `\`${option}\``]);
});

test('the engine knows every accepted time zone, and others are refused', async () => {
  const zones = [...Intl.supportedValuesOf('timeZone'), 'US/Eastern', 'Europe/Kyiv', 'UTC'];
  for (const zone of zones) expect([zone, isZone(zone)]).toEqual([zone, true]);
  const unknown = await imported(['n,date', '1,2026-01-01 10:00'], { zone: 'Nowhere/Else' });
  expect([unknown.status, unknown.body.message]).toEqual([
    400,
    '`zone` should be an IANA time zone, such as Europe/Berlin.',
  ]);
  const named = zones.map(zone => `timezone('${zone}', TIMESTAMP '2026-01-01')`);
  const engine = await DuckDBInstance.create(':memory:');
  const connection = await engine.connect();
  const [row] = (
    await connection.runAndReadAll(`SELECT count(*) FROM (VALUES ${named.map(sql => `(${sql})`).join(', ')})`)
  ).getRowsJson();
  expect(Number(row?.[0])).toBe(zones.length);
});
