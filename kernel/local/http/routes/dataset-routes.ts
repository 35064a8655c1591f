import type { FastifyInstance } from 'fastify';
import { LocalError } from '../../local-errors.js';
import type { DatasetStore } from '../../store/datasets.js';
import type { ServedDataset } from '../../store/snapshot.js';
import { fieldMeta } from '../answers/tabular.js';
import { readDatasetSettings, readFieldNote, readMaxDuration, readNewDataset } from '../http-requests.js';
import { addDeclaredRoutes } from './declared-routes.js';

/** Parts of the service that the dataset routes need. */
export interface DatasetParts {
  readonly datasets: DatasetStore;
  /** Nanoseconds since 1970. */
  readonly nowNs: () => bigint;
}

interface Id {
  readonly Params: { readonly id: string };
}

interface Field {
  readonly Params: { readonly id: string; readonly field: string };
}

/** Adds the routes of datasets and their fields, in both versions of the API. */
export function addDatasetRoutes(app: FastifyInstance, parts: DatasetParts): void {
  for (const version of ['v1', 'v2'] as const) addVersion(app, parts, version);
  addFieldRoutes(app, parts);
  addDeclaredRoutes(app, parts.datasets);
  // Dataset sizes are not in the API, and strict clients refuse unknown members.
  const { datasets } = parts;
  app.get('/v1/local/datasets', () => datasets.measuredInfos());
  app.get<Id>('/v1/local/datasets/:id', ({ params }) => datasets.measuredInfo(params.id));
}

/** The shape of a dataset in each API version. */
const shown = {
  v1: ({ id, name, description, who, created }: ServedDataset) => ({ id, name, description, who, created }),
  v2: (dataset: ServedDataset) => dataset,
};

function addVersion(app: FastifyInstance, { datasets, nowNs }: DatasetParts, version: 'v1' | 'v2'): void {
  const path = `/${version}/datasets`;
  const show = shown[version];
  app.get(path, async () => (await datasets.infos()).map(each => show(each)));
  app.post(path, async ({ body }) => {
    const { name, settings } = readNewDataset(body);
    return show(await datasets.create(name, settings));
  });
  app.get<Id>(`${path}/:id`, async ({ params }) => show(await datasets.info(params.id)));
  app.put<Id>(`${path}/:id`, async ({ params, body }) =>
    show(await datasets.update(params.id, readDatasetSettings(body))),
  );
  app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
    await datasets.remove(params.id);
    return reply.code(204).send();
  });
  app.post<Id>(`${path}/:id/trim`, async ({ params, body }, reply) => {
    const numDeleted = await datasets.trim(params.id, nowNs() - readMaxDuration(body));
    return version === 'v1' ? { numDeleted } : reply.code(204).send();
  });
}

function addFieldRoutes(app: FastifyInstance, { datasets }: DatasetParts): void {
  const path = '/v2/datasets/:id';
  app.get<Id>(`${path}/fields`, async ({ params }) => (await datasets.fields(params.id)).map(fieldMeta));
  app.get<Field>(`${path}/fields/:field`, async ({ params: { id, field } }) => {
    const found = (await datasets.fields(id)).find(each => each.name === field);
    if (found !== undefined) return fieldMeta(found);
    throw new LocalError('not-found', 'field-not-found', `\`${id}\` has no field \`${field}\`.`);
  });
  app.put<Field>(`${path}/fields/:field`, async ({ params: { id, field }, body }) =>
    fieldMeta(await datasets.annotateField(id, field, readFieldNote(body))),
  );
  // The fields of a dataset are those of its files, so there is never one without values to vacuum.
  app.post<Id>(`${path}/vacuum`, ({ params }) => {
    datasets.checkExists(params.id);
    return {};
  });
}
