import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { IngestStatus } from '../../api/wire.js';
import { present } from '../../present.js';
import { plural } from '../../text.js';
import { formatTime } from '../../time.js';
import type { Engine } from '../engine/duckdb.js';
import { bodyTooLarge, ServiceError } from '../http/service-error.js';
import type { DatasetStore } from './datasets.js';
import type { FileFormat } from './formats.js';
import { type Stored, storeFile } from './import.js';

/** A body to add to a dataset, as the request describes it. */
export interface IngestRequest {
  readonly dataset: string;
  readonly body: Readable;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly timestampField?: string;
  readonly timestampFormat?: string;
  readonly csvDelimiter?: string;
  readonly nowNs: bigint;
  /** The largest body, after it has been unpacked. */
  readonly maxBytes: number;
}

/** Adds the events of a request body to a dataset, all or none; throws ServiceError. */
export async function ingest(
  store: DatasetStore,
  engine: Engine,
  request: IngestRequest,
  signal?: AbortSignal,
): Promise<IngestStatus & { readonly blocksCreated: number; readonly walLength: number }> {
  const format = formatOf(request.contentType);
  const file = path.join(engine.workDir, `${crypto.randomUUID()}.${format}`);
  try {
    const processedBytes = await saveBody(request, file);
    const stored = await storeFile(
      store,
      engine,
      { file, name: 'The body', format, ...loadOptions(request) },
      signal,
    );
    const blocksCreated = stored.rows > 0 ? 1 : 0;
    return {
      ingested: stored.rows,
      failed: stored.refused,
      failures: failuresOf(stored, request),
      processedBytes,
      blocksCreated,
      walLength: 0,
    };
  } finally {
    await rm(file, { force: true });
  }
}

const formats: Readonly<Record<string, FileFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'json',
  'application/ndjson': 'json',
  'text/csv': 'csv',
};

function formatOf(contentType: string): FileFormat {
  const [type = ''] = contentType.split(';');
  const format = formats[type.trim().toLowerCase()];
  if (format) return format;
  throw new ServiceError(415, 'content-type', `Events cannot be read from ${JSON.stringify(type)}.`, {
    hint: `Send ${Object.keys(formats).join(', ')}.`,
  });
}

async function saveBody(request: IngestRequest, file: string): Promise<number> {
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > request.maxBytes)
        done(bodyTooLarge(request.maxBytes, 'Send it in parts, or import it as a file.'));
      else done(null, chunk);
    },
  });
  const target = createWriteStream(file, { mode: 0o600 });
  try {
    switch (request.contentEncoding.toLowerCase()) {
      case '':
      case 'identity':
        await pipeline(request.body, counter, target);
        return bytes;
      case 'gzip':
        await pipeline(request.body, createGunzip(), counter, target);
        return bytes;
      default:
        target.destroy();
        throw new ServiceError(415, 'content-encoding', `The body is ${request.contentEncoding}.`, {
          hint: 'Send it as it is or with gzip.',
        });
    }
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new ServiceError(400, 'gzip', 'The body is not valid gzip.', { cause: error });
  }
}

function loadOptions({ dataset, nowNs, timestampField, timestampFormat, csvDelimiter }: IngestRequest) {
  const time = {
    nowNs,
    ...present({ field: timestampField || undefined, format: timestampFormat || undefined }),
  };
  // A body of CSV always names its fields; a file may not.
  const csv = { header: true, ...present({ delimiter: csvDelimiter || undefined }) };
  return { dataset, time, csv };
}

function failuresOf(stored: Stored, { nowNs }: IngestRequest): IngestStatus['failures'] {
  const timestamp = formatTime(nowNs);
  const refused = `${plural(stored.refused, 'event')} left out: not a JSON object, or more values than fields`;
  const late = `${plural(stored.late, 'event')} without a readable time in \`${stored.timeField}\`, stored with this one`;
  return [
    ...(stored.refused > 0 ? [{ timestamp, error: refused }] : []),
    ...(stored.late > 0 ? [{ timestamp, error: late }] : []),
  ];
}
