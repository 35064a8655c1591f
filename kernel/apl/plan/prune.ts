import type { Column, Computed, OrderKey, Relation, Scalar } from './plan.js';
import { reference } from './scalars.js';

/** Returns the relation without the columns that nothing above needs, down to the fields that are read; its own columns stay. */
export function prune(relation: Relation): Relation {
  return pruneTo(relation, idsOf(relation.columns));
}

type Ids = ReadonlySet<number>;

/** Adds the ids of the columns that an expression reads. */
export function collectIds(value: Scalar, ids: Set<number>): void {
  if (value.kind === 'column') ids.add(value.id);
  for (const part of partsOf(value)) collectIds(part, ids);
}

/** The expressions directly inside an expression. */
export function partsOf(value: Scalar): readonly Scalar[] {
  switch (value.kind) {
    case 'column':
    case 'constant':
      return [];
    case 'convert':
      return [value.value];
    case 'call':
      return value.args;
    case 'binary':
      return [value.left, value.right];
    case 'not':
    case 'negate':
      return [value.operand];
    case 'in':
      return [value.left, ...value.items];
    case 'between':
      return [value.value, value.low, value.high];
    case 'path':
      return [value.object, value.key];
    case 'array':
      return value.items;
    case 'map':
      return value.entries.map(entry => entry.value);
  }
}

/** The expression with its parts replaced, in the order of {@link partsOf}. */
export function withParts(value: Scalar, parts: readonly Scalar[]): Scalar {
  const [first = value, second = value, third = value] = parts;
  switch (value.kind) {
    case 'column':
    case 'constant':
      return value;
    case 'convert':
      return { ...value, value: first };
    case 'call':
      return { ...value, args: parts };
    case 'binary':
      return { ...value, left: first, right: second };
    case 'not':
    case 'negate':
      return { ...value, operand: first };
    case 'in':
      return { ...value, left: first, items: parts.slice(1) };
    case 'between':
      return { ...value, value: first, low: second, high: third };
    case 'path':
      return { ...value, object: first, key: second };
    case 'array':
      return { ...value, items: parts };
    case 'map':
      return {
        ...value,
        entries: value.entries.map((entry, index) => ({ ...entry, value: parts[index] ?? entry.value })),
      };
  }
}

function pruneTo(relation: Relation, needed: Ids): Relation {
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
      const input = pruneTo(relation.input, reading(...items.map(item => item.value)));
      return { ...relation, input, items, columns: items.map(item => item.column) };
    }
    case 'filter':
      return narrowed(relation, needed, [relation.predicate]);
    case 'sort': {
      const sorted = keepingElements(relation);
      return narrowed(
        sorted,
        needed,
        sorted.keys.map(key => key.value),
      );
    }
    case 'limit':
    case 'sample':
      return narrowed(relation, needed, []);
    case 'top-groups':
      return narrowed(
        relation,
        new Set([...needed, ...idsOf(relation.groups)]),
        relation.rank.map(key => key.value),
      );
    case 'distinct':
      return { ...relation, input: pruneTo(relation.input, idsOf(relation.columns)) };
    case 'aggregate': {
      const aggregates = relation.aggregates.filter(item => needed.has(item.column.id));
      const kept = aggregates.length === 0 && relation.keys.length === 0 ? relation.aggregates : aggregates;
      const values = [
        ...relation.keys.map(key => key.value),
        ...kept.flatMap(item => [
          ...item.call.args,
          ...(item.call.filter === undefined ? [] : [item.call.filter]),
        ]),
      ];
      const columns = [...relation.keys.map(key => key.column), ...kept.map(item => item.column)];
      const ordered = kept.some(isOrdered) ? carryingOrder(relation.input) : unordered(relation.input);
      return {
        ...relation,
        aggregates: kept,
        columns,
        input: pruneTo(ordered.relation, new Set([...reading(...values), ...ordered.ids])),
      };
    }
    case 'topk': {
      const values = [
        ...relation.keys.map(key => key.value),
        relation.value.value,
        ...(relation.filter === undefined ? [] : [relation.filter]),
      ];
      return { ...relation, input: pruneTo(relation.input, reading(...values)) };
    }
    case 'join': {
      const ids = new Set([
        ...needed,
        ...reading(...relation.on.flatMap(condition => [condition.left, condition.right])),
      ]);
      const [left, right] = [pruneTo(relation.left, ids), pruneTo(relation.right, ids)];
      return { ...relation, left, right, columns: relation.columns.filter(column => ids.has(column.id)) };
    }
    case 'union': {
      const kept = relation.columns.flatMap((column, index) => (needed.has(column.id) ? [index] : []));
      const indices = kept.length === 0 && relation.columns.length > 0 ? [0] : kept;
      const inputs = relation.inputs.map(input => {
        const values = pickAt(input.values, indices);
        return { relation: pruneTo(input.relation, reading(...values)), values };
      });
      return { ...relation, inputs, columns: pickAt(relation.columns, indices) };
    }
    case 'expand': {
      const items = relation.items.filter((item, at) => isExpanded(item, at, relation.items, needed));
      const own = new Set([
        ...items.map(item => item.column.id),
        ...[relation.index, relation.place?.column].flatMap(column =>
          column === undefined ? [] : [column.id],
        ),
      ]);
      const values = [
        ...items.map(item => item.value),
        ...(relation.place?.keys ?? []).map(key => key.value),
      ];
      const ids = new Set([...needed, ...reading(...values)]);
      const columns = relation.columns.filter(column => own.has(column.id) || needed.has(column.id));
      return { ...relation, items, columns, input: pruneTo(relation.input, ids) };
    }
    case 'series': {
      const calls = relation.aggregates.flatMap(item => [
        ...item.call.args,
        ...(item.call.filter === undefined ? [] : [item.call.filter]),
      ]);
      return {
        ...relation,
        input: pruneTo(
          relation.input,
          reading(relation.axis, ...relation.keys.map(key => key.value), ...calls),
        ),
      };
    }
  }
}

/**
 * For one array that is expanded several times: the columns that are read, or else the first, as the longest array decides how
 * many rows there are.
 */
function isExpanded(item: Computed, at: number, items: readonly Computed[], needed: Ids): boolean {
  const same = items.filter(other => other.value === item.value);
  return (
    needed.has(item.column.id) ||
    !same.some(other => needed.has(other.column.id) || items.indexOf(other) < at)
  );
}

type OneInput = Extract<Relation, { kind: 'filter' | 'sort' | 'limit' | 'sample' | 'top-groups' }>;

/** A stage that passes its input's columns on: it needs the columns needed of it, and those that its own expressions read. */
function narrowed(relation: OneInput, needed: Ids, values: readonly Scalar[]): Relation {
  const ids = new Set(needed);
  for (const value of values) collectIds(value, ids);
  const input = pruneTo(relation.input, ids);
  return { ...relation, input, columns: input.columns } as Relation;
}

/** A list depends on the order of its rows. */
function isOrdered({ call }: Extract<Relation, { kind: 'aggregate' }>['aggregates'][number]): boolean {
  return call.name.startsWith('make_list');
}

interface Carried {
  readonly relation: Relation;
  /** The order of the rows, and the columns that its keys read; empty where there is none. */
  readonly keys: readonly OrderKey[];
  readonly ids: Ids;
}

function unordered(relation: Relation): Carried {
  return { relation, keys: [], ids: new Set() };
}

/** Carries along what the sort below reads, through projections too, as an aggregate may depend on the order of its rows. */
function carryingOrder(relation: Relation): Carried {
  switch (relation.kind) {
    case 'sort': {
      const sorted = keepingElements(relation);
      return { relation: sorted, keys: sorted.keys, ids: reading(...sorted.keys.map(key => key.value)) };
    }
    case 'expand':
      return carryingPlaces(relation);
    default:
      return passingOn(relation, carryingOrder);
  }
}

type Sort = Extract<Relation, { kind: 'sort' }>;

/** The sort with the places of expanded elements as its last keys: those of one row stay in their order where it leaves them equal. */
function keepingElements(relation: Sort): Sort {
  const { relation: input, keys } = carryingElements(relation.input);
  return { ...relation, input, keys: [...relation.keys, ...keys], columns: input.columns };
}

/** Carries the places of expanded elements along. */
function carryingElements(relation: Relation): Carried {
  if (relation.kind !== 'expand') return passingOn(relation, carryingElements);
  if (relation.place !== undefined) return unordered(relation);
  const { relation: input, keys, ids } = carryingElements(relation.input);
  const own = withPlaces(
    { ...relation, input, columns: withColumns(relation.columns, input.columns, ids) },
    [],
  );
  return { relation: own.relation, keys: [...keys, ...own.keys], ids: new Set([...ids, ...own.ids]) };
}

/** What is carried through an operator that passes the rows of its input on, in their order. */
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
    default:
      return unordered(relation);
  }
}

/** The columns, and those of the input that are carried along and not among them. */
function withColumns(columns: readonly Column[], input: readonly Column[], carried: Ids): readonly Column[] {
  const own = idsOf(columns);
  return [...columns, ...input.filter(({ id }) => carried.has(id) && !own.has(id))];
}

/** Expanded rows are in the order of their original rows, then of their elements. */
function carryingPlaces(relation: Expand): Carried {
  const { relation: input, keys } = carryingOrder(relation.input);
  return keys.length === 0 ? unordered(relation) : withPlaces({ ...relation, input }, keys);
}

type Expand = Extract<Relation, { kind: 'expand' }>;

/** Adds the place of each row in the order of the keys, and of each element in its row. */
function withPlaces(relation: Expand, keys: readonly OrderKey[]): Carried {
  const id = firstPlaceId + 2 * (relation.items[0]?.column.id ?? 0);
  const column: Column = { id, name: '', type: 'long' };
  const index: Column = relation.index ?? { id: id + 1, name: '', type: 'long' };
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

/** The first id of the columns made here: the ids of queries and of other stages are far below. */
const firstPlaceId = 4_000_000_000;

function reading(...values: readonly Scalar[]): Set<number> {
  const ids = new Set<number>();
  for (const value of values) collectIds(value, ids);
  return ids;
}

function idsOf(columns: readonly Column[]): Set<number> {
  return new Set(columns.map(column => column.id));
}

/** The column to read where only the number of rows matters: the time, which is cheap. */
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
