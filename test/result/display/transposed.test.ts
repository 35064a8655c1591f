import { expect, test } from 'vitest';
import { toHtml } from '../../../kernel/result/display/html.js';
import { toPlain } from '../../../kernel/result/display/plain.js';
import type { QueryResult } from '../../../kernel/result/result.js';
import { type SampleColumn, sampleResult } from '../../result/sample.js';

const comparedWith = { startTime: '2026-11-13T09:00:00Z', endTime: '2026-11-13T10:00:00Z' };

/** Returns a comparison of one row with these figures. */
function comparison(names: readonly string[], rows = '[1250]'): QueryResult {
  const columns = names.flatMap((name): readonly SampleColumn[] => [
    [name, 'integer', rows],
    [`before_${name}`, 'integer', rows.replaceAll('1250', '1000')],
    [`change_${name}`, 'integer', rows.replaceAll('1250', '250')],
    [`percent_${name}`, 'float', rows.replaceAll('1250', '25.5')],
  ]);
  return sampleResult([{ columns }], { provenance: { comparedWith } });
}

const isAcross = (result: QueryResult) => toHtml(result).includes('<table class="apl-table apl-across"');

test('a comparison of one row has a line for each figure', () => {
  const result = comparison(['requests', '<b>p99']);
  expect(
    toPlain(result)
      .split('\n')
      .filter(line => /now|requests|p99/.test(line)),
  ).toEqual([
    '            now  before  change  percent',
    'requests  1,250   1,000     250     25.5',
    '<b>p99    1,250   1,000     250     25.5',
  ]);
  const rows = toHtml(result).match(/<tr><th scope="row".*?<\/tr>/g);
  expect(rows?.map(row => row.replace(/<\/t[dh]><t/g, '|<t').replace(/<[^>]*>/g, ''))).toEqual([
    'requests|1,250|1,000|250|25.5',
    '&#60;b&#62;p99|1,250|1,000|250|25.5',
  ]);
});

test('other results are plain tables', () => {
  expect(isAcross(comparison(['requests', 'p99']))).toBe(true);
  expect(isAcross(comparison(['requests', 'p99'], '[1250, 1]'))).toBe(false);
  expect(isAcross(comparison(['requests']))).toBe(false);
  const { provenance, ...rest } = comparison(['requests', 'p99']);
  const { comparedWith: _, ...alone } = provenance;
  expect(isAcross({ ...rest, provenance: alone })).toBe(false);
});
