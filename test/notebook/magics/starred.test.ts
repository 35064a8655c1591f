import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StarredQuery } from '../../../kernel/api/wire.js';
import type { Reply, Seen } from '../../api/service.js';
import { type Bench, everyday, printed, shown, startBench, traceback } from '../session.js';

let bench: Bench;
let stars: StarredQuery[];

const path = '/v2/apl-starred-queries';

beforeEach(async () => {
  stars = [];
  bench = await startBench({ reply: service });
});

afterEach(() => bench.close());

/** A service that keeps starred queries, 100 to a page. */
function service(seen: Seen): Reply {
  if (!seen.path.startsWith(path)) return everyday(seen);
  const id = decodeURIComponent(seen.path.slice(path.length + 1));
  const at = stars.findIndex(star => star.id === id);
  switch (seen.method) {
    case 'POST':
      stars.push({ ...JSON.parse(seen.body), id: `s${stars.length}` });
      return { body: stars.at(-1) };
    case 'GET': {
      if (id === '') return { body: page(seen.parameters) };
      return at < 0 ? { status: 404, body: { message: 'none' } } : { body: stars[at] };
    }
    case 'PUT':
      if (at < 0) return { status: 404, body: { message: 'none' } };
      stars[at] = { ...JSON.parse(seen.body), id };
      return { body: stars[at] };
    default:
      return { status: 405, body: { message: 'no' } };
  }
}

function page({ limit, offset }: Readonly<Record<string, string>>): readonly StarredQuery[] {
  return stars.slice(Number(offset), Number(offset) + Number(limit));
}

function star(index: number): StarredQuery {
  return { id: `s${index}`, kind: 'apl', name: `n${index}`, who: 'u', metadata: {}, query: { apl: 'web' } };
}

describe('a new starred query', () => {
  test('holds the query, its range and who saved it', async () => {
    await bench.run("%%limit 5\n%star --new 'Errors'\nweb | count");
    expect(stars).toEqual([
      {
        id: 's0',
        dataset: 'web',
        kind: 'apl',
        name: 'Errors',
        who: 'u1',
        metadata: {
          savedBy: 'apl-kernel 1.2.3',
          savedAt: '2026-03-04T05:06:07.123Z',
          timeRange: 'last 1h',
        },
        query: { apl: 'web | count', startTime: 'now-1h', endTime: 'now', defaultLimit: 5 },
      },
    ]);
  });

  test.each([
    ['// Errors by host\nweb | count', 'Errors by host'],
    ['web\n| count // how many', 'web'],
    [`// ${'x'.repeat(100)}\nweb`, `${'x'.repeat(79)}\u2026`],
  ])('without a name is called by its comment or its first line: %j', async (query, name) => {
    await bench.run(`%star --new --no-run\n${query}`);
    expect(stars.map(each => each.name.slice(0, 79))).toEqual([name.slice(0, 79)]);
  });

  test('that was not run is of the dataset that it names', async () => {
    await bench.run('%star --new a --no-run\nlogs | count');
    expect(stars[0]?.dataset).toBe('logs');
    expect(bench.service.seen.some(seen => seen.path.endsWith('_apl'))).toBe(false);
  });

  test('needs an owner', async () => {
    bench.service.answer(seen =>
      seen.path === '/v2/user' ? { status: 403, body: { message: 'no' } } : service(seen),
    );
    const run = await bench.run('%star --new a\nweb | count');
    expect(traceback(run)[0]).toBe(
      'magic: the token may not read whose it is, and a starred query needs an owner',
    );
    expect(stars).toEqual([]);
  });
});

describe('an update', () => {
  test('keeps what it does not change', async () => {
    stars = [{ ...star(0), dataset: 'old', metadata: { a: 'b' }, query: { apl: 'old', libraries: ['l'] } }];
    await bench.run('%star s0\nweb | count');
    const { name, who, dataset, metadata, query } = stars[0] as StarredQuery;
    expect([name, who, dataset, metadata.a, metadata.timeRange, query]).toEqual([
      'n0',
      'u',
      'web',
      'b',
      'last 1h',
      { apl: 'web | count', libraries: ['l'], startTime: 'now-1h', endTime: 'now' },
    ]);
  });

  test('of an unknown id says how to create one', async () => {
    const lines = traceback(await bench.run('%star s7\nweb | count'));
    expect([lines[0], lines.at(-1)]).toEqual([
      'not-found: there is no starred query s7',
      'hint: To create one, write `%star --new --name "NAME"` above the query: it prints the id. `%stars --who all` lists what there is.',
    ]);
  });

  test('works for a token that may not read it', async () => {
    stars = [star(0)];
    bench.service.answer(seen =>
      seen.method === 'GET' && seen.path.startsWith(`${path}/`)
        ? { status: 403, body: { message: 'no' } }
        : service(seen),
    );
    expect(printed(await bench.run('%star s0 --name N\nweb | count'))).toContain('Updated');
    expect([stars[0]?.name, stars[0]?.who]).toEqual(['N', 'u1']);
  });
});

describe('a listing', () => {
  const pages = () => bench.service.seen.filter(seen => seen.path === path).map(seen => seen.parameters);

  test.each([0, 99, 100, 250])('of %i is read page by page', async count => {
    stars = Array.from({ length: count }, (_, index) => star(index));
    const [listed = ''] = shown(await bench.run('%stars --who all'));
    expect(listed).toMatch(new RegExp(`\\b${count} starred quer`));
    expect(pages().map(({ offset, limit, who }) => [offset, limit, who])).toEqual(
      Array.from({ length: Math.floor(count / 100) + 1 }, (_, index) => [`${100 * index}`, '100', 'all']),
    );
  });

  test('ends with a service that does not page', async () => {
    stars = Array.from({ length: 150 }, (_, index) => star(index));
    bench.service.answer(seen => (seen.path === path ? { body: stars } : service(seen)));
    const [listed = ''] = shown(await bench.run('%stars'));
    expect(listed).toMatch(/\b150 starred quer/);
    expect(pages().length).toBe(2);
  });
});
