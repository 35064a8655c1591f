import type { FastifyInstance } from 'fastify';
import { AplKernelError } from '../../../errors.js';
import { LocalError } from '../../local-errors.js';

/** How long a service that ends waits for bodies that clients still send, in milliseconds. */
const longestMs = 2000;

/**
 * The bodies of events that have not been answered yet. A client sends again what was not answered: a service that ends answers
 * what it stores, so that no event is there twice.
 */
export class BodiesUnderWay {
  readonly #answers = new Set<Promise<void>>();
  #ending = false;

  /** Watches the requests of a scope; those that come after `end` get a status after which clients send them again. */
  watch(scope: FastifyInstance): void {
    scope.addHook('onRequest', async (_request, reply) => {
      if (this.#ending) throw endingError();
      const answer = new Promise<void>(resolve => reply.raw.once('close', resolve));
      this.#answers.add(answer);
      void answer.then(() => this.#answers.delete(answer));
    });
    // After the status of a request that was cancelled, clients drop their events.
    scope.setErrorHandler(error => {
      throw this.#ending && error instanceof AplKernelError && error.code === 'query-cancelled'
        ? endingError()
        : error;
    });
  }

  /** Takes no more requests; resolves when all are answered, or have taken too long. */
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
  return new LocalError('unavailable', 'service-ending', 'The service is ending.', {
    hint: 'Send the request again once it runs.',
  });
}
