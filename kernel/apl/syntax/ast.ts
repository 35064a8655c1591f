import type { TypeName } from '../catalog/entry.js';
import type { Clause, ListOperand, Operand } from '../operators/grammar.js';
import type { OperatorKind, operators, SourceKind, sources } from '../operators/operator-rows.js';
import type { DiagnosticCode } from './codes.js';

/** A half-open range of UTF-16 offsets into the parsed text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Severity = 'error' | 'warning' | 'hint';

/** A diagnostic. `code` is stable; `hint` says what to write instead. */
export interface Diagnostic extends Span {
  readonly severity: Severity;
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly hint?: string;
  /** Replacement for the span that fixes the error. */
  readonly instead?: string;
}

export interface Identifier extends Span {
  readonly name: string;
  readonly quoted: boolean;
}

// ---- expressions ----

export type Literal =
  /** dynamic: a JSON number with more digits than any other type holds. */
  | (Span & { readonly kind: 'literal'; readonly type: 'string' | 'dynamic'; readonly value: string })
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
  /** A field, a let name, or a dataset, depending on its position. */
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
  /** Stands in for unreadable text; a diagnostic has been reported. */
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

/** A field name with optional `*`: `status*`, `['geo.']*`, `*`, `*_ms`. Parts are the literals between the stars. */
export interface FieldPattern extends Span {
  readonly parts: readonly string[];
  /** True if there is no star: an exact name. */
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

/** Node types by clause operand. */
export interface OperandNodes {
  readonly expression: Expr;
  readonly expressions: readonly Expr[];
  readonly assignments: readonly Assignment[];
  readonly 'defaulted assignments': readonly DefaultedAssignment[];
  readonly 'typed assignments': readonly TypedAssignment[];
  readonly 'field patterns': readonly FieldPattern[];
  readonly 'ordered patterns': readonly OrderedPattern[];
  readonly 'sort key': SortKey;
  readonly 'sort keys': readonly SortKey[];
  readonly source: Source;
  readonly sources: readonly Source[];
  readonly 'sources in parentheses': readonly Source[];
  readonly options: readonly Option[];
  readonly 'options in parentheses': readonly Option[];
  readonly columns: readonly ColumnDecl[];
  readonly stages: Pipeline;
  readonly name: Identifier;
  readonly word: Identifier;
  readonly values: readonly Expr[];
  readonly texts: readonly Literal[];
  readonly range: readonly Expr[];
  readonly pieces: readonly ParsePiece[];
  readonly search: SearchPredicate;
}

/** An optional clause that is not a list is an optional property. */
type MayBeAbsent<C extends Clause> = C extends { readonly optional: true }
  ? C['takes'] extends ListOperand
    ? false
    : true
  : false;
type OperandNode<T extends Operand> = OperandNodes[T];
/** Node properties defined by a row's clauses. */
type NodeOf<R extends { readonly clauses: readonly Clause[] }> = {
  readonly [C in R['clauses'][number] as MayBeAbsent<C> extends true ? never : C['name']]: OperandNode<
    C['takes']
  >;
} & {
  readonly [C in R['clauses'][number] as MayBeAbsent<C> extends true ? C['name'] : never]?: OperandNode<
    C['takes']
  >;
};

export type Source = Span &
  /** `held`: the name is a string variable, whose value names the dataset. */
  (
    | { readonly kind: 'dataset'; readonly name: Identifier; readonly held?: true }
    /** `github*`: only if several tables are allowed. */
    | { readonly kind: 'pattern'; readonly pattern: FieldPattern }
    | { [K in SourceKind]: { readonly kind: K } & NodeOf<(typeof sources)[K]> }[SourceKind]
    | { readonly kind: 'paren'; readonly pipeline: Pipeline }
    /** The rows of the enclosing operator; implicit, without source text. */
    | { readonly kind: 'given' }
    | { readonly kind: 'missing' }
  );

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

interface OperatorBase extends Span {
  /** Word of the operator, for the editor to color and explain. */
  readonly word: Span;
}

/** An operator: its kind, and the contents of its clauses. */
export type Operator = OperatorBase &
  (
    | { [K in OperatorKind]: { readonly kind: K } & NodeOf<(typeof operators)[K]> }[OperatorKind]
    | { readonly kind: 'unknown' }
  );

/** Node of an operator of one kind. */
export type OperatorOf<K extends OperatorKind> = Extract<Operator, { readonly kind: K }>;

/** Node of a source of one kind. */
export type SourceOf<K extends Source['kind']> = Extract<Source, { readonly kind: K }>;

/** A pattern and the sort order of the fields it matches; `orderSpan` is the span of the order. */
export interface OrderedPattern extends Span {
  readonly pattern: FieldPattern;
  readonly order?: 'asc' | 'desc' | 'granny-asc' | 'granny-desc';
  readonly orderSpan?: Span;
}

/** `name = expr default=value`; `defaultSpan` is the span of `default=value`. */
export interface DefaultedAssignment extends Assignment {
  readonly fallback?: Expr;
  readonly defaultSpan?: Span;
}

/** `name = expr to typeof(type)`. */
export interface TypedAssignment extends Assignment {
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
