import { type Kernel, KernelManager, type KernelMessage } from '@jupyterlab/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endless } from '../setup/endless.js';
import { type JupyterServer, startJupyterServer } from './server.js';

let server: JupyterServer;
let manager: KernelManager;
let kernel: Kernel.IKernelConnection;

beforeAll(async () => {
  server = await startJupyterServer();
  manager = new KernelManager({ serverSettings: server.settings });
  kernel = await manager.startNew({ name: 'apl' });
});

afterAll(async () => {
  await manager?.shutdownAll();
  manager?.dispose();
  await server?.stop();
});

interface Outcome {
  /** `ok`, or the name of the error. */
  readonly status: string;
  readonly count: number | null;
  readonly streams: string;
  readonly mimeTypes: readonly string[];
}

/** Runs a cell to completion and collects the output that a notebook would show. */
async function run(connection: Kernel.IKernelConnection, code: string): Promise<Outcome> {
  const future = connection.requestExecute({ code, stop_on_error: true });
  let streams = '';
  const mimeTypes: string[] = [];
  future.onIOPub = message => {
    const { msg_type } = message.header;
    if (msg_type === 'stream') streams += (message as KernelMessage.IStreamMsg).content.text;
    if (msg_type === 'execute_result' || msg_type === 'display_data')
      mimeTypes.push(...Object.keys((message as KernelMessage.IExecuteResultMsg).content.data));
  };
  const { content } = await future.done;
  const status = content.status === 'error' ? content.ename : content.status;
  return { status, count: content.execution_count ?? null, streams, mimeTypes };
}

describe('a kernel behind a Jupyter server', () => {
  test('names its language', async () => {
    const { language_info, implementation } = await kernel.info;
    expect([
      implementation,
      language_info.name,
      language_info.mimetype,
      language_info.file_extension,
    ]).toEqual(['apl-kernel', 'axiom-apl', 'text/x-axiom-apl', '.apl']);
  });

  test('runs cells one after another', async () => {
    expect(await run(kernel, '%echo one')).toEqual({
      status: 'ok',
      count: 1,
      streams: 'one\n',
      mimeTypes: [],
    });
    expect(await run(kernel, '%echo two')).toEqual({
      status: 'ok',
      count: 2,
      streams: 'two\n',
      mimeTypes: [],
    });
  });

  test('answers a query from a local service that it starts', async () => {
    const { status, mimeTypes } = await run(kernel, "['sample-http-logs'] | take 3");
    expect(status).toBe('ok');
    expect(mimeTypes).toEqual(expect.arrayContaining(['text/plain', 'text/html']));
  });

  test('fails a cell with an unknown magic', async () => {
    expect(await run(kernel, '%ehco one')).toMatchObject({ status: 'magic', mimeTypes: [] });
  });

  test('completes', async () => {
    const { content } = await kernel.requestComplete({ code: '%ec', cursor_pos: 3 });
    expect(content).toMatchObject({ status: 'ok', matches: ['%echo'], cursor_start: 0, cursor_end: 3 });
  });

  test('inspects', async () => {
    const { content } = await kernel.requestInspect({
      code: 'T | summarize count()',
      cursor_pos: 15,
      detail_level: 0,
    });
    expect(content).toMatchObject({ status: 'ok', found: true });
  });

  test('interrupts a running cell and keeps its state', async () => {
    await run(kernel, '%time last 2h');
    const slow = run(kernel, endless);
    await kernel.interrupt();
    expect(await slow).toMatchObject({ status: 'Interrupted', mimeTypes: [] });
    expect(await run(kernel, '%time')).toMatchObject({
      status: 'ok',
      streams: expect.stringContaining('2h'),
    });
  });

  test('runs beside another kernel, each with its own count', async () => {
    const other = await manager.startNew({ name: 'apl' });
    expect(await run(other, '%echo other')).toEqual({
      status: 'ok',
      count: 1,
      streams: 'other\n',
      mimeTypes: [],
    });
    const [here, there] = await Promise.all([run(kernel, '%echo here'), run(other, '%echo there')]);
    expect([here.streams, there.streams, there.count]).toEqual(['here\n', 'there\n', 2]);
    await other.shutdown();
  });

  test('restarts with a new count', async () => {
    await kernel.restart();
    expect(await run(kernel, '%echo again')).toEqual({
      status: 'ok',
      count: 1,
      streams: 'again\n',
      mimeTypes: [],
    });
  });
});
