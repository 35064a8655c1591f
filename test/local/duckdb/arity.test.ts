import { describe, expect, expectTypeOf, test } from 'vitest';
import type { CatalogEntry } from '../../../kernel/apl/catalog/all-functions.js';
import { templateOf } from '../../../kernel/local/duckdb/functions/duckdb-functions.js';
import { type ArgsOf, type SqlArg, sqlArg } from '../../../kernel/local/sql/sql-template.js';

type Args<Name extends string> = ArgsOf<Extract<CatalogEntry, { readonly name: Name }>['params']>;

describe('the arguments of a template', () => {
  test('match those in the catalog', () => {
    expectTypeOf<Args<'tolower'>>().toEqualTypeOf<readonly [arg: SqlArg]>();
    expectTypeOf<Args<'strrep'>>().toEqualTypeOf<readonly [arg: SqlArg, arg: SqlArg, arg?: SqlArg]>();
    expectTypeOf<Args<'startofday'>>().toEqualTypeOf<readonly [arg: SqlArg, arg?: SqlArg]>();
    expectTypeOf<Args<'pi'>>().toEqualTypeOf<readonly []>();
    expectTypeOf<Args<'strcat'>>().toEqualTypeOf<readonly [arg: SqlArg, ...rest: SqlArg[]]>();
    expectTypeOf<Args<'coalesce'>[1]>().toEqualTypeOf<SqlArg>();
    expectTypeOf<Args<'strrep'>[2]>().toEqualTypeOf<SqlArg | undefined>();
  });
  test.each([
    ['tolower', 0],
    ['tolower', 2],
    ['strrep', 1],
    ['$regex_match', 1],
    ['coalesce', 1],
  ])('are refused in the wrong number: %s with %d', (name, count) => {
    const args = Array.from({ length: count }, () => sqlArg("''", 'string'));
    const context = { now: 0n, start: 0n, end: 0n };
    expect(() => templateOf(name)?.(args, context)).toThrow(new RangeError(`${name} has ${count} arguments`));
  });
});
