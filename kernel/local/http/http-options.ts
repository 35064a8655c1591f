import type { ChildProcess } from 'node:child_process';
import type { BuiltinDataset, Compile } from '../sql/compiled-query.js';
import type { DeploymentOf } from '../trino/clusters.js';

/** Limits of a service; each comment ends with the default. */
export interface ServiceLimits {
  /** The largest body of a request other than an ingest; 4 MiB. */
  readonly bodyBytes?: number;
  /** The largest ingest, unpacked; 1 GiB. */
  readonly ingestBytes?: number;
  /** The largest result that a kernel may send; 2 GiB. */
  readonly resultBytes?: number;
  /** The most bytes of the cells of a table of an answer; a quarter of the machine's memory, from 512 MiB to 2 GiB. */
  readonly answerBytes?: number;
  /** Queries at the same time; 12. */
  readonly connections?: number;
  /** Of these, the most that run long queries; 4. */
  readonly long?: number;
  /** Processes for queries that need JavaScript functions; 3, of which one is for short queries. */
  readonly processes?: number;
  /** Queries that may wait; 64. */
  readonly queue?: number;
  /** Memory of the engine; 60 % of the machine's. */
  readonly memoryBytes?: number;
  /** Rows of an engine elsewhere that one part of a query goes on with here; 1,000,000. */
  readonly farRows?: number;
  /** What is kept here of objects in buckets; 4 GiB. */
  readonly bucketBytes?: number;
  /** How long a query may run that asks for no time limit of its own, in milliseconds; two minutes. */
  readonly queryMs?: number;
  /** How long a managed service stays when no kernel holds it, in milliseconds; 30,000. */
  readonly idleMs?: number;
  /** How often it shows those who wait for its data directory that it lives, in milliseconds; 2,000. */
  readonly beatMs?: number;
  /** After how long a silence another service may take its data directory over, in milliseconds; 20,000. */
  readonly takeoverMs?: number;
}

export interface ServiceOptions {
  /** Holds datasets, starred queries, scratch files, and `service.json`, by which kernels find the service; made when absent. */
  readonly dataDir: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Random when absent. */
  readonly token?: string;
  readonly version: string;
  /** Web pages of these origins may use the service; those of none may when absent. */
  readonly origins?: readonly string[];
  /** Closes when no kernel has held `/v1/alive` for a while. */
  readonly managed?: boolean;
  /** How a request becomes SQL; the language's own compiler when absent. */
  readonly compile?: Compile;
  readonly samples?: readonly BuiltinDataset[];
  /** Starts a process of `engine/process.js` with an IPC channel of the advanced serialization. */
  readonly spawnEngine: () => ChildProcess;
  /** The deployments on clusters; there are none when absent. */
  readonly deploymentOf?: DeploymentOf;
  readonly log: (text: string) => void;
  readonly limits?: ServiceLimits;
  /** Milliseconds since 1970; the clock when absent. */
  readonly now?: () => number;
}

/** A listening service. `closed` resolves when it has closed, by itself or by `close`. */
export interface Service {
  readonly url: string;
  readonly token: string;
  readonly closed: Promise<void>;
  close(): Promise<void>;
}
