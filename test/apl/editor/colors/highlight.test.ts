import { NodeProp } from '@lezer/common';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aplParser } from '../../../../kernel/apl/editor/colors/highlight.js';

const parser = aplParser();

test('isolates words that may be right-to-left', () => {
  const source = '%time last 1h\nlogs | where שם == "ערך" and n > 1 // הערה';
  const found: string[] = [];
  parser.parse(source).iterate({
    enter: ({ type, from, to }) => {
      const direction = type.prop(NodeProp.isolate);
      if (direction !== undefined) found.push(`${direction} ${source.slice(from, to)}`);
    },
  });
  expect(found).toEqual([
    'ltr last 1h',
    'ltr logs',
    'ltr where',
    'ltr שם',
    'ltr "ערך"',
    'ltr n',
    'ltr // הערה',
  ]);
});

describe('leaves of the tree', () => {
  check(
    '%time last 1h\n%%limit\nlogs',
    'MagicName %time · MagicArguments last 1h · MagicName %%limit · Dataset logs',
  );
  check(
    '// why\n%use local\nlogs // all',
    'Comment // why · MagicName %use · MagicArguments local · Dataset logs · Comment // all',
  );
  check(
    '%use local\nlogs\n// %% next\n%time 1h\nlogs',
    'MagicName %use · MagicArguments local · Dataset logs · Comment // %% next · MagicName %time · MagicArguments 1h · Dataset logs',
  );
  check("['a b']\n| count", "[ [ · Dataset 'a b' · ] ] · Pipe | · Stage count");
  check(
    "logs | where ['geo.city'] !has 'x' and not(a) or b",
    "Dataset logs · Pipe | · Stage where · [ [ · Field 'geo.city' · ] ] · WordOperator !has · String 'x' · WordOperator and · Function not · ( ( · Field a · ) ) · WordOperator or · Field b",
  );
  check(
    'logs | where m matches regex @"\\d" and n in~ (true, null)',
    'Dataset logs · Pipe | · Stage where · Field m · WordOperator matches · WordOperator regex · String @"\\d" · WordOperator and · Field n · WordOperator in~ · ( ( · Bool true · Comma , · Null null · ) )',
  );
  check(
    'logs | summarize n = count(), nope(x) by bin(_time, 1h)',
    'Dataset logs · Pipe | · Stage summarize · Definition n · Operator = · Aggregate count · ( ( · ) ) · Comma , · UnknownFunction nope · ( ( · Field x · ) ) · Keyword by · Function bin · ( ( · Field _time · Comma , · Timespan 1h · ) )',
  );
  check(
    'logs | project-away a.b, status* | project-keep x',
    'Dataset logs · Pipe | · Stage project-away · Field a · Dot . · Field b · Comma , · Field status · Operator * · Pipe | · Stage project-keep · Field x',
  );
  check(
    'logs | extend by = a.b["c"], on = 1 | sort by by asc nulls first',
    'Dataset logs · Pipe | · Stage extend · Definition by · Operator = · Field a · Dot . · Member b · [ [ · String "c" · ] ] · Comma , · Definition on · Operator = · Number 1 · Pipe | · Stage sort · Keyword by · Field by · SortOrder asc · SortOrder nulls · SortOrder first',
  );
  check(
    'logs | join kind=inner (spans) on id',
    'Dataset logs · Pipe | · Stage join · OptionName kind · Operator = · OptionValue inner · ( ( · Dataset spans · ) ) · Keyword on · Field id',
  );
  check(
    'let a = 5m; let t = logs; t | where d > a and "a" == [\'a\']',
    'Keyword let · Definition a · Operator = · Timespan 5m · Semicolon ; · Keyword let · Definition t · Operator = · Field logs · Semicolon ; · LetName t · Pipe | · Stage where · Field d · Operator > · LetName a · WordOperator and · String "a" · Operator == · [ [ · Field \'a\' · ] ]',
  );
  check(
    'errors << logs\n\nerrors | count',
    'Definition errors · Operator << · Dataset logs · LetName errors · Pipe | · Stage count',
  );
  check(
    'logs | where t > datetime(2026-01-02) and d == timespan(1d) and typeof(long)',
    'Dataset logs · Pipe | · Stage where · Field t · Operator > · Function datetime · ( ( · Datetime 2026-01-02 · ) ) · WordOperator and · Field d · Operator == · Function timespan · ( ( · Timespan 1d · ) ) · WordOperator and · Function typeof · ( ( · Type long · ) )',
  );
  check(
    'logs | extend a = long(b)',
    'Dataset logs · Pipe | · Stage extend · Definition a · Operator = · Function long · ( ( · Field b · ) )',
  );
  check(
    'datatable (a: string) [ "x" ]',
    'Keyword datatable · ( ( · Definition a · Colon : · Type string · ) ) · [ [ · String "x" · ] ]',
  );
  check(
    'logs | parse m with * "u=" user: long | wher x',
    'Dataset logs · Pipe | · Stage parse · Field m · Keyword with · Operator * · String "u=" · Definition user · Colon : · Type long · Pipe | · Name wher · Name x',
  );
  check(
    'logs | where a == 12abc and ¤ == “x”',
    'Dataset logs · Pipe | · Stage where · Field a · Operator == · Invalid 12abc · WordOperator and · Invalid ¤ · Operator == · String “x”',
  );

  /** Checks every leaf node, in order, as `name text`, separated by dots. */
  function check(text: string, expected: string): void {
    test(text, () => {
      const leaves: string[] = [];
      parser.parse(text).iterate({
        enter: ({ node, name, from, to }) => {
          if (node.firstChild === null) leaves.push(`${name} ${text.slice(from, to)}`);
        },
      });
      expect(leaves.join(' · ')).toBe(expected);
    });
  }
});

describe('nodes with children', () => {
  check('logs\n| count', ['Statement logs⏎| count', 'Pipeline logs⏎| count']);
  check('let a = 1;\nlogs | where (x)', [
    'Statement let a = 1',
    'Statement logs | where (x)',
    'Pipeline logs | where (x)',
    'Parens (x)',
  ]);
  check('a\n\nb', ['Statement a', 'Pipeline a', 'Statement b', 'Pipeline b']);
  check('a | join (b | count) on c', [
    'Statement a | join (b | count) on c',
    'Pipeline a | join (b | count) on c',
    'Parens (b | count)',
    'Pipeline b | count',
  ]);
  check('a | where d == dynamic({"k": [1]})', [
    'Statement a | where d == dynamic({"k": [1]})',
    'Pipeline a | where d == dynamic({"k": [1]})',
    'Parens ({"k": [1]})',
    'Braces {"k": [1]}',
    'Brackets [1]',
  ]);
  check('a | where f(b; c', [
    'Statement a | where f(b',
    'Pipeline a | where f(b',
    'Parens (b',
    'Statement c',
    'Pipeline c',
  ]);
  check('%time 1h\na', ['MagicLine %time 1h', 'Statement a', 'Pipeline a']);

  function check(text: string, expected: readonly string[]): void {
    test(text, () => {
      const nodes: string[] = [];
      parser.parse(text).iterate({
        enter: ({ node, name, type, from, to }) => {
          if (node.firstChild === null || type.isTop || type.isAnonymous) return;
          nodes.push(`${name} ${text.slice(from, to).replaceAll('\n', '⏎')}`);
        },
      });
      expect(nodes).toEqual(expected);
    });
  }
});

test('assigns styles to tokens', () => {
  const text = "%time 1h\nlet n = 5;\n['logs'] // c\n| where f == 'x' and g > n | take 10";
  const style = tagHighlighter([
    { tag: tags.keyword, class: 'keyword' },
    { tag: tags.comment, class: 'comment' },
    { tag: tags.string, class: 'string' },
    { tag: tags.number, class: 'number' },
    { tag: tags.operator, class: 'operator' },
    { tag: tags.definition(tags.name), class: 'definition' },
    { tag: tags.special(tags.variableName), class: 'table' },
    { tag: tags.meta, class: 'meta' },
  ]);
  const spans: string[] = [];
  highlightTree(parser.parse(text), style, (from, to, name) => spans.push(`${name} ${text.slice(from, to)}`));
  expect(spans).toEqual([
    ...['meta %time', 'string 1h', 'keyword let', 'definition n', 'operator =', 'number 5', "table 'logs'"],
    ...['comment // c', 'operator |', 'keyword where', 'operator ==', "string 'x'", 'keyword and'],
    ...['operator >', 'table n', 'operator |', 'keyword take', 'number 10'],
  ]);
});

test('brackets have their closing counterparts', () => {
  const leaf = parser.parse('a | where (b)').resolveInner(11, -1);
  expect([leaf.name, leaf.type.prop(NodeProp.closedBy)]).toEqual(['(', [')']]);
});

test('parses ranges between other languages at their positions', () => {
  const text = 'logs XX | count';
  const ranges = [
    { from: 0, to: 5 },
    { from: 7, to: 15 },
  ];
  const tree = parser.parse(text, [], ranges);
  expect([tree.length, tree.resolveInner(10, 1).name]).toEqual([15, 'Stage']);
});

const fragments = [
  ...["['a']", '|', ' ', '\n', '\n\n', 'where ', 'let x=', ';', '(', ')', '[', ']', '{', '}', "'", '"', '//'],
  ...[
    '%time',
    '%',
    'by ',
    'datetime(',
    '2026-01-01',
    '5m',
    '0x',
    '```',
    '<<',
    '*',
    '-',
    'project',
    'join ',
    'é',
  ],
  ...[
    'toString',
    'constructor ',
    '\u{1F600}',
    '\r\n',
    '@"',
    ',',
    '==',
    '..',
    'in (',
    'search ',
    'union ',
    'parse ',
    'with ',
  ],
];

test('any text gives a tree of its length with nodes nested and in order', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.constantFrom(...fragments), { maxLength: 60 }).map(parts => parts.join('')),
  );
  fc.assert(
    fc.property(text, source => {
      const tree = parser.parse(source);
      expect(tree.length).toBe(source.length);
      let reached = 0;
      const parents: { from: number; to: number }[] = [];
      tree.iterate({
        enter: ({ node, from, to }) => {
          const parent = parents.at(-1) ?? { from: 0, to: source.length };
          expect(from >= parent.from && to <= parent.to && from <= to).toBe(true);
          if (node.firstChild === null && from < to) {
            expect(from >= reached).toBe(true);
            reached = to;
          }
          parents.push({ from, to });
        },
        leave: () => void parents.pop(),
      });
    }),
    { numRuns: 600 },
  );
});

test('every non-blank character is in a leaf', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 40 }), parts => {
      const source = parts.join('');
      const covered = source.split('');
      parser.parse(source).iterate({
        enter: ({ node, from, to }) => {
          if (node.firstChild === null && from < to && !node.type.isTop) covered.fill(' ', from, to);
        },
      });
      expect(covered.join('').trim()).toBe('');
    }),
  );
});

describe('parses long repetitions to the end:', () => {
  check('queries', "['logs'] | where a == 'b' and c > 5m | summarize count() by bin(_time, 1h)\n\n");
  check('lets and queries', 'let a = 1;\nlogs | where x == a\n\n');
  check('open brackets', '(');
  check('brackets', '([{}])');
  check('quotes', "'a\n");
  check('open literals', 'datetime(1 ');
  check('comments', '// c\n\n');
  check('magics', '%time 1h\n');
  check('cells', '// %%\n%time 1h\na\n');
  check('conjunctions', 'a and ');
  check('pipes', '| where (a ');

  function check(name: string, unit: string): void {
    test(name, () => {
      const source = unit.repeat(Math.ceil(48_000 / unit.length));
      expect(parser.parse(source).length).toBe(source.length);
    });
  }
});
