import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { AUTHORITIES_HANDED_ON } from '../../kernel/machine.js';
import { freePort } from '../setup/free-port.js';
import { type ClusterBench, clusterBench, deployment } from './bench.js';
import { type Cluster, startCluster, statement } from './node.js';
import { libraries } from './packages.js';

const run = promisify(execFile);
const isThere = inject('trino') !== '';
const [password, tokenKey] = [
  'correct-horse',
  Buffer.from('a key of thirty-two bytes or more').toString('base64'),
];

let cluster: Cluster;
let notebook: ClusterBench;
let home = '';
const before = process.env[AUTHORITIES_HANDED_ON];

/** A cluster with password and token authentication over TLS, one running and one queued query, and little memory per query. */
beforeAll(async () => {
  if (!isThere) return;
  home = await mkdtemp(join(tmpdir(), 'apl-kernel-test-'));
  const port = await freePort();
  await makeCertificate();
  cluster = await startCluster({
    config: {
      'query.max-memory-per-node': '40MB',
      'query.max-concurrent-queries': '1',
      'query.max-queued-queries': '1',
    },
    coordinator: {
      'http-server.https.enabled': 'true',
      'http-server.https.port': String(port),
      'http-server.https.keystore.path': join(home, 'keys.p12'),
      'http-server.https.keystore.key': 'changeit',
      'http-server.authentication.type': 'PASSWORD,JWT',
      // For administrative statements of the tests.
      'http-server.authentication.allow-insecure-over-http': 'true',
      'http-server.authentication.jwt.key-file': join(home, 'token.key'),
    },
    plugins: [await passwordPlugin()],
    files: {
      'etc/password-authenticator.properties': `password-authenticator.name=one\none.password=${password}\n`,
    },
  });
  process.env[AUTHORITIES_HANDED_ON] = join(home, 'authority.pem');
  const secure = `https://localhost:${port}`;
  const member = (name: string, value: string) => `${name} = "${value}"`;
  notebook = await clusterBench(
    [
      deployment('known', secure, 'tpch', 'tiny', member('password', password)),
      deployment('wrong', secure, 'tpch', 'tiny', member('password', 'incorrect-horse')),
      deployment('token', secure, 'tpch', 'tiny', member('token', tokenOf(3_600))),
      deployment('expired', secure, 'tpch', 'tiny', member('token', tokenOf(-60))),
      deployment('large', secure, 'tpch', 'sf1000', member('password', password)),
      deployment('one', secure, 'tpch', 'sf1', member('password', password)),
    ].join('\n'),
  );
}, 900_000);
afterAll(async () => {
  if (before === undefined) delete process.env[AUTHORITIES_HANDED_ON];
  else process.env[AUTHORITIES_HANDED_ON] = before;
  await notebook?.close();
  await cluster?.stop();
  if (home !== '') await rm(home, { recursive: true, force: true });
});

async function makeCertificate(): Promise<void> {
  const store = [
    '-keystore',
    join(home, 'keys.p12'),
    '-storetype',
    'PKCS12',
    '-storepass',
    'changeit',
    '-alias',
    'one',
  ];
  await run('keytool', [
    '-genkeypair',
    ...store,
    '-keyalg',
    'RSA',
    '-dname',
    'CN=localhost',
    '-ext',
    'san=dns:localhost',
  ]);
  await run('keytool', ['-exportcert', '-rfc', ...store, '-file', join(home, 'authority.pem')]);
  await writeFile(join(home, 'token.key'), tokenKey);
}

async function passwordPlugin(): Promise<string> {
  const directory = join(home, 'passwords');
  const classes = join(directory, 'classes');
  await mkdir(join(classes, 'META-INF', 'services'), { recursive: true });
  const source = join(import.meta.dirname, 'Passwords.java');
  await run('javac', ['-cp', `${await libraries()}/*`, '-d', classes, source]);
  await writeFile(join(classes, 'META-INF', 'services', 'io.trino.spi.Plugin'), 'Passwords\n');
  return directory;
}

/** Returns a token that expires after this many seconds. */
function tokenOf(seconds: number): string {
  const part = (value: object | Buffer) =>
    (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part({ sub: 'me', exp: Math.floor(Date.now() / 1000) + seconds })}`;
  return `${signed}.${part(createHmac('sha256', Buffer.from(tokenKey, 'base64')).update(signed).digest())}`;
}

const on = (name: string, apl: string) => notebook.run(`%%on ${name}\n%%time 1990-01-01..2027-01-01\n${apl}`);

describe.skipIf(!isThere)('a cluster with authentication and limits', () => {
  test.each([
    ['known', /\b25\b/],
    ['token', /\b25\b/],
    [
      'wrong',
      /The cluster at localhost:\d+ rejected the user or the secret of the deployment \(status 401\)\./,
    ],
    [
      'expired',
      /The cluster at localhost:\d+ rejected the user or the secret of the deployment \(status 401\)\./,
    ],
  ])('accepts only the right password or a valid token: %s', async (name, shown) => {
    const text = await on(name, 'nation | count');
    expect(text).toMatch(shown);
    expect(text).not.toContain('horse');
  });

  test('reports a query over its memory limit', async () => {
    expect(await on('one', 'lineitem | summarize dcount(comment)')).toContain(
      'The query exceeds the resource limits of the cluster (EXCEEDED_LOCAL_MEMORY_LIMIT, query ',
    );
  });

  test('reports a full queue', async () => {
    // These run until the cluster stops, so this test must be the last.
    for (const column of ['quantity', 'tax'])
      statement(cluster.url, `SELECT sum(${column}) FROM tpch.sf1000.lineitem`).catch(() => undefined);
    const listed = async () => {
      const answer = await fetch(`${cluster.url}/v1/query`, { headers: { 'x-trino-user': 'admin' } });
      return (await answer.json()) as readonly { readonly state: string }[];
    };
    const isUnderWay = ({ state }: { readonly state: string }) => state !== 'FINISHED' && state !== 'FAILED';
    while ((await listed()).filter(isUnderWay).length < 2) await delay(200);
    expect(await on('known', 'nation | count')).toContain('The query queue of the cluster is full.');
  });
});
