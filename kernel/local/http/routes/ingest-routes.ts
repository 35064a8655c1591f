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
    /** The route reads the bytes of its body itself. */
    raw?: boolean;
    /** Answers with a failure in a shape of its own; returns undefined for one that is told in that of the API. */
    refuse?: (reply: FastifyReply, error: AplKernelError) => FastifyReply | undefined;
  }
}

/** What the routes of events need. */
export interface IngestParts {
  readonly engine: Engine;
  readonly datasets: DatasetStore;
  /** The largest body, unpacked. */
  readonly ingestBytes: number;
  readonly bodies: BodiesUnderWay;
  /** Nanoseconds since 1970. */
  readonly nowNs: () => bigint;
}

interface Id {
  readonly Params: { readonly id: string };
}

/** Adds the routes that take events, of the API and of its edge; a body is a stream of any kind, so they have a scope of their own. */
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

/** Clients send UTF-8, which Node takes for Latin-1. */
function headerText({ headers }: FastifyRequest, name: string): string | undefined {
  const text = [headers[name] ?? []].flat().join(',');
  return text === '' ? undefined : Buffer.from(text, 'latin1').toString('utf8');
}
