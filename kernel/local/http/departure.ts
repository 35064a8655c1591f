import type { FastifyInstance, FastifyRequest } from 'fastify';
import { canceledError } from '../engine/engine-failure.js';

/** Watches every request for the departure of its client; {@link departure} returns the signal. */
export function watchDepartures(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const gone = new AbortController();
    departures.set(request, gone.signal);
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort(canceledError());
    });
    done();
  });
}

/** Returns the signal that is aborted when the client disconnects before the response is complete. */
export function departure(request: FastifyRequest): AbortSignal {
  const signal = departures.get(request);
  if (signal === undefined) throw new RangeError('the request is not watched');
  return signal;
}

const departures = new WeakMap<FastifyRequest, AbortSignal>();
