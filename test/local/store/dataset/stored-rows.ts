import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import type { DatasetCatalog } from '../../../../kernel/local/sql/compiled-query.js';
import { openQueries, start } from '../../queries.js';
import { sharedStore } from './stores.js';

/**
 * Shares a store between all tests of a file. Each dataset has a Parquet file for each of its SELECT lists, with ten rows numbered `i` and
 * their `_time`.
 */
export function openStoredRows(datasets: Readonly<Record<string, readonly string[]>>) {
  let found: DatasetCatalog | undefined;
  const catalog = (): DatasetCatalog => {
    if (found === undefined) throw new RangeError('there are no files yet');
    return found;
  };
  sharedStore(async ({ dataDir, engine, store }) => {
    for (const [name, files] of Object.entries(datasets)) {
      const folder = path.join(dataDir, 'datasets', name);
      await mkdir(folder, { recursive: true });
      for (const [index, items] of files.entries())
        await engine.run(
          `COPY (SELECT make_timestamp_ns(${start} + i) AS _time, ${items} FROM range(10) t(i))
           TO ${sqlText(path.join(folder, `${index}.parquet`))} (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
        );
    }
    found = await store.snapshot(...Object.keys(datasets));
  });
  return { ...openQueries(catalog), catalog };
}

/** Returns the SELECT lists of datasets, each after the same items. */
export function after(
  items: string,
  datasets: Readonly<Record<string, readonly [files: readonly string[], ...rest: readonly unknown[]]>>,
): Readonly<Record<string, readonly string[]>> {
  const lists = Object.entries(datasets).map(([name, [files]]) => [
    name,
    files.map(each => `${items}, ${each}`),
  ]);
  return Object.fromEntries(lists);
}
