import type { TestProject } from 'vitest/node';
import { startCluster } from './node.js';
import { missingForCluster } from './packages.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the cluster; empty if none can be started here. */
    readonly trino: string;
  }
}

/** Starts the cluster of the tests, or prints why they are skipped. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env.TRINO_URL;
  const missing = running === undefined ? await missingForCluster() : undefined;
  if (missing !== undefined) console.log(`Tests of a cluster are left out: ${missing}.`);
  if (missing !== undefined || running !== undefined) {
    project.provide('trino', running ?? '');
    return async () => {};
  }
  const cluster = await startCluster();
  project.provide('trino', cluster.url);
  return cluster.stop;
}
