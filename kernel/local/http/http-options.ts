import type { ChildProcess } from 'node:child_process';
import type { BuiltinDataset, Compile } from '../sql/compiled-query.js';
import type { DeploymentOf } from '../trino/clusters.js';

/** Limits of a service; each comment ends with the default. */
export interface ServiceLimits {
  /** Maximum body of a request other than an ingest; 4 MiB. */
  readonly bodyBytes?: number;
  /** Maximum body of an ingest after decompression; 1 GiB. */
  readonly ingestBytes?: number;
  /** Maximum size of a result from a kernel; 2 GiB. */
  readonly resultBytes?: number;
  /** Maximum size of the cells of a table in a response; a quarter of the machine's memory, from 512 MiB to 2 GiB. */
  readonly answerBytes?: number;
  /** Concurrent queries; 12. */
  readonly connections?: number;
  /** Concurrent long queries among them; 4. */
  readonly long?: number;
  /** Processes for queries that need JavaScript functions; 3, of which one is for short queries. */
  readonly processes?: number;
  /** Waiting queries; 64. */
  readonly queue?: number;
  /** Memory limit of the engine; 60 % of the machine's. */
  readonly memoryBytes?: number;
  /** Maximum rows of an external engine that one part of a query continues with here; 1,000,000. */
  readonly farRows?: number;
  /** Size of the local cache of bucket objects; 4 GiB. */
  readonly bucketBytes?: number;
  /** Time limit of a query that does not set one, in milliseconds; two minutes. */
  readonly queryMs?: number;
  /** Time a managed service stays up without any kernel, in milliseconds; 30,000. */
  readonly idleMs?: number;
  /** Interval at which it renews its lease on the data directory, in milliseconds; 2,000. */
  readonly beatMs?: number;
  /** Silence after which another service may take over its data directory, in milliseconds; 20,000. */
  readonly takeoverMs?: number;
}

export interface ServiceOptions {
  /**
   * Directory for datasets, starred queries, scratch files and `service.json`, which kernels use to find the service; created if missing.
   */
  readonly dataDir: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** Random by default. */
  readonly token?: string;
  readonly version: string;
  /** Origins whose web pages may use the service; none by default. */
  readonly origins?: readonly string[];
  /** Closes after no kernel has held `/v1/alive` for a while. */
  readonly managed?: boolean;
  /** Compiles requests to SQL; the language's own compiler by default. */
  readonly compile?: Compile;
  readonly samples?: readonly BuiltinDataset[];
  /** Starts the program of `engine-process.ts`, with an IPC channel in advanced serialization. */
  readonly spawnEngine: () => ChildProcess;
  /** Deployments on clusters; none by default. */
  readonly deploymentOf?: DeploymentOf;
  readonly log: (text: string) => void;
  readonly limits?: ServiceLimits;
  /** Milliseconds since 1970; the system clock by default. */
  readonly now?: () => number;
}

/** A listening service. `closed` resolves once it has closed, on its own or through `close`. */
export interface Service {
  readonly url: string;
  readonly token: string;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}
