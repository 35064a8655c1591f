import { expect, test } from 'vitest';
import { failureOf } from '../../kernel/notebook/cell-error.js';
import { MagicError } from '../../kernel/notebook/magics/magic-arguments.js';
import { realBench } from './real-bench.js';
import { traceback } from './session.js';

const bench = realBench({ web: [{ _time: '2026-03-04T05:00:00Z', status: 200, uri: '/' }] });

/** Returns the marked source of the cell and the messages, in order. */
async function marked(code: string): Promise<readonly string[]> {
  const lines = traceback(await bench().run(code));
  return lines.flatMap((line, index) => {
    const carets = /^ +│ ( *)(\^+)$/.exec(line);
    const source = /^\d+ │ (.*)$/.exec(lines[index - 1] ?? '')?.[1] ?? '';
    if (carets !== null)
      return [source.slice(carets[1]?.length, (carets[1]?.length ?? 0) + (carets[2]?.length ?? 0))];
    return /^(also|hint|[a-z-]+): /.test(line) ? [line] : [];
  });
}

test('shows every error of a query in order, each at its position', async () => {
  expect(await marked('web\n| where staus == 1\n| extend a = urii\n| project b = nope')).toEqual([
    'unknown-field: unknown field `staus`',
    'staus',
    'hint: Did you mean `status`?',
    'also: unknown field `urii`',
    'urii',
    'hint: Did you mean `uri`?',
    'also: unknown field `nope`',
    'nope',
    expect.stringMatching(/^hint: /),
  ]);
});

test('marks a quoted name as a whole', async () => {
  expect((await marked("['no such'] | count"))[1]).toBe("['no such']");
  expect((await marked("web | where ['no such'] == 1"))[1]).toBe("['no such']");
});

test('marks a surrogate pair as one character', async () => {
  expect((await marked('web | where 🙂 == 1')).slice(0, 2)).toEqual(['bad-character: unexpected `🙂`', '🙂']);
});

test('shows only the part of a long line around the error', async () => {
  const many = Array.from({ length: 60 }, (_, index) => `status != ${index}`).join(' and ');
  expect(await marked(`web | where ${many} and staus == 1 and ${many} | project uri`)).toEqual([
    'unknown-field: unknown field `staus`',
    'staus',
    'hint: Did you mean `status`?',
  ]);
  const lines = traceback(await bench().run(`web | where ${many} and staus == 1 and ${many} | project uri`));
  expect(lines[2]).toBe(
    '1 │ … status != 56 and status != 57 and status != 58 and status != 59 and staus == 1 and status != 0 and status != 1 and status …',
  );
});

test('marks only the beginning of a very long name', async () => {
  const name = 'n'.repeat(3_000);
  expect(await marked(`web | project ${name}`)).toEqual([
    `unknown-field: unknown field \`${'n'.repeat(79)}…\``,
    `${'n'.repeat(59)}…`,
    expect.stringMatching(/^hint: /),
  ]);
});

test('truncates long names and long lists of names in messages and hints', async () => {
  const name = 'q'.repeat(3_000);
  expect((await marked(`%results ${name}`))[0]).toBe(`magic: there is no result ${'q'.repeat(199)}\u2026`);
  const kept = bench();
  for (let number = 10; number < 40; number += 1) await kept.run(`${'r'.repeat(98)}${number} << print 1;`);
  const hint = traceback(await kept.run('%results x')).at(-1) ?? '';
  expect([hint.length, hint.at(-1)]).toEqual(['hint: '.length + 2_100, '\u2026']);
});

test('isolates a right-to-left name from the text around it', () => {
  const error = new MagicError('no field `\u05e9\u05dd` 5 in `n`', 'Did you mean `\u0634 \u202e`?');
  const { evalue, traceback } = failureOf(error, '');
  expect(evalue).toBe('no field `\u2068\u05e9\u05dd\u2069` 5 in `n`');
  expect(traceback.at(-1)).toContain('Did you mean `\u2068\u0634 \u27e8U+202E\u27e9\u2069`?');
});
