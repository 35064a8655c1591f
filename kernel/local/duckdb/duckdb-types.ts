import type { TypeName } from '../../apl/catalog/entry.js';

/** The engine's type for each type of the language, spelled as by its `typeof`. */
export const sqlTypes: Readonly<Record<TypeName, string>> = {
  bool: 'BOOLEAN',
  long: 'BIGINT',
  real: 'DOUBLE',
  string: 'VARCHAR',
  datetime: 'TIMESTAMP_NS',
  timespan: 'BIGINT',
  dynamic: 'JSON',
};

/** The engine's type for a list of strings. */
export const textListType = 'VARCHAR[]';
