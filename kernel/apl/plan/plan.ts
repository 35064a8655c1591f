import { present } from '../../present.js';
import type { TypeName } from '../catalog/entry.js';
import type { RowFunctionName } from '../catalog/row-functions.js';
import type { joinKinds } from '../operators/combining.js';
import type { BinaryOperator, ListOperator, Span } from '../syntax/ast.js';
import type { VirtualField } from '../syntax/readers/virtual.js';

/** A column of a relation. `id` is unique in a plan; `name` is what the user sees. */
export interface Column {
  readonly id: number;
  readonly name: string;
  readonly type: TypeName;
  readonly unit?: string;
  readonly description?: string;
  /** The same number for all columns of a dataset or a union whose dotted names may be equivalent: `m.a`, and the key `a` of `m`. */
  readonly table?: number;
  /** Purpose of a column that has no visible name: a `place` distinguishes rows with equal times, a `neighbor` reads neighboring rows. */
  readonly role?: 'place' | 'neighbor';
  /** How the column was aggregated, for the result's `agg`. */
  readonly agg?: {
    readonly name: string;
    readonly args: readonly unknown[];
    readonly fields: readonly string[];
  };
}

/** Creates the columns of one plan, for the query and its rewrites: no two have the same id. */
export class Columns {
  #next = 0;

  /** Returns a factory that creates the same columns as this one would, so that duplicated code has the same names. */
  fork(): Columns {
    const forked = new Columns();
    forked.#next = this.#next;
    return forked;
  }

  /** Returns a column of the query. */
  named(name: string, type: TypeName, rest: Omit<Column, 'id' | 'name' | 'type'> = {}): Column {
    return { ...rest, id: this.#next++, name, type };
  }

  /** Returns a column that only a rewrite reads. */
  hidden(type: TypeName, role?: NonNullable<Column['role']>): Column {
    return this.named('', type, present({ role }));
  }
}

/** An expression with its type. Constants hold bigint for long, timespan and datetime (nanoseconds), JSON text for dynamic. */
export type Scalar =
  | { readonly kind: 'column'; readonly id: number; readonly type: TypeName }
  | {
      readonly kind: 'constant';
      readonly type: TypeName;
      readonly value: string | number | bigint | boolean | null;
    }
  | { readonly kind: 'convert'; readonly type: TypeName; readonly value: Scalar }
  /** A catalog function, by its canonical name. */
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Scalar[];
      readonly type: TypeName;
      /** Spans of the arguments in the query, for errors that depend on their values. */
      readonly at?: readonly Span[];
    }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Scalar;
      readonly right: Scalar;
      readonly type: TypeName;
      /** Spans of the two sides in the query. */
      readonly at?: readonly Span[];
    }
  | { readonly kind: 'not' | 'negate'; readonly operand: Scalar; readonly type: TypeName }
  | {
      readonly kind: 'in';
      readonly operator: ListOperator;
      readonly left: Scalar;
      readonly items: readonly Scalar[];
      readonly subquery?: Relation;
      readonly type: 'bool';
    }
  /** The first column of the first row of a query; null if it has none. */
  | { readonly kind: 'query'; readonly query: Relation; readonly type: TypeName }
  | {
      readonly kind: 'between';
      readonly negated: boolean;
      readonly value: Scalar;
      readonly low: Scalar;
      readonly high: Scalar;
      readonly type: 'bool';
    }
  /** A property or an element of a dynamic value; null if missing. */
  | { readonly kind: 'path'; readonly object: Scalar; readonly key: Scalar; readonly type: 'dynamic' }
  | { readonly kind: 'array'; readonly items: readonly Scalar[]; readonly type: 'dynamic' }
  | {
      readonly kind: 'map';
      readonly entries: readonly { readonly key: string; readonly value: Scalar }[];
      readonly type: 'dynamic';
    };

/** A catalog aggregate. `filter` is the predicate of the `…if` forms. */
export interface AggregateCall {
  readonly name: string;
  readonly args: readonly Scalar[];
  readonly filter?: Scalar;
  /** Names of the fields in `args`, for aggregates that report them. */
  readonly labels?: readonly string[];
  /** Fields that an aggregate over fields leaves out, with the reason. */
  readonly omitted?: readonly { readonly name: string; readonly note: string }[];
  readonly type: TypeName;
  /** Spans of the arguments in the query. */
  readonly at?: readonly Span[];
}

export interface Computed {
  readonly column: Column;
  readonly value: Scalar;
}

export interface Aggregated {
  readonly column: Column;
  readonly call: AggregateCall;
}

/** A value from neighboring rows, by its function's name. */
export interface NeighborItem {
  readonly column: Column;
  readonly name: RowFunctionName;
  readonly args: readonly Scalar[];
}

export interface OrderKey {
  readonly value: Scalar;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export type JoinKind = (typeof joinKinds)[number];

/** A relational operator; `columns` is its output, in order. */
export type Relation = { readonly columns: readonly Column[] } & (
  | {
      readonly kind: 'scan';
      readonly dataset: string;
      readonly fields: readonly string[];
      readonly start: bigint;
      readonly end: bigint;
    }
  | { readonly kind: 'values'; readonly rows: readonly (readonly Scalar[])[] }
  /** External files, read one after the other; values are parsed as strings or JSON, then converted to the columns' types. */
  | {
      readonly kind: 'external';
      readonly files: readonly string[];
      readonly format: ExternalFormat;
      readonly skipFirst: boolean;
    }
  /** One column: start, start + step, … up to and including end; numbers or times. */
  | { readonly kind: 'sequence'; readonly start: Scalar; readonly end: Scalar; readonly step: Scalar }
  | { readonly kind: 'filter'; readonly input: Relation; readonly predicate: Scalar }
  | { readonly kind: 'project'; readonly input: Relation; readonly items: readonly Computed[] }
  | {
      readonly kind: 'aggregate';
      readonly input: Relation;
      readonly keys: readonly Computed[];
      readonly aggregates: readonly Aggregated[];
      /** Keys that follow from the other keys, so the groups are the same without them. */
      readonly implied?: readonly Column[];
    }
  /** The `count` most frequent values of `value` in each group, with their counts. */
  | {
      readonly kind: 'topk';
      readonly input: Relation;
      readonly keys: readonly Computed[];
      readonly value: Computed;
      readonly frequency: Column;
      readonly count: Scalar;
      readonly filter?: Scalar;
    }
  /** `implied`: a limit on events that the query does not sort keeps the newest. */
  | {
      readonly kind: 'sort';
      readonly input: Relation;
      readonly keys: readonly OrderKey[];
      readonly implied?: true;
    }
  /** The first `count` rows after the first `skip`. */
  | {
      readonly kind: 'limit';
      readonly input: Relation;
      readonly count: Scalar;
      readonly skip?: number;
    }
  /** The rows of the first `count` groups in the order of `rank`; `groups` are the keys besides the time bin. */
  | {
      readonly kind: 'top-groups';
      readonly input: Relation;
      readonly groups: readonly Column[];
      readonly rank: readonly OrderKey[];
      readonly count: Scalar;
    }
  | { readonly kind: 'distinct'; readonly input: Relation }
  | { readonly kind: 'sample'; readonly input: Relation; readonly proportion: Scalar }
  | {
      readonly kind: 'join';
      readonly left: Relation;
      readonly right: Relation;
      readonly join: JoinKind;
      readonly on: readonly { readonly left: Scalar; readonly right: Scalar }[];
    }
  /** Each input gives a value for every output column. */
  | {
      readonly kind: 'union';
      readonly inputs: readonly { readonly relation: Relation; readonly values: readonly Scalar[] }[];
    }
  | {
      readonly kind: 'expand';
      readonly input: Relation;
      readonly items: readonly { readonly column: Column; readonly value: Scalar }[];
      readonly bag: boolean;
      readonly index?: Column;
      readonly limit?: Scalar;
      /**
       * A column with the position of each input row in sort order, if something above depends on it. Without keys, it only tells the
       * elements of different rows apart.
       */
      readonly place?: { readonly column: Column; readonly keys: readonly OrderKey[] };
    }
  /**
   * The ordered rows of the input, with their positions from 1 and values from neighboring rows, computed by the functions of
   * `rowFunctions`.
   */
  | {
      readonly kind: 'neighbors';
      readonly input: Relation;
      readonly place: Column;
      readonly items: readonly NeighborItem[];
      /** Columns that partition the rows: only rows with equal values are neighbors. All rows are if absent. */
      readonly within?: readonly Column[];
    }
  | {
      readonly kind: 'series';
      readonly input: Relation;
      readonly axis: Scalar;
      readonly start: Scalar;
      readonly stop: Scalar;
      readonly step: Scalar;
      readonly time: Column;
      readonly keys: readonly Computed[];
      readonly aggregates: readonly (Aggregated & { readonly fallback: Scalar; readonly output: Column })[];
    }
);

/** File format of `externaldata`. */
export type ExternalFormat = 'csv' | 'tsv' | 'psv' | 'scsv' | 'json' | 'raw' | 'txt';

/** A bound query: its relation, and the facts that describe its result. */
export interface Plan {
  readonly relation: Relation;
  /** Creates the columns that rewrites add. */
  readonly columns: Columns;
  readonly datasets: readonly string[];
  /** Sort order in the query, if any. */
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  /** Columns that the last `summarize` grouped by. */
  readonly groups: readonly string[];
  readonly bucket?: { readonly field: string; readonly size: bigint | number };
  /** True if the user wrote a limit or the result is aggregated: no implicit limit or order applies. */
  readonly bounded: boolean;
}

export interface FieldSchema {
  readonly name: string;
  readonly type: TypeName;
  readonly unit?: string;
  readonly description?: string;
  readonly hidden?: boolean;
}

/** Fields of a dataset. In an open dataset an unknown field is null; in a closed one it is an error. */
export interface DatasetSchema {
  readonly name: string;
  readonly fields: readonly FieldSchema[];
  /** Fields computed on read, in order. */
  readonly virtual?: readonly VirtualField[];
  readonly open: boolean;
}

/** Environment of binding; times are nanoseconds since 1970. */
export interface BindEnvironment {
  readonly schema: (dataset: string) => DatasetSchema | undefined;
  readonly datasets: () => readonly string[];
  /**
   * Stored results by name, preferred over datasets of the same name unless that is quoted; a schema's name may differ from its result's.
   */
  readonly results?: ReadonlyMap<string, DatasetSchema>;
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
  /** Values of the request's `variables`. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Width of `bin_auto`, in nanoseconds. */
  readonly autoBin: bigint;
  /** Whether the engine has the functions that the local service lacks. */
  readonly hasAllFunctions?: boolean;
  /** Returns the file for a URL of `externaldata`, or the reason it cannot be read; if absent, none can. */
  readonly external?: (address: string) => ExternalFile;
}

/** The path of a readable file, or the problem with its URL. */
export type ExternalFile =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: string; readonly hint: string };

/** True if an operator has determined the order of the rows. */
export function isSorted(relation: Relation): boolean {
  return decidingSort(relation) !== undefined;
}

/** Returns the sort that determined the order of the rows. */
export function decidingSort(relation: Relation): Extract<Relation, { kind: 'sort' }> | undefined {
  switch (relation.kind) {
    case 'sort':
      return relation;
    case 'filter':
    case 'project':
    case 'limit':
    case 'top-groups':
    case 'sample':
    case 'expand':
    case 'neighbors':
      return decidingSort(relation.input);
    case 'scan':
    case 'values':
    case 'external':
    case 'sequence':
    case 'aggregate':
    case 'topk':
    case 'distinct':
    case 'join':
    case 'union':
    case 'series':
      return undefined;
  }
}
