import { describe, expect, test } from 'vitest';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';
import { now } from '../../queries.js';
import { after, openStoredRows } from './stored-rows.js';

const text = "CASE WHEN i % 2 = 0 THEN '' ELSE 'a' || i END AS s";
const sparse = "CASE WHEN i % 3 > 0 THEN 'a' || i END AS s";

/** SELECT lists of each dataset's files for row `i`, the fields without nulls, and the integers that a double represents. */
const datasets: Readonly<
  Record<string, readonly [files: readonly string[], filled: readonly string[], exact: readonly string[]]>
> = {
  filled: [[text, text], ['i', 's'], ['i']],
  nulls: [[text, sparse], ['i'], ['i']],
  // The null is in the second row group.
  late: [["CASE WHEN i < 9 THEN 'a' END AS s, unnest(range(500)) AS m"], ['i', 'm'], ['i', 'm']],
  absent: [[text, '1 AS other'], ['i'], ['i', 'other']],
  null: [['NULL::VARCHAR AS s'], ['i'], ['i']],
  other: [[text, 'i::BIGINT AS s'], ['i', 's'], ['i']],
  exact: [[`${text}, 9007199254740992::BIGINT - i AS n`], ['i', 's', 'n'], ['i', 'n']],
  wide: [[`${text}, i AS n`, `${text}, 9223372036854775807::BIGINT - i AS n`], ['i', 's', 'n'], ['i']],
  decimal: [[`${text}, (999999999999999999 - i)::DECIMAL(18, 0) AS n`], ['i', 's', 'n'], ['i']],
};

const { rows, catalog } = openStoredRows(after('i', datasets));

const questions = [
  "where v != '' | count",
  "where v != 'a1' | count",
  "where not(v == 'a1') and v != 'a5' | count",
  'where isnotempty(v) | count',
  'where not(isnotempty(v)) | count',
  'where isempty(v) | count',
  "summarize countif(isempty(v)), countif(isnotempty(v)), countif(v != '')",
  "extend e = isempty(v), f = isnotempty(v), g = v != '' | summarize count() by e, f, g | sort by e, f, g asc",
  "where i > 3 | join kind=leftouter (D | where i < 6) on i | where v != '' and v1 != '' | count",
  "union D | where v != '' | count",
];

function sqlOf(apl: string): string {
  const result = compileRequest({ apl }, catalog(), now);
  return result.ok ? (result.compiled.tables[0]?.sql ?? '') : '';
}

describe.each(Object.entries(datasets))('values of the dataset %s', (name, [, filled, exact]) => {
  test('are known by the statistics of all files', () => {
    const { filled: without, bounded } = catalog().bounds?.(name) ?? {};
    expect([...(without ?? [])].toSorted()).toEqual(filled.toSorted());
    expect([...(bounded ?? [])].toSorted()).toEqual(exact.toSorted());
  });
  test.each(questions)('%s gives the same answer as without statistics', async question => {
    const of = (field: string, dataset: string) =>
      `${dataset} | ${question.replaceAll(/\bv(?=1?\b)/g, field).replaceAll(/\bD\b/g, dataset)}`;
    // Nothing is known about computed values.
    const computed = `${name} | extend t = iff(i >= 0, s, 'b')`;
    expect(await rows(of('s', name))).toEqual(await rows(of('t', computed)));
  });
});

test('a comparison with a field without nulls has no test for them', () => {
  const where = (name: string, condition: string) => sqlOf(`${name} | where ${condition} | count`);
  expect(where('filled', "s != 'a'")).toContain(`WHERE (("s"::VARCHAR) <> 'a')`);
  expect(where('nulls', "s != 'a'")).toContain('IS NULL');
  expect(where('filled', 'isempty(s)')).not.toContain('coalesce');
  expect(where('nulls', 'isempty(s)')).toContain('coalesce');
  expect(where('nulls', 'isnotempty(s)')).not.toContain('coalesce');
  expect(
    sqlOf("filled | join kind=leftouter (filled | where i < 3) on i | where s1 != 'a' | count"),
  ).toContain('IS NULL');
});

describe('integers that a double represents', () => {
  const sums =
    'summarize a = sum(n + 1), b = sum(3 - n), c = sum(n * 2), d = max(n * n), e = max(n + 9223372036854775807)';
  test('are added and multiplied without a test for overflow, up to 62 bits', () => {
    expect(sqlOf('exact | summarize sum(n + 1), sum(3 - n), sum(n * 2 + n)')).not.toContain('TRY(');
    for (const name of ['wide', 'decimal']) expect(sqlOf(`${name} | summarize sum(n + 1)`)).toContain('TRY(');
    for (const value of ['n * n', 'n * 1000', 'n + 9223372036854775807', 'n / 2', 'n % 3 + 1'])
      expect(sqlOf(`exact | summarize sum(${value})`), value).toMatch(/TRY\(|CASE/);
  });
  test.each(['exact', 'wide', 'decimal'])('have the same sums in %s as without statistics', async name => {
    const other = sums.replaceAll(/\bn\b/g, 'm');
    expect(await rows(`${name} | ${sums}`)).toEqual(
      await rows(`${name} | extend m = iff(i >= 0, n, 0) | ${other}`),
    );
  });
});
