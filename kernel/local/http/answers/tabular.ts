import { toWire } from '../../../api/aggregations.js';
import type { FieldMeta } from '../../../api/wire.js';
import { serviceTypes } from '../../../apl/catalog/entry.js';
import type { FieldSchema } from '../../../apl/plan/plan.js';
import { present } from '../../../present.js';
import { formatTime } from '../../../time.js';
import { asJson } from '../../engine/engine-columns.js';
import type { QueryAnswer, RanTable } from '../../engine/engine-run.js';
import type {
  CompiledField,
  CompiledQuery,
  CompiledTable,
  DatasetCatalog,
} from '../../sql/compiled-query.js';

/** Returns the body of a tabular response, as buffers in order. */
export function tabularBody(answer: QueryAnswer): readonly Buffer[] {
  const tables = answer.tables.flatMap((each, index) => [text(index === 0 ? '' : ','), ...tableBytes(each)]);
  return [text(`${head(answer).slice(0, -1)},"tables":[`), ...tables, text(']}')];
}

/** Returns the body as Arrow IPC; undefined if a table was not read in that form. */
export async function arrowBody(answer: QueryAnswer): Promise<readonly Uint8Array[] | undefined> {
  const { answerPieces } = await import('../../../result/ipc/ipc-answer.js');
  const tables = answer.tables.flatMap(({ table, columns }) =>
    columns.form === 'arrow' ? { names: table.fields.map(({ name }) => name), columns: columns.data() } : [],
  );
  if (tables.length < answer.tables.length) return undefined;
  const described = answer.tables.map(({ table }) => description(table)).join(',');
  return answerPieces(`${head(answer).slice(0, -1)},"tables":[${described}]}`, tables);
}

/** Returns everything but the tables, as a JSON object. */
function head({ query, catalog, status }: QueryAnswer): string {
  const fieldsMetaMap = Object.fromEntries(
    query.datasets.map((name, index) => [
      name,
      [...metaOf(catalog, name), ...(index === 0 ? computedMeta(query) : [])],
    ]),
  );
  return JSON.stringify({ format: 'tabular', status, datasetNames: query.datasets, fieldsMetaMap });
}

/** Returns the properties of computed fields, such as the unit of a sum; they are listed with the first dataset. */
function computedMeta(query: CompiledQuery): FieldMeta[] {
  const known = query.tables.flatMap(table =>
    table.fields.map(field => field.meta && { ...field.meta, type: serviceTypes[field.type] }),
  );
  return known.filter(meta => meta !== undefined);
}

function metaOf(catalog: DatasetCatalog, dataset: string): FieldMeta[] {
  return (catalog.schema(dataset)?.fields ?? []).map(fieldMeta);
}

/** Returns a field as the API describes it; unknown properties are empty. */
export function fieldMeta(field: FieldSchema): FieldMeta {
  return {
    name: field.name,
    type: serviceTypes[field.type],
    unit: field.unit ?? '',
    hidden: field.hidden ?? false,
    description: field.description ?? '',
  };
}

/** Returns everything but the columns of a table, as a JSON object. */
function description(table: CompiledTable): string {
  return toJson({
    name: table.name,
    sources: table.sources.map(name => ({ name })),
    fields: table.fields.map(resultField),
    order: table.order,
    groups: table.groups.map(name => ({ name })),
    ...present({ range: table.range ? rangeOf(table.range) : undefined }),
    ...present({
      buckets: table.buckets ? { field: table.buckets.field, size: Number(table.buckets.size) } : undefined,
    }),
  });
}

function tableBytes({ table, columns }: RanTable): Buffer[] {
  const json = asJson(columns);
  const cells = table.fields.flatMap((_, index) => [text(index === 0 ? '[' : '],['), ...json.pieces(index)]);
  const end = table.fields.length === 0 ? ']}' : ']]}';
  return [text(`${description(table).slice(0, -1)},"columns":[`), ...cells, text(end)];
}

function resultField(field: CompiledField) {
  return {
    name: field.name,
    type: serviceTypes[field.type],
    ...present({ agg: field.agg && toWire(field.agg) }),
  };
}

function rangeOf(range: NonNullable<CompiledTable['range']>) {
  return { field: range.field, start: timeText(range.start), end: timeText(range.end) };
}

/** Returns a bound of a range in the API's format. */
export function timeText(time: bigint | string): string {
  return typeof time === 'string' ? time : formatTime(time, 'fewest');
}

/** Serializes to JSON, including the exact integers in arguments of aggregations, which JSON.stringify refuses. */
function toJson(value: object): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? Number(each) : each));
}

function text(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}
