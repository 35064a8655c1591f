/** The fields of log lines. */
export interface Parts {
  readonly names: readonly string[];
  /** SQL of the text of each field over {@link rows}. */
  readonly columns: readonly string[];
  /** Returns the SELECT that takes apart the lines l of a relation. */
  readonly rows: (from: string) => string;
  /** The field that holds a line of which a part is in no field. */
  readonly whole?: string;
  readonly notes?: readonly string[];
}
