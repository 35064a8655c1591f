import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Subscriber } from 'zeromq';
import { startKernel } from '../../kernel/jupyter/jupyter-server.js';
import { memoryAtMost } from '../../kernel/machine.js';
import { Client, freeConnection, LOCAL, type Seen } from './client.js';
import { ECHO_INFO, EchoHandler } from './echo-handler.js';
import { connect, startEcho } from './kernel-under-test.js';

const shape = ({ type, content }: Seen) =>
  type === 'status' ? content.execution_state : [type, ...Object.values(content)];
const plain = (text: string) => ({ 'text/plain': text });

describe('execute_request', () => {
  test('publishes all kinds of output in order between busy and idle', async () => {
    const { client } = await startEcho();
    const code = 'out a\nerr b\nout c\ndisplay d\nupdate e\nclear wait\nclear now\nresult f';
    const { reply, outputs } = await client.execute(code, { user_expressions: { twice: '2x' } });
    expect(outputs.map(shape)).toEqual([
      'busy',
      ['execute_input', code, 1],
      ['stream', 'stdout', 'a'],
      ['stream', 'stderr', 'b'],
      ['stream', 'stdout', 'c'],
      ['display_data', plain('d'), {}, { display_id: 'd1' }],
      ['update_display_data', plain('e'), {}, { display_id: 'd1' }],
      ['clear_output', true],
      ['clear_output', false],
      ['execute_result', plain('f'), {}, {}, 1],
      'idle',
    ]);
    expect(reply).toMatchObject({ channel: 'shell', type: 'execute_reply' });
    expect(reply.content).toEqual({
      status: 'ok',
      execution_count: 1,
      user_expressions: { twice: { status: 'ok', data: plain('2x'), metadata: {} } },
      payload: [],
    });
  });

  test('replaces a transient output in place, and clears it before the next output', async () => {
    const { client } = await startEcho();
    const code = 'out a\ndisplay b\nupdate c\npass 1\npass 2\ndisplay d\npass 3\nresult e';
    const { outputs } = await client.execute(code, {});
    const passing = { display_id: expect.stringMatching(/^[0-9a-f-]{36}$/) };
    const [a, c] = [
      ['stream', 'stdout', 'a'],
      ['display_data', plain('c'), {}, { display_id: 'd1' }],
    ];
    const d = ['display_data', plain('d'), {}, { display_id: 'd1' }];
    expect(outputs.map(shape).slice(2, -1)).toEqual([
      a,
      ['display_data', plain('b'), {}, { display_id: 'd1' }],
      ['update_display_data', plain('c'), {}, { display_id: 'd1' }],
      ['display_data', plain('1'), {}, passing],
      ['update_display_data', plain('2'), {}, passing],
      ['clear_output', true],
      a,
      c,
      d,
      ['display_data', plain('3'), {}, passing],
      ['clear_output', true],
      a,
      c,
      d,
      ['execute_result', plain('e'), {}, {}, 1],
    ]);
  });

  test.each([
    ['at the end of its cell', 'pass 1', [['clear_output', false]]],
    ['before the error of its cell', 'pass 1\nfail on purpose', [['clear_output', false], ['error']]],
    ['only once', 'pass 1\nclear now', [['clear_output', false]]],
    [
      'with earlier outputs shown again',
      'out a\npass 1',
      [
        ['clear_output', true],
        ['stream', 'stdout', 'a'],
      ],
    ],
  ])('a transient output is cleared %s', async (_, code, last) => {
    const { client } = await startEcho();
    const { outputs } = await client.execute(code, {});
    const shapes = outputs.map(each => (each.type === 'error' ? ['error'] : shape(each)));
    const shown = shapes.findIndex(each => Array.isArray(each) && each[0] === 'display_data');
    expect(shapes.slice(shown + 1, -1)).toEqual(last);
  });

  test('counts only cells stored in history, and publishes only the status of silent ones', async () => {
    const { client } = await startEcho();
    const counts = [];
    for (const options of [
      {},
      { silent: true },
      { store_history: false },
      { silent: true, store_history: true },
      {},
    ]) {
      counts.push((await client.execute('result x', options)).reply.content.execution_count);
    }
    expect(counts).toEqual([1, 1, 1, 1, 2]);
    const silent = await client.execute('out a\nresult b\nfail c', { silent: true });
    expect(silent.outputs.map(shape)).toEqual(['busy', 'idle']);
    expect(silent.reply.content).toMatchObject({ status: 'error', ename: 'Failure', evalue: 'c' });
  });

  test('runs cells of all clients one at a time, in order', async () => {
    const { client, kernel } = await startEcho();
    const other = await connect(kernel);
    const first = await client.send('shell', 'execute_request', { code: 'sleep 60\nout first' });
    await client.next(({ parent, type }) => parent === first && type === 'execute_input');
    const second = await other.send('shell', 'execute_request', { code: 'out second' });
    const third = await client.send('shell', 'execute_request', { code: 'out third' });
    await other.reply(second);
    await client.outputs(third);
    const ours = client.seen.filter(({ parent }) => [first, second, third].includes(parent ?? ''));
    const texts = ours.filter(({ type }) => type === 'stream').map(({ content }) => content.text);
    const states = ours.filter(({ type }) => type === 'status').map(({ content }) => content.execution_state);
    expect(texts).toEqual(['first', 'second', 'third']);
    expect(states).toEqual(['busy', 'idle', 'busy', 'idle', 'busy', 'idle']);
    expect(other.seen.filter(({ channel }) => channel === 'shell').map(({ parent }) => parent)).toEqual([
      second,
    ]);
  });

  test('publishes an error, replies with it, and aborts waiting cells', async () => {
    const { client } = await startEcho();
    const failing = await client.send('shell', 'execute_request', { code: 'sleep 20\nfail no' });
    const waiting = await Promise.all(
      ['out a', 'out b'].map(code => client.send('shell', 'execute_request', { code })),
    );
    const error = { ename: 'Failure', evalue: 'no', traceback: ['Failure: no'] };
    expect((await client.reply(failing)).content).toMatchObject({
      status: 'error',
      execution_count: 1,
      ...error,
    });
    expect((await client.outputs(failing)).map(shape).slice(2)).toEqual([
      ['error', 'Failure', 'no', ['Failure: no']],
      'idle',
    ]);
    for (const id of waiting) {
      expect((await client.reply(id)).content).toEqual({ status: 'aborted' });
      expect((await client.outputs(id)).map(shape)).toEqual(['busy', 'idle']);
    }
    expect((await client.execute('out c')).reply.content).toMatchObject({ status: 'ok', execution_count: 2 });
  });

  test('an error also aborts cells that are still in the socket', async () => {
    const { client, handler } = await startEcho();
    const failing = await client.send('shell', 'execute_request', { code: 'await go\nblock 200\nfail no' });
    await client.next(({ parent, type }) => parent === failing && type === 'execute_input');
    const waiting = await Promise.all(
      Array.from({ length: 50 }, () => client.send('shell', 'execute_request', { code: 'out a' })),
    );
    handler.signals.emit('go');
    const replies = await Promise.all(waiting.map(id => client.reply(id)));
    expect(new Set(replies.map(({ content }) => content.status))).toEqual(new Set(['aborted']));
  });

  test('an error does not abort waiting cells with stop_on_error false', async () => {
    const { client } = await startEcho();
    const failing = await client.send('shell', 'execute_request', {
      code: 'sleep 20\nfail no',
      stop_on_error: false,
    });
    const next = await client.send('shell', 'execute_request', { code: 'out a' });
    expect((await client.reply(failing)).content.status).toBe('error');
    expect((await client.reply(next)).content.status).toBe('ok');
  });

  test("a handler's exception, or output that is not JSON, becomes an error of the cell", async () => {
    const { client, lines } = await startEcho();
    const thrown = await client.execute('throw oops');
    expect(lines.length).toBe(1);
    expect(lines[0]).toMatch(/^a cell failed: Error: oops +at [^\n]*$/);
    expect(thrown.reply.content).toMatchObject({
      ename: 'Error',
      evalue: 'oops',
      traceback: ['Error: oops'],
    });
    const unsendable = await client.execute('unsendable');
    expect(unsendable.reply.content).toMatchObject({ status: 'error', ename: 'TypeError' });
    const expressions = await client.execute('out a', { user_expressions: { x: 'bigint' } });
    expect(expressions.reply.content).toMatchObject({ status: 'error', ename: 'TypeError' });
    expect((await client.execute('out a')).reply.content.status).toBe('ok');
  });

  test('drops output after the end of its cell, with a log line', async () => {
    const { client, lines } = await startEcho();
    const { outputs } = await client.execute('late a');
    await client.execute('sleep 50');
    expect(outputs.map(shape).at(-1)).toBe('idle');
    expect(client.seen.filter(({ type }) => type === 'stream')).toEqual([]);
    expect(lines).toEqual(['dropped a stream of a cell that has ended']);
  });
});

describe('while a cell runs', () => {
  test.each(['shell', 'control'] as const)('%s answers other requests', async channel => {
    const { client } = await startEcho();
    const running = await client.send('shell', 'execute_request', { code: 'sleep 10000' });
    await client.next(({ parent, type }) => parent === running && type === 'execute_input');
    const asked: readonly (readonly [string, object])[] = [
      ['complete_request', { code: 'ou', cursor_pos: 2 }],
      ['inspect_request', { code: 'out', cursor_pos: 3 }],
      ['is_complete_request', { code: 'out (' }],
      ['kernel_info_request', {}],
      ['history_request', { hist_access_type: 'tail', n: 1 }],
      ['comm_info_request', {}],
      ['connect_request', {}],
    ];
    for (const [type, content] of asked) {
      const id = await client.send(channel, type, { ...content });
      expect(await client.reply(id)).toMatchObject({ channel, type: type.replace('request', 'reply') });
      expect((await client.outputs(id)).map(shape)).toEqual(['busy', 'idle']);
    }
    expect(client.seen.filter(({ parent, type }) => parent === running && type === 'execute_reply')).toEqual(
      [],
    );
  });

  test('an interrupt aborts it and waiting cells, and keeps variables', async () => {
    const { client } = await startEcho();
    await client.execute('set a=1');
    const running = await client.send('shell', 'execute_request', { code: 'sleep 10000' });
    const waiting = await client.send('shell', 'execute_request', { code: 'out a' });
    await client.next(({ parent, type }) => parent === running && type === 'execute_input');
    expect((await client.request('control', 'interrupt_request')).content).toEqual({ status: 'ok' });
    expect((await client.reply(running)).content).toMatchObject({
      status: 'error',
      ename: 'InterruptedError',
      evalue: 'The cell was interrupted',
    });
    expect((await client.reply(waiting)).content.status).toBe('aborted');
    const { outputs } = await client.execute('get a');
    expect(outputs.map(shape)).toContainEqual(['execute_result', plain('1'), {}, {}, 3]);
  });

  test('an interrupt aborts cells waiting with stop_on_error false, but none sent later', async () => {
    const { client } = await startEcho();
    const cell = (code: string) => client.send('shell', 'execute_request', { code, stop_on_error: false });
    const running = await cell('sleep 10000');
    const waiting = await Promise.all([cell('out a'), cell('out b')]);
    await client.next(({ parent, type }) => parent === running && type === 'execute_input');
    const interrupt = client.request('control', 'interrupt_request');
    expect((await client.reply(running)).content.status).toBe('error');
    const after = await cell('out c');
    await interrupt;
    const statuses = (await Promise.all([...waiting, after].map(id => client.reply(id)))).map(
      ({ content }) => content.status,
    );
    expect(statuses).toEqual(['aborted', 'aborted', 'ok']);
  });

  test('a cell slow to end after an interrupt does not abort cells sent since', async () => {
    const { client } = await startEcho();
    const running = await client.send('shell', 'execute_request', { code: 'deaf 500\nfail late' });
    const waiting = await client.send('shell', 'execute_request', { code: 'out a' });
    await client.next(({ parent, type }) => parent === running && type === 'execute_input');
    await client.request('control', 'interrupt_request');
    expect((await client.reply(waiting)).content.status).toBe('aborted');
    const after = await client.send('shell', 'execute_request', { code: 'out b' });
    expect((await client.reply(after)).content.status).toBe('ok');
    expect((await client.reply(running)).content).toMatchObject({ status: 'error', evalue: 'late' });
  });

  test('interrupt() interrupts it too', async () => {
    const { client, kernel } = await startEcho();
    const running = await client.send('shell', 'execute_request', { code: 'sleep 10000' });
    await client.next(({ parent, type }) => parent === running && type === 'execute_input');
    await kernel.interrupt();
    expect((await client.reply(running)).content).toMatchObject({ ename: 'InterruptedError' });
  });

  test('a signal that overtakes its cell still interrupts it', async () => {
    const { client, kernel } = await startEcho({ signalLeadMs: 60_000 });
    for (let round = 0; round < 20; round += 1) {
      const sent = client.send('shell', 'execute_request', { code: 'sleep 60000' });
      await kernel.interrupt();
      expect((await client.reply(await sent)).content).toMatchObject({ ename: 'InterruptedError' });
    }
    expect((await client.execute('out a')).reply.content.status).toBe('ok');
  });

  test('an early signal interrupts only the cell that arrives right after it', async () => {
    const { client, kernel, handler } = await startEcho({ signalLeadMs: 60_000 });
    await kernel.interrupt();
    const { reply } = await client.execute('set ran=1');
    expect(reply.content).toMatchObject({ status: 'error', ename: 'InterruptedError' });
    expect(handler.variables.has('ran')).toBe(false);
    expect((await client.execute('set ran=1')).reply.content.status).toBe('ok');
  });

  test('a signal does not interrupt a cell that arrives much later', async () => {
    const { client, kernel } = await startEcho();
    await kernel.interrupt();
    // Twice the default delay.
    await delay(100);
    expect((await client.execute('out a')).reply.content.status).toBe('ok');
  });

  test('a signal for a running cell is not kept for the next one', async () => {
    const { client, kernel } = await startEcho();
    const running = await client.send('shell', 'execute_request', { code: 'sleep 60000' });
    await client.next(({ parent, type }) => parent === running && type === 'execute_input');
    await kernel.interrupt();
    await client.reply(running);
    expect((await client.execute('out a')).reply.content.status).toBe('ok');
  });

  test('an interrupt without a running cell is answered', async () => {
    const { client } = await startEcho();
    expect((await client.request('control', 'interrupt_request')).content).toEqual({ status: 'ok' });
    expect((await client.execute('out a')).reply.content.status).toBe('ok');
  });
});

describe('complete and inspect', () => {
  test('count in code points', async () => {
    const { client } = await startEcho();
    const { content } = await client.request('shell', 'complete_request', { code: '😀 re😀', cursor_pos: 4 });
    expect(content).toEqual({
      status: 'ok',
      matches: ['result'],
      cursor_start: 2,
      cursor_end: 4,
      metadata: {
        _jupyter_types_experimental: [
          { text: 'result', type: 'keyword', signature: 'result text', start: 2, end: 4 },
        ],
      },
    });
  });

  test('inspect finds something, or nothing', async () => {
    const { client } = await startEcho();
    const found = await client.request('shell', 'inspect_request', {
      code: '😀out',
      cursor_pos: 4,
      detail_level: 1,
    });
    expect(found.content).toEqual({
      status: 'ok',
      found: true,
      data: plain('out: a command, detail 1'),
      metadata: {},
    });
    const none = await client.request('shell', 'inspect_request', { code: 'zzz', cursor_pos: 3 });
    expect(none.content).toEqual({ status: 'ok', found: false, data: {}, metadata: {} });
  });

  test('is_complete answers complete, incomplete or invalid', async () => {
    const { client } = await startEcho();
    const ask = async (code: string) =>
      (await client.request('shell', 'is_complete_request', { code })).content;
    expect(await ask('out (')).toEqual({ status: 'incomplete', indent: '  ' });
    expect([await ask('out'), await ask('|')]).toEqual([{ status: 'complete' }, { status: 'invalid' }]);
  });
});

test.each<[string, Readonly<Record<string, unknown>>, unknown]>([
  ['by its id', { cellId: 'cell-7' }, { client: 's', cell: 'cell-7' }],
  ['not at all', {}, null],
  ['by an invalid id', { cellId: 7 }, null],
])('the handler gets the origin of a cell identified %s', async (_, metadata, origin) => {
  const { client } = await startEcho();
  const id = await client.send('shell', 'execute_request', { code: 'origin' }, { metadata });
  expect((await client.outputs(id)).map(shape)).toContainEqual(['stream', 'stdout', JSON.stringify(origin)]);
});

describe('stdin', () => {
  const asking = async (client: Client, code: string, options = {}) => {
    const id = await client.send('shell', 'execute_request', { code, allow_stdin: true, ...options });
    return {
      id,
      question: await client.next(({ type, parent }) => type === 'input_request' && parent === id),
    };
  };

  test('asks the client that runs the cell, and continues with its answer', async () => {
    const { client, kernel } = await startEcho();
    const other = await connect(kernel);
    const { id, question } = await asking(client, 'ask your name');
    expect(question.content).toEqual({ prompt: 'your name', password: false });
    await other.send('stdin', 'input_reply', { value: 'intruder' });
    await client.send('stdin', 'input_reply', { value: 'late' }, { parent: { msg_id: 'earlier' } });
    await client.send('stdin', 'input_reply', { value: 7 });
    await client.send('stdin', 'input_reply', { value: 'Ada' }, { parent: { msg_id: question.id } });
    expect((await client.outputs(id)).map(shape)).toContainEqual(['stream', 'stdout', 'got Ada']);
    expect(other.seen.filter(({ channel }) => channel === 'stdin')).toEqual([]);
  });

  test('accepts an answer without a parent, and marks passwords', async () => {
    const { client } = await startEcho();
    const { id, question } = await asking(client, 'secret token');
    expect(question.content).toEqual({ prompt: 'token', password: true });
    await client.send('stdin', 'input_reply', { value: 't' });
    expect((await client.outputs(id)).map(shape)).toContainEqual(['stream', 'stdout', 'got t']);
  });

  test('fails if the client does not allow input', async () => {
    const { client } = await startEcho();
    const { reply } = await client.execute('ask name', { allow_stdin: false });
    expect(reply.content).toMatchObject({ status: 'error', ename: 'InputUnavailableError' });
    expect(reply.content.traceback).toEqual([
      'InputUnavailableError: This front end does not allow a cell to ask for input',
      'Run the cell in a notebook or a console, or give the value in the cell.',
    ]);
  });

  test('an interrupt ends the wait, and a late answer is ignored', async () => {
    const { client, lines } = await startEcho();
    const { id } = await asking(client, 'ask name');
    await client.request('control', 'interrupt_request');
    expect((await client.reply(id)).content).toMatchObject({ ename: 'InterruptedError' });
    await client.send('stdin', 'input_reply', { value: 'late' });
    await client.send('stdin', 'nonsense', {});
    const { id: next } = await asking(client, 'ask again');
    await client.send('stdin', 'input_reply', { value: 'Bo' });
    expect((await client.outputs(next)).map(shape)).toContainEqual(['stream', 'stdout', 'got Bo']);
    expect(lines).toEqual([
      'ignored an input_reply: no cell is asking',
      'ignored a message on stdin: its type "nonsense" does not belong there',
    ]);
  });
});

describe('comms', () => {
  test('carry data and buffers both ways, and are listed while open', async () => {
    const { client, handler } = await startEcho();
    const open = { comm_id: 'c1', target_name: 'echo', data: { x: 1 } };
    const opened = await client.send('shell', 'comm_open', open, { buffers: [Buffer.from('b')] });
    expect((await client.outputs(opened)).map(shape)).toEqual([
      'busy',
      ['comm_msg', 'c1', { opened: { x: 1 } }],
      'idle',
    ]);
    const message = { comm_id: 'c1', data: { y: 2 } };
    const sent = await client.send('shell', 'comm_msg', message, {
      buffers: [Buffer.from([1]), Buffer.from([2])],
    });
    const outputs = await client.outputs(sent);
    const [answer] = outputs;
    expect(answer).toMatchObject({
      type: 'comm_msg',
      content: { data: { echo: { y: 2 } } },
      metadata: { count: 2 },
    });
    expect(answer?.buffers).toEqual([Buffer.from([2]), Buffer.from([1])]);
    // The kernel never reports busy.
    expect(outputs.slice(1).map(shape)).toEqual(['idle']);
    const list = async (content: object) =>
      (await client.request('shell', 'comm_info_request', { ...content })).content;
    expect(await list({})).toEqual({ status: 'ok', comms: { c1: { target_name: 'echo' } } });
    expect(await list({ target_name: 'other' })).toEqual({ status: 'ok', comms: {} });
    await client.outputs(await client.send('shell', 'comm_close', { comm_id: 'c1', data: { why: 'done' } }));
    expect(await list({})).toEqual({ status: 'ok', comms: {} });
    expect(handler.variables.get('closed')).toBe('{"why":"done"}');
  });

  test('receive a message sent right after opening', async () => {
    const { client, lines } = await startEcho();
    await client.send('shell', 'comm_open', { comm_id: 'c1', target_name: 'echo', data: {} });
    const sent = await client.send('shell', 'comm_msg', { comm_id: 'c1', data: 1 });
    await client.send('shell', 'comm_close', { comm_id: 'c1', data: {} });
    expect((await client.outputs(sent)).map(shape)).toEqual(['idle']);
    const { outputs } = await client.execute('get closed');
    expect(outputs.map(shape)).toContainEqual(['execute_result', plain('{}'), {}, {}, 1]);
    expect(lines).toEqual(['dropped a message to a closed comm']);
  });

  test('can be closed by the kernel', async () => {
    const { client } = await startEcho();
    const opened = await client.send('shell', 'comm_open', { comm_id: 'c1', target_name: 'echo', data: {} });
    await client.outputs(opened);
    const sent = await client.send('control', 'comm_msg', { comm_id: 'c1', data: 'bye' });
    expect((await client.outputs(sent)).map(shape)).toEqual([['comm_close', 'c1', { bye: true }], 'idle']);
  });

  test.each(['unknown', 'failing'])('for the target %s are closed at once', async target_name => {
    const { client } = await startEcho();
    const id = await client.send('shell', 'comm_open', { comm_id: 'c1', target_name, data: {} });
    expect((await client.outputs(id)).map(shape)).toEqual(['busy', ['comm_close', 'c1', {}], 'idle']);
  });

  test('that were never opened are ignored with a log line', async () => {
    const { client, lines } = await startEcho();
    for (const type of ['comm_msg', 'comm_close']) {
      const id = await client.send('shell', type, { comm_id: 'nobody', data: {} });
      expect((await client.outputs(id)).map(shape).at(-1)).toBe('idle');
    }
    expect(lines).toEqual([
      'ignored a comm_msg: no comm with this id is open',
      'ignored a comm_close: no comm with this id is open',
    ]);
  });
});

describe('startup and shutdown', () => {
  test('answers a client that reconnects under its identity while its old connection is open', async () => {
    const { kernel } = await startEcho();
    for (let visit = 1; visit <= 2; visit += 1) {
      const client = new Client(kernel.connection, 'same');
      onTestFinished(() => client.close());
      await client.subscribe();
      expect((await client.execute('out a')).reply.content).toMatchObject({
        status: 'ok',
        execution_count: visit,
      });
    }
  });

  test('answers kernel_info before the handler exists, and other requests once it does', async () => {
    let arrive: (handler: EchoHandler) => void = () => undefined;
    const handler = new Promise<EchoHandler>(resolve => {
      arrive = resolve;
    });
    const kernel = await startKernel(LOCAL, () => handler, { info: ECHO_INFO, log: () => undefined });
    const client = await connect(kernel);
    const cell = client.execute('out a');
    const info = await client.request('shell', 'kernel_info_request');
    expect(info.content).toEqual({ status: 'ok', protocol_version: '5.4', debugger: false, ...ECHO_INFO });
    arrive(new EchoHandler());
    expect((await cell).reply.content.status).toBe('ok');
    await kernel.shutdown(false);
  });

  test('answers usage_request with its memory and that of the machine, without a handler', async () => {
    const kernel = await startKernel(LOCAL, () => new Promise(() => undefined), { log: () => undefined });
    const client = await connect(kernel);
    const { type, content } = await client.request('control', 'usage_request');
    const { kernel_cpu, kernel_memory, cpu_count, host_virtual_memory, ...rest } = content;
    expect([type, rest]).toEqual(['usage_reply', { status: 'ok', hostname: hostname(), pid: process.pid }]);
    const memory = host_virtual_memory as Readonly<Record<string, number>>;
    const numbers = [kernel_cpu, kernel_memory, cpu_count, ...Object.values(memory)].map(Number);
    expect(numbers.every(each => Number.isFinite(each) && each > 0)).toBe(true);
    expect([memory.total, memory.active]).toEqual([memoryAtMost(), memoryAtMost() - Number(memory.free)]);
    await kernel.shutdown(false);
  });

  test('creates the handler once, after answering kernel_info', async () => {
    const events: string[] = [];
    const create = () => {
      events.push('created');
      return new EchoHandler();
    };
    const kernel = await startKernel(LOCAL, create, { info: ECHO_INFO, log: () => undefined });
    const client = await connect(kernel);
    expect(events).toEqual([]);
    await client.outputs(await client.send('shell', 'kernel_info_request', {}));
    await client.execute('out a');
    await client.request('control', 'kernel_info_request');
    await kernel.shutdown(false);
    expect(events).toEqual(['created']);
  });

  test('shuts down without creating its handler if it got no request', async () => {
    const create = () => Promise.reject(new Error('created'));
    const lines: string[] = [];
    const kernel = await startKernel(LOCAL, create, { info: ECHO_INFO, log: line => lines.push(line) });
    await kernel.shutdown(false);
    expect(lines).toEqual([]);
  });

  test('answers every request with the reason if the handler cannot be created', async () => {
    const lines: string[] = [];
    const broken = () => Promise.reject(new Error('no profile'));
    const kernel = await startKernel(LOCAL, broken, { log: line => lines.push(line) });
    const client = await connect(kernel);
    expect((await client.execute('out a')).reply.content).toMatchObject({
      status: 'error',
      evalue: 'no profile',
    });
    const failed = {
      status: 'error',
      ename: 'Error',
      evalue: 'no profile',
      traceback: ['Error: no profile'],
    };
    expect((await client.request('shell', 'kernel_info_request')).content).toEqual(failed);
    expect((await client.request('shell', 'complete_request', { code: '' })).content).toEqual(failed);
    expect((await client.request('shell', 'is_complete_request', { code: '' })).content).toEqual({
      status: 'unknown',
    });
    await kernel.shutdown(false);
    expect(lines[0]).toBe('the kernel cannot run cells: no profile');
  });

  test('welcomes each subscription on its topic, even one that another client made before', async () => {
    const { kernel } = await startEcho();
    const other = new Client(kernel.connection);
    const welcome = await other.subscribe('kernel.');
    expect(welcome).toMatchObject({
      channel: 'iopub',
      content: { subscription: 'kernel.' },
      parent: undefined,
    });
    expect((await other.execute('out a')).outputs.length).toBe(4);
    other.close();
    const again = await connect(kernel);
    expect((await again.execute('out a')).outputs.length).toBe(4);
  });

  test('welcomes a client that waited for the kernel before publishing anything', async () => {
    for (let round = 0; round < 40; round++) {
      const connection = await freeConnection();
      const waiting = new Subscriber({ linger: 0, reconnectInterval: 1 });
      waiting.connect(`tcp://127.0.0.1:${connection.iopub_port}`);
      waiting.subscribe();
      const kernel = await startKernel(connection, () => new EchoHandler(), { info: ECHO_INFO });
      const [, , , header] = await waiting.receive();
      waiting.close();
      await kernel.shutdown(false);
      expect(JSON.parse(String(header)).msg_type).toBe('iopub_welcome');
    }
  });

  test.each([true, false])(
    'shutdown_request is answered, published and carried out, restart %s',
    async restart => {
      const { client, kernel, handler } = await startEcho();
      const running = await client.send('shell', 'execute_request', { code: 'sleep 10000' });
      await client.next(({ parent, type }) => parent === running && type === 'execute_input');
      const id = await client.send('control', 'shutdown_request', { restart });
      expect(await client.reply(id)).toMatchObject({
        channel: 'control',
        content: { status: 'ok', restart },
      });
      expect((await client.outputs(id)).map(shape)).toEqual([
        'busy',
        ['shutdown_reply', 'ok', restart],
        'idle',
      ]);
      expect((await client.reply(running)).content).toMatchObject({ ename: 'InterruptedError' });
      expect(await kernel.closed).toEqual({ restart });
      expect(handler.shutDownWith).toBe(restart);
    },
  );
});

test('history_request masks secrets as the history file does', async () => {
  const { client } = await startEcho();
  await client.execute('out hush now');
  const asked = { hist_access_type: 'tail', n: 1, raw: true };
  const { content } = await client.request('shell', 'history_request', asked);
  expect(content.history).toEqual([[1, 1, 'out *** now']]);
});

test('history_request lists executed cells, with results', async () => {
  const { client } = await startEcho();
  for (const code of ['result a', 'out b', 'result a']) await client.execute(code);
  await client.execute('out hidden', { store_history: false });
  const list = async (content: object) =>
    (await client.request('shell', 'history_request', { raw: true, output: false, ...content })).content
      .history;
  expect(await list({ hist_access_type: 'tail', n: 2, output: true })).toEqual([
    [1, 2, ['out b', null]],
    [1, 3, ['result a', 'a']],
  ]);
  expect(await list({ hist_access_type: 'search', pattern: 'res*', unique: true })).toEqual([
    [1, 3, 'result a'],
  ]);
  expect(await list({ hist_access_type: 'range', session: 0, start: 1, stop: 2 })).toEqual([
    [1, 1, 'result a'],
  ]);
});
