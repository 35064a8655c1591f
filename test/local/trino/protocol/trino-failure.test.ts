import { expect, test } from 'vitest';
import {
  type ClusterError,
  clusterFailure,
  damagedAnswer,
  forgotten,
  refusedStatus,
  stalled,
} from '../../../../kernel/local/trino/protocol/trino-failure.js';

const facts = ({ kind, code, message, hint, errorName, isPassing }: ClusterError) => [
  kind,
  code,
  message,
  hint,
  errorName,
  isPassing,
];

test.each([
  [
    'INSUFFICIENT_RESOURCES',
    'invalid',
    'engine-memory',
    'The query exceeds the resource limits of the cluster',
    'Narrow the time range, keep fewer fields, or group by fewer values.',
    false,
  ],
  [
    'EXTERNAL',
    'unavailable',
    'engine-short',
    'The storage of the cluster failed',
    'Run the query again.',
    true,
  ],
  [
    'INTERNAL_ERROR',
    'failed',
    'engine-failed',
    'The cluster failed to run this query',
    'Run it again; if it fails again, look up the query ID in the log of the coordinator.',
    true,
  ],
  [
    'USER_ERROR',
    'failed',
    'engine-failed',
    'The cluster rejected the SQL generated for this query',
    'This is a bug in the local service. Report it with the query and the service log.',
    false,
  ],
  [
    'ANOTHER',
    'failed',
    'engine-failed',
    'The cluster failed to run this query',
    'Run it again; if it fails again, look up the query ID in the log of the coordinator.',
    false,
  ],
])('an error of the type %s is %s', (errorType, kind, code, message, hint, isPassing) => {
  const failure = clusterFailure({ errorName: 'ODD', errorType }, 'q1');
  expect(facts(failure)).toEqual([kind, code, `${message} (ODD, query q1).`, hint, 'ODD', isPassing]);
});

test('names and ids of an unexpected form are not repeated', () => {
  const { message } = clusterFailure({ errorName: 'a value', errorType: 'EXTERNAL' }, 'q 1');
  expect(message).toBe('The storage of the cluster failed (UNKNOWN, query UNKNOWN).');
});

test.each([
  ['USER_CANCELED', 'canceled', 'query-canceled', 'The query was canceled.', false],
  [
    'ADMINISTRATIVELY_KILLED',
    'failed',
    'engine-failed',
    'An administrator of the cluster stopped the query.',
    false,
  ],
  [
    'ADMINISTRATIVELY_PREEMPTED',
    'unavailable',
    'engine-busy',
    'The cluster stopped the query in favor of queries with higher priority.',
    false,
  ],
  [
    'EXCEEDED_TIME_LIMIT',
    'timeout',
    'query-timeout',
    'The cluster stopped the query at its time limit.',
    false,
  ],
  ['QUERY_QUEUE_FULL', 'busy', 'engine-busy', 'The query queue of the cluster is full.', false],
  ['NO_NODES_AVAILABLE', 'unavailable', 'engine-short', 'The cluster has no workers to run the query.', true],
  ['QUERY_TEXT_TOO_LARGE', 'invalid', 'query-too-large', 'The query is too long for the cluster.', false],
  ['AMBIGUOUS_NAME', 'not-supported', 'not-supported', 'A Trino cluster cannot return a field twice.', false],
  [
    'PERMISSION_DENIED',
    'not-supported',
    'forbidden',
    'The user of the deployment is not allowed to read this table.',
    false,
  ],
  ['CATALOG_NOT_FOUND', 'not-supported', 'profile', 'The cluster has no catalog of this name.', false],
  ['SCHEMA_NOT_FOUND', 'not-supported', 'profile', 'The catalog has no schema of this name.', false],
  ['HIVE_BAD_DATA', 'failed', 'dataset-damaged', 'A file of the table is damaged.', false],
])('%s is %s by name, whatever its type', (errorName, kind, code, message, isPassing) => {
  const failure = clusterFailure({ errorName, errorType: 'USER_ERROR' }, 'q1');
  expect(facts(failure)).toEqual([kind, code, message, failure.hint, errorName, isPassing]);
  expect(failure.hint).toMatch(/^[A-Z].*\.$/);
});

test.each([
  [damagedAnswer(undefined), 'unavailable', 'engine-failed', 'DAMAGED', true],
  [forgotten(), 'unavailable', 'engine-ended', 'FORGOTTEN', true],
  [stalled(5), 'unavailable', 'engine-ended', 'STALLED', true],
  [refusedStatus(401, 'h'), 'not-supported', 'unauthorized', 'UNAUTHORIZED', false],
  [refusedStatus(403, 'h'), 'not-supported', 'unauthorized', 'UNAUTHORIZED', false],
  [refusedStatus(429, 'h'), 'busy', 'engine-busy', 'BUSY', false],
  [refusedStatus(502, 'h'), 'busy', 'engine-busy', 'BUSY', false],
  [refusedStatus(504, 'h'), 'busy', 'engine-busy', 'BUSY', false],
  [refusedStatus(501, 'h'), 'unavailable', 'engine-failed', 'REFUSED', false],
  [refusedStatus(505, 'h'), 'unavailable', 'engine-failed', 'REFUSED', false],
] as const)('%s is %s, with a hint', (failure, kind, code, errorName, isPassing) => {
  const { message, hint } = failure;
  expect(facts(failure)).toEqual([kind, code, message, hint, errorName, isPassing]);
  expect(hint).toMatch(/^[A-Z].*\.$/);
});
