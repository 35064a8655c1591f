import type { FastifyInstance } from 'fastify';
import { present } from '../../../present.js';
import { DeclaredFields } from '../../store/dataset/declared.js';
import type { VirtualFieldNote } from '../../store/dataset/stored.js';
import type { DatasetStore } from '../../store/datasets.js';
import { invalid, isKind, readObject } from '../../store/documents/document-members.js';
import { fieldMeta } from '../answers/tabular.js';
import { parametersOf } from '../http-requests.js';
import { checkVirtualField } from '../structured.js';

interface Id {
  readonly Params: { readonly id: string };
}

interface MapField {
  readonly Params: { readonly id: string; readonly name: string };
}

/** Adds the routes of map fields and virtual fields, and of the fields of all datasets. */
export function addDeclaredRoutes(app: FastifyInstance, datasets: DatasetStore): void {
  const declared = new DeclaredFields(datasets);
  addMapFieldRoutes(app, declared);
  addVirtualFieldRoutes(app, declared);
  // Dashboards request the fields of everything that they may show.
  app.get('/v1/datasets/_fields', async () =>
    Promise.all(
      (await datasets.infos()).map(async ({ name }) => ({
        datasetName: name,
        fields: (await datasets.fields(name)).map(fieldMeta),
      })),
    ),
  );
}

function addMapFieldRoutes(app: FastifyInstance, declared: DeclaredFields): void {
  const path = '/v2/datasets/:id/mapfields';
  app.get<Id>(path, ({ params }) => declared.mapFields(params.id));
  app.post<Id>(path, async ({ params, body }) => {
    const name = mapFieldName(readObject(body, 'the body').name);
    await declared.addMapField(params.id, name);
    return { name };
  });
  app.put<Id>(path, async ({ params, body }) => {
    if (!isKind(body, 'strings')) throw invalid('The body should be a list of strings.');
    const names = (body as readonly unknown[]).map(mapFieldName);
    if (new Set(names).size < names.length) throw invalid('The list contains a duplicate map field.');
    await declared.setMapFields(params.id, names);
    return names;
  });
  app.delete<MapField>(`${path}/:name`, async ({ params }, reply) => {
    await declared.removeMapField(params.id, params.name);
    return reply.code(204).send();
  });
}

/** Returns the name of a map field. Names that begin with two underscores are reserved for the service. */
function mapFieldName(name: unknown): string {
  if (typeof name === 'string' && name !== '' && !name.startsWith('__')) return name;
  throw invalid('The name of a map field should be a non-empty string that does not begin with `__`.');
}

function addVirtualFieldRoutes(app: FastifyInstance, declared: DeclaredFields): void {
  const path = '/v2/vfields';
  app.get(path, request => {
    const { dataset } = parametersOf(request);
    if (dataset === undefined || dataset === '')
      throw invalid('`dataset` is missing: set the dataset whose virtual fields to list.');
    return declared.virtualFields(dataset);
  });
  app.post(path, ({ body }) => {
    const { dataset, note } = readVirtualField(body);
    return declared.addVirtualField(dataset, note);
  });
  app.get<Id>(`${path}/:id`, ({ params }) => declared.virtualField(params.id));
  app.put<Id>(`${path}/:id`, async ({ params, body }) => {
    const { dataset, note } = readVirtualField(body);
    const before = await declared.virtualField(params.id);
    if (dataset !== before.dataset) throw invalid('The `dataset` of a virtual field cannot be changed.');
    return declared.replaceVirtualField(params.id, note);
  });
  app.delete<Id>(`${path}/:id`, async ({ params }, reply) => {
    await declared.removeVirtualField(params.id);
    return reply.code(204).send();
  });
}

const required = ['dataset', 'name', 'expression'];
const optional = ['id', 'description', 'type', 'unit'];

function readVirtualField(body: unknown): { readonly dataset: string; readonly note: VirtualFieldNote } {
  const members = readObject(body, 'the body');
  for (const [name, value] of Object.entries(members)) {
    if (![...required, ...optional].includes(name))
      throw invalid(`\`${name}\` is not a known property of a virtual field.`);
    if (typeof value !== 'string') throw invalid(`\`${name}\` should be a string.`);
  }
  const missing = required.find(name => members[name] === undefined || members[name] === '');
  if (missing !== undefined) throw invalid(`\`${missing}\` is missing.`);
  const { dataset, name, expression, description, type, unit } = members as Record<
    string,
    string | undefined
  >;
  const field = { name: name ?? '', expression: expression ?? '' };
  checkVirtualField(field, 'expression');
  return { dataset: dataset ?? '', note: { ...field, ...present({ description, type, unit }) } };
}
