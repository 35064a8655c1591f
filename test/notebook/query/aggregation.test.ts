import { describe, expect, test } from 'vitest';
import { QueryText } from '../../../kernel/apl/syntax/parse.js';
import { readAggregation } from '../../../kernel/notebook/query/aggregation.js';

const info = {
  groups: [{ name: 'status' }, { name: 'geo.city' }],
  buckets: { field: '_time', size: 60_000_000_000 },
  range: { field: '_time', start: '', end: '' },
};
const read = (text: string) => readAggregation(new QueryText(`['logs'] ${text}`), info);
const binned = '| summarize count() by bin(_time, 1m), status';

describe('a time bin without a row', () => {
  test.each<[string, string]>([
    [binned, 'empty'],
    [`| where status >= 500 ${binned}`, 'empty'],
    [`${binned} | extend z = count_ * 2 | project-away z | sort by count_`, 'empty'],
    [`${binned} | redact '[0-9]' on status | serialize | as counts`, 'empty'],
    [`| where _time > ago(10m) ${binned}`, 'empty-between'],
    [`| where status == 500 and (_time between (ago(2h) .. ago(1h))) ${binned}`, 'empty-between'],
    [`${binned} | where count_ > 10`, 'unknown'],
    [`${binned} | top 10 by count_`, 'unknown'],
    [`${binned} | limit 10`, 'unknown'],
    [`${binned} | join kind=inner (['x']) on status`, 'unknown'],
    [`| limit 1000 ${binned}`, 'unknown'],
    ['| where status == 500', 'unknown'],
    ['| where', 'unknown'],
    [`${binned} | where count_ > 1 | summarize sum(count_) by bin(_time, 1m)`, 'empty'],
  ])('after %j is %s', (text, expected) => expect(read(text).missingBins).toBe(expected));
});

test.each<[string, true | undefined]>([
  [binned, undefined],
  [`${binned} | sort by count_ asc`, true],
  [`${binned} | top 5 by status`, true],
  [`| sort by status ${binned}`, undefined],
  [`${binned} | sort by status | summarize sum(count_) by status`, undefined],
])('the query orders the rows after %j: %s', (text, expected) => expect(read(text).isSorted).toBe(expected));

describe('columns computed from keys alone', () => {
  test.each<[string, readonly string[]]>([
    ['extend z = status', ['z']],
    ['extend z = strcat(status, "x", geo.city)', ['z']],
    ['extend z = status | extend y = z / 100', ['z', 'y']],
    ['project-rename code = status', ['code']],
    ['project _time, code = status, count_', ['code']],
    ['extend hour = datetime_part("hour", _time)', ['hour']],
    ['extend rate = count_ * 1.0 / status', []],
    ['extend limit_ = 500', []],
    ['extend z = status | extend z = count_', []],
    ['where status > 1', []],
  ])('%s', (text, expected) => expect(read(`${binned} | ${text}`).keyColumns).toEqual(expected));
});
