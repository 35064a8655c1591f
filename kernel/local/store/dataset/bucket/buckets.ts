import path from 'node:path';
import { readBucketAddress } from '../../../../api/imports.js';
import type { Engine } from '../../../engine/duckdb.js';
import { inDataDir } from '../../../place.js';
import type { FarDatasets } from '../../datasets.js';
import type { FarDataset } from '../../snapshot.js';
import type { BucketNote, DatasetNote } from '../stored.js';
import { ChunkCache } from './chunks.js';
import { BucketClient } from './client/client.js';
import { FooterStore } from './footers.js';
import { OpenBucket } from './open.js';
import { BucketReading } from './reading.js';

/** The buckets that datasets lie in. What was read of them is kept under `<dataDir>/.cache/buckets`, which may be deleted at any time. */
export class Buckets implements FarDatasets {
  /** It reads and writes files of datasets. */
  readonly engine: Engine;
  readonly #chunks: ChunkCache;
  readonly #footers: FooterStore;
  readonly #opened = new Map<string, OpenBucket>();

  /** The engine is asked for the columns of files; at most `mostBytes` of objects are kept. */
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

  /** Returns what reads an address, which is opened with the first request. */
  at(address: string): OpenBucket {
    const known = this.#opened.get(address);
    if (known !== undefined) return known;
    const client = new BucketClient(readBucketAddress(address));
    const opened = new OpenBucket(client, this.#chunks, this.#footers, this.engine);
    this.#opened.set(address, opened);
    return opened;
  }
}

/** Of objects; their footers are some thousandths of it. */
const usualBytes = 4 * 2 ** 30;
