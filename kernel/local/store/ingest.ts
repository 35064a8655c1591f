import { isUtf8 } from 'node:buffer';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { IngestStatus } from '../../api/wire.js';
import { present } from '../../present.js';
import { plural } from '../../text.js';
import { formatTime } from '../../time.js';
import type { Engine } from '../engine/duckdb.js';
import { LocalError } from '../local-errors.js';
import { type ReadBatch, readBatch } from './append/append-batch.js';
import { type IncomingBody, takeBody } from './append/append-body.js';
import type { RawObject } from './append/append-events.js';
import { readLabels } from './append/append-labels.js';
import { inspectorOf } from './bounds/bounded-text.js';
import type { DatasetStore } from './datasets.js';
import { type Stored, storeFile } from './import.js';
import type { FileFormat } from './sources/source-formats.js';

/** A body to add to a dataset, with the options of the request. */
export interface IngestRequest extends IncomingBody {
  readonly dataset: string;
  readonly contentType: string;
  readonly timestampField?: string;
  readonly timestampFormat?: string;
  readonly csvDelimiter?: string;
  /** Field names for a CSV whose first line does not contain them. */
  readonly csvFields?: readonly string[];
  /** JSON object with members to add to every event. */
  readonly labels?: string;
  readonly nowNs: bigint;
}

/**
 * Adds the events of a request body (https://axiom.co/docs/restapi/endpoints/ingestIntoDataset) to a dataset, all or none; throws
 * LocalError.
 */
export async function ingest(
  store: DatasetStore,
  engine: Engine,
  request: IngestRequest,
  signal?: AbortSignal,
): Promise<Ingested> {
  const format = formatOf(request.contentType);
  const labels = request.labels === undefined ? undefined : readLabels(request.labels);
  const file = path.join(engine.workDir, `${crypto.randomUUID()}.${format}`);
  try {
    const delimiter = delimiterOf(request);
    const inspector = inspectorOf({ name: 'The body', format, ...present({ delimiter }) });
    const heading = format === 'csv' ? headingOf(request) : undefined;
    const { bytes: own, small } = await takeBody(
      { ...request, json: format === 'json', ...present({ heading }) },
      file,
      inspector,
    );
    const bytes = own + Buffer.byteLength(request.labels ?? '');
    const batch = small && batchOf(request, format, small, labels);
    if (batch !== undefined) {
      await store.append(request.dataset, batch);
      return answerOf({ ...batch, rows: batch.events.length, refused: 0 }, request, bytes);
    }
    if (small !== undefined) await writeFile(file, small, { mode: 0o600 });
    const longest = inspector?.longest ?? 0;
    const load = { file, name: 'The body', format, longest, ...loadOptions(request), ...present({ labels }) };
    return answerOf(await storeFile(store, engine, load, present({ signal })), request, bytes);
  } finally {
    await rm(file, { force: true });
  }
}

/** Response to an accepted body. */
interface Ingested {
  readonly status: IngestStatus & { readonly blocksCreated: number; readonly walLength: number };
  /** Data that may not have been stored as intended. */
  readonly notices: readonly string[];
}

/** Counts of stored events, through the log or an import. */
type Counts = Pick<Stored, 'rows' | 'late' | 'refused' | 'timeField'>;

function answerOf(counts: Counts, request: IngestRequest, processedBytes: number): Ingested {
  const status = {
    ingested: counts.rows,
    failed: counts.refused,
    failures: failuresOf(counts, request),
    processedBytes,
    blocksCreated: counts.rows > 0 ? 1 : 0,
    walLength: 0,
  };
  return { status, notices: noticesOf(counts, request) };
}

/** Parses a small JSON body, which needs no engine. */
function batchOf(
  request: IngestRequest,
  format: FileFormat['kind'],
  body: Buffer,
  labels: RawObject | undefined,
): ReadBatch | undefined {
  if (format !== 'json' || request.timestampFormat || !isUtf8(body)) return undefined;
  return readBatch(body.toString('utf8'), request.timestampField, request.nowNs, labels);
}

const formats: Readonly<Record<string, FileFormat['kind']>> = {
  'application/json': 'json',
  'application/x-ndjson': 'json',
  'application/ndjson': 'json',
  'text/csv': 'csv',
};

function formatOf(contentType: string): FileFormat['kind'] {
  const [type = ''] = contentType.split(';');
  const format = formats[type.trim().toLowerCase()];
  if (format) return format;
  throw new LocalError('media-type', 'content-type', `Unsupported content type ${JSON.stringify(type)}.`, {
    hint: `Send ${Object.keys(formats).join(', ')}.`,
  });
}

function loadOptions(request: IngestRequest) {
  const { dataset, nowNs, timestampField, timestampFormat } = request;
  const time = {
    nowNs,
    ...present({ field: timestampField || undefined, format: timestampFormat || undefined }),
  };
  // A CSV body always has a header; a file may not.
  const csv = { header: true, ...present({ delimiter: delimiterOf(request) }) };
  return { dataset, time, csv, onlyObjects: true as const };
}

/** Returns the header line of a CSV that lacks one. */
function headingOf(request: IngestRequest): string | undefined {
  const { csvFields } = request;
  if (csvFields === undefined) return undefined;
  if (csvFields.includes(''))
    throw new LocalError(
      'invalid',
      'invalid-request',
      '`X-Axiom-CSV-Fields` should be a comma-separated list of names.',
    );
  const names = csvFields.map(name => ['"', name.replaceAll('"', '""'), '"'].join(''));
  return `${names.join(delimiterOf(request))}\n`;
}

/** Returns the delimiter. One of several bytes would also be matched within quotes. */
function delimiterOf({ csvDelimiter, csvFields }: IngestRequest): string | undefined {
  const given = csvDelimiter ?? (csvFields && ',');
  if (given === undefined || /^[\t\x20-\x7e]$/.test(given)) return given;
  throw new LocalError('invalid', 'csv-delimiter', `${JSON.stringify(given)} cannot be a CSV delimiter.`, {
    hint: '`csv-delimiter` must be one ASCII character, such as ; or a tab.',
  });
}

/** Returns one failure for each event counted in `failed`, up to a maximum. */
function failuresOf({ refused }: Counts, { nowNs }: IngestRequest): IngestStatus['failures'] {
  const error = 'skipped: not a JSON object, or more values than fields';
  return Array.from({ length: Math.min(refused, mostFailures) }, () => ({
    timestamp: formatTime(nowNs),
    error,
  }));
}

const mostFailures = 100;

function noticesOf({ late, timeField }: Counts, { nowNs }: IngestRequest): readonly string[] {
  if (late === 0) return [];
  return [
    `${plural(late, 'event')} without a readable timestamp in \`${timeField}\`, stored with the time ${formatTime(nowNs)}.`,
  ];
}
