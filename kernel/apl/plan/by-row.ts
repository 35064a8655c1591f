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

/** Parts of a plan over the elements of a table's rows. */
export interface ElementPlan {
  readonly rows: Relation;
  /** Fields of the rows to keep in the result. */
  readonly fields: readonly Column[];
  /** Placeholder for the rows in `expanded` and `applied`. */
  readonly leaf: Relation;
  /** Elements of the rows. */
  readonly expanded: Relation;
  /** Output of the operators over all elements as if they were one table. */
  readonly applied: Relation;
}

/**
 * Returns the relation that applies the operators to the elements of one row at a time, with the row's fields. Rows are numbered, and each
 * relation passes on their number and fields: keys include the number, sorts start with it, and limits and neighboring rows count within
 * it.
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

/** Returns the column that counts the elements, if the query names one. */
function elementIn(relation: Relation): Column | undefined {
  if (relation.kind === 'expand') return relation.index;
  return relation.kind === 'project' ? elementIn(relation.input) : undefined;
}

function same(column: Column): Computed {
  return { column, value: reference(column) };
}

/** Rows whose elements are read. */
interface Rows {
  /** Placeholder for the rows in the plan being rebuilt. */
  readonly leaf: Relation;
  readonly relation: Relation;
  /** Number of each row. */
  readonly row: Column;
  /** Position of an element in its row. */
  readonly element: Column;
  /** Columns passed on: the number and the fields. */
  readonly passed: readonly Column[];
}

/** Rebuilds a relation over the rows instead of the leaf. */
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
      const implied =
        relation.kind === 'aggregate' ? { implied: rows.passed.filter(column => column !== rows.row) } : {};
      return { ...relation, ...implied, input, keys, columns: [...relation.columns, ...rows.passed] };
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

/** Returns the passed columns of the input that are missing from `columns`. */
function missing(columns: readonly Column[], input: Relation, passed: readonly Column[]): readonly Column[] {
  const there = new Set(columns.map(({ id }) => id));
  return passed.filter(column => !there.has(column.id) && input.columns.some(({ id }) => id === column.id));
}

type Expand = Extract<Relation, { kind: 'expand' }>;

/** Returns the elements of the rows, in order; elements of a nested array have no position of their own. */
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

/** Limits the rows of each row number, in order. */
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

/** Sorts a relation by its first columns, then by the keys, then by its last columns. */
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
