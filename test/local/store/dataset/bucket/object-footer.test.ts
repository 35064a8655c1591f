import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sqlText } from '../../../../../kernel/local/duckdb/duckdb-literal.js';
import { Engine } from '../../../../../kernel/local/engine/duckdb.js';
import { footerOfGroup } from '../../../../../kernel/local/store/dataset/bucket/object-footer.js';
import { footerIn } from '../../../../../kernel/local/store/dataset/part-file.js';
import {
  numberOf,
  structOf,
  structsOf,
  type ThriftStruct,
} from '../../../../../kernel/local/store/readers/parquet/thrift.js';
import { temporaryDirectory } from '../../../service.js';

/** Returns the metadata field ids of each column in each row group. */
function membersIn(footer: Buffer): readonly number[][][] {
  const groups = structsOf(structOf({ type: 0, bytes: footer }).get(4));
  const metadataOf = (column: ThriftStruct) => [...structOf(column.get(3)).keys()];
  return groups.map(group => structsOf(group.get(1)).map(metadataOf));
}

/** Returns the field ids in the statistics of all columns. */
function statisticsIn(footer: Buffer): readonly number[] {
  const groups = structsOf(structOf({ type: 0, bytes: footer }).get(4));
  const columns = groups.flatMap(group => structsOf(group.get(1)).map(column => structOf(column.get(3))));
  return [...new Set(columns.flatMap(metadata => [...structOf(metadata.get(12)).keys()]))].sort();
}

test('the footer of one row group points to its columns but not to their filters', async () => {
  const dataDir = await temporaryDirectory();
  const engine = await Engine.open({ dataDir });
  onTestFinished(() => engine.close());
  const file = path.join(dataDir, 'a.parquet');
  await engine.run(
    `COPY (SELECT 'a' || i % 20 AS s, i % 30 AS n FROM range(5000) t(i)) TO ${sqlText(file)} (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
  );
  const footer = (await footerIn(file)) ?? Buffer.alloc(0);
  const filters = [14, 15];
  expect(membersIn(footer).map(group => group.map(each => filters.every(at => each.includes(at))))).toEqual(
    Array(3).fill([true, true]),
  );
  const last = footerOfGroup(footer, 2);
  const kept = membersIn(footer)[2]?.map(each => each.filter(at => ![8, 14, 15, 16].includes(at)));
  expect(membersIn(last)).toEqual([kept]);
  expect(numberOf(structOf({ type: 0, bytes: last }).get(3))).toBe(5000 - 2 * 2048);
  expect(membersIn(footerOfGroup(footer, undefined))).toEqual([]);
  // Old writers have bounds of signed bytes in the members 1 and 2.
  expect(statisticsIn(footer)).toEqual(expect.arrayContaining([1, 2, 5, 6]));
  expect(statisticsIn(last)).toEqual(statisticsIn(footer).filter(member => member > 2));
});
