import path from 'node:path';
import { type Place, placeOf } from '../data-layout.js';
import { type DirectoryAccess, ReadOnlyAccess } from '../lease/access.js';
import { takeLease } from '../lease/lease.js';
import { checkFormat, openFormat } from '../store/store-format.js';
import { openEngines } from './engines.js';
import type { Service, ServiceOptions } from './http-options.js';

/**
 * Starts the query API on 127.0.0.1: read-only if the data directory cannot be written, otherwise once no other service holds it. Throws
 * InUseError if another keeps holding it. The process should have UV_THREADPOOL_SIZE=16 or more in its environment.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const dataDir = path.resolve(options.dataDir);
  const place = placeOf(dataDir);
  await checkFormat(dataDir);
  const access = await accessOf({ ...options, dataDir }, place);
  try {
    return await startIn(place, { ...options, dataDir }, access);
  } catch (error) {
    access.release();
    throw error;
  }
}

async function accessOf(
  { dataDir, version, log, limits }: ServiceOptions,
  { refusal }: Place,
): Promise<DirectoryAccess> {
  return refusal === undefined
    ? takeLease(dataDir, { version, log, ...limits })
    : new ReadOnlyAccess(refusal);
}

async function startIn(place: Place, options: ServiceOptions, access: DirectoryAccess): Promise<Service> {
  if (place.refusal === undefined) await openFormat(options.dataDir, options.version, options.log);
  // The engines open on threads while this thread loads the API code.
  const [engines, { listen }] = await Promise.all([openEngines(options, access), import('./listen.js')]);
  try {
    return await listen(options, engines, { ...place, access });
  } catch (error) {
    await engines.close();
    throw error;
  }
}
