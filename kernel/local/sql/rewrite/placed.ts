import type { Column, Columns, Relation, Scalar } from '../../../apl/plan/plan.js';
import { mapInputs, type RelationOf } from '../../../apl/plan/plan-walk.js';
import { constant, reference } from '../../../apl/plan/scalars.js';
import { keyOf } from './ordering.js';
import { timeOf } from './timed.js';

/** The field with the position of a row in its dataset, in order of arrival. No data field has this name, since it contains a NUL. */
export const placeField = '\u0000place';

/** Kind of row positions in a dataset: in a `timeless` one, no row has its own time. */
export type Places = 'timed' | 'timeless';

/** Returns the kind of row positions in a dataset; undefined if unknown. */
export type PlacesOf = (dataset: string) => Places | undefined;

/**
 * Returns the relation with tie-breakers in its sorts of events: row positions in the dataset, so log lines appear in order or exactly
 * reversed, preceded by the time unless it is already a key. Rows without a time are never reversed. Position columns are added after the
 * others wherever such a sort is passed on.
 */
export function placed(relation: Relation, placesOf: PlacesOf, made: Columns): Relation {
  const walk = (each: Relation): Carried => {
    switch (each.kind) {
      case 'scan':
        return scanned(each, placesOf(each.dataset), made);
      case 'union':
        return united(
          each,
          each.inputs.map(input => walk(input.relation)),
          made,
        );
      case 'filter':
      case 'limit':
      case 'sample':
      case 'top-groups':
        return passedOn(each, walk(each.input));
      case 'sort':
        return sorted(each, walk(each.input));
      case 'project':
        return projected(each, walk(each.input));
      case 'values':
      case 'external':
      case 'sequence':
      case 'aggregate':
      case 'topk':
      case 'distinct':
      case 'join':
      case 'expand':
      case 'neighbors':
      case 'series':
        return bare(mapInputs(each, input => walk(input).relation));
    }
  };
  return walk(relation).relation;
}

/** Returns whether the last key of a sort is a row position, so no two rows are equal. */
export function endsWithPlace({ keys, columns }: RelationOf<'sort'>): boolean {
  const last = keys.at(-1)?.value;
  return last?.kind === 'column' && columns.some(({ id, role }) => id === last.id && role === 'place');
}

interface Carried {
  readonly relation: Relation;
  readonly place?: PlaceColumns;
}

/** The columns that order rows by position, at the end of a relation, and those with the time of a dataset. */
interface PlaceColumns {
  readonly columns: readonly Column[];
  readonly timeless: boolean;
  readonly times: ReadonlySet<number>;
}

function bare(relation: Relation): Carried {
  return { relation };
}

function scanned(relation: RelationOf<'scan'>, places: Places | undefined, made: Columns): Carried {
  const time = timeOf(relation);
  if (time === undefined || places === undefined) return bare(relation);
  const column = made.hidden('long', 'place');
  const fields = [...relation.fields, placeField];
  return {
    relation: { ...relation, fields, columns: [...relation.columns, column] },
    place: { columns: [column], timeless: places === 'timeless', times: new Set([time]) },
  };
}

function passedOn(
  relation: RelationOf<'filter' | 'limit' | 'sample' | 'top-groups' | 'sort'>,
  { relation: input, place }: Carried,
): Carried {
  if (place === undefined) return bare({ ...relation, input });
  return { relation: { ...relation, input, columns: [...relation.columns, ...place.columns] }, place };
}

function sorted(relation: RelationOf<'sort'>, input: Carried): Carried {
  const { place } = input;
  if (place === undefined) return passedOn(relation, input);
  const isTime = (id: number) => place.times.has(id);
  const byTime = relation.keys.find(({ value }) => value.kind === 'column' && isTime(value.id));
  const time =
    byTime === undefined && !place.timeless ? input.relation.columns.find(({ id }) => isTime(id)) : undefined;
  // Ties of the other keys are newest first, like unsorted rows.
  const descending = !place.timeless && (byTime?.descending ?? true);
  const keys = [...(time ? [time] : []), ...place.columns].map(column => keyOf(column, descending));
  return passedOn({ ...relation, keys: [...relation.keys, ...keys] }, input);
}

function projected(relation: RelationOf<'project'>, { relation: input, place }: Carried): Carried {
  if (place === undefined) return bare({ ...relation, input });
  const { columns } = place;
  const items = [...relation.items, ...columns.map(column => ({ column, value: reference(column) }))];
  const times = relation.items.flatMap(item =>
    item.value.kind === 'column' && place.times.has(item.value.id) ? [item.column.id] : [],
  );
  return {
    relation: { ...relation, input, items, columns: [...relation.columns, ...columns] },
    place: { ...place, times: new Set(times) },
  };
}

/** Rows of equal times follow the order of the inputs, then the positions in each. */
function united(relation: RelationOf<'union'>, carried: readonly Carried[], made: Columns): Carried {
  const below = carried.flatMap(({ place }) => place ?? []);
  const inputs = relation.inputs.map((input, at) => ({
    ...input,
    relation: carried[at]?.relation ?? input.relation,
  }));
  if (below.length < inputs.length) return bare({ ...relation, inputs });
  const width = 1 + Math.max(...below.map(({ columns }) => columns.length));
  const columns = Array.from({ length: width }, () => made.hidden('long', 'place'));
  const valuesOf = (at: number): Scalar[] => {
    const own = below[at]?.columns.map(reference) ?? [];
    const missing = Array.from({ length: width - 1 - own.length }, () => constant('long', 0n));
    return [constant('long', BigInt(at)), ...missing, ...own];
  };
  const times = relation.columns.filter((_, index) =>
    inputs.every(({ values }, at) => {
      const value = values[index];
      return value?.kind === 'column' && below[at]?.times.has(value.id);
    }),
  );
  return {
    relation: {
      ...relation,
      inputs: inputs.map((input, at) => ({ ...input, values: [...input.values, ...valuesOf(at)] })),
      columns: [...relation.columns, ...columns],
    },
    place: {
      columns,
      timeless: below.every(({ timeless }) => timeless),
      times: new Set(times.map(({ id }) => id)),
    },
  };
}
