import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Annotation } from '../../../../kernel/api/wire.js';
import type { Reply, Seen } from '../../../api/service.js';
import { type Bench, everyday, printed, shown, startBench, traceback } from '../../session.js';

let bench: Bench;
let kept: Annotation[];

const path = '/v2/annotations';

beforeEach(async () => {
  kept = [];
  bench = await startBench({ reply: service });
});

afterEach(() => bench.close());

/** Answers as a service that stores annotations. */
function service(seen: Seen): Reply {
  if (!seen.path.startsWith(path)) return everyday(seen);
  const id = decodeURIComponent(seen.path.slice(path.length + 1));
  const at = kept.findIndex(each => each.id === id);
  switch (seen.method) {
    case 'POST':
      kept.push({ ...JSON.parse(seen.body), id: `ann_${kept.length}` });
      return { status: 201, body: kept.at(-1) };
    case 'GET':
      return { body: kept };
    case 'PUT':
      kept[at] = { ...JSON.parse(seen.body), id };
      return { body: kept[at] };
    default:
      if (at < 0) return { status: 404, body: { message: 'none' } };
      kept.splice(at, 1);
      return { status: 204 };
  }
}

/** Returns the annotation requests: methods, paths and parameters. */
const asked = () =>
  bench.service.seen
    .filter(each => each.path.startsWith(path))
    .map(({ method, path: at, parameters }) => [method, at, parameters]);

describe('a new annotation', () => {
  test('defaults to now and the dataset of the last result, and writes that time into the line', async () => {
    await bench.run('web | count');
    const run = await bench.run('%annotate Release 1.2 --type deploy');
    expect(kept).toEqual([
      { id: 'ann_0', datasets: ['web'], time: '2026-03-04T05:06:07Z', title: 'Release 1.2', type: 'deploy' },
    ]);
    expect(printed(run)).toBe(
      'Added the annotation ann_0, "Release 1.2" (deploy), at 2026-03-04T05:06:07Z, on charts of web.\n',
    );
    expect(run.outputs.at(-1)).toEqual({
      kind: 'this cell',
      text: '%annotate Release 1.2 --type deploy --time 2026-03-04T05:06:07Z',
    });
  });

  test('takes times, datasets, a description and an address', async () => {
    const run = await bench.run(
      '%annotate "Database failover" --type incident --time "yesterday 18:05" --end now-1h --dataset web --dataset traces --dataset web --description "All of Europe" --url https://example.org/1',
    );
    expect(kept).toEqual([
      {
        id: 'ann_0',
        datasets: ['web', 'traces'],
        time: '2026-03-03T18:05:00Z',
        endTime: '2026-03-04T04:06:07.123456789Z',
        title: 'Database failover',
        description: 'All of Europe',
        url: 'https://example.org/1',
        type: 'incident',
      },
    ]);
    expect(run.outputs.map(({ kind }) => kind)).toEqual(['stdout']);
  });

  test('in a cell with a query belongs to the datasets of that query', async () => {
    await bench.run('web | count');
    await bench.run("%annotate Cut-over\n['other'] | count");
    expect(kept.map(({ datasets, type }) => [datasets, type])).toEqual([[['other'], 'note']]);
  });

  test('on a result computed from another result belongs to the underlying dataset', async () => {
    await bench.run('errs << web | count');
    bench.service.answer(seen =>
      seen.path === '/v1/local/results' ? { body: { lease: 'l' } } : service(seen),
    );
    await bench.run('%annotate Noted\nerrs | where n > 1');
    expect(kept[0]?.datasets).toEqual(['web']);
  });

  test('with the title, time and dataset of an existing one updates it', async () => {
    const line = '%annotate Release 1.2 --time 2026-03-04T05:00Z --dataset web';
    await bench.run(line);
    const again = await bench.run(`${line} --type deploy`);
    expect(kept.map(({ title, type }) => [title, type])).toEqual([['Release 1.2', 'deploy']]);
    expect(printed(again)).toMatch(/^Updated the annotation ann_0,/);
    await bench.run(line.replace('05:00', '05:01'));
    await bench.run(`${line} --dataset traces`);
    await bench.run(line.replace('1.2', '1.3'));
    expect(kept.length).toBe(4);
  });

  test('is added even if the token may not list annotations', async () => {
    bench.service.answer(seen =>
      seen.path === path && seen.method === 'GET' ? { status: 403, body: { message: 'no' } } : service(seen),
    );
    await bench.run('%annotate x --time 2026-03-04 --dataset web');
    expect(kept.length).toBe(1);
  });

  test.each([
    ['%annotate', 'magic: %annotate: give a title'],
    ['%annotate x', 'magic: name the dataset whose charts show it'],
    ['%annotate x --dataset web --time noon', 'time-range: `noon` is not a time or a duration'],
    [
      '%annotate x --dataset web --time now --end now-1h',
      'magic: %annotate: --end (2026-03-04T04:06:07.123456789Z) is not after --time (2026-03-04T05:06:07.123456789Z)',
    ],
    [
      '%annotate x --dataset web --type "Big Deploy"',
      'magic: %annotate: --type may contain lower-case letters, digits and hyphens, not Big Deploy',
    ],
    ['%annotate x --dataset web --time now --time today', 'magic: %annotate: --time is specified twice'],
    ['%annotate x --list', 'magic: %annotate: --list takes no other arguments'],
    ['%annotate --delete a --list', 'magic: %annotate: --delete takes no other arguments'],
  ])('is refused by %s', async (line, message) => {
    const run = await bench.run(line);
    expect(traceback(run)[0]).toBe(message);
    expect(asked()).toEqual([]);
  });
});

test('--list sorts by time, however a service writes it', async () => {
  const times = ['2026-03-04T05:00:00Z', '2026-03-04T05:00:00.5Z', '2026-03-04T06:30:00+02:00'];
  kept = times.map((time, at) => ({
    id: `ann_${at}`,
    datasets: ['web'],
    time,
    type: 'note',
    title: `t${at}`,
  }));
  const [list = ''] = shown(await bench.run('%annotate --list'));
  expect([...list.matchAll(/ann_\d/g)].flat()).toEqual(['ann_2', 'ann_0', 'ann_1']);
});

test('--list shows the annotations of the named datasets in the time range, in order', async () => {
  await bench.run('%annotate Later --time 2026-03-04T05:00Z --dataset web');
  await bench.run(
    '%annotate "<b>Sooner" --time 2026-03-04T04:30Z --end now --dataset web --url https://example.org',
  );
  const run = await bench.run('%%time last 1h\n%annotate --list --dataset web');
  expect(asked().at(-1)).toEqual([
    'GET',
    path,
    { datasets: 'web', start: '2026-03-04T04:06:07.123456789Z', end: '2026-03-04T05:06:07.123456789Z' },
  ]);
  const lines =
    shown(run)[0]
      ?.split('\n')
      .map(line => line.trim().split(/ {2,}/)) ?? [];
  expect([lines[0], ...lines.slice(2)]).toEqual([
    ['2 annotations of web, last 1h'],
    ['time', 'end', 'type', 'title', 'datasets', 'description', 'url', 'id'],
    [
      '2026-03-04T04:30:00Z',
      '2026-03-04T05:06:07.123456789Z',
      'note',
      '<b>Sooner',
      'web',
      'https://example.org',
      'ann_1',
    ],
    ['2026-03-04T05:00:00Z', 'note', 'Later', 'web', 'ann_0'],
  ]);
  const html = run.outputs.flatMap(output => ('data' in output ? [String(output.data['text/html'])] : []));
  expect(html[0]).toContain('&#60;b&#62;Sooner');
  expect(html[0]).not.toContain('<a ');
});

test('--delete deletes an annotation by its id', async () => {
  await bench.run('%annotate x --time 2026-03-04 --dataset web');
  expect(printed(await bench.run('%annotate --delete ann_0'))).toBe('Deleted the annotation ann_0.\n');
  expect(kept).toEqual([]);
  expect(traceback(await bench.run('%annotate --delete ann_0'))).toEqual([
    'not-found: there is no annotation ann_0',
    expect.stringContaining('`%annotate --list` lists the ids of those in the time range.'),
  ]);
});
