import { describe, expect, test } from 'vitest';
import { readEnvelope, readFields, readTableInfo } from '../../../kernel/result/decode/envelope.js';
import { DecodeError } from '../../../kernel/result/decode/json-bytes.js';
import { isCounted } from '../../../kernel/result/display/summary.js';

const odd: readonly unknown[] = [null, 7, -1, 'text', true, [], ['a'], [null], {}, { a: [] }, [[{}]]];

const quiet = {
  elapsedTime: 0,
  blocksExamined: 0,
  blocksCached: 0,
  blocksMatched: 0,
  rowsExamined: 0,
  rowsMatched: 0,
  numGroups: 0,
  isPartial: false,
  cacheStatus: 0,
  minBlockTime: '',
  maxBlockTime: '',
};

const notCounted = {
  ...{ priority: 'debug', count: 1, code: 'not_counted' },
  msg: 'The service does not report how many rows it examined and matched.',
};

const envelope = (parts: object) => readEnvelope(new Map(Object.entries(parts)));

describe('the messages of a status', () => {
  const plain = { priority: 'warn', count: 1, code: '' };

  test.each<readonly [string, unknown, unknown]>([
    ['absent', undefined, undefined],
    ['null', null, undefined],
    ['an empty list', [], undefined],
    ['a blank message', '', undefined],
    [
      'as described',
      [{ priority: 'info', count: 3, code: 'c', msg: 'm' }],
      [{ priority: 'info', count: 3, code: 'c', msg: 'm' }],
    ],
    ['a string', 'careful', [{ ...plain, msg: 'careful' }]],
    [
      'strings',
      ['careful', 'slow'],
      [
        { ...plain, msg: 'careful' },
        { ...plain, msg: 'slow' },
      ],
    ],
    ['one object', { msg: 'careful' }, [{ ...plain, msg: 'careful' }]],
    ['a list with null', [null], [{ ...plain, msg: 'null' }]],
    ['a message without msg', [{ code: 'c' }], [{ ...plain, code: 'c', msg: '{"code":"c"}' }]],
    ['a msg that is a number', [{ msg: 7 }], [{ ...plain, msg: '{"msg":7}' }]],
    ['another priority', [{ priority: 'loud', msg: 'm' }], [{ ...plain, msg: 'm' }]],
    ['a priority that is a number', [{ priority: 3, msg: 'm' }], [{ ...plain, msg: 'm' }]],
    ['a count that is a string', [{ count: '3', msg: 'm' }], [{ ...plain, msg: 'm' }]],
    ['a fractional count', [{ count: 1.5, msg: 'm' }], [{ ...plain, msg: 'm' }]],
    ['a number', 7, [{ ...plain, msg: '7' }]],
    ['nested lists', [[]], [{ ...plain, msg: '[]' }]],
  ])('are %s', (_, messages, expected) => {
    const { status } = envelope({ status: { rowsExamined: 0, rowsMatched: 0, messages } });
    expect(status).toEqual({ ...quiet, ...(expected === undefined ? {} : { messages: expected }) });
  });
});

describe('an envelope', () => {
  test('has every number and string of the status', () => {
    const status = {
      elapsedTime: 1,
      blocksExamined: 2,
      blocksCached: 3,
      blocksMatched: 4,
      rowsExamined: 5,
      rowsMatched: 6,
      numGroups: 7,
      isPartial: true,
      isEstimate: true,
      cacheStatus: 8,
      minBlockTime: 'a',
      maxBlockTime: 'b',
      minCursor: 'c',
      maxCursor: 'd',
    };
    expect(envelope({ status }).status).toEqual(status);
  });

  test.each(odd)('reads members that are %j as absent', value => {
    const status = Object.fromEntries(
      Object.keys(quiet)
        .concat('isEstimate', 'minCursor', 'maxCursor')
        .map(key => [key, value]),
    );
    const read = envelope({ status, datasetNames: value, fieldsMetaMap: value });
    const numbers = typeof value === 'number' ? value : 0;
    const texts = typeof value === 'string' ? value : '';
    expect(read.status).toEqual({
      ...Object.fromEntries(
        Object.entries(quiet).map(([key, each]) => [key, typeof each === 'number' ? numbers : each]),
      ),
      isPartial: value === true,
      minBlockTime: texts,
      maxBlockTime: texts,
      ...(value === true ? { isEstimate: true } : {}),
      ...(typeof value === 'string' ? { minCursor: value, maxCursor: value } : {}),
      ...(typeof value === 'number' ? {} : { messages: [notCounted] }),
    });
    expect(read.datasetNames).toEqual(Array.isArray(value) && value[0] === 'a' ? ['a'] : []);
    expect(Object.values(read.fieldsMetaMap).flat()).toEqual([]);
  });

  test('has the named fields of each dataset', () => {
    const web = [
      { name: 'a', type: 'integer', unit: 'ms', hidden: true, description: 'd' },
      { name: 'b', hidden: 1, unit: 7 },
      { type: 'integer' },
      null,
    ];
    expect(envelope({ fieldsMetaMap: { web, logs: 'none' } }).fieldsMetaMap).toEqual({
      web: [
        { name: 'a', type: 'integer', unit: 'ms', hidden: true, description: 'd' },
        { name: 'b', type: '', unit: '', hidden: false, description: '' },
      ],
      logs: [],
    });
  });
});

test.each<readonly [string, object, boolean]>([
  ['both', { rowsExamined: 0, rowsMatched: 0 }, true],
  ['no matched rows', { rowsExamined: 0 }, false],
  ['no examined rows', { rowsMatched: 0 }, false],
])('a response with %s reports whether rows were counted', (_, status, counted) => {
  expect(isCounted(envelope({ status }).status)).toBe(counted);
});

describe('a table', () => {
  const info = (parts: object) => readTableInfo(new Map(Object.entries(parts)), [], 3);
  const bare = { name: '3', sources: [], fields: [], order: [], groups: [] };

  test('has its description', () => {
    const parts = {
      name: '_totals',
      sources: [{ name: 'web' }],
      order: [{ field: 'n', desc: true }, { field: 'm' }],
      groups: [{ name: 'uri' }],
      range: { field: '_time', start: 'a', end: 'b' },
      buckets: { field: '_time', size: 60 },
    };
    const order = [
      { field: 'n', desc: true },
      { field: 'm', desc: false },
    ];
    expect(info(parts)).toEqual({ ...parts, order, fields: [] });
  });

  test.each(odd)('reads members that are %j as absent', value => {
    const keys = ['name', 'sources', 'order', 'groups', 'range', 'buckets'];
    const parts = Object.fromEntries(keys.map(key => [key, value]));
    expect(info(parts)).toEqual({ ...bare, ...(typeof value === 'string' ? { name: value } : {}) });
  });

  test.each<readonly [string, object]>([
    ['unnamed sources', { sources: [{ name: 7 }, {}] }],
    ['an order without a field', { order: [{ desc: true }, { field: 7 }] }],
    ['unnamed groups', { groups: [{ name: null }] }],
    ['half a range', { range: { field: '_time', start: 'a' } }],
    ['the other half of a range', { range: { field: '_time', end: 'a' } }],
    ['buckets without a size', { buckets: { field: '_time' } }],
    ['buckets of size zero', { buckets: { field: '_time', size: 0 } }],
    ['buckets without a field', { buckets: { size: 60 } }],
  ])('omits %s', (_, parts) => expect(info(parts)).toEqual(bare));
});

describe('a field', () => {
  test.each<readonly [string, unknown, unknown]>([
    ['with a type', { name: 'a', type: 'integer' }, { name: 'a', type: 'integer' }],
    ['without a type', { name: 'a' }, { name: 'a', type: 'unknown' }],
    ['with a type that is a number', { name: 'a', type: 3 }, { name: 'a', type: 'unknown' }],
    [
      'with an aggregation',
      { name: 'a', type: 'float', agg: { name: 'avg', fields: ['d', 7], args: [1] } },
      { name: 'a', type: 'float', agg: { name: 'avg', fields: ['d'], args: [1] } },
    ],
    [
      'with an incomplete aggregation',
      { name: 'a', type: 'float', agg: { name: 'avg', fields: 'd', args: 'x' } },
      { name: 'a', type: 'float', agg: { name: 'avg' } },
    ],
    [
      'with an empty aggregation',
      { name: 'a', type: 'float', agg: { name: 7 } },
      { name: 'a', type: 'float' },
    ],
  ])('%s', (_, field, expected) => expect(readFields([field], 0)).toEqual([expected]));

  test.each(odd)('needs a name: %j', value => {
    expect(() => readFields([{ name: typeof value === 'string' ? 7 : value }], 5)).toThrow(DecodeError);
  });
});
