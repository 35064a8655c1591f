import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { awaitVacancy, Lease, type LeaseOptions, takeLease } from '../../../kernel/local/lease/lease.js';
import { readHolder } from '../../../kernel/local/lease/lease-file.js';
import { ownName, processStart } from '../../../kernel/local/lease/processes.js';
import { temporaryDirectory } from '../service.js';
import { Elsewhere, held, leases } from './leases.js';

const logged: string[] = [];

/** Takes a lease for this process, with a heartbeat every few milliseconds by default. */
async function take(dataDir: string, options: Partial<LeaseOptions> = {}): Promise<Lease> {
  const log = (text: string) => logged.push(text);
  const lease = await takeLease(dataDir, {
    version: '9.9.9',
    log,
    beatMs: 20,
    takeoverMs: 600_000,
    ...options,
  });
  onTestFinished(() => {
    logged.length = 0;
    lease.release();
  });
  return lease;
}

/** A heartbeat too slow to occur in the test. */
const silent = { beatMs: 600_000 };

const lost = expect.objectContaining({ code: 'lease-lost' });

function failureOf(work: () => void): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test('a lease is one file that names its holder and phase', async () => {
  const dataDir = await temporaryDirectory();
  const lease = await take(dataDir);
  expect(leases(dataDir)).toEqual({ 'lease-1.json': 'starting' });
  lease.open(
    'http://127.0.0.1:7',
    () => true,
    () => {},
  );
  const file = join(dataDir, 'lease-1.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    ...{ pid: process.pid, started: await processStart(process.pid), owner: await ownName(), phase: 'open' },
    ...{ host: hostname(), user: userInfo().username, version: '9.9.9', url: 'http://127.0.0.1:7' },
  });
  // Other users may read who holds it, but only its owner may change it.
  expect(statSync(file).mode & 0o133).toBe(0);
  lease.closing();
  expect(leases(dataDir)).toEqual({ 'lease-1.json': 'closing' });
  lease.release();
  expect(leases(dataDir)).toEqual({ 'lease-1.json': 'ended' });
  await take(dataDir);
  expect(leases(dataDir)).toEqual({ 'lease-2.json': 'starting' });
});

test('a second holder is refused and told who holds the lease', async () => {
  const dataDir = await temporaryDirectory();
  const holder = await take(dataDir);
  holder.open(
    'http://127.0.0.1:7',
    () => true,
    () => {},
  );
  const who = `process ${process.pid} of ${userInfo().username} on ${hostname()}`;
  await expect(take(dataDir)).rejects.toMatchObject({
    code: 'data-directory-held',
    message: expect.stringContaining(
      `the local service at http://127.0.0.1:7 of apl-kernel 9.9.9: ${who}, since 20`,
    ),
    hint: expect.stringContaining('serve --stop'),
  });
  holder.confirm();
});

test('a live holder elsewhere keeps the directory', async () => {
  const dataDir = await temporaryDirectory();
  new Elsewhere(dataDir).live();
  await expect(take(dataDir)).rejects.toThrow(`the data directory ${dataDir} ${held}`);
  await expect(awaitVacancy(dataDir, { version: '1', log: () => {} })).rejects.toThrow(held);
  expect(leases(dataDir)).toEqual({ 'lease-1.json': 'open' });
});

test('names in a lease cannot send terminal escapes', async () => {
  const dataDir = await temporaryDirectory();
  new Elsewhere(dataDir).live({ host: 'web\u001b[2J' });
  await expect(take(dataDir)).rejects.toThrow('of alice on web⟨U+001B⟩[2J,');
});

test('a holder killed on this machine is replaced at once', async () => {
  const dataDir = await temporaryDirectory();
  const gone = spawn(process.execPath, ['-e', '']);
  const started = await processStart(gone.pid ?? 0);
  await once(gone, 'exit');
  const first = await take(dataDir);
  const { scope } = JSON.parse(readFileSync(join(dataDir, 'lease-1.json'), 'utf8'));
  first.release();
  new Elsewhere(dataDir, 2).show({ pid: gone.pid, started, scope });
  await take(dataDir);
  expect([leases(dataDir), logged]).toEqual([{ 'lease-3.json': 'starting' }, []]);
});

test.each(['starting', 'closing'])('a holder that is %s is waited for', async phase => {
  const dataDir = await temporaryDirectory();
  const before = await take(dataDir);
  if (phase === 'closing') before.closing();
  const next = take(dataDir);
  await expect.poll(() => logged).toHaveLength(1);
  expect(logged[0]).toContain(
    `waiting up to 600 s for the data directory ${dataDir}, last used by the local`,
  );
  before.release();
  await next;
  expect(leases(dataDir)).toEqual({ 'lease-2.json': 'starting' });
});

test('a holder elsewhere that stays silent is replaced after its timeout, and its drafts are deleted', async () => {
  const dataDir = await temporaryDirectory();
  const scratch = join(dataDir, '.tmp');
  const other = new Elsewhere(dataDir);
  other.show({ takeoverMs: 300 });
  const own = `${await ownName()}-1`;
  const names = [`${other.owner}-1`, 'ffffffff-8-0123456789ab-1', 'eeeeeeee-7-0123456789ab-1', own];
  for (const name of names) {
    mkdirSync(join(scratch, name), { recursive: true });
    writeFileSync(join(scratch, name, 'draft'), '');
  }
  await take(dataDir);
  expect(leases(dataDir)).toEqual({ 'lease-2.json': 'starting' });
  // Directories that others are using, such as those of imports, stay.
  expect(readdirSync(scratch).sort()).toEqual(['eeeeeeee-7-0123456789ab-1', own].sort());
});

test('a kernel can wait out a silent holder before it starts a service', async () => {
  const dataDir = await temporaryDirectory();
  new Elsewhere(dataDir).show({ takeoverMs: 300 });
  await awaitVacancy(dataDir, { version: '1', log: () => {} });
  expect(leases(dataDir)).toEqual({ 'lease-2.json': 'ended' });
});

const damages: readonly (readonly [string, (file: string) => void])[] = [
  ['empty', file => writeFileSync(file, '')],
  ['not JSON', file => writeFileSync(file, '{"pid":')],
  ['of the wrong shape', file => writeFileSync(file, '{"pid":"1","scope":7}')],
  ['a directory', file => mkdirSync(file)],
  ['unreadable', file => writeFileSync(file, '', { mode: 0 })],
];

test.each(damages)('a lease that is %s delays a new holder only briefly', async (_, damage) => {
  const dataDir = await temporaryDirectory();
  damage(join(dataDir, 'lease-7.json'));
  await take(dataDir, { takeoverMs: 200 });
  expect(leases(dataDir)).toEqual({ 'lease-8.json': 'starting' });
});

test('flipping any bit of a lease neither admits a second holder nor extends the wait', async () => {
  const dataDir = await temporaryDirectory();
  const lease = await take(dataDir, silent);
  lease.open(
    'http://127.0.0.1:7',
    () => true,
    () => {},
  );
  const file = join(dataDir, 'lease-1.json');
  const content = { ...readHolder(file).holder };
  expect(content.phase).toBe('open');
  const bytes = readFileSync(file);
  const end = bytes.indexOf('\n');
  const believed: unknown[] = [];
  for (let at = 0; at < bytes.length; at += at > end ? 97 : 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(file, changed);
    const { holder } = readHolder(file);
    if (at > end) expect([at, holder]).toEqual([at, content]);
    // The checksum does not cover its own key.
    else if (holder !== undefined) believed.push({ ...content, ...holder, checksum: '' });
  }
  expect(believed).toEqual(believed.map(() => expect.objectContaining({ ...content, checksum: '' })));
  expect(believed.length).toBeLessThanOrEqual('checksum'.length);
});

test('a silent holder with a damaged lease is soon replaced, and the drafts of others are deleted', async () => {
  const dataDir = await temporaryDirectory();
  const [scratch, other] = [join(dataDir, '.tmp'), new Elsewhere(dataDir)];
  other.show();
  const text = readFileSync(join(dataDir, other.file), 'utf8');
  writeFileSync(join(dataDir, other.file), text.slice(0, 200));
  const own = `${await ownName()}-1`;
  for (const name of [`${other.owner}-1`, own]) mkdirSync(join(scratch, name), { recursive: true });
  await take(dataDir);
  expect(leases(dataDir)).toEqual({ 'lease-2.json': 'starting' });
  expect(readdirSync(scratch)).toEqual([own]);
  expect(logged).toEqual([
    `waiting up to 7 s for the data directory ${dataDir}, last used by an unknown service: ${join(dataDir, other.file)} is damaged`,
  ]);
});

test.each([
  ['took the lease', 1],
  ['took the lease and passed it on', 2],
])('a slow successor gives up if another %s', async (_, number) => {
  const dataDir = await temporaryDirectory();
  new Elsewhere(dataDir, number).show();
  const options = { version: '9.9.9', log: () => {} };
  expect(await Lease.follow(0, dataDir, options)).toBeUndefined();
  expect(leases(dataDir)).toEqual({ [`lease-${number}.json`]: 'open' });
});

test('of many concurrent takers, one holds the directory at a time', async () => {
  const dataDir = await temporaryDirectory();
  let holding = 0;
  const turns: number[] = [];
  const one = async () => {
    const lease = await take(dataDir);
    turns.push(++holding);
    lease.confirm();
    await new Promise(resolve => setTimeout(resolve, 5));
    lease.confirm();
    holding--;
    lease.release();
  };
  await Promise.all(Array.from({ length: 12 }, one));
  expect([turns, leases(dataDir)]).toEqual([new Array(12).fill(1), { 'lease-12.json': 'ended' }]);
});

test('a replaced holder confirms nothing more and is told why', async () => {
  const dataDir = await temporaryDirectory();
  const reasons: string[] = [];
  const lease = await take(dataDir, silent);
  lease.open(
    'http://127.0.0.1:7',
    () => true,
    reason => reasons.push(reason),
  );
  lease.confirm();
  new Elsewhere(dataDir, 2).show();
  expect(failureOf(() => lease.confirm())).toEqual(lost);
  expect(failureOf(() => lease.check())).toEqual(lost);
  expect(reasons).toEqual(['the data directory belongs to another service now']);
  rmSync(join(dataDir, 'lease-2.json'));
  expect(failureOf(() => lease.confirm())).toEqual(lost);
});

test('a holder whose lease file is gone confirms nothing', async () => {
  const dataDir = await temporaryDirectory();
  const lease = await take(dataDir, silent);
  rmSync(join(dataDir, 'lease-1.json'));
  expect(failureOf(() => lease.confirm())).toEqual(lost);
  expect(existsSync(join(dataDir, 'lease-1.json'))).toBe(false);
});

test('the heartbeat tells a replaced holder that it lost the lease', async () => {
  const dataDir = await temporaryDirectory();
  const lease = await take(dataDir);
  const reason = new Promise<string>(resolve => lease.open('http://127.0.0.1:7', () => true, resolve));
  new Elsewhere(dataDir, 2).show();
  expect(await reason).toBe('the data directory belongs to another service now');
});

test('a holder is told when its runtime file is gone', async () => {
  const lease = await take(await temporaryDirectory());
  let isAnnounced = true;
  const reason = new Promise<string>(resolve => lease.open('http://127.0.0.1:7', () => isAnnounced, resolve));
  isAnnounced = false;
  expect(await reason).toBe('the runtime file is missing or belongs to another service');
});

/** Returns the heartbeat counter in a lease. */
function beatIn(dataDir: string): number {
  return JSON.parse(readFileSync(join(dataDir, 'lease-1.json'), 'utf8')).beat;
}

test.each([
  ['forward', 3_600_000],
  ['back', -3_600_000],
])('setting the clock %s an hour makes the holder renew its lease before it answers', async (_, hourMs) => {
  const dataDir = await temporaryDirectory();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const lease = await take(dataDir, silent);
  const before = beatIn(dataDir);
  lease.check();
  lease.confirm();
  expect(beatIn(dataDir)).toBe(before);
  vi.setSystemTime(Date.now() + hourMs);
  lease.check();
  expect(beatIn(dataDir)).toBe(before + 1);
  vi.setSystemTime(Date.now() + hourMs);
  lease.confirm();
  expect(beatIn(dataDir)).toBe(before + 2);
});
