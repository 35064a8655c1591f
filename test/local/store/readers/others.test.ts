import { lines, testTraps, timeless, useService } from './traps.js';

useService();

// ---- lines of other programs than those a format is named after ----

const kept = (count: string) =>
  `${count} did not fully match the format: \`line\` has the whole line, next to the fields that could be read.`;
const carried = (count: string) =>
  `No readable timestamp in ${count}, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.`;
const plainText =
  'The file is plain text, with each line in the field `line`. Split it with `parse`, for example `| parse line with * "status=" status:long " " *`, or import it with a format or pattern.';
const noYear = (field: string) =>
  `\`${field}\` has no year: each time is assumed to be within the twelve months before the import.`;

const access = (second: number, status: number) =>
  `10.1.2.3 - - [10/Oct/2025:13:55:3${second} +0000] "GET /cart HTTP/1.1" ${status} 7 "-" "curl" "-"`;

/** Returns numbers of varying lengths, so that parts of a file differ in their beginnings. */
function scattered(n: number, salt: number): number {
  const mixed = Math.imul(n + salt * 7919, 2654435761) >>> 0;
  return Math.imul(mixed ^ (mixed >>> 13), 2246822519) >>> 0;
}

function noted(n: number, isPlain: boolean): string {
  const time = new Date(1767225600000 + n * 250).toISOString().replace('Z', '000Z');
  const note = `"first line of ${scattered(n, 3) % 5000}\nsecond, with a ""quote""\nthird line"`;
  return `${time},${scattered(n, 7) % 10_000},${isPlain ? 'plain' : note}\n`;
}

const sumOfIds = Array.from({ length: 300_000 }, (_, n) => scattered(n, 7) % 10_000).reduce((a, b) => a + b);

testTraps([
  {
    what: 'line breaks in quotes after the sample, where a parallel reader starts',
    name: 'notes.csv',
    content: `_time,id,note\n${Array.from({ length: 300_000 }, (_, n) => noted(n, n < 50_000)).join('')}`,
    select: 'count(*), count(DISTINCT note), min(note), max(note), min(_time), max(_time), sum(id)',
    values: [
      `300000|${new Set(Array.from({ length: 250_000 }, (_, n) => scattered(n + 50_000, 3) % 5000)).size + 1}|first line of 0\nsecond, with a "quote"\nthird line|plain|2026-01-01 00:00:00|2026-01-01 20:49:59.75|${sumOfIds}`,
    ],
    notes: [],
  },
  {
    what: 'an offset in its own field applies to the date and time beside it',
    name: 'fw.csv',
    content: lines('date,time,tz,n', '2025-10-10,13:55:36,+0200,1', '2025-10-10,13:55:37,,2', ''),
    select: '_time, n',
    values: ['2025-10-10 11:55:36|1', '2025-10-10 13:55:37|2'],
    notes: ['The time is combined from `date`, `time`, `tz`.'],
  },
  {
    what: 'a two-digit year in the future, in separate fields',
    name: 'births.csv',
    content: lines('date,time,n', '6/17/47,10:00:00,1', '6/18/15,10:00:00,2', ''),
    select: '_time, n',
    values: ['2047-06-17 10:00:00|1', '2015-06-18 10:00:00|2'],
    notes: [
      'The time is combined from `date`, `time`.',
      'Dates in `date, time` are read month first, as in "6/17/47 10:00:00".',
      'Times in `date, time` are as late as 2047-06-17T10:00:00Z, from "6/17/47 10:00:00": the two-digit years 00 to 68 are read as 2000 to 2068.',
    ],
  },
  {
    what: 'dates of Spark lines, whose changing part is in front, are read in the named order',
    name: 'spark.log',
    content: lines('09/06/17 20:10:40 INFO a.B: c', '10/06/17 20:10:41 INFO a.B: d', ''),
    select: '_time, message',
    options: { dates: 'dmy' },
    values: ['2017-06-09 20:10:40|c', '2017-06-10 20:10:41|d'],
  },
  {
    what: 'a month name, a day and a two-digit year',
    name: 'assp.log',
    content: lines('Apr-07-13 07:08:36 [SSL-out] a', ''),
    select: '_time',
    values: ['2013-04-07 07:08:36'],
    notes: [
      plainText,
      'Timestamps have a two-digit year: Apr-07-13 07:08:36 is read as 2013-04-07 07:08:36.',
    ],
  },
  {
    what: 'a day with colons',
    name: 'directadmin.log',
    content: lines("2014:07:02-00:17:45: '10.1.2.3' 2 failed logins", ''),
    select: '_time',
    values: ['2014-07-02 00:17:45'],
    notes: [plainText],
  },
  {
    what: 'a month name and a day',
    name: 'nextflow.log',
    content: lines('Mar-18 21:41:15.684 [main] DEBUG a.B - c', ''),
    select: '_time',
    values: ['2026-03-18 21:41:15.684'],
    notes: [plainText, noYear('_time')],
  },
  {
    what: 'a numeric date after a thread in brackets',
    name: 'domino.log',
    content: lines('[28325:00010-37] 22-06-2014 09:56:12   smtp: a', ''),
    select: '_time',
    values: ['2014-06-22 09:56:12'],
  },
  {
    what: 'a numeric day and month without a year are reported as read month first',
    name: 'days.csv',
    content: lines('time,n', '05-06 13:55:36.123,1', ''),
    select: '_time, n',
    values: ['2026-05-06 13:55:36.123|1'],
    notes: [noYear('time'), '`time` is read as month and day.'],
  },
  {
    what: 'access lines with an error line at the end are an access log',
    name: 'nginx.log',
    content: lines(
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(second => access(second, 200 + second)),
      '2025/10/10 13:55:40 [error] 31#31: *7 cart is lost',
      '',
    ),
    select: 'status, bytes, line',
    values: [
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(second => `${200 + second}|7|null`),
      'null|null|2025/10/10 13:55:40 [error] 31#31: *7 cart is lost',
    ],
    notes: ['The lines are read as access log lines (common or combined format).', kept('1 line')],
  },
  {
    what: 'an event that began in the previous file does not hide the format',
    name: 'app.log',
    content: lines('\tat a.B(B.java:1)', '2025-10-10 13:55:36,123 INFO [main] a.B: c', ''),
    select: '_time, level, message, line',
    values: ['2025-10-10 13:55:36.123|null|null|\tat a.B(B.java:1)', '2025-10-10 13:55:36.123|INFO|c|null'],
    notes: ['The lines are read as log4j or logback log lines.', kept('1 line'), carried('1 line')],
  },
  {
    what: 'spaces before a line that would match a format without them',
    name: 'node.log',
    content: lines('', '  I1010 13:55:36.678901 7 a.go:1] b', ''),
    select: 'line',
    values: ['  I1010 13:55:36.678901 7 a.go:1] b'],
  },
  {
    what: 'a line with a numeric date is not part of the event above it',
    name: 'app.log',
    content: lines(
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(second => `2025-10-10 13:55:3${second},000 INFO [main] a.B: c`),
      '\tat a.B(B.java:1)',
      '10.10.2025 13:55:40 d',
      '10/10/25, 13:55:41 e',
      '\tat 13:55:41',
      '',
    ),
    select: '_time, message, stack, line',
    values: [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(second => `2025-10-10 13:55:3${second}|c|null|null`),
      '2025-10-10 13:55:39|c|\tat a.B(B.java:1)|null',
      '2025-10-10 13:55:39.000000001|null|null|10.10.2025 13:55:40 d',
      '2025-10-10 13:55:39.000000002|null|null|10/10/25, 13:55:41 e\n\tat 13:55:41',
    ],
    options: { format: 'log4j' },
    notes: ['The lines are read as log4j or logback log lines.', kept('2 lines'), carried('2 lines')],
  },
  {
    what: 'CEF with line breaks and with escapes in its header',
    name: 'cef.log',
    content: lines('CEF:0|a\\|b|c\\\\d|1|e|f|5|msg=a\\nb\\\\nc\\rd x=1', ''),
    select: "vendor, product, replace(replace(msg, chr(10), '<LF>'), chr(13), '<CR>'), x, line",
    values: ['a|b|c\\d|a<LF>b\\nc<CR>d|1|null'],
  },
  {
    what: 'TAI64N and TAI64 at the start of lines',
    name: 'current',
    content: lines(
      '@40000000433225833b6e1a8c tcpserver: status: 5/30',
      '@4000000043322584 tcpserver: end',
      '',
    ),
    select: '_time, line',
    values: [
      '2005-09-22 03:31:05.9970715|@40000000433225833b6e1a8c tcpserver: status: 5/30',
      '2005-09-22 03:31:06|@4000000043322584 tcpserver: end',
    ],
    notes: [plainText],
  },
  {
    what: 'an Exchange protocol log with comma-separated values',
    name: 'RECV.LOG',
    content: lines(
      '#Software: Microsoft Exchange Server',
      '#Date: 2025-10-10T13:00:00.000Z',
      '#Fields: date-time,connector-id,sequence-number,event,data,context',
      '2025-10-10T13:55:36.270Z,EX\\Default,9,>,"535 5.7.3, ""no""",',
      '2025-10-10T13:55:37.270Z,EX\\Default,10,-,,Remote',
      '',
    ),
    select: '_time, "connector-id", "sequence-number", "event", data, context, line',
    values: [
      '2025-10-10 13:55:36.27|EX\\Default|9|>|535 5.7.3, "no"|null|null',
      '2025-10-10 13:55:37.27|EX\\Default|10|null|null|Remote|null',
    ],
    notes: ['The lines are read as W3C extended log lines (IIS, CloudFront).'],
  },
  {
    what: 'svlogd times',
    name: 'current',
    content: lines('2025-10-10_13:55:36.12345 a', '2025-10-10_13:55:37.12345 b', ''),
    select: '_time',
    values: ['2025-10-10 13:55:36.12345', '2025-10-10 13:55:37.12345'],
    notes: [plainText],
  },
  {
    what: 'syslog with French months',
    name: 'messages',
    content: lines('août 19 11:08:37 edge cron[7]: a', 'déc. 31 11:08:38 edge cron[7]: b', ''),
    select: '_time, program, message',
    values: ['2025-08-19 11:08:37|cron|a', '2025-12-31 11:08:38|cron|b'],
    notes: ['The lines are read as syslog lines.', noYear('time')],
  },
  {
    what: 'Redis lines without a year',
    name: 'redis.log',
    content: lines('[31] 14 Nov 07:01:22.119 * a', '[31] 15 Jun 11:59:59.999 # b', ''),
    select: '_time, level, message',
    values: ['2025-11-14 07:01:22.119|*|a', '2026-06-15 11:59:59.999|#|b'],
    notes: ['The lines are read as Redis log lines.', noYear('time')],
  },
]);

// ---- words for missing values ----

const columns23 = Array.from({ length: 23 }, (_, index) => `a${index}`);

const above = (count: string, shown: string) => `Skipped ${count} above the table: ${shown}.`;

testTraps([
  {
    what: 'comments above the names of a CSV, one as wide as the table',
    name: 'out.csv',
    content: lines(
      '# Exported by Cart 1.2',
      '#',
      '% on, 2026-01-01, "by',
      '',
      '// ann',
      'id,name,n',
      '1,# x,2.5',
      '# end',
      '',
    ),
    select: 'id, name, n',
    values: ['1|# x|2.5', '# end|null|null'],
    notes: [above('4 lines', '"# Exported by Cart 1.2", "#", "% on, 2026-01-01, \\"by", …'), timeless()],
  },
  {
    what: 'a comment above lines of varying width',
    name: 'out.csv',
    content: lines(
      '# of Cart',
      'id,from,name,n',
      '1,x,a,67',
      '2,3,b,8,more',
      '3,22,c,83',
      '4,,d,60',
      '5',
      '',
    ),
    select: 'id, "from", name, n, column5',
    values: ['1|x|a|67|null', '2|3|b|8|more', '3|22|c|83|null', '4|null|d|60|null', '5|null|null|null|null'],
    notes: [
      above('1 line', '"# of Cart"'),
      'The first line has no name for 1 column: `column5`.',
      timeless(),
    ],
  },
  {
    what: 'a comment as wide as a table of strings, which may hold its names',
    name: 'out.csv',
    content: lines('# of Cart', '#tag,city', 'a,bonn', 'b,rome', ''),
    select: '"#tag", city',
    values: ['a|bonn', 'b|rome'],
    notes: [above('1 line', '"# of Cart"'), timeless()],
  },
  {
    what: 'values with a leading symbol above those without',
    name: 'out.csv',
    content: lines('#tag,city', '#a,bonn', '#b,rome', 'c,paris', ''),
    select: '"#tag", city',
    values: ['#a|bonn', '#b|rome', 'c|paris'],
    notes: [timeless()],
  },
  ...[
    ['spaces', '# time a b'],
    ['tabs, below another', '# of Cart\n#\ttime\ta\tb'],
    ['spaces, after a word', '#fields time a b'],
    ['commas', '% time, a, b'],
  ].map(([what, comment = '']) => ({
    what: `names in a comment, ${what}`,
    name: 'out.tsv',
    content: lines(comment, '2025-10-10T13:55:36Z\t2\tx', '2025-10-10T13:55:37Z\t4\ty', ''),
    select: '_time, a, b',
    values: ['2025-10-10 13:55:36|2|x', '2025-10-10 13:55:37|4|y'],
  })),
  {
    what: 'a time named in a comment',
    name: 'out.csv',
    content: lines('#time,a', '2025-10-10T13:55:36Z,2', ''),
    select: '_time, "#time", a',
    values: ['2025-10-10 13:55:36|2025-10-10 13:55:36|2'],
    notes: [],
  },
  {
    what: 'a Zeek log whose file name says CSV',
    name: 'conn.tsv',
    content: lines(
      '#separator \\x09',
      '#fields\tts\tuid\tn',
      '#types\ttime\tstring\tcount',
      '1760104536.5\tCa\t-',
      '#close\t2025-10-10-14-00-00',
      '',
    ),
    select: '_time, uid, n',
    values: ['2025-10-10 13:55:36.5|Ca|null'],
    notes: ['The lines are read as Zeek log lines.'],
  },
  {
    what: 'escapes in a Zeek log',
    name: 'http.log',
    content: lines(
      '#fields\tts\ta\tn',
      '1760104536.5\tcaf\\xc3\\xa9 100% a+b c\\\\x41\t1',
      '1760104537.5\t\\x2d\t-',
      '1760104539.5\tbad \\xff\t4',
      '',
    ),
    select: "'<' || a || '>', n",
    values: ['<café 100% a+b c\\x41>|1', '<->|null', '<bad \\xff>|4'],
    notes: ['The lines are read as Zeek log lines.'],
  },
  {
    what: 'a row count below a table, and a line of dashes below its names',
    name: 'out.csv',
    content: lines('id,name', '--,----', '1,a', '2,"b', '(2 rows)"', '', '(2 rows affected)', ''),
    select: 'id, name',
    values: ['1|a', '2|b\n(2 rows)'],
    notes: [
      'Skipped the line of dashes below the names.',
      'Skipped below the table: "(2 rows affected)".',
      timeless(),
    ],
  },
  {
    what: 'a line that looks like a row count in a single column',
    name: 'out.csv',
    content: lines('name', 'a', '(2 rows)', ''),
    select: 'name',
    values: ['a', '(2 rows)'],
    notes: [timeless()],
  },
  {
    what: 'a last line that looks like a total',
    name: 'out.csv',
    content: lines('date,item,n', '2025-10-10,a,5', '2025-10-11,b,7', '"Total:",,12', ''),
    select: '_time, item, n',
    values: ['2025-10-10 00:00:00|a|5', '2025-10-11 00:00:00|b|7', '2026-06-15 12:00:00|null|12'],
    notes: [
      'The last line looks like a total, but is imported as a row: "\\"Total:\\",,12".',
      'No readable timestamp in `date` in 1 row: they get the time of the import.',
    ],
  },
  ...(
    [
      ['no line feed', '\r', '3,002'],
      ['a final CRLF', '\r\n', '3,002'],
      ['a final line feed', '\n', '3,001'],
    ] as const
  ).map(([what, end, returns]) => ({
    what: `carriage returns and ${what}`,
    name: 'out.csv',
    content: `id,name,n\r${'1,a,2\r'.repeat(3000)}2,b,3${end}`,
    select: 'id, name, n',
    values: [...new Array<string>(3000).fill('1|a|2'), '2|b|3'],
    notes: [
      `Lines end in carriage returns: ${returns} are read as line feeds, also within values.`,
      timeless(),
    ],
  })),
  {
    what: 'reals with more integer digits than a double has',
    name: 'out.csv',
    content: lines(
      'sum,whole,fine,small',
      '82544000000000707.52,12345678901234567.00,-123456789012345.678,1.5',
      '0.5,0.25,8007199254740991.5,0.1234567890123456789',
      '',
    ),
    select: 'typeof(sum), sum, whole, typeof(fine), typeof(small)',
    values: [
      'VARCHAR|82544000000000707.52|12345678901234567.00|DOUBLE|DOUBLE',
      'VARCHAR|0.5|0.25|DOUBLE|DOUBLE',
    ],
    notes: [timeless()],
  },
  {
    what: 'a word in apostrophes among others',
    name: 'out.csv',
    content: lines('n,word,v', '1,a,x', "2,'b',y", '3,c,z', ''),
    select: 'n, word, v',
    values: ['1|a|x', "2|'b'|y", '3|c|z'],
    notes: [timeless()],
  },
  {
    what: 'words that are all in apostrophes',
    name: 'out.csv',
    content: lines("'word','v'", "'a','x'", "'b','y'", ''),
    select: 'word, v',
    values: ['a|x', 'b|y'],
    notes: [timeless()],
  },
  {
    what: 'a word in apostrophes beside a quoted value',
    name: 'out.csv',
    content: lines('n,word,v', '1,a,x', '2,b,"[1,2]"', "3,'c',", '4,d,z', ''),
    select: 'n, word, v',
    values: ['1|a|x', '2|b|[1,2]', "3|'c'|null", '4|d|z'],
    notes: [timeless()],
  },
  {
    what: 'apostrophes around a value with a delimiter, or around one in each row',
    name: 'out.csv',
    content: lines('n,word', '1,a', "2,'b, c'", "3,'d'", ''),
    select: 'n, word',
    values: ['1|a', '2|b, c', '3|d'],
    notes: [timeless()],
  },
  ...['', '\ufeff'].map(mark => ({
    what: `names with line breaks, after ${mark === '' ? 'nothing' : 'a byte order mark'}`,
    name: 'out.csv',
    content: `${mark}"a\nb","c"\n${'"1","x"\n'.repeat(3)}`,
    select: '"a\nb", c',
    values: ['1|x', '1|x', '1|x'],
    notes: [timeless()],
  })),
  {
    what: 'a first name with a line break is not a title',
    name: 'out.csv',
    content: lines('"a', 'b";c;d', '1;2;x', '3;4;y', ''),
    select: '"a\nb", c, d',
    values: ['1|2|x', '3|4|y'],
    notes: [timeless()],
  },
  {
    what: 'a quoted first name with a line break among quoted names is not a title',
    name: 'out.csv',
    content: lines(
      '"a',
      'b","c","d"',
      '"x","2024-01-27T10:00:00Z","y"',
      '"z","2024-02-28T10:00:00Z","y"',
      '',
    ),
    select: '"a\nb", c, d',
    values: ['x|2024-01-27 10:00:00|y', 'z|2024-02-28 10:00:00|y'],
  },
  {
    what: 'unnamed row names before the columns, as R writes them',
    name: 'out.csv',
    content: lines('"n","city"', '"a 1",1,"bonn"', '"2",2,"rome"', ''),
    select: 'column1, n, city',
    values: ['a 1|1|bonn', '2|2|rome'],
    notes: ['The first line has no name for 1 column: `column1`.', timeless()],
  },
  {
    what: 'one value more in each line, after a first column with repeated values',
    name: 'out.csv',
    content: lines('n,city', '1,bonn,x', '1,rome,y', ''),
    select: 'n, city, column3',
    values: ['1|bonn|x', '1|rome|y'],
    notes: ['The first line has no name for 1 column: `column3`.', timeless()],
  },
  {
    what: 'titles above the names of a CSV with numbers',
    name: 'out.csv',
    content: lines('Carts', '"of 2026"', '', 'name,n', 'a,1', ''),
    select: 'name, n',
    values: ['a|1'],
    notes: [above('2 lines', '"Carts", "\\"of 2026\\""'), timeless()],
  },
  {
    what: 'lines of one value above a table of strings',
    name: 'out.csv',
    content: lines('Carts', 'name,city', 'a,bonn', ''),
    select: 'column1, column2',
    values: ['Carts|null', 'name|city', 'a|bonn'],
  },
  {
    what: 'comments in a file whose name does not say CSV',
    name: 'out.txt',
    content: lines('# of Cart', 'name\tn', 'a\t1', 'b\t2', ''),
    select: 'sum(n)',
    values: ['3'],
    notes: [above('1 line', '"# of Cart"'), timeless()],
  },
  {
    what: 'units below the names, as from a data logger',
    name: 'out.csv',
    content: lines(
      ...['time,volts,site,rain', 'TS,V,,mm', '2026-01-01 00:00:00,1.5,a,1', '2026-01-01 01:00:00,NA,b,2'],
      '2026-01-01 02:00:00,2.5,b,-\n',
    ),
    select: '_time, sum(volts) OVER (), site, rain + 1',
    values: [
      ...['2026-01-01 00:00:00|4.0|a|2', '2026-01-01 01:00:00|4.0|b|3', '2026-01-01 02:00:00|4.0|b|null'],
    ],
    notes: [
      'Skipped the line of units below the names: `time` TS, `volts` V, `rain` mm.',
      'Read as null because the other values are not text: `NA`, `-` in `volts` (1), `rain` (1).',
    ],
  },
  {
    what: 'units in brackets, beside a column of strings',
    name: 'out.csv',
    content: lines('name,size', '(any),[m]', 'a,1.5', 'b,2', ''),
    select: 'name, size',
    values: ['a|1.5', 'b|2.0'],
    notes: ['Skipped the line of units below the names: `name` (any), `size` [m].', timeless()],
  },
  {
    what: 'a first row with text among numbers, beside a name, and one of null words',
    name: 'out.csv',
    content: lines('name,n,m', 'a,absent,NA', 'b,1,2', 'c,3,4', ''),
    select: 'name, n, m',
    values: ['a|absent|null', 'b|1|2', 'c|3|4'],
  },
  {
    what: 'a short CSV with a delimiter at the end of a line',
    name: 'out.csv',
    content: lines('a,b,c', '1,2,3', '4,5,6,', '7,8,9', ''),
    select: 'COLUMNS(* EXCLUDE (_time, _sysTime))',
    values: ['1|2|3', '4|5|6', '7|8|9'],
    notes: [timeless()],
  },
]);

testTraps([
  {
    what: 'null words among numbers, times, booleans and strings of a CSV file, and alone',
    name: 'in.csv',
    content: lines(
      '_time,n,r,b,t,only,late',
      '2024-01-01T00:00:00Z,1,1.5,true,NA,NA,5',
      'NULL,NA,?,N/A,x,NA,5',
      '2024-01-02T00:00:00Z,\\N,-,None,-,NA,5',
      ...Array.from({ length: 12_000 }, () => '2024-01-02T00:00:00Z,2,2.5,false,x,NA,5'),
      '2024-01-02T00:00:00Z,nil,--,<NA>,x,NA,n/a',
      '',
    ),
    select:
      'count(*), sum(n), count(n), sum(r), count(r), count(b), count(DISTINCT t), min(t), max("only"), sum(late), count(late)',
    values: ['12004|24001|12001|30001.5|12001|12001|3|-|NA|60015|12003'],
    notes: [
      'Read as null because the other values are not text: `NA`, `N/A`, `n/a`, `<NA>`, `NULL`, `None`, `nil`, `\\N`, `-`, `--`, `?` in `_time` (1), `n` (3), `r` (3), `b` (3), `late` (1).',
      'No readable timestamp in `_time` in 1 row: they get the time of the import.',
    ],
  },
  {
    what: 'a null word alone after the sample, in a file that has one among numbers',
    name: 'in.csv',
    content: `n,late\n${'1,\n'.repeat(12_000)}NA,\n1,NA\n`,
    select: 'count(n), max(late), count(late)',
    values: ['12001|NA|1'],
    notes: ['Read as null because the other values are not text: `NA` in `n` (1).', timeless()],
  },
  {
    what: 'null words in more columns than a message names',
    name: 'in.csv',
    content: lines(
      columns23.join(','),
      columns23.map(() => 'NA').join(','),
      columns23.map(() => '7').join(','),
      '',
    ),
    select: 'count(a0), count(a22), sum(a22)',
    values: ['1|1|7'],
    notes: [
      `Read as null because the other values are not text: \`NA\` in ${columns23
        .slice(0, 20)
        .map(name => `\`${name}\` (1)`)
        .join(', ')} and 3 more fields.`,
      timeless(),
    ],
  },
]);
