/** The members that have a value: what may be undefined becomes optional. */
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the members that are not undefined, to be spread into an object in which the others are then absent. */
export function present<T extends object>(members: T): Present<T> {
  const found: Partial<T> = {};
  // It is called for every column and node of a query: no lists of entries are made.
  for (const name in members) if (members[name] !== undefined) found[name] = members[name];
  return found as unknown as Present<T>;
}

/** Returns the member that a user's word names; undefined for one that the record only has from Object, such as `constructor`. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
