import { expect, test } from 'vitest';
import { recognizeFormat } from '../../../../kernel/local/store/readers/logs/recognize-log.js';
import { lines, type Trap, testTraps, timeless, useService } from './traps.js';

useService();

// ---- lines of logs, with and without a known format ----

const plainText =
  'The file is plain text, with each line in the field `line`. Split it with `parse`, for example `| parse line with * "status=" status:long " " *`, or import it with a format or pattern.';
const carried = (count: string) =>
  `No readable timestamp in ${count}, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.`;

const kept = (count: string) =>
  `${count} did not fully match the format: \`line\` has the whole line, next to the fields that could be read.`;

const noYear = '`_time` has no year: each time is assumed to be within the twelve months before the import.';
const short = (written: string, read: string) =>
  `Timestamps have a two-digit year: ${written} is read as ${read}.`;

const days = (field: string, first: string) =>
  `\`${field}\` has times without a date: the first is on ${first}, and a step back of more than an hour starts the next day.`;

/** Returns the time one nanosecond later. */
function afterwards(time: string): string {
  const [second, fraction = ''] = time.split('.');
  return `${second}.${fraction.padEnd(8, '0')}1`;
}

/** Lines of one file each, and the time of each line. */
const plainLines: Readonly<Record<string, readonly (readonly [line: string, time: string])[]>> = {
  'in unambiguous notations': [
    ['[17/Jun/2011 17:00:45] a', '2011-06-17 17:00:45'],
    ['Oct 27 2015 09:24:46 a', '2015-10-27 09:24:46'],
    ['2023 Jan 11 19:27:57 CET: %ARP-2-DUP_SRC_IP: a', '2023-01-11 18:27:57'],
    ['000123: *Mar  1 2002 18:46:11.123 UTC: %SYS-5-CONFIG_I: a', '2002-03-01 18:46:11.123'],
    ['Thu Nov 14 20:14:37.123 <airport[78]> a', '2025-11-14 20:14:37.123'],
    ['Thu Nov 14 20:14:37 2013 a', '2013-11-14 20:14:37'],
    ['2011.11.21 14:29:16 LOG3[28228]: a', '2011-11-21 14:29:16'],
    ['2024-03-12\t15:22:28\tCDG50', '2024-03-12 15:22:28'],
    ['2025-10-13 13:55:36:123 a', '2025-10-13 13:55:36.123'],
  ],
  'with the day first': [
    ['[13/02/2026 10:00:00] INFO a', '2026-02-13 10:00:00'],
    ['[13.02.2026 10:00:00,5] INFO a', '2026-02-13 10:00:00.5'],
  ],
  'with the month first': [
    ['[2-13-2026 9:00] INFO a', '2026-02-13 09:00:00'],
    ['[02/13/2026 12:30:01 AM] INFO a', '2026-02-13 00:30:01'],
    ['[02/13/2026 12:30:01.25 PM] INFO a', '2026-02-13 12:30:01.25'],
  ],
  'of ZoneMinder': [['01/25/22 16:08:02.393003 web_php[31].ERR a', '2022-01-25 16:08:02.393003']],
  'of NetScaler and game servers': [
    ['01/25/2025:12:06:37 GMT adc 0-PPE-0 : a', '2025-01-25 12:06:37'],
    ['L 01/25/2014 - 01:25:17: Bad Rcon: a', '2014-01-25 01:25:17'],
  ],
  'of NetScaler with the day first': [
    ['<134> 25/01/2025:12:06:37 GMT adc 0-PPE-0 : a', '2025-01-25 12:06:37'],
  ],
  'with eight digits for the date': [
    ['20251013 13:55:36.5 a', '2025-10-13 13:55:36.5'],
    ['[20251013T135536.123Z] a', '2025-10-13 13:55:36.123'],
    ['20251013135536,a', '2025-10-13 13:55:36'],
    ['20251013-13:55:36,123 a', '2025-10-13 13:55:36.123'],
  ],
  'without a year': [
    ['03-17 16:13:38.811 a', '2026-03-17 16:13:38.811'],
    ['[07/13 16:13:38] a', '2025-07-13 16:13:38'],
  ],
  'within the line': [['1690466804.2161960.0 [27/Jul/2023 16:06:44] a', '2023-07-27 16:06:44']],
  'that are missing': [
    ['[info] o.t.s.Access [1e60|2989] a', '2026-06-15 12:00:00'],
    ['[info] o.t.s.Access [1e61|2990] a', '2026-06-15 12:00:00'],
  ],
};

/** Lines around a stack trace, whose times have one layout, and the notes. */
const tracedLines: readonly {
  readonly rows: readonly (readonly [line: string, time: string])[];
  readonly notes?: readonly string[];
}[] = [
  {
    rows: [
      ['17/06/09 20:10:40 INFO cart is ready', '2017-06-09 20:10:40'],
      ['99/12/31 23:59:59 WARN cart is slow', '1999-12-31 23:59:59'],
    ],
    notes: [short('17/06/09 20:10:40', '2017-06-09 20:10:40')],
  },
  {
    rows: [['081109 203615 148 INFO cart is ready', '2008-11-09 20:36:15']],
    notes: [short('081109 203615', '2008-11-09 20:36:15')],
  },
  {
    rows: [['081109  3:06:15 [Note] x', '2008-11-09 03:06:15']],
    notes: [short('081109  3:06:15', '2008-11-09 03:06:15')],
  },
  {
    rows: [
      ['03-17 16:13:38.811 D/A: x', '2026-03-17 16:13:38.811'],
      ['12-31 16:13:38.811 E/A: x', '2025-12-31 16:13:38.811'],
    ],
    notes: [noYear],
  },
  {
    rows: [
      ['20171223-2:5:7:6|Step_LSC|1|x', '2017-12-23 02:05:07.006'],
      ['20171223-22:15:29:606|Step_LSC|1|x', '2017-12-23 22:15:29.606'],
    ],
  },
  { rows: [['- 1117838570 2005.06.03 R02-M1 RAS x', '2005-06-03 22:42:50']] },
  { rows: [['[07.26 16:49:06] chrome.exe - x', '2025-07-26 16:49:06']], notes: [noYear] },
  { rows: [['nova-api.log.1 2017-05-16 00:00:00.008 25746 INFO nova.x y', '2017-05-16 00:00:00.008']] },
  {
    rows: [
      ['134681 node-246 unix.hw state_change.unavailable 1077804742 1 x', '2004-02-26 14:12:22'],
      ['30700 Interconnect-1T00 switch_module bcast-error 1076189965 1 x', '2004-02-07 21:39:25'],
      ['2286759 full partition status 1061219795 -1 running', '2003-08-18 15:16:35'],
    ],
  },
  { rows: [['@400000005c2c5d2a1dcd6500 x', '2019-01-02 06:41:36.5']] },
  {
    rows: [
      ['1428634687123 x', '2015-04-10 02:58:07.123'],
      ['10000 1697048351.000001 execve("/bin/ls") = 0', '2023-10-11 18:19:11.000001'],
    ],
  },
  {
    rows: [
      ['Wed May 19 08:00:01 EST 2021 x', '2021-05-19 13:00:01'],
      ['2025-04-12 00:14:12.837 CEST x', '2025-04-11 22:14:12.837'],
      ['2025-04-12 00:14:12 EDGE x', '2025-04-12 00:14:12'],
      ['2012-025T10:22:40,672:DEBUG:x', '2012-01-25 10:22:40.672'],
      ['Mar 24 15:17:38.999 x', '2026-03-24 15:17:38.999'],
      ['"2014-06-15 01:04:52"\tx', '2014-06-15 01:04:52'],
    ],
    notes: [noYear],
  },
];

test('lines of plain text match no format on their own', () => {
  const all = [...Object.values(plainLines), ...tracedLines.map(({ rows }) => rows)].flat();
  const formats = all.map(([line]) => [line, recognizeFormat([line]).format.name]);
  expect(formats).toEqual(all.map(([line]) => [line, 'text']));
});

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
      '`time` has no year: each time is assumed to be within the twelve months before the import.',
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
    what: 'container log lines',
    name: 'pod.log',
    content: '2024-01-01T00:00:00.123456789Z stdout F hello, "you"\n',
    select: '_time, stream, tag, message',
    values: ['2024-01-01 00:00:00.123456789|stdout|F|hello, "you"'],
    notes: ['The lines are read as container log lines (CRI).'],
  },
  {
    what: 'Kubernetes (klog) lines',
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
      'The lines are read as Kubernetes log lines (klog).',
      '`time` has no year: each time is assumed to be within the twelve months before the import.',
    ],
  },
  {
    what: 'lines of MySQL before 5.6 and of its starter, among later ones',
    name: 'error.log',
    content: lines(
      '2025-10-10 13:55:36 7 [Warning] cart 7 is lost',
      '221128 14:49:17 [Warning] cart 8 is lost',
      '221128  4:49:18 mysqld_safe Starting mysqld',
      '',
    ),
    options: { format: 'mysql-error' },
    select: '_time, level, message, line',
    values: [
      '2025-10-10 13:55:36|Warning|cart 7 is lost|null',
      '2022-11-28 14:49:17|Warning|cart 8 is lost|null',
      '2022-11-28 04:49:18|null|mysqld_safe Starting mysqld|null',
    ],
  },
  {
    what: 'carriage returns of a progress bar do not end an event',
    name: 'term.log',
    content: lines(
      'Log started: 2025-10-10  13:55:36',
      'Reading 1%\rReading 2%\rReading 3%\r',
      'Log ended: 2025-10-10  13:55:38',
      '',
      'Start-Date: 2025-10-10  13:55:37',
      'Other: x',
      '',
    ),
    options: { format: 'apt' },
    select: '_time, message, "end", line',
    values: [
      '2025-10-10 13:55:36|Reading 1%\nReading 2%\nReading 3%|2025-10-10  13:55:38|null',
      '2025-10-10 13:55:37|Other: x|null|null',
    ],
  },
  {
    what: 'JSON lines among pairs get the time within them',
    name: 'app.log',
    content: lines(
      'level=info t=2025-10-10T13:55:36Z msg=a',
      '{"level":"info","t":"2025-10-10T13:55:37.5+02:00","msg":"b"}',
      'level=info t=2025-10-10T13:55:38Z msg="at 2020-01-01T00:00:00Z"',
      'level=info msg="of 2020-01-01T00:00:00Z"',
      '',
    ),
    options: { format: 'logfmt' },
    select: '_time, msg',
    values: [
      '2025-10-10 13:55:36|a',
      '2025-10-10 11:55:37.5|null',
      '2025-10-10 13:55:38|at 2020-01-01T00:00:00Z',
      '2025-10-10 13:55:38.000000001|of 2020-01-01T00:00:00Z',
    ],
  },
  {
    what: 'lines that start with their own time do not join an event of the named format',
    name: 'error.log',
    content: lines(
      '2025/10/10 13:55:36 [error] 31#31: *7 open() failed',
      'more of it',
      '10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "GET / HTTP/1.1" 200 6',
      'Oct 10 13:55:38 edge nginx: x',
      '[Fri Oct 10 13:55:39.123456 2025] [error] y',
      '',
    ),
    options: { format: 'nginx-error' },
    select: '_time, message, line',
    values: [
      '2025-10-10 13:55:36|open() failed\nmore of it|null',
      '2025-10-10 13:55:37|null|10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "GET / HTTP/1.1" 200 6',
      '2025-10-10 13:55:38|null|Oct 10 13:55:38 edge nginx: x',
      '2025-10-10 13:55:39.123456|null|[Fri Oct 10 13:55:39.123456 2025] [error] y',
    ],
  },
  {
    what: 'lines of two logs with their times in two positions',
    name: 'out.log',
    content: lines(
      '2025/10/10 13:55:36 [error] 31#31: open() failed',
      '10.0.0.1 - - [10/Oct/2025:13:55:37 +0000] "GET / HTTP/1.1" 200 6',
      '10.0.0.1 - - [10/Oct/2025:13:55:38 +0000] "GET / HTTP/1.1" 200 6',
      '',
    ),
    select: '_time, status, line IS NULL',
    values: [
      '2025-10-10 13:55:36|null|false',
      '2025-10-10 13:55:37|200|true',
      '2025-10-10 13:55:38|200|true',
    ],
    notes: ['The lines are read as access log lines (common or combined format).', kept('1 line')],
  },
  ...Object.entries(plainLines).map(
    ([what, rows]): Trap => ({
      what: `plain text, times ${what}`,
      name: 'a.log',
      content: lines(...rows.map(([line]) => line), ''),
      select: '_time, line',
      values: rows.map(([line, time]) => `${time}|${line}`),
    }),
  ),
  ...[
    {
      what: 'with --date, over two midnights with late lines',
      name: 'app.log',
      content: lines(
        ...['23:59:59.5 a', 'b', '[00:00:00.25] c', '23:59:59.75 d', '00:00:01 e', '00:00:00.5 f'],
        ...['INFO 11:30:00 PM g', '12:34 h', '11:00:00 i', '99:00:00 j', ''],
      ),
      options: { date: '2026-02-28' },
      values: [
        '2026-02-28 23:59:59.5|23:59:59.5',
        '2026-02-28 23:59:59.500000001|null',
        '2026-03-01 00:00:00.25|00:00:00.25',
        '2026-02-28 23:59:59.75|23:59:59.75',
        '2026-03-01 00:00:01|00:00:01',
        '2026-03-01 00:00:00.5|00:00:00.5',
        '2026-03-01 23:30:00|11:30:00 PM',
        '2026-03-02 12:34:00|12:34',
        '2026-03-03 11:00:00|11:00:00',
        '2026-03-03 11:00:00.000000001|99:00:00',
      ],
      notes: [plainText, days('time_of_day', '2026-02-28'), carried('2 lines')],
    },
    {
      what: 'dated by the file name, in a zone with a 23-hour day',
      name: 'app-20260328.log.1',
      content: lines('23:00:00 a', '02:30:00 b', '01:00:00 c', ''),
      options: { zone: 'Europe/Berlin' },
      values: [
        '2026-03-28 22:00:00|23:00:00',
        '2026-03-28 22:00:00.000000001|02:30:00',
        '2026-03-29 23:00:00|01:00:00',
      ],
      notes: [plainText, days('time_of_day', '2026-03-28, from the file name'), carried('1 line')],
    },
    {
      what: 'without --date',
      name: 'app-20260328-20260329.log',
      content: lines('13:55:36.123 a', '[13:55:37] b', ''),
      values: ['2026-06-15 12:00:00|13:55:36.123', '2026-06-15 12:00:00|13:55:37'],
      notes: [
        plainText,
        '`time_of_day` has times without a date: every row gets the time of the import and matches every time range. Set the first day with `--date 2026-06-01`; a step back of more than an hour starts the next day.',
      ],
    },
  ].map(
    (each): Trap => ({
      ...each,
      what: `only times of day, ${each.what}`,
      select: '_time, time_of_day',
    }),
  ),
  {
    what: 'logback with its default times, without a date',
    name: 'app.log',
    content: lines(
      '12:34:56.789 [main] INFO org.example.Cart - started',
      '00:00:01.000 [main] ERROR org.example.Cart - cart 7 is lost',
      'java.lang.IllegalStateException: no such cart',
      '',
    ),
    options: { date: '2026-06-01' },
    select: '_time, level, message, stack',
    values: [
      '2026-06-01 12:34:56.789|INFO|started|null',
      '2026-06-02 00:00:01|ERROR|cart 7 is lost|java.lang.IllegalStateException: no such cart',
    ],
    notes: ['The lines are read as log4j or logback log lines.', days('time', '2026-06-01')],
  },
  {
    what: 'a named CSV column with times of day',
    name: 'a.csv',
    content: lines('at,n', '23:00:00,1', '01:00:00,2', '25:00:00,3', ''),
    options: { date: '2026-06-01', timeField: 'at' },
    select: '_time, n',
    values: ['2026-06-01 23:00:00|1', '2026-06-02 01:00:00|2', '2026-06-15 12:00:00|3'],
    notes: [
      days('at', '2026-06-01'),
      'No readable timestamp in `at` in 1 row: they get the time of the import.',
    ],
  },
  {
    what: '--date for times that already have a date',
    name: 'a.csv',
    content: lines('time,n', '2026-01-01T23:00:00Z,1', ''),
    options: { date: '2026-06-01' },
    select: '_time, n',
    values: ['2026-01-01 23:00:00|1'],
    notes: ['`--date` has no effect: there are no times without a date.'],
  },
  {
    what: 'audit events of laurel, whose time precedes their number',
    name: 'laurel.log',
    content: '{"ID":"1669638896.123:456","SYSCALL":{"uid":0}}\n',
    select: '_time, "ID"',
    values: ['2022-11-28 12:34:56.123|1669638896.123:456'],
    notes: [],
  },
  {
    what: 'PHP in named zones, across clock changes',
    name: 'php.log',
    content: lines(
      ...[
        '10-Oct-2025 13:55:36 Europe/Berlin',
        '26-Oct-2025 02:30:00 Europe/Berlin',
        '30-Mar-2025 02:30:00 Europe/Berlin',
      ],
      ...['10-Oct-2025 13:55:36 America/Argentina/Buenos_Aires', '10-Oct-2025 13:55:36 Nowhere/At_All'],
    ).replace(/^.*$/gm, '[$&] PHP Warning:  a'),
    options: { zone: 'Asia/Kolkata' },
    select: '_time, level',
    values: [
      '2025-10-10 11:55:36|Warning',
      // The first of the two occurrences.
      '2025-10-26 00:30:00|Warning',
      // Not read.
      '2025-10-26 00:30:00.000000001|Warning',
      '2025-10-10 16:55:36|Warning',
      '2025-10-10 16:55:36.000000001|Warning',
    ],
  },
  {
    what: 'MariaDB with a one-digit hour',
    name: 'mariadb.log',
    content: "2021-11-09  5:13:12 8 [Warning] Access denied for user 'a'@'b'\n",
    select: '_time, thread, level, message',
    values: ["2021-11-09 05:13:12|8|Warning|Access denied for user 'a'@'b'"],
  },
  {
    what: 'CEF with the start of the event, with a time elsewhere, and with none',
    name: 'a.cef',
    content: lines(
      'CEF:0|Incapsula|SIEM|1|1|Normal|0| start=1750766178780 end=1750766179000 suid=5',
      'CEF: 0|Ubiquiti|UniFi|9|544|Admin|1|utcTime=2025-09-04T08:32:58.445Z msg=a',
      'CEF:0|Example|Firewall|1.0|100|a|5|rt=Sep 14 2021 13:58:33 start=1750766178780',
      'CEF:0|Example|Firewall|1.0|100|a|5|act=deny',
      '',
    ),
    select: '_time, vendor, act',
    values: [
      '2025-06-24 11:56:18.78|Incapsula|null',
      '2025-09-04 08:32:58.445|Ubiquiti|null',
      '2021-09-14 13:58:33|Example|null',
      '2021-09-14 13:58:33.000000001|Example|deny',
    ],
  },
  {
    what: 'CEF from a syslog server, with another field for the time',
    name: 'a.cef',
    content: lines(
      '<14>Jun 14 08:00:09 esa CEF:0|Cisco|ESA|14|LOG|a|5|endTime=Fri Jun 23 15:56:46 2023 startTime=Fri Jun 23 15:56:40 2023',
      '',
    ),
    select: '_time',
    values: ['2023-06-23 15:56:40'],
  },
  {
    what: 'CEF from a syslog server, without its own time',
    name: 'a.cef',
    content: '<14>Jun 14 08:00:09 edge CEF:0|Example|Firewall|1.0|100|a|5|act=deny\n',
    select: '_time, act',
    values: ['2026-06-14 08:00:09|deny'],
  },
  {
    what: 'an RFC 3339 time followed by a colon, without a program',
    name: 'a.log',
    content: '2020-04-09T14:04:00.667Z: Failed Login: username=admin\n',
    select: '_time, line',
    values: ['2020-04-09 14:04:00.667|2020-04-09T14:04:00.667Z: Failed Login: username=admin'],
  },
  {
    what: 'glog with its header lines and the stack of a panic',
    name: 'a.INFO',
    content: lines(
      'Log file created at: 2026/01/02 03:04:04',
      'Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg',
      'F0102 03:04:05.000001 7 pod.go:951] x',
      'goroutine 1 [running]:',
      '',
    ),
    select: '_time, message, line',
    values: [
      '2026-01-02 03:04:04|null|Log file created at: 2026/01/02 03:04:04\nLog line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg',
      '2026-01-02 03:04:05.000001|x\ngoroutine 1 [running]:|null',
    ],
  },
  {
    what: 'two fields named like a time, of which the one in most rows wins',
    name: 'a.ndjson',
    content: lines(
      '{"timestamp":"2020-01-01T00:00:00Z","EventTime":"2021-01-01T00:00:00Z"}',
      ...['02', '03'].map(day => `{"EventTime":"2021-01-${day}T00:00:00Z"}`),
      '',
    ),
    select: '_time',
    values: ['2021-01-01 00:00:00', '2021-01-02 00:00:00', '2021-01-03 00:00:00'],
  },
  {
    what: 'syslog with one different line in ten, which has a time',
    name: 'messages',
    content: lines(
      ...Array.from({ length: 8 }, (_, index) => `Jun 14 15:16:0${index} combo su: ${index}`),
      'Jun 14 15:16:08 [combo] restart.',
      'Jun 14 15:16:09 combo su: 9',
      '',
    ),
    select: '_time, message, line',
    values: [
      ...Array.from({ length: 8 }, (_, index) => `2026-06-14 15:16:0${index}|${index}|null`),
      '2026-06-14 15:16:08|null|Jun 14 15:16:08 [combo] restart.',
      '2026-06-14 15:16:09|9|null',
    ],
    notes: [
      'The lines are read as syslog lines.',
      '`time` has no year: each time is assumed to be within the twelve months before the import.',
      kept('1 line'),
    ],
  },
  {
    what: 'syslog with four other lines in nine',
    name: 'messages',
    content: lines(...Array.from({ length: 5 }, () => 'Jun 14 15:16:01 combo su: a'), 'b', 'c', 'd', 'e', ''),
    select: "count(DISTINCT line), count(*) FILTER (host = 'combo')",
    values: ['4|5'],
    notes: [
      'The lines are read as syslog lines.',
      '`time` has no year: each time is assumed to be within the twelve months before the import.',
      kept('4 lines'),
      carried('4 lines'),
    ],
  },
  {
    what: 'syslog in half of the lines is plain text',
    name: 'messages',
    content: lines('Jun 14 15:16:01 combo su: a', 'b', ''),
    select: 'line',
    values: ['Jun 14 15:16:01 combo su: a', 'b'],
    notes: [plainText, noYear, carried('1 line')],
  },
  {
    what: 'sentences about numbered users are plain text, not pods',
    name: 'app.log',
    content: lines('user-1 has left', 'user-12345 has left', 'a well-known name is taken', ''),
    select: 'line',
    values: ['user-1 has left', 'user-12345 has left', 'a well-known name is taken'],
    notes: [
      plainText,
      'No field contains timestamps: every row gets the time of the import and matches every time range. Set one with `--time` if there is one.',
    ],
  },
  {
    what: 'logfmt between other lines, with and without a time',
    name: 'app.log',
    content: lines(
      '2025-10-10 13:55:35 INFO started',
      'time=2025-10-10T13:55:36Z level=info msg=a',
      'x',
      'time=2025-10-10T13:55:37Z level=info msg=b',
      'time=2025-10-10T13:55:38Z level=info msg=c',
      '',
    ),
    select: "_time, level, msg, line LIKE 'time=%'",
    values: [
      '2025-10-10 13:55:35|null|null|false',
      '2025-10-10 13:55:36|info|a|true',
      '2025-10-10 13:55:36.000000001|null|null|false',
      '2025-10-10 13:55:37|info|b|true',
      '2025-10-10 13:55:38|info|c|true',
    ],
    notes: ['The lines are read as logfmt: key=value.', carried('1 line')],
  },
  {
    what: 'plain text with commas and quotes, and lines without a time',
    name: 'error.log',
    content: lines(
      'in front; without a time',
      '[Sun Dec 04 04:47:44 2005] one, "two"',
      '',
      'a line; without a time',
      '\tand one more',
      '[Sun Dec 04 04:47:43 2005] b',
      'the last',
      '',
    ),
    select: '_time, line',
    values: [
      '2005-12-04 04:47:44|in front; without a time',
      '2005-12-04 04:47:44|[Sun Dec 04 04:47:44 2005] one, "two"',
      '2005-12-04 04:47:44.000000001|a line; without a time',
      '2005-12-04 04:47:44.000000002|\tand one more',
      '2005-12-04 04:47:43|[Sun Dec 04 04:47:43 2005] b',
      '2005-12-04 04:47:43.000000001|the last',
    ],
    notes: [plainText, carried('4 lines')],
  },
  ...[
    ['02-Jan-2026 03:04:05.678 INFO a', '2026-01-02 03:04:05.678'],
    ['Jan 2, 2026 3:04:05 PM org.a.B c', '2026-01-02 15:04:05'],
  ].map(
    ([line = '', time = '']): Trap => ({
      what: `a line starting with ${line}`,
      name: 'app.log',
      content: lines(line, ''),
      select: '_time, line',
      values: [`${time}|${line}`],
      notes: [plainText],
    }),
  ),
  ...tracedLines.map(({ rows, notes = [] }): Trap => {
    const above = rows.map(([line]) => line);
    const read = rows.map(([line, time]) => `${time}|${line}`);
    return {
      what: `lines starting with ${above.join(', ')}`,
      name: 'app.log',
      content: lines(...above, '\tat a.b(c)', ...above, ''),
      select: '_time, line',
      values: [...read, `${afterwards(rows.at(-1)?.[1] ?? '')}|\tat a.b(c)`, ...read],
      notes: [plainText, ...notes, carried('1 line')],
    };
  }),
  ...[
    ['[pid: 8|app: 0] 127.0.0.1 () [Sun Mar 13 22:49:12 2016] POST /a', '2016-03-13 22:49:12'],
    ['MainThread::INFO::2011-12-05 07:04:56,101::vdsm x', '2011-12-05 07:04:56.101'],
    ['a <b> Thu, 05 Dec 2024 07:04:56 +0100 x', '2024-12-05 06:04:56'],
  ].map(
    ([line = '', time = '']): Trap => ({
      what: `a time within ${line}`,
      name: 'app.log',
      content: lines(line, '\tat a.b(c)', line, ''),
      select: '_time, line',
      values: [`${time}|${line}`, `${afterwards(time)}|\tat a.b(c)`, `${time}|${line}`],
      notes: [plainText, carried('1 line')],
    }),
  ),
  {
    what: 'no times: 01/25/2025:16:13:38 CET a',
    name: 'app.log',
    content: lines('01/25/2025:16:13:38 CET a', ''),
    select: 'line',
    values: ['01/25/2025:16:13:38 CET a'],
    notes: [plainText, timeless()],
  },
  {
    what: 'plain text with equally many commas in each line',
    name: 'worker.log',
    content: lines('error, disk full on "a', 'error, disk full on "b', 'info, disk is back', ''),
    select: 'line',
    values: ['error, disk full on "a', 'error, disk full on "b', 'info, disk is back'],
    notes: [plainText, timeless()],
  },
  {
    what: 'comma-separated values with names, in a file with another extension',
    name: 'report.txt',
    content: lines('host,owner', 'a,"ann, bob"', 'b,ann', ''),
    select: 'host, owner',
    values: ['a|ann, bob', 'b|ann'],
    notes: [timeless()],
  },
]);
