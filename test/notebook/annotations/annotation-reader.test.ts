import { afterEach, describe, expect, test } from 'vitest';
import type { Reply, Seen } from '../../api/service.js';
import { type Bench, type BenchOptions, type CellRun, everyday, shown, startBench } from '../session.js';
import { countsOverTime, releaseOf } from './answers.js';

const path = '/v2/annotations';
const query = "['web'] | summarize n = count() by bin(_time, 10m)";

const release = releaseOf('Release 1.2');

let bench: Bench;
afterEach(() => bench.close());

/** Starts a bench that answers queries with counts over time, and annotation requests with `annotations`. */
async function start(annotations: () => Reply, more: Omit<BenchOptions, 'reply'> = {}): Promise<void> {
  bench = await startBench({
    ...more,
    reply: (seen: Seen) =>
      seen.path.endsWith('_apl')
        ? { body: countsOverTime }
        : seen.path === path
          ? annotations()
          : everyday(seen),
  });
}

const asked = () => bench.service.seen.filter(each => each.path === path);
const run = (cell: string) => bench.run(`%%time 2026-03-04T04:00Z..2026-03-04T05:00Z\n${cell}`);
/** Returns the annotations in a chart's description. */
const listed = (cell: CellRun) =>
  shown(cell)
    .filter(text => text.includes('chart of'))
    .map(text => /\d+ annotations?: [^;]*?(?=;|\.$)/.exec(text)?.[0] ?? 'none');

test('a chart over time requests the annotations of its datasets for its range', async () => {
  await start(() => ({ body: [release] }));
  expect(listed(await run(query))).toEqual(['1 annotation: Release 1.2 (2026-03-04 04:15:00)']);
  expect(asked().map(({ parameters }) => parameters)).toEqual([
    { datasets: 'web', start: '2026-03-04T04:00:00Z', end: '2026-03-04T05:00:00Z' },
  ]);
  const paths = bench.service.seen.map(each => each.path).filter(each => /_apl|annotations/.test(each));
  expect([...new Set(paths)].sort()).toEqual(['/v1/datasets/_apl', path]);
});

test('drops annotations of other datasets if the service ignores the filter', async () => {
  await start(() => ({ body: [release, { ...release, id: 'ann_2', datasets: ['traces'] }] }));
  expect(listed(await run(query))).toEqual(['1 annotation: Release 1.2 (2026-03-04 04:15:00)']);
});

test.each([
  ['// @annotations off', query],
  ['// @viz none', query],
  ['%%retain off', query],
  ['', `${query};`],
  ['', "['web'] | count"],
])('requests no annotations: %s %s', async (line, text) => {
  await start(() => ({ body: [release] }));
  if (text.endsWith('count')) bench.service.answer(everyday);
  await run(`${line}\n${text}`);
  expect(asked()).toEqual([]);
});

test('a cell comment turns annotations on when the setting turns them off', async () => {
  await start(() => ({ body: [release] }));
  await bench.run('%config annotations off');
  expect(listed(await run(query))).toEqual(['none']);
  expect(listed(await run(`// @annotations on\n${query}`))).toEqual([
    '1 annotation: Release 1.2 (2026-03-04 04:15:00)',
  ]);
});

test('redrawing a chart fetches its annotations again', async () => {
  const found = [release];
  await start(() => ({ body: found }));
  await run(query);
  found.push({ ...release, id: 'ann_2', time: '2026-03-04T04:25:00Z', title: 'Rollback' });
  expect(listed(await bench.run('%viz line'))).toEqual([
    '2 annotations: Release 1.2 (2026-03-04 04:15:00), Rollback (2026-03-04 04:25:00)',
  ]);
  expect(listed(await bench.run('// @annotations off\n%viz line'))).toEqual(['none']);
});

describe('a chart is drawn without annotations when', () => {
  test.each<[string, () => Reply, number]>([
    ['the token may not list annotations', () => ({ status: 403, body: { message: 'no' } }), 1],
    ['the service lacks the route', () => ({ status: 404, body: { message: 'no' } }), 1],
    ['the request fails', () => ({ status: 500, body: { message: 'no' } }), 2],
    ['the response has another shape', () => ({ body: [{ id: 5 }] }), 2],
    ['the response is not JSON', () => ({ body: '<html>' }), 2],
    ['a time is invalid', () => ({ body: [{ ...release, time: 'noon' }] }), 2],
  ])('%s', async (_, reply, questions) => {
    await start(reply);
    const cells = [await run(query), await run(query)];
    expect(cells.map(({ outcome }) => outcome.status)).toEqual(['ok', 'ok']);
    expect(cells.flatMap(listed)).toEqual(['none', 'none']);
    expect(cells.flatMap(({ outputs }) => outputs.filter(({ kind }) => kind === 'stderr'))).toEqual([]);
    // A refusal is final, and its reason is logged once.
    expect(asked().length).toBe(questions);
    expect(bench.logged.filter(text => text.includes('annotations'))).toHaveLength(1);
  });

  test('the request times out', async () => {
    await start(() => () => undefined);
    const cell = await run(query);
    expect([cell.outcome.status, listed(cell)]).toEqual(['ok', ['none']]);
    expect(bench.logged).toEqual(['charts of local have no annotations: no response within 1 s']);
    await expect.poll(() => bench.service.aborted).toEqual([path]);
  });

  test('the token may not list them, and says why if the cell requests them', async () => {
    await start(() => ({ status: 403, body: { message: 'no' } }));
    const cell = await run(`// @annotations on\n${query}`);
    expect(shown(cell)[0]).toContain(
      '; no annotations: the token of the profile local may not list annotations: no.',
    );
  });

  test('a refusal came earlier, until the user adds an annotation', async () => {
    await start(() => ({ status: 403, body: { message: 'no' } }));
    await run(query);
    bench.service.answer(seen =>
      seen.path.endsWith('_apl')
        ? { body: countsOverTime }
        : seen.method === 'POST'
          ? { status: 201, body: release }
          : { body: [release] },
    );
    await bench.run('%annotate x --dataset web');
    expect(listed(await run(query))).toEqual(['1 annotation: Release 1.2 (2026-03-04 04:15:00)']);
  });
});

test("redrawing a result of another profile omits the active profile's annotations", async () => {
  await start(() => ({ body: [release] }), {
    environment: service => ({ url: service.url, token: 'xaat-x' }),
  });
  await run(`%use environment\n${query}`);
  expect(asked().length).toBe(1);
  await bench.run('%use local');
  expect(listed(await bench.run('%viz line'))).toEqual(['none']);
  expect(asked().length).toBe(1);
});
