/**
 * Small batches of events, acknowledged once on disk, from one client and from several, and a query after many of
 * them against the same events in one file. The service runs in its own process. BATCHES is an environment variable.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { median, report } from './tools/row.js';
import { ask, type Running, startProcess, stopProcess } from './tools/service.js';

const batches = Number(process.env.BATCHES ?? 500);

const eventOf = (id: number) => ({
  _time: new Date(1_767_225_600_000 + id * 10).toISOString(),
  id,
  level: id % 50 === 0 ? 'error' : 'info',
  status: 200 + (id % 4),
  duration_ms: (id % 1000) / 8,
  message: `request ${id} was handled`,
  user: { id: id % 977, name: `user-${id % 977}` },
  tags: ['a', 'b'],
});

const linesOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => JSON.stringify(eventOf(from + index))).join('\n');

const batchEvents = 100;
const clients = 8;

/** Returns the milliseconds per batch of several clients, each of which sends a batch as soon as its last one is acknowledged. */
async function batchMsOfMany(service: Running): Promise<number> {
  const each = Math.ceil(batches / clients);
  await ask(service, '/v2/datasets', JSON.stringify({ name: 'shared' }));
  const body = linesOf(0, batchEvents);
  const begun = performance.now();
  const client = async () => {
    for (let batch = 0; batch < each; batch++)
      await ask(service, '/v1/datasets/shared/ingest', body, { type: 'application/x-ndjson' });
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (performance.now() - begun) / (each * clients);
}

async function ingestBatches(service: Running, from: number, to: number): Promise<number[]> {
  const times: number[] = [];
  for (let batch = from; batch < to; batch++) {
    const body = linesOf(batch * batchEvents, batchEvents);
    const begun = performance.now();
    await ask(service, '/v1/datasets/small/ingest', body, { type: 'application/x-ndjson' });
    times.push(performance.now() - begun);
  }
  return times;
}

async function queryMs(service: Running, dataset: string): Promise<number> {
  const apl = `${dataset} | summarize count(), avg(duration_ms) by status`;
  const body = JSON.stringify({ apl, startTime: '2026-01-01T00:00:00Z', endTime: '2027-01-01T00:00:00Z' });
  const times: number[] = [];
  for (let run = 0; run < 15; run++) {
    const begun = performance.now();
    await ask(service, '/v1/datasets/_apl?format=tabular', body);
    times.push(performance.now() - begun);
  }
  return median(times);
}

/** Imports the same events as one file, in the same service. */
async function oneFile(service: Running, count: number): Promise<string> {
  const file = join(service.dataDir, 'one.ndjson');
  const dataset = `one${count}`;
  await writeFile(file, linesOf(0, count * batchEvents));
  await ask(service, '/v1/local/import', JSON.stringify({ path: file, dataset }));
  await rm(file);
  return dataset;
}

async function main(): Promise<void> {
  const service = await startProcess();
  try {
    await ask(service, '/v2/datasets', JSON.stringify({ name: 'small' }));
    const times: number[] = [];
    for (const [index, count] of [1, Math.ceil(batches / 5), batches].entries()) {
      times.push(...(await ingestBatches(service, times.length, count)));
      if (index === 0) await queryMs(service, 'small');
      const value = await queryMs(service, await oneFile(service, count));
      const ours = await queryMs(service, 'small');
      const baseline = { name: 'one file', value };
      report({
        figure: `query after ${count} batches`,
        unit: 'ms',
        ours,
        baseline,
        goal: { ratio: 1.5, plus: 5 },
      });
    }
    report({
      figure: 'ingest of 100 events, one client',
      unit: 'ms',
      ours: median(times),
      goal: { atMost: 10 },
    });
    report({
      figure: `ingest of 100 events, ${clients} clients: time for each batch`,
      unit: 'ms',
      ours: await batchMsOfMany(service),
      goal: { atMost: 10 },
    });
  } finally {
    await stopProcess(service);
  }
}

await main();
