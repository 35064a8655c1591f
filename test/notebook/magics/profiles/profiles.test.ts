import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { consoleLink } from '../../../../kernel/api/console.js';
import { type Service, startService } from '../../../api/service.js';
import { type Bench, everyday, printed, queries, shown, startBench, traceback } from '../../session.js';

let bench: Bench;
let other: Service;
const secret = 'xaat-11111111-2222-3333-4444-55555555abcd';

beforeEach(async () => {
  bench = await startBench();
  other = await startService(everyday);
});

afterEach(async () => {
  await bench.close();
  await other.close();
});

/** Writes the profile `prod`, which sends its queries to `other`. */
async function configure(more = ''): Promise<void> {
  const text = `[deployments.prod]\nurl = "${other.url}"\ntoken = "${secret}"\n${more}`;
  await writeFile(join(bench.homeDir, '.axiom.toml'), text);
}

test('%use rereads the profiles file and shows where queries go', async () => {
  await bench.run('print 1');
  expect(shown(await bench.run('%use')).join('\n')).not.toContain('prod');
  await configure('edge_url = "https://eu.edge.example"\n');
  const [list = ''] = shown(await bench.run('%use'));
  expect(
    list
      .split('\n')
      .find(line => line.startsWith('prod'))
      ?.split(/ {2,}/),
  ).toEqual(['prod', `${other.url}, queries to https://eu.edge.example`, 'api token, ends in abcd']);
  await appendFile(join(bench.homeDir, '.axiom.toml'), '[deployments.late]\nurl = "https://late.example"\n');
  expect(shown(await bench.run('%use')).join('\n')).toContain('https://late.example');
  expect(printed(await bench.run('%use prod'))).toBe(
    `Using prod (${other.url}, queries to https://eu.edge.example)\n`,
  );
});

test('%whoami shows only the kind and the end of the token, and where queries go', async () => {
  await configure('edge_url = "https://eu.edge.example"\norg_id = "acme"\n');
  const run = await bench.run('%%on prod\n%whoami');
  const lines = shown(run).join('\n').split('\n');
  expect(lines.map(line => line.split(/ {2,}/))).toEqual(
    expect.arrayContaining([
      ['profile', 'prod'],
      ['address', other.url],
      ['query address', 'https://eu.edge.example'],
      ['token', 'api token, ends in abcd'],
      ['organization', 'acme'],
    ]),
  );
  expect(JSON.stringify(run)).not.toContain(secret.slice(0, -4));
});

const trino = 'engine = "trino"\nuser = "ann"\ncatalog = "hive"\nschema = "logs"';

test.each([
  ['an Axiom deployment', 'token = "xaat-1"', 'https://h.example', ', with your token'],
  ['one whose token is typed', '', 'https://h.example', ', with your token'],
  [
    'one with an edge',
    'token = "xaat-1"\nedge_url = "https://eu.example"',
    'https://h.example, queries to https://eu.example',
    ', with your token',
  ],
  [
    'a cluster with a password',
    `${trino}\npassword = "p"`,
    'https://h.example, hive.logs of a Trino cluster',
    ', with your token',
  ],
  ['a cluster without a secret', trino, 'https://h.example, hive.logs of a Trino cluster', ''],
])('a session that cannot ask sends no queries to %s', async (_, lines, place, secret) => {
  const careful = await startBench({ allowed: [] });
  onTestFinished(() => careful.close());
  const text = `[deployments.far]\nurl = "https://h.example"\n${lines}\n`;
  await writeFile(join(careful.homeDir, '.axiom.toml'), text, { mode: 0o600 });
  expect(traceback(await careful.run('%use far'))[0]).toBe(
    `magic: %use would send queries to far (${place})${secret}, but this session cannot ask for consent`,
  );
});

test('%use does not show the end of a token that is too short', async () => {
  await writeFile(
    join(bench.homeDir, '.axiom.toml'),
    `[deployments.prod]\nurl = "${other.url}"\ntoken = "xapt-1234567890"\n`,
  );
  expect(shown(await bench.run('%use')).join('\n')).toMatch(/personal token$/m);
});

describe('%%on', () => {
  test.each(['on', 'use', 'connect'])('the cell form of %s applies to its own cell only', async name => {
    await configure();
    const there = await bench.run(`%%${name} prod\nweb | count`);
    expect([queries(other).length, queries(bench.service).length]).toEqual([1, 0]);
    expect(shown(there).join('\n')).toContain('prod');
    await bench.run('web | count');
    expect([queries(other).length, queries(bench.service).length]).toEqual([1, 1]);
    expect(other.seen[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(JSON.stringify(bench.service.seen)).not.toContain(secret);
  });

  test('restores the profile after a cell that fails or is stopped', async () => {
    await configure();
    other.answer(() => ({ status: 400, body: { code: 400, message: 'no' } }));
    expect((await bench.run('%%on prod\nweb | count')).outcome.status).toBe('error');
    const controller = new AbortController();
    other.answer(() => () => controller.abort());
    await bench.run('%%on prod\nweb | count', { signal: controller.signal });
    await bench.run('web | count');
    expect(queries(bench.service).length).toBe(1);
  });

  test('keeps the profile of each result', async () => {
    await configure();
    await bench.run('%%on prod\nhere << web | count');
    await bench.run('there << web | count');
    const [list = ''] = shown(await bench.run('%results'));
    expect(list).toMatch(/here/);
    expect(shown(await bench.run('%show-query')).join()).toContain('profile: local');
  });

  test('%%on local switches to the local service for one cell', async () => {
    await configure();
    await bench.run('%use prod');
    await bench.run('%%on local\nweb | count');
    await bench.run('web | count');
    expect([queries(other).length, queries(bench.service).length]).toEqual([1, 1]);
  });

  test.each([
    ['%%on', 'give the name of a profile'],
    ['%%on nope', 'there is no profile nope'],
  ])('refuses %s', async (line, message) => {
    await configure();
    expect(traceback(await bench.run(`${line}\nweb`)).join('\n')).toContain(message);
    expect(queries(other).length).toBe(0);
  });
});

describe('%link', () => {
  const of = {
    query: 'web | count',
    rangeLabel: 'last 1h',
    startTime: '2026-01-01T00:00:00Z',
    endTime: '2026-01-01T01:00:00Z',
  };
  const profile = { profileName: 'prod', url: 'https://api.eu.axiom.co', orgId: 'my org' };
  const formOf = (link: string) => JSON.parse(new URL(link).searchParams.get('initForm') ?? '');

  test('opens the query in the console of the organization', () => {
    const link = consoleLink(profile, of, false);
    expect(link.slice(0, link.indexOf('?'))).toBe('https://app.eu.axiom.co/my%20org/query');
    expect(formOf(link)).toEqual({ apl: 'web | count', queryOptions: { quickRange: '1h' } });
  });

  test.each([
    ['last 1h', true],
    ['2026-01-01..2026-01-02', false],
    ['last 3 months', false],
  ])('has absolute times for the range %s, if absolute is %s', (rangeLabel, isAbsolute) => {
    const { queryOptions } = formOf(consoleLink(profile, { ...of, rangeLabel }, isAbsolute));
    expect(queryOptions).toEqual({ startTime: of.startTime, endTime: of.endTime });
  });

  test.each([
    [{ ...profile, url: 'https://proxy.example' }, 'the console URL for proxy.example is unknown'],
    [{ profileName: 'prod', url: 'https://api.axiom.co' }, 'the profile prod does not name its organization'],
  ])('is refused if the console is unknown', (endpoint, message) => {
    expect(() => consoleLink(endpoint, of, false)).toThrow(message);
  });

  test('is refused for a local result and before any query', async () => {
    expect(traceback(await bench.run('%link')).join('\n')).toContain('no query has run yet');
    expect(traceback(await bench.run('%link nope')).join('\n')).toContain('there is no result nope');
    expect(traceback(await bench.run('%link\nweb | count')).join('\n')).toContain('which has no console');
  });

  test('shows a link below the result, with the query escaped', async () => {
    await writeFile(
      join(bench.homeDir, '.axiom.toml'),
      `[deployments.prod]\nurl = "http://api.invalid:81"\nedge_url = "${other.url}"\ntoken = "${secret}"\norg_id = "acme"\n`,
    );
    other.answer(each => everyday({ ...each, path: '/v1/datasets/_apl' }));
    const run = await bench.run("%%on prod\n%link\nweb | where a == '\"><b>'");
    const html = run.outputs.map(each => ('data' in each ? String(each.data['text/html']) : '')).at(-1);
    expect(html).toContain('<a href="http://app.invalid:81/acme/query?initForm=%7B%22apl%22%3A%22web');
    expect(html).not.toContain('"><b>');
    expect(html).not.toContain(secret);
  });
});
