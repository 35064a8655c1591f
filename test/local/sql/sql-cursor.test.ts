import { beforeAll, describe, expect, test } from 'vitest';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { cursorText, readCursor } from '../../../kernel/local/sql/sql-cursor.js';
import { type Answer, sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const window = { startTime: '2026-06-15T00:00:00Z', endTime: '2026-06-16T00:00:00Z' };
const rows = 10_000;

/** Rows that share their times in runs of 1, 2, … 7; three successive rows share a `twin`. */
beforeAll(async () => {
  const lines: string[] = [];
  for (let run = 0; lines.length < rows; run++) {
    const _time = new Date(Date.parse(window.startTime) + run * 1000).toISOString();
    for (let at = 0; at <= run % 7 && lines.length < rows; at++)
      lines.push(JSON.stringify({ _time, n: lines.length, twin: `t${Math.floor(lines.length / 3)}` }));
  }
  await service().send('POST', '/v2/datasets', { name: 'ties', description: '' });
  // Two files, whose rows share times.
  for (const half of [lines.filter((_, at) => at % 2 === 0), lines.filter((_, at) => at % 2 === 1)]) {
    const ndjson = { 'content-type': 'application/x-ndjson' };
    const sent = await service().send('POST', '/v1/datasets/ties/ingest', half.join('\n'), ndjson);
    expect(await sent.json()).toMatchObject({ ingested: rows / 2, failed: 0 });
  }
});

interface Paging {
  readonly apl: string;
  readonly more?: object;
  readonly cursor: 'minCursor' | 'maxCursor';
}

/** Follows the cursors to the end; returns the values of the first field, page by page. */
async function pages({ apl, more, cursor }: Paging): Promise<(readonly unknown[])[]> {
  const found: unknown[][] = [];
  for (let from: string | undefined; ; ) {
    const { status, body } = await service().query(apl, {
      ...window,
      ...more,
      ...(from && { cursor: from }),
    });
    expect(status).toBe(200);
    const [table] = body.tables;
    if (table.columns[0].length === 0) return found;
    found.push(table.columns[0]);
    from = body.status[cursor];
  }
}

const numbers = Array.from({ length: rows }, (_, at) => at);
const byNumber = (a: unknown, b: unknown): number => Number(a) - Number(b);

const paged: readonly (readonly [what: string, paging: Paging])[] = [
  ['newest first', { apl: 'ties | project n, _time', cursor: 'minCursor' }],
  [
    'newest first, pages of 777',
    { apl: 'ties | project n, _time', more: { defaultLimit: 777 }, cursor: 'minCursor' },
  ],
  [
    'oldest first, pages of 500',
    { apl: 'ties | sort by _time asc | project n, _time', more: { defaultLimit: 500 }, cursor: 'maxCursor' },
  ],
  [
    'an explicit limit',
    { apl: 'ties | sort by _time desc | limit 901 | project n, _time', cursor: 'minCursor' },
  ],
  [
    'an order of the request',
    {
      apl: 'ties | project n, _time',
      more: { defaultOrder: [{ field: '_time', desc: false }] },
      cursor: 'maxCursor',
    },
  ],
  [
    'additional sort keys',
    { apl: 'ties | sort by _time asc, n desc | limit 703 | project n, _time', cursor: 'maxCursor' },
  ],
];

test.each(paged)('paging returns every row once: %s', async (_, paging) => {
  const found = await pages(paging);
  expect(found.flat().sort(byNumber)).toEqual(numbers);
});

test('paging splits rows that share a time', async () => {
  const apl = 'ties | where n < 40 | project n, _time';
  const found = await pages({ apl, more: { defaultLimit: 2 }, cursor: 'minCursor' });
  expect(found.map(page => page.length)).toEqual(Array.from({ length: 20 }, () => 2));
  expect(found.flat().sort(byNumber)).toEqual(numbers.slice(0, 40));
});

test('paging keeps rows that are equal in every field', async () => {
  const found = await pages({
    apl: 'ties | project twin, _time',
    more: { defaultLimit: 1001 },
    cursor: 'minCursor',
  });
  const expected = numbers.map(n => `t${Math.floor(n / 3)}`);
  expect(found.flat().sort()).toEqual(expected.sort());
});

test('includeCursor repeats the row at the cursor', async () => {
  const apl = 'ties | project n, _time';
  const ask = async (more: object): Promise<Answer['body']> =>
    (await service().query(apl, { ...window, ...more })).body;
  for (const defaultLimit of [47, 48, 49, 50, 51, 52, 53, 54]) {
    const first = await ask({ defaultLimit });
    const cursor = first.status.minCursor;
    const [again, next] = [await ask({ cursor, includeCursor: true }), await ask({ cursor })];
    const [numbersOf, timesOf] = [again.tables[0].columns[0], again.tables[0].columns[1]];
    const repeated = numbersOf.slice(0, numbersOf.indexOf(next.tables[0].columns[0][0]));
    expect(repeated).toContain(first.tables[0].columns[0].at(-1));
    expect(new Set(timesOf.slice(0, repeated.length))).toEqual(new Set([first.tables[0].columns[1].at(-1)]));
  }
});

test('from a newest-first page, paging can continue toward later times', async () => {
  const ask = (apl: string, more: object): Promise<Answer> => service().query(apl, { ...window, ...more });
  const middle = await ask('ties | where n < 5000 | project n, _time', { defaultLimit: 10 });
  const later = await ask('ties | sort by _time asc | project n, _time', {
    defaultLimit: 5000,
    cursor: middle.body.status.maxCursor,
  });
  const [found] = later.body.tables[0].columns;
  // Later rows, outside the first query's filter, share the time of row 4,999.
  expect([found.at(-1), found.length > 4990]).toEqual([9999, true]);
});

describe('includeCursorField', () => {
  const ask = async (apl: string, more: object): Promise<Answer['body']> =>
    (await service().query(apl, { ...window, includeCursorField: true, ...more })).body;
  const numbers = ({ tables }: Answer['body']) => tables[0].columns[0];

  test.each(['ties | project n, _time', 'ties | sort by _time asc | project n, _time'])(
    'gives each row its cursor, which leads to the next row: %s',
    async apl => {
      const all = await ask(apl, { defaultLimit: 40 });
      const [found, , cursors] = all.tables[0].columns;
      expect(all.tables[0].fields.at(-1)).toMatchObject({ name: '_cursor', type: 'string' });
      expect(new Set(cursors).size).toBe(40);
      for (const at of [0, 1, 2, 3, 17, 18, 30]) {
        const rest = await ask(apl, { defaultLimit: 5, cursor: cursors[at] });
        expect(numbers(rest)).toEqual(found.slice(at + 1, at + 6));
        expect(rest.tables[0].columns[2]).toEqual(cursors.slice(at + 1, at + 6));
      }
    },
  );

  test('replaces a field of that name', async () => {
    const apl = "ties | extend _cursor = 'mine' | project n, _time, _cursor";
    const { tables } = await ask(apl, { defaultLimit: 3 });
    expect(tables[0].fields.map(({ name }: { name: string }) => name)).toEqual(['n', '_time', '_cursor']);
    expect(tables[0].columns[2]).not.toContain('mine');
  });

  test('is reported as having no effect if rows have no cursor', async () => {
    const { status, tables } = await ask('ties | summarize count()', {});
    expect(status.messages.map((message: { code: string }) => message.code)).toContain('no_cursor_field');
    expect(tables[0].fields.length).toBe(1);
  });
});

test('the cursor stays in place past the last row', async () => {
  const apl = 'ties | where n < 3 | project n, _time';
  const first = await service().query(apl, window);
  const { minCursor } = first.body.status;
  const past = await service().query(apl, { ...window, cursor: minCursor });
  expect([past.body.tables[0].columns, past.body.status.minCursor]).toEqual([[[], []], minCursor]);
});

const cursorError: readonly (readonly [what: string, apl: string, cursor: string, message: string])[] = [
  ['not issued by the service', 'ties', 'x', '`cursor` is not from this service'],
  [
    'for aggregated rows',
    'ties | summarize count()',
    cursorText({ time: 0n, count: 1, whole: true }),
    'requires rows sorted',
  ],
  [
    'for rows without a time',
    'ties | project n',
    cursorText({ time: 0n, count: 1, whole: true }),
    'requires rows sorted',
  ],
];

test.each(cursorError)('a cursor is refused: %s', async (_, apl, cursor, message) => {
  const { status, body } = await service().query(apl, { ...window, cursor });
  expect([status, body.detail.compileErrorCode]).toEqual([400, 'bad-cursor']);
  expect(body.message).toContain(message);
});

test.each([
  { time: 0n, count: 1, whole: true },
  { time: -5n, count: 3, whole: false },
  { time: 1_750_000_000_123_456_789n, count: 123_456, whole: false },
])('a cursor survives writing and reading: %o', cursor => {
  expect(readCursor(cursorText(cursor))).toEqual(cursor);
});
