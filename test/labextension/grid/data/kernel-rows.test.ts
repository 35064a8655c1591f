import type { Kernel } from '@jupyterlab/services';
import { expect, test } from 'vitest';
import type { Comm, CommHandler } from '../../../../kernel/jupyter/message.js';
import type { ResultReference } from '../../../../kernel/notebook/results/result-protocol.js';
import { kernelRows } from '../../../../labextension/src/grid/data/kernel-rows.js';
import { realBench } from '../../../notebook/real-bench.js';
import { metadata } from '../../../notebook/results/rows.js';

const bench = realBench({});

/**
 * Returns a kernel as a page sees it, which records closed comms and the followers of its signals; messages arrive instantly, and pages
 * with the bytes that `received` makes of them.
 */
function kernel({
  closed = [],
  followers = new Set(),
  received = buffers => buffers,
}: {
  readonly closed?: string[];
  readonly followers?: Set<unknown>;
  readonly received?: (buffers: readonly unknown[]) => readonly unknown[];
} = {}): Kernel.IKernelConnection {
  const signal = {
    connect: (follower: unknown) => followers.add(follower),
    disconnect: (follower: unknown) => followers.delete(follower),
  };
  const createComm = (target: string) => {
    let reader: CommHandler | undefined;
    const comm = {
      onMsg: (_message: unknown) => undefined,
      isDisposed: false,
      close: () => void closed.push(target),
      open: (data: unknown) => {
        const kernelEnd: Comm = {
          id: 'c',
          target,
          send: (answer, _, buffers = []) =>
            comm.onMsg({ content: { data: answer }, buffers: received(buffers) }),
          close: () => undefined,
        };
        reader = bench().handler.commOpen(kernelEnd, data, []);
      },
      send: (data: unknown) => void reader?.message(data, []),
    };
    return comm;
  };
  return {
    createComm,
    handleComms: true,
    connectionStatusChanged: signal,
    statusChanged: signal,
    disposed: signal,
  } as unknown as Kernel.IKernelConnection;
}

test('canceling a page request leaves others running, and closing the rows closes the comm', async () => {
  const code = '%%limit 1000000\nrange n from 1 to 300000 step 1 | extend s = tostring(n)';
  const { result } = metadata(await bench().run(code)) as { result: ResultReference };
  const closed: string[] = [];
  const followers = new Set();
  const rows = await kernelRows(kernel({ closed, followers }), result.id, () => undefined);
  const view = (column: string) => ({ sort: [{ column, descending: true }] });
  const impatient = new AbortController();
  const [first, second] = [rows.page(view('s'), 0, 1, impatient.signal), rows.page(view('n'), 0, 1)];
  impatient.abort();
  await expect(first).rejects.toThrow('the request was canceled');
  expect((await second).table.getChild('s')?.get(0)).toBe('300000');
  rows.close();
  expect(closed).toEqual(['apl.results']);
  expect(followers).toEqual(new Set());
});

test('a refused result leaves nothing that follows the kernel', async () => {
  const followers = new Set();
  await expect(kernelRows(kernel({ followers }), 'gone', () => undefined)).rejects.toThrow(
    'the kernel no longer has this result',
  );
  expect(followers).toEqual(new Set());
});

test.each<[string, (buffers: readonly unknown[]) => readonly unknown[], string]>([
  ['without rows', () => [], 'The kernel sent no rows.'],
  [
    'with other bytes',
    () => [new Uint8Array([255, 255, 255, 255, 200, 0, 0, 0, 1])],
    'The rows from the kernel cannot be read.',
  ],
])('a page %s rejects', async (_, received, message) => {
  const { result } = metadata(await bench().run('print n = 1')) as { result: ResultReference };
  const rows = await kernelRows(kernel({ received }), result.id, () => undefined);
  await expect(rows.page({}, 0, 1)).rejects.toThrow(message);
});
