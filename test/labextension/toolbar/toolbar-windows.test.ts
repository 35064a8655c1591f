import { expect, test } from 'vitest';
import { parseTime } from '../../../kernel/time.js';
import { MOVES, movedRange } from '../../../labextension/src/toolbar/toolbar-windows.js';

const now = parseTime('2026-01-26T12:00:00Z') ?? 0n;
const move = (name: string, startTime: string, endTime: string) => {
  const found = MOVES.find(each => each.name === name);
  return found && movedRange(found, { startTime, endTime }, now);
};

test.each([
  [
    'previous',
    '2026-01-26T11:00:00.000000001Z',
    '2026-01-26T11:30:00.000000001Z',
    '2026-01-26T10:30:00.000000001Z..2026-01-26T11:00:00.000000001Z',
  ],
  ['next', '2026-01-26T10:00:00Z', '2026-01-26T11:00:00Z', '2026-01-26T11:00:00Z..2026-01-26T12:00:00Z'],
  ['next', '2026-01-26T11:00:00Z', '2026-01-26T12:00:00Z', undefined],
  ['wider', '2026-01-26T09:00:00Z', '2026-01-26T10:00:00Z', '2026-01-26T08:30:00Z..2026-01-26T10:30:00Z'],
  ['wider', '2026-01-26T11:00:00Z', '2026-01-26T12:00:00Z', '2026-01-26T10:00:00Z..2026-01-26T12:00:00Z'],
  ['wider', '2026-01-26T11:50:00Z', '2026-01-26T12:10:00Z', '2026-01-26T11:30:00Z..2026-01-26T12:10:00Z'],
  ['previous', '1970-01-01T00:00:00Z', '1970-01-02T00:00:00Z', '1969-12-31T00:00:00Z..1970-01-01T00:00:00Z'],
  ['wider', '1969-07-20T20:00:00Z', '1969-07-20T21:00:00Z', '1969-07-20T19:30:00Z..1969-07-20T21:30:00Z'],
  ['previous', '1800-01-01T00:00:00Z', '2026-01-26T12:00:00Z', undefined],
  ['previous', '2026-01-26T12:00:00Z', '2026-01-26T12:00:00Z', undefined],
])('%s window of %s to %s', (name, start, end, expected) => expect(move(name, start, end)).toBe(expected));
