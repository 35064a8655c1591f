import { expect, test } from 'vitest';
import { logEvent } from '../../../../kernel/local/otlp/otlp-logs.js';
import type { LogRecord } from '../../../../kernel/local/otlp/otlp-protocol.js';

function eventOf(entry: LogRecord) {
  return logEvent({ resource: [], scope: {}, entry });
}

const severity = (entry: LogRecord) => {
  const { cells } = eventOf(entry);
  return [cells.get('severity')?.text, cells.get('severity_number')?.text];
};

test('each severity has four numbers, and none is outside of them', () => {
  const found = Array.from({ length: 27 }, (_, index) => severity({ severityNumber: index - 1 }));
  const named = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name, at) =>
    [1, 2, 3, 4].map(number => [`"${name}"`, String(4 * at + number)]),
  );
  expect(found).toEqual([[undefined, undefined], [undefined, undefined], ...named, [undefined, '25']]);
});

test.each([
  ['SEVERITY_NUMBER_TRACE', '"TRACE"', '1'],
  ['SEVERITY_NUMBER_INFO2', '"INFO"', '10'],
  ['SEVERITY_NUMBER_FATAL4', '"FATAL"', '24'],
  ['SEVERITY_NUMBER_UNSPECIFIED', undefined, undefined],
  ['9', undefined, undefined],
])('the severity %s by name is %s with the number %s', (severityNumber, name, number) => {
  expect(severity({ severityNumber })).toEqual([name, number]);
});

test('the text of a severity comes before its number', () => {
  expect(severity({ severityNumber: 17, severityText: 'alert' })).toEqual(['"alert"', '17']);
  expect(severity({ severityNumber: 17, severityText: '' })).toEqual(['"ERROR"', '17']);
  expect(severity({})).toEqual([undefined, undefined]);
});

test('the time is that of the event, else that of its observation', () => {
  expect([
    eventOf({ timeUnixNano: '5', observedTimeUnixNano: '7' }).time,
    eventOf({ observedTimeUnixNano: '7' }).time,
    eventOf({ timeUnixNano: '0', observedTimeUnixNano: '7' }).time,
    eventOf({}).time,
  ]).toEqual([5n, 7n, 7n, undefined]);
});
