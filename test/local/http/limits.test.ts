import { expect, test } from 'vitest';
import { limits } from '../../../kernel/apl/syntax/syntax-limits.js';
import { compileRequest } from '../../../kernel/local/sql/compile.js';
import { type LimitCase, limitCases } from '../../apl/limits.js';
import { sharedService } from '../service.js';

const service = sharedService({ compile: compileRequest });

const rows = Object.entries(limitCases) as [keyof typeof limits, LimitCase][];

test.each(rows)(
  '%s: a query at the limit runs, and one more is refused with the limit and its position',
  async (name, { write, most, at }) => {
    const limit = limits[name];
    const allowed = most ?? limit.most;
    expect(await service().query(write(allowed))).toMatchObject({ status: 200 });
    const { status, body } = await service().query(write(allowed + 1));
    expect([status, body.detail.message, body.detail.hint]).toEqual([400, limit.message, limit.hint]);
    const { line, column } = body.detail;
    expect(
      write(allowed + 1)
        .split('\n')
        [line - 1]?.slice(column - 1)
        .slice(0, at.length),
    ).toBe(at);
    expect(await service().query('print 1')).toMatchObject({ status: 200 });
  },
);
