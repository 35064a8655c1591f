import type { TypeName } from '../../apl/catalog/entry.js';
import type { RowFunctionName } from '../../apl/catalog/row-functions.js';
import type { AggregateCall, JoinKind, Relation } from '../../apl/plan/plan.js';
import type { BinaryOperator, ListOperator } from '../../apl/syntax/ast.js';
import type { ConstantValue, SqlArg, SqlContext, SqlTemplate } from './sql-template.js';

/** An aggregate with its arguments written as SQL. */
export interface AggregateParts<Args extends readonly unknown[] = readonly SqlArg[]> {
  readonly call: AggregateCall;
  readonly args: Args;
  /** The condition on the rows that count; all rows when undefined. */
  readonly filter: string | undefined;
  /** ` ORDER BY …` of the rows or nothing, for aggregates whose result depends on it. */
  readonly order: string;
}

/** Adds a stage to the query that is being written and returns its name; a materialized one is computed once. */
export type AddStage = (body: string, materialized?: boolean) => string;

/**
 * A `make-series` with its parts written as SQL: the columns of its keys, and for each aggregate its default and the column of
 * its array.
 */
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

/** A `histogram` of the rows of a stage in groups; `computed`: to read them twice would take longer than to store the values. */
export interface HistogramParts extends Omit<AggregateParts, 'order'> {
  readonly input: string;
  readonly keys: readonly { readonly name: string; readonly arg: SqlArg }[];
  readonly computed: boolean;
}

/** A field that `spotlight` compares. */
export interface SpotlightField {
  readonly label: string;
  readonly arg: SqlArg;
}

/** A `spotlight` with its parts written as SQL, and the fields that it leaves out, with the reason. */
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
    /** What the elements become. */
    readonly as: 'dynamic' | 'text';
    /** The same array as a list of the engine, if a function gives one; see {@link Dialect.textLists}. */
    readonly list?: string;
  }[];
  readonly bag: boolean;
  readonly limit: string | undefined;
  /** The columns of the result, and which of them holds the position. */
  readonly columns: readonly string[];
  readonly index: string | undefined;
  /** A column that counts the rows of the input, and the ORDER BY in which it counts them; without one it tells most rows apart. */
  readonly place: { readonly column: string; readonly order: string } | undefined;
}

/** A statement: its stages, its SELECT, and the names of the functions that are called in it. */
export interface StatementParts {
  readonly stages: readonly string[];
  readonly select: string;
  readonly calls: ReadonlySet<string>;
}

/**
 * The differences between SQL engines; `standard.ts` is the base of each. Conditions may be null, which counts as false, where
 * `predicate` is true; else they are true or false. No SQL that these return may fail on a row: a value that cannot be computed is
 * null. What an engine cannot say at all is refused by name.
 */
export interface Dialect {
  // ---- expressions ----
  readonly literal: (type: TypeName, value: ConstantValue) => string;
  readonly convert: (arg: SqlArg, to: TypeName) => string;
  /** A function of the catalog by its canonical name, or one of the compiler's own, which begin with `$`. */
  readonly call: (name: string, args: readonly SqlArg[], context: SqlContext) => string;
  /** The bytes of a value as text; 0 for null. */
  readonly bytes: (arg: SqlArg) => string;
  /** How many bytes a function makes of a byte of its arguments at most; 0 if its value is short. */
  readonly growthFactor: (name: string) => number;
  /** Arrays that hold nothing but strings, for an engine that has them as lists. */
  readonly textLists?: {
    /** The list of a function that returns one. */
    readonly of: (name: string) => SqlTemplate | undefined;
    /** The element of a list at a place from 0 on; null beyond its end. */
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
  /** A member or an element at constant keys, in one pass. */
  readonly path: (object: string, keys: readonly string[]) => string;
  /** What is at constant keys as a text, as if it were converted. */
  readonly pathText: (object: string, keys: readonly string[]) => string;
  /** As `path`, but JSON's null may stand for null. */
  readonly rawPath: (object: string, keys: readonly string[]) => string;
  /** As `pathText`, but a number is as it is written in JSON. */
  readonly writtenPath: (object: string, keys: readonly string[]) => string;
  /** The functions that parse a text as JSON: what reads members of their values can read them in the text, by `$document`. */
  readonly documents: ReadonlySet<string>;
  /**
   * Returns what gives the text of the arrays and maps that a function makes, or of an `array` or a `map` that is written out, if the
   * engine would write them again as it has written them.
   */
  readonly composedText: (name: string) => ((value: string) => string) | undefined;
  readonly element: (object: SqlArg, key: SqlArg) => string;
  readonly array: (items: readonly SqlArg[]) => string;
  readonly map: (entries: readonly { readonly key: string; readonly value: SqlArg }[]) => string;

  // ---- aggregates ----
  readonly aggregate: (parts: AggregateParts) => string;
  /** A SELECT of a histogram as its keys and `value`, for an engine that reads the rows twice rather than hold them. */
  readonly histogram?: (parts: HistogramParts, stage: AddStage) => string;
  /** NaN as null. */
  readonly withoutNaN: (arg: SqlArg) => string;
  /** How an aggregate over all bins follows from those of the bins; see `totals.ts`. */
  readonly merge: {
    readonly count: (own: string) => string;
    readonly sum: (own: string, type: TypeName) => string;
    readonly extreme: (name: 'min' | 'max', own: SqlArg) => string;
    readonly any: (own: string) => string;
    readonly scaled: (own: string, factor: number) => string;
    /** `sum` is of the bins' sums, or their means by `count` if it is left out. */
    readonly mean: (own: string, count: string, sum: string | undefined) => string;
    readonly rowOf: (name: string, own: string, by: SqlArg) => string;
  };

  // ---- relations ----
  /** A whole statement; an engine that needs the functions in front of it writes those that are called. */
  readonly statement: (parts: StatementParts) => string;
  readonly stage: (name: string, body: string, materialized: boolean) => string;
  /** Whether the rows of a stage have its order for whoever reads them. */
  readonly keepsOrder: boolean;
  /** A SELECT of these items that has no rows. */
  readonly nothing: (items: string) => string;
  /** What follows ORDER BY to get so many rows, after `skip`. */
  readonly limit: (count: string, skip: number) => string;
  /** A column of one input of a union, whose types must be those of the others. */
  readonly unionItem: (arg: SqlArg) => string;
  readonly orderKey: (arg: SqlArg, descending: boolean, nullsFirst: boolean) => string;
  /** Whether two keys are the same; null is the same as null. */
  readonly same: (left: string, right: string) => string;
  /** One side of the equality that a join is on. */
  readonly joinKey: (arg: SqlArg) => string;
  readonly join: (kind: JoinKind, left: string, right: string, on: string) => string;
  /** A table of rows, each a list of SQL texts; they keep their order. */
  readonly values: (rows: readonly (readonly string[])[], columns: readonly string[]) => string;
  readonly sequence: (column: string, start: SqlArg, end: SqlArg, step: SqlArg) => string;
  /** A condition that is true for this part of the rows. */
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
  /** A value of the rows around: `over` says which rows these are, in their order, and `place` is the column that numbers them. */
  readonly neighbor: (name: RowFunctionName, args: readonly SqlArg[], over: string, place: string) => string;
  readonly series: (parts: SeriesParts, stage: AddStage) => string;
  /** A SELECT of the keys, and of the ranked fields as `value`. */
  readonly spotlight: (parts: SpotlightParts, stage: AddStage) => string;
  readonly external: (relation: Extract<Relation, { kind: 'external' }>) => string;
  /** The text after FROM for the rows of a temporary table. */
  readonly temporary: (table: string) => string;
}
