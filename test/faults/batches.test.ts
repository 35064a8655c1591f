import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomOf, rounds, temporaryDirectory, Victim } from './bench.js';

/** Events per batch. */
const batchEvents = 3;

/** Batches that clients sent, and those acknowledged before the service was killed. */
interface Ledger {
  asked: number;
  readonly acknowledged: Set<number>;
}

/** Delay of each client between two requests. */
interface Pace {
  betweenMs: number;
}

test('of batches sent during kills, acknowledged ones are stored once and others at most once', async () => {
  const dataDir = await temporaryDirectory();
  const random = randomOf('batches');
  const ledger: Ledger = { asked: 0, acknowledged: new Set() };
  const first = await Victim.start(dataDir);
  await first.send('POST', '/v2/datasets', { name: 'events' });
  await first.kill();
  const count = rounds('batches', 10, 200);
  for (let round = 0; round < count; round++) {
    const victim = await Victim.start(dataDir);
    await check(victim, ledger);
    const pace = { betweenMs: 30 };
    const work = [writer, writer, writer, reader].map(each =>
      each(victim, ledger, pace).catch(() => undefined),
    );
    // Small files are merged after 1.5 s; batches are in flight when the service is killed.
    await delay(random() * 4_000);
    pace.betweenMs = 0;
    await delay(200);
    await victim.kill();
    await Promise.all(work);
  }
  const last = await Victim.start(dataDir);
  await check(last, ledger);
  const files = readdirSync(join(dataDir, 'datasets', 'events'));
  // A partially written batch does not count as damage.
  expect(files.filter(name => /\.(log|damaged)$/.test(name))).toEqual([]);
  console.log(`${ledger.acknowledged.size} of ${ledger.asked} batches acknowledged`);
});

/** Sends numbered batches whose fields and types keep changing. */
async function writer(victim: Victim, ledger: Ledger, pace: Pace): Promise<void> {
  for (;;) {
    const id = ledger.asked++;
    const odd = [{ x: id }, { x: String(id) }, { [`f${id % 5}`]: 1.5 }, {}][id % 4];
    const event = { _time: new Date(1.75e12 + id).toISOString(), id, ...odd };
    const { status } = await victim.ingest('events', new Array(batchEvents).fill(event));
    expect(status).toBe(200);
    ledger.acknowledged.add(id);
    if (pace.betweenMs > 0) await delay(pace.betweenMs);
  }
}

/** Queries the dataset, which flushes earlier batches to files; each query must see every batch acknowledged before it. */
async function reader(victim: Victim, ledger: Ledger, pace: Pace): Promise<void> {
  for (;;) {
    const before = ledger.acknowledged.size;
    const [[rows] = []] = (await victim.columns('events | count')) as number[][];
    expect(rows).toBeGreaterThanOrEqual(before * batchEvents);
    await delay(20 + pace.betweenMs);
  }
}

async function check(victim: Victim, ledger: Ledger): Promise<void> {
  const counts = new Map<number, number>();
  const [[rows] = []] = (await victim.columns('events | count')) as number[][];
  if (rows !== 0) {
    const [ids = [], found = []] = await victim.columns(
      'events | summarize n = count() by id | take 1000000',
    );
    for (const [index, id] of ids.entries()) counts.set(Number(id), Number(found[index]));
  }
  expect([...ledger.acknowledged].filter(id => counts.get(id) !== batchEvents)).toEqual([]);
  expect([...counts].filter(([id, times]) => times !== batchEvents || id >= ledger.asked)).toEqual([]);
}
