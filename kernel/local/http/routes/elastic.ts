import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { present } from '../../../present.js';
import { actionsIn, type BulkAction } from '../../store/append/bulk.js';
import { ingest } from '../../store/ingest.js';
import { departure } from '../departure.js';
import { mostBytes, wholeText } from './hec.js';
import type { EventParts } from './otlp-routes.js';

interface Id {
  readonly Params: { readonly id: string; readonly index?: string };
}

/** Response to the check that shippers make before sending; the version is the last one they all support. */
const about = {
  name: 'local',
  cluster_name: 'local',
  cluster_uuid: 'local',
  version: { number: '7.17.22', build_flavor: 'oss', lucene_version: '8.11.3' },
  tagline: 'You Know, for Search',
} as const;

const license = { license: { uid: 'local', type: 'basic', mode: 'basic', status: 'active' } } as const;

const health = { cluster_name: 'local', status: 'green', timed_out: false, number_of_nodes: 1 } as const;

/** Requests made before sending events, below the path of a dataset. */
const questions: Readonly<Record<string, object>> = {
  '': about,
  '/': about,
  '/_license': license,
  '/_cluster/health': health,
};

/** Adds the routes of the Elastic Bulk API to a scope with streamed bodies; the index of a request is ignored. */
export function addElasticRoutes(scope: FastifyInstance, parts: EventParts): void {
  const path = '/v1/datasets/:id/elastic';
  // Elasticsearch clients check for this header before they read a response.
  const asElastic = (reply: FastifyReply) => reply.header('x-elastic-product', 'Elasticsearch');
  const known = (answer: object) => (request: FastifyRequest<Id>, reply: FastifyReply) => {
    parts.datasets.checkExists(request.params.id);
    return asElastic(reply).send(answer);
  };
  for (const [below, answer] of Object.entries(questions)) scope.get<Id>(path + below, known(answer));
  for (const url of [`${path}/_bulk`, `${path}/:index/_bulk`])
    for (const method of ['POST', 'PUT'] as const)
      scope.route<Id>({
        method,
        url,
        config: { raw: true },
        handler: async (request, reply) => {
          const { id, index = id } = request.params;
          parts.datasets.checkExists(id);
          const actions = actionsIn(await wholeText(request, parts));
          await store(actions, request, parts);
          return asElastic(reply).send(answerOf(actions, index));
        },
      });
}

async function store(
  actions: readonly BulkAction[],
  request: FastifyRequest<Id>,
  parts: EventParts,
): Promise<void> {
  const documents = actions.flatMap(({ document }) => document ?? []);
  if (documents.length === 0) return;
  const order = {
    dataset: request.params.id,
    body: Readable.from([Buffer.from(documents.join('\n'))]),
    contentType: 'application/x-ndjson',
    contentEncoding: '',
    nowNs: parts.nowNs(),
    maxBytes: 2 * mostBytes,
  };
  await ingest(parts.datasets, parts.engine, order, departure(request));
}

function answerOf(actions: readonly BulkAction[], dataset: string) {
  const items = actions.map(({ name, index = dataset, id, refusal }) => {
    const shared = { _index: index, ...present({ _id: id }) };
    const outcome =
      refusal === undefined
        ? { _version: 1, result: 'created', status: 201 }
        : { status: 400, error: { type: 'illegal_argument_exception', reason: refusal } };
    return { [name]: { ...shared, ...outcome } };
  });
  return { took: 0, errors: actions.some(({ refusal }) => refusal !== undefined), items };
}
