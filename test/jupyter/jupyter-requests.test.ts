import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  InvalidRequestError,
  parseRequest,
  toCodePoints,
  toUtf16,
} from '../../kernel/jupyter/jupyter-requests.js';
import type { JsonObject } from '../../kernel/jupyter/jupyter-wire.js';

const execute = {
  kind: 'execute',
  code: 'x',
  silent: false,
  storeHistory: true,
  userExpressions: {},
  allowStdin: false,
  stopOnError: true,
};

describe('parseRequest', () => {
  const cases: readonly (readonly [string, JsonObject, unknown])[] = [
    ['execute_request', { code: 'x' }, execute],
    [
      'execute_request',
      { code: 'x', silent: true, store_history: true },
      { ...execute, silent: true, storeHistory: false },
    ],
    ['execute_request', { code: 'x', store_history: false }, { ...execute, storeHistory: false }],
    [
      'execute_request',
      { code: 'x', allow_stdin: true, stop_on_error: false },
      { ...execute, allowStdin: true, stopOnError: false },
    ],
    [
      'execute_request',
      { code: 'x', user_expressions: { a: 'b' } },
      { ...execute, userExpressions: { a: 'b' } },
    ],
    ['execute_request', { code: 'x', user_expressions: null }, execute],
    ['complete_request', { code: '😀ab', cursor_pos: 2 }, { kind: 'complete', code: '😀ab', cursor: 3 }],
    ['complete_request', { code: 'ab' }, { kind: 'complete', code: 'ab', cursor: 2 }],
    ['complete_request', { code: 'ab', cursor_pos: 99 }, { kind: 'complete', code: 'ab', cursor: 2 }],
    ['complete_request', { code: 'ab', cursor_pos: -1 }, { kind: 'complete', code: 'ab', cursor: 0 }],
    [
      'inspect_request',
      { code: 'ab', cursor_pos: 1, detail_level: 1 },
      { kind: 'inspect', code: 'ab', cursor: 1, detail: 1 },
    ],
    ['is_complete_request', { code: 'ab' }, { kind: 'is_complete', code: 'ab' }],
    [
      'history_request',
      { hist_access_type: 'tail', n: 3, output: true },
      { kind: 'history', output: true, query: { access: 'tail', n: 3 } },
    ],
    [
      'history_request',
      { hist_access_type: 'range', session: -1, start: 2, stop: null },
      { kind: 'history', output: false, query: { access: 'range', session: -1, start: 2, stop: undefined } },
    ],
    [
      'history_request',
      { hist_access_type: 'search', pattern: 'a*', n: 1, unique: true },
      { kind: 'history', output: false, query: { access: 'search', pattern: 'a*', n: 1, unique: true } },
    ],
    ['kernel_info_request', {}, { kind: 'kernel_info' }],
    ['interrupt_request', {}, { kind: 'interrupt' }],
    ['shutdown_request', { restart: true }, { kind: 'shutdown', restart: true }],
    ['comm_info_request', { target_name: 't' }, { kind: 'comm_info', target: 't' }],
    ['comm_open', { comm_id: 'c', target_name: 't' }, { kind: 'comm_open', id: 'c', target: 't', data: {} }],
    ['comm_msg', { comm_id: 'c', data: [1] }, { kind: 'comm_msg', id: 'c', data: [1] }],
    ['debug_request', {}, undefined],
    ['nonsense', { code: 1 }, undefined],
  ];
  test.each(cases)('%s %j', (type, content, expected) => {
    expect(parseRequest(type, content)).toEqual(expected);
  });
});

describe('parseRequest rejects', () => {
  const cases: readonly (readonly [string, JsonObject, string])[] = [
    ['execute_request', {}, 'code must be a string'],
    ['execute_request', { code: ['x'] }, 'code must be a string'],
    ['execute_request', { code: 'x', silent: 'yes' }, 'silent must be true or false'],
    [
      'execute_request',
      { code: 'x', user_expressions: { a: 1 } },
      'user_expressions must be an object of strings',
    ],
    [
      'execute_request',
      { code: 'x', user_expressions: 'a' },
      'user_expressions must be an object of strings',
    ],
    ['complete_request', { code: 'x', cursor_pos: 'end' }, 'cursor_pos must be a whole number'],
    ['complete_request', { code: 'x', cursor_pos: 0.5 }, 'cursor_pos must be a whole number'],
    ['history_request', { hist_access_type: 'all' }, 'hist_access_type must be "range", "tail" or "search"'],
    ['comm_open', { comm_id: 'c' }, 'target_name must be a string'],
    ['comm_msg', { comm_id: null }, 'comm_id must be a string'],
    ['shutdown_request', { restart: 1 }, 'restart must be true or false'],
  ];
  test.each(cases)('%s %j', (type, content, reason) => {
    expect(() => parseRequest(type, content)).toThrow(new InvalidRequestError(reason));
  });
});

describe('cursor offsets', () => {
  const cases: readonly (readonly [string, number, number])[] = [
    ['', 0, 0],
    ['abc', 2, 2],
    ['a😀b', 2, 3],
    ['a😀b', 3, 4],
    ['é👩‍💻', 4, 6],
    ['\ud83d', 1, 1],
  ];
  test.each(cases)('in %j, %i code points are %i UTF-16 units', (text, codePoints, units) => {
    expect([toUtf16(text, codePoints), toCodePoints(text, units)]).toEqual([units, codePoints]);
  });

  const anyText = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00') });

  test('match the length of the text before them', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 20 }), (text, offset) => {
        const characters = Array.from(text);
        const before = characters.slice(0, offset);
        expect(toUtf16(text, offset)).toBe(before.join('').length);
        expect(toCodePoints(text, before.join('').length)).toBe(before.length);
      }),
    );
  });
});
