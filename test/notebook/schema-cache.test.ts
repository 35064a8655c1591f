import { beforeEach, describe, expect, test } from 'vitest';
import type { Listed } from '../../kernel/api/api-notices.js';
import type { DatasetInfo } from '../../kernel/api/wire.js';
import { SchemaCache } from '../../kernel/notebook/schema-cache.js';

/** A request to the source, to be answered by the test. */
interface Question {
  readonly what: string;
  answer(...names: readonly string[]): void;
  refuse(): void;
}

let questions: Question[];
let milliseconds: number;
let cache: SchemaCache;

beforeEach(() => {
  questions = [];
  milliseconds = 0;
  const ask = <T>(what: string, answerOf: (name: string) => T): Promise<Listed<T>> =>
    new Promise((resolve, reject) => {
      const answer = (...names: readonly string[]) => resolve({ items: names.map(answerOf), notices: [] });
      questions.push({ what, answer, refuse: () => reject(new Error('refused')) });
    });
  const source = {
    datasets: () => ask('datasets', (name): DatasetInfo => ({ id: name, name, description: '' })),
    fields: (dataset: string) =>
      ask(dataset, name => ({ name, type: 'integer', unit: '', hidden: false, description: '' })),
  };
  cache = new SchemaCache(source, () => milliseconds);
});

const names = (found: readonly { readonly name: string }[]) => found.map(({ name }) => name);
const known = async () => names(await cache.knownDatasets());
const asked = () => questions.map(({ what }) => what);
const settled = () => new Promise(resolve => setImmediate(resolve));

async function answered(...found: readonly string[]): Promise<void> {
  questions.at(-1)?.answer(...found);
  await settled();
}

describe('a cached list', () => {
  test('is empty until the first response', async () => {
    expect(await known()).toEqual([]);
    await answered('web');
    expect(await known()).toEqual(['web']);
    expect(asked()).toEqual(['datasets']);
  });

  test('is awaited only if a timeout is given', async () => {
    const waiting = cache.knownDatasets(10_000);
    await settled();
    await answered('web');
    expect(names(await waiting)).toEqual(['web']);
    expect(names(await cache.knownFields('web', 1))).toEqual([]);
  });

  test('is requested once while a request is pending', async () => {
    await Promise.all([known(), known(), known()]);
    expect(asked()).toEqual(['datasets']);
  });

  test('is refetched after a minute, and the old one used meanwhile', async () => {
    await known();
    milliseconds = 1_000;
    await answered('web');
    milliseconds = 61_000;
    expect(await known()).toEqual(['web']);
    expect(asked().length).toBe(1);
    milliseconds = 61_001;
    expect(await known()).toEqual(['web']);
    expect(asked().length).toBe(2);
    await answered('web', 'logs');
    expect(await known()).toEqual(['web', 'logs']);
    expect(asked().length).toBe(2);
  });

  test('is requested again after a failure', async () => {
    await known();
    questions[0]?.refuse();
    await settled();
    expect(await known()).toEqual([]);
    expect(asked()).toEqual(['datasets', 'datasets']);
  });

  test('is separate for each dataset', async () => {
    await cache.knownFields('web');
    await answered('status');
    await cache.knownFields('logs');
    await answered('line');
    expect([names(await cache.knownFields('web')), names(await cache.knownFields('logs'))]).toEqual([
      ['status'],
      ['line'],
    ]);
    expect(asked()).toEqual(['web', 'logs']);
  });
});

describe('a fresh list', () => {
  test('is requested each time, then cached', async () => {
    for (const found of [['web'], ['web', 'logs']]) {
      const fresh = cache.datasets();
      await answered(...found);
      expect([names((await fresh).items), await known()]).toEqual([found, found]);
    }
    const fields = cache.fields('web');
    await answered('status');
    expect([names((await fields).items), names(await cache.knownFields('web'))]).toEqual([
      ['status'],
      ['status'],
    ]);
    expect(asked()).toEqual(['datasets', 'datasets', 'web']);
  });

  test('fails with its request, and the cached list stays', async () => {
    const first = cache.datasets();
    await answered('web');
    await first;
    const second = cache.datasets();
    questions.at(-1)?.refuse();
    await expect(second).rejects.toThrow('refused');
    expect(await known()).toEqual(['web']);
  });
});

describe('after clear()', () => {
  test('nothing is cached', async () => {
    await known();
    await answered('web');
    cache.clear();
    expect(await known()).toEqual([]);
    expect(asked()).toEqual(['datasets', 'datasets']);
  });

  test('the response to an earlier request is not cached', async () => {
    const background = cache.knownDatasets(10_000);
    const fresh = cache.datasets();
    cache.clear();
    for (const question of questions) question.answer('of before');
    expect([names(await background), names((await fresh).items)]).toEqual([[], ['of before']]);
    expect(await known()).toEqual([]);
  });
});
