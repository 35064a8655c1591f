import { mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Seen, tabular } from '../../api/service.js';
import { type Bench, everyday, queries, shown, startBench } from '../session.js';

let bench: Bench;

/** Completion uses cached names only; this fills the cache. */
beforeEach(async () => {
  bench = await startBench();
  await bench.run('%schema');
});

afterEach(() => bench.close());

/** Completes at `$0`; returns the suggestions and the text that they replace. */
async function complete(marked: string) {
  const cursor = marked.indexOf('$0');
  const code = marked.replace('$0', '');
  const { items, from, to } = await bench.handler.complete(code, cursor);
  return { texts: items.map(item => item.text), replaced: code.slice(from, to), items };
}

async function check(marked: string, texts: readonly string[], replaced: string) {
  const found = await complete(marked);
  expect([found.texts, found.replaced]).toEqual([texts, replaced]);
}

describe('a magic line completes', () => {
  test.each<readonly [string, readonly string[], string]>([
    ['%wh$0', ['%whoami'], '%wh'],
    ['%sta$0', ['%star', '%stars'], '%sta'],
    ['%%t$0', ['%%time', '%%tail'], '%%t'],
    ['web\n%wh$0', ['%whoami'], '%wh'],
    ['%star --$0', ['--name', '--new', '--no-run'], '--'],
    ['%star --n$0', ['--name', '--new', '--no-run'], '--n'],
    ['%stars --who $0', ['all', 'team', 'me'], ''],
    ['%stars --who t$0', ['team'], 't'],
    ['%stars --dataset $0', ['web'], ''],
    ['%use $0', ['local'], ''],
    ['%schema w$0', ['web'], 'w'],
    ['%time y$0', ['yesterday'], 'y'],
    ['%import a --format cl$0', ['cloudwatch'], 'cl'],
    ['%nonsense x$0', [], ''],
    ['%echo w$0', [], 'w'],
  ])('%s', check);

  test('file names', async () => {
    await mkdir(join(bench.homeDir, 'logs', 'old'), { recursive: true });
    for (const name of ['a.csv', 'b.csv', 'b c.csv', '.hidden'])
      await writeFile(join(bench.homeDir, 'logs', name), '');
    await check('%import ~/logs/$0', ['~/logs/a.csv', '~/logs/b.csv', '~/logs/old/'], '~/logs/');
    await check('%import ~/logs/b$0', ['~/logs/b.csv'], '~/logs/b');
    await check('%import ~/none/$0', [], '~/none/');
  });

  test('with types: options and their values', async () => {
    const types = async (marked: string) => (await complete(marked)).items.map(item => item.type);
    expect([await types('%stars --w$0'), await types('%stars --who t$0')]).toEqual([['option'], ['value']]);
  });

  test('with its usage', async () => {
    const { items } = await complete('%unst$0');
    expect(items).toEqual([{ text: '%unstar', type: 'magic', signature: '%unstar ID|NAME' }]);
  });
});

describe('a query completes', () => {
  test.each<readonly [string, readonly string[], string]>([
    ['$0', ['web'], ''],
    ['w$0', ['web'], 'w'],
    ["['w$0", ["['web']"], "['w"],
    ['%%time 1h\n\nw$0', ['web'], 'w'],
  ])('dataset names: %s', check);

  test('operators', () => check('web\n| summ$0', ['summarize'], 'summ'));

  test('snippets, with named placeholders', () => {
    const text = 'summarize percentiles_array(field, 50, 95, 99) by bin_auto(_time)';
    return check('web | perc$0', [text], 'perc');
  });

  test('fields', async () => {
    expect((await complete('web | where stat$0')).texts).toEqual(['status']);
    expect((await complete("web | where ['geo$0")).texts).toEqual(["['geo.city']"]);
    expect((await complete("web | where ['du$0")).texts).toEqual(["['duration']"]);
  });

  test.each<readonly [string, readonly string[], string]>([
    ['web | extend zzz = 1 | where zz$0', ['zzz'], 'zz'],
    ['let zzz = 5m\n\nweb | where duration > zz$0', ['zzz'], 'zz'],
    ['let zzz = 5m;\nlet b = zz$0', ['zzz'], 'zz'],
    ['let zzz = web | project yyy = 1\n\nzzz | where yy$0\n\nweb', ['yyy'], 'yy'],
    ['web | count\n\nw$0', ['web'], 'w'],
    ['web | count\n\n$0', ['web'], ''],
    ['web | count\n\n$0\n\nweb | count', ['web'], ''],
    ['n << web | where stat$0', ['status'], 'stat'],
    ['web | where stauts$0', [], 'stauts'],
    ['web | where cit$0', ["['geo.city']", 'column_ifexists'], 'cit'],
    ["web | where ['geo$0'] == 'x'", ["['geo.city']"], "['geo']"],
    ['web | summarize dcounti$0', ['dcountif'], 'dcounti'],
    ['web | where dcounti$0', [], 'dcounti'],
    ['%time 1h\nweb\n| project-a$0', ['project-away'], 'project-a'],
  ])('what is in scope at the cursor: %s', check);

  test('with types, units and signatures', async () => {
    const signatures = (await complete('web | where $0')).items.slice(0, 3).map(item => item.signature);
    expect(signatures).toEqual(['datetime', 'long', 'real, ms']);
    expect((await complete('web | where strle$0')).items[0]?.signature).toBe('strlen(text: string) -> long');
  });

  test('values of a field in the time range, with one query', async () => {
    bench.service.answer(({ path }) =>
      path.endsWith('_apl')
        ? {
            body: tabular(
              [
                { name: 'value', type: 'string' },
                { name: 'n', type: 'integer' },
              ],
              [
                ['Oslo', 'x "y"'],
                [2, 1],
              ],
            ),
          }
        : everyday({ path, method: 'GET' } as Seen),
    );
    const before = queries(bench.service).length;
    await expect
      .poll(async () => (await complete("web | where ['geo.city'] == \"$0")).texts)
      .toEqual(['Oslo"', 'x \\"y\\""']);
    await check("web | where ['geo.city'] == 'O$0'", ['Oslo'], 'O');
    expect(
      queries(bench.service)
        .slice(before)
        .map(query => query.apl),
    ).toEqual([
      "['web'] | where isnotempty(['geo.city']) | summarize n = count() by value = ['geo.city'] | top 50 by n",
    ]);
  });

  test('no values if the service fails', async () => {
    bench.service.answer(() => ({ status: 500 }));
    await check("web | where ['geo.city'] == \"$0", [], '');
  });

  test('while a query runs', async () => {
    let running: ReturnType<Bench['run']> | undefined;
    const response = await new Promise<ServerResponse>(arrived => {
      bench.service.answer(() => arrived);
      running = bench.run('web | count');
    });
    await check('web | where stat$0', ['status'], 'stat');
    response.end('{}');
    expect((await running)?.outcome.status).toBe('error');
  });

  test('from the cache when the service fails', async () => {
    bench.service.answer(() => ({ status: 500 }));
    await check('w$0', ['web'], 'w');
  });

  test('with nothing if the service has never responded', async () => {
    const cold = await startBench({ reply: () => ({ status: 500 }) });
    const { items } = await cold.handler.complete('w', 1);
    await cold.close();
    expect(items).toEqual([]);
  });

  test('once the first request fills an empty cache', async () => {
    const cold = await startBench();
    await expect
      .poll(async () => (await cold.handler.complete('w', 1)).items.map(item => item.text))
      .toEqual(['web']);
    await cold.close();
  });
});

describe('inspection explains', () => {
  test.each<readonly [string, string | undefined]>([
    ['web | where sta$0tus > 1', 'field `status`: integer, of `web`\n\nHTTP status'],
    ['web | where dur$0ation > 1', 'field `duration`: float, in `ms`, of `web`'],
    ["web | where ['geo.c$0ity'] == 1", 'field `geo.city`: string, of `web`'],
    [
      'w$0eb',
      'dataset `web`\n\n- `_time`: datetime\n- `status`: integer\n- `duration`: float\n- `geo.city`: string',
    ],
    ['web | where nothing$0', undefined],
    ['$0', undefined],
  ])('%s', async (marked, text) => {
    const cursor = marked.indexOf('$0');
    const found = await bench.handler.inspect(marked.replace('$0', ''), cursor, 0);
    expect(found?.data['text/plain']).toBe(text);
  });

  test.each<readonly [string, string]>([
    ['print strlen("a")$0', '`strlen(text: string) -> long`'],
    ['print strlen("a"$0)', '`strlen(text: string) -> long`'],
    ['web\n| wh$0ere true', '`T | where predicate`'],
    ['let n$0 = 5m\n\nweb', 'let `n`: timespan'],
    ['let n = 5m\n\nweb | where duration > n$0', 'let `n`: timespan'],
    ['web | count\n\nweb | extend d$0 = 1.5', 'field `d`: float'],
    ['%time 1h\nweb | summarize coun$0t()', '`count() -> long`'],
  ])('%s', async (marked, line) => {
    const cursor = marked.indexOf('$0');
    const found = await bench.handler.inspect(marked.replace('$0', ''), cursor, 0);
    expect(String(found?.data['text/markdown']).split('\n')[0]).toBe(line);
  });

  test('a magic', async () => {
    const found = await bench.handler.inspect('%whoami', 3, 0);
    expect(found?.data['text/plain']).toBe(
      '### %whoami\n\n`%whoami`\n\nShow the profile, its address and the user of its token.\n\nShows only the kind and the last four characters of the token, by which you can find it in the console.',
    );
  });

  test('a function', async () => {
    const found = await bench.handler.inspect('print x = ago(1h)', 12, 0);
    expect(String(found?.data['text/markdown']).split('\n')[0]).toBe('`ago(timespan: timespan) -> datetime`');
  });
});

describe('%help', () => {
  test.each<readonly [string, string]>([
    ['where', '`T | where predicate`'],
    ['summarize', '`T | summarize [name =] aggregate, … [by [name =] expression, …]`'],
    ['!has', '`a !has b`'],
    ['strlen', '`strlen(text: string) -> long`'],
    ['operators', '### Tabular operators'],
    ['functions', '### Functions: string'],
    ['aggregates', '### Aggregates, in summarize and make-series'],
  ])('%s', async (topic, line) => {
    const run = await bench.run(`%help ${topic}`);
    expect(shown(run).map(text => text.split('\n')[0])).toEqual([line]);
  });
});
