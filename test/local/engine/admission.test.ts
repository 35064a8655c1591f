import { expect, onTestFinished, test, vi } from 'vitest';
import { Admission, type Lease } from '../../../kernel/local/engine/admission.js';
import { type RequestContext, watchUnseen } from '../../../kernel/local/engine/engine-request.js';

const bounds = { queue: 20, long: 2, shortRows: 100 };
const long = { rows: 101 };

/** A test bench for admission to `workers` workers: queries begin when admitted and end on request. */
class Hall {
  readonly admission: Admission<number>;
  /** Names of the queries that have begun, in order. */
  readonly begun: string[] = [];
  readonly #leases = new Map<string, Lease<number>>();
  readonly #before = new Map<string, () => number>();

  constructor(workers: number) {
    this.admission = new Admission(
      Array.from({ length: workers }, (_, index) => index),
      bounds,
    );
  }

  /** Queues a query; returns `begun` or the code of its refusal. */
  async ask(name: string, context: RequestContext = {}): Promise<string> {
    const watch = { ...watchUnseen, waits: (before: () => number) => this.#before.set(name, before) };
    try {
      this.#leases.set(name, await this.admission.acquire({ watch, ...context }));
      this.begun.push(name);
      return 'begun';
    } catch (error) {
      return (error as { code: string }).code;
    }
  }

  async end(name: string): Promise<void> {
    this.#leases.get(name)?.release();
    await settled();
  }

  before(name: string): number | undefined {
    return this.#before.get(name)?.();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test('a short query starts at once, however many long ones run and wait', async () => {
  const hall = new Hall(4);
  for (let index = 0; index < 8; index++) void hall.ask(`long ${index}`, long);
  await settled();
  expect(await Promise.all([hall.ask('short 1', { rows: 100 }), hall.ask('short 2')])).toEqual([
    'begun',
    'begun',
  ]);
  expect(hall.begun).toEqual(['long 0', 'long 1', 'short 1', 'short 2']);
});

test('a long query starts only when another long one ends', async () => {
  const hall = new Hall(4);
  for (const name of ['a', 'b', 'c', 'd']) void hall.ask(name, name < 'c' ? {} : long);
  await settled();
  void hall.ask('e', long);
  await hall.end('a');
  expect(hall.begun).toEqual(['a', 'b', 'c', 'd']);
  await hall.end('c');
  expect(hall.begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('clients take turns, and each learns how many come first', async () => {
  const hall = new Hall(3);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
    void hall.ask(name, { ...long, client: name.slice(0, 1) });
  await settled();
  expect(hall.begun).toEqual(['a1', 'a2']);
  expect(['b1', 'c1', 'b2', 'a3', 'a4'].map(name => hall.before(name))).toEqual([0, 1, 2, 3, 4]);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) await hall.end(name);
  expect(hall.begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a query that runs longer than expected gives up its short slot', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const hall = new Hall(4);
  for (const name of ['a', 'b', 'c']) void hall.ask(name);
  await settled();
  expect(hall.begun).toEqual(['a', 'b']);
  await vi.advanceTimersByTimeAsync(250);
  expect(hall.begun).toEqual(['a', 'b', 'c']);
  void hall.ask('long', long);
  await hall.end('a');
  expect(hall.begun).toEqual(['a', 'b', 'c', 'long']);
});

test('an interrupt admits the next query before the engine reacts to it', async () => {
  const hall = new Hall(4);
  const abort = new AbortController();
  for (const name of ['a', 'b', 'c']) void hall.ask(name, { ...long, signal: abort.signal });
  const last = hall.ask('d', long);
  await settled();
  abort.abort();
  expect(await last).toBe('begun');
  expect(hall.begun).toEqual(['a', 'b', 'd']);
});

test('a waiting query ends with its signal, excess ones are refused, and closing refuses all', async () => {
  const hall = new Hall(2);
  const abort = new AbortController();
  const gone = hall.ask('gone', { ...long, signal: AbortSignal.any([abort.signal]) });
  const first = hall.ask('first', long);
  const signal = abort.signal;
  const waiting = hall.ask('waiting', { ...long, signal });
  abort.abort();
  expect(await Promise.all([gone, first, waiting, hall.ask('late', { signal })])).toEqual([
    'begun',
    'begun',
    'query-canceled',
    'query-canceled',
  ]);
  const others = Array.from({ length: 21 }, (_, index) => hall.ask(`other ${index}`, long));
  expect(await others[20]).toBe('engine-busy');
  hall.admission.close();
  expect((await Promise.all(others.slice(0, 20))).every(code => code === 'query-canceled')).toBe(true);
  expect(await hall.ask('after')).toBe('query-canceled');
});

test('a worker is released only once', async () => {
  const hall = new Hall(1);
  await hall.ask('a');
  const waiting = [hall.ask('b'), hall.ask('c')];
  await hall.end('a');
  await hall.end('a');
  expect([hall.begun, await waiting[0]]).toEqual([['a', 'b'], 'begun']);
});
