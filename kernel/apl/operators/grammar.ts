import type { Example } from '../catalog/entry.js';

/** The content of a clause of an operator; each kind has one reader, one walker, and one type of node. */
export type Operand =
  | 'expression'
  | 'expressions'
  /** `name = expr, …`; aggregates may stand in it where `offers` says so. */
  | 'assignments'
  /** Assignments, each with an optional `default=value`. */
  | 'defaulted assignments'
  /** Assignments, each with an optional `to typeof(type)`. */
  | 'typed assignments'
  | 'field patterns'
  /** Field patterns, each with an optional order of names. */
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
  /** `(operator | …)`, over the rows of the operator that holds it. */
  | 'stages'
  /** The name of a new column. */
  | 'name'
  /** One of the words of the clause. */
  | 'word'
  /** `[expr, …]`. */
  | 'values'
  /** `["text", …]`. */
  | 'texts'
  /** `range(start, stop, step)`. */
  | 'range'
  /** The pattern of `parse`: texts, fields and stars. */
  | 'pieces'
  /** The predicate of `search`. */
  | 'search';

/** Operands that are lists, and empty if their clause is left out. */
export type ListOperand = Exclude<
  Operand,
  'expression' | 'sort key' | 'source' | 'stages' | 'name' | 'word' | 'search'
>;

/** The values of an option: one of some words, a text, or the name of a new column. */
export type OptionValues =
  | {
      readonly takes: 'word';
      readonly values: readonly string[];
      /** Words that are read as one of the values. */
      readonly synonyms?: Readonly<Record<string, string>>;
    }
  | { readonly takes: 'text' | 'name'; readonly values?: undefined; readonly synonyms?: undefined };

/** The options of an operator by their names. */
export type Options = Readonly<Record<string, OptionValues & OptionRow>>;

interface OptionRow {
  readonly doc: string;
  /** It is read and has no effect; what to write instead. */
  readonly unused?: string;
}

/** A part of an operator: a word, if it has one, and its content. */
export interface Clause {
  /** The property of the node that holds the content. */
  readonly name: string;
  readonly takes: Operand;
  readonly word?: string;
  /** What a `word` may be. */
  readonly words?: readonly string[];
  readonly optional?: true;
  /** The clause is left out where this word stands. */
  readonly absentBefore?: string;
  /** "expected WHAT WHERE" and a hint for a word that is missing; `$` stands for the operator as it was written. */
  readonly expected?: readonly [what: string, where: string, hint?: string];
  /** Completes "expected an expression …" if it is not "after WORD"; `$` as above. */
  readonly context?: string;
  /** An expression without comparisons, as a word of the next clause follows it. */
  readonly level?: 'sum';
  /** What completion offers besides fields and functions: aggregates, time bins, the sides of a join; or only fields. */
  readonly offers?: 'aggregates' | 'keys' | 'sides' | 'fields' | 'new names';
  readonly options?: Options;
  /** The formatter starts a line before the word if the operator does not fit on one. */
  readonly startsLine?: true;
}

/** The documentation of an element. */
export interface Documentation {
  /** Its forms, one per line; `[…]` may be left out. */
  readonly usage: readonly string[];
  /** One or two sentences. */
  readonly doc: string;
  /** Absent if nothing can be shown without a dataset, or if there is no one exact result. */
  readonly example?: Example;
}

/** Everything about an operator except its meaning, which is in `bind/bind-operators.ts`. */
export interface OperatorRow extends Documentation {
  /** Further words for the same operator. */
  readonly also?: Readonly<Record<string, Documentation>>;
  /** Spellings that are still accepted. */
  readonly old?: readonly string[];
  readonly clauses: readonly Clause[];
}

/** Everything about a source that a word introduces, except its meaning, which is in `bind/bind-source.ts`. */
export interface SourceRow extends Documentation {
  readonly aliases?: readonly string[];
  readonly clauses: readonly Clause[];
}
