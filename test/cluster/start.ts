import { missingForCluster, startTrino } from './node.js';

/** Starts a cluster to try things on, says how to use it, and stops it at Ctrl-C. */
const missing = await missingForCluster();
if (missing !== undefined) throw new Error(missing);
console.log('Starting; the first time fetches 340 MB of packages.');
const node = await startTrino(process.env.TRINO_LOG ? text => process.stderr.write(text) : undefined);
console.log(`Trino answers at ${node.url}. In ~/.axiom.toml:

[deployments.lake]
engine = "trino"
url = "${node.url}"
user = "me"
catalog = "tpch"
schema = "tiny"

Ctrl-C ends it.`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void node.stop());
