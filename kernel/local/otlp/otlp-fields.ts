import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { type Cell, cellOf, objectCell, textCell } from './otlp-cells.js';
import { type KeyValue, listOf, type Sourced } from './otlp-protocol.js';

/** Attribute names in the semantic conventions, including older versions. */
const conventional = new Set<string>(
  Object.entries(conventions).flatMap(([name, value]) =>
    /^(?:ATTR|SEMATTRS|SEMRESATTRS)_/.test(name) && typeof value === 'string' ? [value] : [],
  ),
);

/** Resource attributes whose field has no `resource.` prefix. */
const ownFields = /^(?:service|telemetry)\./;

/**
 * Returns the cells of a record's source and its attributes, in the fields of the hosted service
 * (https://axiom.co/docs/reference/semantic-conventions): each attribute of the semantic conventions is a field, and all others form one
 * object below `custom`.
 */
export function sharedCells(
  { resource, scope }: Pick<Sourced<unknown>, 'resource' | 'scope'>,
  attributes: readonly KeyValue[] | undefined,
): Map<string, Cell> {
  const own = resource.filter(({ key = '' }) => ownFields.test(key));
  const others = resource.filter(each => !own.includes(each));
  return cellsOf([
    ...own.map(({ key = '', value }) => [key, cellOf(value)] as const),
    ...placed('resource', others),
    ['scope.name', textCell(scope.name)],
    ['scope.version', textCell(scope.version)],
    ['scope.attributes', objectCell(listOf(scope.attributes))],
    ...placed('attributes', listOf(attributes)),
  ]);
}

/** Returns the defined cells, by field. */
export function cellsOf(entries: readonly (readonly [string, Cell | undefined])[]): Map<string, Cell> {
  return new Map(entries.flatMap(([name, cell]) => (cell === undefined ? [] : [[name, cell] as const])));
}

function placed(prefix: string, attributes: readonly KeyValue[]): (readonly [string, Cell | undefined])[] {
  const isKnown = ({ key = '' }: KeyValue) => conventional.has(key);
  const known = attributes
    .filter(isKnown)
    .map(({ key, value }) => [`${prefix}.${key}`, cellOf(value)] as const);
  return [...known, [`${prefix}.custom`, objectCell(attributes.filter(each => !isKnown(each)))]];
}
