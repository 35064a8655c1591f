import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { notices, realService } from '../real-bench.js';
import { type Bench, type CellRun, queries, startBench, traceback } from '../session.js';
import { rows } from './rows.js';

/** Starts an interpreter on a real local service that can be ended: the next connection finds a new one. */
async function benchWithService(): Promise<{ bench: Bench; endService: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
  const start = () => realService(dataDir);
  let service = await start();
  let restarted = false;
  const connect = async () => {
    const answer = { url: service.url, token: service.token, restarted };
    restarted = false;
    return answer;
  };
  const bench = await startBench({ local: () => ({ connect, close: () => undefined }) });
  onTestFinished(async () => {
    await bench.close();
    await service.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    bench,
    endService: async () => {
      await service.close();
      service = await start();
      restarted = true;
    },
  };
}

async function hosted(): Promise<Bench> {
  const { bench } = await benchWithService();
  const profile = ['[deployments.prod]', `url = "${bench.service.url}"`, 'token = "xaat-prod"', ''].join(
    '\n',
  );
  await writeFile(join(bench.homeDir, '.axiom.toml'), profile, { mode: 0o600 });
  await bench.run('%use prod');
  return bench;
}

function metadata({ outputs }: CellRun): unknown {
  const last = outputs.findLast(output => 'metadata' in output);
  return last !== undefined && 'metadata' in last ? last.metadata.apl : undefined;
}

test('a result outlives the service and is sent to the next one', async () => {
  const { bench, endService } = await benchWithService();
  await bench.run('errs << range n from 1 to 3 step 1');
  expect(rows(await bench.run('errs | count'))).toEqual([{ count: '3' }]);
  await endService();
  const run = await bench.run('errs | summarize s = sum(n)');
  expect(rows(run)).toEqual([{ s: '6' }]);
  expect(notices(run)).toEqual(['The local service had stopped; it was started again for this query.']);
});

test('a hosted result is queried locally, and its profile is reported', async () => {
  const bench = await hosted();
  await bench.run('answer << web | summarize n = count()');
  const sent = queries(bench.service).length;
  const run = await bench.run('answer | extend twice = n * 2');
  expect(rows(run)).toEqual([{ n: '42', twice: '84' }]);
  expect(metadata(run)).toMatchObject({ profile: 'prod', isLocal: false });
  expect(queries(bench.service)).toHaveLength(sent);
  expect(rows(await bench.run('%use local\nanswer | project n'))).toEqual([{ n: '42' }]);
});

test('a query mixing results with hosted datasets fails with a suggestion', async () => {
  const bench = await hosted();
  await bench.run('answer << web');
  const run = await bench.run('answer | join kind=inner (web) on n');
  expect(traceback(run)[0]).toBe(
    'result: `web` is a dataset of the profile prod, and `answer` is a result in this kernel: no service has both',
  );
  expect(traceback(run).join('\n')).toContain("part << ['web']");
  await bench.run('part << web');
  expect(rows(await bench.run('answer | join kind=inner (part) on n | project n'))).toEqual([{ n: '42' }]);
});

test('the error about a result dropped to free memory names it', async () => {
  const { bench } = await benchWithService();
  await bench.run('first << range n from 1 to 900 step 1');
  const budget = await bench.run('%results --budget 9kB');
  expect(budget.outcome.status).toBe('ok');
  const second = await bench.run('second << range n from 2 to 901 step 1');
  expect(notices(second)).toEqual([
    expect.stringMatching(
      /^`first` \(900 rows, [78][.\d]* kB\) was dropped: the kernel keeps up to 9 kB of results; /,
    ),
  ]);
  expect(traceback(await bench.run('first | count'))[0]).toBe(
    'result: the result `first` was dropped to free memory',
  );
  expect(rows(await bench.run('second | count'))).toEqual([{ count: '900' }]);
});
