import type { FieldMeta, QueryStatus } from '../../kernel/api/wire.js';
import { decodeTabular } from '../../kernel/result/decode/decode-arrow.js';
import type { Notice, Provenance, QueryResult } from '../../kernel/result/result.js';

/** A column of a sample response: name, declared type, and its cells as JSON. */
export type SampleColumn = readonly [name: string, type: string, cells: string];

export interface SampleTable {
  readonly name?: string;
  readonly columns: readonly SampleColumn[];
  readonly groups?: readonly string[];
  readonly order?: readonly { readonly field: string; readonly desc: boolean }[];
  readonly buckets?: { readonly field: string; readonly size: number };
  /** The aggregate behind each column, by name. */
  readonly aggs?: Readonly<
    Record<
      string,
      { readonly name: string; readonly args?: readonly unknown[]; readonly fields?: readonly string[] }
    >
  >;
  /** The searched range; 09:00 to 10:00 by default. */
  readonly range?: { readonly start: string; readonly end: string };
}

export interface SampleExtras {
  readonly meta?: readonly Partial<FieldMeta>[];
  readonly status?: Partial<QueryStatus>;
  readonly notices?: readonly Notice[];
  readonly provenance?: Partial<Provenance>;
}

/** Returns the bytes of a response, with cells exactly as spelled. */
export function responseBytes(tables: readonly SampleTable[], extras: SampleExtras = {}): Uint8Array {
  const texts = tables.map(tableJson);
  const status = JSON.stringify({ ...STATUS, ...extras.status });
  const meta = JSON.stringify({ logs: extras.meta ?? [] });
  return new TextEncoder().encode(
    `{"format":"tabular","status":${status},"tables":[${texts.join(',')}],"datasetNames":["logs"],"fieldsMetaMap":${meta}}`,
  );
}

export function sampleResult(tables: readonly SampleTable[], extras: SampleExtras = {}): QueryResult {
  const { envelope, tables: decoded } = decodeTabular(responseBytes(tables, extras));
  return {
    ...envelope,
    tables: decoded,
    provenance: { ...PROVENANCE, ...extras.provenance },
    notices: extras.notices ?? [],
  };
}

/** Returns the JSON of `count` cells. */
export function cells(count: number, cell: (row: number) => unknown): string {
  return JSON.stringify(Array.from({ length: count }, (_, row) => cell(row)));
}

function tableJson(table: SampleTable): string {
  const { name = '0', columns, groups = [], order = [], buckets, aggs = {} } = table;
  const range = table.range ?? { start: '2026-11-20T09:00:00Z', end: '2026-11-20T10:00:00Z' };
  const head = {
    name,
    sources: [{ name: 'logs' }],
    fields: columns.map(([field, type]) => ({
      name: field,
      type,
      ...(Object.hasOwn(aggs, field) ? { agg: aggs[field] } : {}),
    })),
    order,
    groups: groups.map(group => ({ name: group })),
    range: { field: '_time', ...range },
    ...(buckets ? { buckets } : {}),
  };
  return `${JSON.stringify(head).slice(0, -1)},"columns":[${columns.map(([, , json]) => json).join(',')}]}`;
}

const STATUS: QueryStatus = {
  elapsedTime: 42_000,
  blocksExamined: 12,
  blocksCached: 9,
  blocksMatched: 3,
  rowsExamined: 5_000_000,
  rowsMatched: 1_234,
  numGroups: 0,
  isPartial: false,
  cacheStatus: 1,
  minBlockTime: '2026-11-20T09:00:00Z',
  maxBlockTime: '2026-11-20T10:00:00Z',
};

const PROVENANCE: Provenance = {
  query: "['logs'] | limit 5",
  startTime: '2026-11-20T09:00:00Z',
  endTime: '2026-11-20T10:00:00Z',
  rangeLabel: 'last 1h',
  frozen: false,
  profile: 'local',
  isLocal: true,
  datasets: ['logs'],
  traceId: 'trace-1',
  elapsedMs: 55.4,
  kernelVersion: '0.1.0',
};
