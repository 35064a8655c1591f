import type { TypeName } from '../../apl/catalog/entry.js';

/** The engine's types for those of the language, as its `typeof` spells them. */
export const sqlTypes: Readonly<Record<TypeName, string>> = {
  bool: 'BOOLEAN',
  long: 'BIGINT',
  real: 'DOUBLE',
  string: 'VARCHAR',
  datetime: 'TIMESTAMP_NS',
  timespan: 'BIGINT',
  dynamic: 'JSON',
};

/** The engine's type for a list of texts. */
export const textListType = 'VARCHAR[]';
