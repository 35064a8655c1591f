import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childrenOf, memoryOf, randomOf, rounds, temporaryDirectory, Victim } from '../bench.js';
import { type Bomb, bombs, shortOfMemory } from './bombs.js';

/** Makes the service see a machine of 2 GiB, of which its engine may use 1.2 GiB. */
const smallMachine = {
  NODE_OPTIONS: '--import=data:text/javascript,process.constrainedMemory=()=>2147483648',
};

/** Number of bombs in flight at a time. */
const atOnce = 4;

test('each bomb gets a reason, concurrent light queries get answers, and memory is returned', async () => {
  const victim = await Victim.start(await temporaryDirectory(), { environment: smallMachine });
  await victim.send('POST', '/v2/datasets', { name: 'bombs' });
  await victim.send('POST', '/v2/datasets', { name: 'small' });
  await victim.ingest(
    'small',
    Array.from({ length: 1000 }, (_, n) => ({ n })),
  );
  const rest = memory(victim);
  const waiting = chosen(rounds('bombs', 12, 100));
  const sender = async () => {
    for (let bomb = waiting.pop(); bomb !== undefined; bomb = waiting.pop()) await explode(victim, bomb);
  };
  // A service without bombs, to measure how much a busy machine alone slows a query.
  const control = await Victim.start(await temporaryDirectory());
  const canaries = [
    [victim.canary('print x = 1', 1), victim.canary('small | count', 1000)],
    [control.canary('print x = 1', 1)],
  ];
  await Promise.all(Array.from({ length: atOnce }, sender));
  const [beside = [], elsewhere = []] = await Promise.all(
    canaries.map(async those => (await Promise.all(those.map(each => each.end()))).flat()),
  );
  console.log(`light queries beside the bombs: ${spread(beside)}; of another service: ${spread(elsewhere)}`);
  const after = memory(victim);
  const endedMs = performance.now();
  await expect.poll(() => memory(victim) - rest, { timeout: 600_000, interval: 50 }).toBeLessThan(400);
  const seconds = ((performance.now() - endedMs) / 1000).toFixed(1);
  console.log(
    `memory: ${rest} MiB before, ${after} after the last, ${memory(victim)} after another ${seconds} s`,
  );
  await victim.expectHealthy();
});

test('the largest strings of many groups stay within the memory limit, and memory is returned', async () => {
  const victim = await Victim.start(await temporaryDirectory(), { environment: smallMachine });
  const rest = memory(victim);
  const canary = victim.canary('print x = 1', 1);
  const rows = 'range i from 1 to 400000 step 1 | extend s = strcat(i, strrep("x", 3000))';
  for (const largest of ['s = max(s)', 'arg_max(s, *)']) {
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, memory(victim));
    }, 20);
    const { status, body } = await victim
      .query(`${rows} | summarize ${largest} by g = i % 399999 | summarize max(strlen(s))`)
      .finally(() => clearInterval(watching));
    expect([largest, status, body.message]).toEqual([largest, 400, expect.stringMatching(shortOfMemory)]);
    // The limit of the engine is 1.2 GiB.
    expect(most).toBeLessThan(1_500);
    await expect.poll(() => memory(victim) - rest, { interval: 50 }).toBeLessThan(200);
  }
  // The service answered throughout.
  expect((await canary.end()).length).toBeGreaterThan(0);
});

test('memory of a large query is returned after an import has ended its engine', async () => {
  const dataDir = await temporaryDirectory();
  const victim = await Victim.start(dataDir, { environment: smallMachine });
  const file = join(dataDir, 'rows.csv');
  await writeFile(file, 'a,b\n1,2\n');
  const { status } = await victim.send('POST', '/v1/local/import', { path: file, dataset: 'imported' });
  expect(status).toBe(200);
  const rest = memory(victim);
  const large =
    'range i from 1 to 250000 step 1 | extend s = strcat(i, strrep("x", 2000)) | summarize l = make_list(s) | project array_length(l)';
  // The import's engine ends at some point between these queries, once the service is idle.
  for (const _ of [1, 2, 3]) {
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, memory(victim));
    }, 20);
    await victim.query(large).finally(() => clearInterval(watching));
    expect(most - rest).toBeGreaterThan(400);
    await expect.poll(() => memory(victim) - rest, { interval: 50 }).toBeLessThan(200);
  }
});

function spread(latencies: readonly number[]): string {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `${sorted.length}, median ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms, the longest ${at(1)} ms`;
}

/** Returns each bomb once in random order, then starts over if more are needed. */
function chosen(count: number): Bomb[] {
  const random = randomOf('bombs');
  const mixed = bombs.map(bomb => ({ bomb, place: random() })).sort((a, b) => a.place - b.place);
  return Array.from({ length: count }, (_, index) => mixed[index % mixed.length]?.bomb).filter(
    bomb => bomb !== undefined,
  );
}

async function explode(victim: Victim, { name, throwAt, answers }: Bomb): Promise<void> {
  const startedMs = performance.now();
  const { status, body } = await throwAt(victim);
  const said = String(body.message ?? '');
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${name} | ${status} | ${seconds} s | ${said.slice(0, 100)}`);
  expect({ name, said, known: answers.some(answer => answer.test(said)) }).toEqual({
    name,
    said,
    known: true,
  });
}

/** Returns the memory of the service and its engines, in MiB. */
function memory(victim: Victim): number {
  return [victim.pid, ...childrenOf(victim.pid)].reduce((sum, pid) => sum + memoryOf(pid), 0);
}
