import { rm } from 'node:fs/promises';
import path from 'node:path';
import { LATEST_TIME } from '../../../time.js';
import { sqlName } from '../../duckdb/duckdb-literal.js';
import type { Engine } from '../../engine/duckdb.js';
import { copyToParquet, type FileSummary } from '../../engine/engine-parquet.js';
import { whileFiles } from '../bounds/bounded-names.js';
import { givenName } from './dataset-copies.js';
import type { DatasetDirectory } from './directory.js';
import { StoredDataset } from './stored.js';

/**
 * Deletes the rows of a dataset before a time and returns their number; rows without a time stay. Each file with such rows is replaced by
 * one without them, so that a query reads either one.
 */
export async function trimFiles(
  engine: Engine,
  directory: DatasetDirectory,
  beforeNs: bigint,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const listing = await directory.list();
    const old = listing?.files.find(file => isOld(file, beforeNs));
    if (old === undefined) return deleted;
    deleted += await trimFile(engine, directory, old, beforeNs);
  }
}

function isOld({ timeless, blocks }: FileSummary, beforeNs: bigint): boolean {
  return !timeless && blocks.some(({ minNs }) => minNs < beforeNs);
}

/** Returns the number of deleted rows: 0 if the file was merged in the meantime. */
async function trimFile(
  engine: Engine,
  directory: DatasetDirectory,
  file: FileSummary,
  beforeNs: bigint,
): Promise<number> {
  const name = path.basename(file.path);
  const draft = path.join(engine.workDir, `${crypto.randomUUID()}.parquet`);
  try {
    const [copied] = await whileFiles(
      () => [file.path],
      undefined,
      signal => engine.run(restOf(file, beforeNs, draft), signal),
    );
    const since = Number.parseInt(givenName(name), 10) || Date.now();
    const replaced = await directory.replace(draft, live =>
      live.names.includes(name) ? { since, names: [name], copied: true } : undefined,
    );
    const rows = file.blocks.reduce((total, block) => total + block.rows, 0);
    return replaced ? rows - Number(copied?.[0]) : 0;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Returns the SQL that copies the rows of a file from a time on, with their order and types. */
function restOf(file: FileSummary, fromNs: bigint, draft: string): string {
  const { fields, timeless, foreign } = file;
  const names = fields.map(({ name }) => name);
  const scan = new StoredDataset('', [file], {}).scan(names, fromNs, LATEST_TIME);
  const values = fields.map(({ type, column }, index) => {
    return `f${index}${type === 'dynamic' ? '::VARCHAR' : ''} AS ${sqlName(column)}`;
  });
  // From now on, the columns have the types of the fields.
  const note = { fields: fields.map(({ written: _, cut: __, ...field }) => field), timeless, foreign };
  return copyToParquet(`SELECT ${values.join(', ')} FROM (${scan})`, draft, note);
}
