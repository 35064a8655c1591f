import { expect, test } from 'vitest';
import { beyondSample, importText, lines, stored, testTraps, useService } from './traps.js';

useService();

// ---- parts of lines: fields that are read, and lines that are kept whole ----

const access = 'The lines are read as access log lines (common or combined format).';
const kept = (count: string) =>
  `${count} did not fully match the format: \`line\` has the whole line, next to the fields that could be read.`;

/** A time and a request; tests add text before and after. */
const at = '[10/Oct/2025:13:55:36 +0000]';
const get = '"GET /a HTTP/1.1" 200 5';
const days = Array.from({ length: 60 }, (_, n) =>
  new Date(Date.UTC(2024, 0, 60 - n)).toISOString().slice(0, 10),
);

const usual: readonly (readonly [what: string, line: string, values: string])[] = [
  ['a combined line', `1.2.3.4 - ann ${at} ${get} "-" "curl"`, '1.2.3.4|ann|GET|/a|200|5'],
  ['no size', `1.2.3.4 - - ${at} "HEAD /a HTTP/1.1" 304 -`, '1.2.3.4|null|HEAD|/a|304|null'],
  ['several clients', `1.2.3.4, 5.6.7.8,::1 - - ${at} ${get}`, '1.2.3.4, 5.6.7.8,::1|null|GET|/a|200|5'],
  ['a user with blanks', `1.2.3.4 - Ann B. Smith ${at} ${get}`, '1.2.3.4|Ann B. Smith|GET|/a|200|5'],
  ['an address of IPv6', `fe80::1%eth0 - - ${at} ${get}`, 'fe80::1%eth0|null|GET|/a|200|5'],
  ['the name of a host', `proxy.example - - ${at} ${get}`, 'proxy.example|null|GET|/a|200|5'],
  ['no client', `- - - ${at} ${get}`, 'null|null|GET|/a|200|5'],
  ['a blank in the path', `1.2.3.4 - - ${at} "GET /a b HTTP/1.1" 404 0`, '1.2.3.4|null|GET|/a b|404|0'],
  ['no protocol', `1.2.3.4 - - ${at} "GET /a" 200 5`, '1.2.3.4|null|GET|/a|200|5'],
  [
    'a quote that is escaped',
    `1.2.3.4 - - ${at} "GET /\\" 500 1 HTTP/1.1" 200 5`,
    '1.2.3.4|null|GET|/\\" 500 1|200|5',
  ],
  ['a quote that is not', `1.2.3.4 - - ${at} "GET /a"b HTTP/1.1" 200 5`, '1.2.3.4|null|GET|/a"b|200|5'],
  ['a backslash at the end', `1.2.3.4 - - ${at} "GET /\\" 400 5 "-" "curl"`, '1.2.3.4|null|GET|/\\|400|5'],
];

const unusual: readonly (readonly [what: string, line: string, values: string])[] = [
  ['no request', `1.2.3.4 - - ${at} "-" 408 0 "-" "-"`, '1.2.3.4|408|0'],
  ['an empty request', `1.2.3.4 - - ${at} "" 400 0 "-" "-"`, '1.2.3.4|400|0'],
  ['a greeting of TLS', `1.2.3.4 - - ${at} "\\x16\\x03\\x01\\x02" 400 226 "-" "-"`, '1.2.3.4|400|226'],
  ['another protocol', `1.2.3.4 - - ${at} "SSH-2.0-Go" 400 226`, '1.2.3.4|400|226'],
  ['a line that is cut off', `1.2.3.4 - - ${at} "GET /a HT`, '1.2.3.4|null|null'],
  ['no numbers', `1.2.3.4 - - ${at} "GET /a HTTP/1.1" x`, '1.2.3.4|null|null'],
  ['text in front', `ALERT: 1.2.3.4 - - ${at} ${get}`, 'null|null|null'],
];

/** A line like most lines of most files. */
const good = `9.9.9.9 - - ${at.replace('36', '35')} ${get} "-" "-"`;

test.each([0, 9])(
  'each line of an access log is read into its fields, with %i usual ones above it',
  async above => {
    const blocks = usual.map(([, line]) => lines(...Array.from({ length: above }, () => good), line, ''));
    const { dataset, body } = await importText('access.log', blocks.join(''));
    expect(body.notes).toEqual([access]);
    const read = await stored(dataset, '_time, client, "user", "method", uri, status, bytes, line');
    const own = usual.map(([what], n) => [what, read[n * (above + 1) + above]]);
    expect(own).toEqual(usual.map(([what, , values]) => [what, `2025-10-10 13:55:36|${values}|null`]));
  },
);

test('rare fields of an access log keep their position among the others', async () => {
  const few = `1.2.3.4 id - ${at} ${get} "http://a/" "curl" "5.6.7.8"`;
  const { dataset, body } = await importText('access.log', lines(good, good, good, few, ''));
  const names = (body.fields as readonly { name: string }[]).map(({ name }) => name);
  expect(names.slice(2).join()).toBe(
    'client,ident,user,time,method,uri,protocol,status,bytes,referer,user_agent,forwarded_for,line',
  );
  expect(await stored(dataset, '* EXCLUDE (_time, _sysTime, time)')).toEqual([
    ...Array.from({ length: 3 }, () => '9.9.9.9|null|null|GET|/a|HTTP/1.1|200|5|-|-|null|null'),
    '1.2.3.4|id|null|GET|/a|HTTP/1.1|200|5|http://a/|curl|5.6.7.8|null',
  ]);
});

test('an access log line that is read in part is kept whole beside its fields', async () => {
  const blocks = unusual.map(([, line]) => lines(...Array.from({ length: 9 }, () => good), line, ''));
  const { dataset, body } = await importText('access.log', blocks.join(''));
  expect(body.notes).toEqual([access, kept(`${unusual.length} lines`)]);
  const read = await stored(dataset, '_time, client, status, bytes, line');
  expect(read.filter((_, n) => n % 10 < 9)).toEqual(
    Array.from({ length: unusual.length * 9 }, () => '2025-10-10 13:55:35|9.9.9.9|200|5|null'),
  );
  expect(unusual.map(([what], n) => [what, read[n * 10 + 9]])).toEqual(
    unusual.map(([what, line, values]) => [what, `2025-10-10 13:55:36|${values}|${line}`]),
  );
});

testTraps([
  {
    what: 'an access log whose lines start with a host name',
    name: 'access.log',
    content: lines(
      `shop.example:443 1.2.3.4 - - ${at} ${get} "-" "curl"`,
      `[::1]:80 2001:db8::1 - Ann Smith ${at} ${get} "-" "curl"`,
      '',
    ),
    select: 'vhost, client, "user", uri, line',
    values: ['shop.example:443|1.2.3.4|null|/a|null', '[::1]:80|2001:db8::1|Ann Smith|/a|null'],
    notes: [access],
  },
  {
    what: 'an access log behind several proxies',
    name: 'access.log',
    content: lines(
      `"1.2.3.4, 5.6.7.8" 10.0.0.1 - - ${at} ${get} "-" "curl"`,
      `2001:db8::1, 5.6.7.8 10.0.0.1 - ann ${at} ${get} "-" "curl"`,
      `shop.example "1.2.3.4" 10.0.0.1 - - ${at} ${get} "-" "curl"`,
      `10.0.0.9 1.2.3.4, 5.6.7.8 10.0.0.1 - - ${at} ${get} "-" "curl"`,
      `10.0.0.9 localhost - - ${at} ${get} "-" "curl"`,
      `shop.example:80 unix: - - ${at} ${get} "-" "curl"`,
      `10.0.0.9 ident ann ${at} ${get} "-" "curl"`,
      '',
    ),
    select: 'vhost, client, proxy, ident, "user", status, line',
    values: [
      'null|1.2.3.4, 5.6.7.8|10.0.0.1|null|null|200|null',
      'null|2001:db8::1, 5.6.7.8|10.0.0.1|null|ann|200|null',
      'shop.example|1.2.3.4|10.0.0.1|null|null|200|null',
      '10.0.0.9|1.2.3.4, 5.6.7.8|10.0.0.1|null|null|200|null',
      '10.0.0.9|localhost|null|null|null|200|null',
      'shop.example:80|unix:|null|null|null|200|null',
      'null|10.0.0.9|null|ident|ann|200|null',
    ],
    notes: [access],
  },
  {
    what: 'a broken request in every second line',
    name: 'access.log',
    content: lines(`1.2.3.4 - - ${at} ${get}`, `1.2.3.4 - - ${at} "-" 408 0`, ''),
    select: 'status, line IS NULL',
    values: ['200|true', '408|false'],
    notes: [access, kept('1 line')],
  },
  {
    what: 'pairs after an access log line become fields, and the rest is kept',
    name: 'access.log',
    content: lines(
      `1.2.3.4 - - ${at} ${get} "-" "curl" rt=0.123 up="10.1.1.1:80 rt=9" id=a`,
      `1.2.3.4 - - ${at} ${get} "-" "curl" 0.5 rt=0.2 "x y" id=b id=c up=-`,
      `1.2.3.4 - - ${at} ${get} "-" "curl"`,
      '',
    ),
    select: 'rt, up, id, rest, line',
    values: [
      '0.123|10.1.1.1:80 rt=9|a|null|null',
      '0.2|null|b|0.5 "x y" id=c|null',
      'null|null|null|null|null',
    ],
    notes: [access],
  },
  {
    what: 'pairs that first occur after the sample',
    name: 'access.log',
    content: beyondSample(
      `1.2.3.4 - - ${at} ${get} "-" "curl"`,
      `1.2.3.4 - - ${at} ${get} "-" "curl" rt=0.1`,
    ),
    select: 'count(*), max(line)',
    values: [`10301|1.2.3.4 - - ${at} ${get} "-" "curl" rt=0.1`],
    notes: [access, kept('1 line')],
  },
  {
    what: 'a cPanel access log with numeric months, in a file named after a Brazilian domain',
    name: 'shop.example.com.br',
    content: lines(
      `1.2.3.4 - root [10/25/2025:13:55:36 -0000] ${get} "-" "curl" "s" "-" 2087`,
      `1.2.3.4 - - [11/02/2025:23:55:36 +0100] "GET / HTTP/1.1" 401 0 "-" "-" "-" "-" 2083`,
      '',
    ),
    select: '_time, client, "user", status, user_agent, rest, line',
    values: [
      '2025-10-25 13:55:36|1.2.3.4|root|200|curl|"s" "-" 2087|null',
      '2025-11-02 22:55:36|1.2.3.4|null|401|-|"-" 2083|null',
    ],
    notes: [access, 'Dates in `time` are read month first, as in "10/25/2025:13:55:36 -0000".'],
  },
  {
    what: 'an access log wrapped in syslog',
    name: 'access.log',
    content: lines(`Oct 10 13:55:36 edge nginx: 1.2.3.4 - - ${at} ${get}`, ''),
    select: 'host, program, message',
    values: [`edge|nginx|1.2.3.4 - - ${at} ${get}`],
  },
  {
    what: 'syslog with spaces in a program name, or without a program',
    name: 'messages',
    content: lines(
      ...Array.from({ length: 18 }, () => 'Oct 10 13:55:36 edge su[7]: a'),
      'Oct 10 13:55:37 edge Big App[8]: b',
      'Oct 10 13:55:38 edge restart',
      '',
    ),
    select: '_time, host, program, pid, message, line',
    values: [
      ...Array.from({ length: 18 }, () => '2025-10-10 13:55:36|edge|su|7|a|null'),
      '2025-10-10 13:55:37|edge|Big App|8|b|null',
      '2025-10-10 13:55:38|edge|null|null|restart|null',
    ],
  },
  {
    what: 'words after a time that are not syslog',
    name: 'app.log',
    content: lines('Oct 10 13:55:36 INFO started', 'Oct 10 13:55:37 INFO stopped', ''),
    select: '_time, line',
    values: [
      '2025-10-10 13:55:36|Oct 10 13:55:36 INFO started',
      '2025-10-10 13:55:37|Oct 10 13:55:37 INFO stopped',
    ],
  },
  {
    what: 'an access log with Windows line breaks',
    name: 'access.log',
    content: `1.2.3.4 - - ${at} ${get} "-" "curl"\r\n`,
    select: 'status, user_agent, line',
    values: ['200|curl|null'],
    notes: [access],
  },
  {
    what: 'W3C lines with a time of day, dated by a comment and crossing midnight',
    name: 'x.log',
    content: lines(
      '#Version: 1.0',
      '#Date: 2024-02-28 23:59:58',
      '#Fields: time c-ip sc-status',
      '23:59:58 10.0.0.1 200',
      '00:00:01 10.0.0.2 404',
      '00:00:00 10.0.0.2 404',
      '23:00:00 10.0.0.2 404',
      '01:00:00 10.0.0.2 500',
      '#Date: 2024-05-02 10:00:00',
      '10:00:00 10.0.0.3 200',
      'x',
      '',
    ),
    select: '_time, "c-ip", line',
    values: [
      '2024-02-28 23:59:58|10.0.0.1|null',
      '2024-02-29 00:00:01|10.0.0.2|null',
      '2024-02-29 00:00:00|10.0.0.2|null',
      '2024-02-29 23:00:00|10.0.0.2|null',
      '2024-03-01 01:00:00|10.0.0.2|null',
      '2024-05-02 10:00:00|10.0.0.3|null',
      '2024-05-02 10:00:00.000000001|null|x',
    ],
    notes: [
      'The lines are read as W3C extended log lines (IIS, CloudFront).',
      'The time is combined from `date`, `time`.',
      kept('1 line'),
      'No readable timestamp in 1 line, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.',
    ],
  },
  {
    what: 'W3C lines under many dates keep the order of the file',
    name: 'days.log',
    content: lines('#Fields: time sc-status', ...days.flatMap(day => [`#Date: ${day}`, '10:00:00 200']), ''),
    select: '_time',
    values: days.map(day => `${day} 10:00:00`),
  },
  {
    what: 'W3C fields that change within the file, and a line that does not fit',
    name: 'ex.log',
    content: lines(
      '#Software: IIS',
      '#Fields: date time c-ip sc-status',
      '2025-10-10 13:55:36 10.1.2.3 200',
      '#Fields: date time sc-status cs-method c-ip',
      '2025-10-10 13:55:37 404 GET 10.1.2.4',
      '2025-10-10 13:55:38 404 GET',
      '',
    ),
    select: '_time, "c-ip", "sc-status", "cs-method", line',
    values: [
      '2025-10-10 13:55:36|10.1.2.3|200|null|null',
      '2025-10-10 13:55:37|10.1.2.4|404|GET|null',
      '2025-10-10 13:55:38|null|null|null|2025-10-10 13:55:38 404 GET',
    ],
    notes: [
      'The lines are read as W3C extended log lines (IIS, CloudFront).',
      'The time is combined from `date`, `time`.',
      kept('1 line'),
    ],
  },
  {
    what: 'CloudFront fields with values separated by tabs',
    name: 'E1.log',
    content: lines(
      '#Version: 1.0',
      '#Fields: date time x-edge-location sc-bytes cs(User-Agent)',
      '2025-10-10\t13:55:36\tFRA2-C1\t2390\tMozilla/5.0%20(X11)',
      '',
    ),
    select: '_time, "x-edge-location", "sc-bytes", "cs(User-Agent)", line',
    values: ['2025-10-10 13:55:36|FRA2-C1|2390|Mozilla/5.0%20(X11)|null'],
  },
  {
    what: 'a stack trace with a blank line belongs to its event, with CRLF',
    name: 'app.log',
    content: [
      'in front of all',
      '2025-10-10 13:55:36,123 ERROR [main] a.B: lost',
      'java.io.IOException: x',
      '\tat a.B.c(B.java:1)',
      '',
      'Caused by: y',
      '',
      '2025-10-10 13:55:37,123 INFO [main] a.B: found',
      '',
    ].join('\r\n'),
    select: '_time, level, message, stack, line',
    values: [
      '2025-10-10 13:55:36.123|null|null|null|in front of all',
      '2025-10-10 13:55:36.123|ERROR|lost|java.io.IOException: x\n\tat a.B.c(B.java:1)\n\nCaused by: y|null',
      '2025-10-10 13:55:37.123|INFO|found|null|null',
    ],
  },
  {
    what: 'a slow query log with counts in comments, and two events in one second',
    name: 'slow.log',
    content: lines(
      '/usr/sbin/mysqld, Version: 8.0.36. started with:',
      'Time                 Id Command    Argument',
      '# Time: 251010 13:55:36',
      '# User@Host: ann[ann] @ web1 []',
      '# Thread_id: 37  Schema: shop  QC_hit: No',
      '# Query_time: 2.5  Lock_time: 0.1  Rows_sent: 1  Rows_examined: 48213',
      '# Rows_affected: 0  Bytes_sent: 319',
      'use shop;',
      'SET timestamp=1760104534;',
      'SELECT 1;',
      '# User@Host: bob[bob] @ [10.1.2.3]  Id: 8',
      '# Query_time: 3 Lock_time: 0 Rows_sent: 2 Rows_examined: 3 Errno: 0',
      'SELECT 2;',
      '',
    ),
    select: '_time, "user", host, client, session, query_time, counts, "database", started, query, line',
    values: [
      '2025-10-10 13:55:36|null|null|null|null|null|null|null|null|null|/usr/sbin/mysqld, Version: 8.0.36. started with:\nTime                 Id Command    Argument',
      '2025-10-10 13:55:36|ann|web1|null|# Thread_id: 37  Schema: shop  QC_hit: No\n|2.5|\n# Rows_affected: 0  Bytes_sent: 319\n|shop|1760104534|SELECT 1;|null',
      '2025-10-10 13:55:36.000000001|bob|null|10.1.2.3|null|3.0|Errno: 0\n|null|null|SELECT 2;|null',
    ],
  },
  {
    what: 'CEF pairs with spaces and escapes',
    name: 'cef.log',
    content: lines('CEF:0|a|b|1|c|d\\|e|5|msg=x \\= y, a\\\\b src=1.2.3.4 cs1Label=A B', ''),
    select: 'name, msg, src, cs1Label, line',
    values: ['d|e|x = y, a\\b|1.2.3.4|A B|null'],
  },
  {
    what: 'logfmt keys within the value of another',
    name: 'app.log',
    content: lines('msg="a n=1 b \\"q\\"" n=2', 'msg=c n=3', ''),
    select: 'msg, n',
    values: ['a n=1 b "q"|2', 'c|3'],
  },
]);

test.each([
  ['syslog', 'a\nb\nc\n', '0 of 3 lines of x.log are syslog lines'],
  ['w3c', 'a\n', '0 of 1 line of x.log are W3C extended log lines (IIS, CloudFront)'],
  [
    'combined',
    'a\n'.repeat(20_000),
    '0 of the first 10,240 lines of x.log are access log lines (common or combined format)',
  ],
])('a format that matches no line is refused: %s', async (format, content, message) => {
  const { status, body } = await importText('x.log', content, { format });
  expect([status, body.message.split('. Omit')[0]]).toEqual([400, message]);
});
