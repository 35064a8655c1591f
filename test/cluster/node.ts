import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../setup/free-port.js';
import { libraries, plugin, version } from './packages.js';

type Properties = Readonly<Record<string, string>>;

/** Options of a cluster. The default is one node, both coordinator and worker, with in-memory tables. */
export interface ClusterOptions {
  /** Number of workers; if set, the coordinator only coordinates. */
  readonly workers?: number;
  /** Catalogs by name. */
  readonly catalogs?: Readonly<Record<string, Properties>>;
  /** Additional configuration of every node, and of the coordinator alone. */
  readonly config?: Properties;
  readonly coordinator?: Properties;
  /** Directories of plugins besides those of the catalogs. */
  readonly plugins?: readonly string[];
  /** Files that the configuration refers to, by path in a node's directory. */
  readonly files?: Readonly<Record<string, string>>;
  /** Receives the output of the nodes. */
  readonly log?: (text: string) => void;
}

export interface Cluster {
  readonly url: string;
  readonly coordinator: TrinoNode;
  readonly workers: readonly TrinoNode[];
  /** Resolves once this many nodes answer queries (default: all). */
  readonly isReady: (nodes?: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Default catalogs: tables in memory and generated tables. */
export const ownCatalogs: NonNullable<ClusterOptions['catalogs']> = {
  memory: { 'connector.name': 'memory' },
  tpch: { 'connector.name': 'tpch' },
};

/** Returns a catalog of tables over the objects of an S3 server, with the table definitions in the same bucket. */
export function hiveOver(environment: Properties): Properties {
  return {
    'connector.name': 'hive',
    'hive.metastore': 'file',
    'hive.metastore.catalog.dir': 's3://logs/_metastore',
    'hive.metastore.disable-location-checks': 'true',
    'fs.hadoop.enabled': 'false',
    'fs.native-s3.enabled': 'true',
    's3.endpoint': environment.AWS_ENDPOINT_URL ?? '',
    's3.region': environment.AWS_REGION ?? '',
    's3.aws-access-key': environment.AWS_ACCESS_KEY_ID ?? '',
    's3.aws-secret-key': environment.AWS_SECRET_ACCESS_KEY ?? '',
    's3.path-style-access': 'true',
    'hive.allow-drop-column': 'true',
    'hive.non-managed-table-writes-enabled': 'true',
    'hive.storage-format': 'PARQUET',
    'hive.timestamp-precision': 'NANOSECONDS',
  };
}

/** Starts a cluster on free ports and waits until it answers queries. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { workers = 0, coordinator: more = {} } = options;
  const home = await mkdtemp(join(tmpdir(), 'apl-trino-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const coordinator = new TrinoNode(join(home, 'coordinator'), url, options.log);
  const others = Array.from(
    { length: workers },
    (_, index) => new TrinoNode(join(home, `worker${index}`), url, options.log),
  );
  const isReady = (nodes = 1 + workers) => answers(url, nodes);
  const stop = async () => {
    await Promise.all([coordinator, ...others].map(node => node.kill()));
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await coordinator.configure(options, {
      ...more,
      coordinator: 'true',
      'node-scheduler.include-coordinator': String(workers === 0),
      'http-server.http.port': String(port),
    });
    for (const worker of others)
      await worker.configure(options, {
        coordinator: 'false',
        'http-server.http.port': String(await freePort()),
      });
    const ended = [coordinator, ...others].map(node => node.start());
    await Promise.race([isReady(), ...ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, coordinator, workers: others, isReady, stop };
}

/** A cluster node: a process that can be killed and restarted. */
export class TrinoNode {
  readonly #home: string;
  readonly #url: string;
  readonly #log: (text: string) => void;
  #java: ChildProcess | undefined;
  #libraries = '';

  constructor(home: string, coordinatorUrl: string, log: (text: string) => void = () => {}) {
    this.#home = home;
    this.#url = coordinatorUrl;
    this.#log = log;
  }

  /** Process id, for killing the node from outside. */
  get pid(): number | undefined {
    return this.#java?.pid;
  }

  async configure(
    { catalogs = ownCatalogs, plugins = [], config = {}, files = {} }: ClusterOptions,
    own: Properties,
  ): Promise<void> {
    this.#libraries = await libraries();
    await Promise.all(['catalog', 'plugin'].map(name => mkdir(join(this.#home, name), { recursive: true })));
    const used = new Set(Object.values(catalogs).map(each => each['connector.name'] ?? ''));
    const fetched = await Promise.all([...used].map(plugin));
    for (const directory of [...fetched, ...plugins])
      await symlink(directory, join(this.#home, 'plugin', basename(directory)));
    const written: Record<string, string> = {
      'config.properties': properties({ ...common, ...config, ...own, ...this.#places() }),
      'Start.java': `public class Start { public static void main(String[] a) { new io.trino.server.Server().start("${version}"); } }`,
      ...files,
    };
    for (const [name, catalog] of Object.entries(catalogs))
      written[`catalog/${name}.properties`] = properties(catalog);
    for (const [name, text] of Object.entries(written)) {
      await mkdir(dirname(join(this.#home, name)), { recursive: true });
      await writeFile(join(this.#home, name), text);
    }
  }

  #places(): Properties {
    return {
      'node.id': basename(this.#home),
      'discovery.uri': this.#url,
      'plugin.dir': join(this.#home, 'plugin'),
      'catalog.config-dir': join(this.#home, 'catalog'),
    };
  }

  /** Starts the process; the returned promise rejects when the process exits. */
  start(): Promise<never> {
    const args = [...javaOptions, '-cp', `${this.#libraries}/*`, join(this.#home, 'Start.java')];
    const java = spawn('java', args, { cwd: this.#home, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#java = java;
    for (const stream of [java.stdout, java.stderr]) stream.setEncoding('utf8').on('data', this.#log);
    const ended = new Promise<never>((_, reject) => {
      java.on('exit', code => reject(new Error(`Trino has ended with code ${code}`)));
    });
    ended.catch(() => undefined);
    return ended;
  }

  /** Kills the process immediately. */
  async kill(): Promise<void> {
    const java = this.#java;
    this.#java = undefined;
    if (java === undefined || java.exitCode !== null || java.signalCode !== null) return;
    java.kill('SIGKILL');
    await once(java, 'exit');
  }
}

const javaOptions = [
  '-Xmx900m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Djdk.attach.allowAttachSelf=true',
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
  '-Dconfig=config.properties',
];

const common: Properties = {
  'node.environment': 'test',
  'node.internal-address': '127.0.0.1',
  'node.bind-ip': '127.0.0.1',
  'query.max-memory': '400MB',
  'query.max-memory-per-node': '400MB',
  'memory.heap-headroom-per-node': '128MB',
  'internal-communication.shared-secret': 'of these nodes alone',
  'regex-library': 'RE2J',
};

function properties(members: Properties): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

/** Waits for the workers: a coordinator answers requests before it knows them, and counts itself as one. */
async function answers(url: string, nodes: number): Promise<void> {
  const sql =
    "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active' HAVING (SELECT count(*) FROM tpch.tiny.region) = 5";
  for (;;) {
    const [row] = await statement(url, sql).catch(() => []);
    if (row?.[0] === nodes) return;
    await delay(500);
  }
}
/** Runs a statement as an administrator and returns its rows; names without a schema belong to `schema` in the catalog `hive`. */
export async function statement(
  url: string,
  sql: string,
  schema = 'default',
): Promise<readonly (readonly unknown[])[]> {
  const headers = {
    'x-trino-user': 'admin',
    'x-trino-time-zone': 'UTC',
    'x-trino-catalog': 'hive',
    'x-trino-schema': schema,
  };
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
