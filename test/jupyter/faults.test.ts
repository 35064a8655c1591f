import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Dealer, Subscriber, XSubscriber } from 'zeromq';
import { endpoint } from '../../kernel/jupyter/connection.js';
import type { RunningKernel } from '../../kernel/jupyter/jupyter-server.js';
import type { Client } from './client.js';
import { connect, startEcho } from './kernel-under-test.js';

/** Fails unless the kernel still runs cells, reports its name on both channels and answers the heartbeat. */
async function expectAlive(client: Client): Promise<void> {
  const { reply, outputs } = await client.execute('result alive');
  expect(reply.content.status).toBe('ok');
  expect(outputs.map(({ type }) => type)).toEqual(['status', 'execute_input', 'execute_result', 'status']);
  expect((await client.request('shell', 'kernel_info_request')).content.implementation).toBe('echo');
  expect((await client.request('control', 'kernel_info_request')).content.implementation).toBe('echo');
  expect(await client.ping('ping')).toBe('ping');
}

/** Returns unique content, so that the signature is new. */
const unique = () => JSON.stringify({ unique: randomUUID() });

const CHANNELS = ['shell', 'control', 'stdin'] as const;

describe('the kernel keeps answering after', () => {
  const cases: readonly (readonly [string, (client: Client) => Uint8Array[], string])[] = [
    [
      'random bytes',
      () => [randomBytes(100), randomBytes(10), randomBytes(0)],
      'no-delimiter: no <IDS|MSG> frame',
    ],
    [
      'a delimiter and nothing else',
      () => [Buffer.from('<IDS|MSG>')],
      'too-few-frames: 0 frames after the delimiter, not 5 or more',
    ],
    [
      'a flipped byte of the signature',
      client => flip(client.frames(randomUUID(), 'execute_request', { code: 'out evil' }), 1),
      'bad-signature: the signature does not match',
    ],
    [
      'a flipped byte of the content',
      client => flip(client.frames(randomUUID(), 'execute_request', { code: 'out evil' }), 5),
      'bad-signature: the signature does not match',
    ],
    [
      'signed nonsense in place of JSON',
      client => client.sign(['{', '{}', '{}', unique()]),
      'malformed-json: the header is not a JSON object in UTF-8',
    ],
    [
      'JSON that nests a hundred thousand deep',
      client => client.sign(['['.repeat(100_000) + ']'.repeat(100_000), '{}', '{}', unique()]),
      'malformed-json: the header is not a JSON object in UTF-8',
    ],
    [
      'an empty header',
      client => client.sign(['{}', '{}', '{}', unique()]),
      'malformed-header: the header lacks a msg_id, msg_type, session or version',
    ],
    [
      'version 6',
      client =>
        client.frames(randomUUID(), 'execute_request', { code: 'out evil' }, { header: { version: '6.0' } }),
      "unsupported-version: the protocol version is not 5.x as this kernel's 5.4",
    ],
    [
      'a frame of 64 MiB under another key',
      client => {
        const frames = client.frames('m', 'comm_msg', {}, { buffers: [Buffer.alloc(64 * 1024 * 1024)] });
        return frames.with(1, Buffer.from('0'.repeat(64)));
      },
      'bad-signature: ',
    ],
    [
      'ten thousand frames',
      client =>
        client.frames(
          'm',
          'comm_msg',
          {},
          { buffers: Array.from({ length: 10_000 }, () => Buffer.alloc(0)) },
        ),
      'too-many-frames: ',
    ],
  ];
  test.each(cases)('%s, dropped with a log line', async (_, frames, reason) => {
    const { client, lines } = await startEcho();
    for (const channel of CHANNELS) await client.sendFrames(channel, frames(client));
    await logged(client, lines, CHANNELS.length);
    expect(lines.map(line => line.slice(0, line.indexOf(': '))).toSorted()).toEqual([
      'dropped a message on control',
      'dropped a message on shell',
      'dropped a message on stdin',
    ]);
    for (const line of lines)
      expect(line.slice(line.indexOf(': ') + 2, line.indexOf(': ') + 2 + reason.length)).toBe(reason);
    expect(client.seen.filter(({ content }) => content.text === 'evil')).toEqual([]);
    await expectAlive(client);
  });

  test('a replayed message, dropped with a log line', async () => {
    const { client, lines } = await startEcho();
    const frames = client.frames('m', 'execute_request', { code: 'out once' });
    await client.sendFrames('shell', frames);
    await client.reply('m');
    for (const channel of CHANNELS) await client.sendFrames(channel, frames);
    await logged(client, lines, CHANNELS.length);
    for (const line of lines)
      expect(line).toContain('replayed-signature: a message with this signature was received');
    await expectAlive(client);
    expect(client.seen.filter(({ content }) => content.text === 'once').length).toBe(1);
  });

  test.each([
    ...['__proto__', 'constructor', 'toString', 'toLocaleString', 'valueOf', 'hasOwnProperty'],
    ...[
      'isPrototypeOf',
      '__defineGetter__',
      'constructor_request',
      '__proto___request',
      'request',
      '_request',
    ],
  ])('a message of the type %s, which gets an error on shell and control', async type => {
    const { client } = await startEcho();
    for (const channel of ['shell', 'control'] as const) {
      const { content } = await client.request(channel, type, {});
      expect([content.status, content.ename]).toEqual(['error', 'UnknownTypeError']);
    }
    await expectAlive(client);
  });

  test('a request for a subshell, which gets an error', async () => {
    const { client } = await startEcho();
    const header = { subshell_id: 'worker-1' };
    const id = await client.send('shell', 'execute_request', { code: 'out ran' }, { header });
    const { content } = await client.reply(id);
    const evalue = 'This kernel has no subshell "worker-1": it runs every cell in its main shell';
    expect(content).toMatchObject({ status: 'error', ename: 'UnknownSubshellError', evalue });
    expect((await client.outputs(id)).map(({ type }) => type)).toEqual(['status', 'error', 'status']);
    const main = { header: { subshell_id: null } };
    expect((await client.request('shell', 'execute_request', { code: 'out a' }, main)).content.status).toBe(
      'ok',
    );
  });

  test('a cell of 140 MB, which gets an error', async () => {
    const { client } = await startEcho();
    const code = 'x'.repeat(140_000_000);
    const { content } = await client.request('shell', 'execute_request', { code });
    expect(content).toMatchObject({ status: 'error', ename: 'OversizedRequestError' });
    expect(content.evalue).toMatch(/^The message is too large: 140000\d{3} bytes, over 33554432$/);
    await expectAlive(client);
  });

  test('messages of unknown types, which get errors', async () => {
    const { client, lines } = await startEcho();
    for (const type of ['nonsense', 'a\u001b[31m\nforged: line']) {
      const id = await client.send('shell', type, {});
      const outputs = await client.outputs(id);
      expect(outputs.map(({ content }) => content.execution_state)).toEqual(['busy', 'idle']);
      const { type: replyType, content: reply } = await client.reply(id);
      expect([replyType, reply.status, reply.ename]).toEqual([`${type}_reply`, 'error', 'UnknownTypeError']);
    }
    for (const channel of ['shell', 'control'] as const) {
      const id = await client.send(channel, 'debug_request', { type: 'request', command: 'attach' });
      const { type, content } = await client.reply(id);
      const evalue = 'This kernel does not answer messages of the type "debug_request"';
      expect([type, content]).toEqual([
        'debug_reply',
        { status: 'error', ename: 'UnknownTypeError', evalue, traceback: [`UnknownTypeError: ${evalue}`] },
      ]);
      expect((await client.outputs(id)).map(each => each.content.execution_state)).toEqual(['busy', 'idle']);
    }
    const unknown = (type: string) =>
      `a message of the type ${type} failed: This kernel does not answer messages of the type ${type}`;
    expect(lines).toEqual([
      unknown('"nonsense"'),
      unknown('"a\\u001b[31m\\nforged: line"'),
      unknown('"debug_request"'),
      unknown('"debug_request"'),
    ]);
    await expectAlive(client);
  });

  test('a message of 513 MiB, which closes its connection', async () => {
    const { client, lines } = await startEcho();
    await client.reply(await client.send('shell', 'execute_request', { code: 'out 1' }));
    await client.sendFrames(
      'shell',
      client.frames('m', 'comm_msg', {}, { buffers: [Buffer.alloc(513 * 2 ** 20)] }),
    );
    await expectAlive(client);
    expect(lines).toEqual([]);
  });

  test('a cell of 33 MiB, which gets an error', async () => {
    const { client, lines } = await startEcho();
    await client.reply(await client.send('shell', 'execute_request', { code: 'out 1' }));
    const code = 'x'.repeat(33 * 1024 * 1024);
    const id = await client.send('shell', 'execute_request', { code });
    const { type, content } = await client.reply(id);
    const evalue = String(content.evalue);
    expect(evalue).toMatch(/^The message is too large: \d+ bytes, over 33554432$/);
    const error = { ename: 'OversizedRequestError', evalue, traceback: [`OversizedRequestError: ${evalue}`] };
    expect([type, content]).toEqual([
      'execute_reply',
      { status: 'error', ...error, execution_count: 1, user_expressions: {}, payload: [] },
    ]);
    const outputs = await client.outputs(id);
    expect(outputs.map(output => output.content.execution_state ?? output.content)).toEqual([
      'busy',
      error,
      'idle',
    ]);
    expect(lines).toEqual([`a message of the type "execute_request" failed: ${evalue}`]);
    await expectAlive(client);
  });

  test('a frame on iopub that is not a subscription', async () => {
    const { client, kernel, lines } = await startEcho();
    const subscriber = new XSubscriber({ linger: 0 });
    subscriber.connect(endpoint(kernel.connection, kernel.connection.iopub_port));
    for (const frame of [randomBytes(3).fill(7), Buffer.alloc(0)]) await subscriber.send([frame, frame]);
    await logged(client, lines, 2);
    expect(lines).toEqual(Array(2).fill('ignored a message on iopub: it is not a subscription'));
    subscriber.close();
    await expectAlive(client);
  });
});

describe('an invalid request gets an error', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ['execute_request', {}, 'code must be a string'],
    ['execute_request', { code: { deep: [] } }, 'code must be a string'],
    ['execute_request', { code: 'out x', silent: 1 }, 'silent must be true or false'],
    ['complete_request', { code: 'x', cursor_pos: [] }, 'cursor_pos must be a whole number'],
    ['inspect_request', { code: null }, 'code must be a string'],
    ['history_request', { hist_access_type: 1 }, 'hist_access_type must be a string'],
    ['shutdown_request', { restart: 'no' }, 'restart must be true or false'],
  ];
  test.each(cases)('%s %j', async (type, content, evalue) => {
    const { client } = await startEcho();
    const id = await client.send('shell', type, { ...content });
    const error = { ename: 'InvalidRequestError', evalue, traceback: [`InvalidRequestError: ${evalue}`] };
    const runs = type === 'execute_request';
    expect((await client.reply(id)).content).toEqual({
      status: 'error',
      ...error,
      ...(runs ? { execution_count: 0, user_expressions: {}, payload: [] } : {}),
    });
    const published = (await client.outputs(id)).map(({ content }) => content.execution_state ?? content);
    expect(published).toEqual(runs ? ['busy', error, 'idle'] : ['busy', 'idle']);
    await expectAlive(client);
  });
});

test('a thousand kernel_info_requests are answered in order', async () => {
  const { client } = await startEcho();
  const ids: string[] = [];
  for (let i = 0; i < 1000; i += 1) ids.push(await client.send('shell', 'kernel_info_request', {}));
  await client.outputs(ids.at(-1) ?? '');
  await client.reply(ids.at(-1) ?? '');
  const replies = client.seen.filter(({ channel }) => channel === 'shell').map(({ parent }) => parent);
  const idle = client.seen
    .filter(({ content }) => content.execution_state === 'idle')
    .map(({ parent }) => parent);
  expect(replies).toEqual(ids);
  expect(idle).toEqual(ids);
  await expectAlive(client);
});

test('a flood of cells is answered once each, and none runs after an interrupt', async () => {
  const { client } = await startEcho();
  const ids: string[] = [];
  const cell = async (code: string) => ids.push(await client.send('shell', 'execute_request', { code }));
  for (let i = 0; i < 250; i += 1) await cell('out a');
  await cell('sleep 10000');
  for (let i = 0; i < 250; i += 1) await cell('out b');
  await client.next(({ content }) => content.execution_count === 251);
  await client.request('control', 'interrupt_request');
  const replies = await Promise.all(ids.map(id => client.reply(id)));
  const statuses = replies.map(({ content }) => content.status);
  expect(statuses).toEqual([...Array(250).fill('ok'), 'error', ...Array(250).fill('aborted')]);
  const repeated = client.seen.filter(({ type }) => type === 'execute_reply').length;
  expect(repeated).toBe(501);
  await expectAlive(client);
});

test('twenty thousand lines of output arrive in order', async () => {
  const { client } = await startEcho();
  const code = Array.from({ length: 20_000 }, (_, i) => `out ${i}`).join('\n');
  const { outputs } = await client.execute(code);
  const texts = outputs.filter(({ type }) => type === 'stream').map(({ content }) => Number(content.text));
  expect(texts.length).toBe(20_000);
  expect(texts.every((text, i) => text === i)).toBe(true);
});

test('a client that vanishes while its cell runs does not affect others', async () => {
  const { client, kernel } = await startEcho();
  const gone = await connect(kernel);
  await gone.send('shell', 'execute_request', { code: 'sleep 30\nask name', allow_stdin: true });
  await client.next(({ type }) => type === 'execute_input');
  gone.close();
  await client.request('control', 'interrupt_request');
  await expectAlive(client);
});

test('garbage on the heartbeat, even 64 MiB, does not stop it', async () => {
  const { client, kernel } = await startEcho();
  await garbageOnHeartbeat(kernel);
  await expectAlive(client);
});

test('a subscriber that never reads does not delay others', async () => {
  const { client, kernel } = await startEcho();
  const idle = new Subscriber({ linger: 0, receiveHighWaterMark: 1 });
  idle.connect(endpoint(kernel.connection, kernel.connection.iopub_port));
  idle.subscribe();
  await client.execute(Array.from({ length: 5_000 }, () => 'out a').join('\n'));
  idle.close();
  await expectAlive(client);
});

async function garbageOnHeartbeat({ connection }: RunningKernel): Promise<void> {
  for (const frames of [
    [randomBytes(10)],
    [randomBytes(10), randomBytes(10)],
    [Buffer.alloc(64 * 1024 * 1024)],
  ]) {
    const socket = new Dealer({ linger: 1000 });
    socket.connect(endpoint(connection, connection.hb_port));
    await socket.send(frames);
    socket.close();
  }
}

function flip(frames: readonly Uint8Array[], index: number): Uint8Array[] {
  const copy = frames.map(frame => Buffer.from(frame));
  const frame = copy[index] ?? Buffer.alloc(1);
  frame[3] = (frame[3] ?? 0) ^ 1;
  return copy;
}

/** Waits until the kernel has logged this many lines; it works through its sockets while it answers. */
async function logged(client: Client, lines: readonly string[], count: number): Promise<void> {
  while (lines.length < count) await client.request('shell', 'kernel_info_request');
}
