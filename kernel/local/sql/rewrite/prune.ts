import type { Column, Columns, Computed, OrderKey, Relation } from '../../../apl/plan/plan.js';
import { expressionsOf, idsIn, mapInputs, type RelationOf } from '../../../apl/plan/plan-walk.js';
import { reference } from '../../../apl/plan/scalars.js';

/** Returns the relation without unused columns, down to the fields that are read; its own columns stay. */
export function prune(relation: Relation, made: Columns): Relation {
  return pruneTo(relation, idsOf(relation.columns), made);
}

type Ids = ReadonlySet<number>;

function pruneTo(relation: Relation, needed: Ids, made: Columns): Relation {
  const below = (input: Relation, ids: Ids) => pruneTo(input, ids, made);
  switch (relation.kind) {
    case 'scan': {
      const kept = relation.columns.flatMap((column, index) => (needed.has(column.id) ? [index] : []));
      const indices = kept.length === 0 && relation.columns.length > 0 ? [narrowest(relation.columns)] : kept;
      return {
        ...relation,
        columns: pickAt(relation.columns, indices),
        fields: pickAt(relation.fields, indices),
      };
    }
    case 'values':
    case 'external':
    case 'sequence':
      return relation;
    case 'project': {
      const items = relation.items.filter(item => needed.has(item.column.id));
      const input = below(relation.input, idsIn(...items.map(item => item.value)));
      return { ...relation, input, items, columns: items.map(item => item.column) };
    }
    case 'filter':
    case 'limit':
    case 'sample':
      return narrowed(relation, needed, made);
    case 'sort':
      return narrowed(keepingElements(relation, made), needed, made);
    case 'top-groups':
      return narrowed(relation, new Set([...needed, ...idsOf(relation.groups)]), made);
    case 'distinct':
      return { ...relation, input: below(relation.input, idsOf(relation.columns)) };
    case 'aggregate': {
      const implied = idsOf(relation.implied ?? []);
      const keys = relation.keys.filter(({ column: { id } }) => needed.has(id) || !implied.has(id));
      const aggregates = relation.aggregates.filter(item => needed.has(item.column.id));
      const kept = aggregates.length === 0 && keys.length === 0 ? relation.aggregates : aggregates;
      const columns = [...keys, ...kept].map(item => item.column);
      const ordered = kept.some(isOrdered) ? carryingOrder(relation.input, made) : unordered(relation.input);
      const narrow = { ...relation, keys, aggregates: kept, columns };
      const ids = new Set([...idsIn(...expressionsOf(narrow)), ...ordered.ids]);
      return { ...narrow, input: below(ordered.relation, ids) };
    }
    case 'topk':
    case 'series':
      return { ...relation, input: below(relation.input, idsIn(...expressionsOf(relation))) };
    case 'join': {
      const ids = new Set([...needed, ...idsIn(...expressionsOf(relation))]);
      const [left, right] = [below(relation.left, ids), below(relation.right, ids)];
      return { ...relation, left, right, columns: relation.columns.filter(column => ids.has(column.id)) };
    }
    case 'union': {
      const kept = relation.columns.flatMap((column, index) => (needed.has(column.id) ? [index] : []));
      const indices = kept.length === 0 && relation.columns.length > 0 ? [0] : kept;
      const inputs = relation.inputs.map(input => {
        const values = pickAt(input.values, indices);
        return { relation: below(input.relation, idsIn(...values)), values };
      });
      return { ...relation, inputs, columns: pickAt(relation.columns, indices) };
    }
    case 'neighbors': {
      const items = relation.items.filter(item => needed.has(item.column.id));
      const ordered = carryingOrder(relation.input, made);
      const ids = new Set([
        ...needed,
        ...idsIn(...items.flatMap(({ args }) => args)),
        ...ordered.ids,
        ...idsOf(relation.within ?? []),
      ]);
      const input = below(ordered.relation, ids);
      const columns = [...input.columns, relation.place, ...items.map(item => item.column)];
      return { ...relation, input, items, columns };
    }
    case 'expand': {
      const items = relation.items.filter((item, at) => isExpanded(item, at, relation.items, needed));
      const own = new Set([
        ...items.map(item => item.column.id),
        ...[relation.index, relation.place?.column].flatMap(column =>
          column === undefined ? [] : [column.id],
        ),
      ]);
      const ids = new Set([...needed, ...idsIn(...expressionsOf({ ...relation, items }))]);
      const columns = relation.columns.filter(column => own.has(column.id) || needed.has(column.id));
      return { ...relation, items, columns, input: below(relation.input, ids) };
    }
  }
}

/**
 * Returns whether one of several expansions of the same array is needed: those that are read, or else the first, since the longest array
 * determines the number of rows.
 */
function isExpanded(item: Computed, at: number, items: readonly Computed[], needed: Ids): boolean {
  const same = items.filter(other => other.value === item.value);
  return (
    needed.has(item.column.id) ||
    !same.some(other => needed.has(other.column.id) || items.indexOf(other) < at)
  );
}

type OneInput = RelationOf<'filter' | 'sort' | 'limit' | 'sample' | 'top-groups'>;

/** Prunes a stage that passes on its input's columns: it needs the requested ones and those in its own expressions. */
function narrowed(relation: OneInput, needed: Ids, made: Columns): Relation {
  const ids = new Set([...needed, ...idsIn(...expressionsOf(relation))]);
  const input = pruneTo(relation.input, ids, made);
  return { ...mapInputs(relation, () => input), columns: input.columns };
}

/** Returns whether the result, a list, depends on row order. */
function isOrdered({ call }: RelationOf<'aggregate'>['aggregates'][number]): boolean {
  return call.name.startsWith('make_list');
}

interface Carried {
  readonly relation: Relation;
  /** The order of the rows and the columns that its keys read; empty if unordered. */
  readonly keys: readonly OrderKey[];
  readonly ids: Ids;
}

function unordered(relation: Relation): Carried {
  return { relation, keys: [], ids: new Set() };
}

/** Carries along the columns that the sort below reads, also through projections, since an aggregate may depend on row order. */
function carryingOrder(relation: Relation, made: Columns): Carried {
  if (relation.kind === 'expand') return carryingPlaces(relation, made);
  if (relation.kind !== 'sort') return passingOn(relation, input => carryingOrder(input, made));
  const sorted = keepingElements(relation, made);
  return { relation: sorted, keys: sorted.keys, ids: idsIn(...expressionsOf(sorted)) };
}

type Sort = RelationOf<'sort'>;

/** Returns the sort with the positions of expanded elements as its last keys, which keep the elements of a row in order among ties. */
function keepingElements(relation: Sort, made: Columns): Sort {
  const { relation: input, keys } = carryingElements(relation.input, made);
  return { ...relation, input, keys: [...relation.keys, ...keys], columns: input.columns };
}

/** Carries along the positions of expanded elements. */
function carryingElements(relation: Relation, made: Columns): Carried {
  if (relation.kind !== 'expand') return passingOn(relation, input => carryingElements(input, made));
  if (relation.place !== undefined) return unordered(relation);
  const { relation: input, keys, ids } = carryingElements(relation.input, made);
  const own = withPlaces(
    { ...relation, input, columns: withColumns(relation.columns, input.columns, ids) },
    [],
    made,
  );
  return { relation: own.relation, keys: [...keys, ...own.keys], ids: new Set([...ids, ...own.ids]) };
}

/** Carries columns through an operator that preserves the rows and order of its input. */
function passingOn(relation: Relation, carrying: (input: Relation) => Carried): Carried {
  switch (relation.kind) {
    case 'filter':
    case 'limit': {
      const { relation: input, keys, ids } = carrying(relation.input);
      return { relation: { ...relation, input, columns: input.columns }, keys, ids };
    }
    case 'project': {
      const { relation: input, keys, ids } = carrying(relation.input);
      const columns = withColumns(relation.columns, input.columns, ids);
      const added = columns.slice(relation.columns.length);
      const items = added.map(column => ({ column, value: reference(column) }));
      return { relation: { ...relation, input, items: [...relation.items, ...items], columns }, keys, ids };
    }
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'sort':
    case 'top-groups':
    case 'distinct':
    case 'sample':
    case 'join':
    case 'union':
    case 'expand':
    case 'neighbors':
    case 'series':
      return unordered(relation);
  }
}

/** Returns the columns plus any carried columns of the input that are missing. */
function withColumns(columns: readonly Column[], input: readonly Column[], carried: Ids): readonly Column[] {
  const own = idsOf(columns);
  return [...columns, ...input.filter(({ id }) => carried.has(id) && !own.has(id))];
}

/** Orders expanded rows by their original rows, then by element. */
function carryingPlaces(relation: Expand, made: Columns): Carried {
  const { relation: input, keys } = carryingOrder(relation.input, made);
  return keys.length === 0 ? unordered(relation) : withPlaces({ ...relation, input }, keys, made);
}

type Expand = RelationOf<'expand'>;

/** Adds the position of each row in key order and of each element in its row, unless already there. */
function withPlaces(relation: Expand, keys: readonly OrderKey[], made: Columns): Carried {
  const column = relation.place?.column ?? made.hidden('long');
  const index = relation.index ?? made.hidden('long');
  const own = idsOf(relation.columns);
  const columns = [...relation.columns, ...[column, index].filter(each => !own.has(each.id))];
  const places = [column, index].map(
    (each): OrderKey => ({
      value: reference(each),
      descending: false,
      nullsFirst: true,
    }),
  );
  return {
    relation: { ...relation, index, place: { column, keys }, columns },
    keys: places,
    ids: idsOf([column, index]),
  };
}

function idsOf(columns: readonly Column[]): Set<number> {
  return new Set(columns.map(column => column.id));
}

/** Returns the column to read if only the number of rows matters: the time, which is cheap. */
function narrowest(columns: readonly Column[]): number {
  return Math.max(
    0,
    columns.findIndex(column => column.name === '_time'),
  );
}

function pickAt<T>(items: readonly T[], indices: readonly number[]): T[] {
  const wanted = new Set(indices);
  return items.filter((_, index) => wanted.has(index));
}
