import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { childrenOf, freeze, isRunning, randomOf, rounds, temporaryDirectory, Victim } from './bench.js';

/** Rows in each version of the replaced dataset. */
const replacedRows = 20_000;

/** Requests of clients, and those acknowledged before the service was killed. */
interface Ledger {
  readonly acknowledged: number[];
  readonly asked: number[];
  imports: number;
  acknowledgedImports: number;
  version: number;
  acknowledgedVersion: number;
  star: { readonly id: string; readonly names: string[] } | undefined;
}

test('a service that is killed at any moment loses, doubles and leaves behind nothing', async () => {
  const dataDir = await temporaryDirectory();
  const files = await temporaryDirectory();
  const random = randomOf('kills');
  const ledger: Ledger = {
    acknowledged: [],
    asked: [],
    imports: 0,
    acknowledgedImports: 0,
    version: 0,
    acknowledgedVersion: 0,
    star: undefined,
  };
  await prepare(await Victim.start(dataDir), files, ledger);
  const count = rounds('kills', 12, 200);
  for (let round = 0; round < count; round++) {
    const victim = await Victim.start(dataDir);
    await check(victim, ledger);
    const work = [ingest, replace, append, star, scripted].map(each =>
      each(victim, files, ledger).catch(() => undefined),
    );
    // Most kills come early, when most of the work begins; some late, when much has been acknowledged.
    await delay(random() ** 2 * 2_000);
    await freeze(victim.pid);
    const engines = childrenOf(victim.pid);
    await victim.kill();
    await Promise.all(work);
    for (const pid of engines) await expect.poll(() => isRunning(pid)).toBe(false);
  }
  const last = await Victim.start(dataDir);
  await check(last, ledger);
  await last.expectHealthy();
  // Old drafts count as abandoned, and the next listing removes them.
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const name of leftovers(dataDir)) utimesSync(join(dataDir, name), hourAgo, hourAgo);
  for (const path of ['/v2/apl-starred-queries', '/v2/datasets']) await last.send('GET', path);
  expect(leftovers(dataDir)).toEqual([]);
  console.log(
    `${ledger.acknowledged.length} batches, ${ledger.acknowledgedImports} imports and version ${ledger.acknowledgedVersion} acknowledged`,
  );
});

async function prepare(victim: Victim, files: string, ledger: Ledger): Promise<void> {
  for (const name of ['events', 'appended']) await victim.send('POST', '/v2/datasets', { name });
  writeFileSync(join(files, 'append.ndjson'), '{"_time":"2026-01-01T00:00:00Z","a":1}\n'.repeat(1000));
  await replace(victim, files, ledger);
  ledger.asked.push(0);
  expect((await victim.ingest('events', [{ id: 0 }, { id: 0 }])).status).toBe(200);
  ledger.acknowledged.push(0);
  const starred = { kind: 'apl', metadata: {}, name: 'first', who: 'local', query: { apl: 'events' } };
  const { body } = await victim.send('POST', '/v2/apl-starred-queries', starred);
  ledger.star = { id: body.id, names: ['first'] };
  await victim.kill();
}

/** Sends batches one after another; each event has its own number. */
async function ingest(victim: Victim, _: string, ledger: Ledger): Promise<void> {
  for (;;) {
    const id = ledger.asked.length;
    ledger.asked.push(id);
    const { status } = await victim.ingest('events', [{ id }, { id }]);
    expect(status).toBe(200);
    ledger.acknowledged.push(id);
  }
}

async function replace(victim: Victim, files: string, ledger: Ledger): Promise<void> {
  const version = ++ledger.version;
  const path = join(files, `${version}.ndjson`);
  writeFileSync(path, `{"_time":"2026-01-01T00:00:00Z","v":${version}}\n`.repeat(replacedRows));
  const { status } = await victim.send('POST', '/v1/local/import', {
    path,
    dataset: 'replaced',
    replace: true,
  });
  expect(status).toBe(200);
  ledger.acknowledgedVersion = version;
}

async function append(victim: Victim, files: string, ledger: Ledger): Promise<void> {
  ledger.imports++;
  const path = join(files, 'append.ndjson');
  const { status } = await victim.send('POST', '/v1/local/import', { path, dataset: 'appended' });
  expect(status).toBe(200);
  ledger.acknowledgedImports++;
}

async function star(victim: Victim, _: string, ledger: Ledger): Promise<void> {
  for (let turn = 0; ledger.star !== undefined; turn++) {
    const name = `name ${turn} ${'x'.repeat(5000)}`;
    ledger.star.names.push(name);
    const body = { kind: 'apl', metadata: {}, name, who: 'local', query: { apl: 'events' } };
    const { status } = await victim.send('PUT', `/v2/apl-starred-queries/${ledger.star.id}`, body);
    expect(status).toBe(200);
    ledger.star.names.splice(0, ledger.star.names.length, name);
  }
}

/** Keeps an engine process running when the service is killed. */
async function scripted(victim: Victim): Promise<void> {
  await victim.query(
    'range x from 1 to 9000 step 1 | summarize s = make_list(x) | extend i = range(1, 200) | mv-expand i | project array_length(series_fir(s, s))',
  );
}

async function check(victim: Victim, ledger: Ledger): Promise<void> {
  const counts = new Map<number, number>();
  if (ledger.asked.length > 0) {
    const [ids = [], found = []] = await victim.columns('events | summarize n = count() by id | take 100000');
    for (const [index, id] of ids.entries()) counts.set(Number(id), Number(found[index]));
  }
  expect(ledger.acknowledged.filter(id => counts.get(id) !== 2)).toEqual([]);
  expect([...counts].filter(([id, times]) => times !== 2 || !ledger.asked.includes(id))).toEqual([]);
  const [versions = [], rows = []] = await victim.columns('replaced | summarize n = count() by v');
  expect(rows).toEqual([replacedRows]);
  expect(Number(versions[0])).toBeGreaterThanOrEqual(ledger.acknowledgedVersion);
  expect(Number(versions[0])).toBeLessThanOrEqual(ledger.version);
  const [[appended = 0] = []] = (await victim.columns('appended | count')) as number[][];
  expect(appended % 1000).toBe(0);
  expect(appended / 1000).toBeGreaterThanOrEqual(ledger.acknowledgedImports);
  expect(appended / 1000).toBeLessThanOrEqual(ledger.imports);
  const { body } = await victim.send('GET', `/v2/apl-starred-queries/${ledger.star?.id}`);
  expect(ledger.star?.names).toContain(body.name);
}

/** Returns drafts, and scratch directories other than those of the running service and its engines. */
function leftovers(dataDir: string): string[] {
  const names = readdirSync(dataDir, { recursive: true }).map(String);
  const scratch = names.filter(
    name => /^\.tmp[\\/][^\\/]+$/.test(name) && !isRunning(Number(/[\\/][0-9a-f]+-(\d+)-/.exec(name)?.[1])),
  );
  return [...scratch, ...names.filter(name => name.endsWith('.tmp') && name !== '.tmp')];
}
