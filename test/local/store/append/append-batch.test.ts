import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readBatch } from '../../../../kernel/local/store/append/append-batch.js';
import { storeFile } from '../../../../kernel/local/store/import.js';
import { nowMs } from '../../service.js';
import { sharedStore } from '../dataset/stores.js';

const nowNs = BigInt(nowMs) * 1_000_000n;

const opened = sharedStore();

/**
 * Returns fields with their types, and every row as text. Fields are in the order of files, so they are sorted unless there is one
 * body.
 */
async function contentOf(dataset: string, isOne: boolean): Promise<unknown> {
  const { engine, store } = opened();
  const catalog = await store.snapshot(dataset);
  const fields = [...(catalog.schema(dataset)?.fields ?? [])];
  if (!isOne) fields.sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = fields.map(field => field.name);
  const scan = catalog.scan(dataset, names, -(2n ** 63n), 2n ** 63n - 1n);
  const columns = names.map((_, index) => `f${index}::VARCHAR`).join(', ');
  const groups = catalog.rowGroups(dataset, -(2n ** 63n), 2n ** 63n - 1n);
  return {
    fields: fields.map(({ name, type }) => `${name}:${type}`),
    rows: await engine.run(`SELECT ${columns} FROM (${scan}) ORDER BY ALL`),
    timed: [...new Set(groups.map(group => group.timed))],
  };
}

let datasets = 0;

async function imported(bodies: readonly string[], timeField?: string): Promise<unknown> {
  const dataset = `imported${++datasets}`;
  const late: number[] = [];
  for (const body of bodies) {
    const file = path.join(opened().engine.workDir, 'body.json');
    await writeFile(file, body);
    const time = { nowNs, ...(timeField !== undefined && { field: timeField }) };
    const load = { file, name: 'The body', format: 'json', dataset, time } as const;
    late.push((await storeFile(opened().store, opened().engine, load)).late);
  }
  return { late, content: await contentOf(dataset, bodies.length === 1) };
}

async function appended(bodies: readonly string[], timeField?: string): Promise<unknown> {
  const dataset = `appended${++datasets}`;
  await opened().store.create(dataset);
  const late: number[] = [];
  for (const body of bodies) {
    const batch = readBatch(body, timeField, nowNs);
    if (batch === undefined) throw new Error(`left to an import: ${body}`);
    await opened().store.append(dataset, batch);
    late.push(batch.late);
  }
  return { late, content: await contentOf(dataset, bodies.length === 1) };
}

const at = '"_time":"2024-01-01T00:00:00.000000001Z"';

type Case = readonly [what: string, bodies: readonly string[], timeField: string | undefined];

const bodies: readonly (readonly [what: string, bodies: readonly string[], timeField?: string])[] = [
  [
    'values of every type',
    [`{${at},"l":-5,"r":1.5,"e":1e3,"s":"a\\n\\"é","b":true,"d":[1, {"a" : "x"}],"n":null}`],
  ],
  ['nested objects', [`{${at},"a":{"b":{"c":1,"d":"x"},"e":2},"f":{}}\n{${at},"a":{"b":{"d":"y"}}}`]],
  ['an object beside other values', [`{${at},"a":{"b":1}}\n{${at},"a":2}`]],
  ['integers beyond 53 bits', [`{${at},"i":9007199254740993}\n{${at},"i":-9223372036854775808}`]],
  ['integers beyond 53 bits and reals', [`{${at},"i":9007199254740993}\n{${at},"i":0.5}`]],
  [
    'integers beyond 64 bits',
    [
      `{${at},"i":9223372036854775808,"j":[18446744073709551616]}\n{${at},"i":-9223372036854775809}\n{${at},"i":${'9'.repeat(400)}}`,
      `{${at},"i":100000000000000000000}\n{${at},"i":0.5}`,
      `{${at},"i":18446744073709551615,"o":{"k":123456789012345678901234567890}}\n{${at},"i":1,"o":{"k":"x"}}`,
    ],
  ],
  ['integers and reals', [`{${at},"i":1}\n{${at},"i":0.5}\n{${at},"i":1.50}`]],
  ['numbers and text', [`{${at},"i":1.50}\n{${at},"i":"a"}\n{${at},"i":true}`]],
  [
    'an array, and an object over several lines',
    [`[{${at},"a":1}, {${at},"b":"x"}]`, `{\n ${at},\n "a": 2\n}`],
  ],
  ['empty lines and carriage returns', [`{${at},"a":1}\r\n\n  {${at},"a":2}  \n`]],
  [
    'keys with dots, other cases or odd characters',
    [`{${at},"a.b":1,"A":2,"a":3,"":4,"it's":5,"q\\"q":6,"_TIME":7}`],
  ],
  ['no time at all', ['{"a":1}\n{"a":2}']],
  ['a field that only sounds like a time', ['{"time":17,"a":1}']],
  [
    'seconds, milliseconds, microseconds, nanoseconds',
    [
      '{"_time":1700000000}\n{"_time":1700000000123}\n{"_time":1700000000123456}\n{"_time":1700000000123456789}\n{"_time":-1}',
    ],
  ],
  ['times beyond the range', ['{"_time":9223372036854775807}\n{"_time":1}']],
  [
    'dates, spaces, offsets',
    [
      '{"_time":"2024-01-01"}\n{"_time":"2024-01-01 02:03:04.5+05:30"}\n{"_time":"2024-01-01T02:03:04"}\n{"_time":"2024-12-31T23:59:59.999999999-01:00"}',
    ],
  ],
  ['times in some events only', [`{${at},"a":1}\n{"a":2}\n{"_time":null,"a":3}`]],
  ['a likely time field', ['{"ts":1700000000,"timestamp":"2024-01-01T00:00:00Z"}']],
  ['a date and a time of day', ['{"date":"2024-01-01","time":"10:00:00"}']],
  ['a named field', ['{"at":"2024-01-01T00:00:00Z","_time":5}', '{"at":1700000000}'], 'at'],
  ['a named field without a value', ['{"at":null,"a":1}'], 'at'],
  ['the time of an earlier import', [`{${at},"_sysTime":"2020-01-01T00:00:00Z","a":1}`]],
  [
    'types that differ between batches',
    [`{${at},"x":1}`, `{${at},"x":"a"}`, `{${at},"x":0.5}`, `{${at},"x":[1]}`],
  ],
  ['an object in one batch and a value in another', [`{${at},"a":{"b":1}}`, `{${at},"a":5}`]],
  ['fields that come and go', [`{${at},"a":1}`, `{${at},"b":"x"}`, `{${at},"a":2,"c":{"d":true}}`]],
  ['a null before its type is known', [`{${at},"a":null}`, `{${at},"a":7}`, `{${at},"a":"x"}`]],
  ['batches without a time beside others', ['{"a":1}', `{${at},"a":2}`]],
  ['wide integers in one batch and reals in another', [`{${at},"i":9007199254740993}`, `{${at},"i":0.5}`]],
];

test.each(bodies.map(([what, each, timeField]): Case => [what, each, timeField]))(
  'a small body is stored as an import would store it: %s',
  async (_, each, timeField) => {
    expect(await appended(each, timeField)).toEqual(await imported(each, timeField));
  },
);

const left: readonly (readonly [what: string, body: string, timeField?: string])[] = [
  ['broken JSON', '{"a":1'],
  ['a broken line among others', '{"a":1}\n{"a":'],
  ['a value that is not an object', '[1]'],
  ['an empty list', '[]'],
  ['an empty body', ''],
  ['a repeated key', '{"a":1,"a":2}'],
  ['half a surrogate pair', '{"a":"\\ud800"}'],
  ['a NUL character', '{"a\\u0000":1}'],
  ['a zero with a sign', '{"a":-0}'],
  ['a number out of range', '{"a":[1e999]}'],
  ['deep nesting', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ['keys that collide', '{"a.b":1,"a":{"b":2}}'],
  ['a missing named field', '{"a":1}', 'at'],
  ['a named field without a time', '{"at":"?"}', 'at'],
  ['a time in another format', '{"_time":"31/Dec/2024:10:00:00 +0000"}'],
  ['a time with a fraction of seconds since 1970', '{"_time":1700000000.5}'],
];

test.each(left.map(([what, body, timeField]) => ({ what, body, timeField })))(
  'a body is left to the import: $what',
  ({ body, timeField }) => {
    expect(readBatch(body, timeField, nowNs)).toBeUndefined();
  },
);

/** Returns a generator of integers, determined by the seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

function randomValue(random: (below: number) => number, depth: number): string {
  const pick = <T>(...all: readonly T[]): T => all[random(all.length)] as T;
  switch (random(depth > 2 ? 6 : 8)) {
    case 0:
      return String(random(1000) - 500);
    case 1:
      return pick(
        '0.1',
        '1.0',
        '-2.50',
        '1e3',
        '9007199254740993',
        '4611686018427387904',
        '-9223372036854775809',
      );
    case 2:
      return pick('"a"', '""', '"é\\t\\u00e9"', '"2024-01-01T00:00:00Z"', '"1"', '"null"');
    case 3:
      return pick('true', 'false');
    case 4:
      return 'null';
    case 5:
      return pick('[]', '[1, "a", null]', '[ {"x":1 } ]', '{}');
    default:
      return randomObject(random, depth + 1);
  }
}

function randomObject(random: (below: number) => number, depth: number): string {
  const keys = ['a', 'b', 'c', 'd e', 'x.y', 'Z'].filter(() => random(2) === 0);
  return `{${keys.map(key => `${JSON.stringify(key)}: ${randomValue(random, depth)}`).join(', ')}}`;
}

test('random bodies are stored as an import would store them', async () => {
  let compared = 0;
  for (let seed = 1; seed <= 12; seed++) {
    const random = randomOf(seed);
    const body = () =>
      Array.from({ length: 1 + random(4) }, () =>
        randomObject(random, 0).replace('{', `{${at}, `).replace(', }', '}'),
      ).join('\n');
    const each = Array.from({ length: 1 + random(3) }, body);
    if (each.some(text => readBatch(text, undefined, nowNs) === undefined)) continue;
    compared++;
    expect([seed, await appended(each)]).toEqual([seed, await imported(each)]);
  }
  expect(compared).toBeGreaterThan(5);
});
