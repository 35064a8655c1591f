import type { FastifyInstance } from 'fastify';
import { LocalError } from '../../local-errors.js';
import type { Cluster, Clusters } from '../../trino/clusters.js';
import { fieldMeta } from '../answers/tabular.js';
import { departure } from '../departure.js';
import {
  type Answering,
  answeringThrough,
  answerQuery,
  CompileFailure,
  limitMsOf,
  type QueryParts,
} from '../query-route.js';

/** Parts of the service that the deployment routes need. */
export interface DeploymentParts extends QueryParts {
  readonly clusters: Clusters;
}

interface Named {
  readonly Params: { readonly deployment: string; readonly id: string };
}

/** Below this path, a deployment has the same routes that kernels use on a service. */
const root = '/v1/deployments/:deployment';

/** Adds the routes of deployments on clusters, which this service queries on behalf of kernels: only the service has their secrets. */
export function addDeploymentRoutes(app: FastifyInstance, parts: DeploymentParts): void {
  const { clusters, queryMs } = parts;
  app.post<Named>(`${root}/v1/datasets/_apl`, async (request, reply) =>
    answerQuery(parts, request, reply, answeringOn(await clusters.named(request.params.deployment))),
  );
  app.get<Named>(`${root}/v2/datasets`, async request => {
    const cluster = await clusters.named(request.params.deployment);
    const catalog = await cluster.catalog({ signal: departure(request), limitMs: queryMs });
    return catalog.names().map(name => ({ id: name, name, description: 'a table of the cluster' }));
  });
  app.get<Named>(`${root}/v2/datasets/:id/fields`, async request => {
    const { deployment, id } = request.params;
    const cluster = await clusters.named(deployment);
    const options = { signal: departure(request), limitMs: queryMs };
    const catalog = await cluster.catalog(options);
    const schema = catalog.schema(id);
    if (schema !== undefined) return schema.fields.map(fieldMeta);
    throw new LocalError('not-found', 'dataset-not-found', `${deployment} has no table \`${id}\`.`);
  });
  app.get<Named>(`${root}/v2/user`, async request => {
    const { user } = await clusters.named(request.params.deployment);
    return { id: user, name: user, email: '' };
  });
  // A cluster stores neither.
  for (const path of ['/v2/annotations', '/v2/apl-starred-queries']) {
    app.get(`${root}${path}`, () => []);
    app.post(`${root}${path}`, refuseDocument);
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      app.route({ method, url: `${root}${path}/:id`, handler: refuseDocument });
  }
}

async function refuseDocument(): Promise<never> {
  throw new LocalError(
    'not-supported',
    'not-supported',
    'A cluster does not store starred queries or annotations.',
    { hint: 'Store them on this machine: run `%use local`, then run the cell again.' },
  );
}

/** Answers on a cluster. If its tables have changed since they were read, the query starts over once. */
function answeringOn(cluster: Cluster): Answering {
  return async (...asked) => {
    const [parts, { query }] = asked;
    const answering = answeringThrough(cluster.engine(limitMsOf(parts, query)));
    try {
      return await answering(...asked);
    } catch (error) {
      // An unknown name may be new.
      if (!cluster.forgetsTables(error instanceof CompileFailure ? undefined : error)) throw error;
      return answering(...asked);
    }
  };
}
