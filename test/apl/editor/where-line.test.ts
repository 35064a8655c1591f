import { describe, expect, test } from 'vitest';
import { whereLine } from '../../../kernel/apl/editor/where-line.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';

describe('adds the line at the end', () => {
  const put = (source: string, query: string) => {
    const line = whereLine(source, query, 'x', 'x == 1');
    return line && source.slice(0, line.at) + line.text + source.slice(line.at);
  };
  test.each<[string, string, string, string | undefined]>([
    ['of a single query', "['d']", "['d']", "['d']\n| where x == 1"],
    [
      'before a comment and a semicolon',
      "['d'] | sort by y; // five",
      "['d'] | sort by y;",
      "['d'] | sort by y\n| where x == 1; // five",
    ],
    ['of the matching query among several', "['a']\n\n['b']", "['a']", "['a']\n| where x == 1\n\n['b']"],
    [
      'after magics and lets',
      "%%time 1h\nlet y = 1;\n['a'] | where z == y",
      "let y = 1;\n['a'] | where z == y",
      "%%time 1h\nlet y = 1;\n['a'] | where z == y\n| where x == 1",
    ],
    [
      'of the last query if the cell has changed',
      "['a']\n\n['b']",
      "['c']",
      "['a']\n\n['b']\n| where x == 1",
    ],
    ['but not without a query', '%help', "['c']", undefined],
  ])('%s', (_, source, query, changed) => expect(put(source, query)).toBe(changed));
});

describe('adds the line before an operator that would change its meaning', () => {
  const put = (query: string, field = 'x') => {
    const line = whereLine(query, query, field, `${field} == 1`);
    if (line === undefined) throw new Error('no place');
    const text = query.slice(0, line.at) + line.text + query.slice(line.at);
    expect(parseQuery(text).diagnostics).toEqual([]);
    return [text, line.before, line.after];
  };

  test.each<[string, string, string | undefined]>([
    ['T | take 5', 'T | where x == 1 | take 5', 'take 5'],
    ['T\n| sort by y\n| top 5 by y', 'T\n| sort by y\n| where x == 1\n| top 5 by y', 'top 5 by y'],
    ['T // all\n| take 5', 'T\n| where x == 1 // all\n| take 5', 'take 5'],
    ['T | take 5 | project x, y', 'T | where x == 1 | take 5 | project x, y', 'take 5'],
    ['T | take 5 | extend z = x', 'T | where x == 1 | take 5 | extend z = x', 'take 5'],
    [
      'T | summarize n = count() by x | top 3 by n',
      'T | where x == 1 | summarize n = count() by x | top 3 by n',
      'summarize n = count() by x',
    ],
    ['T | distinct x, y', 'T | where x == 1 | distinct x, y', 'distinct x, y'],
    ['T | distinct *', 'T | where x == 1 | distinct *', 'distinct *'],
    ['let a = 1;\nT | take 5', 'let a = 1;\nT | where x == 1 | take 5', 'take 5'],
    ['T | parse y with "a" z | limit 5', 'T | parse y with "a" z | where x == 1 | limit 5', 'limit 5'],
    ['T | where y == 1', 'T | where y == 1\n| where x == 1', undefined],
  ])('%s', (query, text, before) => expect(put(query)).toEqual([text, before, undefined]));

  test.each<[string, string]>([
    ['T | take 5 | extend x = y', 'take 5'],
    ['T | take 5 | project x = y', 'take 5'],
    ['T | take 5 | project-rename x = y', 'take 5'],
    ['T | summarize x = count() by y', 'summarize x = count() by y'],
    ['T | summarize count() by x = bin(y, 5)', 'summarize count() by x = bin(y, 5)'],
    ['T | take 5 | parse y with "a" x', 'take 5'],
    ['T | take 5 | parse-kv y as (x: long)', 'take 5'],
    ['T | take 5 | mv-expand x', 'take 5'],
    ['T | take 5 | lookup (U) on y', 'take 5'],
    ['T | take 5 | union (U)', 'take 5'],
    ['T | take 5 | sort by y | extend d = y - prev(y)', 'take 5'],
  ])('but after the operator that computes the field: %s', (query, after) => {
    expect(put(query)).toEqual([`${query}\n| where x == 1`, undefined, after]);
  });

  test('between the operator that computes the field and one that selects rows', () =>
    expect(put('T | summarize x = count() by y | top 3 by x')).toEqual([
      'T | summarize x = count() by y | where x == 1 | top 3 by x',
      'top 3 by x',
      'summarize x = count() by y',
    ]));

  test('after a summarize, since a bin of a time differs from the time', () =>
    expect(put('T | summarize count() by bin(_time, 1h)', '_time')).toEqual([
      'T | summarize count() by bin(_time, 1h)\n| where _time == 1',
      undefined,
      'summarize count() by bin(_time, 1h)',
    ]));

  test('treating a quoted name as the same name', () =>
    expect(whereLine("T | take 5 | project ['a b']", '', 'a b', 'c')?.before).toBe('take 5'));
});
