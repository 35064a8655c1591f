import type { Relation, Scalar } from './plan.js';

export type Kind = Relation['kind'];
export type RelationOf<K extends Kind> = Extract<Relation, { readonly kind: K }>;
type ScalarOf<K, S extends Scalar = Scalar> = S extends Scalar ? (K extends S['kind'] ? S : never) : never;

/** Functions that visit and replace the parts `P` contained in a `T`. */
interface Part<T, P> {
  readonly visit: (parent: T, visit: (part: P) => void) => void;
  readonly map: (parent: T, map: (part: P) => P) => T;
}

/** Whether a `T` contains a `P`; anything inside a nested relation or expression does not count. */
type Holds<T, P> = T extends P
  ? true
  : T extends Relation | Scalar
    ? false
    : T extends readonly (infer Item)[]
      ? Holds<Item, P>
      : T extends object
        ? { [K in keyof T]-?: Holds<T[K], P> }[keyof T]
        : false;

/** A part for each member of `T` that contains a `P`, and for no other. */
type Parts<T, P> = {
  readonly [K in keyof T as true extends Holds<T[K], P> ? K : never]-?: Part<NonNullable<T[K]>, P>;
};

/** The part itself. */
const one = {
  visit: <P>(parent: P, visit: (part: P) => void) => visit(parent),
  map: <P>(parent: P, map: (part: P) => P) => map(parent),
};

/** A list of parts. */
const all = {
  visit: <P>(parent: readonly P[], visit: (part: P) => void) => {
    for (const part of parent) visit(part);
  },
  map: <P>(parent: readonly P[], map: (part: P) => P): readonly P[] => parent.map(part => map(part)),
};

function each<T, P>(item: Part<T, P>): Part<readonly T[], P> {
  return {
    visit: (parent, visit) => {
      for (const value of parent) item.visit(value, visit);
    },
    map: (parent, map) => parent.map(value => item.map(value, map)),
  };
}

/** Returns the part for an object, with members in this order. Absent members stay absent. */
function within<T extends object, P>(parts: Parts<T, P>): Part<T, P> {
  const members: readonly (readonly [string, Part<unknown, P>])[] = Object.entries(parts);
  const there = (parent: T) => members.filter(([name]) => Reflect.get(parent, name) !== undefined);
  return {
    visit: (parent, visit) => {
      for (const [name, part] of there(parent)) part.visit(Reflect.get(parent, name), visit);
    },
    map: (parent, map) => {
      if (members.length === 0) return parent;
      const mapped = there(parent).map(([name, part]) => [name, part.map(Reflect.get(parent, name), map)]);
      return { ...parent, ...Object.fromEntries(mapped) };
    },
  };
}

/** Inputs and expressions of a relation. */
interface Children<R extends Relation> {
  readonly inputs: Part<R, Relation>;
  readonly expressions: Part<R, Scalar>;
}

function holding<R extends Relation>(inputs: Parts<R, Relation>, expressions: Parts<R, Scalar>): Children<R> {
  return { inputs: within<R, Relation>(inputs), expressions: within<R, Scalar>(expressions) };
}

/**
 * Children of each kind of relation. The type check fails if a new kind, or a new member with a relation or an expression, is missing here.
 */
const relations: { readonly [K in Kind]: Children<RelationOf<K>> } = {
  scan: holding({}, {}),
  values: holding({}, { rows: each<readonly Scalar[], Scalar>(all) }),
  external: holding({}, {}),
  sequence: holding({}, { start: one, end: one, step: one }),
  filter: holding({ input: one }, { predicate: one }),
  project: holding({ input: one }, { items: each(within({ value: one })) }),
  aggregate: holding(
    { input: one },
    {
      keys: each(within({ value: one })),
      aggregates: each(within({ call: within({ args: all, filter: one }) })),
    },
  ),
  topk: holding(
    { input: one },
    { keys: each(within({ value: one })), value: within({ value: one }), count: one, filter: one },
  ),
  sort: holding({ input: one }, { keys: each(within({ value: one })) }),
  limit: holding({ input: one }, { count: one }),
  'top-groups': holding({ input: one }, { rank: each(within({ value: one })), count: one }),
  distinct: holding({ input: one }, {}),
  sample: holding({ input: one }, { proportion: one }),
  join: holding({ left: one, right: one }, { on: each(within({ left: one, right: one })) }),
  union: holding({ inputs: each(within({ relation: one })) }, { inputs: each(within({ values: all })) }),
  expand: holding(
    { input: one },
    {
      items: each(within({ value: one })),
      limit: one,
      place: within({ keys: each(within({ value: one })) }),
    },
  ),
  neighbors: holding({ input: one }, { items: each(within({ args: all })) }),
  series: holding(
    { input: one },
    {
      axis: one,
      start: one,
      stop: one,
      step: one,
      keys: each(within({ value: one })),
      aggregates: each(within({ call: within({ args: all, filter: one }), fallback: one })),
    },
  ),
};

/** Child expressions of each kind of expression; a query within one is a separate plan. */
const scalars: { readonly [K in Scalar['kind']]: Part<ScalarOf<K>, Scalar> } = {
  column: within({}),
  constant: within({}),
  convert: within({ value: one }),
  call: within({ args: all }),
  binary: within({ left: one, right: one }),
  not: within({ operand: one }),
  negate: within({ operand: one }),
  in: within({ left: one, items: all }),
  query: within({}),
  between: within({ value: one, low: one, high: one }),
  path: within({ object: one, key: one }),
  array: within({ items: all }),
  map: within({ entries: each(within({ value: one })) }),
};

/** Returns the row of a relation's kind; the compiler cannot follow that. */
function childrenOf<R extends Relation>(relation: R): Children<R> {
  return relations[relation.kind] as unknown as Children<R>;
}

function partOf(value: Scalar): Part<Scalar, Scalar> {
  return scalars[value.kind] as Part<Scalar, Scalar>;
}

/** Returns the relations that a relation reads. */
export function inputsOf(relation: Relation): readonly Relation[] {
  const found: Relation[] = [];
  childrenOf(relation).inputs.visit(relation, input => found.push(input));
  return found;
}

/** Returns a relation with each of its inputs replaced. */
export function mapInputs<R extends Relation>(relation: R, map: (input: Relation) => Relation): R {
  return childrenOf(relation).inputs.map(relation, map);
}

/** Returns the expressions of a relation, without those of its inputs. */
export function expressionsOf(relation: Relation): readonly Scalar[] {
  const found: Scalar[] = [];
  childrenOf(relation).expressions.visit(relation, value => found.push(value));
  return found;
}

/** Returns a relation with each of its expressions replaced. */
export function mapExpressions<R extends Relation>(relation: R, map: (value: Scalar) => Scalar): R {
  return childrenOf(relation).expressions.map(relation, map);
}

/** Returns the expressions directly inside an expression. */
export function partsOf(value: Scalar): readonly Scalar[] {
  const found: Scalar[] = [];
  partOf(value).visit(value, part => found.push(part));
  return found;
}

/** Returns an expression with each of its parts replaced, in the order of {@link partsOf}. */
export function mapParts(value: Scalar, map: (part: Scalar) => Scalar): Scalar {
  return partOf(value).map(value, map);
}

/** Returns the queries inside an expression, which are separate plans. */
export function queriesIn(value: Scalar): readonly Relation[] {
  const own = value.kind === 'query' ? value.query : value.kind === 'in' ? value.subquery : undefined;
  return [...(own === undefined ? [] : [own]), ...partsOf(value).flatMap(queriesIn)];
}

/** Returns an expression with each query inside it replaced. */
export function mapQueries(value: Scalar, map: (query: Relation) => Relation): Scalar {
  const within = mapParts(value, part => mapQueries(part, map));
  if (within.kind === 'query') return { ...within, query: map(within.query) };
  if (within.kind !== 'in' || within.subquery === undefined) return within;
  return { ...within, subquery: map(within.subquery) };
}

/** Returns the ids of the columns that expressions read. */
export function idsIn(...values: readonly Scalar[]): Set<number> {
  const ids = new Set<number>();
  for (const value of values) collectIds(value, ids);
  return ids;
}

function collectIds(value: Scalar, ids: Set<number>): void {
  if (value.kind === 'column') ids.add(value.id);
  else partOf(value).visit(value, part => collectIds(part, ids));
}
