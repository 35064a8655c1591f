import type { FastifyInstance } from 'fastify';
import type { Engine } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';
import type { Signal } from '../../otlp/otlp-ingest.js';
import type { DatasetStore } from '../../store/datasets.js';

/** Parts of the service that the routes for external event formats need. */
export interface EventParts {
  readonly engine: Engine;
  readonly datasets: DatasetStore;
  /** Nanoseconds since 1970. */
  readonly nowNs: () => bigint;
}

const signals: readonly Signal[] = ['traces', 'logs'];

/** Adds the routes of OTLP over HTTP to a scope with streamed bodies. Their code loads with the first request. */
export function addOtlpRoutes(scope: FastifyInstance, parts: EventParts): void {
  for (const signal of signals)
    scope.post(`/v1/${signal}`, { config: { raw: true } }, async (request, reply) => {
      const { ingestOtlp } = await import('../../otlp/otlp-ingest.js');
      const dataset = [request.headers['x-axiom-dataset'] ?? []].flat()[0];
      if (dataset === undefined || dataset === '')
        throw new LocalError('invalid', 'invalid-request', 'The request does not specify a dataset.', {
          hint: 'Set the header X-Axiom-Dataset to a dataset name.',
        });
      parts.datasets.checkExists(dataset);
      const encoding = await ingestOtlp(parts.datasets, parts.engine, signal, {
        dataset,
        body: request.raw,
        contentType: request.headers['content-type'] ?? '',
        contentEncoding: request.headers['content-encoding'] ?? '',
        nowNs: parts.nowNs(),
      });
      // A response without members means full success; in protobuf it has no bytes.
      if (encoding === 'json') return {};
      return reply.type('application/x-protobuf').send(Buffer.alloc(0));
    });
}
