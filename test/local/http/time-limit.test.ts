import { expect, onTestFinished, test } from 'vitest';
import { openEngines } from '../../../kernel/local/http/engines.js';
import { listen } from '../../../kernel/local/http/listen.js';
import { takeLease } from '../../../kernel/local/lease/lease.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { spawnEngine } from '../engine/spawned.js';
import { sharedService, TestService, temporaryDirectory, testService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const timedOut = {
  status: 504,
  body: {
    code: 504,
    message:
      'The query was stopped after 0.2 s, its time limit. Narrow the time range, or read fewer fields.',
    detail: {
      errorType: 'query-timeout',
      message: 'The query was stopped after 0.2 s, its time limit.',
      hint: 'Narrow the time range, or read fewer fields.',
    },
  },
};

const inTime = { queryOptions: { timeLimitMs: 200 } };

test('a query beyond its time limit is stopped and says so', async () => {
  const apl =
    'range a from 1 to 1000000 step 1 | extend k = 1 | join kind=inner (range b from 1 to 1000000 step 1 | extend k = 1) on k | summarize sum(a * b)';
  expect(await service().query(apl, inTime)).toEqual(timedOut);
});

test('a query may ask for more time than the default', async () => {
  const short = await testService({ compile: compileRequest, limits: { queryMs: 1 } });
  const apl = 'range x from 1 to 300000 step 1 | summarize sum(hash(x) % 7)';
  expect((await short.query(apl)).body.message).toBe(
    'The query was stopped after 0.001 s, its time limit. Narrow the time range, or read fewer fields.',
  );
  expect((await short.query(apl, { queryOptions: { timeLimitMs: 86_400_000 } })).status).toBe(200);
});

test('a timed-out query does not wait for an engine that ignores interrupts', async () => {
  const dataDir = await temporaryDirectory();
  const options = { dataDir, port: 0, version: '1.2.3', spawnEngine, log: () => {} };
  const access = await takeLease(dataDir, options);
  const engines = await openEngines(options, access);
  let end = () => {};
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(new Error('interrupted'));
  });
  const deaf = { reading: () => ended };
  const place = { directory: dataDir, access };
  const listening = await listen(options, { ...engines, readersFor: () => deaf }, place);
  onTestFinished(() => listening.close());
  const answer = await new TestService(listening, dataDir).query('print 1', inTime);
  end();
  expect(answer).toEqual(timedOut);
});
