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
    kind: 'cancelled',
    code: 'query-cancelled',
    message: 'The query was cancelled.',
    hint: 'Run it again.',
  },
  ADMINISTRATIVELY_KILLED: {
    kind: 'failed',
    code: 'engine-failed',
    message: 'An administrator of the cluster has stopped the query.',
    hint: 'Narrow the time range, or ask them what it may use.',
  },
  ADMINISTRATIVELY_PREEMPTED: {
    kind: 'unavailable',
    code: 'engine-busy',
    message: 'The cluster has stopped the query for more important ones.',
    hint: 'Run it again later.',
  },
  EXCEEDED_TIME_LIMIT: {
    kind: 'timeout',
    code: 'query-timeout',
    message: 'The cluster has stopped the query at its time limit.',
    hint: 'Narrow the time range, or read fewer fields.',
  },
  QUERY_QUEUE_FULL: {
    kind: 'busy',
    code: 'engine-busy',
    message: 'The queue of the cluster is full.',
    hint: 'Run the query again later.',
  },
  NO_NODES_AVAILABLE: {
    kind: 'unavailable',
    code: 'engine-short',
    message: 'The cluster has no worker that could run the query.',
    hint: 'Run it again once workers have joined: the page of the coordinator shows them.',
    isPassing: true,
  },
  QUERY_TEXT_TOO_LARGE: {
    kind: 'invalid',
    code: 'query-too-large',
    message: 'The query is longer than the cluster takes.',
    hint: 'Split it, or look for fewer values.',
  },
  AMBIGUOUS_NAME: {
    kind: 'not-supported',
    code: 'not-supported',
    message: 'A cluster of Trino gives no field twice.',
    hint: 'Keep each field once.',
  },
  PERMISSION_DENIED: {
    kind: 'not-supported',
    code: 'forbidden',
    message: 'The user of the deployment may not read this.',
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
    hint: 'Leave its time out of the range, and have the file written again.',
  },
};

/** All other errors, by type. */
const byType: Readonly<Record<string, Known>> = {
  INSUFFICIENT_RESOURCES: {
    kind: 'invalid',
    code: 'engine-memory',
    message: 'The query needs more than the cluster allows it',
    hint: 'Narrow the time range, keep fewer fields, or group by fewer values.',
  },
  EXTERNAL: {
    kind: 'unavailable',
    code: 'engine-short',
    message: 'The storage behind the cluster has failed',
    hint: 'Run the query again.',
  },
  INTERNAL_ERROR: {
    kind: 'failed',
    code: 'engine-failed',
    message: 'The cluster has failed at this query',
    hint: 'Run it again; if it fails again, the log of the coordinator has the details under the id of the query.',
  },
  USER_ERROR: {
    kind: 'failed',
    code: 'engine-failed',
    message: 'The cluster refuses the SQL that was written for this query',
    hint: 'This is a bug in the service, and its log has the details: please report it with the query.',
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
  const message = 'The answer of the cluster is damaged or not whole.';
  const hint =
    'Run the query again; if it fails again, check the url of the deployment, and proxies on the way.';
  return new ClusterError(
    { kind: 'unavailable', code: 'engine-failed', message, hint },
    'DAMAGED',
    true,
    cause,
  );
}

/** Returns the failure for a cluster that has forgotten a query, for example after a restart. */
export function forgotten(cause?: unknown): ClusterError {
  const message = 'The cluster no longer knows the query: its coordinator may have been restarted.';
  return new ClusterError(
    { kind: 'unavailable', code: 'engine-ended', message, hint: 'Run the query again.' },
    'FORGOTTEN',
    true,
    cause,
  );
}

/** Returns the failure for a query that makes no progress. */
export function stalled(seconds: number): ClusterError {
  const message = `The query was stopped: nothing of it had moved on the cluster for ${seconds} s.`;
  const hint =
    'Run it again; if it stalls again, a worker may be gone: the page of the coordinator shows them.';
  return new ClusterError({ kind: 'unavailable', code: 'engine-ended', message, hint }, 'STALLED', true);
}

/** Returns the failure for an unreachable cluster; errors of a proxy or of certificates would recur on a retry. */
export function unreachable(host: string, cause: unknown): ClusterError {
  const insecure = tlsError(host, cause);
  const known = insecure ?? ownErrorIn(cause);
  const message = `The cluster at ${host} cannot be reached${known === undefined ? '' : `: ${known.message}`}.`;
  const hint = [
    known?.hint ??
      'Check the url of the deployment in ~/.axiom.toml, and the network connection (VPN, DNS, proxy).',
    ...(insecure ? ['`apl-kernel serve --stop` ends the local service, which connects.'] : []),
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
        message: `The cluster at ${host} does not accept the user and the secret of the deployment (status ${status}).`,
        hint: 'Correct `user` with `password` or `token` in ~/.axiom.toml; a token may have expired.',
      },
      'UNAUTHORIZED',
      false,
    );
  if (status === 429 || (status >= 502 && status <= 504))
    return new ClusterError(
      {
        kind: 'busy',
        code: 'engine-busy',
        message: `The cluster at ${host} takes no queries now (status ${status}).`,
        hint: 'Run the query again later.',
      },
      'BUSY',
      false,
    );
  return new ClusterError(
    {
      kind: 'unavailable',
      code: 'engine-failed',
      message: `${host} does not answer as Trino does (status ${status}).`,
      hint: 'Check the url of the deployment in ~/.axiom.toml: it is the address of the coordinator.',
    },
    'REFUSED',
    false,
  );
}
