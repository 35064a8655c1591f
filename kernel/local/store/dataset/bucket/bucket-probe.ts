import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { readBucketAddress } from '../../../../api/api-imports.js';
import { AplKernelError } from '../../../../errors.js';
import { textOf } from '../../../../files.js';
import { present } from '../../../../present.js';
import { inDataDir } from '../../../data-layout.js';
import { unsealed } from '../../../sealed.js';
import { decodeName } from '../../names.js';
import { noteIn } from '../stored.js';
import { BucketClient } from './client/bucket-client.js';
import { Meter } from './client/meter.js';

/** A dataset in a bucket, with the error if it cannot be listed. */
export interface ProbedBucket {
  readonly dataset: string;
  readonly address: string;
  readonly refusal?: AplKernelError;
}

/** Lists the top level of each bucket that a dataset of the data directory is in, with the credentials of this process. */
export async function probeBuckets(dataDir: string): Promise<readonly ProbedBucket[]> {
  const root = inDataDir(dataDir, 'datasets');
  const names = await readdir(root).catch(() => []);
  const found = await Promise.all(
    names.map(async (name): Promise<ProbedBucket[]> => {
      const dataset = decodeName(name);
      const text = await textOf(path.join(root, name, 'dataset.json')).catch(() => '{}');
      const bucket = bucketIn(text);
      if (dataset === undefined || bucket === undefined) return [];
      const refusal = await refusalOf(bucket);
      return [{ dataset, address: bucket, ...present({ refusal }) }];
    }),
  );
  return found.flat();
}

/** Ignores a damaged note, which is reported elsewhere. */
function bucketIn(text: string): string | undefined {
  try {
    return noteIn(unsealed(JSON.parse(text)).content).bucket?.address;
  } catch {
    return undefined;
  }
}

async function refusalOf(address: string): Promise<AplKernelError | undefined> {
  try {
    const client = new BucketClient(readBucketAddress(address));
    await client.list(client.address.prefix, false, {
      meter: new Meter(),
      signal: AbortSignal.timeout(probeMs),
    });
    return undefined;
  } catch (error) {
    if (error instanceof AplKernelError) return error;
    return new AplKernelError('bucket', `${address} did not respond within ${probeMs / 1000} s`);
  }
}

/** Timeout in milliseconds: a user is waiting for the report. */
const probeMs = 10_000;
