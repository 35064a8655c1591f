import type { FastifyInstance } from 'fastify';
import { placeOfImport } from '../../api/api-imports.js';
import type { ImportRequest, StarredQuery } from '../../api/wire.js';
import { present } from '../../present.js';
import { writeError } from '../data-layout.js';
import { importCopy } from '../store/dataset/bucket/bucket-copy.js';
import type { Buckets } from '../store/dataset/bucket/buckets.js';
import { publishToBucket } from '../store/dataset/bucket/publish.js';
import { referToBucket } from '../store/dataset/bucket/refer.js';
import { damageNotices } from '../store/documents/document-damage.js';
import type { Stored } from '../store/documents/documents.js';
import type { StarredFilter, StarredStore } from '../store/documents/starred-queries.js';
import { importFile } from '../store/import.js';
import { previewFile } from '../store/sources/source-preview.js';
import { departure } from './departure.js';
import { noticeHeaders } from './http-notices.js';
import { addProgressRoute } from './http-progress.js';
import {
  type Parameters,
  parametersOf,
  readCount,
  readImportRequest,
  readPublishRequest,
  readStarredBody,
} from './http-requests.js';
import { answerQuery, answerStructured } from './query-route.js';
import { addAccountRoutes } from './routes/account.js';
import { type AnnotationParts, addAnnotationRoutes } from './routes/annotation-routes.js';
import { addBatchRoute } from './routes/batch-routes.js';
import { addDatasetRoutes } from './routes/dataset-routes.js';
import { addDeploymentRoutes, type DeploymentParts } from './routes/deployments.js';
import { addIngestRoutes, type IngestParts } from './routes/ingest-routes.js';

/** Parts of the service that the routes need. */
export interface RouteParts extends DeploymentParts, AnnotationParts, IngestParts {
  readonly starred: StarredStore;
  readonly buckets: Buckets;
}

/** Adds every route of the query API. */
export function addRoutes(app: FastifyInstance, parts: RouteParts): void {
  for (const path of ['/v1/datasets/_apl', '/v1/query/_apl']) {
    app.post(path, (request, reply) => answerQuery(parts, request, reply));
  }
  app.post<Id>('/v1/datasets/:id/query', (request, reply) => answerStructured(parts, request, reply));
  addBatchRoute(app, parts);
  addProgressRoute(app, parts.queries);
  addAccountRoutes(app);
  addDatasetRoutes(app, parts);
  addDeploymentRoutes(app, parts);
  addStarredRoutes(app, parts.starred);
  addAnnotationRoutes(app, parts);
  addIngestRoutes(app, parts);
  app.post('/v1/local/import', async request => {
    // Checked before reading a file that may have gigabytes.
    const refusal = writeError(parts.dataDir);
    if (refusal !== undefined) throw refusal;
    const asked = readImportRequest(request.body);
    const { datasets, buckets, dataDir } = parts;
    return parts.queries.track(request, departure(request), context => {
      const read = (files: ImportRequest) => importFile(datasets, dataDir, files, parts.nowNs(), context);
      if (placeOfImport(asked.path) !== 'bucket') return read(asked);
      if (asked.copy) return importCopy(buckets, asked, read, context.signal);
      return referToBucket(datasets, buckets, asked, context.signal);
    });
  });
  app.post('/v1/local/publish', async request => {
    const asked = readPublishRequest(request.body);
    const { datasets: store, buckets } = parts;
    return publishToBucket({ store, buckets, nowNs: parts.nowNs() }, asked, departure(request));
  });
  app.post('/v1/local/preview', async request => {
    const asked = readImportRequest(request.body);
    parts.datasets.checkName(asked.dataset);
    return parts.queries.track(request, departure(request), context =>
      previewFile(parts.dataDir, asked, parts.nowNs(), context),
    );
  });
}

interface Id {
  readonly Params: { readonly id: string };
}

function addStarredRoutes(app: FastifyInstance, starred: StarredStore): void {
  const path = '/v2/apl-starred-queries';
  app.get(path, async (request, reply) => {
    const { documents, damages } = await starred.list(filterOf(parametersOf(request)));
    return reply.headers(noticeHeaders(damageNotices(damages))).send(documents.map(whole));
  });
  app.post(path, async ({ body }) => whole(await starred.create(readStarredBody(body))));
  app.get<Id>(`${path}/:id`, async ({ params }) => whole(await starred.get(params.id)));
  app.put<Id>(`${path}/:id`, async ({ params, body }) =>
    whole(await starred.replace(params.id, readStarredBody(body))),
  );
  app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
    await starred.remove(params.id);
    return reply.code(204).send();
  });
}

/** Returns a starred query with the members that strict clients expect, although they are optional. */
function whole(stored: Stored<StarredQuery>): Stored<StarredQuery> {
  return { ...stored, dataset: stored.dataset ?? '', query: { queryOptions: {}, ...stored.query } };
}

function filterOf(query: Parameters): StarredFilter {
  const { dataset, who, qs } = query;
  return {
    limit: readCount(query.limit, 'limit', 1000),
    offset: readCount(query.offset, 'offset', 0),
    ...present({ dataset, who, qs }),
  };
}
