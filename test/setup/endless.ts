/** A query that no machine ends within a test: a million million pairs are counted, in little memory, until an interrupt. */
export const endless = [
  'range x from 1 to 1000000 step 1 | extend same = 1',
  '| join kind=inner (range y from 1 to 1000000 step 1 | extend same = 1) on same',
  '| summarize count() by x % 7',
].join('\n');
