import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AplKernelError } from '../../../errors.js';
import { present } from '../../../present.js';
import type { Engine } from '../../engine/duckdb.js';
import type { DatasetStore } from '../../store/datasets.js';
import { type IngestRequest, ingest } from '../../store/ingest.js';
import { departure } from '../departure.js';
import { noticeHeaders } from '../http-notices.js';
import { parametersOf } from '../http-requests.js';
import type { BodiesUnderWay } from './bodies.js';
import { addElasticRoutes } from './elastic.js';
import { addHecRoutes } from './hec.js';
import { addOtlpRoutes } from './otlp-routes.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the raw bytes of its body. */
    raw?: boolean;
    /** Responds with a failure in the route's own shape; returns undefined for one in the API's shape. */
    refuse?: (reply: FastifyReply, error: AplKernelError) => FastifyReply | undefined;
  }
}

/** Parts of the service that the ingest routes need. */
export interface IngestParts {
  readonly engine: Engine;
  readonly datasets: DatasetStore;
  /** Maximum body size after decompression, in bytes. */
  readonly ingestBytes: number;
  readonly bodies: BodiesUnderWay;
  /** Nanoseconds since 1970. */
  readonly nowNs: () => bigint;
}

interface Id {
  readonly Params: { readonly id: string };
}

/**
 * Adds the routes that receive events, of the API and of its edge. Bodies are streams of any type, so these routes have a separate scope.
 */
export function addIngestRoutes(app: FastifyInstance, parts: IngestParts): void {
  app.register((scope, _options, done) => {
    parts.bodies.watch(scope);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    for (const path of ['/v1/datasets/:id/ingest', '/v1/ingest/:id'])
      scope.post<Id>(
        path,
        { bodyLimit: parts.ingestBytes, config: { raw: true } },
        async (request, reply) => {
          parts.datasets.checkExists(request.params.id);
          const order = ingestRequest(request, parts);
          const { status, notices } = await ingest(parts.datasets, parts.engine, order, departure(request));
          return reply.headers(noticeHeaders(notices)).send(status);
        },
      );
    addOtlpRoutes(scope, parts);
    addHecRoutes(scope, parts);
    addElasticRoutes(scope, parts);
    done();
  });
}

function ingestRequest(request: FastifyRequest<Id>, parts: IngestParts): IngestRequest {
  const parameters = parametersOf(request);
  const csvFields = headerText(request, 'x-axiom-csv-fields');
  return {
    dataset: request.params.id,
    body: request.raw,
    contentType: request.headers['content-type'] ?? '',
    contentEncoding: request.headers['content-encoding'] ?? '',
    nowNs: parts.nowNs(),
    maxBytes: parts.ingestBytes,
    ...present({
      timestampField: parameters['timestamp-field'] || undefined,
      timestampFormat: parameters['timestamp-format'] || undefined,
      csvDelimiter: parameters['csv-delimiter'] || undefined,
      csvFields: csvFields?.split(',').map(name => name.trim()),
      labels: headerText(request, 'x-axiom-event-labels'),
    }),
  };
}

/** Reads a header as UTF-8, which clients send and Node decodes as Latin-1. */
function headerText({ headers }: FastifyRequest, name: string): string | undefined {
  const text = [headers[name] ?? []].flat().join(',');
  return text === '' ? undefined : Buffer.from(text, 'latin1').toString('utf8');
}
