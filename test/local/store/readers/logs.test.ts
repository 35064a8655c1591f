import { lines, type Trap, testTraps, timeless } from './traps.js';

// ---- lines of logs, in their formats and in none ----

const plainText =
  'The file is plain text: each line is the field `line`. Split it with `parse`, as in `| parse line with * "status=" status:long " " *`, or name its format: combined, cri, klog, syslog, logfmt.';
const carried = (count: string) =>
  `No readable time in ${count}, as in a stack trace: each has that of the line before and a nanosecond more.`;

testTraps([
  {
    what: 'an access log',
    name: 'access.log',
    content:
      '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326 "http://x/" "curl"\n',
    select: '_time, client, "user", "method", uri, status, bytes, referer, user_agent, line',
    values: ['2000-10-10 20:55:36|127.0.0.1|frank|GET|/a.gif|200|2326|http://x/|curl|null'],
    notes: ['The lines are read as access log lines (common or combined format).'],
  },
  {
    what: 'syslog',
    name: 'messages',
    content: lines(
      'Jun 14 15:16:01 combo sshd(pam_unix)[19939]: failure; x',
      'Jun 14 15:16:02 combo su: ok',
      '',
    ),
    select: '_time, host, program, pid, message',
    values: [
      '2026-06-14 15:16:01|combo|sshd(pam_unix)|19939|failure; x',
      '2026-06-14 15:16:02|combo|su|null|ok',
    ],
    notes: [
      'The lines are read as syslog lines.',
      '`time` gives no year: each time is taken to lie in the twelve months before the import.',
    ],
  },
  {
    what: 'logfmt',
    name: 'app.log',
    content: lines(
      'time=2024-01-01T00:00:00Z level=info msg="a b" n=5',
      'time=2024-01-01T00:00:01Z level=warn n=6',
      '',
    ),
    select: '_time, level, msg, n',
    values: ['2024-01-01 00:00:00|info|a b|5', '2024-01-01 00:00:01|warn|null|6'],
    notes: ['The lines are read as logfmt: key=value.'],
  },
  {
    what: 'lines of a container',
    name: 'pod.log',
    content: '2024-01-01T00:00:00.123456789Z stdout F hello, "you"\n',
    select: '_time, stream, tag, message',
    values: ['2024-01-01 00:00:00.123456789|stdout|F|hello, "you"'],
    notes: ['The lines are read as container log lines (CRI).'],
  },
  {
    what: 'lines of Kubernetes',
    name: 'kubelet.log',
    content: lines(
      'I0102 03:04:05.678901   12345 kubelet.go:2073] "SyncLoop ADD" source="api"',
      'E1231 23:59:59.000001       7 pod.go:951] x]',
      '',
    ),
    select: '_time, level, thread, source, message',
    values: [
      '2026-01-02 03:04:05.678901|I|12345|kubelet.go:2073|"SyncLoop ADD" source="api"',
      '2025-12-31 23:59:59.000001|E|7|pod.go:951|x]',
    ],
    notes: [
      'The lines are read as log lines of Kubernetes (klog).',
      '`time` gives no year: each time is taken to lie in the twelve months before the import.',
    ],
  },
  {
    what: 'syslog with one line of ten that is different, and has a time',
    name: 'messages',
    content: lines(
      ...Array.from({ length: 8 }, (_, index) => `Jun 14 15:16:0${index} combo su: ${index}`),
      'Jun 14 15:16:08 combo: syslogd 1.4.1 restart.',
      'Jun 14 15:16:09 combo su: 9',
      '',
    ),
    select: '_time, message, line',
    values: [
      ...Array.from({ length: 8 }, (_, index) => `2026-06-14 15:16:0${index}|${index}|null`),
      '2026-06-14 15:16:08|null|Jun 14 15:16:08 combo: syslogd 1.4.1 restart.',
      '2026-06-14 15:16:09|9|null',
    ],
    notes: [
      'The lines are read as syslog lines.',
      '`time` gives no year: each time is taken to lie in the twelve months before the import.',
    ],
  },
  {
    what: 'two lines of ten that are not of syslog: plain text',
    name: 'messages',
    content: lines(...Array.from({ length: 8 }, () => 'Jun 14 15:16:01 combo su: a'), 'b', 'c', ''),
    select: 'count(DISTINCT line)',
    values: ['3'],
    notes: [
      plainText,
      '`_time` gives no year: each time is taken to lie in the twelve months before the import.',
      carried('2 lines'),
    ],
  },
  {
    what: 'plain text, with commas and quotes; lines without a time',
    name: 'error.log',
    content: lines(
      'in front; without a time',
      '[Sun Dec 04 04:47:44 2005] [notice] one, "two"',
      '',
      'a line; without a time',
      '\tand one more',
      '[Sun Dec 04 04:47:43 2005] [error] b',
      'the last',
      '',
    ),
    select: '_time, line',
    values: [
      '2005-12-04 04:47:44|in front; without a time',
      '2005-12-04 04:47:44|[Sun Dec 04 04:47:44 2005] [notice] one, "two"',
      '2005-12-04 04:47:44.000000001|a line; without a time',
      '2005-12-04 04:47:44.000000002|\tand one more',
      '2005-12-04 04:47:43|[Sun Dec 04 04:47:43 2005] [error] b',
      '2005-12-04 04:47:43.000000001|the last',
    ],
    notes: [plainText, carried('4 lines')],
  },
  ...[
    ['INFO  2026-01-02 03:04:05,123 a', '2026-01-02 03:04:05.123'],
    ['[warn] 2026-01-02T03:04:05Z a', '2026-01-02 03:04:05'],
    ['ERROR: [2026/01/02 03:04:05] a', '2026-01-02 03:04:05'],
    ['02-Jan-2026 03:04:05.678 INFO [main] a', '2026-01-02 03:04:05.678'],
    ['Jan 2, 2026 3:04:05 PM org.a.B c', '2026-01-02 15:04:05'],
  ].map(
    ([line = '', time = '']): Trap => ({
      what: `a line that begins ${line}`,
      name: 'app.log',
      content: lines(line, ''),
      select: '_time, line',
      values: [`${time}|${line}`],
      notes: [plainText],
    }),
  ),
  {
    what: 'plain text with as many commas in each line',
    name: 'worker.log',
    content: lines('error, disk full on "a', 'error, disk full on "b', 'info, disk is back', ''),
    select: 'line',
    values: ['error, disk full on "a', 'error, disk full on "b', 'info, disk is back'],
    notes: [plainText, timeless()],
  },
  {
    what: 'values divided by commas, with names, in a file that is not called so',
    name: 'report.txt',
    content: lines('host,owner', 'a,"ann, bob"', 'b,ann', ''),
    select: 'host, owner',
    values: ['a|ann, bob', 'b|ann'],
    notes: [timeless()],
  },
]);
