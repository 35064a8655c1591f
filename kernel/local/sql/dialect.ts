import type { TypeName } from '../../apl/catalog/entry.js';
import type { RowFunctionName } from '../../apl/catalog/row-functions.js';
import type { AggregateCall, JoinKind, Relation } from '../../apl/plan/plan.js';
import type { BinaryOperator, ListOperator } from '../../apl/syntax/ast.js';
import type { ConstantValue, SqlArg, SqlContext, SqlTemplate } from './sql-template.js';

/** An aggregate with its arguments written as SQL. */
export interface AggregateParts<Args extends readonly unknown[] = readonly SqlArg[]> {
  readonly call: AggregateCall;
  readonly args: Args;
  /** The condition that rows must meet; undefined for all rows. */
  readonly filter: string | undefined;
  /** ` ORDER BY …` of the rows or nothing, for aggregates that depend on row order. */
  readonly order: string;
  /** All percentages that are requested of these values, which an engine may find together. */
  readonly percentages?: readonly number[];
}

/** Adds a stage to the query being written and returns its name; a materialized stage is computed once. */
export type AddStage = (body: string, materialized?: boolean) => string;

/** A `make-series` as SQL: the columns of its keys, and for each aggregate its default and the column of its array. */
export interface SeriesParts {
  readonly input: string;
  readonly axis: SqlArg;
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;
  readonly keys: readonly { readonly name: string; readonly sql: string }[];
  readonly aggregates: readonly {
    readonly name: string;
    readonly sql: string;
    readonly type: TypeName;
    readonly fallback: SqlArg;
    readonly output: string;
  }[];
  readonly time: string;
}

/** A `histogram` over the rows of a stage, by group; `computed`: storing the values is faster than reading the rows twice. */
export interface HistogramParts extends Omit<AggregateParts, 'order'> {
  readonly input: string;
  readonly keys: readonly { readonly name: string; readonly arg: SqlArg }[];
  readonly computed: boolean;
}

/** A field compared by `spotlight`. */
export interface SpotlightField {
  readonly label: string;
  readonly arg: SqlArg;
}

/** A `spotlight` as SQL, with the omitted fields and the reasons. */
export interface SpotlightParts {
  readonly input: string;
  readonly keys: readonly { readonly name: string; readonly sql: string }[];
  readonly selected: SqlArg;
  readonly fields: readonly SpotlightField[];
  readonly omitted: readonly { readonly name: string; readonly note: string }[];
}

/** An `mv-expand`: the elements of all items side by side, one row per position. */
export interface ExpandParts {
  readonly input: string;
  readonly items: readonly {
    readonly name: string;
    readonly value: SqlArg;
    /** Type of the resulting elements. */
    readonly as: 'dynamic' | 'text';
    /** The same array as an engine list, if a function returns one; see {@link Dialect.textLists}. */
    readonly list?: string;
  }[];
  readonly bag: boolean;
  readonly limit: string | undefined;
  /** Columns of the result, including the one with the position. */
  readonly columns: readonly string[];
  readonly index: string | undefined;
  /**
   * A column that numbers the input rows, with the ORDER BY of the numbering. If that is empty, the column only distinguishes most rows.
   */
  readonly place: { readonly column: string; readonly order: string } | undefined;
}

/** A statement: its stages, its SELECT, and the names of the functions called in it. */
export interface StatementParts {
  readonly stages: readonly string[];
  readonly select: string;
  readonly calls: ReadonlySet<string>;
}

/**
 * The differences between SQL engines; `standard.ts` is the base of each dialect. Conditions are true or false, or null for false if
 * `predicate` is true. None of this SQL may fail on a row: a value that cannot be computed is null. Anything that an engine cannot express
 * is refused by name.
 */
export interface Dialect {
  // ---- expressions ----
  readonly literal: (type: TypeName, value: ConstantValue) => string;
  readonly convert: (arg: SqlArg, to: TypeName) => string;
  /** A function of the catalog by its canonical name, or an internal function, whose name begins with `$`. */
  readonly call: (name: string, args: readonly SqlArg[], context: SqlContext) => string;
  /** Size of a value as a string, in bytes; 0 for null. */
  readonly bytes: (arg: SqlArg) => string;
  /** Maximum bytes of output per byte of a function's arguments; 0 if its value is short. */
  readonly growthFactor: (name: string) => number;
  /** Arrays that contain only strings, for an engine that represents them as lists. */
  readonly textLists?: {
    /** The list of a function that returns one. */
    readonly of: (name: string) => SqlTemplate | undefined;
    /** The list element at a zero-based position; null beyond the end. */
    readonly element: (list: string, index: bigint) => string;
  };
  /** `==`, `!=`, `<`, `<=`, `>` or `>=`; neither side is the constant null. NaN is unordered. */
  readonly compare: (operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean) => string;
  /** Whether a value is from `low` to `high`; may be null. */
  readonly between: (value: SqlArg, low: SqlArg, high: SqlArg) => string;
  /** `+`, `-`, `*`, `/` or `%` with a result of `type`. */
  readonly arithmetic: (operator: BinaryOperator, left: SqlArg, right: SqlArg, type: TypeName) => string;
  readonly negate: (arg: SqlArg) => string;
  /** `has`, `contains`, `matches regex` and the like. */
  readonly textTest: (operator: BinaryOperator, left: SqlArg, right: SqlArg, predicate: boolean) => string;
  /** Whether a value is in a list (`in`, `in~`), or has its terms (`has_any`, `has_all`); not negated, may be null. */
  readonly listTest: (operator: ListOperator, left: SqlArg, items: readonly SqlArg[]) => string;
  /** Whether a value is in the column `value` of a query; may be null. */
  readonly queryTest: (operator: ListOperator, left: SqlArg, query: string) => string;
  /** A member or element at constant keys, in one pass. */
  readonly path: (object: string, keys: readonly string[]) => string;
  /** Several members or elements of a value in one pass, for an engine that can, if all are read for every row. */
  readonly paths?: (object: string, keys: readonly (readonly string[])[]) => readonly string[];
  /** The value at constant keys as a string, as if it were converted. */
  readonly pathText: (object: string, keys: readonly string[]) => string;
  /** Like `path`, but null may also be JSON's null. */
  readonly rawPath: (object: string, keys: readonly string[]) => string;
  /** Like `pathText`, but with numbers as written in the JSON. */
  readonly writtenPath: (object: string, keys: readonly string[]) => string;
  /** Functions that parse a string as JSON: members of their values can be read from the string itself, with `$document`. */
  readonly documents: ReadonlySet<string>;
  /**
   * Returns a converter to text for functions that create arrays and maps, or for an `array` or `map` literal, if the engine would only
   * serialize again what it has already written.
   */
  readonly composedText: (name: string) => ((value: string) => string) | undefined;
  readonly element: (object: SqlArg, key: SqlArg) => string;
  readonly array: (items: readonly SqlArg[]) => string;
  readonly map: (entries: readonly { readonly key: string; readonly value: SqlArg }[]) => string;

  // ---- aggregates ----
  readonly aggregate: (parts: AggregateParts) => string;
  /** A SELECT of a histogram as its keys and `value`, for an engine that reads the rows twice instead of holding them. */
  readonly histogram?: (parts: HistogramParts, stage: AddStage) => string;
  /** The value with NaN as null. */
  readonly withoutNaN: (arg: SqlArg) => string;
  /** Computes an aggregate over all bins from those of the bins; see `totals.ts`. */
  readonly merge: {
    readonly count: (own: string) => string;
    readonly sum: (own: string, type: TypeName) => string;
    readonly extreme: (name: 'min' | 'max', own: SqlArg) => string;
    readonly any: (own: string) => string;
    readonly scaled: (own: string, factor: number) => string;
    /** `sum` is over the sums of the bins; without it, over their means weighted by `count`. */
    readonly mean: (own: string, count: string, sum: string | undefined) => string;
    readonly rowOf: (name: string, own: string, by: SqlArg) => string;
  };

  // ---- relations ----
  /** A whole statement; an engine that needs function definitions in front of it adds those that are called. */
  readonly statement: (parts: StatementParts) => string;
  readonly stage: (name: string, body: string, materialized: boolean) => string;
  /** Whether reading a stage preserves its order. */
  readonly keepsOrder: boolean;
  /** A SELECT of these items without rows. */
  readonly nothing: (items: string) => string;
  /** The text after ORDER BY that limits the rows to this many, after `skip`. */
  readonly limit: (count: string, skip: number) => string;
  /** A column of one union input, whose type must match the other inputs. */
  readonly unionItem: (arg: SqlArg) => string;
  readonly orderKey: (arg: SqlArg, descending: boolean, nullsFirst: boolean) => string;
  /** Whether two keys are the same; nulls are the same. */
  readonly same: (left: string, right: string) => string;
  /** One side of a join's equality. */
  readonly joinKey: (arg: SqlArg) => string;
  readonly join: (kind: JoinKind, left: string, right: string, on: string) => string;
  /** A table of rows, each a list of SQL expressions, in order. */
  readonly values: (rows: readonly (readonly string[])[], columns: readonly string[]) => string;
  readonly sequence: (column: string, start: SqlArg, end: SqlArg, step: SqlArg) => string;
  /** A condition that is true for this proportion of the rows. */
  readonly sample: (proportion: string) => string;
  /** The first `count` rows of each group of a stage, in an order; `groups` are columns. */
  readonly firstOfEach: (
    stage: string,
    where: string,
    groups: readonly string[],
    order: string,
    count: string,
  ) => string;
  readonly expand: (parts: ExpandParts, stage: AddStage) => string;
  /** Whether a value from neighboring rows is found while they are read in order, in a window without an order. */
  readonly isStreamed: (name: RowFunctionName, args: readonly SqlArg[]) => boolean;
  /** A value from neighboring rows: `over` is the window with their order, and `place` the column that numbers them. */
  readonly neighbor: (name: RowFunctionName, args: readonly SqlArg[], over: string, place: string) => string;
  readonly series: (parts: SeriesParts, stage: AddStage) => string;
  /** A SELECT of the keys and of the ranked fields as `value`. */
  readonly spotlight: (parts: SpotlightParts, stage: AddStage) => string;
  readonly external: (relation: Extract<Relation, { kind: 'external' }>) => string;
  /** The text after FROM for the rows of a temporary table. */
  readonly temporary: (table: string) => string;
}
