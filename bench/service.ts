/**
 * The service as users experience it, in its own process: the first query after a start, and short queries and editor requests
 * behind eight long queries. 99th percentiles; the long queries read years of a sample.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { present } from '../kernel/present.js';
import { median, quantile, report } from './tools/row.js';
import { ask, peakMiB, type Running, startProcess, stopProcess } from './tools/service.js';

const QUESTIONS = Number(process.env.QUESTIONS ?? 200);
const STARTS = Number(process.env.RUNS ?? 5);

const heavy = "['sample-http-logs'] | summarize percentile(req_duration_ms, 99)";
const decade = { startTime: '2020-01-01T00:00:00Z', endTime: '2030-01-01T00:00:00Z' };

const query = (service: Running, request: object, signal?: AbortSignal) =>
  ask(service, '/v1/query/_apl?format=tabular', JSON.stringify(request), present({ signal }));
const print = (service: Running) => query(service, { apl: 'print x = 1' });
const schema = (service: Running) => ask(service, '/v2/datasets/sample-http-logs/fields');

async function elapsed(run: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

async function timesOf(run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < QUESTIONS; turn++) times.push(await elapsed(run));
  return times;
}

async function firstQuery(): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < STARTS; run++) {
    let service: Running | undefined;
    const first = async () => {
      service = await startProcess();
      await print(service);
    };
    times.push(await elapsed(first));
    if (service) await stopProcess(service);
  }
  report({
    figure: 'start of the service and first query',
    unit: 'ms',
    ours: median(times),
    goal: { atMost: 350 },
  });
}

async function behindLongOnes(): Promise<void> {
  const service = await startProcess();
  const abort = new AbortController();
  try {
    await print(service);
    const idle = median(await timesOf(() => print(service)));
    const long = Array.from({ length: 8 }, () =>
      query(service, { apl: heavy, ...decade }, abort.signal).catch(error => error.name),
    );
    await delay(1_000);
    const baseline = { name: 'the same on an idle service, median', value: idle };
    const ours = quantile(await timesOf(() => print(service)), 0.99);
    report({
      figure: 'print x=1 behind 8 long queries, p99',
      unit: 'ms',
      ours,
      baseline,
      goal: { atMost: 100 },
    });
    const fields = quantile(await timesOf(() => schema(service)), 0.99);
    report({
      figure: 'fields of a dataset behind 8 long queries, p99',
      unit: 'ms',
      ours: fields,
      goal: { atMost: 100 },
    });
    report({ figure: 'peak memory of the service, 8 long queries', unit: 'MiB', ours: peakMiB(service) });
    abort.abort();
    const ends = await Promise.all(long);
    if (ends.some(end => end !== 'AbortError')) throw new Error(`a long query was none: ${ends.join(', ')}`);
  } finally {
    abort.abort();
    await stopProcess(service);
  }
}

await firstQuery();
await behindLongOnes();
