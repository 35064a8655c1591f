import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EngineError, engineFailure, engineWords } from '../../../kernel/local/engine/engine-failure.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { everyType, pipeline } from '../../apl/queries.js';
import { sharedService, testService } from '../service.js';

const cases: readonly (readonly [message: string, code: string])[] = [
  ['Out of Memory Error: failed to pin block of size 256.0 KiB (99.8 MiB/100.0 MiB used)', 'engine-memory'],
  ['IO Error: Could not write file "/home/me/.tmp/1": No space left on device', 'engine-disk'],
  ['Parser Error: Max expression depth limit of 1000 exceeded. Use "SET …"', 'query-too-large'],
  ['INTERRUPT Error: Interrupted!', 'query-canceled'],
  [
    'Invalid Input Error: JSON transform error in file "a", in line 9: Object {"log":"ENOSPC"} has…',
    'engine-failed',
  ],
  ['IO Error: Cannot open file "/home/me/a.parquet": Too many open files', 'engine-short'],
  ['Out of Memory Error: Failed to allocate block of 2097152 bytes (bad allocation)', 'engine-memory'],
  ['Failed to allocate memory', 'engine-memory'],
  ['Array buffer allocation failed', 'engine-memory'],
  [
    "Out of Range Error: Cannot create a string of size: '4294967296', the maximum supported string size is: '4294967295'",
    'function-cost',
  ],
  [
    'Out of Range Error: Cannot resize vector to 256.0 GiB: maximum allowed vector size is 128.0 GiB',
    'function-cost',
  ],
  ["Conversion Error: Could not convert string 'stack overflow' to INT32", 'engine-failed'],
  ['Invalid Input Error: Malformed JSON in file "too costly: strcat.json", in line 3', 'engine-failed'],
  ['Binder Error: No function matches apl_x(VARCHAR)\nLINE 1: SELECT apl_x(…)', 'engine-failed'],
];

/** Words of the engine, of SQL and of the machine that must not appear in a response. */
const foreign =
  /SELECT |CAST|VARCHAR|BIGINT|TIMESTAMP_NS|DOUBLE|apl_|duckdb|parquet|LINE \d|[A-Z][a-z]+ Error|SET |MiB|\/home|\/tmp/;

describe('an engine failure', () => {
  test.each(cases)('hides the engine message: %s', (message, code) => {
    const failure = engineFailure(new Error(message));
    expect(failure).toMatchObject({ code, detail: message });
    expect(`${failure.message} ${failure.hint}`).not.toMatch(foreign);
  });

  test.each([
    'Failed to query',
    'Failed to execute prepared statement',
    'Failed to prepare',
    'IO Error: ',
    '',
  ])('without a message is not blamed on the service: %j', words => {
    const failure = engineFailure(new Error(words));
    expect(failure).toMatchObject({
      code: 'engine-unexplained',
      message: 'The engine failed to run this query without giving a reason.',
      detail: expect.stringMatching(/; memory: .* MiB free, .*; disk: .* MiB free for .*; open files: \d/),
    });
    expect(`${failure.message} ${failure.hint}`).not.toMatch(/report|fault/);
    expect(engineWords(failure)).toBe(undefined);
  });

  test('keeps a meaningful message of the addon', () => {
    const failure = engineFailure(new Error('Failed to query: connection disconnected'));
    expect(failure).toMatchObject({
      code: 'engine-failed',
      detail: 'Failed to query: connection disconnected',
    });
  });

  test('has the same number for the same error, whatever its values', () => {
    const number = (text: string) => engineFailure(new Error(text)).message;
    expect(number('Binder Error: no column "a" at 12')).toBe(number('Binder Error: no column "b" at 7'));
    expect(number('Binder Error: no column "a"')).not.toBe(number('Binder Error: no table "a"'));
  });

  test('stays unchanged if it is our own error', () => {
    const own = new EngineError('engine-busy', 'Too many queries are waiting.');
    expect(engineFailure(own)).toBe(own);
  });

  test('is logged with what the answer leaves out', async () => {
    const lines: string[] = [];
    const own = await testService({ log: text => lines.push(text) });
    const { status, body } = await own.query('a:long\nSELECT nonsense');
    expect([status, body.detail.errorType]).toEqual([500, 'engine-failed']);
    expect(JSON.stringify(body)).not.toMatch(/nonsense|Binder/);
    expect(lines.join('\n')).toMatch(/Binder Error: .*nonsense/);
  });
});

describe('an answer of the service has no engine words', () => {
  const service = sharedService({ compile: compileRequest });

  async function answer(apl: string): Promise<string> {
    const { body } = await service().query(apl);
    return JSON.stringify(body.tables === undefined ? body : (body.status.messages ?? []));
  }

  const bombs = [
    `print ${Array(400).fill('1').join(' + ')}`,
    `print ${'('.repeat(300)}1${')'.repeat(300)}`,
    `range x from 1 to 100 step 1 | extend y = pow(x, 1e300), z = exp(x), d = datetime(1970-01-01) + x * 106751d`,
    `print extract('(', 1, 'x')`,
    `print s = '(' | extend m = 'x' matches regex s, r = replace_regex(s, '', 'x')`,
    `range x from 1 to 100 step 1 | summarize stdev(pow(10.0, x * 10)), avg(pow(10.0, x * 10)), sum(9223372036854775807)`,
    `print datetime_add('year', 9223372036854775807, now()), make_timespan(1, 2), bin(1, 0)`,
    `externaldata (a:string) ["../../etc/passwd"]`,
    `print x = 'a\u0000b', ['c\u0000d'] = 1`,
    `['no\u0000thing'] | count`,
    `print x = '\ud800'`,
  ];
  test.each(bombs)('for %s', async apl => {
    expect(await answer(apl)).not.toMatch(foreign);
  });

  test('for random pipelines', async () => {
    await fc.assert(
      fc.asyncProperty(pipeline, async apl => {
        expect(await answer(everyType + apl)).not.toMatch(foreign);
      }),
      { numRuns: 100 },
    );
  });
});
