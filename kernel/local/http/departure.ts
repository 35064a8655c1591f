import type { FastifyInstance, FastifyRequest } from 'fastify';
import { cancelledError } from '../engine/engine-failure.js';

/** Notices for every request when its client leaves; {@link departure} returns the signal. */
export function watchDepartures(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const gone = new AbortController();
    departures.set(request, gone.signal);
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort(cancelledError());
    });
    done();
  });
}

/** Returns the signal that is aborted when the client of a request goes away before it is answered. */
export function departure(request: FastifyRequest): AbortSignal {
  const signal = departures.get(request);
  if (signal === undefined) throw new RangeError('the request is not watched');
  return signal;
}

const departures = new WeakMap<FastifyRequest, AbortSignal>();
