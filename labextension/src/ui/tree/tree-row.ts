/** A row of the tree; its strings are shown unchanged, so invisible characters must already be made visible. */
export interface TreeRow {
  /** Identifies the row when it is redrawn. */
  readonly key: string;
  /** From 1. */
  readonly level: number;
  readonly kind: string;
  readonly label: string;
  /** Shown on the right, if there is room. */
  readonly detail?: string;
  /** Absent for a row that cannot be opened. */
  readonly isOpen?: boolean;
  readonly isCurrent?: boolean;
  readonly title?: string;
}
