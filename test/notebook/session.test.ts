import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Logins } from '../../kernel/api/login/logins.js';
import { AccessToken, type AxiomEnvironment } from '../../kernel/api/profile.js';
import { Session } from '../../kernel/notebook/session.js';
import { type Service, startService } from '../api/service.js';
import { counted, localToken, now } from './session.js';

let service: Service;
let home: string;
let connected: (boolean | undefined)[];
let session: Session;

beforeEach(async () => {
  service = await startService(() => ({ body: counted }));
  home = await mkdtemp(join(tmpdir(), 'apl-session-'));
});

afterEach(async () => {
  await session.close();
  await service.close();
  await rm(home, { recursive: true });
});

async function open(toml: string, environment: AxiomEnvironment = {}): Promise<void> {
  await writeFile(join(home, '.axiom.toml'), toml, { mode: 0o600 });
  connected = [];
  session = new Session({
    now: () => now,
    environment,
    homeDir: home,
    workDir: home,
    version: '1.2.3',
    local: {
      connect: async (_, doubted) => {
        connected.push(doubted);
        return { url: service.url, token: localToken, restarted: doubted === true };
      },
      close: () => undefined,
    },
    logins: new Logins({ file: join(home, 'logins.json') }),
    log: () => undefined,
  });
}

const profile = (name: string, url: string, rest = '') => `[deployments.${name}]\nurl = "${url}"\n${rest}\n`;
const request = { apl: 'web | count' };
const signal = new AbortController().signal;
const sent = () => service.seen.at(-1)?.headers.authorization;

describe('a query of a hosted profile', () => {
  test('fails without a connection, without starting the local service', async () => {
    const gone = await startService(() => ({}));
    await gone.close();
    await open(profile('prod', gone.url, 'token = "xaat-1"'));
    await session.use('prod');
    const error = await session.query(request, signal).catch(reason => reason);
    expect([error.code, error.message]).toEqual([
      'connection-refused',
      `nothing answers at ${new URL(gone.url).host} (connection refused)`,
    ]);
    expect([connected, service.seen.length, session.takeRestart()]).toEqual([[], 0, false]);
  });

  test('fails after retries if the connection is lost', async () => {
    const rude = await startService(() => response => response.socket?.destroy());
    await open(profile('prod', rude.url, 'token = "xaat-1"'));
    await session.use('prod');
    const error = await session.query(request, signal).catch(reason => reason);
    await rude.close();
    expect([error.code, connected, service.seen.length, rude.seen.length]).toEqual([
      'connection-lost',
      [],
      0,
      // A query only reads, so it is sent again.
      4,
    ]);
  });
});

describe('the token sent', () => {
  test('is the typed one for its profile alone, also after rereading the file', async () => {
    await open(profile('a', service.url, 'token = "xaat-a"') + profile('b', service.url, 'token = "xaat-b"'));
    session.keepToken('a', new AccessToken('xaat-typed'));
    const tokens: (string | undefined)[] = [];
    for (const name of ['a', 'b', 'a', 'local']) {
      await session.use(name);
      await session.query(request, signal);
      tokens.push(sent());
    }
    expect(tokens).toEqual([
      'Bearer xaat-typed',
      'Bearer xaat-b',
      'Bearer xaat-typed',
      `Bearer ${localToken}`,
    ]);
  });

  test("is the typed one for the environment's profile", async () => {
    await open('', { url: service.url, token: 'xaat-environment' });
    session.keepToken('environment', new AccessToken('xaat-typed'));
    await session.use('environment');
    await session.query(request, signal);
    expect([session.profileName, sent()]).toEqual(['environment', 'Bearer xaat-typed']);
  });
});

describe('a profile', () => {
  test('that does not exist is refused; the active one stays', async () => {
    await open(profile('prod', service.url));
    await session.use('prod');
    const error = await session.use('pord').catch(reason => reason);
    expect([error.message, session.profileName]).toEqual(['there is no profile pord', 'prod']);
  });

  test('switch clears the schema cache', async () => {
    await open(profile('prod', service.url, 'token = "xaat-1"'));
    await session.use('local');
    service.answer(() => ({ body: [{ id: 'web', name: 'web', description: '' }] }));
    await session.schema.datasets();
    expect((await session.schema.knownDatasets()).length).toBe(1);
    await session.use('prod');
    expect((await session.schema.knownDatasets()).length).toBe(0);
  });
});
