import type { FastifyInstance } from 'fastify';
import type { AnnotationContent } from '../../../api/wire.js';
import { present } from '../../../present.js';
import { formatTime } from '../../../time.js';
import type { DatasetStore } from '../../store/datasets.js';
import type { AnnotationFilter, AnnotationStore } from '../../store/documents/annotations.js';
import { checkAnnotation, readAnnotationChange, readNewAnnotation } from '../../store/documents/contents.js';
import { damageNotices } from '../../store/documents/document-damage.js';
import { noticeHeaders } from '../http-notices.js';
import { parametersOf, timeOf } from '../http-requests.js';

/** Parts of the service that the annotation routes need. */
export interface AnnotationParts {
  readonly annotations: AnnotationStore;
  readonly datasets: DatasetStore;
  /** Nanoseconds since 1970. */
  readonly nowNs: () => bigint;
}

interface Id {
  readonly Params: { readonly id: string };
}

interface Query {
  readonly datasets?: string | readonly string[];
}

/** Adds the routes of annotations (https://axiom.co/docs/query-data/annotate-charts). */
export function addAnnotationRoutes(
  app: FastifyInstance,
  { annotations, datasets, nowNs }: AnnotationParts,
): void {
  const path = '/v2/annotations';
  const checkDatasets = ({ datasets: named = [] }: Partial<AnnotationContent>) => {
    for (const name of named) datasets.checkExists(name);
  };
  app.get<{ Querystring: Query }>(path, async (request, reply) => {
    const { documents, damages } = await annotations.list(filterOf(request));
    return reply.headers(noticeHeaders(damageNotices(damages))).send(documents);
  });
  app.post(path, async ({ body }, reply) => {
    const content = readNewAnnotation(body, formatTime(nowNs()));
    checkDatasets(content);
    return reply.code(201).send(await annotations.create(content));
  });
  app.get<Id>(`${path}/:id`, ({ params }) => annotations.get(params.id));
  app.put<Id>(`${path}/:id`, async ({ params, body }) => {
    const change = readAnnotationChange(body);
    checkDatasets(present({ datasets: change.datasets ?? undefined }));
    return annotations.change(params.id, change, checkAnnotation);
  });
  app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
    await annotations.remove(params.id);
    return reply.code(204).send();
  });
}

/** Accepts comma-separated names or repeated parameters: clients use either. */
function filterOf(request: { readonly query: Query }): AnnotationFilter {
  const { start, end } = parametersOf(request);
  const names = [request.query.datasets ?? []]
    .flat()
    .flatMap(each => each.split(','))
    .filter(name => name !== '');
  return present({
    datasets: names.length === 0 ? undefined : names,
    start: timeOf(start, 'start'),
    end: timeOf(end, 'end'),
  });
}
