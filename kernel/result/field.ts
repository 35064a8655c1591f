/** Keys of the metadata on an Arrow field; all values are text. */
export const FIELD_KEY = {
  /** The type that the service declared. */
  type: 'apl.type',
  unit: 'apl.unit',
  description: 'apl.description',
  /** `true` for a hidden field, otherwise absent. */
  hidden: 'apl.hidden',
  /** The aggregation that made the field, as JSON. */
  agg: 'apl.agg',
  /** `true` for the column that names the period of each row, where rows of two are compared. */
  period: 'apl.period',
  /** Why the column is not of its declared type. */
  note: 'apl.note',
  /** Arrow's own mark of an extension type; `arrow.json` when the cells are JSON documents. */
  extension: 'ARROW:extension:name',
  extensionMetadata: 'ARROW:extension:metadata',
} as const;
