import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Reply, tabular } from '../../api/service.js';
import { notices, realBench } from '../real-bench.js';
import { everyday, startBench } from '../session.js';

const none = tabular([{ name: 'n', type: 'integer' }], [[0]], { rowsExamined: 0, rowsMatched: 0 });

const uncounted = tabular([{ name: 'n', type: 'integer' }], [[5]], {
  ...{ rowsExamined: 0, rowsMatched: 0 },
  messages: [{ priority: 'warn', count: 1, code: 'not_counted', msg: 'Not counted.' }],
});

/** Returns an answer without its numbers of examined and matched rows. */
function silent(values: readonly number[]): object {
  const { status, ...rest } = tabular([{ name: 'n', type: 'integer' }], [values]);
  const { rowsExamined, rowsMatched, ...others } = status;
  return { ...rest, status: others };
}

const old = { body: tabular([{ name: '_time', type: 'datetime' }], [['2026-01-31T10:00:00Z']]) };

const levels = ['error', 'info', 'info', 'warn', 'info'];

/** An event every five seconds around a midnight of 2015, a single host that night, and two events in the last hour. */
const bench = realBench({
  nginx: Array.from({ length: 500 }, (_, index) => ({
    _time: new Date(Date.UTC(2015, 9, 30, 23, 58) + index * 5_000).toISOString(),
    level: levels[index % 5],
    status: 200 + index,
    'odd `name`': 'a`b<i>',
  })),
  hosts: [{ _time: '2015-10-31T00:00:00Z', host: 'a', level: 'error' }],
  fresh: [
    { _time: '2026-03-04T05:00:00Z', host: 'a', level: 'error' },
    { _time: '2026-03-04T05:01:00Z', host: 'b', level: 'info' },
  ],
  stray: [
    { _time: '1969-07-20T20:17:40Z', host: 'a' },
    { _time: '2015-10-31T00:00:00Z', host: 'a' },
    { _time: '2026-03-04T05:01:00Z', host: 'b' },
  ],
});

const held = 'It has 500 events, 2015-10-30 23:58 to 2015-10-31 00:39: `%time 2015-10-30..2015-11-01`';
const night = '%%time 2015-10-30..2015-11-01\n';
const events = '500 events of `nginx` in 2015-10-30 .. 2015-11-01';

describe('an empty result reports which data exists', () => {
  test.each<readonly [string, readonly string[]]>([
    ['nginx', [`\`nginx\` has no events in last 1h. ${held}`]],
    ['nginx | summarize min(_time), max(_time), count()', [`\`nginx\` has no events in last 1h. ${held}`]],
    ['nginx | summarize count() by level', [`\`nginx\` has no events in last 1h. ${held}`]],
    ['nginx | make-series count() on _time step 10m', [`\`nginx\` has no events in last 1h. ${held}`]],
    ['nginx | count', [`\`nginx\` has no events in last 1h. ${held}`]],
    [
      '%%time 2015-10-31T00:00:01Z 2015-10-31T00:00:03Z\nnginx | count',
      [`\`nginx\` has no events in 2015-10-31T00:00:01Z .. 2015-10-31T00:00:03Z. ${held}`],
    ],
    ['nginx | getschema | count', []],
    [
      '%%time all\nnginx | where status > 9000',
      [
        'None of the 500 events of `nginx` at any time matches.',
        '`status > 9000` matches no event: `status` ranges from `200` to `699`.',
      ],
    ],
    [
      'nginx | union hosts | count',
      [
        `\`nginx\` has no events in last 1h. ${held}`,
        '`hosts` has no events in last 1h. It has 1 event, 2015-10-31 00:00: `%time 2015-10-31`',
      ],
    ],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(code))).toEqual(texts);
  });
});

describe('an empty result names the unmet condition and the values of its field', () => {
  test.each<readonly [string, readonly string[]]>([
    [
      "nginx | where level == 'ERROR'",
      [
        `None of the ${events} matches.`,
        "`level == 'ERROR'` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100); did you mean `error`? `=~` ignores case.",
      ],
    ],
    [
      "nginx | where level == 'ERROR' | count",
      [
        `None of the ${events} matches.`,
        "`level == 'ERROR'` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100); did you mean `error`? `=~` ignores case.",
      ],
    ],
    [
      "nginx | where status > 100 and level =~ 'ERR.*'",
      [
        `None of the ${events} matches.`,
        "`level =~ 'ERR.*'` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100); `=~` compares whole strings, `matches regex` takes a pattern.",
      ],
    ],
    [
      "nginx | where level has 'err'",
      [
        `None of the ${events} matches.`,
        '`level has \'err\'` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100); `has` finds whole words, and `level contains "err"` matches 100.',
      ],
    ],
    [
      "nginx | where level has 'none'",
      [
        `None of the ${events} matches.`,
        "`level has 'none'` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100).",
      ],
    ],
    [
      'nginx | where status > 5000',
      [
        `None of the ${events} matches.`,
        '`status > 5000` matches no event: `status` ranges from `200` to `699`.',
      ],
    ],
    [
      "let x = 'ERROR'; nginx | where level in (x, 'FATAL')",
      [
        `None of the ${events} matches.`,
        "`level in (x, 'FATAL')` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100).",
      ],
    ],
    [
      "nginx | where level == 'error' | where status == 201",
      [
        `None of the ${events} meets all conditions: \`level == 'error'\` matches 100, \`status == 201\` matches 1.`,
      ],
    ],
    [
      "nginx | where ['odd `name`'] == 'x'",
      [
        `None of the ${events} matches.`,
        "`['odd 'name''] == 'x'` matches no event: `['odd 'name'']` has the values `a'b<i>` (500).",
      ],
    ],
    [
      "nginx | where level == 'none' | make-series count() on _time step 1h",
      [
        `None of the ${events} matches.`,
        "`level == 'none'` matches no event: `level` has the values `info` (300), `error` (100), `warn` (100).",
      ],
    ],
    ['nginx | summarize n = count() by level | where n > 1000', [`The query returns none of the ${events}.`]],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(night + code))).toEqual(texts);
  });
});

describe('a joined table without rows in the range is named', () => {
  const hosts = '`hosts` has no events in last 1h. It has 1 event, 2015-10-31 00:00: `%time 2015-10-31`';

  test.each<readonly [string, readonly string[]]>([
    ['fresh | lookup hosts on host', [hosts]],
    ['fresh | join kind=leftouter (hosts) on host | summarize count()', [hosts]],
    ["datatable(host: string)['a'] | lookup hosts on host", [hosts]],
    [
      '%%time 2015-10-30..2015-10-31\nnginx | lookup hosts on level',
      [
        '`hosts` has no events in 2015-10-30 .. 2015-10-31. It has 1 event, 2015-10-31 00:00: `%time 2015-10-31`',
      ],
    ],
    ['%%time 2015-10-30..2015-10-31T00:00:01Z\nnginx | lookup hosts on level', []],
    ['%%time 2015-10-31T00:00Z..2015-10-31T00:01Z\nnginx | lookup hosts on level', []],
    ['fresh | join (fresh) on host', []],
    ['fresh | count', []],
    ['fresh | make-series count() on _time step 10m', []],
    ["fresh | where level == 'info'", []],
    ['print x = 1', []],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(code))).toEqual(texts);
  });
});

describe('an empty result of a hosted dataset names only the newest event', () => {
  test.each<readonly [string, (apl: string) => Reply, readonly string[]]>([
    [
      'if there is one',
      apl =>
        apl.includes('limit 1')
          ? { body: tabular([{ name: '_time', type: 'datetime' }], [['2026-01-31T10:00:00Z']]) }
          : { body: none },
      ['`web` has no events in last 1h. Its newest event is from 2026-01-31 10:00: `%time 2026-01-31`'],
    ],
    ['unless there is none', () => ({ body: none }), ['`web` has no events in last 1h.']],
    [
      'unless the request for it fails',
      apl => (apl.includes('limit 1') ? { status: 500, body: 'no' } : { body: none }),
      ['`web` has no events in last 1h.'],
    ],
    ['unless the service did not count', () => ({ body: uncounted }), ['Not counted.']],
    ['unless rows came without counts', apl => (apl.includes('limit 1') ? old : { body: silent([5]) }), []],
    [
      'if no rows came without counts',
      apl => (apl.includes('limit 1') ? old : { body: silent([]) }),
      ['`web` has no events in last 1h. Its newest event is from 2026-01-31 10:00: `%time 2026-01-31`'],
    ],
    [
      'unless no rows came without counts and the request for it fails',
      apl => (apl === 'web | count' ? { body: silent([]) } : { status: 500, body: 'no' }),
      ['No row in this time range matched.'],
    ],
  ])('%s', async (_, reply, texts) => {
    const hosted = await startBench({
      environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-1' }),
      reply: seen => (seen.path.endsWith('_apl') ? reply(JSON.parse(seen.body).apl) : everyday(seen)),
    });
    const found = notices(await hosted.run('web | count'));
    await hosted.close();
    expect(found.slice(1)).toEqual(texts);
  });
});

test('does not report events as missing if a hosted service skipped them by a condition', async () => {
  const newest = { body: tabular([{ name: '_time', type: 'datetime' }], [['2026-01-31T10:00:00Z']]) };
  const counts = ['n', 'matched', 'c0'].map(name => ({ name, type: 'integer' }));
  const values = [
    { name: 'level', type: 'string' },
    { name: 'n', type: 'integer' },
  ];
  const hosted = await startBench({
    environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-1' }),
    reply: seen => {
      if (!seen.path.endsWith('_apl')) return everyday(seen);
      const { apl } = JSON.parse(seen.body);
      if (apl.includes('limit 1')) return newest;
      if (apl.includes('countif')) return { body: tabular(counts, [[5], [0], [0]]) };
      return { body: apl.endsWith('| count') ? none : tabular(values, [['info'], [5]]) };
    },
  });
  const found = notices(await hosted.run('%%time 2026-01-01..2026-02-01\nweb | where level == "x" | count'));
  await hosted.close();
  expect(found.slice(1)).toEqual([
    'None of the 5 events of `web` in 2026-01-01 .. 2026-02-01 matches.',
    '`level == "x"` matches no event: `level` has the values `info` (5).',
  ]);
});

describe('a peek with fewer events than requested reports where the dataset has more', () => {
  const older = '2 events, 1969-07-20 20:17 to 2015-10-31 00:00: `%time 1969-07-20..2015-11-01`';

  test.each<readonly [string, readonly string[]]>([
    ['%peek stray', [`\`stray\` has more outside last 1h: ${older}`]],
    ['%peek stray 2', [`\`stray\` has more outside last 1h: ${older}`]],
    ['%peek stray 1', []],
    ['%%time all\n%peek stray', []],
    ['%%time 1969-07-20..2015-11-01\n%peek stray 2', []],
    [
      '%%time 1969-07-20..2015-11-01\n%peek stray',
      ['`stray` has more outside 1969-07-20 .. 2015-11-01: 1 event, 2026-03-04 05:01: `%time 2026-03-04`'],
    ],
    [
      '%%time 2015-10-31\n%peek stray',
      [
        '`stray` has more outside 2015-10-31 (UTC): 2 events, 1969-07-20 20:17 to 2026-03-04 05:01: `%time 1969-07-20..2026-03-05`',
      ],
    ],
    ['%peek fresh', []],
    ['%peek nginx', [`\`nginx\` has no events in last 1h. ${held}`]],
    ['stray', []],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(code))).toEqual(texts);
  });

  test.each<readonly [string, (apl: string) => Reply, readonly string[]]>([
    [
      'with the newest event before the range of a hosted dataset',
      apl => ({
        body: tabular(
          [{ name: '_time', type: 'datetime' }],
          [[apl.endsWith('limit 1') ? '2026-01-31T10:00:00Z' : '2026-03-04T05:00:00Z']],
        ),
      }),
      ['`web` also has older events, the newest from 2026-01-31 10:00: `%time 2026-01-31`'],
    ],
    [
      'but not if a hosted dataset fails to report it',
      apl =>
        apl.endsWith('limit 1')
          ? { status: 500, body: 'no' }
          : { body: tabular([{ name: '_time', type: 'datetime' }], [['2026-03-04T05:00:00Z']]) },
      [],
    ],
  ])('%s', async (_, reply, texts) => {
    const windows: string[] = [];
    const hosted = await startBench({
      environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-1' }),
      reply: seen => {
        if (!seen.path.endsWith('_apl')) return everyday(seen);
        const { apl, startTime, endTime } = JSON.parse(seen.body);
        windows.push(`${startTime} ${endTime}`);
        return reply(apl);
      },
    });
    await hosted.run('%peek web 1');
    const asked = windows.splice(0).length - 1;
    const found = notices(await hosted.run('%peek web'));
    await hosted.close();
    expect(found).toEqual(texts);
    const [start] = (windows[0] ?? '').split(' ');
    expect(windows.slice(1)).toEqual([`1970-01-01T00:00:00Z ${start}`]);
    expect(asked).toBe(0);
  });
});

/** Filters as APL and as a predicate on minutes after the first event. */
const filters: readonly (readonly [string, (row: number) => boolean])[] = [
  ['', () => true],
  ["| where level == 'error'", row => row % 5 === 0],
  ["| where level == 'ERROR'", () => false],
  ['| where status between (300 .. 310)', row => row >= 100 && row <= 110],
  ["| where status > 650 and level == 'warn'", row => row > 450 && row % 5 === 3],
  ["| where level in ('none', 'error') | where status == 201", () => false],
];
const tails = [
  '',
  '| count',
  '| summarize max(status), count()',
  '| summarize count() by level',
  '| project status',
  '| extend x = status * 2 | summarize avg(x)',
  '| sort by status asc | limit 3',
  '| make-series count() on _time step 10m',
];

test('only empty results are explained, for any range and query', async () => {
  const start = Date.UTC(2015, 9, 30, 23, 58);
  const minute = fc.integer({ min: -30, max: 70 });
  await fc.assert(
    fc.asyncProperty(
      minute,
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom(...filters),
      fc.constantFrom(...tails),
      async (from, length, [filter, matches], tail) => {
        const [left, right] = [from, from + length].map(minutes => start + minutes * 60_000);
        const range = [left, right].map(time => new Date(time ?? 0).toISOString()).join(' ');
        const rows = Array.from({ length: 500 }, (_, row) => row).filter(row => {
          const time = start + row * 5_000;
          return time >= (left ?? 0) && time < (right ?? 0);
        });
        const found = rows.some(matches);
        const texts = notices(await bench().run(`%%time ${range}\nnginx ${filter} ${tail}`));
        const explains = texts.some(text =>
          rows.length === 0 ? text.includes(held) : /^None of the /.test(text),
        );
        expect([explains, texts.length > 0]).toEqual([!found, !found]);
        if (!found && rows.length > 0) expect(texts[0]).toContain(`None of the ${rows.length} event`);
      },
    ),
    { numRuns: 30 },
  );
});
