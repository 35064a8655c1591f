import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The newest release whose parts are all in Maven Central and that runs on Java 17. */
const version = '435';

/** Packages are kept from run to run, as Maven keeps its own. */
const kept = join(homedir(), '.cache', 'apl-kernel-cluster', version);

/** A cluster of one node, coordinator and worker at once, whose tables are in its memory. */
export interface TrinoNode {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Why no cluster can be started on this machine; undefined if one can. */
export async function missingForCluster(): Promise<string | undefined> {
  for (const program of ['java', 'javac', 'mvn']) {
    const found = await run(program, ['-version']).catch(() => undefined);
    if (found === undefined) return `there is no ${program} on the PATH: install a JDK 17 or newer and Maven`;
  }
  return undefined;
}

/** Starts a node on a free port and waits until it answers queries; `log` receives what it prints. */
export async function startTrino(log: (text: string) => void = () => {}): Promise<TrinoNode> {
  if (!existsSync(kept)) await fetchPackages(kept);
  const home = await mkdtemp(join(tmpdir(), 'apl-trino-'));
  const port = await freePort();
  await writeConfiguration(home, port);
  const java = spawn('java', [...javaOptions, '-cp', `${join(kept, 'lib')}/*`, join(home, 'Start.java')], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [java.stdout, java.stderr]) stream.setEncoding('utf8').on('data', log);
  const ended = new Promise<never>((_, reject) => {
    java.on('exit', code => reject(new Error(`Trino has ended with code ${code}`)));
  });
  ended.catch(() => undefined);
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    java.kill('SIGKILL');
    await ended.catch(() => undefined);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await Promise.race([isReady(url), ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

const javaOptions = [
  '-Xmx900m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Djdk.attach.allowAttachSelf=true',
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
  '-Dconfig=config.properties',
];

async function fetchPackages(directory: string): Promise<void> {
  await mkdir(join(directory, '..'), { recursive: true });
  const scratch = await mkdtemp(`${directory}-`);
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cluster</groupId><artifactId>cluster</artifactId><version>1</version>
<dependencies><dependency><groupId>io.trino</groupId><artifactId>trino-main</artifactId><version>${version}</version></dependency></dependencies></project>`;
  await writeFile(join(scratch, 'pom.xml'), pom);
  const maven = (...args: string[]) => run('mvn', ['-q', '-B', ...args], { cwd: scratch });
  await maven('dependency:copy-dependencies', '-DoutputDirectory=lib');
  for (const plugin of ['memory', 'tpch'])
    await maven(
      'dependency:unpack',
      `-Dartifact=io.trino:trino-${plugin}:${version}:zip`,
      '-Dmdep.unpack.directory=plugin',
      `-DoutputDirectory=plugin`,
    );
  await rename(scratch, directory);
}

async function writeConfiguration(home: string, port: number): Promise<void> {
  const config = {
    'node.environment': 'test',
    'node.id': 'one',
    'node.internal-address': '127.0.0.1',
    'node.bind-ip': '127.0.0.1',
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': String(port),
    'discovery.uri': `http://127.0.0.1:${port}`,
    'query.max-memory': '400MB',
    'query.max-memory-per-node': '400MB',
    'memory.heap-headroom-per-node': '128MB',
    'plugin.dir': join(kept, 'plugin'),
    'catalog.config-dir': join(home, 'catalog'),
    'internal-communication.shared-secret': 'of this node alone',
    'regex-library': 'RE2J',
  };
  await mkdir(join(home, 'catalog'));
  await writeFile(join(home, 'config.properties'), properties(config));
  await writeFile(join(home, 'catalog', 'memory.properties'), properties({ 'connector.name': 'memory' }));
  await writeFile(join(home, 'catalog', 'tpch.properties'), properties({ 'connector.name': 'tpch' }));
  const start = `public class Start { public static void main(String[] a) { new io.trino.server.Server().start("${version}"); } }`;
  await writeFile(join(home, 'Start.java'), start);
}

function properties(members: Readonly<Record<string, string>>): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** It answers requests before it has found itself as a worker. */
async function isReady(url: string): Promise<void> {
  for (;;) {
    const rows = await statement(url, 'SELECT count(*) FROM tpch.tiny.region').catch(() => []);
    if (rows.length > 0) return;
    await delay(500);
  }
}

/** Runs a statement as an administrator would, and returns its rows. */
export async function statement(url: string, sql: string): Promise<readonly (readonly unknown[])[]> {
  const headers = { 'x-trino-user': 'admin', 'x-trino-time-zone': 'UTC' };
  const rows: (readonly unknown[])[] = [];
  let page = await pageOf(await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: sql }));
  for (;;) {
    const { data = [], error, nextUri } = page;
    if (error !== undefined) throw new Error(`${error.message} in ${sql}`);
    rows.push(...data);
    if (nextUri === undefined) return rows;
    page = await pageOf(await fetch(nextUri, { headers }));
  }
}

interface Page {
  readonly data?: readonly (readonly unknown[])[];
  readonly error?: { readonly message: string };
  readonly nextUri?: string;
}

async function pageOf(response: Response): Promise<Page> {
  return (await response.json()) as Page;
}
