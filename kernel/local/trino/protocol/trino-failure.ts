import { ownErrorIn, tlsError } from '../../../api/failures/transport.js';
import type { ErrorCode } from '../../../errors.js';
import { EngineError } from '../../engine/engine-failure.js';
import { type FailureKind, LocalError } from '../../local-errors.js';

/** An error from Trino. */
export interface PageError {
  readonly message?: string;
  readonly errorName?: string;
  readonly errorType?: string;
}

/** A cluster failure from the caller's perspective. */
interface Known {
  readonly kind: FailureKind;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  /** A retry may well succeed. */
  readonly isPassing?: true;
}

/** Errors with specific advice, by Trino's name. */
const byName: Readonly<Record<string, Known>> = {
  USER_CANCELED: {
    kind: 'canceled',
    code: 'query-canceled',
    message: 'The query was canceled.',
    hint: 'Run it again.',
  },
  ADMINISTRATIVELY_KILLED: {
    kind: 'failed',
    code: 'engine-failed',
    message: 'An administrator of the cluster stopped the query.',
    hint: 'Narrow the time range, or ask the administrator about the limits.',
  },
  ADMINISTRATIVELY_PREEMPTED: {
    kind: 'unavailable',
    code: 'engine-busy',
    message: 'The cluster stopped the query in favor of queries with higher priority.',
    hint: 'Run it again later.',
  },
  EXCEEDED_TIME_LIMIT: {
    kind: 'timeout',
    code: 'query-timeout',
    message: 'The cluster stopped the query at its time limit.',
    hint: 'Narrow the time range, or read fewer fields.',
  },
  QUERY_QUEUE_FULL: {
    kind: 'busy',
    code: 'engine-busy',
    message: 'The query queue of the cluster is full.',
    hint: 'Run the query again later.',
  },
  NO_NODES_AVAILABLE: {
    kind: 'unavailable',
    code: 'engine-short',
    message: 'The cluster has no workers to run the query.',
    hint: 'Run it again when workers are available: the web UI of the coordinator lists them.',
    isPassing: true,
  },
  QUERY_TEXT_TOO_LARGE: {
    kind: 'invalid',
    code: 'query-too-large',
    message: 'The query is too long for the cluster.',
    hint: 'Split it, or search for fewer values.',
  },
  AMBIGUOUS_NAME: {
    kind: 'not-supported',
    code: 'not-supported',
    message: 'A Trino cluster cannot return a field twice.',
    hint: 'Keep each field once.',
  },
  PERMISSION_DENIED: {
    kind: 'not-supported',
    code: 'forbidden',
    message: 'The user of the deployment is not allowed to read this table.',
    hint: 'Ask an administrator of the cluster for the right to select from the table, or choose another user in ~/.axiom.toml.',
  },
  CATALOG_NOT_FOUND: {
    kind: 'not-supported',
    code: 'profile',
    message: 'The cluster has no catalog of this name.',
    hint: 'Correct `catalog` of the deployment in ~/.axiom.toml.',
  },
  SCHEMA_NOT_FOUND: {
    kind: 'not-supported',
    code: 'profile',
    message: 'The catalog has no schema of this name.',
    hint: 'Correct `schema` of the deployment in ~/.axiom.toml.',
  },
  HIVE_BAD_DATA: {
    kind: 'failed',
    code: 'dataset-damaged',
    message: 'A file of the table is damaged.',
    hint: 'Exclude its time from the range, and have the file written again.',
  },
};

/** All other errors, by type. */
const byType: Readonly<Record<string, Known>> = {
  INSUFFICIENT_RESOURCES: {
    kind: 'invalid',
    code: 'engine-memory',
    message: 'The query exceeds the resource limits of the cluster',
    hint: 'Narrow the time range, keep fewer fields, or group by fewer values.',
  },
  EXTERNAL: {
    kind: 'unavailable',
    code: 'engine-short',
    message: 'The storage of the cluster failed',
    hint: 'Run the query again.',
  },
  INTERNAL_ERROR: {
    kind: 'failed',
    code: 'engine-failed',
    message: 'The cluster failed to run this query',
    hint: 'Run it again; if it fails again, look up the query ID in the log of the coordinator.',
  },
  USER_ERROR: {
    kind: 'failed',
    code: 'engine-failed',
    message: 'The cluster rejected the SQL generated for this query',
    hint: 'This is a bug in the local service. Report it with the query and the service log.',
  },
};

/** A query that failed on the cluster. Trino's own message may contain values, and is only for the log of the service. */
export class ClusterError extends LocalError {
  /** Trino's name for the error, such as `TABLE_NOT_FOUND`. */
  readonly errorName: string;
  /** Whether a retry may well succeed, since nothing is wrong with the query. */
  readonly isPassing: boolean;

  constructor({ kind, code, message, hint }: Known, errorName: string, isPassing: boolean, cause?: unknown) {
    super(kind, code, message, { hint, cause });
    this.errorName = errorName;
    this.isPassing = isPassing;
  }
}

/** Returns the failure for an error from Trino. */
export function clusterFailure({ message, errorName, errorType }: PageError, queryId: string): ClusterError {
  const name = plainName(errorName);
  const cause = new EngineError('engine-failed', `${name} in ${plainName(queryId)}`, {
    cause: new Error(message),
  });
  const known = byName[name];
  if (known !== undefined) return new ClusterError(known, name, known.isPassing === true, cause);
  const other = byType[errorType ?? ''] ?? (byType.INTERNAL_ERROR as Known);
  const told = { ...other, message: `${other.message} (${name}, query ${plainName(queryId)}).` };
  return new ClusterError(told, name, errorType === 'INTERNAL_ERROR' || errorType === 'EXTERNAL', cause);
}

/** Returns a name or id if it is a word; anything else is not repeated. */
function plainName(text: string | undefined): string {
  return text !== undefined && /^\w{1,64}$/.test(text) ? text : 'UNKNOWN';
}

/** Returns the failure for a response that is not from Trino, or incomplete. */
export function damagedAnswer(cause: unknown): ClusterError {
  const message = 'The response of the cluster is damaged or incomplete.';
  const hint = 'Run the query again; if it fails again, check the URL of the deployment and any proxies.';
  return new ClusterError(
    { kind: 'unavailable', code: 'engine-failed', message, hint },
    'DAMAGED',
    true,
    cause,
  );
}

/** Returns the failure for a cluster that has forgotten a query, for example after a restart. */
export function forgotten(cause?: unknown): ClusterError {
  const message = 'The cluster lost the query: the coordinator may have been restarted.';
  return new ClusterError(
    { kind: 'unavailable', code: 'engine-ended', message, hint: 'Run the query again.' },
    'FORGOTTEN',
    true,
    cause,
  );
}

/** Returns the failure for a query that makes no progress. */
export function stalled(seconds: number): ClusterError {
  const message = `The query was stopped because it made no progress on the cluster for ${seconds} s.`;
  const hint = 'Run it again; if it stalls again, a worker may be down: check the web UI of the coordinator.';
  return new ClusterError({ kind: 'unavailable', code: 'engine-ended', message, hint }, 'STALLED', true);
}

/** Returns the failure for an unreachable cluster; errors of a proxy or of certificates would recur on a retry. */
export function unreachable(host: string, cause: unknown): ClusterError {
  const insecure = tlsError(host, cause);
  const known = insecure ?? ownErrorIn(cause);
  const message = `The cluster at ${host} cannot be reached${known === undefined ? '' : `: ${known.message}`}.`;
  const hint = [
    known?.hint ??
      'Check the URL of the deployment in ~/.axiom.toml and the network connection (VPN, DNS, proxy).',
    ...(insecure
      ? [
          'The local service connects to the cluster: stop it with `apl-kernel serve --stop` to apply changes.',
        ]
      : []),
  ].join(' ');
  return new ClusterError(
    { kind: 'unavailable', code: 'engine-ended', message, hint },
    known === undefined || known.code === 'proxy-unavailable' ? 'UNREACHABLE' : 'NOT_CONNECTED',
    // Retried for as long as anyone should wait.
    false,
    cause,
  );
}

/** Returns the failure for a request refused with a status. */
export function refusedStatus(status: number, host: string): ClusterError {
  if (status === 401 || status === 403)
    return new ClusterError(
      {
        kind: 'not-supported',
        code: 'unauthorized',
        message: `The cluster at ${host} rejected the user or the secret of the deployment (status ${status}).`,
        hint: 'Correct `user` and `password` or `token` in ~/.axiom.toml; a token may have expired.',
      },
      'UNAUTHORIZED',
      false,
    );
  if (status === 429 || (status >= 502 && status <= 504))
    return new ClusterError(
      {
        kind: 'busy',
        code: 'engine-busy',
        message: `The cluster at ${host} is not accepting queries (status ${status}).`,
        hint: 'Run the query again later.',
      },
      'BUSY',
      false,
    );
  return new ClusterError(
    {
      kind: 'unavailable',
      code: 'engine-failed',
      message: `${host} does not respond like Trino (status ${status}).`,
      hint: 'Check the URL of the deployment in ~/.axiom.toml: it should be the address of the coordinator.',
    },
    'REFUSED',
    false,
  );
}
