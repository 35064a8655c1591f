/** Members that have a value: those that may be undefined become optional. */
type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns the members that are not undefined, to spread into an object without the undefined ones. */
export function present<T extends object>(members: T): Present<T> {
  const found: Partial<T> = {};
  // Called for every column and node of a query, so it avoids lists of entries.
  for (const name in members) if (members[name] !== undefined) found[name] = members[name];
  return found as unknown as Present<T>;
}

/** Returns the member that a user's word names; undefined for one inherited from Object, such as `constructor`. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
