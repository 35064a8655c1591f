import type { Column, Columns, Computed, Relation, Scalar } from '../../../apl/plan/plan.js';
import { mapExpressions, mapInputs, mapParts, type RelationOf } from '../../../apl/plan/plan-walk.js';
import { reference } from '../../../apl/plan/scalars.js';

/**
 * Returns the relation with members of dynamic values as columns of a stage below, if an expression reads them several times, as a
 * conversion or a sort key does: the engine would search the JSON again each time.
 */
export function withMembers(relation: Relation, made: Columns): Relation {
  const below = mapInputs(relation, input => withMembers(input, made));
  switch (below.kind) {
    case 'project':
      return withStage(below, new Members(made), (members, value) => members.read(value));
    case 'aggregate':
      return aggregated(below, new Members(made));
    case 'sort':
      return withStage(below, new Members(made), (members, value) => members.whole(value));
    case 'distinct':
      return { ...below, input: only(relation.columns, below.input) };
    default:
      return below;
  }
}

/** Aggregates that find the first or last of an argument, and its position. */
export const ordering: ReadonlyMap<string, number> = new Map([
  ['min', 0],
  ['max', 0],
  ['arg_min', 1],
  ['arg_max', 1],
]);

/** Changes the arguments at these positions of aggregates by name. */
export function mapArguments(
  relation: RelationOf<'aggregate'>,
  positions: ReadonlyMap<string, number>,
  change: (arg: Scalar) => Scalar,
): RelationOf<'aggregate'> {
  const aggregates = relation.aggregates.map(({ column, call }) => {
    const position = positions.get(call.name);
    const args = call.args.map((arg, index) => (index === position ? change(arg) : arg));
    return { column, call: { ...call, args } };
  });
  return { ...relation, aggregates };
}

function aggregated(relation: RelationOf<'aggregate'>, members: Members): Relation {
  const changed = mapArguments(relation, ordering, arg => members.whole(arg));
  return withStage(changed, members, (_, value) => members.read(value));
}

function withStage(
  relation: RelationOf<'project' | 'aggregate' | 'sort'>,
  members: Members,
  change: (members: Members, value: Scalar) => Scalar,
): Relation {
  const changed = mapExpressions<RelationOf<'project' | 'aggregate' | 'sort'>>(relation, value =>
    change(members, value),
  );
  const input = members.below(relation.input);
  if (changed.kind === 'sort') return { ...changed, input, columns: input.columns };
  return { ...changed, input };
}

/** The members that become columns, each once. */
class Members {
  readonly #made: Columns;
  readonly #found = new Map<string, Computed>();

  constructor(made: Columns) {
    this.#made = made;
  }

  /** Returns a relation that adds the members to the columns of `input`. */
  below(input: Relation): Relation {
    if (this.#found.size === 0) return input;
    const items = [...input.columns.map(passed), ...this.#found.values()];
    const columns = items.map(({ column }) => column);
    return withMembers({ kind: 'project', input, items, columns }, this.#made);
  }

  /** Returns an expression that is compared, as a column if it is dynamic. */
  whole(value: Scalar): Scalar {
    const isComputed = value.type === 'dynamic' && value.kind !== 'column' && value.kind !== 'constant';
    return isComputed ? this.#column(value) : this.read(value);
  }

  /** Returns an expression with columns in place of the members that it converts. */
  read(value: Scalar): Scalar {
    switch (value.kind) {
      case 'convert':
        return isMember(value.value) && value.type !== 'string' && value.type !== 'dynamic'
          ? { ...value, value: this.#column(value.value) }
          : mapParts(value, part => this.read(part));
      case 'call': {
        if (conditional.has(value.name)) return this.#first(value);
        const converts = converting.has(value.name);
        return mapParts(value, part => {
          const isApart = converts ? isMember(part) : isConversion(part);
          return isApart ? this.#column(part) : this.read(part);
        });
      }
      case 'binary':
        return value.operator === 'and' || value.operator === 'or'
          ? this.#first(value)
          : mapParts(value, part => this.read(part));
      default:
        return mapParts(value, part => this.read(part));
    }
  }

  /** The engine computes only the first part for every row. */
  #first(value: Scalar): Scalar {
    let isFirst = true;
    return mapParts(value, part => {
      const read = isFirst ? this.read(part) : part;
      isFirst = false;
      return read;
    });
  }

  #column(value: Scalar): Scalar {
    const key = JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
    const item = this.#found.get(key) ?? { column: this.#made.hidden(value.type), value };
    this.#found.set(key, item);
    return reference(item.column);
  }
}

/** Functions that read a dynamic value several times. */
const converting: ReadonlySet<string> = new Set([
  ...['toint', 'todouble', 'tobool', 'todatetime', 'totimespan', '$compare'],
]);

const conditional: ReadonlySet<string> = new Set(['iff', 'case', 'coalesce', '$first']);

/** Returns whether a value is a dynamic one as another type, which takes long enough to not be computed again. */
function isConversion(value: Scalar): boolean {
  const inner = value.kind === 'call' && value.name !== '$compare' ? value.args[0] : undefined;
  const converted = value.kind === 'convert' ? value.value : inner;
  return (
    (value.kind === 'convert' || (value.kind === 'call' && converting.has(value.name))) &&
    converted?.type === 'dynamic' &&
    (converted.kind === 'column' || isMember(converted))
  );
}

/** Returns whether a value is a member of a column, at constant keys. */
function isMember(value: Scalar): boolean {
  if (value.kind !== 'path' || value.key.kind !== 'constant') return false;
  return value.object.kind === 'column' || isMember(value.object);
}

function only(columns: readonly Column[], input: Relation): Relation {
  return columns.length === input.columns.length
    ? input
    : { kind: 'project', input, items: columns.map(passed), columns };
}

function passed(column: Column): Computed {
  return { column, value: reference(column) };
}
