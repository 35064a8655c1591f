import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Login } from '../../../kernel/api/login/login-store.js';
import { LoginStore } from '../../../kernel/api/login/login-store.js';
import { inDataDir } from '../../../kernel/local/data-layout.js';
import { locked, lockOf } from '../../../kernel/local/lease/lock.js';
import { QueryLog } from '../../../kernel/notebook/query/query-log.js';
import { temporaryDirectory } from '../service.js';

const ago = (ms: number) => new Date(Date.now() - ms);

/** Things that may be in place of a lock that nobody holds. */
const leftBehind: Readonly<Record<string, (lock: string) => Promise<unknown>>> = {
  'the lock of a killed process': async lock => {
    await mkdir(lock);
    await utimes(lock, ago(11_000), ago(11_000));
  },
  'a lock from before the clock was set back': async lock => {
    await mkdir(lock);
    await utimes(lock, ago(-3_600_000), ago(-3_600_000));
  },
  'a file': lock => writeFile(lock, 'x'),
  'a directory with a file': async lock => {
    await mkdir(lock);
    await writeFile(path.join(lock, 'inside'), 'x');
  },
  'a dangling link': lock => symlink('/nothing/here', lock),
  'a link to itself': lock => symlink(lock, lock),
};

const login: Login = {
  profile: 'prod',
  url: 'https://api.example.org',
  server: { issuer: 'https://example.org', token_endpoint: 'https://example.org/token' },
  clientId: 'x',
  accessToken: 'y',
};

/** Operations that take a lock of the data directory shared by several modules; each returns whether it succeeded. */
const users: Readonly<Record<string, (dataDir: string) => Promise<boolean>>> = {
  'x.lock': dataDir => locked(path.join(dataDir, 'x.lock'), async () => true),
  'queries.jsonl.lock': async dataDir => {
    const log = new QueryLog(inDataDir(dataDir, 'queries.jsonl'), 1);
    const window = { startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' };
    await log.append({ at: window.startTime, profile: 'local', apl: 'x', ...window, rows: 1, elapsedMs: 1 });
    return existsSync(inDataDir(dataDir, 'queries.jsonl.old'));
  },
  'logins.json.lock': async dataDir => {
    const store = new LoginStore(inDataDir(dataDir, 'logins.json'));
    const about = { profileName: login.profile, url: login.url };
    await store.change(about, async () => login, AbortSignal.timeout(60_000));
    return (await store.find(about)) !== undefined;
  },
};

const cases = Object.keys(users).flatMap(lock => Object.keys(leftBehind).map(what => [what, lock] as const));

test.each(cases)('%s in place of %s blocks nobody', async (what, lock) => {
  const dataDir = await temporaryDirectory();
  await leftBehind[what]?.(path.join(dataDir, lock));
  expect(await users[lock]?.(dataDir)).toBe(true);
  expect((await readdir(dataDir)).filter(name => name === lock)).toEqual([]);
});

test('a held lock is waited for until a timeout or an abort', async () => {
  const lock = path.join(await temporaryDirectory(), 'x.lock');
  const unlock = await lockOf(lock);
  await expect(lockOf(lock, { timeoutMs: 0 })).rejects.toMatchObject({ code: 'ELOCKED' });
  const waiting = new AbortController();
  const never = lockOf(lock, { timeoutMs: Number.POSITIVE_INFINITY, signal: waiting.signal });
  waiting.abort();
  await expect(never).rejects.toMatchObject({ name: 'AbortError' });
  const next = lockOf(lock);
  await unlock();
  await (await next)();
});
