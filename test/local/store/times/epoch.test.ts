import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Engine } from '../../../../kernel/local/engine/duckdb.js';
import { epochNs, epochNsOfRealSql, epochNsSql } from '../../../../kernel/local/store/times/epoch.js';
import { LATEST_TIME } from '../../../../kernel/time.js';
import { temporaryDirectory } from '../../service.js';

/** Numbers around which the unit changes, or a time of a unit goes out of range. */
const edges = [11n, 14n, 17n]
  .map(digits => 10n ** digits)
  .concat([0n, LATEST_TIME, LATEST_TIME / 1000n, LATEST_TIME / 10n ** 9n, 2n ** 63n - 2n])
  .flatMap(each => [each - 1n, each, each + 1n])
  .flatMap(each => [each, -each]);

async function readBySql(sql: string): Promise<(string | null)[]> {
  const engine = await Engine.open({ dataDir: await temporaryDirectory(), connections: 1 });
  onTestFinished(() => engine.close());
  const rows = await engine.run(sql);
  return rows.map(([time]) => (time === null ? null : String(time)));
}

test('the engine and a small body read the same time from a number', async () => {
  const drawn = fc.sample(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { numRuns: 500, seed: 7 });
  const sized = drawn.map((value, index) => value / 10n ** BigInt(index % 19));
  const values = [...edges, ...sized];
  const list = values.map(value => `(${value}::BIGINT)`).join(', ');
  const read = await readBySql(`SELECT (${epochNsSql('v')})::VARCHAR FROM (VALUES ${list}) t(v)`);
  expect(read).toEqual(values.map(value => epochNs(value)?.toString() ?? null));
});

test.each([
  [1_700_000_000n, 1_700_000_000_000_000_000n],
  [99_999_999_999n, null],
  [100_000_000_000n, 100_000_000_000_000_000n],
  [99_999_999_999_999n, null],
  [100_000_000_000_000n, 100_000_000_000_000_000n],
  [99_999_999_999_999_999n, null],
  [100_000_000_000_000_000n, 100_000_000_000_000_000n],
  [1_700_000_000_000n, 1_700_000_000_000_000_000n],
  [1_700_000_000_000_000n, 1_700_000_000_000_000_000n],
  [1_700_000_000_000_000_001n, 1_700_000_000_000_000_001n],
  [-1n, -1_000_000_000n],
])('the number %d is the time %d', (value, time) => expect(epochNs(value)).toBe(time));

test('a real is a time to the microsecond', async () => {
  const values = ['1700000000.1234567', '1700000000123.25', '1700000000123456.0', '-0.5', '1e19', '1e300'];
  const list = values.map(value => `('${value}'::DOUBLE)`).join(', ');
  expect(await readBySql(`SELECT (${epochNsOfRealSql('v')})::VARCHAR FROM (VALUES ${list}) t(v)`)).toEqual([
    '1700000000123457000',
    '1700000000123250000',
    '1700000000123456000',
    '-500000000',
    null,
    null,
  ]);
});
