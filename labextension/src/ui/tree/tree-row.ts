/** A row of the tree; its text is shown as it is, so invisible characters have to be made visible before. */
export interface TreeRow {
  /** Identifies the row when it is drawn again. */
  readonly key: string;
  /** From 1. */
  readonly level: number;
  readonly kind: string;
  readonly label: string;
  /** Shown at the right, if there is room. */
  readonly detail?: string;
  /** Absent for a row that cannot be opened. */
  readonly isOpen?: boolean;
  readonly isCurrent?: boolean;
  readonly title?: string;
}
