import {
  type Column,
  type Columns,
  type Computed,
  isSorted,
  type OrderKey,
  type Relation,
  type Scalar,
} from './plan.js';
import { reference } from './scalars.js';

/** The parts of a plan over the elements of the rows of a table. */
export interface ElementPlan {
  readonly rows: Relation;
  /** The fields of the rows that the result has. */
  readonly fields: readonly Column[];
  /** What stands for the rows in `expanded` and `applied`. */
  readonly leaf: Relation;
  /** Their elements. */
  readonly expanded: Relation;
  /** What operators make of all elements as if they were one table. */
  readonly applied: Relation;
}

/**
 * Returns the relation that applies the operators to the elements of one row at a time, with the fields of the row. The rows are numbered, and
 * each relation passes their number and fields on: keys get the number as a further key, sorts begin with it, and limits and the rows
 * around count within it.
 */
export function appliedByRow(
  { rows: input, fields, leaf, expanded, applied }: ElementPlan,
  made: Columns,
): Relation {
  const row = made.hidden('long');
  const columns = [...input.columns, row];
  const relation: Relation = { kind: 'neighbors', input, place: row, items: [], columns };
  const element = elementIn(expanded) ?? made.hidden('long');
  const rebuilt = overRows(made, applied, { leaf, relation, row, element, passed: [row, ...fields] });
  return isSorted(rebuilt) ? rebuilt : sortedBy(rebuilt, [row]);
}

/** The column that counts the elements, if the query names one. */
function elementIn(relation: Relation): Column | undefined {
  if (relation.kind === 'expand') return relation.index;
  return relation.kind === 'project' ? elementIn(relation.input) : undefined;
}

function same(column: Column): Computed {
  return { column, value: reference(column) };
}

/** The rows whose elements are read. */
interface Rows {
  /** What stands for them in the plan that is made anew. */
  readonly leaf: Relation;
  readonly relation: Relation;
  /** The number of each row. */
  readonly row: Column;
  /** The place of an element in its row. */
  readonly element: Column;
  /** What is passed on: the number and the fields. */
  readonly passed: readonly Column[];
}

/** The relation made anew over the rows in place of the leaf. */
function overRows(made: Columns, relation: Relation, rows: Rows): Relation {
  const below = (input: Relation): Relation => overRows(made, input, rows);
  switch (relation.kind) {
    case 'expand':
      return expandedRows(relation, below(relation.input), rows);
    case 'filter': {
      const input = below(relation.input);
      return { ...relation, input, columns: input.columns };
    }
    case 'project': {
      const input = below(relation.input);
      const items = [
        ...relation.items,
        ...missing(relation.columns, input, [...rows.passed, rows.element]).map(same),
      ];
      return { ...relation, input, items, columns: items.map(({ column }) => column) };
    }
    case 'sort': {
      const input = below(relation.input);
      const last = input.columns.includes(rows.element) ? [rows.element] : [];
      return relation.implied === true ? input : sortedBy(input, [rows.row], relation.keys, last);
    }
    case 'limit':
    case 'top-groups':
      return firstOfEach(made, relation, below(relation.input), rows);
    case 'aggregate':
    case 'topk': {
      const input = below(relation.input);
      const passed = rows.passed.map(same);
      const keys = [...relation.keys, ...passed];
      return { ...relation, input, keys, columns: [...relation.columns, ...rows.passed] };
    }
    case 'distinct': {
      const input = below(relation.input);
      const columns = [...relation.columns, ...missing(relation.columns, input, rows.passed)];
      const items = columns.map(same);
      return { ...relation, input: { kind: 'project', input, items, columns }, columns };
    }
    case 'neighbors': {
      const input = below(relation.input);
      const within = [rows.row, ...(relation.within ?? [])];
      const own = relation.items.map(({ column }) => column);
      return { ...relation, input, within, columns: [...input.columns, relation.place, ...own] };
    }
    case 'values':
      return relation === rows.leaf ? rows.relation : relation;
    case 'scan':
    case 'external':
    case 'sequence':
    case 'sample':
    case 'join':
    case 'union':
    case 'series':
      return relation;
  }
}

/** The columns of the input that are passed on and not among the others. */
function missing(columns: readonly Column[], input: Relation, passed: readonly Column[]): readonly Column[] {
  const there = new Set(columns.map(({ id }) => id));
  return passed.filter(column => !there.has(column.id) && input.columns.some(({ id }) => id === column.id));
}

type Expand = Extract<Relation, { kind: 'expand' }>;

/** The elements of the rows, in their order; those of an array within an element have no place of their own. */
function expandedRows(
  relation: Expand,
  input: Relation,
  { relation: first, row, element, passed }: Rows,
): Relation {
  const isFirst = input === first;
  const own = isFirst && relation.index === undefined ? [element] : [];
  const columns = [...relation.columns, ...own, ...missing(relation.columns, input, [...passed, element])];
  if (!isFirst) return { ...relation, input, columns };
  return sortedBy({ ...relation, input, index: element, columns }, [row, element]);
}

/** As many rows of each number as the limit says, in their order. */
function firstOfEach(
  made: Columns,
  { count }: Extract<Relation, { kind: 'limit' | 'top-groups' }>,
  input: Relation,
  { row }: Rows,
): Relation {
  const place = made.hidden('long');
  const columns = [...input.columns, place];
  const numbered: Relation = { kind: 'neighbors', input, place, items: [], within: [row], columns };
  const predicate: Scalar = {
    kind: 'binary',
    operator: '<=',
    left: reference(place),
    right: count,
    type: 'bool',
  };
  return sortedBy({ kind: 'filter', input: numbered, predicate, columns }, [row, place]);
}

/** The relation in the order of its first columns, then by the keys, then of its last columns. */
function sortedBy(
  input: Relation,
  first: readonly Column[],
  keys: readonly OrderKey[] = [],
  last: readonly Column[] = [],
): Relation {
  const ascending = (column: Column): OrderKey => ({
    value: reference(column),
    descending: false,
    nullsFirst: false,
  });
  const all = [...first.map(ascending), ...keys, ...last.map(ascending)];
  return { kind: 'sort', input, keys: all, columns: input.columns };
}
