/** A query that no machine finishes within a test: counts 10^12 pairs, in little memory, until interrupted. */
export const endless = [
  'range x from 1 to 1000000 step 1 | extend same = 1',
  '| join kind=inner (range y from 1 to 1000000 step 1 | extend same = 1) on same',
  '| summarize count() by x % 7',
].join('\n');
