import type { FastifyInstance } from 'fastify';
import { AplKernelError } from '../../../errors.js';
import { LocalError } from '../../local-errors.js';

/** How long a closing service waits for bodies that clients are still sending, in milliseconds. */
const longestMs = 2000;

/**
 * Event bodies that have not been answered yet. Clients resend unanswered bodies, so a closing service answers the ones it stores, to avoid
 * duplicate events.
 */
export class BodiesUnderWay {
  readonly #answers = new Set<Promise<void>>();
  #ending = false;

  /** Watches the requests of a scope; those that arrive after `end` get a status that makes clients resend them. */
  watch(scope: FastifyInstance): void {
    scope.addHook('onRequest', async (_request, reply) => {
      if (this.#ending) throw endingError();
      const answer = new Promise<void>(resolve => reply.raw.once('close', resolve));
      this.#answers.add(answer);
      void answer.then(() => this.#answers.delete(answer));
    });
  }

  /** Returns the error to report: on the status for a canceled request, clients drop their events and do not repeat their queries. */
  reported<E>(error: E): E | LocalError {
    const isCanceled = error instanceof AplKernelError && error.code === 'query-canceled';
    return this.#ending && isCanceled ? endingError() : error;
  }

  /** Accepts no more requests; resolves once all are answered or have taken too long. */
  async end(): Promise<void> {
    this.#ending = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise(resolve => {
      timer = setTimeout(resolve, longestMs);
    });
    await Promise.race([Promise.all(this.#answers), late]);
    clearTimeout(timer);
  }
}

function endingError(): LocalError {
  return new LocalError('unavailable', 'service-ending', 'The service is shutting down.', {
    hint: 'Send the request again when it is running.',
  });
}
