/** A row of the tree; text is shown as it is, so whoever makes a row has made it visible. */
export interface TreeRow {
  /** Names the row for as long as it is what it is. */
  readonly key: string;
  /** From 1. */
  readonly level: number;
  readonly kind: string;
  readonly label: string;
  /** Shown at the right, where there is room. */
  readonly detail?: string;
  /** Absent for a row that cannot be opened. */
  readonly isOpen?: boolean;
  readonly isCurrent?: boolean;
  readonly title?: string;
}
