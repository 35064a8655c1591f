import { Bucket } from '../local/store/dataset/bucket/server.js';
import { hiveOver, ownCatalogs, startCluster } from './node.js';
import { missingForCluster } from './packages.js';

/**
 * Starts a cluster for manual experiments, with the number of workers given on the command line and an S3 server for its catalog
 * `hive`; prints how to use both, and stops them on Ctrl-C.
 */
const missing = await missingForCluster();
if (missing !== undefined) throw new Error(missing);
console.log('Starting; the first time fetches 310 MB of packages.');
const bucket = new Bucket();
const environment = await bucket.start();
const cluster = await startCluster({
  workers: Number(process.argv[2] ?? 0),
  catalogs: { ...ownCatalogs, hive: hiveOver(environment) },
  ...(process.env.TRINO_LOG ? { log: text => process.stderr.write(text) } : {}),
});
console.log(`Trino answers at ${cluster.url}. In ~/.axiom.toml:

[deployments.lake]
engine = "trino"
url = "${cluster.url}"
user = "me"
catalog = "tpch"
schema = "tiny"

The bucket s3://logs, of which the catalog \`hive\` makes tables, answers to whoever has this environment:

${Object.entries(environment)
  .map(([name, value]) => `export ${name}=${value}`)
  .join('\n')}

Ctrl-C ends it.`);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void Promise.all([cluster.stop(), bucket.close()]));
