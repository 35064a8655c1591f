import path from 'node:path';
import { placeOf } from '../place.js';
import { checkFormat, openFormat } from '../store/format.js';
import { openEngines } from './engines.js';
import type { Service, ServiceOptions } from './options.js';

/** Starts the query API on 127.0.0.1, for reading alone where the data directory cannot be written. The process should have UV_THREADPOOL_SIZE=16 or more in its environment. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const dataDir = path.resolve(options.dataDir);
  const place = placeOf(dataDir);
  if (place.refusal === undefined) await openFormat(dataDir, options.version, options.log);
  else await checkFormat(dataDir);
  // The engines open on threads while this one loads the code of the API.
  const [engines, { listen }] = await Promise.all([openEngines(options, dataDir), import('./listen.js')]);
  try {
    return await listen({ ...options, dataDir }, engines, place);
  } catch (error) {
    await engines.close();
    throw error;
  }
}
