import type { Endpoint } from '../../api/profile.js';
import type { StatusMessage } from '../../api/wire.js';
import type { MeasuredCatalog } from '../engine/scans.js';
import { LocalError } from '../local-errors.js';
import type { FarEngine } from '../results/far.js';
import { type Deployment, type StatementOptions, Statements } from './protocol/statement.js';
import { ClusterError } from './protocol/trino-failure.js';
import { Tables } from './trino-catalog.js';
import { trino } from './trino-dialect.js';
import { readRows } from './trino-reader.js';
import { rowsSql } from './trino-relations.js';

/** A cluster that answers the queries of one deployment. */
export interface Cluster {
  /** The user of its requests. */
  readonly user: string;
  /** Returns the cluster as an engine for parts of queries; `limitMs` is the time limit of each statement. */
  engine(limitMs: number): FarEngine;
  /** Returns the tables, at most a minute old. */
  catalog(options: StatementOptions): Promise<MeasuredCatalog>;
  /** Forgets the tables; returns whether a failure, or an unknown name, may be due to changed tables. */
  forgetsTables(failure?: unknown): boolean;
}

/** Returns the deployment with this name as currently configured; the same object while its configuration is unchanged. */
export type DeploymentOf = (name: string) => Promise<Endpoint>;

/** The clusters in use, with their connections. */
export class Clusters {
  readonly #deploymentOf: DeploymentOf;
  readonly #opened = new Map<
    string,
    { readonly endpoint: Endpoint; readonly statements: Statements; readonly cluster: Cluster }
  >();

  constructor(deploymentOf: DeploymentOf) {
    this.#deploymentOf = deploymentOf;
  }

  /** Returns the cluster of a deployment. Throws LocalError if it has none. */
  async named(name: string): Promise<Cluster> {
    const endpoint = await this.#deploymentOf(name);
    const known = this.#opened.get(name);
    if (known?.endpoint === endpoint) return known.cluster;
    const statements = new Statements(deploymentIn(endpoint));
    const cluster = clusterOf(statements);
    this.#opened.set(name, { endpoint, statements, cluster });
    await known?.statements.close();
    return cluster;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(({ statements }) => statements.close()));
  }
}

function deploymentIn(endpoint: Endpoint): Deployment {
  const { engine } = endpoint;
  if (engine !== undefined) return { ...endpoint, engine };
  throw new LocalError(
    'not-supported',
    'not-supported',
    `The kernel queries the Axiom deployment ${endpoint.profileName} directly.`,
  );
}

function clusterOf(statements: Statements): Cluster {
  const { engine } = statements.deployment;
  const tables = new Tables(statements);
  return {
    user: engine.user,
    engine: limitMs => ({
      name: statements.deployment.profileName,
      dialect: trino(engine),
      catalog: context => tables.catalog({ ...context, limitMs }),
      read: (order, context) => readRows(statements, order, { ...context, limitMs }),
      rowsSql,
      noticesOf: sql => (/\bapprox_(?:distinct|percentile)\(/.test(sql) ? [estimated] : []),
    }),
    catalog: options => tables.catalog(options),
    forgetsTables: failure => {
      const isStale = failure === undefined ? tables.isOld : isOfTables(failure);
      if (isStale) tables.forget();
      return isStale;
    },
  };
}

function isOfTables(failure: unknown): boolean {
  return failure instanceof ClusterError && stale.has(failure.errorName);
}

const stale: ReadonlySet<string> = new Set(['TABLE_NOT_FOUND', 'COLUMN_NOT_FOUND', 'TYPE_MISMATCH']);

const estimated: StatusMessage = {
  priority: 'info',
  count: 1,
  code: 'estimated',
  msg: 'Distinct counts and percentiles are estimated (the deployment sets `approximate = true`).',
};
