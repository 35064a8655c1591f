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

/** A query of a batch, under the id that its sender gave it. */
interface Item {
  readonly queryId: string;
  readonly request: () => QueryRequest;
}

/** Adds the route of several queries at once, each answered by an event when it is done (https://axiom.co/docs/restapi/endpoints/queryBatch). */
export function addBatchRoute(app: FastifyInstance, parts: QueryParts): void {
  app.post('/v1/query/batch', (request, reply) => {
    const items = readItems(request.body);
    const most = readCount(parametersOf(request).maxConcurrency, 'maxConcurrency', 10);
    if (most < 1 || most > 20) throw invalid('`maxConcurrency` should be a number from 1 to 20.');
    // Each query under way listens to it.
    setMaxListeners(0, departure(request));
    const events = inOrderOfEnd(items, most, item => eventOf(parts, request, item));
    return reply.type('text/event-stream').send(Readable.from(events, { objectMode: false }));
  });
}

function readItems(body: unknown): readonly Item[] {
  if (!Array.isArray(body) || body.length === 0)
    throw invalid('The body should be a list with at least one query.');
  const items = body.map(readItem);
  const ids = items.map(({ queryId }) => queryId);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice === undefined) return items;
  throw invalid(`\`queryId\` ${JSON.stringify(twice)} is given twice.`);
}

/** A query that cannot be run is no reason to refuse the others. */
function readItem(value: unknown): Item {
  const { queryId, aplRequest, mplRequest } = readObject(value, 'a query of the batch');
  if (typeof queryId !== 'string' || queryId === '') throw invalid('`queryId` of a query is missing.');
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

/** Yields what `run` gives for each item as soon as it is there, with `most` of them under way. */
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

/** The event with the answer to a query, or with its failure; the API documents `queryId`, `kind`, `data`, and `status` of a failure. */
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
