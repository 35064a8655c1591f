import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createLocalService,
  LaunchError,
  type LocalService,
  runtimeFilePath,
  spawnDetached,
} from '../../kernel/local/launch.js';

/** A service of the smallest kind, as a process of its own: it writes its runtime file, and ends when nobody holds it. */
const program = `
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [dataDir, delay] = process.argv.slice(2);
appendFileSync(dataDir + '/starts', 'start ');
let held = 0;
const server = createServer((request, response) => {
  if (request.headers.authorization !== 'Bearer t-' + process.pid) return response.writeHead(401).end();
  if (request.url === '/v2/user') return response.end('{}');
  held += 1;
  response.writeHead(200).flushHeaders();
  response.on('close', () => { held -= 1; if (held === 0) process.exit(0); });
});
setTimeout(() => server.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  writeFileSync(dataDir + '/service.json', JSON.stringify({ url, token: 't-' + process.pid, pid: process.pid, version: '1' }), { mode: 0o600 });
}), Number(delay));
setTimeout(() => process.exit(0), 20_000);
`;

let dataDir: string;
let services: LocalService[];
let logged: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'apl-launch-'));
  services = [];
  logged = [];
  await writeFile(join(dataDir, 'service.mjs'), program);
});

afterEach(async () => {
  for (const service of services) service.close();
  const pid = await servicePid();
  if (pid !== undefined) await ended(pid);
  await rm(dataDir, { recursive: true });
});

function launcher(delay = 0, startLimitMs = 10_000, script = 'service.mjs'): LocalService {
  const args = [join(dataDir, script), dataDir, String(delay)];
  const service = createLocalService({
    dataDir,
    spawn: () => spawnDetached(process.execPath, args, dataDir),
    log: text => logged.push(text),
    startLimitMs,
  });
  services.push(service);
  return service;
}

async function servicePid(): Promise<number | undefined> {
  const text = await readFile(runtimeFilePath(dataDir), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text).pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function ended(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 5_000, interval: 20 }).toBe(false);
}

async function starts(): Promise<number> {
  return (await readFile(join(dataDir, 'starts'), 'utf8')).split(' ').length - 1;
}

test('a service is started when there is none, and used again', async () => {
  const local = launcher();
  const first = await local.connect();
  expect([first.restarted, first.token, await starts()]).toEqual([false, `t-${await servicePid()}`, 1]);
  expect(await local.connect()).toEqual(first);
  expect(await launcher().connect()).toEqual(first);
  expect(await starts()).toBe(1);
});

test('kernels that begin at once start one service', async () => {
  const addresses = await Promise.all(
    [launcher(100), launcher(100), launcher(100)].map(local => local.connect()),
  );
  expect([new Set(addresses.map(address => address.url)).size, await starts()]).toEqual([1, 1]);
});

test('questions at once share one start', async () => {
  const local = launcher(50);
  const [a, b] = await Promise.all([local.connect(), local.connect()]);
  expect([a, await starts()]).toEqual([b, 1]);
});

test('a service that died is started again, and that is said once', async () => {
  const local = launcher();
  const before = await local.connect();
  const pid = (await servicePid()) as number;
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => logged).toContain('the local service is gone');
  const after = await local.connect();
  expect([after.restarted, after.token !== before.token, (await local.connect()).restarted]).toEqual([
    true,
    true,
    false,
  ]);
});

test('a service that died a moment ago is found out when it is doubted', async () => {
  const local = launcher();
  const before = await local.connect();
  expect(await local.connect(undefined, true)).toEqual(before);
  process.kill((await servicePid()) as number, 'SIGKILL');
  const after = await local.connect(undefined, true);
  expect([after.restarted, after.token !== before.token, await starts()]).toEqual([true, true, 2]);
});

test('a runtime file that a crash left behind is not believed', async () => {
  await writeFile(
    runtimeFilePath(dataDir),
    JSON.stringify({ url: 'http://127.0.0.1:9', token: 'old', pid: 1, version: '1' }),
  );
  const { token } = await launcher().connect();
  expect(token).toBe(`t-${await servicePid()}`);
});

test('a runtime file that points elsewhere is not even tried', async () => {
  const asked: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    asked.push(request.url);
    response.end('{}');
  });
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const url = `http://[::ffff:127.0.0.1]:${port}`;
  await writeFile(runtimeFilePath(dataDir), JSON.stringify({ url, token: 'old', pid: 1, version: '1' }));
  const address = await launcher().connect();
  other.close();
  expect([asked, address.token]).toEqual([[], `t-${await servicePid()}`]);
});

test('a service nobody holds can end', async () => {
  const [a, b] = [launcher(), launcher()];
  await Promise.all([a.connect(), b.connect()]);
  const pid = (await servicePid()) as number;
  a.close();
  await b.connect();
  expect(isAlive(pid)).toBe(true);
  b.close();
  await ended(pid);
});

test('a service that cannot start says why', async () => {
  await writeFile(join(dataDir, 'broken.mjs'), 'console.error("no room"); process.exit(3);');
  const error = await launcher(0, 10_000, 'broken.mjs')
    .connect()
    .catch(reason => reason);
  expect([
    error instanceof LaunchError,
    error.message,
    await readFile(join(dataDir, 'service.log'), 'utf8'),
  ]).toEqual([true, 'the local service did not start: it exited with code 3', 'no room\n']);
  expect((await stat(join(dataDir, 'service.log'))).mode & 0o777).toBe(0o600);
  expect((await launcher().connect()).restarted).toBe(false);
});

test('a service that does not listen in time is given up', async () => {
  const error = await launcher(1_000, 200)
    .connect()
    .catch(reason => reason);
  expect(error.message).toBe('the local service did not start within 0.2 s');
  await expect.poll(servicePid, { timeout: 5_000 }).toBeTypeOf('number');
  await launcher().connect();
});

test('waiting can be interrupted, and the start goes on', async () => {
  const local = launcher(200);
  const abort = new AbortController();
  const waiting = local.connect(abort.signal).catch(reason => reason);
  abort.abort(new Error('stop'));
  expect((await waiting).message).toBe('stop');
  expect([(await local.connect()).restarted, await starts()]).toEqual([false, 1]);
});

test('spawning what is not there is told', async () => {
  const { ended: end } = spawnDetached(join(dataDir, 'nothing'), [], dataDir);
  expect((await end).startsWith('spawn ')).toBe(true);
});
