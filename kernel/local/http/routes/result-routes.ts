import type { FastifyInstance } from 'fastify';
import { arrowType } from '../../../api/wire.js';
import type { UploadedResults } from '../../results/uploaded.js';

interface Place {
  readonly Params: { readonly lease: string; readonly id: string };
}

/** Adds the routes by which a kernel sends its results to the service; `bodyBytes` is the maximum size of one. */
export function addResultRoutes(app: FastifyInstance, results: UploadedResults, bodyBytes: number): void {
  app.addContentTypeParser(arrowType, { parseAs: 'buffer', bodyLimit: bodyBytes }, (_request, body, done) =>
    done(null, body),
  );
  app.get('/v1/local/results', (_request, reply) => {
    const lease = results.lease();
    const traceId = String(reply.getHeader('x-axiom-trace-id'));
    reply.hijack();
    // The response stays open: its end shows either side that the other is gone.
    reply.raw.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-axiom-trace-id': traceId });
    reply.raw.write(`${JSON.stringify({ lease })}\n`);
    reply.raw.once('close', () => void results.end(lease));
  });
  app.put<Place>(
    '/v1/local/results/:lease/:id',
    { bodyLimit: bodyBytes },
    async ({ params, body }, reply) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      const { readSentTable } = await import('../../results/sent-arrow.js');
      await results.put(params.lease, params.id, bytes, readSentTable(bytes));
      return reply.code(204).send();
    },
  );
  app.delete<Place>('/v1/local/results/:lease/:id', async ({ params }, reply) => {
    await results.drop(params.lease, params.id);
    return reply.code(204).send();
  });
}
