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
  /** The same number for all columns of a dataset or a union, whose dotted names may mean one thing: `m.a`, and the key `a` of `m`. */
  readonly table?: number;
  /** What the column is for, if no name reaches it: a `place` tells rows of equal times apart, a `neighbor` reads the rows around. */
  readonly role?: 'place' | 'neighbor';
  /** How the column was aggregated, for the result's `agg`. */
  readonly agg?: {
    readonly name: string;
    readonly args: readonly unknown[];
    readonly fields: readonly string[];
  };
}

/** Makes the columns of one plan, of the query and of its rewrites: no two have the same id. */
export class Columns {
  #next = 0;

  /** Returns what makes the same columns as this would: what is written twice then has the same names. */
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
  /** A function of the catalog, by its canonical name. */
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Scalar[];
      readonly type: TypeName;
      /** Where the arguments stand in the query, for refusals that depend on their values. */
      readonly at?: readonly Span[];
    }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Scalar;
      readonly right: Scalar;
      readonly type: TypeName;
      /** Where the two sides stand in the query. */
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
  /** A property or an element of a dynamic value; null when it is not there. */
  | { readonly kind: 'path'; readonly object: Scalar; readonly key: Scalar; readonly type: 'dynamic' }
  | { readonly kind: 'array'; readonly items: readonly Scalar[]; readonly type: 'dynamic' }
  | {
      readonly kind: 'map';
      readonly entries: readonly { readonly key: string; readonly value: Scalar }[];
      readonly type: 'dynamic';
    };

/** An aggregate of the catalog. `filter` is the predicate of the `…if` forms. */
export interface AggregateCall {
  readonly name: string;
  readonly args: readonly Scalar[];
  readonly filter?: Scalar;
  /** The names of the fields in `args`, for aggregates that report them. */
  readonly labels?: readonly string[];
  /** The fields that an aggregate over fields leaves out, with the reason. */
  readonly omitted?: readonly { readonly name: string; readonly note: string }[];
  readonly type: TypeName;
  /** Where the arguments stand in the query. */
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

/** A value of the rows around, by the name of its function. */
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
  /** Files beside the datasets, one after the other; values are read as text or JSON, then as the columns' types. */
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
    }
  /** The `count` most frequent values of `value` in each group, with how often they occur. */
  | {
      readonly kind: 'topk';
      readonly input: Relation;
      readonly keys: readonly Computed[];
      readonly value: Computed;
      readonly frequency: Column;
      readonly count: Scalar;
      readonly filter?: Scalar;
    }
  /** `implied`: a limit of events that the query does not sort takes the newest. */
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
  /** The rows of the `count` groups that come first; `rank` decides, `groups` are the keys besides the time bin. */
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
  /** Each input gives, for every output column, its own column's id or undefined for null. */
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
       * A column with the place of each row of the input in the order of its sort, where something above depends on it. Without keys
       * it only keeps the elements of different rows apart.
       */
      readonly place?: { readonly column: Column; readonly keys: readonly OrderKey[] };
    }
  /**
   * The rows of the input, which are in an order, with their place in it from 1 on and values of the rows around, computed by
   * the functions of `rowFunctions`.
   */
  | {
      readonly kind: 'neighbors';
      readonly input: Relation;
      readonly place: Column;
      readonly items: readonly NeighborItem[];
      /** Columns whose equal values hold the rows together that count as around each other; all rows do if it is absent. */
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

/** The format of a file of `externaldata`. */
export type ExternalFormat = 'csv' | 'tsv' | 'psv' | 'scsv' | 'json' | 'raw' | 'txt';

/** A bound query: its relation, and the facts for the description of its result. */
export interface Plan {
  readonly relation: Relation;
  /** Makes the columns that rewrites add. */
  readonly columns: Columns;
  readonly datasets: readonly string[];
  /** Written order of the rows, if any. */
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  /** Names of the columns that the last `summarize` grouped by. */
  readonly groups: readonly string[];
  readonly bucket?: { readonly field: string; readonly size: bigint | number };
  /** True when the user wrote a limit or the result is aggregated: no implicit limit or order applies. */
  readonly bounded: boolean;
}

export interface FieldSchema {
  readonly name: string;
  readonly type: TypeName;
  readonly unit?: string;
  readonly description?: string;
  readonly hidden?: boolean;
}

/** The fields of a dataset. In an open dataset an unknown field is null; in a closed one it is an error. */
export interface DatasetSchema {
  readonly name: string;
  readonly fields: readonly FieldSchema[];
  /** Fields that are computed when it is read, in order. */
  readonly virtual?: readonly VirtualField[];
  readonly open: boolean;
}

/** The environment of binding; times are nanoseconds since 1970. */
export interface BindEnvironment {
  readonly schema: (dataset: string) => DatasetSchema | undefined;
  readonly datasets: () => readonly string[];
  /**
   * Kept results by their names, which come before datasets of the same name unless that is in quotes; a schema may have another
   * name than its result.
   */
  readonly results?: ReadonlyMap<string, DatasetSchema>;
  readonly now: bigint;
  readonly start: bigint;
  readonly end: bigint;
  /** Values of the request's `variables`. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Width of `bin_auto`, in nanoseconds. */
  readonly autoBin: bigint;
  /** The engine has the functions that the local service lacks. */
  readonly hasAllFunctions?: boolean;
  /** The file that an address of `externaldata` stands for, or why it cannot be read; none can if this is absent. */
  readonly external?: (address: string) => ExternalFile;
}

/** The path of a file that may be read, or the problem with its address. */
export type ExternalFile =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly problem: string; readonly hint: string };

/** True when an operator has decided the order of the rows. */
export function isSorted(relation: Relation): boolean {
  return decidingSort(relation) !== undefined;
}

/** The sort that has decided the order of the rows. */
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
