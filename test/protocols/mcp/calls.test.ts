import { expect, test } from 'vitest';
import { AplKernelError } from '../../../kernel/errors.js';
import { Calls } from '../../../kernel/protocols/mcp/calls.js';
import { answerOf } from '../../../kernel/protocols/mcp/mcp-answer.js';

const never = new AbortController().signal;
const fine = answerOf({ sentences: ['fine'], lines: [] });

/** Returns work that ends on demand. */
function held() {
  let end = (): void => undefined;
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  return { end, work: () => ended.then(() => fine) };
}

test('at most two calls use the engine at once, the rest wait in order, and other calls run at once', async () => {
  const calls = new Calls(() => undefined);
  const begun: number[] = [];
  const works = [held(), held(), held(), held()];
  const answers = works.map(({ work }, index) =>
    calls.answer('in turn', never, () => {
      begun.push(index);
      return work();
    }),
  );
  expect(await calls.answer('now', never, () => fine)).toBe(fine);
  expect(begun).toEqual([0, 1]);
  works[1]?.end();
  await answers[1];
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const { end } of works) end();
  expect(await Promise.all(answers)).toEqual([fine, fine, fine, fine]);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('a call that takes too long fails, running or waiting, and frees its slot', async () => {
  const calls = new Calls(() => undefined, 20, 1);
  const interrupted = (over: AbortSignal) =>
    new Promise<never>((_, reject) => {
      over.addEventListener('abort', () =>
        reject(new AplKernelError('interrupted', 'the request was interrupted')),
      );
    });
  const slow = held();
  const first = calls.answer('in turn', never, slow.work);
  const late = [
    await calls.answer('in turn', never, () => fine),
    await calls.answer('now', never, interrupted),
  ];
  for (const { isError, content } of late) {
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain('the call timed out after 0.02 s, including the calls before it');
  }
  slow.end();
  expect([await first, await calls.answer('in turn', never, () => fine)]).toEqual([fine, fine]);
});

test('an unexpected error is logged but not shown to the agent', async () => {
  const logged: string[] = [];
  const failed = await new Calls(text => logged.push(text)).answer('now', never, () => {
    throw new TypeError('data of a stranger');
  });
  expect([failed.isError, failed.content[0]?.text.includes('stranger')]).toEqual([true, false]);
  expect(logged.join()).toContain('TypeError: data of a stranger');
});
