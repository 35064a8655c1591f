import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { History } from '../../../kernel/jupyter/history.js';
import { startService } from '../../../kernel/local/http/http-server.js';
import { findShared } from '../../../kernel/local/shared.js';
import { checkFormat } from '../../../kernel/local/store/store-format.js';
import { QueryLog } from '../../../kernel/notebook/query/query-log.js';
import { readSettings } from '../../../kernel/notebook/settings.js';
import { spawnEngine } from '../engine/spawned.js';
import { TestService, temporaryDirectory } from '../service.js';

/** Returns the fixture written by a program with this data directory format. */
function fixtureOf(format: number): string {
  return fileURLToPath(new URL(`formats/${format}`, import.meta.url));
}

/** Returns a copy of the data directory written by an early version. */
async function written(format = 0): Promise<string> {
  const dataDir = path.join(await temporaryDirectory(), 'data');
  cpSync(path.join(fixtureOf(format), 'data'), dataDir, { recursive: true });
  return dataDir;
}

/** Returns the name of the only file in a directory, without its extension. */
function onlyIn(directory: string): string {
  const names = readdirSync(directory);
  expect(names.length).toBe(1);
  return path.parse(names[0] ?? '').name;
}

/** Starts a service with the real APL compiler. */
async function start(
  dataDir: string,
  log: (text: string) => void = () => {},
  version = '1.2.3',
): Promise<TestService> {
  const service = await startService({ dataDir, port: 0, version, spawnEngine, log });
  onTestFinished(() => service.close());
  return new TestService(service, dataDir);
}

async function columns(service: TestService, apl: string): Promise<unknown[][]> {
  const range = { startTime: '2026-06-01T00:00:00Z', endTime: '2026-07-01T00:00:00Z' };
  const { status, body } = await service.query(apl, range);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.tables[0].columns;
}

const formatText = '{\n  "format": 1,\n  "version": "1.2.3",\n  "checksum": "f8c7d845"\n}\n';

/** Contents of the fixture, by query. */
const contents: Readonly<Record<string, unknown[][]>> = {
  'orders | sort by id asc | project _time, id = tostring(id), price, paid, note': [
    ['2026-06-02T00:00:01Z', '2026-06-02T00:00:00Z'],
    ['-1', '9007199254740993'],
    ['0', '1e300'],
    [false, true],
    [null, 'new'],
  ],
  "web | sort by n asc | project n, uri, ['nested.deep'], tags, extra": [
    [0, 1, 2, 3, 4, 5, 6, 7, 100, 101],
    [...Array.from({ length: 8 }, (_, n) => `/page/${n}`), '/late', '/later'],
    [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, null, null],
    [...Array.from({ length: 8 }, (_, n) => ['a', n]), null, null],
    [null, null, null, null, null, null, null, null, null, true],
  ],
  'waiting | project _time, big, ok, list': [
    ['2026-06-12T00:00:00.123456789Z'],
    ['9223372036854775807'],
    [false],
    [[1, 'two', null]],
  ],
  "['Früh.eins'] | project x": [['ä']],
};

test.each([0, 1])(
  'a data directory of format %i keeps every row, even those only in its logs, and is upgraded once',
  async of => {
    const dataDir = await written(of);
    const format = path.join(dataDir, 'format.json');
    const upgraded = of === 1 ? readFileSync(format, 'utf8') : formatText;
    const [star, annotation] = ['starred', 'annotations'].map(name => onlyIn(path.join(dataDir, name)));
    // The draft of a program that was killed while writing the format.
    writeFileSync(path.join(dataDir, `format.json.${crypto.randomUUID()}.tmp`), formatText.slice(0, 20));
    const service = await start(dataDir);
    for (const [apl, expected] of Object.entries(contents))
      expect([apl, await columns(service, apl)]).toEqual([apl, expected]);
    const listed = (await service.json('GET', '/v1/local/datasets')).body as Record<string, unknown>[];
    expect(listed.map(({ name, description, rows }) => [name, description, rows])).toEqual([
      ['Früh.eins', '', 1],
      ['orders', '', 2],
      ['waiting', 'Only in a journal', 1],
      ['web', 'Requests of the shop', 10],
    ]);
    const fields = (await service.json('GET', '/v2/datasets/web/fields')).body as Record<string, unknown>[];
    expect(fields.find(({ name }) => name === 'n')).toMatchObject({
      unit: 'requests',
      description: 'how many',
    });
    const starred = (await service.json('GET', '/v2/apl-starred-queries?who=all')).body;
    expect(starred).toMatchObject([
      {
        id: star,
        name: 'Orders by price',
        query: { apl: 'orders | where price > 1 | summarize count() by note' },
      },
    ]);
    expect((await service.json('GET', '/v2/annotations')).body).toEqual([
      {
        id: annotation,
        datasets: ['orders'],
        time: '2026-06-01T10:00:00Z',
        endTime: '2026-06-01T11:00:00Z',
        title: 'Release 1.2',
        url: 'https://example.org/releases/1.2',
        type: 'deploy',
      },
    ]);
    expect(readFileSync(format, 'utf8')).toBe(upgraded);
    await service.service.close();
    const { mtimeMs } = statSync(format);
    const next = await start(dataDir, undefined, '4.5.6');
    for (const [apl, expected] of Object.entries(contents))
      expect([apl, await columns(next, apl)]).toEqual([apl, expected]);
    // The upgrade runs only once.
    expect([readFileSync(format, 'utf8'), statSync(format).mtimeMs]).toEqual([upgraded, mtimeMs]);
  },
);

test.each([0, 1])('history, query log, settings and runtime file of format %i are read', async of => {
  const dataDir = await written(of);
  const history = new History(path.join(dataDir, 'history.jsonl'), () => {});
  expect(history.list({ access: 'tail', n: 2 } as Parameters<History['list']>[0])).toMatchObject([
    { session: 1, line: 6 },
    { session: 1, line: 7, source: 'orders | count' },
  ]);
  const queries = await new QueryLog(path.join(dataDir, 'queries.jsonl')).entries();
  expect(queries.map(({ apl, rows }) => [apl, rows])).toEqual([
    ['orders | where price > 1 | summarize count() by note', 1],
    ['orders | count', 1],
  ]);
  const homeDir = await temporaryDirectory();
  cpSync(path.join(fixtureOf(of), 'settings.toml'), path.join(homeDir, '.apl-kernel.toml'));
  const options = { homeDir, workDir: await temporaryDirectory() } as Parameters<typeof readSettings>[0];
  expect([...(await readSettings(options))]).toEqual([['limit', { value: '50', place: 'user' }]]);
  expect(await findShared(dataDir)).toMatchObject({ kind: 'gone', file: { version: '0.1.0', format: of } });
});

test('a new data directory gets the current format', async () => {
  const dataDir = path.join(await temporaryDirectory(), 'data');
  await start(dataDir);
  expect(readFileSync(path.join(dataDir, 'format.json'), 'utf8')).toBe(formatText);
});

test('flipping any bit of the format file never makes it a newer format', async () => {
  const dataDir = path.join(await temporaryDirectory(), 'data');
  await start(dataDir);
  const file = path.join(dataDir, 'format.json');
  const whole = readFileSync(file);
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(file, flipped);
    const found = await checkFormat(dataDir);
    expect([bit, found.kind === 'damaged' || found.format]).toEqual([bit, found.kind === 'damaged' || 1]);
  }
});

test('a data directory of a newer format is refused and left untouched', async () => {
  const dataDir = await written();
  writeFileSync(path.join(dataDir, 'format.json'), '{"format":2,"version":"3.0.0","more":[]}');
  const before = readdirSync(dataDir, { recursive: true }).sort();
  await expect(start(dataDir)).rejects.toMatchObject({
    code: 'data-format',
    message: `apl-kernel 3.0.0 wrote ${dataDir} in format 2, but this version reads only up to format 1`,
    hint: 'Update apl-kernel to 3.0.0 or later, or set APL_KERNEL_DATA to another directory.',
  });
  expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(before);
});

test.each([
  ['cut', (file: string) => writeFileSync(file, '{"form')],
  ['emptied', (file: string) => writeFileSync(file, '')],
  ['of the wrong type', (file: string) => writeFileSync(file, '{"format":"1"}')],
  ['null', (file: string) => writeFileSync(file, 'null')],
  ['a directory', (file: string) => mkdirSync(file)],
])('a format file that is %s stops nothing, and the log names it', async (_, damage) => {
  const dataDir = await written();
  const file = path.join(dataDir, 'format.json');
  damage(file);
  const logged: string[] = [];
  const service = await start(dataDir, text => logged.push(text));
  expect(await columns(service, "['Früh.eins'] | project x")).toEqual([['ä']]);
  expect(logged.map(text => text.split(': ')[0])).toEqual([`${file} cannot be read`]);
  expect(existsSync(file)).toBe(true);
});
