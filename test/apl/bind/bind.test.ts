import { describe, expect, test } from 'vitest';
import { bind } from '../../../kernel/apl/bind/bind.js';
import type { BindEnvironment, Plan, Relation } from '../../../kernel/apl/plan/plan.js';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { environment } from '../environment.js';

function planOf(text: string, more: Partial<BindEnvironment> = {}): Plan {
  const { plan, diagnostics } = bind(parseQuery(text).query, text, { ...environment, ...more });
  if (plan === undefined) throw new Error(diagnostics.map(each => each.message).join('; '));
  return plan;
}

function messagesOf(text: string, more: Partial<BindEnvironment> = {}): readonly string[] {
  const { diagnostics } = bind(parseQuery(text).query, text, { ...environment, ...more });
  return diagnostics.map(({ message, hint }) => (hint === undefined ? message : `${message}. ${hint}`));
}

function relationOf<K extends Relation['kind']>(plan: Plan, kind: K): Extract<Relation, { kind: K }> {
  let at: Relation = plan.relation;
  while (at.kind !== kind && 'input' in at) at = at.input;
  if (at.kind !== kind) throw new Error(`there is no ${kind}`);
  return at as Extract<Relation, { kind: K }>;
}

describe('binds a parameter of the request', () => {
  const parameter = (type: string, given: unknown) => {
    const plan = planOf(`declare query_parameters(p: ${type}); print p`, { variables: { p: given } });
    const row = relationOf(plan, 'values').rows[0]?.[0] ?? relationOf(plan, 'project').items[0]?.value;
    return row?.kind === 'constant' ? [row.type, row.value] : row;
  };
  test.each([
    ['long', '12', ['long', 12n]],
    ['long', '-12', ['long', -12n]],
    ['long', 12, ['long', 12n]],
    ['real', 12, ['real', 12]],
    ['real', 0.5, ['real', 0.5]],
    ['bool', true, ['bool', true]],
    ['string', 'a', ['string', 'a']],
    ['timespan', '5m', ['timespan', 300_000_000_000n]],
    ['timespan', 300, ['timespan', 300n]],
    ['datetime', '2026-01-02', ['datetime', 1_767_312_000_000_000_000n]],
    ['dynamic', [1, 'a'], ['dynamic', '[1,"a"]']],
    ['dynamic', 'a', ['dynamic', '"a"']],
    ['string', null, ['string', null]],
  ])('as %s from %j', (type, given, expected) => expect(parameter(type, given)).toEqual(expected));

  test.each([
    ['long', 'x'],
    ['long', '1234567890123456789012'],
    ['long', true],
    ['datetime', 'never'],
    ['timespan', 'soon'],
    ['bool', 'true'],
    ['string', 1],
  ])('but not as %s from %j', (type, given) => {
    const text = `declare query_parameters(p: ${type}); print p`;
    expect(messagesOf(text, { variables: { p: given } })).toEqual([
      `the parameter \`p\` cannot be ${JSON.stringify(given)}: its type is ${type}. Pass it in the variables of the request, or give it a default: \`name: type = value\`.`,
    ]);
  });
});

describe('a result column has its aggregation', () => {
  test.each([
    ['percentile(duration, 95)', { name: 'percentile', args: [95], fields: ['duration'] }],
    ['percentile(duration, 99.5)', { name: 'percentile', args: [99.5], fields: ['duration'] }],
    ['count()', { name: 'count', args: [], fields: [] }],
    ['dcountif(method, status > 400)', { name: 'dcountif', args: [], fields: ['method'] }],
  ])('%s', (aggregate, expected) => {
    const { columns } = planOf(`web | summarize x = ${aggregate}`).relation;
    expect(columns.map(column => column.agg)).toEqual([expected]);
  });

  test('with an integer beyond 2^53 as a string', () => {
    const { columns } = planOf('web | summarize make_list(method, 9007199254740993)').relation;
    expect(columns[0]?.agg?.args).toEqual(['9007199254740993']);
  });
});

describe('the common type of values', () => {
  test.each([
    ['coalesce(1, 2)', 'long'],
    ['coalesce(1, 2.5)', 'real'],
    ['coalesce(1, null)', 'long'],
    ['coalesce(null, null)', 'dynamic'],
    ["coalesce(1, 'a')", 'dynamic'],
    ['coalesce(dynamic([1]), 1)', 'dynamic'],
    ["coalesce(toint('x'), 2.5)", 'real'],
  ])('%s', (value, expected) => {
    expect(planOf(`print x = ${value}`).relation.columns.map(column => column.type)).toEqual([expected]);
  });
});

describe('resolves the window of make-series before the query runs', () => {
  const at = 1_000_000n;
  test.each([
    ['now()', at],
    ['now(-1us)', at - 1_000n],
    ['now() - 1us', at - 1_000n],
    ['ago(2us)', at - 2_000n],
    ['bin(now(), 300ns)', 999_900n],
    ['bin(datetime(1970-01-01) - 1ns, 1us)', -1_000n],
    ['datetime(1970-01-01) + 2 * 1us', 2_000n],
  ])('from %s', (start, expected) => {
    const plan = planOf(`web | make-series count() on _time from ${start} to now() + 1ms step 1us`, {
      now: at,
    });
    expect(relationOf(plan, 'series').start).toEqual({ kind: 'constant', type: 'datetime', value: expected });
  });
});

describe('mv-expand', () => {
  test.each([
    ['', true],
    ['kind=bag ', true],
    ['kind=array ', false],
    ['bagexpansion=array ', false],
    ['bagexpansion=bag ', true],
  ])('%sexpands maps: %s', (option, bag) => {
    expect(relationOf(planOf(`web | mv-expand ${option}attributes`), 'expand').bag).toBe(bag);
  });
});

describe('suggests an alternative for an operator of another language', () => {
  test.each([
    ['evaluate', 'APL does not support plugins.'],
    ['invoke', 'APL does not support table functions: write the operators directly.'],
    ['facet', 'Write one `| summarize count() by field` for each field.'],
    ['partition', 'Write `| summarize … by field`; `arg_max(x, *)` keeps one row of each group.'],
    [
      'scan',
      'APL does not support window functions: use `| summarize make_list(x) by …` and array functions.',
    ],
    ['top-hitters', 'Write `| summarize topk(field, N)`.'],
    ['reduce', 'Write `| summarize count() by field`, or `phrases(field, N)` for texts.'],
    ['make-graph', 'APL does not support graphs: write `| join`.'],
    ['consume', 'Write `| count`.'],
    ['left', 'Write `| join kind=leftouter (T) on field`.'],
    ['dedup', 'Write `| summarize arg_max(_time, *) by x`.'],
    ['rex', 'Write `| extend x = extract(…)` or `| parse … with …`.'],
    ['timechart', 'Write `| summarize … by bin_auto(_time)`.'],
    ['align', 'This is MPL, the metrics language; APL queries events.'],
    ['sample-distinct', 'Write `| distinct field | limit N`.'],
    ['top-nested', 'Write `| summarize topk(field, N) by …`.'],
    ['fork', 'Write two queries in two cells.'],
    ['select', 'Write `| project …`.'],
    ['stats', 'Write `| summarize … by …`.'],
    ['group', 'Write `| summarize … by …`.'],
    ['eval', 'Write `| extend …`.'],
    ['head', 'Write `| limit N`.'],
    ['tail', 'Write `| sort by _time desc | limit N`.'],
    ['having', 'Write `| where …` after the summarize.'],
    ['rename', 'Write `| project-rename new = old`.'],
    ['fields', 'Write `| project …`.'],
  ])('%s', (word, hint) => {
    expect(messagesOf(`web | ${word} x`)).toEqual([`APL has no operator \`${word}\`. ${hint}`]);
  });
});

test.each([
  ['$left.nope == $right.trace_id', 'unknown field `nope`'],
  ['$left.method == $right.nope', 'unknown field `nope`'],
])('refuses the condition %s of a join with an unknown field', (condition, message) => {
  expect(messagesOf(`web | join (spans) on ${condition}`)[0]).toContain(message);
});

test.each([
  ['print long(1, 2)', ['`long` takes 1 argument, not 2']],
  ['print string()', ['`string` takes 1 argument, not 0']],
])('refuses %s', (text, messages) => {
  const { query, diagnostics } = parseQuery(text);
  const found = [...diagnostics, ...bind(query, text, environment).diagnostics];
  expect(found.map(({ message }) => message)).toEqual(messages);
});

test('the fix for a plain number beside a duration adds a unit', () => {
  const text =
    'print 1h > 500, 1h < -2.5, 1h == 1500000000, 1h != 7200000000000, 1h + 3, 1h in (9), 1h between (60000000000 .. 2h)';
  const { diagnostics } = bind(parseQuery(text).query, text, environment);
  expect(diagnostics.map(({ from, to, instead }) => `${text.slice(from, to)} -> ${instead}`)).toEqual([
    '500 -> 500ms',
    '-2.5 -> -2.5ms',
    '1500000000 -> 1500ms',
    '7200000000000 -> 2h',
    '3 -> 3ms',
    '9 -> 9ms',
    '60000000000 -> 1m',
  ]);
});
