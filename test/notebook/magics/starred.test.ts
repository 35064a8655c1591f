import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StarredQuery } from '../../../kernel/api/wire.js';
import { consoleLink } from '../../../kernel/notebook/magics/stars/star-starred.js';
import type { Session } from '../../../kernel/notebook/session.js';
import type { Reply, Seen } from '../../api/service.js';
import { type Bench, everyday, printed, queries, shown, startBench, traceback } from '../session.js';

let bench: Bench;
let stars: StarredQuery[];

const path = '/v2/apl-starred-queries';

beforeEach(async () => {
  stars = [];
  bench = await startBench({ reply: service });
});

afterEach(() => bench.close());

/** Answers as a service that stores starred queries, 100 per page. */
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
  test('stores the query, its range and who saved it', async () => {
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
  ])('without a name is named after its comment or first line: %j', async (query, name) => {
    await bench.run(`%star --new --no-run\n${query}`);
    expect(stars.map(each => each.name.slice(0, 79))).toEqual([name.slice(0, 79)]);
  });

  test('that was not run belongs to the dataset in its text', async () => {
    await bench.run('%star --new a --no-run\nlogs | count');
    expect(stars[0]?.dataset).toBe('logs');
    expect(bench.service.seen.some(seen => seen.path.endsWith('_apl'))).toBe(false);
  });

  test('with an existing name updates that one and reports the same', async () => {
    const said = [];
    for (const query of ['web | count', 'web | take 1'])
      said.push(printed(await bench.run(`%star --new a\n${query}`)));
    expect(said[0]).toMatch(/^Saved the starred query \w+, "a": /);
    expect([stars.map(({ query }) => query.apl), said[1]]).toEqual([['web | take 1'], said[0]]);
  });

  test('needs an owner', async () => {
    bench.service.answer(seen =>
      seen.path === '/v2/user' ? { status: 403, body: { message: 'no' } } : service(seen),
    );
    const run = await bench.run('%star --new a\nweb | count');
    expect(traceback(run)[0]).toBe(
      'magic: the token may not read its own user, but a starred query needs an owner',
    );
    expect(stars).toEqual([]);
  });
});

describe('an update', () => {
  test('keeps the properties it does not change', async () => {
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

  test('replaces the parameters and the row limit, even by none', async () => {
    stars = [{ ...star(0), query: { apl: 'old', variables: { p: 1 }, defaultLimit: 10 } }];
    await bench.run('%star s0\nweb | count');
    expect(stars[0]?.query).toEqual({ apl: 'web | count', startTime: 'now-1h', endTime: 'now' });
  });

  test('of an unknown id explains how to create one', async () => {
    const lines = traceback(await bench.run('%star s7\nweb | count'));
    expect([lines[0], lines.at(-1)]).toEqual([
      'not-found: there is no starred query s7',
      'hint: To create one, write `%star --new "NAME"` above the query. `%stars --who all` lists all of them.',
    ]);
  });

  test('works with a token that may not read the query', async () => {
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

describe('a list', () => {
  const pages = () => bench.service.seen.filter(seen => seen.path === path).map(seen => seen.parameters);

  test.each([0, 99, 100, 250])('of %i is read page by page', async count => {
    stars = Array.from({ length: count }, (_, index) => star(index));
    const [listed = ''] = shown(await bench.run('%stars --who all'));
    expect(listed).toMatch(new RegExp(`\\b${count} starred quer`));
    expect(pages().map(({ offset, limit, who }) => [offset, limit, who])).toEqual(
      Array.from({ length: Math.floor(count / 100) + 1 }, (_, index) => [`${100 * index}`, '100', 'all']),
    );
  });

  test('ends if the service ignores paging', async () => {
    stars = Array.from({ length: 150 }, (_, index) => star(index));
    bench.service.answer(seen => (seen.path === path ? { body: stars } : service(seen)));
    const [listed = ''] = shown(await bench.run('%stars'));
    expect(listed).toMatch(/\b150 starred quer/);
    expect(pages().length).toBe(2);
  });
});

describe('a starred query', () => {
  const saved = (index: number, name: string, query: object = {}): StarredQuery => ({
    ...star(index),
    name,
    query: { apl: `web | where n == ${index}`, startTime: 'now-1d', endTime: 'now', ...query },
  });
  beforeEach(() => {
    stars = [saved(0, 'Slow pages'), saved(1, 'twice'), saved(2, 'twice')];
  });

  test('runs by its id or name, with its own range, parameters and limit', async () => {
    stars.push(saved(3, 'all', { variables: { n: 5 }, defaultLimit: 7 }));
    for (const reference of ['s0', '"Slow pages"', 'all'])
      expect(traceback(await bench.run(`%time 2026-01-01\n%run star:${reference}`))).toEqual([]);
    const day = { startTime: '2026-03-03T05:06:07.123456789Z', endTime: '2026-03-04T05:06:07.123456789Z' };
    expect(queries(bench.service)).toEqual([
      { apl: 'web | where n == 0', ...day },
      { apl: 'web | where n == 0', ...day },
      { apl: 'web | where n == 3', ...day, variables: { n: 5 }, defaultLimit: 7 },
    ]);
  });

  test('is loaded into a new cell', async () => {
    const { outputs } = await bench.run('%load star:"Slow pages"');
    const text = '%%time now-1d..now\nweb | where n == 0';
    expect(outputs).toEqual([
      { kind: 'next cell', text },
      { kind: 'stdout', text: `The starred query "Slow pages":\n\n${text}\n` },
    ]);
    await bench.run(text);
    expect(queries(bench.service)[0]?.startTime).toBe('2026-03-03T05:06:07.123456789Z');
  });

  test('saved under %time all covers all data', async () => {
    const saved = await bench.run('%time all\n%star --new "Ever" --no-run\nweb | count');
    expect(printed(saved)).toContain('"Ever": all; ');
    expect(stars.at(-1)?.query).toMatchObject({ startTime: '1970-01-01T00:00:00Z', endTime: 'now' });
    expect(shown(await bench.run('%stars Ever'))[0]).toMatch(/ all +web \| count/);
    for (const line of ['%load star:Ever', '%load "Ever"']) {
      const { outputs } = await bench.run(line);
      expect(outputs[0]).toEqual({ kind: 'next cell', text: '%%time all\nweb | count' });
    }
  });

  test('is updated by its name', async () => {
    expect(traceback(await bench.run('%star "Slow pages"\nweb | count'))).toEqual([]);
    expect([stars.length, stars[0]?.name, stars[0]?.query.apl]).toEqual([3, 'Slow pages', 'web | count']);
  });

  test('is found by a string in its name or query', async () => {
    const ids = async (text: string) => shown(await bench.run(`%stars ${text}`))[0]?.match(/^s\d/gm) ?? [];
    expect([await ids('SLOW'), await ids('"n == 2"'), await ids('nothing')]).toEqual([['s0'], ['s2'], []]);
  });

  test.each([
    ['%run star:twice', '2 starred queries are named twice', 'Give an id: s1, s2.'],
    [
      '%load star:nothing',
      'there is no starred query nothing',
      'To create one, write `%star --new "NAME"` above the query. `%stars --who all` lists all of them.',
    ],
  ])('is not found by %s', async (line, message, hint) => {
    const lines = traceback(await bench.run(line));
    expect([lines[0]?.replace(/^[\w-]+: /, ''), lines.at(-1)]).toEqual([message, `hint: ${hint}`]);
  });

  test('completes by its name, or by its id if others share the name', async () => {
    const slow = ['"Slow pages"', 'web | where n == 0'];
    const check = async (code: string, replaced: string, expected: readonly (readonly string[])[]) => {
      const { items, from, to } = await bench.handler.complete(code, code.length);
      expect([code.slice(from, to), items.map(({ text, signature }) => [text, signature])]).toEqual([
        replaced,
        expected,
      ]);
    };
    await check('%star s0', 's0', []);
    await check('%star Sl', 'Sl', [slow]);
    await check('%star "Slow p', '"Slow p', [slow]);
    await check('%run star:s1', 'star:s1', [['star:s1', 'twice']]);
    for (const typed of ['star:"Slow p', "star:'Slow ", 'star:slow', 'star:"Slow pages"'])
      await check(`%run ${typed}`, typed, [['star:"Slow pages"', 'web | where n == 0']]);
    const { items } = await bench.handler.complete('%load ', '%load '.length);
    expect(items.map(({ text }) => text)).toEqual([...['star:"Slow pages"', 'star:s1', 'star:s2']]);
  });
});

test('completion waits for a slow list of starred queries', async () => {
  const slow = await startBench({
    reply: seen =>
      seen.path === path
        ? response => void setTimeout(() => response.end(JSON.stringify([star(0)])), 1_200)
        : everyday(seen),
  });
  try {
    const { items } = await slow.handler.complete('%star ', '%star '.length);
    expect(items.map(({ text }) => text)).toEqual(['"n0"']);
  } finally {
    await slow.close();
  }
});

test('creating a query writes its name into the cell', async () => {
  const { outputs } = await bench.run('%limit 5\n%star --new "Errors"\nweb | count');
  expect(outputs.at(-1)).toEqual({ kind: 'this cell', text: '%limit 5\n%star "Errors"\nweb | count' });
  const again = await bench.run('%limit 5\n%star "Errors"\nweb | count');
  expect([stars.length, again.outputs.some(({ kind }) => kind === 'this cell')]).toEqual([1, false]);
});

test('a new name in quotes creates a query, and the next run reports the same', async () => {
  const said = [];
  for (const query of ['web | count', 'web | take 1'])
    said.push(printed(await bench.run(`%star "Slow \\"pages\\""\n${query}`)));
  expect(stars.map(({ name, query }) => [name, query.apl])).toEqual([['Slow "pages"', 'web | take 1']]);
  expect(said).toEqual([
    'Saved the starred query s0, "Slow "pages"": now-1h to now; stored in the local service\n',
    said[0],
  ]);
});

test('updating a query reports a changed range', async () => {
  const said = [];
  for (const range of ['last 1h', 'last 24h', 'last 24h'])
    said.push(printed(await bench.run(`%star "Slow"\n%%time ${range}\nweb | count`)));
  expect(said.map(text => /: (now-.*?);/.exec(text)?.[1])).toEqual([
    'now-1h to now',
    'now-1d to now, in place of now-1h to now',
    'now-1d to now',
  ]);
});

test('refuses to star a query that reads a named result', async () => {
  await bench.run('errs << web | where status > 499');
  for (const query of [
    'errs | count',
    '_ | count',
    'web | join (errs) on status',
    'let t = errs; t | count',
  ]) {
    const cell = await bench.run(`%star --new "Mine"\n${query}`);
    expect(traceback(cell)[0]).toMatch(
      /^magic: %star: the query reads the result `(?:errs|_)`, which only this/,
    );
  }
  expect(stars).toEqual([]);
  await bench.run('%star --new "Mine"\n[\'errs\'] | count');
  expect(stars.map(({ query }) => query.apl)).toEqual(["['errs'] | count"]);
});

test('a starred query of a hosted service has a console link', async () => {
  const link = await consoleLink(
    {
      profileName: 'environment',
      endpoint: async () => ({ url: 'https://api.eu.example.test', orgId: 'my org' }),
    } as unknown as Session,
    { ...star(0), query: { apl: "['a b'] | count", startTime: 'now-1h', endTime: 'now' } },
  );
  expect(decodeURIComponent(link ?? '')).toBe(
    'https://app.eu.example.test/my org/query?initForm={"apl":"[\'a b\'] | count","startTime":"now-1h","endTime":"now"}',
  );
});
