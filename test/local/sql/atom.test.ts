import { describe, expect, it } from 'vitest';
import { atom, grouped } from '../../../kernel/local/sql/atom.js';

describe('SQL that no operator can split stays unchanged', () => {
  it.each([
    'c12',
    'v.a0',
    '5',
    '1.5',
    'NULL',
    "'it''s (a - b'",
    '"a "" - b"',
    'f()',
    "f(a - b, 'x')",
    "f(')', g(a))",
    'f(a)[1]',
    'f(a)[1][i + 1]',
    'c1[2]',
    '(a - b)',
    '((a) - (b))',
    '(a)[1:2]',
    '[a, b]',
    "{'x': a - b}",
    'NOTED(a)',
  ])('%s', sql => expect(atom(sql)).toBe(sql));
});

describe('any other SQL is put in parentheses', () => {
  it.each([
    'a - b',
    '-5',
    '- (a)',
    '(a) - (b)',
    '(a)(b)',
    'f(a) - f(b)',
    'f(a) - (b)',
    'f(a)::JSON',
    "'5'::BIGINT",
    "DATE '2024-01-01'",
    'NOT (a)',
    'not(a)',
    'NOT a',
    'a IS NULL',
    'a IN (1, 2)',
    'count(*) FILTER (WHERE a)',
    'CASE WHEN a THEN b END',
    'lambda v: v',
    "'a' || 'b'",
    "'a' 'b'",
    'f(a).x',
    '"f"(a)',
    'a[1] - b[1]',
    'a,b',
    '',
  ])('%s', sql => expect(atom(sql)).toBe(`(${sql})`));
});

it('parentheses make an atom, and an atom gets no second pair', () => {
  expect(grouped('a - b')).toBe('(a - b)');
  expect(atom(atom('a - b'))).toBe('(a - b)');
});

describe('SQL with unbalanced brackets or quotes is refused', () => {
  it.each(['a) - (b', 'a - b) - (c', 'f(a', 'a)', '(a))', "f('x)", "'x", 'f("x)', "f('x"])('%s', sql => {
    expect(() => atom(sql)).toThrow(RangeError);
  });
});
