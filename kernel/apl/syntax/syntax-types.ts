import type { TypeName } from '../catalog/entry.js';

/** Type names that users may write, aliases included. */
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

/** Returns the type that `name` means, or undefined. */
export function typeNamed(name: string): TypeName | undefined {
  return Object.hasOwn(typeNames, name.toLowerCase()) ? typeNames[name.toLowerCase()] : undefined;
}

/** Type names for messages and completion. */
export const typeSpellings: readonly string[] = Object.keys(typeNames);
