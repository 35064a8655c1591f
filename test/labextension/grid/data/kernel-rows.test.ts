import type { Kernel } from '@jupyterlab/services';
import { expect, test } from 'vitest';
import type { Comm, CommHandler } from '../../../../kernel/jupyter/message.js';
import type { ResultReference } from '../../../../kernel/notebook/results/result-protocol.js';
import { kernelRows } from '../../../../labextension/src/grid/data/kernel-rows.js';
import { realBench } from '../../../notebook/real-bench.js';
import { metadata } from '../../../notebook/results/rows.js';

const bench = realBench({});

/** Returns a kernel as a page sees it, which records closed comms; messages arrive instantly. */
function kernel(closed: string[] = []): Kernel.IKernelConnection {
  const signal = { connect: () => true, disconnect: () => true };
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
          send: (answer, _, buffers = []) => comm.onMsg({ content: { data: answer }, buffers }),
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
  const rows = await kernelRows(kernel(closed), result.id, () => undefined);
  const view = (column: string) => ({ sort: [{ column, descending: true }] });
  const impatient = new AbortController();
  const [first, second] = [rows.page(view('s'), 0, 1, impatient.signal), rows.page(view('n'), 0, 1)];
  impatient.abort();
  await expect(first).rejects.toThrow('the request was canceled');
  expect((await second).table.getChild('s')?.get(0)).toBe('300000');
  rows.close();
  expect(closed).toEqual(['apl.results']);
});
