import type { TypeName } from '../catalog/entry.js';

/** A half-open range of UTF-16 offsets into the parsed text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Severity = 'error' | 'warning' | 'hint';

/** One finding. `code` is stable; `hint` says what to write instead. */
export interface Diagnostic extends Span {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export interface Identifier extends Span {
  readonly name: string;
  readonly quoted: boolean;
}

// ---- expressions ----

export type Literal =
  | (Span & { readonly kind: 'literal'; readonly type: 'string'; readonly value: string })
  | (Span & { readonly kind: 'literal'; readonly type: 'bool'; readonly value: boolean })
  | (Span & { readonly kind: 'literal'; readonly type: 'real'; readonly value: number })
  /** long, timespan: an integer; datetime: nanoseconds since 1970. */
  | (Span & {
      readonly kind: 'literal';
      readonly type: 'long' | 'timespan' | 'datetime';
      readonly value: bigint;
    })
  | (Span & { readonly kind: 'literal'; readonly type: TypeName; readonly value: null });

export type BinaryOperator =
  | 'or'
  | 'and'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '=~'
  | '!~'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | 'contains'
  | '!contains'
  | 'contains_cs'
  | '!contains_cs'
  | 'startswith'
  | '!startswith'
  | 'startswith_cs'
  | '!startswith_cs'
  | 'endswith'
  | '!endswith'
  | 'endswith_cs'
  | '!endswith_cs'
  | 'has'
  | '!has'
  | 'has_cs'
  | '!has_cs'
  | 'hasprefix'
  | '!hasprefix'
  | 'hasprefix_cs'
  | '!hasprefix_cs'
  | 'hassuffix'
  | '!hassuffix'
  | 'hassuffix_cs'
  | '!hassuffix_cs'
  | 'matches regex'
  | '!matches regex';

export type ListOperator =
  | 'in'
  | '!in'
  | 'in~'
  | '!in~'
  | 'has_any'
  | 'has_any_cs'
  | 'has_all'
  | 'has_all_cs';

export type Expr =
  | Literal
  /** A field, a let name, or a dataset, by its place. */
  | (Span & { readonly kind: 'name'; readonly name: string; readonly quoted: boolean })
  /** `a.b`; the member may be quoted: `a.['b c']`. */
  | (Span & { readonly kind: 'member'; readonly object: Expr; readonly member: Identifier })
  /** `a['b']`, `a[0]`. */
  | (Span & { readonly kind: 'index'; readonly object: Expr; readonly index: Expr })
  | (Span & { readonly kind: 'call'; readonly callee: Identifier; readonly args: readonly Argument[] })
  | (Span & { readonly kind: 'unary'; readonly operator: '-' | '+' | 'not'; readonly operand: Expr })
  | (Span & {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly operatorSpan: Span;
      readonly left: Expr;
      readonly right: Expr;
    })
  | (Span & {
      readonly kind: 'list';
      readonly operator: ListOperator;
      readonly operatorSpan: Span;
      readonly left: Expr;
      readonly items: readonly (Expr | Subquery)[];
    })
  | (Span & {
      readonly kind: 'between';
      readonly negated: boolean;
      readonly value: Expr;
      readonly low: Expr;
      readonly high: Expr;
    })
  | (Span & { readonly kind: 'paren'; readonly inner: Expr })
  | (Span & { readonly kind: 'subquery'; readonly pipeline: Pipeline })
  /** `dynamic([...])`, `dynamic({...})`: elements may be expressions. */
  | (Span & { readonly kind: 'array'; readonly items: readonly Expr[] })
  | (Span & {
      readonly kind: 'map';
      readonly entries: readonly { readonly key: string; readonly value: Expr }[];
    })
  | (Span & { readonly kind: 'typeof'; readonly type: TypeName | undefined })
  /** `*` as an argument or as the left side of a comparison. */
  | (Span & { readonly kind: 'star' })
  /** Stands where the text could not be read; a diagnostic has been given. */
  | (Span & { readonly kind: 'missing' });

export type Subquery = Extract<Expr, { kind: 'subquery' }>;

/** `name = expr` as an argument names a result: `arg_max(duration, longest = span_id)`. */
export interface Argument extends Span {
  readonly name?: Identifier;
  readonly value: Expr;
}

/** `expr` or `name = expr`; `(a, b) = expr` names several results. */
export interface Assignment extends Span {
  readonly names: readonly Identifier[];
  readonly value: Expr;
}

/** A field name with optional `*`: `status*`, `['geo.']*`, `*`, `*_ms`. Parts are literal texts between the stars. */
export interface FieldPattern extends Span {
  readonly parts: readonly string[];
  /** True when there is no star: an exact name. */
  readonly exact: boolean;
}

export interface SortKey extends Span {
  readonly value: Expr;
  readonly descending?: boolean;
  readonly nulls?: 'first' | 'last';
}

/** `name=value` options such as `kind=inner`; the value is a bare word, a string or a literal. */
export interface Option extends Span {
  readonly name: Identifier;
  readonly value: Expr;
}

// ---- sources and pipelines ----

export interface ColumnDecl extends Span {
  readonly name: Identifier;
  readonly type: TypeName;
}

export type Source =
  | (Span & { readonly kind: 'dataset'; readonly name: Identifier })
  /** `github*`: only where several tables are allowed. */
  | (Span & { readonly kind: 'pattern'; readonly pattern: FieldPattern })
  | (Span & {
      readonly kind: 'datatable';
      readonly columns: readonly ColumnDecl[];
      readonly values: readonly Expr[];
    })
  | (Span & { readonly kind: 'print'; readonly items: readonly Assignment[] })
  | (Span & {
      readonly kind: 'range';
      readonly name: Identifier;
      readonly start: Expr;
      readonly end: Expr;
      readonly step: Expr;
    })
  | (Span & {
      readonly kind: 'externaldata';
      readonly columns: readonly ColumnDecl[];
      readonly urls: readonly Literal[];
      readonly options: readonly Option[];
    })
  | (Span & { readonly kind: 'union'; readonly union: UnionClause })
  | (Span & { readonly kind: 'search'; readonly search: SearchClause })
  | (Span & { readonly kind: 'paren'; readonly pipeline: Pipeline })
  | (Span & { readonly kind: 'missing' });

export interface UnionClause {
  readonly options: readonly Option[];
  readonly tables: readonly Source[];
}

export interface SearchClause {
  readonly options: readonly Option[];
  readonly tables: readonly Source[];
  readonly predicate: SearchPredicate;
}

export type SearchPredicate =
  | (Span & { readonly kind: 'term'; readonly field?: Expr; readonly text: string })
  | (Span & { readonly kind: 'all' })
  | (Span & { readonly kind: 'and' | 'or'; readonly left: SearchPredicate; readonly right: SearchPredicate })
  | (Span & { readonly kind: 'not'; readonly operand: SearchPredicate })
  | (Span & { readonly kind: 'expr'; readonly expr: Expr });

export type ParsePiece =
  | (Span & { readonly kind: 'star' })
  | (Span & { readonly kind: 'text'; readonly text: string })
  | (Span & { readonly kind: 'field'; readonly name: Identifier; readonly type: TypeName });

/** The word of the operator, so that the editor can colour and explain it. */
interface OperatorBase extends Span {
  readonly word: Span;
}

export type Operator = OperatorBase &
  (
    | { readonly kind: 'where'; readonly predicate: Expr }
    | { readonly kind: 'extend' | 'extend-valid' | 'project'; readonly items: readonly Assignment[] }
    | { readonly kind: 'project-away' | 'project-keep'; readonly patterns: readonly FieldPattern[] }
    | { readonly kind: 'project-rename'; readonly items: readonly Assignment[] }
    | { readonly kind: 'project-reorder'; readonly items: readonly ReorderItem[] }
    | {
        readonly kind: 'summarize';
        readonly aggregates: readonly Assignment[];
        readonly by: readonly Assignment[];
        readonly hasBy: boolean;
      }
    | { readonly kind: 'sort'; readonly keys: readonly SortKey[] }
    | { readonly kind: 'limit'; readonly count: Expr | undefined }
    | { readonly kind: 'top'; readonly count: Expr; readonly key: SortKey }
    | { readonly kind: 'sample'; readonly proportion: Expr }
    | { readonly kind: 'count' }
    | { readonly kind: 'getschema' }
    | { readonly kind: 'distinct'; readonly items: readonly Assignment[]; readonly all: boolean }
    | {
        readonly kind: 'join' | 'lookup';
        readonly options: readonly Option[];
        readonly right: Source;
        readonly on: readonly Expr[];
      }
    | { readonly kind: 'union'; readonly union: UnionClause }
    | { readonly kind: 'search'; readonly search: SearchClause }
    | {
        readonly kind: 'make-series';
        readonly aggregates: readonly SeriesAggregate[];
        readonly on: Expr;
        readonly start?: Expr;
        readonly stop?: Expr;
        readonly step?: Expr;
        readonly by: readonly Assignment[];
      }
    | {
        readonly kind: 'mv-expand';
        readonly options: readonly Option[];
        readonly items: readonly ExpandItem[];
        readonly limit?: Expr;
      }
    | {
        readonly kind: 'parse' | 'parse-where';
        readonly options: readonly Option[];
        readonly subject: Expr;
        readonly pieces: readonly ParsePiece[];
      }
    | {
        readonly kind: 'parse-kv';
        readonly subject: Expr;
        readonly columns: readonly ColumnDecl[];
        readonly options: readonly Option[];
      }
    | {
        readonly kind: 'redact';
        readonly options: readonly Option[];
        readonly patterns: readonly Expr[];
        readonly on: readonly FieldPattern[];
      }
    | { readonly kind: 'unknown' }
  );

export interface ReorderItem extends Span {
  readonly pattern: FieldPattern;
  readonly order?: 'asc' | 'desc' | 'granny-asc' | 'granny-desc';
}

export interface SeriesAggregate extends Assignment {
  readonly fallback?: Expr;
}

export interface ExpandItem extends Span {
  readonly item: Assignment;
  readonly type?: TypeName;
}

export interface Pipeline extends Span {
  readonly source: Source;
  readonly operators: readonly Operator[];
}

// ---- statements ----

export type Statement =
  | (Span & {
      readonly kind: 'let';
      readonly name: Identifier;
      readonly value: Expr | Pipeline;
      readonly tabular: boolean;
    })
  | (Span & { readonly kind: 'set'; readonly name: Identifier; readonly value?: Expr })
  | (Span & { readonly kind: 'parameters'; readonly params: readonly ParameterDecl[] })
  | (Span & { readonly kind: 'query'; readonly pipeline: Pipeline });

export interface ParameterDecl extends Span {
  readonly name: Identifier;
  readonly type: TypeName;
  readonly fallback?: Expr;
}

/** One query: its statements in order; at most one is a `query`. */
export interface Query extends Span {
  readonly statements: readonly Statement[];
}
