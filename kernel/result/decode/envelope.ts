/**
 * The members of a response around its cells: a member of the wrong shape is read as absent, so that an error of the service does not
 * cost the result. Messages are the exception: they are shown unchanged rather than lost.
 */

import { fromWire } from '../../api/aggregations.js';
import {
  type FieldMeta,
  notCountedCode,
  type Order,
  type QueryStatus,
  type ResultField,
  type StatusMessage,
  type TabularResult,
} from '../../api/wire.js';
import { present } from '../../present.js';
import type { TableInfo } from '../result.js';
import { DecodeError } from './json-bytes.js';

/** A tabular response without its tables. */
export type Envelope = Omit<TabularResult, 'tables'>;

type Parts = ReadonlyMap<string, unknown>;
type Json = Readonly<Record<string, unknown>>;

/** Returns the envelope whose members are `parts`. */
export function readEnvelope(parts: Parts): Envelope {
  const metaMap = Object.entries(recordOf(parts.get('fieldsMetaMap')));
  return {
    format: 'tabular',
    status: readStatus(recordOf(parts.get('status'))),
    datasetNames: listOf(parts.get('datasetNames')).filter(name => typeof name === 'string'),
    fieldsMetaMap: Object.fromEntries(metaMap.map(([dataset, fields]) => [dataset, readMeta(fields)])),
  };
}

/** Returns the fields of a table; throws a DecodeError at `offset` if one has no name. */
export function readFields(value: unknown, offset: number): readonly ResultField[] {
  return listOf(value).map(item => {
    const { name, type, agg } = recordOf(item);
    if (typeof name !== 'string') throw new DecodeError('A field of a table has no name', offset);
    const aggregation = readAggregation(recordOf(agg));
    const kind = typeof type === 'string' ? type : 'unknown';
    return {
      name,
      type: kind,
      ...present({ agg: aggregation && fromWire(aggregation, kind) }),
    };
  });
}

/** Returns everything about a table but its cells; a table without a name is named by its index. */
export function readTableInfo(parts: Parts, fields: readonly ResultField[], index: number): TableInfo {
  const name = parts.get('name');
  const range = readRange(recordOf(parts.get('range')));
  const buckets = readBuckets(recordOf(parts.get('buckets')));
  return {
    name: typeof name === 'string' ? name : String(index),
    sources: readNames(parts.get('sources')),
    fields,
    order: listOf(parts.get('order')).flatMap(item => readOrder(recordOf(item))),
    groups: readNames(parts.get('groups')),
    ...present({ range, buckets }),
  };
}

function readStatus(status: Json): QueryStatus {
  const number = (key: keyof QueryStatus) => {
    const value = status[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : 0;
  };
  const isCounted = typeof status.rowsExamined === 'number' && typeof status.rowsMatched === 'number';
  const messages = [...readMessages(status.messages), ...(isCounted ? [] : [notCounted])];
  return {
    elapsedTime: number('elapsedTime'),
    blocksExamined: number('blocksExamined'),
    blocksCached: number('blocksCached'),
    blocksMatched: number('blocksMatched'),
    rowsExamined: number('rowsExamined'),
    rowsMatched: number('rowsMatched'),
    numGroups: number('numGroups'),
    isPartial: status.isPartial === true,
    ...present({ isEstimate: status.isEstimate === true || undefined }),
    cacheStatus: number('cacheStatus'),
    minBlockTime: textOf(status.minBlockTime),
    maxBlockTime: textOf(status.maxBlockTime),
    ...present({
      minCursor: typeof status.minCursor === 'string' ? status.minCursor : undefined,
      maxCursor: typeof status.maxCursor === 'string' ? status.maxCursor : undefined,
      messages: messages.length === 0 ? undefined : messages,
    }),
  };
}

/** A response without a row count is not one from zero rows. */
const notCounted: StatusMessage = {
  ...{ priority: 'debug', count: 1, code: notCountedCode },
  msg: 'The service does not report how many rows it examined and matched.',
};

const PRIORITIES: readonly unknown[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

function readMessages(value: unknown): readonly StatusMessage[] {
  if (value === undefined || value === null || value === '') return [];
  return (Array.isArray(value) ? value : [value]).map(readMessage);
}

function readMessage(value: unknown): StatusMessage {
  const { priority, count, code, msg } = recordOf(value);
  const text = typeof value === 'string' ? value : msg;
  return {
    priority: PRIORITIES.includes(priority) ? (priority as StatusMessage['priority']) : 'warn',
    count: typeof count === 'number' && Number.isSafeInteger(count) ? count : 1,
    code: textOf(code),
    msg: typeof text === 'string' ? text : JSON.stringify(value),
  };
}

function readMeta(value: unknown): readonly FieldMeta[] {
  return listOf(value)
    .map(recordOf)
    .filter(({ name }) => typeof name === 'string')
    .map(({ name, type, unit, hidden, description }) => ({
      name: textOf(name),
      type: textOf(type),
      unit: textOf(unit),
      hidden: hidden === true,
      description: textOf(description),
    }));
}

function readAggregation({ name, args, fields }: Json): ResultField['agg'] {
  if (typeof name !== 'string') return undefined;
  return {
    name,
    ...present({
      args: Array.isArray(args) ? args : undefined,
      fields: Array.isArray(fields) ? fields.filter(each => typeof each === 'string') : undefined,
    }),
  };
}

function readNames(value: unknown): readonly { readonly name: string }[] {
  return listOf(value).flatMap(item => {
    const { name } = recordOf(item);
    return typeof name === 'string' ? [{ name }] : [];
  });
}

function readOrder({ field, desc }: Json): readonly Order[] {
  return typeof field === 'string' ? [{ field, desc: desc === true }] : [];
}

function readRange({ field, start, end }: Json): TableInfo['range'] {
  if (typeof start !== 'string' || typeof end !== 'string') return undefined;
  return { field: textOf(field), start, end };
}

function readBuckets({ field, size }: Json): TableInfo['buckets'] {
  if (typeof field !== 'string' || typeof size !== 'number' || !(size > 0)) return undefined;
  return { field, size };
}

function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Returns a list; missing members and nulls, which Go services send for empty lists, become empty. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
