import { expect, test } from 'vitest';
import { importText, lines, stored, useService } from './traps.js';

useService();

// ---- lines split by a user-defined pattern ----

const content = lines(
  '2025-10-10T13:55:36Z [edge] 10.1.2.3 took 12.5ms (ok)',
  '2025-10-10T13:55:37Z [edge] ::1 took 3ms (bad) and more',
  'something else',
  '',
);

const values = [
  '2025-10-10 13:55:36|10.1.2.3|12.5|null',
  '2025-10-10 13:55:37|::1|3.0|2025-10-10T13:55:37Z [edge] ::1 took 3ms (bad) and more',
  '2025-10-10 13:55:37.000000001|null|null|something else',
];

test.each([
  ['grok', '%{TIMESTAMP_ISO8601:time} \\[edge\\] %{IP:client} took %{NUMBER:ms:float}ms \\(%{WORD}\\)'],
  ['named groups', '^(?<time>\\S+) (\\[edge\\]) (?<client>[0-9a-f.:]+) took (?<ms>[\\d.]+)ms \\((ok|bad)\\)'],
  [
    'named groups as in Python',
    '(?P<time>\\S+) \\[edge\\] (?P<client>\\S+) took (?P<ms>[\\d.]+)ms [(](ok|bad)[)]',
  ],
])('a pattern splits lines, and keeps lines it does not fully match whole: %s', async (_, pattern) => {
  const { dataset, body } = await importText('app.log', content, { pattern });
  expect(body.notes).toEqual([
    'The lines are read as lines that match the pattern.',
    '2 lines did not fully match the format: `line` has the whole line, next to the fields that could be read.',
    'No readable timestamp in 1 line, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.',
  ]);
  expect(await stored(dataset, '_time, client, ms, line')).toEqual(values);
});

test('field names may have dots, also as Logstash writes them', async () => {
  const { dataset } = await importText('app.log', 'a 1 2\n', {
    pattern: '%{WORD} %{INT:[http][status]} %{INT:http.bytes}',
  });
  expect(await stored(dataset, '"http.status", "http.bytes"')).toEqual(['1|2']);
});

test('a pattern field may be named line', async () => {
  const { dataset, body } = await importText('app.log', 'a 1\nb\n', { pattern: '%{WORD:line} %{INT:n}' });
  expect(body.notes[2]).toMatch('1 line did not fully match the format: `line_2` has the whole line');
  expect(await stored(dataset, 'line, n, line_2')).toEqual(['a|1|null', 'null|null|b']);
});

test('the Apache patterns read a combined line', async () => {
  const line = '1.2.3.4 - ann [10/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl"';
  const { dataset } = await importText('app.log', `${line}\n`, { pattern: '%{COMBINEDAPACHELOG}' });
  expect(await stored(dataset, '_time, clientip, auth, verb, request, response, bytes, agent, line')).toEqual(
    ['2025-10-10 13:55:36|1.2.3.4|ann|GET|/a|200|5|"curl"|null'],
  );
});

test.each([
  ['%{NOPE:a}', 'The pattern names the pattern NOPE, which there is not.'],
  ['\\d+', 'The pattern names no field.'],
  ['(?<a>\\d) (?<a>\\d)', 'The pattern names a twice.'],
  ['(?<a b>\\d)', 'The pattern has a field "a b".'],
  ['(?<a>\\d', 'The pattern cannot be read: invalid regular expression: missing closing ): `(\\d`.'],
  [
    '(?<a>x)(?=y)',
    'The pattern cannot be read: invalid regular expression: invalid or unsupported Perl syntax: `(?=`.',
  ],
  ['(?<a>zzz)', '0 of 3 lines of app.log are lines that match the pattern.'],
])('an unusable pattern is refused: %s', async (pattern, message) => {
  const { status, body } = await importText('app.log', content, { pattern });
  expect([status, body.message.slice(0, message.length)]).toEqual([400, message]);
});
