import { expect, inject, test } from 'vitest';
import { fixtures } from '../golden/fixtures.js';
import { openQueries } from '../local/queries.js';
import { goldenCatalog, goldenQueries, plainCell } from './cases.js';
import { sharedThrough } from './through.js';

const here = openQueries(fixtures);
const url = inject('trino');
const through = sharedThrough(url);

/** Queries without a defined order or a deterministic result. */
const unlike = /\brand\(|\bsample\b|\btake_any|\btake 0|externaldata|\bnow\(\)/;

test.skipIf(url === '')(
  'golden queries of datasets give the same, split between a cluster and this machine',
  async () => {
    const different: string[] = [];
    let same = 0;
    const queries = goldenQueries.filter(apl => /http-logs|\btraces\b/.test(apl) && !unlike.test(apl));
    for (const apl of queries) {
      const ours = await here.run(apl);
      if (!ours.ok) continue;
      const theirs = await through(apl, goldenCatalog).then(
        ({ rows }) => rows,
        (error: unknown) => [[String(error)]],
      );
      const [a, b] = [ours.ran.rows, theirs].map(rows => rows.map(cells => cells.map(plainCell).join(', ')));
      const isOrdered = ours.ran.table.order.length > 0;
      const [x, y] = [a ?? [], b ?? []].map(rows => (isOrdered ? rows : [...rows].sort()).join('; '));
      if (x === y) same += 1;
      else different.push(`${apl}\nhere ${x}\nthere ${y}`);
    }
    expect(different.join('\n\n')).toBe('');
    expect(same).toBeGreaterThan(80);
  },
);
