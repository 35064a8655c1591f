/**
 * Two tables side by side: which rows and cells differ.
 */
import { DataType, type Field, type Table, type Vector } from 'apache-arrow';
import { cellText } from './display/display-text.js';

/** A column that only one of two tables has, or whose type differs. */
export interface SchemaChange {
  readonly column: string;
  /** Arrow's name for the type; absent if the table has no such column. */
  readonly before?: string;
  readonly after?: string;
}

/** A row that only one table has, or one whose cells differ. Strings are exact; null is a null. */
export type RowChange =
  | { readonly kind: 'added' | 'removed'; readonly cells: Readonly<Record<string, string | null>> }
  | {
      readonly kind: 'changed';
      readonly key: Readonly<Record<string, string | null>>;
      readonly cells: readonly CellChange[];
    };

/** One cell in both tables. */
interface CellChange {
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** The differences between two tables. */
export interface TableChanges {
  readonly schema: readonly SchemaChange[];
  /** The columns that identify a row in the other table. */
  readonly key: readonly string[];
  readonly same: number;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  /** The same rows in another order. */
  readonly reordered: boolean;
  /** The first changes, in the order of the rows. */
  readonly examples: readonly RowChange[];
}

export interface CompareOptions {
  /** Columns that identify a row, such as those of `summarize … by` (default: all but floating-point ones). */
  readonly key?: readonly string[];
  /** The relative difference up to which two floating-point numbers count as equal. Default: 0. */
  readonly tolerance?: number;
  /** How many changes to list. Default 20. */
  readonly examples?: number;
}

/**
 * Returns how `after` differs from `before`. Rows with the same key are compared in order; without a common column, no row
 * is in both.
 */
export function compareTables(before: Table, after: Table, options: CompareOptions = {}): TableChanges {
  const schema = schemaChanges(before, after);
  const changed = new Set(schema.map(({ column }) => column));
  const names = before.schema.fields.map(({ name }) => name).filter(name => !changed.has(name));
  const key = keyOf(before, names, options.key);
  const rest = names.filter(name => !key.includes(name));
  const [left, right] = [new Rows(before, key), new Rows(after, key)];
  const counts = { same: 0, added: 0, removed: 0, changed: 0 };
  const examples: RowChange[] = [];
  const note = (change: RowChange) => {
    counts[change.kind] += 1;
    if (examples.length < (options.examples ?? 20)) examples.push(change);
  };
  const partners = names.length === 0 && schema.length > 0 ? noRows : right.byKey;
  for (const [text, rows] of left.byKey) {
    const others = partners.get(text) ?? [];
    for (const [index, row] of rows.entries()) {
      const other = others[index];
      if (other === undefined) {
        note({ kind: 'removed', cells: left.cells(row, shown(before, names)) });
        continue;
      }
      const cells = rest
        .map(column => ({ column, before: left.text(row, column), after: right.text(other, column) }))
        .filter(each => !isSame(each, left.isReal(each.column) ? (options.tolerance ?? 0) : 0));
      if (cells.length === 0) counts.same += 1;
      else note({ kind: 'changed', key: left.cells(row, key), cells });
    }
  }
  for (const [text, rows] of right.byKey)
    for (const row of rows.slice(partners.has(text) ? (left.byKey.get(text)?.length ?? 0) : 0))
      note({ kind: 'added', cells: right.cells(row, shown(after, names)) });
  const isWhole = counts.added + counts.removed + counts.changed === 0;
  return { schema, key, ...counts, reordered: isWhole && !left.hasOrderOf(right), examples };
}

const noRows: ReadonlyMap<string, readonly number[]> = new Map();

/** Returns the columns to show of a row that only one table has: the common ones, or its own if there are none. */
function shown({ schema }: Table, common: readonly string[]): readonly string[] {
  return common.length > 0 ? common : schema.fields.map(({ name }) => name);
}

/** Returns whether nothing differs. */
export function isUnchanged({ schema, added, removed, changed, reordered }: TableChanges): boolean {
  return schema.length === 0 && added + removed + changed === 0 && !reordered;
}

/** Describes the differences in one line. `compared` says how much was compared, if not everything. */
export function differenceText(changes: TableChanges, compared?: Compared): string {
  const { schema, added, removed, changed, same, reordered } = changes;
  const columns = schema.map(({ column, before, after }) => {
    if (before === undefined) return `column ${column} was added`;
    return after === undefined
      ? `column ${column} was removed`
      : `column ${column} changed from ${before} to ${after}`;
  });
  const rows = [
    ...(changed > 0 ? [`${changed} changed`] : []),
    ...(added > 0 ? [`${added} added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
  ];
  const counted = rows.length === 0 ? [] : [`rows: ${rows.join(', ')}, ${same} the same`];
  const order = reordered ? ['same rows in a different order'] : [];
  const texts = [...columns, ...counted, ...order];
  if (compared === undefined) return texts.join('; ');
  const rest = compared.columns === undefined ? 'a row' : 'a row or a column';
  const held = compared.columns === undefined ? '' : ` and ${compared.columns} columns`;
  const found =
    texts.length === 0 ? `none; ${rest} that does not fit in the notebook differs` : texts.join('; ');
  return `of the first ${compared.rows} rows${held}: ${found}`;
}

/** How many leading rows were compared, and how many columns if not all. */
interface Compared {
  readonly rows: number;
  readonly columns?: number;
}

function schemaChanges(before: Table, after: Table): readonly SchemaChange[] {
  const types = (table: Table) =>
    new Map(table.schema.fields.map(({ name, type }) => [name, typeName(type)]));
  const [left, right] = [types(before), types(after)];
  const lost = [...left].filter(([name, type]) => right.get(name) !== type);
  const fresh = [...right].filter(([name]) => !left.has(name));
  return [
    ...lost.map(([column, type]) => {
      const other = right.get(column);
      return other === undefined ? { column, before: type } : { column, before: type, after: other };
    }),
    ...fresh.map(([column, type]) => ({ column, after: type })),
  ];
}

/** Returns the name of a type; storing strings in a dictionary does not count as a difference. */
function typeName(type: DataType): string {
  return String(DataType.isDictionary(type) ? type.dictionary : type);
}

function keyOf(
  table: Table,
  names: readonly string[],
  asked: readonly string[] | undefined,
): readonly string[] {
  if (asked !== undefined && asked.length > 0 && asked.every(name => names.includes(name))) return asked;
  const real = new Set(
    table.schema.fields.filter(({ type }) => DataType.isFloat(type)).map(({ name }) => name),
  );
  return names.filter(name => !real.has(name));
}

/** Returns whether two cells are equal, or numbers that differ by the relative tolerance at most. */
function isSame({ before, after }: CellChange, tolerance: number): boolean {
  if (before === after) return true;
  if (tolerance === 0 || before === null || after === null) return false;
  const [a, b] = [Number(before), Number(after)];
  return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
}

/** The rows of a table, indexed by the strings of their key. */
class Rows {
  readonly byKey = new Map<string, number[]>();
  readonly #columns: ReadonlyMap<string, { readonly vector: Vector; readonly field: Field }>;
  readonly #keys: readonly string[];

  constructor(table: Table, key: readonly string[]) {
    this.#columns = new Map(
      table.schema.fields.map((field, index) => [
        field.name,
        { field, vector: table.getChildAt(index) as Vector },
      ]),
    );
    this.#keys = Array.from({ length: table.numRows }, (_, row) =>
      JSON.stringify(key.map(name => this.text(row, name))),
    );
    for (const [row, text] of this.#keys.entries()) {
      const rows = this.byKey.get(text);
      if (rows === undefined) this.byKey.set(text, [row]);
      else rows.push(row);
    }
  }

  text(row: number, column: string): string | null {
    const found = this.#columns.get(column);
    return found === undefined ? null : cellText(found.vector, row, found.field);
  }

  isReal(column: string): boolean {
    const type = this.#columns.get(column)?.field.type;
    return type !== undefined && DataType.isFloat(type);
  }

  cells(row: number, names: readonly string[]): Readonly<Record<string, string | null>> {
    return Object.fromEntries(names.map(name => [name, this.text(row, name)]));
  }

  hasOrderOf(other: Rows): boolean {
    return this.#keys.every((text, row) => text === other.#keys[row]);
  }
}
