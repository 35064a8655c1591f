import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { present } from '../../kernel/present.js';
import { type Reply, startService, tabular } from '../api/service.js';
import {
  type Bench,
  type CellRun,
  counted,
  everyday,
  printed,
  queries,
  shown,
  startBench,
  traceback,
} from './session.js';

let bench: Bench;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

const lastHour = { startTime: '2026-03-04T04:06:07.123456789Z', endTime: '2026-03-04T05:06:07.123456789Z' };

describe('a query', () => {
  test('is sent unchanged, with the time range', async () => {
    const { outcome } = await bench.run("['web'] | count");
    expect(outcome).toEqual({ status: 'ok', userExpressions: {} });
    expect(queries(bench.service)).toEqual([{ apl: "['web'] | count", ...lastHour }]);
    expect(bench.service.seen[0]?.headers.authorization).toBe('Bearer local-token-4711');
  });

  test('gives a result with its table and provenance', async () => {
    const { outputs } = await bench.run('web | count');
    const [result] = outputs;
    if (result?.kind !== 'result') throw new Error('no result');
    expect(Object.keys(result.data).sort()).toEqual([
      'application/vnd.apache.arrow.stream',
      'text/html',
      'text/plain',
    ]);
    const {
      elapsedMs,
      status,
      tables,
      limits,
      result: held,
      ...provenance
    } = result.metadata.apl as Record<string, unknown>;
    expect(provenance).toEqual({
      query: 'web | count',
      ...lastHour,
      rangeLabel: 'last 1h',
      frozen: false,
      profile: 'local',
      isLocal: true,
      datasets: ['web'],
      traceId: 'trace-1',
      kernelVersion: '1.2.3',
    });
    expect(held).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      rows: 1,
      columns: 1,
      rowsInNotebook: 1,
    });
    expect([typeof elapsedMs, status, tables, limits]).toEqual([
      'number',
      counted.status,
      [{ name: '0', rows: 1, columns: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      [],
    ]);
  });

  test.each([
    [30, 'yes', 25],
    [30, undefined, 79],
    [200, 'yes', 79],
  ])(
    'on a terminal %i characters wide, if the user can answer %j, has a table %i wide',
    async (consoleWidth, answer, width) => {
      const columns = ['a', 'b', 'c'].map(name => ({ name, type: 'string' }));
      const body = tabular(
        columns,
        Array.from(columns, () => ['x'.repeat(25)]),
      );
      const wide = await startBench({ consoleWidth, reply: () => ({ body }) });
      onTestFinished(() => wide.close());
      const run = await wide.run('web', present({ answer }));
      const lines = shown(run).flatMap(text => text.split('\n'));
      expect(lines.find(line => line.startsWith('──'))?.length).toBe(width);
    },
  );

  test('before the last one in a cell is displayed; the last is the result', async () => {
    const { outputs } = await bench.run('web | count\n\nlet x = 1;\nweb | where status > x | count');
    expect(outputs.map(output => output.kind)).toEqual(['display', 'result']);
    expect(queries(bench.service).map(query => query.apl)).toEqual([
      'web | count',
      'let x = 1;\nweb | where status > x | count',
    ]);
  });

  test('that ends in a semicolon shows nothing', async () => {
    const { outcome, outputs } = await bench.run('web | count;');
    expect([outcome.status, outputs, queries(bench.service).length]).toEqual(['ok', [], 1]);
  });

  test('is not sent for an empty cell', async () => {
    const { outcome, outputs } = await bench.run('  \n// nothing\n');
    expect([outcome.status, outputs, bench.service.seen.length]).toEqual(['ok', [], 0]);
  });

  test.each(['%%apl\nweb | count', '%apl\nweb | count', '%apl web | count', '%%time 1h\n%%apl web | count'])(
    'may start with the apl magic: %j',
    async code => {
      const { outcome } = await bench.run(code);
      expect([outcome.status, queries(bench.service).map(query => query.apl)]).toEqual([
        'ok',
        ['web | count'],
      ]);
    },
  );
});

describe('the profile', () => {
  const toml = (url: string) => `[deployments.prod]\nurl = "${url}"\ntoken = "xaat-1"\n`;
  const plain = ({ outputs }: CellRun) =>
    outputs.flatMap(output => ('data' in output ? String(output.data['text/plain']).split('\n') : []));

  test('is local although another is configured, as the first result says', async () => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), toml(bench.service.url), { mode: 0o600 });
    expect(plain(await bench.run('web | count'))[0]).toBe(
      'Note: Queries run on the local service; %use NAME switches to another profile: prod.',
    );
    expect(bench.service.seen.at(-1)?.headers.authorization).toBe('Bearer local-token-4711');
    expect(plain(await bench.run('web | count'))[0]).toMatch(/^1 row/);
  });

  test('is local although the profiles file is broken', async () => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), '[deployments', { mode: 0o600 });
    expect(plain(await bench.run('web | count'))[0]).toBe(
      'Note: Queries run on the local service. No other profile can be used: ~/.axiom.toml is not valid TOML at line 1.',
    );
  });

  test('is named above every result unless it is local', async () => {
    await writeFile(join(bench.homeDir, '.axiom.toml'), toml(bench.service.url), { mode: 0o600 });
    const runs = [await bench.run('%use prod\nweb | count'), await bench.run('web | count')];
    expect(runs.map(run => plain(run)[0]?.split(' \u00b7 ')[0])).toEqual(['profile prod', 'profile prod']);
    expect(plain(await bench.run('%use local\nweb | count'))[0]).toMatch(/^1 row/);
  });

  test('chosen by the environment is announced once and named above every result', async () => {
    const chosen = await startBench({
      environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-2' }),
    });
    const [first, second] = plain(await chosen.run('web | count'));
    const [third] = plain(await chosen.run('web | count'));
    await chosen.close();
    expect(first).toBe(
      'Note: Queries run on the profile environment, set by AXIOM_DEPLOYMENT; %use local switches to the local service.',
    );
    expect([second, third].map(line => line?.split(' \u00b7 ')[0])).toEqual([
      'profile environment',
      'profile environment',
    ]);
  });
});

test('%time all on a hosted profile starts at 1970', async () => {
  const hosted = await startBench({
    environment: ({ url }) => ({ deployment: 'environment', url, token: 'xaat-2' }),
  });
  await hosted.run('%%time all\nweb | count');
  const [sent] = queries(hosted.service);
  await hosted.close();
  expect([sent?.startTime, sent?.endTime]).toEqual(['1970-01-01T00:00:00Z', lastHour.endTime]);
});

test.each([
  ['web', '_time a _sysTime'],
  ['web | where a > 1 | extend b = 1', '_time a _sysTime'],
  ['web | project _sysTime, a, _time', '_sysTime a _time'],
])('the columns of %s are in the order %s', async (code, names) => {
  const fields = ['_sysTime', 'a', '_time'].map(name => ({ name, type: 'integer' }));
  bench.service.answer(() => ({ body: tabular(fields, [[1], [2], [3]]) }));
  const [output] = (await bench.run(code)).outputs;
  const lines = output !== undefined && 'data' in output ? String(output.data['text/plain']).split('\n') : [];
  expect(lines[1]?.split(/ +/).filter(Boolean).join(' ')).toBe(names);
});

describe('named results', () => {
  test('are available as user expressions', async () => {
    await bench.run('total << web | count');
    const { outcome } = await bench.run('', { expressions: { a: 'total', b: '_', c: 'other' } });
    if (outcome.status !== 'ok') throw new Error('it failed');
    const { a, b, c } = outcome.userExpressions as Record<
      string,
      { status: string; data?: Record<string, string>; ename?: string; evalue?: string }
    >;
    expect([
      a?.status,
      a?.data?.['text/plain'] === b?.data?.['text/plain'],
      Object.keys(a?.data ?? {}).includes('text/html'),
    ]).toEqual(['ok', true, true]);
    expect([c?.status, c?.ename, c?.evalue]).toEqual([
      'error',
      'unknown-result',
      'there is no result named other',
    ]);
  });
});

describe('a warning above the table', () => {
  const rows = (count: number) =>
    tabular([{ name: 'n', type: 'integer' }], [Array.from({ length: count }, (_, index) => index)], {
      rowsMatched: 5000,
    });

  async function limits(code: string, body: unknown): Promise<unknown> {
    bench.service.answer(() => ({ body }));
    const { outputs } = await bench.run(code);
    const output = outputs.at(-1);
    return output !== undefined && 'metadata' in output
      ? (output.metadata.apl as { limits: unknown }).limits
      : undefined;
  }

  test.each<readonly [string, number, string | undefined]>([
    [
      'web',
      1000,
      'Only 1,000 rows were fetched (the default limit). Add `| limit N` or aggregate; `%limit N` changes the limit, and `%fetch --all` above the query fetches every row.',
    ],
    [
      'web | where status > 1',
      1000,
      'Only 1,000 rows were fetched (the default limit). Add `| limit N` or aggregate; `%limit N` changes the limit, and `%fetch --all` above the query fetches every row.',
    ],
    [
      '%%limit 10\nweb',
      10,
      'Only 10 rows were fetched (the limit set by %limit). Add `| limit N` or aggregate; `%limit N` changes the limit, and `%fetch --all` above the query fetches every row.',
    ],
    ['web', 999, undefined],
    ['web | limit 1000', 1000, undefined],
    ['web | summarize count() by status', 1000, undefined],
    [
      'web | where message contains "| limit 5"',
      1000,
      'Only 1,000 rows were fetched (the default limit). Add `| limit N` or aggregate; `%limit N` changes the limit, and `%fetch --all` above the query fetches every row.',
    ],
  ])('reports the row limit if it was reached: %j with %i rows', async (code, count, text) => {
    expect(await limits(code, rows(count))).toEqual(text === undefined ? [] : [{ level: 'warn', text }]);
  });

  test('reports once that the local service was restarted', async () => {
    let connections = 0;
    const restarting = await startBench({
      local: service => ({
        connect: async () => ({ url: service.url, token: 't', restarted: connections++ === 1 }),
        close: () => undefined,
      }),
    });
    const texts: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { outputs } = await restarting.run('web | count');
      const output = outputs[0];
      const metadata =
        output !== undefined && 'metadata' in output
          ? (output.metadata.apl as { limits: { text: string }[] })
          : undefined;
      texts.push((metadata?.limits ?? []).map(limit => limit.text).join());
    }
    await restarting.close();
    expect(texts).toEqual(['', 'The local service had stopped; it was started again for this query.', '']);
  });
});

test.each(['exit', ' quit()\n'])('%j leaves an interactive console but not a notebook', async code => {
  const console = await startBench({ consoleWidth: 80 });
  onTestFinished(() => console.close());
  const left = await console.run(code, { answer: 'yes' });
  expect([left.outcome.status, left.outputs]).toEqual(['ok', [{ kind: 'leaves', text: '' }]]);
  for (const { outputs } of [await console.run(code), await bench.run(code, { answer: 'yes' })])
    expect(outputs.map(({ kind }) => kind)).toEqual(['result']);
});

describe('a query that finds the local service gone', () => {
  async function restarting(restarted: boolean, isFound = restarted, ending?: Reply) {
    const [gone, doubts] = [await startService(() => ending ?? {}), [] as boolean[]];
    if (ending === undefined) await gone.close();
    else onTestFinished(() => gone.close());
    const fresh = await startBench({
      local: service => ({
        connect: async (_, doubted = false) => {
          doubts.push(doubted);
          const url = doubted && isFound ? service.url : gone.url;
          return { url, token: 't', restarted: doubted && restarted };
        },
        close: () => undefined,
      }),
    });
    const { outcome, outputs } = await fresh.run('web | count');
    await fresh.close();
    // A query that takes half a second also connects to ask for its progress.
    return { outcome, outputs, doubted: doubts.filter(doubted => doubted).length };
  }

  test('is retried, with a warning, after the service is restarted', async () => {
    const { outcome, outputs, doubted } = await restarting(true);
    const [output] = outputs;
    const limits =
      output !== undefined && 'metadata' in output && (output.metadata.apl as { limits: unknown }).limits;
    const text = 'The local service had stopped; it was started again for this query.';
    expect([outcome.status, doubted, limits]).toEqual(['ok', 1, [{ level: 'warn', text }]]);
  });

  test('is retried silently if another kernel has started it', async () => {
    const { outcome, outputs, doubted } = await restarting(false, true);
    const [output] = outputs;
    const { limits } = (output !== undefined && 'metadata' in output ? output.metadata.apl : {}) as {
      readonly limits?: unknown;
    };
    expect([outcome.status, doubted, limits]).toEqual(['ok', 1, []]);
  });

  test('is retried if a service that is shutting down has canceled it', async () => {
    const body = { code: 'service-ending', message: 'The service is shutting down.' };
    const { outcome, doubted } = await restarting(true, true, { status: 503, body });
    expect([outcome.status, doubted]).toEqual(['ok', 1]);
  });

  test('fails if the service was not restarted', async () => {
    const { outcome, doubted } = await restarting(false);
    expect([outcome.status === 'error' && outcome.ename, doubted]).toEqual(['connection-refused', 1]);
  });

  test('for a cluster fails, and the next one warns after the service is restarted', async () => {
    const gone = await startService(() => ({}));
    await gone.close();
    const fresh = await startBench({
      reply: seen => everyday({ ...seen, path: seen.path.replace('/v1/deployments/lake', '') }),
      local: service => ({
        connect: async (_, doubted = false) => {
          const { url } = doubted ? service : gone;
          return { url, token: 't', restarted: doubted };
        },
        close: () => undefined,
      }),
    });
    onTestFinished(() => fresh.close());
    const lake = [
      ...['[deployments.lake]', 'engine = "trino"', 'url = "https://trino.invalid"', 'user = "ann"'],
      ...['catalog = "hive"', 'schema = "logs"', ''],
    ];
    await writeFile(join(fresh.homeDir, '.axiom.toml'), lake.join('\n'), { mode: 0o600 });
    const first = await fresh.run('%use lake\nweb | count');
    const next = await fresh.run('web | count');
    expect([first.outcome.status === 'error' && first.outcome.ename, next.outcome.status]).toEqual([
      'connection-refused',
      'ok',
    ]);
    const output = next.outputs.find(each => 'metadata' in each);
    expect(output && 'metadata' in output && output.metadata.apl).toMatchObject({
      limits: [{ text: 'The local service had stopped; it was started again for this query.' }],
    });
  });
});

test.each(['its time limit', 'its user'])(
  'checks that the local service is alive after a query is ended by %s',
  async who => {
    const doubts: boolean[] = [];
    const bench = await startBench({
      reply: () => () => undefined,
      local: service => ({
        connect: async (_, doubted = false) => {
          doubts.push(doubted);
          return { url: service.url, token: 't', restarted: false };
        },
        close: () => undefined,
      }),
      ...(who === 'its time limit' && { timeLimitMs: 50 }),
    });
    const run = () => bench.run('web | count', who === 'its user' ? { signal: AbortSignal.timeout(50) } : {});
    await run();
    await run();
    await bench.close();
    expect(doubts).toEqual([false, true]);
  },
);

describe('an APL error from the service', () => {
  test.each<readonly [string, string, object, readonly string[]]>([
    [
      'is shown at its line in the cell',
      '%%time 1h\n\nweb\n| where stauts == 200\n| count',
      {
        line: 2,
        column: 9,
        message: 'unknown field `stauts`',
        compileErrorCode: 'unknown-field',
        hint: 'Did you mean `status`?',
      },
      [
        'unknown-field: unknown field `stauts`',
        ' --> line 4, column 9 of the cell',
        '4 │ | where stauts == 200',
        '  │         ^^^^^^',
        'hint: Did you mean `status`?',
      ],
    ],
    [
      'is shown in the second query, after a shared let',
      'let a = 1;\n\nweb | count\n\nweb | where 漢 == b',
      { line: 2, column: 18, message: 'unknown field `b`' },
      [
        'invalid-query: unknown field `b`',
        ' --> line 5, column 18 of the cell',
        '5 │ web | where 漢 == b',
        '  │                   ^',
      ],
    ],
    [
      'is shown correctly with any line endings',
      'web\r\n| where a\r| where\tb\r\n| count',
      { line: 3, column: 9, message: 'unknown field `b`' },
      [
        'invalid-query: unknown field `b`',
        ' --> line 2, column 19 of the cell',
        '2 │ | where a| where    b',
        '  │                     ^',
      ],
    ],
    [
      'with a position past the end is shown at the end',
      'web | where',
      { line: 9, column: 99, message: 'something is missing' },
      [
        'invalid-query: something is missing',
        ' --> line 1, column 12 of the cell',
        '1 │ web | where',
        '  │            ^',
      ],
    ],
    [
      'without a position is shown without one',
      'web',
      { message: 'too complex' },
      ['invalid-query: too complex'],
    ],
  ])('%s', async (_, code, detail, lines) => {
    let asked = 0;
    bench.service.answer(() =>
      code.includes('\n\nweb | where') && asked++ === 0
        ? { body: counted }
        : { status: 400, body: { code: 400, message: 'bad', detail } },
    );
    const run = await bench.run(code);
    expect(traceback(run)).toEqual(lines);
    const { ename, evalue } = run.outcome as { ename: string; evalue: string };
    expect(`${ename}: ${evalue}`).toBe(lines[0]);
  });

  test('that is one of several is shown with the others, up to ten', async () => {
    const others = Array.from({ length: 12 }, (_, index) => ({
      line: 1,
      column: 13 + index,
      message: `unknown field \`f${index}\``,
      ...(index === 0 ? { hint: 'Did you mean `g`?' } : {}),
    }));
    const detail = { line: 1, column: 7, message: 'unknown field `x`', others };
    bench.service.answer(() => ({ status: 400, body: { code: 400, message: 'bad', detail } }));
    const lines = traceback(await bench.run('%%time 1h\nweb | x, y == 1 and z == 2 and more'));
    expect(lines.slice(0, 10)).toEqual([
      'invalid-query: unknown field `x`',
      ' --> line 2, column 7 of the cell',
      '2 │ web | x, y == 1 and z == 2 and more',
      '  │       ^',
      '',
      'also: unknown field `f0`',
      ' --> line 2, column 13 of the cell',
      '2 │ web | x, y == 1 and z == 2 and more',
      '  │             ^',
      'hint: Did you mean `g`?',
    ]);
    expect([lines.filter(line => line.startsWith('also')).length, lines.at(-1)]).toEqual([
      9,
      'and 3 more errors',
    ]);
  });

  test('stops the cell: later queries are not sent', async () => {
    bench.service.answer(() => ({ status: 400, body: { message: 'no' } }));
    await bench.run('web | count\n\nweb | count');
    expect(bench.service.seen.length).toBe(1);
  });
});

describe('a cell fails', () => {
  test('when its magics are misplaced', async () => {
    const run = await bench.run('web | count\n\n%time last 1h');
    expect([traceback(run)[0], bench.service.seen.length]).toEqual([
      'late-magic: magics must be at the top of a cell, before the query',
      0,
    ]);
  });

  test('when the response cannot be decoded', async () => {
    bench.service.answer(() => ({
      body: '{"tables":[{"fields":[{"name":"a","type":"integer"}],"columns":[[1],[2]]}]}',
    }));
    const run = await bench.run('web');
    expect(traceback(run)[0]).toBe(
      'decode: A table has 1 fields but more columns (at byte 68 of the response)',
    );
  });

  test('with control characters of the message made visible', async () => {
    bench.service.answer(() => ({ status: 400, body: { message: 'bad \u001b]0;title\u0007 \u202e' } }));
    expect(traceback(await bench.run('web'))).toEqual([
      'invalid-query: bad \u27e8U+001B\u27e9]0;title\u27e8U+0007\u27e9 \u27e8U+202E\u27e9',
    ]);
  });
});

describe('an interrupt', () => {
  test('cancels the request and leaves the session usable', async () => {
    const abort = new AbortController();
    bench.service.answer(() => () => abort.abort());
    const run = await bench.run('%time 2h\nslow << web | count', { signal: abort.signal });
    expect(run.outcome).toEqual({
      status: 'error',
      ename: 'Interrupted',
      evalue: 'the cell was stopped and its query canceled; settings and earlier results are kept',
      traceback: [
        '\u001b[1mInterrupted\u001b[22m: the cell was stopped and its query canceled; settings and earlier results are kept',
      ],
    });
    await expect.poll(() => bench.service.aborted).toEqual(['/v1/datasets/_apl']);
    bench.service.answer(everyday);
    const after = await bench.run('%time');
    expect(printed(after)).toBe(
      'Time range: last 2h (now 2026-03-04T03:06:07.123456789Z to 2026-03-04T05:06:07.123456789Z, end exclusive)\n',
    );
  });
});

describe('the kernel reports', () => {
  test('its name, version and language', () => {
    const { language_info, implementation, implementation_version } = bench.handler.info;
    expect([implementation, implementation_version, language_info]).toEqual([
      'apl-kernel',
      '1.2.3',
      {
        name: 'axiom-apl',
        version: '1.0',
        mimetype: 'text/x-axiom-apl',
        file_extension: '.apl',
        codemirror_mode: 'axiom-apl',
        pygments_lexer: 'kusto',
      },
    ]);
  });

  test('a banner, and links to the documentation', () => {
    const { banner, help_links } = bench.handler.info;
    expect([banner, help_links]).toEqual([
      'apl-kernel 1.2.3: APL, the Axiom Processing Language. Run %help for what a cell can contain.',
      [
        { text: 'APL: introduction', url: 'https://axiom.co/docs/apl/introduction' },
        { text: 'APL: functions', url: 'https://axiom.co/docs/apl/scalar-functions/metadata-functions' },
      ],
    ]);
  });

  test.each<readonly [string, string]>([
    ['web | count', 'complete'],
    ['', 'complete'],
    ['%time 1h', 'complete'],
    ['%echo (', 'complete'],
    ['web |', 'incomplete'],
    ['web | where (status > 1', 'incomplete'],
    ['web | where status in (1, 2]', 'invalid'],
    ['web | where status > 1)', 'invalid'],
    ["web | where m == ')'", 'complete'],
  ])('whether %j is complete: %s', (code, status) => {
    expect(bench.handler.isComplete(code).status).toBe(status);
  });
});
