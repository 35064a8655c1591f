import { describe, expect, test } from 'vitest';
import { notices, realBench } from './real-bench.js';

const levels = ['error', 'info', 'info', 'warn', 'info'];

/** One event a minute over midnight, two months before now, and some of now. */
const bench = realBench({
  nginx: Array.from({ length: 500 }, (_, index) => ({
    _time: new Date(Date.UTC(2015, 9, 30, 23, 58) + index * 5_000).toISOString(),
    level: levels[index % 5],
    status: 200 + index,
    'odd `name`': 'a`b<i>',
    nothing: index > 499 ? 'never' : null,
  })),
  hosts: [{ _time: '2015-10-31T00:00:00Z', host: 'a', level: 'error' }],
  fresh: [
    { _time: '2026-03-04T05:00:00Z', host: 'a', level: 'error' },
    { _time: '2026-03-04T05:01:00Z', host: 'b', level: 'info' },
  ],
});

const held = 'It holds 500 events, 2015-10-30 23:58 to 2015-10-31 00:39: `%time 2015-10-30..2015-11-01`';
const night = '%%time 2015-10-30..2015-11-01\n';
const events = '500 events of `nginx` in 2015-10-30 .. 2015-11-01';

describe('above an answer from no row it says what there is', () => {
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
    [
      'nginx | union hosts | count',
      [
        `\`nginx\` has no events in last 1h. ${held}`,
        '`hosts` has no events in last 1h. It holds 1 event, 2015-10-31 00:00: `%time 2015-10-31`',
      ],
    ],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(code))).toEqual(texts);
  });
});

describe('where no row matches it says which condition none meets, and what the field holds', () => {
  test.each<readonly [string, readonly string[]]>([
    [
      "nginx | where level == 'ERROR'",
      [
        `None of the ${events} matches.`,
        "`level == 'ERROR'` holds for no event: `level` holds `info` (300), `error` (100), `warn` (100); did you mean `error`? `=~` ignores case.",
      ],
    ],
    [
      "nginx | where level == 'ERROR' | count",
      [
        `None of the ${events} matches.`,
        "`level == 'ERROR'` holds for no event: `level` holds `info` (300), `error` (100), `warn` (100); did you mean `error`? `=~` ignores case.",
      ],
    ],
    [
      "nginx | where status > 100 and level =~ 'ERR.*'",
      [
        `None of the ${events} matches.`,
        "`level =~ 'ERR.*'` holds for no event: `level` holds `info` (300), `error` (100), `warn` (100); `=~` compares whole texts, `matches regex` takes a pattern.",
      ],
    ],
    [
      'nginx | where status > 5000',
      [
        `None of the ${events} matches.`,
        '`status > 5000` holds for no event: `status` lies between `200` and `699`.',
      ],
    ],
    [
      "let x = 'ERROR'; nginx | where level in (x, 'FATAL')",
      [
        `None of the ${events} matches.`,
        "`level in (x, 'FATAL')` holds for no event: `level` holds `info` (300), `error` (100), `warn` (100).",
      ],
    ],
    [
      "nginx | where level == 'error' | where status == 201",
      [
        `None of the ${events} meets all conditions: \`level == 'error'\` holds for 100, \`status == 201\` holds for 1.`,
      ],
    ],
    [
      "nginx | where ['odd `name`'] == 'x'",
      [
        `None of the ${events} matches.`,
        "`['odd 'name''] == 'x'` holds for no event: `['odd 'name'']` holds `a'b<i>` (500).",
      ],
    ],
    [
      "nginx | where level == 'none' | make-series count() on _time step 1h",
      [
        `None of the ${events} matches.`,
        "`level == 'none'` holds for no event: `level` holds `info` (300), `error` (100), `warn` (100).",
      ],
    ],
    [
      'nginx | summarize n = count() by level | where n > 1000',
      [`The query leaves nothing of the ${events}.`],
    ],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(night + code))).toEqual(texts);
  });
});

describe('of a table that is joined it says when none of its rows is in the range', () => {
  const hosts = '`hosts` has no events in last 1h. It holds 1 event, 2015-10-31 00:00: `%time 2015-10-31`';

  test.each<readonly [string, readonly string[]]>([
    ['fresh | lookup hosts on host', [hosts]],
    ['fresh | join kind=leftouter (hosts) on host | summarize count()', [hosts]],
    ["datatable(host: string)['a'] | lookup hosts on host", [hosts]],
    ['fresh | join (fresh) on host', []],
    ['fresh | count', []],
    ['fresh | make-series count() on _time step 10m', []],
    ["fresh | where level == 'info'", []],
    ['print x = 1', []],
  ])('%s', async (code, texts) => {
    expect(notices(await bench().run(code))).toEqual(texts);
  });
});
