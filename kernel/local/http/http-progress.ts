import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { QueryProgress } from '../../api/wire.js';
import { present } from '../../present.js';
import type { RequestContext, Watch } from '../engine/engine-request.js';
import { LocalError } from '../local-errors.js';

/** The running queries whose requests had an id, with their progress. */
export class QueriesUnderWay {
  readonly #looks = new Map<string, () => QueryProgress>();

  /** Runs `work` for a request; its context names the client and tracks the progress of the query. */
  async track<T>(
    { headers }: FastifyRequest,
    signal: AbortSignal,
    work: (context: RequestContext) => Promise<T>,
  ): Promise<T> {
    const client = nameOf(headers['x-apl-client']) ?? '';
    const id = nameOf(headers['x-apl-query']);
    if (id === undefined) return work({ client, signal });
    this.#looks.set(id, () => ({ state: 'running', rows: 0 }));
    try {
      return await work({ client, signal, watch: this.#watch(id) });
    } finally {
      this.#looks.delete(id);
    }
  }

  /** Returns the progress of a query; undefined if it is not running. */
  progress(id: string): QueryProgress | undefined {
    return this.#looks.get(id)?.();
  }

  #watch(id: string): Watch {
    return {
      waits: before => this.#looks.set(id, () => ({ state: 'waiting', before: before() })),
      runs: (share, rows) => this.#looks.set(id, () => runningAt(share(), rows())),
      isHeldUp: reason => this.#looks.set(id, () => ({ state: 'held up', reason })),
    };
  }
}

/** Adds the route that reports the progress of a query. */
export function addProgressRoute(app: FastifyInstance, queries: QueriesUnderWay): void {
  app.get<{ readonly Params: { readonly id: string } }>('/v1/local/queries/:id', ({ params }) => {
    const progress = queries.progress(params.id);
    if (progress === undefined) throw new LocalError('not-found', 'not-found', 'No such query is running.');
    return progress;
  });
}

function runningAt(share: number | undefined, rows: number): QueryProgress {
  return { state: 'running', rows, ...present({ share }) };
}

function nameOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[\w-]{1,64}$/.test(header) ? header : undefined;
}
