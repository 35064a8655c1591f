import { describe, expect, test } from 'vitest';
import { definition, references, rename } from '../../../kernel/apl/editor/editor-definition.js';
import { cursorOf, environment } from '../environment.js';

/** Marks every reference to the name at `$0` with angle brackets, and its definition with double ones. */
function marked(input: string): string {
  const { text, offset } = cursorOf(input);
  const found = references(text, offset, environment);
  const spans = found.map((span, index) => ({ ...span, definition: index === 0 }));
  return spans
    .sort((a, b) => b.from - a.from)
    .reduce((result, { from, to, definition: isDefinition }) => {
      const name = result.slice(from, to);
      return `${result.slice(0, from)}${isDefinition ? `<<${name}>>` : `<${name}>`}${result.slice(to)}`;
    }, text);
}

describe('references', () => {
  test.each<readonly [string, string]>([
    ['let a$0 = 5; web | where status > a', 'let <<a>> = 5; web | where status > <a>'],
    ['let a = 5; web | where status > a$0', 'let <<a>> = 5; web | where status > <a>'],
    ['let t = web | count; union t$0, spans', 'let <<t>> = web | count; union <t>, spans'],
    [
      'let t = web | count; spans | join (t$0) on count',
      'let <<t>> = web | count; spans | join (<t>) on count',
    ],
    ['let a = 1; let b = a$0 + a; print b + a', 'let <<a>> = 1; let b = <a> + <a>; print b + <a>'],
    ['let a = 1; let a = a + 1; print a$0', 'let a = 1; let <<a>> = a + 1; print <a>'],
    ['let a = 1; let a = a$0 + 1; print a', 'let <<a>> = 1; let a = <a> + 1; print a'],
    [
      'let a$0 = 1; web | extend b = a | extend a = 2 | where a == 2',
      'let <<a>> = 1; web | extend b = <a> | extend a = 2 | where a == 2',
    ],
    ['let status$0 = 1; web | where status == 2', 'let <<status>> = 1; web | where status == 2'],
    ['let status = 1; web | where sta$0tus == 2', 'let status = 1; web | where status == 2'],
    [
      'let geo$0 = dynamic({}); web | where geo.city == geo.zip',
      'let <<geo>> = dynamic({}); web | where geo.city == <geo>.zip',
    ],
    [
      "let m$0 = dynamic({}); web | extend x = m['k'].l",
      "let <<m>> = dynamic({}); web | extend x = <m>['k'].l",
    ],
    ["let ['a b'] = 1; print ['a b'$0]", "let <<['a b']>> = 1; print <['a b']>"],
    [
      'declare query_parameters(n:long = 1); print n$0',
      'declare query_parameters(<<n>>:long = 1); print <n>',
    ],
    [
      'let inner$0 = 1; web | join kind=inner (spans) on _time | extend x = inner',
      'let <<inner>> = 1; web | join kind=inner (spans) on _time | extend x = <inner>',
    ],
    [
      'let a$0 = 1; web | summarize arg_max(status, a = method), n = count() by x = a',
      'let <<a>> = 1; web | summarize arg_max(status, a = method), n = count() by x = <a>',
    ],
    [
      'let a$0 = 1; web | where status in (spans | project a = 1 | where a > 0) or status == a',
      'let <<a>> = 1; web | where status in (spans | project a = 1 | where a > 0) or status == <a>',
    ],
    ["let d$0 = 'web'; table(d) | count", "let <<d>> = 'web'; table(<d>) | count"],
    ['we$0b | count', 'web | count'],
  ])('%s', (input, expected) => expect(marked(input)).toBe(expected));

  test('start with the definition', () => {
    expect(definition('let a = 5; print a', 17, environment)).toEqual({ from: 4, to: 5 });
    expect(definition('print 1', 2, environment)).toBeUndefined();
  });
});

describe('renaming', () => {
  const renamed = (input: string, name: string): string => {
    const { text, offset } = cursorOf(input);
    const result = rename(text, offset, name, environment);
    if (!result.ok) return result.problem;
    return result.edits.reduceRight(
      (changed, { from, to, insert }) => changed.slice(0, from) + insert + changed.slice(to),
      text,
    );
  };
  test.each<readonly [string, string, string]>([
    ['let a = 5; print a$0 + a', 'limit_ms', 'let limit_ms = 5; print limit_ms + limit_ms'],
    ['let a = 5; print a$0', 'a b', "let ['a b'] = 5; print ['a b']"],
    ["let ['a b'] = 5; print ['a$0 b']", 'c', 'let c = 5; print c'],
    ['let a = 5; let b = 6; print a$0 + b', 'b', '`b` already has another meaning here'],
    ['let a$0 = 5; web | where status > a', 'status', '`status` already has another meaning here'],
    ['let a$0 = 5; print a', '', 'a name must contain at least one letter'],
    ['web | where sta$0tus > 1', 'x', 'only names from let statements and parameters can be renamed'],
  ])('%s to %s', (input, name, expected) => expect(renamed(input, name)).toBe(expected));
});
