import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { notices, realBench } from '../../real-bench.js';
import { printed, shown, traceback } from '../../session.js';

const bench = realBench({
  orders: [
    { _time: '2015-10-30T23:58:00Z', n: 1 },
    { _time: '2015-10-31T00:40:00Z', n: 2 },
  ],
  hosts: [{ host: 'a' }],
  ends: [
    { _time: '1677-09-22T00:00:00Z', n: 1 },
    { _time: '2262-04-11T11:59:59.999999999Z', n: 2 },
    { _time: '2262-04-11T12:00:00Z', n: 4 },
    { _time: '2262-04-11T23:47:16.854775806Z', n: 8 },
  ],
});

/** Returns the text lines of everything that a cell showed. */
async function lines(code: string): Promise<readonly string[]> {
  const run = await bench().run(code);
  return [...traceback(run), ...shown(run).flatMap(text => text.split('\n'))];
}

const held = '2015-10-30 23:58 to 2015-10-31 00:40: %time 2015-10-30..2015-11-01';

test('%datasets shows the number of events and the %time line that covers them', async () => {
  const found = (await lines('%datasets')).map(line => line.split(/ {2,}/));
  expect(found.filter(([name]) => ['6 datasets', 'dataset', 'orders', 'hosts'].includes(name ?? ''))).toEqual(
    [
      ['6 datasets'],
      ['dataset', 'events', 'time range', 'from', 'to', 'description'],
      ['hosts', '1', 'any: its events have no time'],
      ['orders', '2', '%time 2015-10-30..2015-11-01', '2015-10-30 23:58', '2015-10-31 00:40'],
    ],
  );
  expect(found.find(([name]) => name === 'sample-http-logs')?.[1]).toBe('computed for any time');
});

test('%schema shows the number of events', async () => {
  expect((await lines('%schema orders'))[0]).toBe(`orders: 3 fields; 2 events, ${held}`);
  expect((await lines('%schema hosts'))[0]).toBe(
    'hosts: 3 fields; 1 event without a time, included in every time range.',
  );
  expect((await lines('%schema sample-http-logs'))[0]).toMatch(/^sample-http-logs: \d+ fields$/);
});

test("%time all covers the extent of the query's datasets", async () => {
  const [heading] = await lines('%%time all\norders | count');
  expect(heading).toBe('1 row × 1 column · all (2015-10-30T23:58:00Z to 2015-10-31T00:40:00.000000001Z)');
  expect((await lines('%%time all\norders | count')).includes('    2')).toBe(true);
  expect((await lines('%%time all\nhosts | count')).includes('    1')).toBe(true);
  expect((await lines("%%time all\n['sample-http-logs'] | count"))[0]).toBe(
    'time-range: sample-http-logs is computed for any time, so it has no first or last event',
  );
});

test.each([
  ['all', 15],
  ['2262-04-11T12:00:00Z 2262-04-11T23:47:16.854775806Z', 12],
  ['1677-09-22T00:00:00Z 2262-04-11T12:00:00Z', 3],
  ['2262-04-11T11:59:59Z 2262-04-11T12:00:00Z', 2],
  ['1677-09-22T00:00:00.000000001Z 2262-04-11T12:00:00.000000001Z', 6],
])('reads the events in the range %s at the limits of 64-bit nanoseconds', async (range, sum) => {
  const found = await lines(`%%time ${range}\nends | summarize sum(n)`);
  expect([
    traceback(await bench().run(`%%time ${range}\nends`)),
    found.some(line => line.trim() === String(sum)),
  ]).toEqual([[], true]);
});

/** A minute with a single order, years before the import of the hosts. */
const minute = '%%time 2015-10-31T00:40:00Z..2015-10-31T00:41:00Z\n';

test.each([
  [
    'hosts | project host',
    ['host', 'a'],
    ['The time range does not apply: the rows of `hosts` have no time of their own.'],
  ],
  [
    "orders | extend host = 'a' | lookup (hosts | extend known = true) on host | project n, known",
    ['n  known', '2  true'],
    [],
  ],
  [
    "orders | extend host = 'a' | join (hosts | extend known = true) on host | project n, known",
    ['n  known', '2  true'],
    [],
  ],
])('reads a dataset without a time in any time range: %s', async (apl, table, said) => {
  const run = await bench().run(minute + apl);
  expect(traceback(run)).toEqual([]);
  expect(notices(run)).toEqual(said);
  const text = shown(run)
    .flatMap(each => each.split('\n'))
    .map(line => line.trim().replace(/ {2,}/g, '  '));
  expect(text.filter(line => table.includes(line))).toEqual(table);
});

test('%import reports that rows were added to an existing dataset', async () => {
  const file = join(bench().homeDir, 'again.ndjson');
  await writeFile(file, '{"_time":"2026-01-01T00:00:00Z","a":1}');
  const words = async (more: string) =>
    (await lines(`%import ${file} --dataset again${more}`)).slice(1).filter(line => line.startsWith('It '));
  const span = '2026-01-01 00:00: %time 2026-01-01';
  expect((await words('')).slice(-1)).toEqual([`It has 1 event, ${span}`]);
  expect((await words('')).slice(-2)).toEqual([
    'It had 1 row before; the new rows were added. --replace replaces the old rows instead.',
    `It has 2 events, ${span}`,
  ]);
  expect((await words(' --replace')).slice(-1)).toEqual([`It has 1 event, ${span}`]);
});

test('%import --preview shows how a file would be read and imports nothing', async () => {
  const file = join(bench().homeDir, 'orders 11.csv');
  await writeFile(file, 'Date,Note\n05/11/2026 10:00,<b>\n06/11/2026 10:00,\n');
  const undecided = await bench().run(`%import "${file}" --preview`);
  expect(traceback(undecided)).toEqual([]);
  expect(
    shown(undecided)[0]
      ?.split('\n')
      .map(line => line.trimEnd()),
  ).toEqual([
    'orders 11.csv: CSV, 2 rows, 2 fields. Nothing is imported yet.',
    'Cannot be imported with these settings. The order of the dates in Date is ambiguous: "05/11/2026 10:00" is 2026-11-05T10:00:00Z (day first) or 2026-05-11T10:00:00Z (month first).',
    'Import with --dates dmy or --dates mdy.',
    '',
    'field        type      row 1             row 2',
    '_time        datetime',
    'Date (time)  string    05/11/2026 10:00  06/11/2026 10:00',
    'Note         string    <b>',
  ]);
  const decided = await lines(`%import "${file}" --preview --dates dmy`);
  expect(decided.slice(1, 5)).toEqual([
    'Time from Date: 05/11/2026 10:00 is 2026-11-05T10:00:00Z.',
    '',
    'field        type      row 1                 row 2',
    '_time        datetime  2026-11-05T10:00:00Z  2026-11-06T10:00:00Z',
  ]);
  expect((await lines('%datasets')).some(line => line.startsWith('orders-11'))).toBe(false);
});

describe('%drop', () => {
  const make = async () => {
    const file = join(bench().homeDir, 'doomed.ndjson');
    await writeFile(file, '{"_time":"2026-01-01T00:00:00Z","a":1}');
    await bench().run(`%import ${file} --dataset doomed --replace`);
  };
  const isThere = async () => (await lines('%datasets')).some(line => line.startsWith('doomed'));

  test('deletes the dataset once its name is typed', async () => {
    await make();
    const run = await bench().run('%drop doomed', { answer: 'doomed' });
    expect(run.outputs[0]).toEqual({
      kind: 'asked',
      text: 'This deletes doomed, 1 event. Type its name to continue: ',
    });
    expect([printed(run), await isThere()]).toEqual(['Deleted doomed (1 event).\n', false]);
  });

  test('keeps the dataset if something else is typed; --yes needs no name', async () => {
    await make();
    expect(traceback(await bench().run('%drop doomed', { answer: 'y' }))[0]).toBe(
      'magic: doomed was not deleted: the typed name does not match',
    );
    expect(await isThere()).toBe(true);
    expect(printed(await bench().run('%drop doomed --yes'))).toBe('Deleted doomed (1 event).\n');
    expect(await isThere()).toBe(false);
  });

  test('refuses missing datasets and the samples', async () => {
    expect(traceback(await bench().run('%drop nope --yes'))[0]).toMatch(/There is no dataset `nope`/);
    expect(traceback(await bench().run('%drop sample-http-logs --yes'))[0]).toMatch(/cannot be deleted/);
  });

  test('works with the local service only', async () => {
    await writeFile(
      join(bench().homeDir, '.axiom.toml'),
      '[deployments.prod]\nurl = "http://127.0.0.1:9"\ntoken = "xaat-1"\n',
      { mode: 0o600 },
    );
    expect(traceback(await bench().run('%use prod\n%drop web --yes'))[0]).toBe(
      'magic: %drop works with the local service only, but the profile is prod',
    );
    await bench().run('%use local');
  });
});

test('completion has the datasets and fields of an import at once, and not those of a deleted dataset', async () => {
  // Cached names are otherwise kept for a minute.
  const completes = (code: string) =>
    expect.poll(
      async () => (await bench().handler.complete(code, code.length)).items.map(({ text }) => text),
      {
        timeout: 30_000,
      },
    );
  const file = join(bench().homeDir, 'fresh.ndjson');
  await bench().run('%schema');
  await completes("['fre").toEqual([]);
  await writeFile(file, '{"_time":"2026-01-01T00:00:00Z","early":1}');
  await bench().run(`%import ${file} --dataset fresh`);
  await completes("['fre").toEqual(["['fresh']"]);
  await completes('fresh | project earl').toEqual(['early']);
  await writeFile(file, '{"_time":"2026-01-02T00:00:00Z","latest":1}');
  await bench().run(`%import ${file} --dataset fresh`);
  await completes('fresh | project lates').toEqual(['latest']);
  await bench().run('%drop fresh', { answer: 'fresh' });
  await completes("['fre").toEqual([]);
});
