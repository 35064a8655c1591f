import { describe, expect, test } from 'vitest';
import { readDatasets, readErrorBody, readStarredQuery, ShapeError } from '../../kernel/api/wire.js';

describe('an error body is', () => {
  test.each<readonly [unknown, unknown]>([
    [
      { code: 404, message: 'no' },
      { code: 404, message: 'no' },
    ],
    [{ message: 'rate limit exceeded' }, { code: '', message: 'rate limit exceeded' }],
    [{ error: 'said otherwise' }, { code: '', message: 'said otherwise' }],
    [
      {
        code: 400,
        message: 'm',
        detail: { errorType: 'e', line: 1, column: 2.5, message: 'd', hint: 'h', extra: 1 },
      },
      { code: 400, message: 'm', detail: { errorType: 'e', line: 1, message: 'd', hint: 'h' } },
    ],
    [{ code: 400 }, undefined],
    ['text', undefined],
    [null, undefined],
    [['message'], undefined],
  ])('%j -> %j', (value, expected) => expect(readErrorBody(value)).toEqual(expected));
});

const star = { kind: 'apl', name: 'n', who: 'u', metadata: { a: 'b' }, query: { apl: 'web', cursor: 'c' } };

describe('a starred query', () => {
  test('keeps what the API has and drops what it has not', () => {
    expect(readStarredQuery({ ...star, id: 's', dataset: 'd', other: 1 })).toEqual({
      ...star,
      id: 's',
      dataset: 'd',
    });
  });

  test.each<readonly [unknown, string]>([
    [undefined, 'starred query should be an object, not missing'],
    [{ ...star, kind: 'mpl' }, 'starred query.kind should be "apl", not a string'],
    [{ ...star, name: null }, 'starred query.name should be a string, not null'],
    [{ ...star, metadata: { n: 1 } }, 'starred query.metadata.n should be a string, not a number'],
    [{ ...star, query: {} }, 'starred query.query.apl should be a string, not missing'],
    [{ ...star, query: [] }, 'starred query.query should be an object, not an array'],
    [{ ...star, id: 3 }, 'starred query.id should be a string, not a number'],
  ])('%j is refused', (value, message) => {
    const refused = (() => {
      try {
        return readStarredQuery(value);
      } catch (error) {
        return error;
      }
    })();
    expect(refused instanceof ShapeError && [refused.code, refused.message]).toEqual([
      'unexpected-shape',
      message,
    ]);
  });
});

test('lists that are null are empty', () => expect(readDatasets(null)).toEqual([]));
