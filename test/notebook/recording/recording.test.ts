import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AnswerStore } from '../../../kernel/notebook/recording/recording-store.js';
import { tabular } from '../../api/service.js';
import { notices, realBench } from '../real-bench.js';
import {
  type Bench,
  type CellRun,
  everyday,
  printed,
  queries,
  shown,
  startBench,
  traceback,
} from '../session.js';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'apl-recording-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const unreachable = () => ({
  connect: async () => {
    throw new Error('the service is not there');
  },
  close: () => undefined,
});

async function withBench<T>(
  options: Parameters<typeof startBench>[0],
  use: (bench: Bench) => Promise<T>,
): Promise<T> {
  const bench = await startBench(options);
  try {
    return await use(bench);
  } finally {
    await bench.close();
  }
}

const answers = async () => (await readdir(directory)).filter(name => name.endsWith('.answer'));

const real = realBench({
  web: [
    { _time: '2026-01-02T10:00:00Z', host: 'a', ms: 5 },
    { _time: '2026-01-02T11:00:00Z', host: 'b', ms: 50 },
  ],
});

const cells = [
  '%time last 2 months',
  'hosts << web | summarize n = count(), ms = sum(ms) by host',
  'hosts | where n > 0 | join (web) on host | project host, n, ms, _time',
  'web | where host == "zz"',
  '%datasets',
  'web | nope',
  '%param wanted = "b"',
  'web | where host == wanted | project host, ms',
  '%compare -1d\nweb | summarize count()',
  '%star --new "Hosts"\nweb | summarize count() by host',
  '%stars',
];

const told = ({ outcome, outputs }: CellRun) => [outcome, outputs];

describe('a recording', () => {
  test('is named with its start above its results and above queries that read them', async () => {
    await real().run(`%cache record "${directory}"`);
    const own = await real().run('recorded << web | summarize n = count() by host');
    await real().run('%cache off');
    const as = 'contains a recorded response, as of 2026-03-04T05:06:07.123456789Z.';
    expect(notices(own)).toContain(`The result ${as}`);
    expect(notices(await real().run('recorded | count'))).toContain(`\`recorded\` ${as}`);
    expect(notices(await real().run('print 1'))).toEqual([]);
  });

  test('is readable by this user only', async () => {
    const own = join(directory, 'own');
    await real().run(`%cache record "${own}"`);
    await real().run('%cache off');
    expect((await stat(own)).mode & 0o777).toBe(0o700);
  });

  test('is named once above a recorded query over a recorded result', async () => {
    await real().run(`%cache record "${directory}"`);
    await real().run('recorded << web | summarize n = count() by host');
    const both = await real().run('recorded | count');
    await real().run('%cache off');
    expect(notices(both)).toEqual([
      'The result contains a recorded response, as of 2026-03-04T05:06:07.123456789Z.',
    ]);
  });

  test('replays every output byte for byte without a service', async () => {
    await real().run(`%cache record "${directory}"`);
    const before: unknown[] = [];
    for (const cell of cells) before.push(told(await real().run(cell)));
    await real().run('%cache off');
    await withBench({ local: unreachable }, async bench => {
      expect(traceback(await bench.run(`%cache replay "${directory}"`))).toEqual([]);
      const after: unknown[] = [];
      for (const cell of cells) after.push(told(await bench.run(cell)));
      expect(after).toEqual(before);
      expect(bench.service.seen).toEqual([]);
    });
  });

  test('does not match another query, range, parameter or limit', async () => {
    await real().run('%param wanted = "b"');
    await real().run(`%cache record "${directory}"`);
    await real().run('%%time 2026-01-02\nweb | where host == wanted  // the slow one\n| project host');
    await real().run('%cache off');
    await withBench({ local: unreachable }, async bench => {
      await bench.run(`%cache replay "${directory}"`);
      await bench.run('%param wanted = "b"');
      const same = '%%time 2026-01-02\nweb\n  | where host==wanted | project host';
      expect(traceback(await bench.run(same))).toEqual([]);
      for (const other of [
        same.replace('01-02', '01-03'),
        same.replace('==', '!='),
        `%%limit 5\n${same}`,
        same.replace('project host', 'project ms'),
      ])
        expect(traceback(await bench.run(other))[0]).toBe(
          `not-recorded: could not run a query: the recording ${directory} has no response for it`,
        );
      await bench.run('%param wanted = "a"');
      expect(traceback(await bench.run(same))[0]).toContain('has no response for it');
    });
  });

  test.each([
    [
      'one bit of the data',
      (bytes: Buffer) => bytes.fill((bytes.at(-20) ?? 0) ^ 1, bytes.length - 20, bytes.length - 19),
    ],
    ['the end', (bytes: Buffer) => bytes.subarray(0, -5)],
    ['everything', () => Buffer.alloc(0)],
    ['the checksum', (bytes: Buffer) => bytes.fill('0', 0, 64)],
  ])('with damage to %s is refused', async (_, damage) => {
    await real().run(`%cache record "${directory}"`);
    await real().run('%%time 2026-01-02\nweb | count');
    await real().run('%cache off');
    for (const name of await answers()) {
      const file = join(directory, name);
      await writeFile(file, damage(await readFile(file)));
    }
    await withBench({ local: unreachable }, async bench => {
      await bench.run(`%cache replay "${directory}"`);
      expect(traceback(await bench.run('%%time 2026-01-02\nweb | count'))[0]).toMatch(
        /^recording-damaged: the recorded response .*\.answer is damaged$/,
      );
    });
  });

  test('in `auto` mode requests missing results, and again after a dataset changed', async () => {
    let rows = 1;
    const reply: typeof everyday = seen =>
      seen.path === '/v1/local/datasets/web'
        ? { body: { id: 'web', name: 'web', description: '', kind: 'events', rows } }
        : everyday(seen);
    await withBench({ reply }, async bench => {
      await bench.run(`%cache auto "${directory}"`);
      const asked = async () => {
        const before = queries(bench.service).length;
        await bench.run('%%time 2026-01-02\nweb | count');
        return queries(bench.service).length - before;
      };
      expect([await asked(), await asked()]).toEqual([1, 0]);
      rows = 2;
      expect([await asked(), await asked()]).toEqual([1, 0]);
      await bench.run('%cache off');
      expect(await asked()).toBe(1);
    });
  });

  test('resolves relative ranges from its start', async () => {
    await AnswerStore.begin(directory, { nanos: 0n, text: '2026-02-03T04:05:06Z' });
    await withBench({}, async bench => {
      await bench.run(`%cache auto "${directory}"`);
      await bench.run('%time last 1h');
      await bench.run('web | count');
      expect(queries(bench.service).at(-1)).toMatchObject({
        startTime: '2026-02-03T03:05:06Z',
        endTime: '2026-02-03T04:05:06Z',
      });
    });
  });

  test('contains no token, and no query or parameter in plain text', async () => {
    const token = 'xaat-11111111-2222-3333-4444-555555555555';
    const leaks = (body: string) => (body.includes('leak') ? token : 'fine');
    await withBench(
      {
        environment: service => ({
          deployment: 'environment',
          url: `${service.url}/base`,
          token,
          orgId: 'org-77',
        }),
        reply: ({ body }) => ({
          headers: { 'x-axiom-trace-id': 'trace-1', 'set-cookie': `session=${token}`, 'x-who': token },
          body: tabular([{ name: 'n', type: 'string' }], [[leaks(body)]]),
        }),
      },
      async bench => {
        await bench.run(`%cache record "${directory}"`);
        await bench.run(`%param secret = "${token}" other = "parameter-4711"`);
        const plain = `web | where a == "${token}" and b == secret and c == other // ${token}`;
        expect(traceback(await bench.run(plain))).toEqual([]);
        const leaked = await bench.run('web | where leak == 1');
        expect(shown(leaked).join('\n')).toContain('was not recorded because it contains an access token');
      },
    );
    const contents = await Promise.all(
      (await readdir(directory)).map(async name => {
        const bytes = await readFile(join(directory, name));
        const key = name.split('.')[0] ?? '';
        const store = await AnswerStore.open(directory);
        const kept = name.endsWith('.answer') ? await store?.read(key) : undefined;
        return [name, bytes.toString('latin1'), kept && Buffer.from(kept.body).toString()].join('\n');
      }),
    );
    expect(await answers()).toHaveLength(1);
    for (const secret of [token, 'parameter-4711', 'org-77', 'where', '/base'])
      expect(contents.filter(text => text.includes(secret))).toEqual([]);
  });

  test('is limited in size and refuses entries beyond that', async () => {
    const store = await AnswerStore.begin(directory, { nanos: 0n, text: '2026-01-01T00:00:00Z' }, 300);
    const facts = { status: 200, headers: {}, elapsedMs: 1, body: Buffer.from('{}') };
    expect(await store.write('a'.repeat(64), facts)).toBe(true);
    expect(await store.write('b'.repeat(64), facts)).toBe(true);
    expect(await store.write('c'.repeat(64), facts)).toBe(false);
    expect(await store.write('a'.repeat(64), facts)).toBe(true);
    expect((await AnswerStore.open(directory))?.bytes).toBe(store.bytes);
    expect(store.bytes).toBeLessThanOrEqual(300);
  });

  test('keeps other files in its directory and replaces its own', async () => {
    await writeFile(join(directory, 'notes.txt'), 'mine');
    await real().run(`%cache record "${directory}"`);
    await real().run('%%time 2026-01-02\nweb | count');
    expect(await answers()).not.toEqual([]);
    await real().run(`%cache record "${directory}"`);
    expect(await readdir(directory)).toEqual(['notes.txt', 'recording.json']);
    await real().run('%cache off');
  });
});

test.each([
  ['%cache replay nowhere', '%cache: /data/nowhere has no recording'],
  ['%cache tape x', '%cache: tape is not record, replay, auto or off'],
  ['%cache record', '%cache: record needs a directory'],
  ['%cache off x', '%cache: off takes no directory'],
])('refuses %s', async (line, message) => {
  expect(traceback(await real().run(line))[0]).toBe(`magic: ${message}`);
  expect(printed(await real().run('%cache'))).toContain('neither recorded nor replayed');
});
