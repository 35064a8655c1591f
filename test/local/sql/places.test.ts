import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const window = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-16T00:00:00Z' };

type Event = Readonly<Record<string, unknown>>;

/** Returns events in two different seconds, in the order of `n`, which is not the sort order of any of their values. */
function events(count: number, of: (n: number) => Event): Event[] {
  return Array.from({ length: count }, (_, n) => ({
    _time: `2026-06-15T10:00:0${n < count / 2 ? 0 : 1}Z`,
    line: `${(n * 7919) % 1000} of ${n % 10}`,
    ...of(n),
  }));
}

async function ingest(dataset: string, rows: readonly Event[]): Promise<void> {
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const body = rows.map(row => JSON.stringify(row)).join('\n');
  const sent = await service().send('POST', `/v1/datasets/${dataset}/ingest`, body, ndjson);
  expect(await sent.json()).toMatchObject({ ingested: rows.length, failed: 0 });
}

async function ask(apl: string, more: object = window): Promise<unknown[][]> {
  const { status, body } = await service().query(apl, more);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.tables[0].columns;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

beforeAll(async () => {
  const create = (name: string) => service().send('POST', '/v2/datasets', { name, description: '' });
  for (const name of ['lines', 'shapes', 'shadow']) await create(name);
  await ingest(
    'lines',
    events(4000, n => ({ n })),
  );
  // A batch in a later second, and batches in a single second in files of three shapes.
  const later = numbers(300).map(n => ({ _time: '2026-06-15T10:00:01Z', n: 1500 + n, b: 1 }));
  const files = [{}, { a: 1 }, { b: 2 }, {}, { a: 3 }].map((extra, at) =>
    numbers(300).map(n => ({ _time: '2026-06-15T10:00:00Z', n: at * 300 + n, ...extra })),
  );
  for (const file of [later, ...files]) {
    await ingest('shapes', file);
    // Each query flushes pending events to a file.
    await ask('shapes | count');
  }
  await ingest(
    'shadow',
    events(500, n => ({ n, file_row_number: 1000 - n, FILE_INDEX: `x${n}` })),
  );
  const csv = numbers(50).map(n => `${(n * 37) % 50},${n}`);
  const file = path.join(service().dataDir, 'lookup.csv');
  await writeFile(file, ['code,n', ...csv].join('\n'));
  const imported = await service().send('POST', '/v1/local/import', { path: file, dataset: 'lookup' });
  expect(imported.status).toBe(200);
});

describe('events with equal times', () => {
  const oldestFirst = numbers(4000);
  const newestFirst = oldestFirst.toReversed();

  test.each([
    ['lines | project n | limit 2500', newestFirst.slice(0, 2500)],
    ['lines | limit 2500 | project n', newestFirst.slice(0, 2500)],
    ['lines | sort by _time asc | project n', oldestFirst.slice(0, 1000)],
    ['lines | sort by _time asc | limit 4000 | project n', oldestFirst],
    [
      'lines | where line has "3" | sort by _time asc | limit 9 | project n',
      [3, 13, 23, 33, 37, 43, 53, 63, 73],
    ],
    ['lines | extend t = _time | sort by t desc | limit 10 | project-keep n', newestFirst.slice(0, 10)],
    ['lines | extend half = n % 2 | sort by half asc, _time asc | limit 3 | project n', [0, 2, 4]],
    ['lines | extend half = n % 2 | sort by half asc | limit 3 | project n', [3998, 3996, 3994]],
    [
      'lines | extend half = n % 2 | project-away _time | sort by half desc | limit 2 | project n',
      [3999, 3997],
    ],
    ['lines | extend half = n % 2 | sort by _time asc, half asc | limit 3 | project n', [0, 2, 4]],
    ['lookup | extend half = n % 2 | sort by half asc | limit 3 | project n', [0, 2, 4]],
    ['lines | sort by _time asc | limit 5 | sort by _time desc | project n', [4, 3, 2, 1, 0]],
    ['lines | sort by _time asc | limit 5 | extend m = n + 1 | where m > 2 | project m', [3, 4, 5]],
  ])('are in arrival order, or its reverse: %s', async (apl, expected) => {
    expect(await ask(apl)).toEqual([expected]);
  });

  const [low, high] = ['(lines | where n < 3)', '(lines | where n between (1000 .. 1002))'];

  test.each([
    [`union ${low}, ${high} | sort by _time asc | project n`, [0, 1, 2, 1000, 1001, 1002]],
    [`union ${high}, ${low} | project n, _time | project n`, [2, 1, 0, 1002, 1001, 1000]],
    [
      `union (union ${low}, ${high}), ${low} | sort by _time asc | project n`,
      [0, 1, 2, 1000, 1001, 1002, 0, 1, 2],
    ],
    [
      `union ${low}, (${high} | extend t = _time) | sort by t asc, _time asc | project n`,
      [0, 1, 2, 1000, 1001, 1002],
    ],
  ])('in a union are in the order of its inputs: %s', async (apl, expected) => {
    expect(await ask(apl)).toEqual([expected]);
  });

  test('keep that order in lists', async () => {
    const [[list]] = (await ask('lines | sort by _time desc | limit 6 | summarize make_list(n)')) as [
      [number[]],
    ];
    expect(list).toEqual(newestFirst.slice(0, 6));
  });

  test('are in arrival order if the request sorts by time', async () => {
    const defaultOrder = [{ field: '_time', desc: false }];
    expect(await ask('lines | project n, _time', { ...window, defaultOrder, defaultLimit: 20 })).toEqual([
      numbers(20),
      expect.any(Array),
    ]);
  });

  test('are examined once', async () => {
    const { body } = await service().query('lines | limit 10', window);
    expect(body.status).toMatchObject({ rowsExamined: 4000 });
  });
});

test.each([23, 100, 333])(
  'files with different fields keep one order over pages of %i',
  async defaultLimit => {
    const found: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const { body } = await service().query('shapes | project n, _time', {
        ...window,
        defaultLimit,
        ...(cursor && { cursor }),
      });
      const [page] = body.tables[0].columns;
      if (page.length === 0) break;
      found.push(...page);
      cursor = body.status.minCursor;
    }
    const [whole] = await ask('shapes | project n, _time | limit 1800');
    expect(found).toEqual(whole);
    const file = (at: number) => numbers(300).map(n => at * 300 + n);
    expect(whole).toEqual([0, 1, 2, 3, 4, 5].flatMap(file).toReversed());
  },
);

test('fields may have the names of internal engine columns', async () => {
  const [n, row, index] = await ask(
    'shadow | sort by _time asc | limit 500 | project n, file_row_number, FILE_INDEX',
  );
  expect(n?.toSorted((a, b) => Number(a) - Number(b))).toEqual(numbers(500));
  expect(row).toEqual(n?.map(each => 1000 - Number(each)));
  expect(index).toEqual(n?.map(each => `x${each}`));
});

test.each(['lookup | project n', 'lookup | limit 50 | project n', 'lookup | sort by _time desc | project n'])(
  'rows without a time are in the order of their file: %s',
  async apl => {
    expect(await ask(apl)).toEqual([numbers(50)]);
  },
);
