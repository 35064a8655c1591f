import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Engine } from '../engine/duckdb.js';
import { LocalError } from '../local-errors.js';
import { type IncomingBody, takeBody } from '../store/append/append-body.js';
import type { DatasetStore } from '../store/datasets.js';
import { isProtobuf, mediaType } from './media-type.js';
import { batchOf, type OtlpEvent } from './otlp-cells.js';
import { logEvent } from './otlp-logs.js';
import { type Encoding, logsOf, spansOf } from './otlp-protocol.js';
import { spanEvent } from './otlp-spans.js';

/** Kind of data in an OTLP request. */
export type Signal = 'traces' | 'logs';

interface Reader {
  readonly read: (body: Buffer, encoding: Encoding) => readonly OtlpEvent[];
  /** String fields that queries rely on, although few events may have them. */
  readonly always: readonly string[];
}

const readers: Readonly<Record<Signal, Reader>> = {
  traces: {
    read: (body, encoding) => spansOf(body, encoding).map(spanEvent),
    always: [
      'trace_id',
      'span_id',
      'parent_span_id',
      'name',
      'service.name',
      'status.code',
      'status.message',
    ],
  },
  logs: {
    read: (body, encoding) => logsOf(body, encoding).map(logEvent),
    always: ['trace_id', 'span_id', 'severity', 'body', 'service.name'],
  },
};

/** Maximum body size after decompression: a collector sends a few megabytes at a time. */
const mostBytes = 16 * 2 ** 20;

/** An OTLP body for a dataset, as described by the request. */
export interface OtlpRequest extends Omit<IncomingBody, 'maxBytes'> {
  readonly dataset: string;
  readonly contentType: string;
  readonly nowNs: bigint;
}

/** Adds the spans or log records of a body to a dataset, all or none, and returns the encoding of the response. Throws LocalError. */
export async function ingestOtlp(
  store: DatasetStore,
  engine: Engine,
  signal: Signal,
  request: OtlpRequest,
): Promise<Encoding> {
  const encoding = encodingOf(request.contentType);
  const file = path.join(engine.workDir, crypto.randomUUID());
  try {
    const { small } = await takeBody({ ...request, maxBytes: mostBytes }, file, undefined);
    const { read, always } = readers[signal];
    const events = read(small ?? (await readFile(file)), encoding);
    if (events.length > 0) await store.append(request.dataset, batchOf(events, always, request.nowNs));
    return encoding;
  } finally {
    await rm(file, { force: true });
  }
}

function encodingOf(contentType: string): Encoding {
  if (isProtobuf(contentType)) return 'protobuf';
  if (mediaType(contentType) === 'application/json') return 'json';
  throw new LocalError(
    'media-type',
    'content-type',
    `Unsupported OTLP content type ${JSON.stringify(contentType)}.`,
    {
      hint: 'Send application/x-protobuf or application/json.',
    },
  );
}
