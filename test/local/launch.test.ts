import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { placeOf, placesOf } from '../../kernel/local/data-layout.js';
import {
  createLocalService,
  LaunchError,
  type LocalService,
  spawnDetached,
} from '../../kernel/local/launch.js';
import { processStart } from '../../kernel/local/lease/processes.js';
import { endShared, findShared, runtimeFilePath } from '../../kernel/local/shared.js';
import { Elsewhere, held } from './lease/leases.js';

/** A minimal service in a separate process: it writes its runtime file, and exits when no client holds it. */
const program = `
import { createHmac } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [dataDir, delay] = process.argv.slice(2);
appendFileSync(dataDir + '/starts', 'start ');
let held = 0;
const secret = 's-' + process.pid;
const stat = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
const started = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() + ' ' + stat[19];
const server = createServer((request, response) => {
  const nonce = request.url.split('/v1/local/proof?nonce=')[1];
  const text = 'apl-kernel ' + server.address().port + ' ' + nonce;
  if (nonce) return response.end(createHmac('sha256', secret).update(text).digest('base64url'));
  if (request.headers.authorization !== 'Bearer t-' + process.pid) return response.writeHead(401).end();
  held += 1;
  response.writeHead(200).flushHeaders();
  response.on('close', () => { held -= 1; if (held === 0) process.exit(0); });
});
setTimeout(() => server.listen(0, '127.0.0.1', () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  writeFileSync(dataDir + '/service.json', JSON.stringify({ url, token: 't-' + process.pid, secret, pid: process.pid, started, version: '1' }), { mode: 0o600 });
}), Number(delay));
setTimeout(() => process.exit(0), 20_000);
`;

let dataDir: string;
let services: LocalService[];
let logged: string[];
/** Stops the heartbeat of another service. */
let stopElsewhere = () => {};

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'apl-launch-'));
  services = [];
  logged = [];
  await writeFile(join(dataDir, 'service.mjs'), program);
});

afterEach(async () => {
  stopElsewhere();
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
    version: '1',
    startLimitMs,
    timeoutMs: 500,
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
  await expect.poll(() => isAlive(pid), { interval: 20 }).toBe(false);
}

async function starts(): Promise<number> {
  return (await readFile(join(dataDir, 'starts'), 'utf8')).split(' ').length - 1;
}

test('a service is started if none is running, and then reused', async () => {
  const local = launcher();
  const first = await local.connect();
  expect([first.restarted, first.token, await starts()]).toEqual([false, `t-${await servicePid()}`, 1]);
  expect(await local.connect()).toEqual(first);
  expect(await launcher().connect()).toEqual(first);
  expect(await starts()).toBe(1);
});

test('kernels that start at the same time share one service', async () => {
  const addresses = await Promise.all(
    [launcher(100), launcher(100), launcher(100)].map(local => local.connect()),
  );
  expect([new Set(addresses.map(address => address.url)).size, await starts()]).toEqual([1, 1]);
});

test('concurrent requests share one start', async () => {
  const local = launcher(50);
  const [a, b] = await Promise.all([local.connect(), local.connect()]);
  expect([a, await starts()]).toEqual([b, 1]);
});

test('a service that died is restarted, and the kernel is told once', async () => {
  const local = launcher();
  const before = await local.connect();
  const pid = (await servicePid()) as number;
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => logged).toContain('the local service is no longer running');
  const after = await local.connect();
  expect([after.restarted, after.token !== before.token, (await local.connect()).restarted]).toEqual([
    true,
    true,
    false,
  ]);
});

test('only the kernel that restarts the service reports a restart', async () => {
  const [local, other] = [launcher(), launcher()];
  await Promise.all([local.connect(), other.connect()]);
  process.kill((await servicePid()) as number, 'SIGKILL');
  const after = await local.connect(undefined, true);
  expect([after.restarted, await other.connect(undefined, true)]).toEqual([
    true,
    { ...after, restarted: false },
  ]);
  expect(await starts()).toBe(2);
});

test('a kernel that doubts the service detects that it has just died', async () => {
  const local = launcher();
  const before = await local.connect();
  expect(await local.connect(undefined, true)).toEqual(before);
  process.kill((await servicePid()) as number, 'SIGKILL');
  const after = await local.connect(undefined, true);
  expect([after.restarted, after.token !== before.token, await starts()]).toEqual([true, true, 2]);
});

/** Starts a server that is not a kernel service; `asked` lists its requests. */
async function stranger(answer: (response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    answer(response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

async function leaveRuntimeFile(content: object): Promise<void> {
  const usual = { token: 'old', secret: 'old', pid: process.pid, started: '', version: '1' };
  await writeFile(runtimeFilePath(dataDir), JSON.stringify({ ...usual, ...content }));
}

const ownStart = await processStart(process.pid);

test.each([
  ['nothing listens there', 9, { started: ownStart }],
  ['its process is gone', undefined, { pid: 2 ** 22 + 1 }],
  ['another process has its id now', undefined, { started: 'an earlier boot 1' }],
  ['a web page is served there', undefined, { started: ownStart }],
  ['it has no secret', undefined, { secret: undefined }],
])('a runtime file is ignored if %s', async (_, port, content) => {
  const other = await stranger(response => response.end('<html>'));
  await leaveRuntimeFile({ url: `http://127.0.0.1:${port ?? other.port}`, ...content });
  const { token } = await launcher().connect();
  expect(token).toBe(`t-${await servicePid()}`);
  expect(
    other.asked.filter(line => !/^\/v1\/local\/proof\?nonce=[0-9a-f]{64} undefined$/.test(line)),
  ).toEqual([]);
});

test('the kernel gives up on an unrelated server that never answers, and sends it no token', async () => {
  const other = await stranger(() => {});
  await leaveRuntimeFile({ url: `http://127.0.0.1:${other.port}` });
  const { token } = await launcher().connect();
  expect(token).toBe(`t-${await servicePid()}`);
  expect(other.asked.filter(line => !line.endsWith(' undefined'))).toEqual([]);
});

test('a runtime file with an unexpected host is never contacted', async () => {
  const other = await stranger(response => response.end());
  await leaveRuntimeFile({ url: `http://[::ffff:127.0.0.1]:${other.port}` });
  const { token } = await launcher().connect();
  expect([other.asked, token]).toEqual([[], `t-${await servicePid()}`]);
});

test('a live service elsewhere keeps the directory and its runtime file, and the kernel names it', async () => {
  stopElsewhere = new Elsewhere(dataDir).live();
  const elsewhere = { url: 'http://127.0.0.1:9', scope: 'ffffffff', started: ownStart };
  await leaveRuntimeFile(elsewhere);
  const error = await launcher()
    .connect()
    .catch(reason => reason);
  expect([error.code, error.message]).toEqual([
    'data-directory-held',
    `the data directory ${dataDir} ${held}`,
  ]);
  expect(JSON.parse(await readFile(runtimeFilePath(dataDir), 'utf8'))).toMatchObject(elsewhere);
  await rm(runtimeFilePath(dataDir));
});

test('a silent service elsewhere is waited for, then replaced', async () => {
  new Elsewhere(dataDir).show({ takeoverMs: 3_000 });
  const service = launcher();
  const connected = service.connect();
  const sentence = `waiting up to 3 s for the data directory ${dataDir}, last used by the local`;
  await expect.poll(() => service.waiting()).toContain(sentence);
  const { token } = await connected;
  expect([token, service.waiting(), logged]).toEqual([
    `t-${await servicePid()}`,
    undefined,
    [expect.stringContaining(sentence), 'starting the local service'],
  ]);
});

test('a service of another container is shared if it is reachable', async () => {
  const first = await launcher().connect();
  const file = JSON.parse(await readFile(runtimeFilePath(dataDir), 'utf8'));
  stopElsewhere = new Elsewhere(dataDir).live();
  await leaveRuntimeFile({ ...file, scope: 'ffffffff', pid: 1, started: 'never' });
  expect((await launcher().connect()).url).toBe(first.url);
  expect(await starts()).toBe(1);
  // Its pid is meaningless in this container; it ends because its runtime file is gone.
  const shared = await findShared(dataDir);
  if (shared.kind !== 'running') throw new Error(`the service is ${shared.kind}`);
  const ending = endShared(dataDir, shared.file);
  await expect.poll(() => readFile(runtimeFilePath(dataDir)).catch(() => 'gone')).toBe('gone');
  process.kill(file.pid, 'SIGKILL');
  expect(await ending).toBe(true);
});

test('a frozen service is killed and replaced', async () => {
  const local = launcher();
  const before = await local.connect();
  const frozen = (await servicePid()) as number;
  process.kill(frozen, 'SIGSTOP');
  const after = await local.connect(undefined, true);
  expect([after.restarted, after.token !== before.token, await starts()]).toEqual([true, true, 2]);
  await ended(frozen);
});

test('a frozen service is killed even by a kernel that never used it', async () => {
  await launcher().connect();
  const frozen = (await servicePid()) as number;
  process.kill(frozen, 'SIGSTOP');
  expect((await launcher().connect()).restarted).toBe(false);
  await ended(frozen);
});

test('an unwritable data directory is reported at once', async () => {
  const file = join(dataDir, 'file');
  await writeFile(file, '');
  const spawn = () => spawnDetached(process.execPath, [], dataDir);
  const local = createLocalService({ dataDir: join(file, 'below'), spawn, log: () => {}, version: '1' });
  const error = await local.connect().catch(reason => reason);
  expect([error instanceof LaunchError, error.message]).toEqual([
    true,
    'the local service cannot start: its data directory is not writable',
  ]);
});

test('a service exits once no kernel holds it', async () => {
  const [a, b] = [launcher(), launcher()];
  await Promise.all([a.connect(), b.connect()]);
  const pid = (await servicePid()) as number;
  a.close();
  await b.connect();
  expect(isAlive(pid)).toBe(true);
  b.close();
  await ended(pid);
});

test('a service that fails to start reports why', async () => {
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

test('the kernel gives up on a service that does not listen in time', async () => {
  const error = await launcher(1_000, 200)
    .connect()
    .catch(reason => reason);
  expect(error.message).toBe('the local service did not start within 0.2 s');
  await expect.poll(servicePid).toBeTypeOf('number');
  await launcher().connect();
});

test('interrupting the wait does not cancel the start', async () => {
  const local = launcher(200);
  const abort = new AbortController();
  const waiting = local.connect(abort.signal).catch(reason => reason);
  abort.abort(new Error('stop'));
  expect((await waiting).message).toBe('stop');
  expect([(await local.connect()).restarted, await starts()]).toEqual([false, 1]);
});

test('spawning a missing program is reported', async () => {
  const { ended: end } = spawnDetached(join(dataDir, 'nothing'), [], dataDir);
  expect((await end).startsWith('spawn ')).toBe(true);
});

test('a service of a newer format is left running and named; one of an older version is used', async () => {
  const newer = program.replace("version: '1'", "version: '9.0.0', format: 2");
  await writeFile(join(dataDir, 'newer.mjs'), newer);
  const found = await launcher(0, 10_000, 'newer.mjs')
    .connect()
    .catch(error => error);
  expect([found instanceof LaunchError, found.message, found.hint]).toEqual([
    true,
    'the local service was started by apl-kernel 9.0.0, which is newer than this kernel',
    'Restart the kernel with apl-kernel 9.0.0 or later, or stop the service with `npx apl-kernel serve --stop`: the next query starts this version.',
  ]);
  const pid = (await servicePid()) ?? 0;
  expect(() => process.kill(pid, 0)).not.toThrow();
  process.kill(pid);
  await ended(pid);
  expect(await launcher().connect()).toMatchObject({ restarted: false });
});

test('no service is started in a data directory of a newer format, and the kernel says why', async () => {
  await writeFile(join(dataDir, 'format.json'), '{"format":2,"version":"9.0.0"}');
  await expect(launcher().connect()).rejects.toMatchObject({ code: 'data-format' });
  await expect(stat(join(dataDir, 'starts'))).rejects.toMatchObject({ code: 'ENOENT' });
});

/** A directory in which nobody can create anything: the system returns EACCES or EPERM. */
const unwritable = '/sys/kernel/apl';

async function ownTemporaryDirectory(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'apl-launch-'));
  vi.stubEnv('TMPDIR', directory);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true });
  });
}

test('a writable data directory is used as given', async () => {
  const below = join(dataDir, 'a', 'b');
  expect([placeOf(below), placesOf(below)]).toEqual([{ directory: below }, [below]]);
});

test('an unwritable data directory falls back to the same temporary directory each time', async () => {
  await ownTemporaryDirectory();
  const { directory, refusal } = placeOf(unwritable);
  expect(dirname(directory)).toBe(process.env.TMPDIR);
  expect((refusal as NodeJS.ErrnoException).code).toMatch(/^(?:EACCES|EPERM|EROFS)$/);
  expect(placeOf(unwritable).directory).toBe(directory);
  expect(placesOf(unwritable)).toEqual([unwritable, directory]);
  expect(placeOf('/sys/kernel/other').directory).not.toBe(directory);
});

test('a fallback directory that other users can write to is refused', async () => {
  await ownTemporaryDirectory();
  const { directory } = placeOf(unwritable);
  await chmod(directory, 0o777);
  expect(() => placeOf(unwritable)).toThrow(`other users can write to ${directory}`);
  expect(placesOf(unwritable)).toEqual([unwritable]);
});

test('a path through a file is an error, not a read-only directory', async () => {
  const file = join(dataDir, 'a-file');
  await writeFile(file, '');
  expect(() => placeOf(join(file, 'below'))).toThrow('ENOTDIR');
});
