import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { QueryRequest } from '../../../api/wire.js';
import { LocalError } from '../../local-errors.js';
import { invalid, readObject } from '../../store/documents/document-members.js';
import { tabularBody } from '../answers/tabular.js';
import { departure } from '../departure.js';
import { parametersOf, readCount, readQueryRequest } from '../http-requests.js';
import { answerTo, type QueryParts } from '../query-route.js';
import { bodyOf, refusalOf } from '../refusal.js';

/** A query of a batch, with the id assigned by its sender. */
interface Item {
  readonly queryId: string;
  readonly request: () => QueryRequest;
}

/**
 * Adds the route for several queries at once; sends an event for each as soon as it finishes
 * (https://axiom.co/docs/restapi/endpoints/queryBatch).
 */
export function addBatchRoute(app: FastifyInstance, parts: QueryParts): void {
  app.post('/v1/query/batch', (request, reply) => {
    const items = readItems(request.body);
    const most = readCount(parametersOf(request).maxConcurrency, 'maxConcurrency', 10);
    if (most < 1 || most > 20) throw invalid('`maxConcurrency` should be a number from 1 to 20.');
    // Each running query listens to it.
    setMaxListeners(0, departure(request));
    const events = inOrderOfEnd(items, most, item => eventOf(parts, request, item));
    return reply.type('text/event-stream').send(Readable.from(events, { objectMode: false }));
  });
}

function readItems(body: unknown): readonly Item[] {
  if (!Array.isArray(body) || body.length === 0)
    throw invalid('The body should be a non-empty list of queries.');
  const items = body.map(readItem);
  const ids = items.map(({ queryId }) => queryId);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice === undefined) return items;
  throw invalid(`Duplicate \`queryId\` ${JSON.stringify(twice)}.`);
}

/** Reads one query of a batch; one that cannot be run must not fail the rest. */
function readItem(value: unknown): Item {
  const { queryId, aplRequest, mplRequest } = readObject(value, 'a query of the batch');
  if (typeof queryId !== 'string' || queryId === '') throw invalid('A query has no `queryId`.');
  if ((aplRequest === undefined) === (mplRequest === undefined))
    throw invalid(
      `The query ${JSON.stringify(queryId)} should have either \`aplRequest\` or \`mplRequest\`.`,
    );
  const request = () => {
    if (aplRequest !== undefined) return readQueryRequest(aplRequest);
    throw new LocalError('not-supported', 'not-supported', 'The local service does not support metrics.');
  };
  return { queryId, request };
}

/** Yields the result of `run` for each item as soon as it is ready, with up to `most` running. */
async function* inOrderOfEnd(
  items: readonly Item[],
  most: number,
  run: (item: Item) => Promise<readonly Buffer[]>,
): AsyncGenerator<Buffer> {
  const waiting = items.values();
  const running = new Map<Item, Promise<readonly [Item, readonly Buffer[]]>>();
  const begin = () => {
    const { value: item } = waiting.next();
    if (item !== undefined)
      running.set(
        item,
        run(item).then(bytes => [item, bytes]),
      );
  };
  for (let count = 0; count < most; count++) begin();
  while (running.size > 0) {
    const [item, bytes] = await Promise.race(running.values());
    running.delete(item);
    begin();
    yield* bytes;
  }
}

/** Returns the event with a query's answer or failure. The API documents `queryId`, `kind`, `data`, and `status` for a failure. */
async function eventOf(
  parts: QueryParts,
  request: FastifyRequest,
  { queryId, request: read }: Item,
): Promise<readonly Buffer[]> {
  try {
    const answer = await answerTo(parts, request, read());
    const head = JSON.stringify({ queryId, kind: 'apl' }).slice(0, -1);
    return [
      Buffer.from(`event: result\ndata: ${head},"data":`),
      ...tabularBody(answer),
      Buffer.from('}\n\n'),
    ];
  } catch (error) {
    const refusal = refusalOf(error as FastifyError, 0);
    const event = { queryId, kind: 'apl', status: refusal.status, data: bodyOf(refusal) };
    return [Buffer.from(`event: error\ndata: ${JSON.stringify(event)}\n\n`)];
  }
}
