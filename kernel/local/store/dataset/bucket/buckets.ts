import path from 'node:path';
import { readBucketAddress } from '../../../../api/api-imports.js';
import { inDataDir } from '../../../data-layout.js';
import type { Engine } from '../../../engine/duckdb.js';
import type { FarDatasets } from '../../datasets.js';
import type { FarDataset } from '../../snapshot.js';
import type { BucketNote, DatasetNote } from '../stored.js';
import { ChunkCache } from './bucket-chunks.js';
import { FooterStore } from './bucket-footers.js';
import { OpenBucket } from './bucket-open.js';
import { BucketReading } from './bucket-reading.js';
import { BucketClient } from './client/bucket-client.js';

/** Buckets of datasets, cached under `<dataDir>/.cache/buckets`, which may be deleted at any time. */
export class Buckets implements FarDatasets {
  /** Engine that reads and writes files of datasets. */
  readonly engine: Engine;
  readonly #chunks: ChunkCache;
  readonly #footers: FooterStore;
  readonly #opened = new Map<string, OpenBucket>();

  /** The engine describes the columns of files; at most `mostBytes` of objects are cached. */
  constructor(dataDir: string, engine: Engine, mostBytes = usualBytes) {
    const directory = path.join(inDataDir(dataDir, '.cache'), 'buckets');
    this.#chunks = new ChunkCache(path.join(directory, 'chunks'), mostBytes);
    this.#footers = new FooterStore(path.join(directory, 'footers'));
    this.engine = engine;
  }

  open(
    name: string,
    note: DatasetNote,
    bucket: BucketNote,
    learn: (bucket: BucketNote) => Promise<void>,
  ): FarDataset {
    return new BucketReading({ name, note, bucket, open: this.at(bucket.address), learn });
  }

  /** Returns the reader of an address, which connects with the first request. */
  at(address: string): OpenBucket {
    const known = this.#opened.get(address);
    if (known !== undefined) return known;
    const client = new BucketClient(readBucketAddress(address));
    const opened = new OpenBucket(client, this.#chunks, this.#footers, this.engine);
    this.#opened.set(address, opened);
    return opened;
  }
}

/** Size of cached objects, in bytes; footers add a few thousandths. */
const usualBytes = 4 * 2 ** 30;
