import { describe, expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { now } from '../../queries.js';
import { after, openStoredRows } from './stored-rows.js';

const usual = 'i / 8 AS x';

/** SELECT lists of each dataset's files for row `i`, and the fields that have bounds. */
const datasets: Readonly<Record<string, readonly [files: readonly string[], bounded: readonly string[]]>> = {
  usual: [[usual, '-i / 4 AS x'], ['x']],
  float: [['(i / 8)::FLOAT AS x', usual], ['x']],
  nulls: [['CASE WHEN i % 2 = 0 THEN i / 8 END AS x', 'NULL::DOUBLE AS x'], ['x']],
  nan: [[usual, "CASE WHEN i = 3 THEN 'NaN'::DOUBLE ELSE i END AS x"], []],
  infinite: [[usual, "CASE WHEN i = 3 THEN '-Infinity'::DOUBLE ELSE i END AS x"], []],
  large: [[usual, 'CASE WHEN i = 3 THEN 1e150::DOUBLE ELSE i END AS x'], []],
  // The large value is in the second row group.
  late: [['CASE WHEN i = 5 THEN 1e150::DOUBLE ELSE i END AS x, unnest(range(500)) AS m'], []],
  edge: [['-1e145::DOUBLE * (i % 2) AS x'], []],
  within: [['-0.99e145::DOUBLE * (i % 2) AS x'], ['x']],
  integers: [[usual, 'i::BIGINT AS x'], ['x']],
  absent: [[usual, "'' AS y"], ['x']],
  map: [['i / 8 AS "m.x", i / 8 AS x', `'{"x": 1e150}'::JSON AS m`], ['x']],
};

const { rows, catalog } = openStoredRows(after('i AS n', datasets));

const questions = [
  'summarize avg(v), max(v), min(v), sum(v), round(stdev(v), 6), round(variance(v), 6), dcount(v)',
  'summarize a = avg(v), b = max(v), s = round(stdev(v), 6), h = histogram(v, 3) by k = n % 2 | sort by k asc',
  'summarize p = percentile(v, 50), h = histogram(v, 3)',
  'where v < 1.0 | count',
  'where v > 0.5 or v != 1 | count',
  'where v between (0.0 .. 1.0) | count',
  'where n < 9 | extend w = v | summarize s = round(stdev(w), 6), m = max(w)',
  'sort by v desc, n asc | project n',
  'summarize s = round(stdev(v), 6) by bin(_time, 1h) | project s',
  'extend v = iff(n == 2, 0.0 / 0, v) | summarize a = avg(v), m = max(v), c = countif(v < 9) by k = n % 2 | sort by k asc',
  'union (print v = 0.0 / 0, n = 1) | summarize a = avg(v), m = max(v), c = countif(v < 9)',
  'join kind=leftouter (print n = 1, w = 0.0 / 0) on n | summarize a = max(v), b = max(w), c = countif(w < 1)',
  'sort by n asc | extend v = prev(v, 1, 0.0 / 0) | summarize m = max(v), c = countif(v < 9)',
  'summarize v = stdev(v) by n | extend v = 0.0 / v | summarize m = max(v), c = countif(v < 9)',
  'where n in ((range n from 1 to 3 step 1 | extend v = 0.0 / 0 | where v != 1 | project n)) | summarize m = max(v)',
];

describe.each(Object.entries(datasets))('bounds in the dataset %s', (name, [, bounded]) => {
  test(`${bounded.join() || 'no field'} has bounds`, () => {
    const known = [...(catalog().bounds?.(name)?.bounded ?? [])];
    expect(known.filter(field => field.endsWith('x'))).toEqual(bounded);
  });
  test.each(questions)('%s gives the same answer as without bounds', async question => {
    const of = (field: string) => question.replaceAll(/\bv\b/g, field);
    // Computed values do not have known bounds.
    expect(await rows(`${name} | ${of('x')}`)).toEqual(
      await rows(`${name} | extend y0 = x * 1.0 | ${of('y0')}`),
    );
  });
});

test('known bounds of a column spare tests of its values', () => {
  const sqlOf = (name: string) => {
    const apl = `${name} | where n > 1 | extend w = x | summarize stdev(x), max(w) by n`;
    const result = compileRequest({ apl }, catalog(), now);
    return result.ok ? (result.compiled.tables[0]?.sql ?? '') : '';
  };
  expect(sqlOf('usual')).not.toMatch(/NaN|1e\+145/);
  expect(sqlOf('nan')).toMatch(/NaN.*1e\+145|1e\+145.*NaN/s);
});
