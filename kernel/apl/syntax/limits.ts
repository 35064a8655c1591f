/** The most of something that a query may hold, and what is said of more. */
export interface Limit {
  readonly most: number;
  readonly code: 'too-deep' | 'too-long';
  readonly message: string;
  readonly hint: string;
}

/** Every bound of the language: below them, neither the stack nor an engine is exhausted. */
export const limits = {
  /** Brackets within brackets. */
  nesting: {
    most: 200,
    code: 'too-deep',
    message: 'the expression is nested more than 200 levels deep',
    hint: 'Name parts of it with `let` or `extend`.',
  },
  queryNesting: {
    most: 200,
    code: 'too-deep',
    message: 'queries are nested too deeply',
    hint: 'Name inner queries with `let`.',
  },
  /** Levels of the tree of an expression, `let` values included; a condition counts one, anything else five. */
  expression: {
    most: 1000,
    code: 'too-deep',
    message: 'the expression is too deep: 200 operators in a row, or 1,000 times `and` or `or`, are the most',
    hint: 'Compute parts of it with `extend`; write many values as a list: `field in (a, b, …)`.',
  },
  /** Nodes of all expressions, those of a `let` value counted where it is used. */
  nodes: {
    most: 200_000,
    code: 'too-long',
    message: 'the query holds more than 200,000 values and operators, with those of its `let` statements',
    hint: 'Compute values that are used often once, with `extend`.',
  },
  /** Operators one after the other, those of `let` tables included. */
  stages: {
    most: 300,
    code: 'too-long',
    message: 'more than 300 operators follow each other',
    hint: 'Several fields may be computed in one `extend`, and several conditions joined in one `where`.',
  },
} as const satisfies Readonly<Record<string, Limit>>;
