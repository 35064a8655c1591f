import { bits, type SampleField, sampleDataset, uniform } from './random.js';
import {
  amount,
  isOrigin,
  ofStop,
  slotNs,
  span,
  spanIdOf,
  spansBetween,
  traceId,
  user,
} from './sample-spans.js';

/** Spans that take longer than this, or fail, log a line when they end. */
const slowNs = 1_000_000_000;
const line = ofStop(({ step }) => step.line ?? null);
const filled = `replace(replace(${line}, '{user}', ${user}::VARCHAR), '{amount}', ${amount}::VARCHAR)`;
const ending = `CASE WHEN failed AND ${isOrigin} THEN message WHEN failed THEN 'request failed: ' || message ELSE 'slow request: ' || (duration // 1000000) || ' ms' END`;

const fields: Readonly<Record<string, SampleField>> = {
  _sysTime: {
    type: 'datetime',
    sql: `make_timestamp_ns(line_ns + 150000000 + (${uniform(span, 50)} * 1.2e9)::BIGINT)`,
    description: 'When the line was received.',
  },
  _time: { type: 'datetime', sql: 'make_timestamp_ns(line_ns)', description: 'When the line was written.' },
  'attributes.custom': {
    type: 'dynamic',
    sql: `json_object('app.user.id', ${user}, 'thread.id', 1 + ${bits(span, 51)} % 8)`,
    description: 'Attributes that have no field of their own.',
  },
  body: {
    type: 'string',
    sql: `CASE WHEN is_end THEN ${ending} ELSE ${filled} END`,
    description: 'The line.',
  },
  'service.name': { type: 'string', sql: 'service', description: 'Service that wrote it.' },
  severity: {
    type: 'string',
    sql: `CASE WHEN NOT is_end THEN 'INFO' WHEN failed THEN 'ERROR' ELSE 'WARN' END`,
    description: 'How serious it is: INFO, WARN or ERROR.',
  },
  span_id: { type: 'string', sql: spanIdOf('j'), description: 'The span in which it was written.' },
  trace_id: { type: 'string', sql: traceId, description: 'The trace of the request.' },
};

/** Returns the log lines of spans; a span may have begun long before its line. */
function rows(startNs: bigint, endNs: bigint): string {
  const both = `SELECT *, unnest([false, true]) AS is_end FROM (${spansBetween(startNs, endNs)})`;
  const timed = `SELECT *, ns + CASE WHEN is_end THEN duration ELSE duration // 50 END AS line_ns FROM (${both})`;
  const written = `CASE WHEN is_end THEN failed OR duration > ${slowNs} ELSE ${line} IS NOT NULL END`;
  return `SELECT * FROM (${timed}) WHERE line_ns >= ${startNs} AND line_ns < ${endNs} AND ${written}`;
}

/** The log lines of the requests in `otel-demo-traces`. */
export const logs = sampleDataset(
  'otel-demo-logs',
  'Sample: log lines of the microservice shop',
  fields,
  rows,
  slotNs / 2n,
);
