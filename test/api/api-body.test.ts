import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readBody } from '../../kernel/api/api-body.js';
import { AccessToken } from '../../kernel/api/profile.js';
import { AplKernelError } from '../../kernel/errors.js';
import { failureOf, request, secret, useService } from './connections.js';

const connections = useService();
const { connect } = connections;

const words = Array.from({ length: 100_000 }, (_, index) => String(index)).join(',');
const long = Buffer.from(`{"words":[${words}]}`);

/** A receiver of long bodies that records the chunks it gets and how often it is called. */
function taker(fails?: AplKernelError) {
  const pieces: Uint8Array[] = [];
  let calls = 0;
  return {
    pieces,
    get calls() {
      return calls;
    },
    receive: async (body: AsyncIterable<Uint8Array>) => {
      calls++;
      for await (const piece of body) {
        pieces.push(piece);
        if (fails !== undefined) throw fails;
      }
    },
  };
}

const unreadable = new AplKernelError('decode', 'it cannot be read', {});

describe('a long response with a receiver', () => {
  test.each(['identity', 'gzip'])('arrives in pieces (%s) and is not buffered', async coding => {
    connections.service.answer(() => ({
      headers: { 'content-encoding': coding },
      body: coding === 'gzip' ? gzipSync(long) : long,
    }));
    const { pieces, receive } = taker();
    const { body } = await connect().query({ ...request, receive });
    expect(Buffer.concat(pieces).equals(long)).toBe(true);
    expect(pieces.length).toBeGreaterThan(1);
    expect(body.length).toBe(0);
  });

  test('is returned whole if it is short', async () => {
    const took = taker();
    const { body } = await connect().query({ ...request, receive: took.receive });
    expect([body.length > 0, took.calls]).toEqual([true, 0]);
  });

  test("is still reported as a refusal with the service's message", async () => {
    connections.service.answer(() => ({ status: 400, body: { message: 'x'.repeat(100_000) } }));
    const took = taker();
    const error = await failureOf(connect().query({ ...request, receive: took.receive }));
    expect([error.message.includes('xxx'), took.calls]).toEqual([true, 0]);
  });

  test.each([
    ['if truncated', long.subarray(0, -1), 'truncated-answer'],
    ['if complete', long, 'decode'],
  ])('%s fails with the matching error if it cannot be decoded', async (_, body, code) => {
    connections.service.answer(() => ({ body }));
    const asked = connect().query({ ...request, receive: taker(unreadable).receive });
    await expect(asked).rejects.toMatchObject({ code });
  });

  test.each([
    ['a web page', Buffer.concat([Buffer.from('<html>'), long]), 'html-answer'],
    ['plain text', Buffer.concat([Buffer.from('words '), long]), 'not-json'],
  ])('that is %s is not passed to the receiver', async (_, body, code) => {
    connections.service.answer(() => ({ body }));
    const took = taker();
    const error = await failureOf(connect().query({ ...request, receive: took.receive }));
    expect([error.code, took.calls]).toEqual([code, 0]);
  });

  test('fails if the connection is lost midway', async () => {
    connections.service.answer(() => response => {
      response.writeHead(200, { 'content-length': long.length });
      response.write(long.subarray(0, 300_000), () => response.socket?.destroy());
    });
    const error = await failureOf(connect().query({ ...request, receive: taker().receive }));
    expect(error.code).toBe('truncated-answer');
  });

  test('can be interrupted', async () => {
    const abort = new AbortController();
    connections.service.answer(() => response => response.write(long.subarray(0, 300_000)));
    const receive = async (body: AsyncIterable<Uint8Array>) => {
      for await (const _ of body) abort.abort();
    };
    const error = await failureOf(connect().query({ ...request, receive }, abort.signal));
    expect(error.code).toBe('interrupted');
  });

  test('has the same size limit as any response', async () => {
    const attempt = {
      endpoint: { profileName: 'prod', url: 'http://x', token: new AccessToken(secret) },
      action: 'test',
      host: 'x',
    };
    const chunks = Array.from({ length: 40 }, () => Buffer.alloc(65_536, '{'));
    const rule = { attempt, maxBytes: 2 ** 20, cut: false, receive: taker().receive };
    const response = { headers: {}, body: Readable.from(chunks) } as unknown as Parameters<
      typeof readBody
    >[0];
    await expect(readBody(response, rule, new AbortController().signal)).rejects.toMatchObject({
      code: 'answer-too-large',
    });
    expect(response.body.destroyed).toBe(true);
  });
});
