import { expect, test } from 'vitest';
import { queryShown } from '../../../labextension/src/cell/query-shown.js';

const startTime = '2026-01-26T10:00:00Z';
const endTime = '2026-01-26T11:00:00.5Z';

test('the range becomes a line of the cell', () => {
  const shown = queryShown({ query: "['web'] | count", startTime, endTime, profile: 'dev' });
  expect([shown?.query.text, shown?.profile]).toEqual(["['web'] | count", 'dev']);
  expect(shown?.range).toEqual(['%%time 2026-01-26T10:00:00Z..2026-01-26T11:00:00.500Z']);
  expect(shown?.window?.end).toBe(1_769_425_200_500_000_000n);
});

test.each([
  ['a line with a side effect', "%drop web\n['web']"],
  ['a query followed by such a line', "['web']\n%drop web"],
  ['a number', 7],
])('%s is not shown as a query', (_, query) => {
  expect(queryShown({ query, startTime, endTime })).toBe(undefined);
});

test.each([`${startTime}\n%drop web`, '', 'now'])('%j is not shown as a time', start => {
  const shown = queryShown({ query: "['web']", startTime: start, endTime });
  expect([shown?.range, shown?.window]).toEqual([[], undefined]);
});
