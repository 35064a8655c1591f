import type { Example } from '../catalog/entry.js';

/** Content of an operator's clause; each kind has one reader, one walker, and one node type. */
export type Operand =
  | 'expression'
  | 'expressions'
  /** `name = expr, …`; may contain aggregates if `offers` allows them. */
  | 'assignments'
  /** Assignments, each with an optional `default=value`. */
  | 'defaulted assignments'
  /** Assignments, each with an optional `to typeof(type)`. */
  | 'typed assignments'
  | 'field patterns'
  /** Field patterns, each with an optional sort order for names. */
  | 'ordered patterns'
  | 'sort key'
  | 'sort keys'
  /** One table. */
  | 'source'
  | 'sources'
  /** `(T1, T2*)`. */
  | 'sources in parentheses'
  /** `name=value` words that precede the rest. */
  | 'options'
  /** `(name=value, …)`. */
  | 'options in parentheses'
  /** `(name: type, …)`. */
  | 'columns'
  /** `(operator | …)`, over the rows of the enclosing operator. */
  | 'stages'
  /** Name of a new column. */
  | 'name'
  /** One of the words of the clause. */
  | 'word'
  /** `[expr, …]`. */
  | 'values'
  /** `["text", …]`. */
  | 'texts'
  /** `range(start, stop, step)`. */
  | 'range'
  /** Pattern of `parse`: strings, fields and stars. */
  | 'pieces'
  /** The predicate of `search`. */
  | 'search';

/** List operands, empty if their clause is omitted. */
export type ListOperand = Exclude<
  Operand,
  'expression' | 'sort key' | 'source' | 'stages' | 'name' | 'word' | 'search'
>;

/** Values of an option: one of several words, a string, or the name of a new column. */
export type OptionValues =
  | {
      readonly takes: 'word';
      readonly values: readonly string[];
      /** Aliases of the values. */
      readonly synonyms?: Readonly<Record<string, string>>;
    }
  | { readonly takes: 'text' | 'name'; readonly values?: undefined; readonly synonyms?: undefined };

/** Options of an operator by name. */
export type Options = Readonly<Record<string, OptionValues & OptionRow>>;

interface OptionRow {
  readonly doc: string;
  /** Set if the option is accepted without effect: the alternative to suggest. */
  readonly unused?: string;
}

/** A part of an operator: its word, if any, and its content. */
export interface Clause {
  /** Property of the node that holds the content. */
  readonly name: string;
  readonly takes: Operand;
  readonly word?: string;
  /** Allowed words of a `word`. */
  readonly words?: readonly string[];
  readonly optional?: true;
  /** The clause is omitted before this word. */
  readonly absentBefore?: string;
  /** "expected WHAT WHERE" and a hint for a missing word; `$` is the operator as written. */
  readonly expected?: readonly [what: string, where: string, hint?: string];
  /** Completes "expected an expression …" if it is not "after WORD"; `$` as above. */
  readonly context?: string;
  /** An expression without comparisons, as it is followed by a word of the next clause. */
  readonly level?: 'sum';
  /** Completions besides fields and functions: aggregates, time bins, the sides of a join; or only fields. */
  readonly offers?: 'aggregates' | 'keys' | 'sides' | 'fields' | 'new names';
  readonly options?: Options;
  /** Whether the formatter starts a line before the word if the operator does not fit on one. */
  readonly startsLine?: true;
}

/** Documentation of an element. */
export interface Documentation {
  /** Forms, one per line; `[…]` is optional. */
  readonly usage: readonly string[];
  /** One or two sentences. */
  readonly doc: string;
  /** Absent if an example would need a dataset, or has no single exact result. */
  readonly example?: Example;
}

/** Everything about an operator except its meaning, which is in `bind/bind-operators.ts`. */
export interface OperatorRow extends Documentation {
  /** Additional words for the same operator. */
  readonly also?: Readonly<Record<string, Documentation>>;
  /** Old spellings that are still accepted. */
  readonly old?: readonly string[];
  readonly clauses: readonly Clause[];
}

/** Everything about a source introduced by a word, except its meaning, which is in `bind/bind-source.ts`. */
export interface SourceRow extends Documentation {
  readonly aliases?: readonly string[];
  readonly clauses: readonly Clause[];
}
