import { memoryAtMost, processMemory } from '../../machine.js';
import { aloneLengths, hasManyLengths, sharedLengths } from '../duckdb/bounds/vectors.js';
import { families } from '../duckdb/functions/families.js';
import { withoutScripts } from '../duckdb/register.js';
import { Engine, type EngineOptions } from '../engine/duckdb.js';
import { EngineError, ReservedMemoryError } from '../engine/engine-failure.js';
import type { ReaderSource } from '../engine/engine-reader.js';
import { anyStatement } from '../engine/engine-run.js';
import { readersOf } from '../engine/reading/duckdb-reader.js';
import { ScriptedEngine } from '../engine/scripted.js';
import type { DirectoryAccess } from '../lease/access.js';
import { LocalError } from '../local-errors.js';
import { makeSchema } from '../results/sent-names.js';
import { ResultTables } from '../results/tables.js';
import { type UploadedResult, UploadedResults } from '../results/uploaded.js';
import { compileRequest } from '../sql/compile.js';
import type { Compile, CompiledQuery } from '../sql/compiled-query.js';
import { Buckets } from '../store/dataset/bucket/buckets.js';
import { DatasetStore } from '../store/datasets.js';
import { Clusters } from '../trino/clusters.js';
import type { ServiceOptions } from './http-options.js';

/** The engines that run queries. Only this file chooses DuckDB and its SQL. */
export interface Engines {
  readonly compile: Compile;
  /** The engine in this process runs no JavaScript functions: a slow one would hold up every request. */
  readonly engine: Engine;
  /** The datasets, with a separate engine so that no query holds them up. */
  readonly datasets: DatasetStore;
  /** The buckets that store some of the datasets. */
  readonly buckets: Buckets;
  readonly readersFor: (query: CompiledQuery, results: Iterable<UploadedResult>) => ReaderSource;
  readonly results: UploadedResults;
  /** Clusters of deployments, which this service queries on behalf of kernels. */
  readonly clusters: Clusters;
  /** Results and rows that queries read, in the results engine. */
  readonly tables: ResultTables;
  close(): Promise<void>;
}

/** Opens the engines below the data directory. `access` is checked before a dataset changes. */
export async function openEngines(
  { dataDir, limits, samples, spawnEngine, deploymentOf = noDeployments, log }: ServiceOptions,
  access: DirectoryAccess,
): Promise<Engines> {
  const { families: plainFamilies, isScripted } = withoutScripts(sharedFamilies);
  const memoryBytes = limits?.memoryBytes ?? memoryAtMost() * 0.6;
  const [engine, storeEngine] = await Promise.all([
    Engine.open({ ...limits, dataDir, families: plainFamilies, memoryBytes, log }),
    Engine.open({ dataDir, families: [], ...ownWork, memoryBytes: memoryBytes / 8, log }),
  ]);
  const buckets = new Buckets(dataDir, storeEngine, limits?.bucketBytes);
  const datasets = new DatasetStore(dataDir, storeEngine, samples, log, () => access.confirm(), buckets);
  const processes = limits?.processes ?? 3;
  const scripted = new ScriptedEngine({
    dataDir,
    spawn: spawnEngine,
    processes,
    long: Math.max(1, processes - 1),
    queue: limits?.queue ?? 64,
    memoryBytes: memoryBytes / 4,
  });
  // Its actual memory is limited like that of the others; what it reserves need not exist.
  const roomy = new ScriptedEngine({
    dataDir,
    spawn: spawnEngine,
    processes: 1,
    long: 1,
    queue: limits?.queue ?? 64,
    memoryBytes: memoryBytes * roomyFactor,
  });
  const forResults = resultsEngine({
    dataDir,
    families: plainFamilies,
    connections: 6,
    long: 2,
    memoryBytes: memoryBytes / 2,
    log,
  });
  const plain = readersOf(engine);
  const clusters = new Clusters(deploymentOf);
  const tables = new ResultTables(forResults.engine);
  return {
    compile: compileRequest,
    engine,
    readersFor: (query, sent) => {
      const alone = orElse(
        withTables(scripted, sent),
        error => error instanceof ReservedMemoryError,
        withTables(roomy, sent),
      );
      if (anyStatement(query, sql => isScripted(sql) || hasManyLengths(sql))) return alone;
      const beside = [...sent].length === 0 ? plain : forResults.readers;
      return orElse(
        orElse(beside, error => error instanceof ReservedMemoryError, withTables(roomy, sent)),
        isCostly,
        alone,
      );
    },
    results: new UploadedResults(tables, memoryBytes / 4),
    tables,
    datasets,
    buckets,
    clusters,
    close: async () => {
      await Promise.all([
        engine.close(),
        scripted.close(),
        roomy.close(),
        forResults.close(),
        clusters.close(),
      ]);
      await datasets.close().finally(() => storeEngine.close());
    },
  };
}

async function noDeployments(name: string): Promise<never> {
  throw new LocalError('not-found', 'profile', `Unknown deployment ${name}.`);
}

/** Function families of an engine that runs many queries. */
const sharedFamilies = families.map(family =>
  family === aloneLengths ? sharedLengths({ used: processMemory, most: memoryAtMost }) : family,
);

/**
 * Options for the service's own work: reading footers, storing batches and merging files. Callers bound it, so nothing is refused because
 * of a full queue. Merges are long, and leave workers for the rest.
 */
const ownWork = { connections: 6, long: 2, queue: Number.POSITIVE_INFINITY } as const;

/**
 * Creates the engine for results sent by kernels, opened with the first one. They may come from the hosted service, so it encrypts spilled
 * data.
 */
function resultsEngine(options: EngineOptions): {
  readonly engine: () => Promise<Engine>;
  readonly readers: ReaderSource;
  close(): Promise<void>;
} {
  let opened: Promise<Engine> | undefined;
  const engine = () => {
    opened ??= openResultsEngine(options).catch(error => {
      // The next result retries.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    engine,
    readers: {
      reading: async (work, temporary, context) =>
        readersOf(await engine()).reading(work, temporary, context),
    },
    close: async () => (await opened)?.close(),
  };
}

async function openResultsEngine(options: EngineOptions): Promise<Engine> {
  const engine = await Engine.open({ ...options, secret: true });
  await engine.withConnection(connection => connection.run(makeSchema));
  return engine;
}

/** How much more the roomy engine may reserve than the engines of this process combined; it uses only a fraction. */
const roomyFactor = 8;

/** Returns whether the values of a query are too long to be computed next to others. */
function isCostly(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'function-cost';
}

/** Reruns a query that fails as tested by `fails`, in a process that may end without harm to others. */
function orElse(first: ReaderSource, fails: (error: unknown) => boolean, alone: ReaderSource): ReaderSource {
  return {
    reading: async (work, temporary, context) => {
      try {
        return await first.reading(work, temporary, context);
      } catch (error) {
        if (!fails(error)) throw error;
        return alone.reading(work, temporary, context);
      }
    },
  };
}

/** Loads the results that a query reads into the engine of another process, before the first statement that may read them. */
function withTables(source: ReaderSource, results: Iterable<UploadedResult>): ReaderSource {
  return {
    reading: (work, temporary, signal) =>
      source.reading(
        reader => {
          const loaded = new Set<UploadedResult>();
          const load = async () => {
            for (const result of results) {
              if (loaded.has(result)) continue;
              loaded.add(result);
              await reader.load(result.table, result.body);
            }
          };
          return work({
            load: (...given) => reader.load(...given),
            execute: sql => load().then(() => reader.execute(sql)),
            read: order => load().then(() => reader.read(order)),
          });
        },
        temporary,
        signal,
      ),
  };
}
