import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../kernel/local/http/http-server.js';
import { createLocalService, type LocalService, spawnDetached } from '../../kernel/local/launch.js';
import { endShared, findShared } from '../../kernel/local/shared.js';
import { spawnEngine } from '../setup/built-engine.js';
import { freeze, randomOf, rounds, smallDisk, temporaryDirectory, Victim } from './bench.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test('a full disk is reported, reads continue, and writes resume once there is space', async () => {
  const dataDir = await smallDisk();
  if (dataDir === undefined) return;
  const victim = await Victim.start(dataDir);
  await victim.send('POST', '/v2/datasets', { name: 'd' });
  await victim.ingest('d', [{ a: 1 }]);
  expect(await victim.columns('d | count')).toEqual([[1]]);
  // The journal is deleted once its event is stored, which would free space on a full disk.
  const journals = () => readdirSync(join(dataDir, 'datasets', 'd')).filter(name => name.endsWith('.log'));
  await expect.poll(journals).toEqual([]);
  await victim.send('POST', '/v2/datasets', { name: 'late' });
  await victim.ingest('late', [{ a: 1 }]);
  // Otherwise the event would be stored within a second, on a busy machine before the disk is full.
  await freeze(victim.pid);
  const filler = join(dataDir, 'filler');
  expect(() => writeFileSync(filler, Buffer.alloc(64 * 2 ** 20))).toThrow('ENOSPC');
  process.kill(victim.pid, 'SIGCONT');
  for (let round = 0; round < 20; round++) {
    expect(await victim.columns('print x = 1')).toEqual([[1]]);
    expect(await victim.columns('d | count')).toEqual([[1]]);
    const refused = await victim.ingest(
      'd',
      Array.from({ length: 1000 }, (_, a) => ({ a })),
    );
    expect([refused.status, refused.body.detail.errorType]).toEqual([507, 'engine-disk']);
    // Its event is acknowledged but not yet stored, so an answer without it would be wrong.
    const waiting = await victim.query('late | count');
    expect([waiting.status, waiting.body.detail.errorType]).toEqual([507, 'engine-disk']);
    const unmade = await victim.send('POST', '/v2/datasets', { name: 'e' });
    expect([unmade.status, unmade.body.detail.errorType]).toEqual([507, 'engine-disk']);
  }
  await rm(filler);
  expect((await victim.send('POST', '/v2/datasets', { name: 'e' })).status).toBe(200);
  expect((await victim.ingest('d', [{ a: 2 }])).status).toBe(200);
  expect(await victim.columns('d | count')).toEqual([[2]]);
  expect(await victim.columns('late | count')).toEqual([[1]]);
});

/** Returns a kernel's client of the built service in a data directory. */
function kernelOf(dataDir: string): LocalService {
  const env = { ...process.env, UV_THREADPOOL_SIZE: '16' };
  const spawn = () =>
    spawnDetached(process.execPath, [main, 'serve', '--managed', '--data', dataDir], dataDir, env);
  const local = createLocalService({ dataDir, spawn, log: () => undefined, version: 'test' });
  onTestFinished(async () => {
    local.close();
    const shared = await findShared(dataDir);
    if (shared.kind === 'running' || shared.kind === 'frozen') await endShared(dataDir, shared.file, 0);
  });
  return local;
}

async function answersTo({ url, token }: { readonly url: string; readonly token: string }): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ apl: 'print 1' });
  return (await fetch(`${url}/v1/datasets/_apl`, { method: 'POST', headers, body })).status;
}

test('on a full disk a read-only service starts, and is replaced once there is space', async () => {
  const dataDir = await smallDisk();
  if (dataDir === undefined) return;
  const filler = join(dataDir, 'filler');
  expect(() => writeFileSync(filler, Buffer.alloc(64 * 2 ** 20))).toThrow('ENOSPC');
  const kernel = kernelOf(dataDir);
  const create = async () => {
    const { url, token } = await kernel.connect(undefined, true);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/v2/datasets`, { method: 'POST', headers, body: '{"name":"d"}' });
    return [answer.status, ((await answer.json()) as { message?: string }).message];
  };
  expect(await answersTo(await kernel.connect())).toBe(200);
  const full = `The operation failed in ${dataDir}: the disk is full. Free some space there, then try again.`;
  expect(await create()).toEqual([507, full]);
  expect((await findShared(dataDir)).kind).toBe('none');
  await rm(filler);
  expect(await create()).toEqual([
    503,
    'The data directory is writable again. Run the cell again: this read-only service is being replaced.',
  ]);
  await expect.poll(create).toEqual([200, undefined]);
  expect((await findShared(dataDir)).kind).toBe('running');
});

test('another program on the port of a killed service gets no token', async () => {
  const dataDir = await temporaryDirectory();
  const local = kernelOf(dataDir);
  const count = rounds('strangers', 3, 20);
  for (let round = 0; round < count; round++) {
    const before = await local.connect(undefined, true);
    const shared = await findShared(dataDir);
    if (shared.kind !== 'running') throw new Error(`the service is ${shared.kind}`);
    process.kill(shared.file.pid, 'SIGKILL');
    const asked: string[] = [];
    const stranger = createServer((request, response) => {
      asked.push(String(request.headers.authorization));
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    });
    await expect.poll(() => listens(stranger, Number(new URL(before.url).port))).toBe(true);
    const after = await local.connect(undefined, true);
    expect([after.restarted, after.token !== before.token, await answersTo(after)]).toEqual([
      true,
      true,
      200,
    ]);
    stranger.closeAllConnections();
    stranger.close();
    expect(asked.filter(each => each !== 'undefined')).toEqual([]);
  }
});

function listens(server: ReturnType<typeof createServer>, port: number): Promise<boolean> {
  return new Promise(resolve => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port === port));
  });
}

test('a data directory deleted under a service is recreated, by it or the next service', async () => {
  const dataDir = await temporaryDirectory();
  const local = kernelOf(dataDir);
  const first = await local.connect();
  expect(await answersTo(first)).toBe(200);
  const count = rounds('deletions', 2, 20);
  for (let round = 0; round < count; round++) {
    rmSync(dataDir, { recursive: true });
    const address = await local.connect(undefined, true);
    expect(await answersTo(address)).toBe(200);
    expect((await findShared(dataDir)).kind).toBe('running');
  }
});

test('clock jumps affect neither ingestion times nor stored rows', async () => {
  const dataDir = await temporaryDirectory();
  const random = randomOf('clock');
  let nowMs = Date.UTC(2026, 5, 15);
  const service = await startService({
    dataDir,
    port: 0,
    version: 'test',
    spawnEngine,
    log: () => undefined,
    now: () => nowMs,
  });
  onTestFinished(() => service.close());
  const headers = { authorization: `Bearer ${service.token}` };
  const send = (path: string, body: string, type: string) =>
    fetch(service.url + path, { method: 'POST', headers: { ...headers, 'content-type': type }, body });
  await send('/v2/datasets', '{"name":"d"}', 'application/json');
  const count = rounds('clock jumps', 10, 50);
  for (let round = 1; round <= count; round++) {
    nowMs += Math.floor((random() - 0.5) * 2 * 365 * 86_400_000);
    expect((await send('/v1/datasets/d/ingest', `{"n":${round}}`, 'application/x-ndjson')).status).toBe(200);
    const recent = JSON.stringify({
      apl: `d | where n == ${round} | count`,
      startTime: 'now-1h',
      endTime: 'now+1h',
    });
    const found = await (await send('/v1/datasets/_apl?format=tabular', recent, 'application/json')).json();
    expect(found).toMatchObject({ tables: [{ columns: [[1]] }] });
  }
  const all = JSON.stringify({
    apl: 'd | summarize count(), dcount(n)',
    startTime: '1990-01-01T00:00:00Z',
    endTime: '2200-01-01T00:00:00Z',
  });
  const found = await (await send('/v1/datasets/_apl?format=tabular', all, 'application/json')).json();
  expect(found).toMatchObject({ tables: [{ columns: [[count], [count]] }] });
});
