import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  bucketAddressText,
  type ImportChoices,
  placeOfImport,
  readBucketAddress,
} from '../api/api-imports.js';
import type { ImportPreview } from '../api/api-preview.js';
import { datasetNameOf, type ImportReport } from '../api/wire.js';
import { AplKernelError, UsageError } from '../errors.js';
import { placesOf } from '../local/data-layout.js';
import { type Watch, watchUnseen } from '../local/engine/engine-request.js';
import type { Service } from '../local/http/http-options.js';
import { holderOf } from '../local/lease/lease.js';
import { endShared, findShared, type RuntimeFile } from '../local/shared.js';
import type { DeploymentOf } from '../local/trino/clusters.js';
import { present } from '../present.js';

/** Options of a service on this machine. */
export interface ServeRequest {
  readonly dataDir: string;
  readonly version: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Whether kernels find and share it, and it ends with the last of them. */
  readonly managed: boolean;
  readonly token: string | undefined;
  /** Default time limit of a query, in milliseconds (default: two minutes). */
  readonly queryMs?: number;
  /** Origins of web pages that may use it (default: none). */
  readonly origins?: readonly string[];
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
  readonly spawnEngine: () => ChildProcess;
  /** Deployments on clusters. */
  readonly deploymentOf?: DeploymentOf;
  readonly log: (text: string) => void;
}

/** A file to import as a dataset; the time column is detected unless it is named. */
export interface ImportCommand extends ImportChoices {
  readonly dataDir: string;
  readonly version: string;
  readonly log: (text: string) => void;
  readonly file: string;
  /** Named after the file if undefined. */
  readonly dataset: string | undefined;
  readonly replace: boolean;
  /** Nanoseconds since 1970, for rows without a time (default: the clock). */
  readonly now?: () => bigint;
  /**
   * Called every quarter of a second with the share of the file that has been read, from 0 to 1 (undefined while it is inspected before
   * that), and its approximate number of rows (0 if unknown).
   */
  readonly onProgress?: (share: number | undefined, rows: number) => void;
}

/** The port is taken, or the data directory cannot be used. */
class ServeError extends AplKernelError {}

/** Starts the local service with its sample datasets; throws ServeError. */
export async function serve({ token, queryMs, ...request }: ServeRequest): Promise<Service> {
  const [{ startService }, { samples }] = await Promise.all([
    import('../local/http/http-server.js'),
    import('../local/samples/all-samples.js'),
  ]);
  try {
    return await startService({ ...request, ...present({ token }), limits: present({ queryMs }), samples });
  } catch (cause) {
    if (cause instanceof AplKernelError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServeError('serve-failed', `the local service cannot start: ${reason}`, {
      hint: 'choose another --port or --data directory',
      cause,
    });
  }
}

/** Imports a file's rows into a dataset of the data directory, whether or not a service is running; throws AplKernelError. */
export function importIntoDataset(command: ImportCommand): Promise<ImportReport> {
  return withFile(command, importPath);
}

/** Describes how a file would be imported; throws AplKernelError. */
export function previewImport(command: ImportCommand): Promise<ImportPreview> {
  return withFile(command, previewPath);
}

/** Calls `work` with the command and a local file: downloaded, or read from standard input. */
async function withFile<T extends { readonly notes: readonly string[] }>(
  command: ImportCommand,
  work: (command: ImportCommand) => Promise<T>,
): Promise<T> {
  if (placeOfImport(command.file) === 'bucket')
    throw new UsageError('option-invalid', 'a bucket is read in place, so a command cannot import it', {
      hint: `write \`%import ${bucketAddressText(readBucketAddress(command.file))}\` in a notebook`,
    });
  const { addressOf, downloadNote, withDownload } = await import('../api/download.js');
  const address = addressOf(command.file);
  if (address !== undefined)
    return withDownload(address, async file => {
      const report = await work({ ...command, file: file.path });
      return { ...report, notes: [downloadNote(file), ...report.notes] };
    });
  if (command.file !== '-') return work(command);
  if (command.dataset === undefined)
    throw new UsageError('option-invalid', 'standard input has no name', {
      hint: 'give one with --dataset',
    });
  const scratch = await mkdtemp(join(tmpdir(), 'apl-kernel-'));
  try {
    const file = join(scratch, 'stdin');
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }));
    return await work({ ...command, file });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function previewPath({
  dataDir,
  file,
  dataset = datasetNameOf(file),
  now = clockNs,
  ...choices
}: ImportCommand): Promise<ImportPreview> {
  const { previewFile } = await import('../local/store/sources/source-preview.js');
  return previewFile(dataDir, { path: file, dataset, ...choices }, now());
}

async function importPath(command: ImportCommand): Promise<ImportReport> {
  const [{ checkWritable }, { openFormat }, { importSource, openSource }, { ImportStore }, { samples }] =
    await Promise.all([
      import('../local/launch.js'),
      import('../local/store/store-format.js'),
      import('../local/store/import.js'),
      import('../local/store/append/import-store.js'),
      import('../local/samples/all-samples.js'),
    ]);
  const {
    dataDir,
    version,
    log,
    file,
    dataset = datasetNameOf(file),
    now = clockNs,
    onProgress,
    ...choices
  } = command;
  checkWritable(dataDir);
  await openFormat(dataDir, version, log);
  const request = { path: file, dataset, ...choices };
  const source = await openSource(dataDir, request);
  let tell = () => {};
  const watch: Watch = {
    ...watchUnseen,
    runs: (share, rows) => {
      tell = () => onProgress?.(share(), rows());
    },
  };
  const timer = setInterval(() => tell(), progressMs);
  try {
    const store = new ImportStore(dataDir, source.engine, { version, log, builtins: samples });
    store.checkName(dataset);
    return await importSource(store, source, request, now(), { watch });
  } finally {
    clearInterval(timer);
    await source.engine.close();
  }
}

function clockNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

const progressMs = 250;

/** Outcome of `serve --stop`. */
export type StopReport = 'none' | 'elsewhere' | 'used' | 'ended' | 'alive';

/**
 * Stops the service that kernels share in a data directory, with `unused` only if no kernel uses it, and waits for it to end; leaves alone
 * any other program that answers in its place.
 */
export async function stopSharedService(dataDir: string, unused: boolean): Promise<StopReport> {
  let report: StopReport = 'none';
  for (const place of placesOf(dataDir)) {
    const found = await findShared(place);
    if (found.kind === 'none' || found.kind === 'gone') continue;
    if (unused && !(await endsUnused(found.file))) return 'used';
    if (!(await endShared(place, found.file))) return 'alive';
    report = 'ended';
  }
  return report === 'none' && (await holderOf(dataDir)) !== undefined ? 'elsewhere' : report;
}

/** Returns whether a service has begun to end because no kernel uses it. */
async function endsUnused({ url, token }: RuntimeFile): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/v1/alive`, { method: 'DELETE', headers })).ok;
}
