/** Fields of log lines. */
export interface Parts {
  readonly names: readonly string[];
  /** SQL of each field as a string, over {@link rows}. */
  readonly columns: readonly string[];
  /** Returns the SELECT that splits the lines l of a relation. */
  readonly rows: (from: string) => string;
  /** Field with the whole line if part of it is in no other field. */
  readonly whole?: string;
  readonly notes?: readonly string[];
}
