/** Keys of the metadata on an Arrow field; all values are strings. */
export const FIELD_KEY = {
  /** Type declared by the service. */
  type: 'apl.type',
  unit: 'apl.unit',
  description: 'apl.description',
  /** `true` for a hidden field, otherwise absent. */
  hidden: 'apl.hidden',
  /** Aggregation that produced the field, as JSON. */
  agg: 'apl.agg',
  /** `true` for the column that names the period of each row in a comparison of two. */
  period: 'apl.period',
  /** Why the column is not of its declared type. */
  note: 'apl.note',
  /** Arrow's own key for extension types; `arrow.json` if the cells are JSON documents. */
  extension: 'ARROW:extension:name',
  extensionMetadata: 'ARROW:extension:metadata',
} as const;
