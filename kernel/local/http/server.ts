import path from 'node:path';
import { makeDirectory } from '../../machine.js';
import { openFormat } from '../store/format.js';
import { openEngines } from './engines.js';
import type { Service, ServiceOptions } from './options.js';

/** Starts the query API on 127.0.0.1. The process should have UV_THREADPOOL_SIZE=16 or more in its environment. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const dataDir = path.resolve(options.dataDir);
  makeDirectory(dataDir);
  await openFormat(dataDir, options.version, options.log);
  // The engines open on threads while this one loads the code of the API.
  const [engines, { listen }] = await Promise.all([openEngines(options, dataDir), import('./listen.js')]);
  try {
    return await listen({ ...options, dataDir }, engines);
  } catch (error) {
    await engines.close();
    throw error;
  }
}
