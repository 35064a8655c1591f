import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Bench } from '../notebook/session.js';
import { type ClusterBench, clusterBench, deployment } from './bench.js';
import { statement } from './node.js';

const url = inject('trino');

let opened: ClusterBench | undefined;
let bench: Bench;
let run: ClusterBench['run'];

beforeAll(async () => {
  if (url === '') return;
  const deployments = [
    deployment('lake', url, 'memory', 'default'),
    deployment('large', url, 'tpch', 'sf1000'),
    deployment('quick', url, 'memory', 'default', 'approximate = true'),
    deployment('nowhere', url, 'none', 'default'),
    deployment('away', 'http://127.0.0.1:1', 'memory', 'default'),
  ];
  opened = await clusterBench(deployments.join('\n'));
  ({ bench, run } = opened);
  await makeTable('status integer');
}, 600_000);
afterAll(() => opened?.close());

async function makeTable(status: string): Promise<void> {
  await statement(url, 'DROP TABLE IF EXISTS memory.default.events');
  await statement(
    url,
    `CREATE TABLE memory.default.events (ts timestamp(9), ${status}, uri varchar, ms double, n bigint, price decimal(12, 2),
     attrs map(varchar, bigint), tags array(varchar), who row(id bigint, name varchar), ok boolean, day date)`,
  );
  await statement(
    url,
    `INSERT INTO memory.default.events VALUES
     (TIMESTAMP '2026-01-26 15:20:00.123456789', 500, '/a?b=''c''', 1.5, 9223372036854775807, 12.34, map(ARRAY['k'], ARRAY[9007199254740993]), ARRAY['x', 'y'], ROW(7, 'ann'), true, DATE '2026-01-26'),
     (TIMESTAMP '2026-01-26 15:20:59.999999999', 200, '/api/users', nan(), -9223372036854775808, NULL, NULL, ARRAY[], NULL, false, DATE '2026-01-26'),
     (TIMESTAMP '2026-01-26 15:21:00', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
     (TIMESTAMP '1969-12-31 23:59:59.999999999', 404, '/old', -0.0, 0, 0.01, NULL, NULL, NULL, NULL, DATE '1969-12-31')`,
  );
}

/** Returns the rows of a result as lines. */
const rowsOf = async (apl: string) => {
  const text = await run(`%%on lake\n%%time 1960-01-01..2027-01-01\n${apl}`);
  return text.split('\n').map(line => line.trimEnd());
};

describe.skipIf(url === '')('a notebook on a cluster', () => {
  test('switches to the cluster, and lists its tables and fields', async () => {
    expect(await run('%use lake')).toContain(`Using lake (${url}, memory.default of a Trino cluster)`);
    expect(await run('%datasets')).toContain('events');
    expect(await run('events | getschema | project ColumnName, ColumnType')).toContain('_time');
    expect(await run('%whoami')).toMatch(/user +me/);
  });

  test('shows values with every digit', async () => {
    const text = (
      await rowsOf('events | sort by _time asc | project _time, n, ms, price, attrs, tags, who, day | take 4')
    ).join('\n');
    for (const part of [
      '2026-01-26T15:20:00.123456789Z',
      '2026-01-26T15:20:59.999999999Z',
      '1969-12-31T23:59:59.999999999Z',
      '9223372036854775807',
      '-9223372036854775808',
      '12.34',
      '{"k":9007199254740993}',
      '["x","y"]',
      '{"id":7,"name":"ann"}',
    ])
      expect(text.replaceAll(',', '').replaceAll(' ', '')).toContain(part.replaceAll(',', ''));
    expect(text).toContain('NaN (0.0 / 0) or infinite');
  });

  test.each([
    ['events | where uri has "users" | count', '1'],
    ['events | where uri == "/a?b=\'c\'" | count', '1'],
    ['events | where status >= 400 and isnotnull(n) | count', '2'],
    ['events | where attrs.k == 9007199254740993 and tags[1] == "y" | count', '1'],
    [
      'events | where _time between (datetime(2026-01-26T15:20:00.123456789Z) .. datetime(2026-01-26T15:20:00.123456789Z)) | count',
      '1',
    ],
    ['events | where day == datetime(1969-12-31) | count', '1'],
  ])('%s', async (apl, expected) => {
    expect((await rowsOf(apl)).map(line => line.trim())).toContain(expected);
  });

  test('reads only the range of the cell, to the nanosecond', async () => {
    const text = await run(
      '%%on lake\n%%time 2026-01-26T15:20:00.123456790Z..2026-01-26T15:21:00Z\nevents | project uri',
    );
    expect(text).toContain('/api/users');
    expect(text).not.toContain('/a?b');
    expect(text).toContain('1 row');
  });

  test('computes the rest here if the cluster cannot, over the rows that it returns', async () => {
    const text = await run(
      '%%on lake\n%%time 1960-01-01..2027-01-01\nevents | where status == 200 and url_decode(uri) startswith "/api" | extend x = 1 / ms | project p = url_decode(uri), ms, x, n',
    );
    expect(text).toContain('/api/users');
    expect(text.replaceAll(',', '')).toContain('-9223372036854775808');
    expect(text).toContain('1 row');
    const grouped = await run(
      '%%on lake\n%%time 1960-01-01..2027-01-01\nevents | summarize n = count(), s = sum(status) by bin(_time, 365d), p = url_decode(uri)',
    );
    expect(grouped).toContain('/old');
  });

  test('queries a result of the cluster on this machine', async () => {
    const got = await run(
      '%%on lake\n%%time 1960-01-01..2027-01-01\ngot << events | where isnotnull(uri) | project uri, status',
    );
    expect(got).not.toContain('Warning');
    expect(await run('%%on local\ngot | where status == 200 | project translate("/", "-", uri)')).toContain(
      '-api-users',
    );
  });

  describe('with a notebook result beside cluster tables', () => {
    const ugly = String.raw`ugly << datatable(i:long, n:long, x:real, s:string, t:datetime, d:timespan, b:bool, j:dynamic)[
      1, 9223372036854775807, 0.30000000000000004, "'); DROP TABLE events; --\"\\", datetime(2026-03-04T05:06:07.123456789Z), 1ns, true, dynamic({"z": [1.0, "'"], "a": null}),
      2, -9223372036854775807, 5e-324, "\u0000\u2028\n\t 😀", datetime(1677-09-22), -1d, false, dynamic("text"),
      3, 0, -1.7976931348623157e308, "", datetime(2262-04-11), 0s, bool(null), dynamic(123456789012345678),
      4, long(null), real(null), "/api/users", datetime(null), time(null), true, dynamic(null)]`;
    const told = 'The rows of ugly that the query reads were sent to lake with the query.';
    /** Returns the lines that are rows. */
    const rowsIn = (text: string) => text.split('\n').filter(line => /^\d {2}/.test(line));

    beforeAll(async () => {
      if (url !== '') await run(`%%on local\n${ugly}`);
    });

    test.each([
      ['i, n, t, d, b, j, k = j.z[1], none = isnull(j)', '9,223,372,036,854,775,807'],
      ['i, s, h = hash_sha256(s), length = strlen(s)', 'DROP TABLE'],
      ['i, x, third = x == 0.1 + 0.2, least = x * 1e300 > 0, none = isnull(x)', 'true'],
    ])('reads the same values on the cluster as here: %s', async (fields, part) => {
      const here = await run(`%%on lake\nugly | sort by i asc | project ${fields}`);
      const there = await run(
        `%%on lake\nugly | union (events | where status == 1 | project i = n) | sort by i asc | project ${fields}`,
      );
      expect(rowsIn(there)).toEqual(rowsIn(here));
      expect(rowsIn(there).join()).toContain(part);
      expect([here.includes(told), there.includes(told)]).toEqual([false, true]);
    });
    test.each([
      ['events | join kind=inner (ugly) on $left.uri == $right.s | project i, uri', /^4 +\/api\/users$/m],
      [
        'events | lookup kind=leftouter (ugly | project uri = s, i) on uri | summarize i = max(i), n = count()',
        /^4 +4$/m,
      ],
      [
        'events | where uri in ((ugly | project s)) | summarize n = count(), u = max(uri)',
        /^1 +\/api\/users$/m,
      ],
      [
        'ugly | join kind=leftanti (events) on $left.s == $right.uri | summarize n = count(), i = max(i)',
        /^3 +3$/m,
      ],
      [
        'ugly | take 2 | union (events | take 1 | project i = 7) | summarize i = sum(i), n = count()',
        /^10 +3$/m,
      ],
      [
        'events | extend u = url_decode(uri) | join kind=inner (ugly) on $left.u == $right.s | project i, u',
        /^4 +\/api\/users$/m,
      ],
    ])('joins or reads it on the cluster: %s', async (apl, expected) => {
      expect(await run(`%%on lake\n%%time 1960-01-01..2027-01-01\n${apl}`)).toMatch(expected);
    });
    test('refuses a result that is too large to send, and names it', async () => {
      await run('%%on local\nlarge << range n from 1 to 60000 step 1');
      const text = await run('%%on lake\nlarge | join kind=inner (events) on n');
      expect(text).toContain('The result `large` (60,000 rows) is too large to be sent to `lake`');
      expect(await run('%%on lake\nlarge | take 5 | join kind=inner (events) on n')).toContain(
        'is too large',
      );
      await run('%%on lake\nsmall << large | take 5');
      expect(await run('%%on lake\nsmall | join kind=leftanti (events) on n | count')).toMatch(/^ *5$/m);
    });
  });

  test('compares a range with another one', async () => {
    await run('%use lake');
    const range = '%%time 2026-01-26T15:20:30Z..2026-01-26T15:21:30Z';
    await run(`${range}\nevents | summarize n = count() by status`);
    const text = await run('%compare -1m');
    expect(text).toMatch(/^ +200 +2 +0 +2 +null$/m);
    expect(text).toMatch(/^ +500 +0 +1 +-1 +-100$/m);
  });

  test('says that distinct counts are estimated', async () => {
    const text = await run('%%on quick\n%%time 1960-01-01..2027-01-01\nevents | summarize dcount(status)');
    expect(text).toContain('Distinct counts and percentiles are estimated');
  });

  test('reports a catalog missing from the cluster', async () => {
    expect(await run('%%on nowhere\nevents | count')).toContain('The cluster has no catalog of this name.');
  });

  test('reports an unreachable address, first while it retries', async () => {
    expect(await run('%%on away\nevents | count')).toContain('The cluster at 127.0.0.1:1 cannot be reached.');
    expect(bench.passed).toContainEqual(
      expect.stringMatching(/^The cluster at 127\.0\.0\.1:1 cannot be reached; retrying \(\d\.\d s\)$/),
    );
  });

  test('notices that a table has changed', async () => {
    expect(await run('%%on lake\nevents | where status == 1 | count')).toContain('1 row');
    await makeTable('code integer');
    expect(await run('%%on lake\nevents | where status == 1 | count')).toMatch(
      /there is no field `status`|`status`/,
    );
    expect(await run('%%on lake\n%%time 1960-01-01..2027-01-01\nevents | where code == 404 | count')).toMatch(
      /\b1\b/,
    );
    await makeTable('status integer');
  });

  test('cancels the query on the cluster when interrupted', async () => {
    const stop = new AbortController();
    const cell = bench.run(
      '%%on large\n%%time 1990-01-01..2027-01-01\nlineitem | summarize dcount(comment)',
      { signal: stop.signal },
    );
    const state = async () => {
      const rows = await statement(
        url,
        `SELECT state, error_code FROM system.runtime.queries WHERE source = 'apl-kernel' AND query LIKE '%lineitem%' ORDER BY created DESC LIMIT 1`,
      );
      return String(rows[0]?.join(' ') ?? '');
    };
    while (!(await state()).startsWith('RUNNING')) await delay(100);
    stop.abort();
    await cell;
    while ((await state()).startsWith('RUNNING')) await delay(100);
    expect(await state()).toBe('FAILED USER_CANCELED');
  });
});
