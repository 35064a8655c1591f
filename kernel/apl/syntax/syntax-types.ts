import type { TypeName } from '../catalog/entry.js';

/** The types a user may write, and the aliases that mean the same. */
const typeNames: Readonly<Record<string, TypeName>> = {
  bool: 'bool',
  boolean: 'bool',
  int: 'long',
  long: 'long',
  integer: 'long',
  real: 'real',
  double: 'real',
  float: 'real',
  decimal: 'real',
  string: 'string',
  datetime: 'datetime',
  date: 'datetime',
  timespan: 'timespan',
  time: 'timespan',
  duration: 'timespan',
  dynamic: 'dynamic',
  array: 'dynamic',
  map: 'dynamic',
  guid: 'string',
};

/** The type that `name` stands for, or undefined. */
export function typeNamed(name: string): TypeName | undefined {
  return Object.hasOwn(typeNames, name.toLowerCase()) ? typeNames[name.toLowerCase()] : undefined;
}

/** The spellings of types, for messages and completion. */
export const typeSpellings: readonly string[] = Object.keys(typeNames);
