import type { TypeName } from '../../kernel/apl/catalog/entry.js';
import type { EditorEnvironment } from '../../kernel/apl/editor/completion/complete.js';
import type { DatasetSchema, FieldSchema } from '../../kernel/apl/plan/plan.js';

const web: readonly FieldSchema[] = [
  field('_time', 'datetime'),
  field('status', 'long', { description: 'HTTP status' }),
  field('duration', 'real', { unit: 'ms' }),
  field('method', 'string'),
  field('geo.city', 'string'),
  field('geo.country', 'string'),
  field('attributes', 'dynamic'),
  field('by', 'string'),
];
const spans: readonly FieldSchema[] = [
  field('_time', 'datetime'),
  field('trace_id', 'string'),
  field('status', 'string'),
  field('service.name', 'string'),
];

/** Three small datasets, with map keys and values for some of their fields. */
export const environment: EditorEnvironment = environmentOf({ web, spans, 'sample-http-logs': web });

/** Returns an environment of these datasets, all with closed schemas. */
export function environmentOf(datasets: Readonly<Record<string, readonly FieldSchema[]>>): EditorEnvironment {
  const schemas = new Map<string, DatasetSchema>(
    Object.entries(datasets).map(([name, fields]) => [name, { name, fields, open: false }]),
  );
  return {
    schema: name => schemas.get(name),
    datasets: () => [...schemas.keys()],
    now: 0n,
    start: 0n,
    end: 0n,
    variables: {},
    autoBin: 1n,
    mapKeys: path => (path.join('.') === 'attributes' ? ['http.method', 'user'] : ['inner']),
    values: (name, [dataset]) => (name === 'method' ? ['GET', 'POST', `say "${dataset}"`] : []),
  };
}

/** Returns the text without its `$0`, and the offset of the `$0`. */
export function cursorOf(marked: string): { readonly text: string; readonly offset: number } {
  return { text: marked.replace('$0', ''), offset: marked.indexOf('$0') };
}

function field(name: string, type: TypeName, rest: Partial<FieldSchema> = {}): FieldSchema {
  return { name, type, ...rest };
}
