import type { Column, Columns, Computed, Relation, Scalar } from '../../../apl/plan/plan.js';
import { mapInputs, mapParts, partsOf } from '../../../apl/plan/plan-walk.js';
import { constant, reference } from '../../../apl/plan/scalars.js';

/** Maximum depth of an expression. Engines take time proportional to the cube of the depth, and refuse a thousand levels. */
const deepest = 40;

/**
 * Returns the relation without expressions deeper than an engine handles well: deeper parts are computed as columns in stages below, so one
 * long sum is as fast as many short ones.
 */
export function levelled(relation: Relation, made: Columns): Relation {
  const below = mapInputs(relation, input => levelled(input, made));
  if (below.kind === 'values') return levelledRow(below, made);
  if (below.kind === 'project') return levelledProject(below, made);
  return below.kind === 'filter' ? levelledFilter(below, made) : below;
}

function levelledProject(relation: Extract<Relation, { kind: 'project' }>, made: Columns): Relation {
  const split = new Split(made);
  const items = relation.items.map(item => ({ ...item, value: split.shallow(item.value) }));
  return split.isNeeded ? { ...relation, input: split.below(relation.input), items } : relation;
}

/** The row of `print` is computed from a row without fields; the cells of a table are constants. */
function levelledRow(relation: Extract<Relation, { kind: 'values' }>, made: Columns): Relation {
  const { rows, columns } = relation;
  const [row, ...more] = rows;
  if (row === undefined || more.length > 0 || row.length === 0) return relation;
  const nothing = made.hidden('long');
  const value: Scalar = constant('long', 0n);
  const input: Relation = { kind: 'values', rows: [[value]], columns: [nothing] };
  const items = columns.flatMap((column, index) => {
    const cell = row[index];
    return cell === undefined ? [] : [{ column, value: cell }];
  });
  const project = { kind: 'project', input, items, columns } as const;
  const levels = levelledProject(project, made);
  return levels === project ? relation : levels;
}

function levelledFilter(relation: Extract<Relation, { kind: 'filter' }>, made: Columns): Relation {
  const split = new Split(made);
  const predicate = split.shallow(relation.predicate);
  if (!split.isNeeded) return relation;
  const input = split.below(relation.input);
  const { columns } = relation;
  return {
    kind: 'project',
    input: { ...relation, input, predicate, columns: input.columns },
    items: columns.map(passed),
    columns,
  };
}

/** One run of splitting: the extracted columns, by the number of stages they need below them. */
class Split {
  readonly #made: Columns;
  readonly #levels: Computed[][] = [];
  readonly #levelOf = new Map<number, number>();

  constructor(made: Columns) {
    this.#made = made;
  }

  get isNeeded(): boolean {
    return this.#levels.length > 0;
  }

  /** Returns an expression nowhere deeper than {@link deepest}. */
  shallow(value: Scalar): Scalar {
    return this.#visit(value).value;
  }

  /** Returns a relation that adds the extracted columns to those of `input`. */
  below(input: Relation): Relation {
    return this.#levels.reduce((at: Relation, level): Relation => {
      const columns = [...at.columns, ...level.map(item => item.column)];
      return { kind: 'project', input: at, items: [...at.columns.map(passed), ...level], columns };
    }, input);
  }

  #visit(value: Scalar): { readonly value: Scalar; readonly depth: number; readonly level: number } {
    if (value.kind === 'column') return { value, depth: 0, level: this.#levelOf.get(value.id) ?? 0 };
    const parts = partsOf(value).map(part => this.#visit(part));
    // A chain of these is a single operation to the engine.
    const own = value.kind === 'binary' && (value.operator === 'and' || value.operator === 'or') ? 0 : 1;
    const shallow = parts.map(part => (part.depth >= deepest ? this.#takeOut(part.value, part.level) : part));
    const next = shallow.values();
    return {
      value: mapParts(value, part => next.next().value?.value ?? part),
      depth: own + Math.max(0, ...shallow.map(part => part.depth)),
      level: Math.max(0, ...shallow.map(part => part.level)),
    };
  }

  #takeOut(
    value: Scalar,
    level: number,
  ): { readonly value: Scalar; readonly depth: number; readonly level: number } {
    const column = this.#made.hidden(value.type);
    const items = this.#levels[level] ?? [];
    items.push({ column, value });
    this.#levels[level] = items;
    this.#levelOf.set(column.id, level + 1);
    return { value: reference(column), depth: 0, level: level + 1 };
  }
}

function passed(column: Column): Computed {
  return { column, value: reference(column) };
}
