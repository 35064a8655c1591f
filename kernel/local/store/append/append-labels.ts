import type { TypeName } from '../../../apl/catalog/entry.js';
import { present } from '../../../present.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import { sqlTypes } from '../../duckdb/duckdb-types.js';
import { LocalError } from '../../local-errors.js';
import { namesOf, shapeOfEvents } from '../readers/json-shape.js';
import type { ReadField, Reading } from '../readers/reading.js';
import { type RawObject, type RawValue, readEvents, valueAt } from './append-events.js';

/** Returns the labels that a request adds to all of its events, parsed from a JSON object. Throws LocalError. */
export function readLabels(text: string): RawObject {
  const [labels, ...others] = readEvents(text) ?? [];
  if (labels !== undefined && others.length === 0) return labels;
  const message = '`X-Axiom-Event-Labels` should be a JSON object, such as {"region": "eu"}.';
  throw new LocalError('invalid', 'invalid-request', message);
}

/** Returns an event with the labels added; a label replaces a member of the same name. */
export function labeled(event: RawObject, labels: RawObject): RawObject {
  return { ...event, members: new Map([...event.members, ...labels.members]) };
}

/** Returns a reading with the labels added as fields; a label replaces a field of the same name. */
export function withLabels(reading: Reading, labels: RawObject): Reading {
  const added = fieldsOf(labels);
  const taken = new Set(added.map(({ name }) => name));
  const { wider } = reading;
  return {
    ...reading,
    fields: [...reading.fields.filter(({ name }) => !taken.has(name)), ...added],
    ...present({
      wider: wider && (async (failure?: string) => withLabels(await wider(failure), labels)),
    }),
  };
}

function fieldsOf(labels: RawObject): ReadField[] {
  const { leaves } = shapeOfEvents([labels]);
  const { names } = namesOf(leaves);
  return leaves.map(({ path, type }, index) => {
    const known = type === 'unseen' ? 'string' : type;
    return { name: names[index] ?? '', type: known, sql: constant(known, valueAt(labels, path)) };
  });
}

/** Returns the SQL of a constant value. */
function constant(type: TypeName, value: RawValue | undefined): string {
  const engineType = type === 'dynamic' ? sqlTypes.string : sqlTypes[type];
  if (value === undefined || value.kind === 'NULL') return `CAST(NULL AS ${engineType})`;
  const text = type === 'string' ? String(JSON.parse(value.text)) : value.text;
  return `CAST(${sqlText(text)} AS ${engineType})`;
}
