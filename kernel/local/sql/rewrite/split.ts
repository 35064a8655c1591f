import {
  type Column,
  type Columns,
  type Computed,
  isSorted,
  type Relation,
  type Scalar,
} from '../../../apl/plan/plan.js';
import { isInOrder } from '../../../apl/plan/plan-order.js';
import {
  expressionsOf,
  idsIn,
  inputsOf,
  mapExpressions,
  mapInputs,
  mapQueries,
  queriesIn,
  type RelationOf,
} from '../../../apl/plan/plan-walk.js';
import { conditionsOf, constant, joined, reference } from '../../../apl/plan/scalars.js';
import { present } from '../../../present.js';
import type { Side } from '../compiled-query.js';
import { keyOf } from './ordering.js';
import { placeField } from './placed.js';
import { prune } from './prune.js';

/** Capabilities of a far engine. */
export interface FarAbility {
  /** Returns the side of a relation without inputs. */
  readonly sideOf: (leaf: Relation) => Side;
  /** Returns the construct in a relation that the engine has no SQL for, whatever its inputs; undefined if it supports all of it. */
  readonly refusal: (relation: Relation) => string | undefined;
}

/** A relation computed by the far engine. */
export interface FarRelation {
  /** The name under which the rest scans its rows; no dataset can have it. */
  readonly name: string;
  readonly relation: Relation;
  /** The topmost relation of the query in it, used to compute it here instead; absent for a dataset, which exists nowhere else. */
  readonly top?: Relation;
  /** The reason why the rest of the query stays here. */
  readonly because?: string;
}

/** A query split in two. */
export interface SplitQuery {
  /**
   * The part computed here, over scans of the returned rows: a field is named `c` and the column's id, and {@link placeField} is their
   * order.
   */
  readonly rest: Relation;
  readonly parts: readonly FarRelation[];
}

/**
 * Splits a query above the topmost relations that the far engine can compute. Work that can wait is done here afterwards: conditions, and
 * columns that nothing below reads. A filter is thus pushed regardless of its neighbors. Relations in `kept` are not pushed. The query must
 * be {@link narrowed}.
 */
export function split(
  query: Relation,
  ability: FarAbility,
  made: Columns,
  kept: ReadonlySet<Relation>,
): SplitQuery {
  const splitter = new Splitter(ability, made, kept);
  const rest = narrowed(splitter.landed(splitter.divided(query)), made);
  const wanted = new Map(scansIn(rest).map(({ dataset, columns }) => [dataset, columns]));
  const parts = splitter.parts.map(part => {
    const columns = wanted.get(part.name)?.filter(({ role }) => role !== 'place') ?? [];
    // Rows that are only counted or ordered come with one column.
    const some = columns.length === 0 ? part.relation.columns.slice(0, 1) : columns;
    return { ...part, relation: projected(part.relation, some) };
  });
  return { rest, parts };
}

/** Returns the relation without unused columns, including the queries in its expressions. */
export function narrowed(relation: Relation, made: Columns): Relation {
  return withNarrowQueries(prune(relation, made), made);
}

function withNarrowQueries(relation: Relation, made: Columns): Relation {
  const below = mapInputs(relation, input => withNarrowQueries(input, made));
  if (!expressionsOf(below).some(value => queriesIn(value).length > 0)) return below;
  return mapExpressions(below, value =>
    mapQueries(value, query => narrowed(projected(query, query.columns.slice(0, 1)), made)),
  );
}

/** Work done here over rows of the far engine, in order, as long as everything above can still be computed there. */
type Late =
  | { readonly kind: 'filter'; readonly predicate: Scalar }
  | { readonly kind: 'extend'; readonly items: readonly Computed[] };

interface Pushed {
  readonly side: 'far';
  /** May have more columns than `shown`. */
  readonly relation: Relation;
  readonly late: readonly Late[];
  readonly shown: readonly Column[];
  readonly top: Relation;
  readonly because?: string;
}

type Divided = Pushed | { readonly side: 'here' | 'any'; readonly relation: Relation };

class Splitter {
  readonly parts: FarRelation[] = [];
  readonly #ability: FarAbility;
  readonly #made: Columns;
  readonly #kept: ReadonlySet<Relation>;

  constructor(ability: FarAbility, made: Columns, kept: ReadonlySet<Relation>) {
    this.#ability = ability;
    this.#made = made;
    this.#kept = kept;
  }

  divided(relation: Relation): Divided {
    const inputs = inputsOf(relation).map(input => this.divided(input));
    const [only] = inputs;
    if (relation.kind === 'filter' && only?.side === 'far') return this.#filtered(relation, only);
    if (relation.kind === 'project' && only?.side === 'far') return this.#computed(relation, only);
    const sides = new Set([...inputs.map(({ side }) => side), ...this.#sidesOf(relation)]);
    if (sides.has('here')) return this.#here(relation, inputs);
    const below =
      inputs.length === 1 && only?.side === 'far' ? this.#passed(relation, only) : passedAll(inputs);
    if (below === undefined) return this.#here(relation, inputs);
    const pushed = withInputs(relation, below.inputs);
    const because = this.#refusal(relation, pushed);
    if (because !== undefined) return this.#here(relation, inputs, because);
    if (!sides.has('far')) return { side: 'any', relation };
    const { late } = below;
    const [first] = below.inputs;
    // Deferred expressions may use its columns.
    const own = late.length > 0 && first !== undefined ? { ...pushed, columns: first.columns } : pushed;
    return { side: 'far', top: relation, relation: own, late, shown: relation.columns };
  }

  /** Returns a relation computed here; a pushed input becomes a part. */
  landed(divided: Divided, because?: string): Relation {
    if (divided.side !== 'far') return divided.relation;
    const { late, shown } = divided;
    const relation = this.#withColumn(divided.relation);
    const name = `\u0000far ${this.parts.length}`;
    const top = divided.top.kind === 'scan' ? undefined : divided.top;
    this.parts.push({ name, relation, ...present({ top, because: divided.because ?? because }) });
    const scanned =
      isSorted(relation) || isInOrder(relation)
        ? this.#inOrder(relation, name)
        : scanOf(name, relation.columns);
    const whole = late.reduce(applied, scanned);
    return projected(whole, shown);
  }

  /** Adds a column to rows without any, so they can be counted. */
  #withColumn(input: Relation): Relation {
    if (input.columns.length > 0) return input;
    const column = this.#made.hidden('long');
    return { kind: 'project', input, items: [{ column, value: constant('long', 0n) }], columns: [column] };
  }

  /** Returns the rows in order of arrival. */
  #inOrder({ columns }: Relation, name: string): Relation {
    const place = this.#made.hidden('long', 'place');
    const scan = scanOf(name, columns, place);
    return { kind: 'sort', input: scan, keys: [keyOf(place, false)], columns: scan.columns };
  }

  #here(relation: Relation, inputs: readonly Divided[], because?: string): Divided {
    const below = inputs.map(input => this.landed(input, because));
    const here = mapExpressions(withInputs(relation, below), value => this.#withLanded(value, because));
    return { side: 'here', relation: here };
  }

  #withLanded(value: Scalar, because?: string): Scalar {
    if (queriesIn(value).length === 0) return value;
    return mapQueries(value, query => this.landed(this.divided(query), because));
  }

  /** Returns the sides of a relation: its own if it has no inputs, and those of the queries in its expressions. */
  #sidesOf(relation: Relation): readonly Side[] {
    const own = inputsOf(relation).length === 0 ? [this.#ability.sideOf(relation)] : [];
    return [...own, ...expressionsOf(relation).flatMap(value => this.#sidesOfQueries(value))];
  }

  #sidesOfQueries(value: Scalar): readonly Side[] {
    return queriesIn(value).map(query => {
      // A subquery is split into parts only if it is computed here.
      const divided = new Splitter(this.#ability, this.#made.fork(), this.#kept).divided(query);
      return divided.side === 'far' && divided.late.length > 0 ? 'here' : divided.side;
    });
  }

  #refusal(relation: Relation, pushed: Relation): string | undefined {
    return this.#kept.has(relation) ? '' : this.#ability.refusal(pushed);
  }

  /** Returns undefined if expressions over pushed rows can be pushed too, otherwise the reason why not. */
  #holdsBack(relation: Relation, pushed: Relation, { late }: Pushed): string | undefined {
    const values = expressionsOf(pushed);
    if (values.some(value => this.#sidesOfQueries(value).includes('here'))) return '';
    return readsNone(values, madeBy(late)) ? this.#refusal(relation, pushed) : '';
  }

  #filtered(relation: RelationOf<'filter'>, below: Pushed): Divided {
    const conditions = conditionsOf(relation.predicate);
    const over = (predicate: Scalar): Relation => {
      const input = below.relation;
      return { kind: 'filter', input, predicate, columns: input.columns };
    };
    const whole = this.#holdsBack(relation, over(relation.predicate), below);
    const reasons = conditions.map(condition =>
      whole === undefined ? undefined : this.#holdsBack(relation, over(condition), below),
    );
    const go = joined(
      'and',
      conditions.filter((_, index) => reasons[index] === undefined),
    );
    const stay = joined(
      'and',
      conditions.filter((_, index) => reasons[index] !== undefined),
    );
    const waits: Late[] = stay === undefined ? [] : [{ kind: 'filter', predicate: this.#withLanded(stay) }];
    const pushed = go === undefined ? below : { ...below, top: relation, relation: over(go) };
    return { ...pushed, late: [...below.late, ...waits], ...reasonOf(below, reasons) };
  }

  #computed(relation: RelationOf<'project'>, below: Pushed): Divided {
    const input = below.relation;
    const over = (items: readonly Computed[]): Relation => ({
      ...relation,
      input,
      items,
      columns: items.map(({ column }) => column),
    });
    const whole = this.#holdsBack(relation, over(relation.items), below);
    if (whole === undefined && below.late.length === 0)
      return { ...below, top: relation, relation: over(relation.items), shown: relation.columns };
    const reasons = relation.items.map(item =>
      whole === undefined || isPassed(item) ? undefined : this.#holdsBack(relation, over([item]), below),
    );
    const late = madeBy(below.late);
    const goes = relation.items.map(
      (item, index) => reasons[index] === undefined && readsNone([item.value], late),
    );
    const more = relation.items.filter((item, index) => goes[index] && !isPassed(item));
    const stay = relation.items.filter((item, index) => !goes[index] && !isPassed(item));
    const waits: Late[] =
      stay.length === 0
        ? []
        : [{ kind: 'extend', items: stay.map(item => ({ ...item, value: this.#withLanded(item.value) })) }];
    const passed = input.columns.map(column => ({ column, value: reference(column) }));
    const pushed =
      more.length === 0 ? below : { ...below, top: relation, relation: over([...passed, ...more]) };
    const all = [...below.late, ...waits];
    // Without deferred work, its columns are the shown ones.
    const own = all.length === 0 ? projected(pushed.relation, relation.columns) : pushed.relation;
    return { ...pushed, relation: own, late: all, shown: relation.columns, ...reasonOf(below, reasons) };
  }

  /** Returns the pushed input of a relation if it can be computed before the deferred work; undefined if not. */
  #passed(relation: Relation, below: Pushed): Below | undefined {
    const { late } = below;
    if (late.length === 0) return { inputs: [below.relation], late };
    const isFiltered = late.some(({ kind }) => kind === 'filter');
    if (!readsNone(expressionsOf(relation), madeBy(late))) return undefined;
    switch (relation.kind) {
      case 'sort':
      case 'sample':
        return { inputs: [below.relation], late };
      case 'limit':
        return isFiltered ? undefined : { inputs: [below.relation], late };
      case 'aggregate':
      case 'topk':
      case 'series':
        return isFiltered ? undefined : { inputs: [below.relation], late: [] };
      case 'scan':
      case 'values':
      case 'external':
      case 'sequence':
      case 'filter':
      case 'project':
      case 'top-groups':
      case 'distinct':
      case 'join':
      case 'union':
      case 'expand':
      case 'neighbors':
        return undefined;
    }
  }
}

/** Returns the first rows of a relation: one more than `most` reveals that there are too many. */
export function firstOfMost(relation: Relation, most: number): Relation {
  if (rowsAtMost(relation, most) !== most) return relation;
  const count = constant('long', BigInt(most) + 1n);
  return { kind: 'limit', input: relation, count, columns: relation.columns };
}

/** Returns the maximum number of rows: the query's own limit if lower. That limit includes the row by which the service detects a cut. */
export function rowsAtMost(relation: Relation, most: number): number {
  const taken = relation.kind === 'project' ? relation.input : relation;
  if (taken.kind !== 'limit' || taken.count.kind !== 'constant') return most;
  const count = Number(taken.count.value);
  return count === most + 1 ? count : Math.min(count, most);
}

/** The inputs of a pushed relation, and the work deferred until its rows are here. */
interface Below {
  readonly inputs: readonly Relation[];
  readonly late: readonly Late[];
}

function passedAll(inputs: readonly Divided[]): Below | undefined {
  if (inputs.some(input => input.side === 'far' && input.late.length > 0)) return undefined;
  return { inputs: inputs.map(({ relation }) => relation), late: [] };
}

function withInputs<R extends Relation>(relation: R, inputs: readonly Relation[]): R {
  const next = inputs.values();
  return mapInputs(relation, input => next.next().value ?? input);
}

function applied(input: Relation, late: Late): Relation {
  if (late.kind === 'filter')
    return { kind: 'filter', input, predicate: late.predicate, columns: input.columns };
  const columns = [...input.columns, ...late.items.map(({ column }) => column)];
  return { kind: 'project', input, items: [...input.columns.map(passing), ...late.items], columns };
}

function scanOf(name: string, columns: readonly Column[], place?: Column): Relation {
  const fields = columns.map(({ id }) => `c${id}`);
  const range = { start: 0n, end: 0n };
  if (place === undefined) return { kind: 'scan', dataset: name, fields, ...range, columns };
  return {
    kind: 'scan',
    dataset: name,
    fields: [...fields, placeField],
    ...range,
    columns: [...columns, place],
  };
}

/** Returns the relation with only these columns. */
function projected(input: Relation, columns: readonly Column[]): Relation {
  const { length } = columns;
  if (length === input.columns.length && columns.every(({ id }, at) => id === input.columns[at]?.id))
    return input;
  return { kind: 'project', input, items: columns.map(passing), columns };
}

function passing(column: Column): Computed {
  return { column, value: reference(column) };
}

function isPassed({ column, value }: Computed): boolean {
  return value.kind === 'column' && value.id === column.id;
}

/** Returns the scans of a relation and of the queries in its expressions. */
function scansIn(relation: Relation): readonly RelationOf<'scan'>[] {
  const queries = expressionsOf(relation).flatMap(queriesIn);
  const below = [...inputsOf(relation), ...queries].flatMap(scansIn);
  return relation.kind === 'scan' ? [relation] : below;
}

function madeBy(late: readonly Late[]): ReadonlySet<number> {
  return new Set(
    late.flatMap(each => (each.kind === 'extend' ? each.items.map(({ column }) => column.id) : [])),
  );
}

/** Returns whether expressions read none of the deferred columns. */
function readsNone(values: readonly Scalar[], late: ReadonlySet<number>): boolean {
  return late.size === 0 || [...idsIn(...values)].every(id => !late.has(id));
}

function reasonOf(
  { because }: Pushed,
  reasons: readonly (string | undefined)[],
): { readonly because?: string } {
  return present({ because: because ?? reasons.find(reason => reason !== undefined && reason !== '') });
}
