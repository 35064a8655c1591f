import { lines, odd, testTraps, timeless, useService } from './traps.js';

useService();

// ---- files with several kinds of rows: lines that do not fit the table's columns, times in several fields ----

const imported = '2026-06-15 12:00:00';
const carried =
  'No readable time in 1 line, as in a stack trace: each has that of the line before and a nanosecond more.';

testTraps([
  {
    what: 'a few lines with more values than names, with a quote and a line break',
    name: 'in.csv',
    content: lines(
      'time,line',
      ...Array.from({ length: 30 }, () => '2025-01-01T00:00:00Z,x'),
      'a,b,"c, ""d""\n e"',
      '',
    ),
    select: 'count(*), max(line), max(line_2), max(_time)',
    values: ['31|x|a,b,"c, ""d""\n e"|2025-01-01 00:00:00.000000001'],
    notes: [odd(1).replace('`line`', '`line_2`'), carried],
  },
  {
    what: 'names that are partly symbols',
    name: 'in.csv',
    content: lines('#,Name,%', '1,a,50', ''),
    select: '"#", Name, "%"',
    values: ['1|a|50'],
    notes: [timeless()],
  },
  {
    what: 'symbols alone, which are not names',
    name: 'in.csv',
    content: lines('#,%', '1,50', ''),
    select: 'column1, column2',
    values: ['#|%', '1|50'],
  },
  {
    what: 'many lines with more values than names get further columns',
    name: 'in.csv',
    content: lines('a,b', '1,2', '3,4,5,6', '7,8', ''),
    select: 'a, b, column3, column4',
    values: ['1|2|null|null', '3|4|5|6', '7|8|null|null'],
    notes: ['The first line has no name for 2 columns: `column3`, `column4`.', timeless()],
  },
  ...[
    [
      '`_time` has no values',
      ',2025-01-01T00:00:00Z\n,2025-01-01T00:00:01Z',
      '`_time` has no values: where it has no time, it is that of `ts`.',
    ],
    [
      'some rows have no `_time`',
      '2025-01-01T00:00:00Z,2024-01-01T00:00:00Z\n2025-01-01T00:00:01Z,\n,2025-01-01T00:00:01Z',
      'Where `_time` has no time, it is that of `ts`.',
    ],
  ].map(([what = '', rows = '', note = '']) => ({
    what,
    name: 'in.csv',
    content: `_time,ts\n${rows}\n`,
    select: 'min(_time), max(_time)',
    values: ['2025-01-01 00:00:00|2025-01-01 00:00:01'],
    notes: [note],
  })),
  {
    what: '`_time` has no values, and no other field is named like a time',
    name: 'in.csv',
    content: '_time,when\n,2025-01-01T00:00:00Z\n',
    select: '_time',
    values: [imported],
    notes: [
      'No field has the name of a time: every row has the time of its import, and is found in every time range. `when` holds times: name the one to use, as by `--time when`.',
    ],
  },
  {
    what: 'events of several kinds with differently named times',
    name: 'in.ndjson',
    content: lines(
      '{"timestamp":"2025-01-01T00:00:00Z"}',
      '{"timestamp":"2025-01-01T00:00:01Z"}',
      '{"createdAt":1735689602000}',
      '{"date":"2025-01-01T00:00:03Z","createdAt":1735689609000}',
      '{"ts":7}',
      '',
    ),
    select: '_time',
    values: [
      '2025-01-01 00:00:00',
      '2025-01-01 00:00:01',
      '2025-01-01 00:00:02',
      '2025-01-01 00:00:03',
      imported,
    ],
    notes: [
      'Where `timestamp` has no time, it is that of `date`, else `createdAt`.',
      'No readable time in `timestamp` in 1 row: they have the time of their import.',
    ],
  },
  {
    what: 'Kubernetes events whose times are null in turn',
    name: 'events.json',
    content: JSON.stringify({
      apiVersion: 'v1',
      items: [
        {
          eventTime: '2025-10-10T13:55:35.123456Z',
          lastTimestamp: null,
          metadata: { creationTimestamp: '2025-10-10T13:55:35Z' },
        },
        {
          eventTime: null,
          firstTimestamp: '2025-10-10T13:50:36Z',
          lastTimestamp: '2025-10-10T13:55:36Z',
          metadata: { creationTimestamp: '2025-10-10T13:50:36Z' },
        },
        { eventTime: null, lastTimestamp: null, metadata: { creationTimestamp: '2025-10-10T13:57:00Z' } },
      ],
    }),
    select: '_time',
    values: ['2025-10-10 13:55:35.123456', '2025-10-10 13:55:36', '2025-10-10 13:57:00'],
    notes: [
      'The events are those of the list `items`. Left out: 1 other field of the object around them, `apiVersion`.',
      'Where `eventTime` has no time, it is that of `lastTimestamp`, else `metadata.creationTimestamp`.',
    ],
  },
  {
    what: 'Kubernetes events with only their creation time',
    name: 'events.json',
    content:
      '{"items":[{"eventTime":null,"deprecatedLastTimestamp":null,"metadata":{"creationTimestamp":"2025-10-10T13:57:00Z"}}]}',
    select: '_time',
    values: ['2025-10-10 13:57:00'],
    notes: [
      'The events are those of the list `items`.',
      'The time is that of `metadata.creationTimestamp`: `--time FIELD` takes another.',
    ],
  },
  {
    what: 'text lines between objects, starting with a time',
    name: 'in.ndjson',
    content: lines(
      '{"ts":"2025-01-01T00:00:00Z"}',
      '2025-01-01 00:00:01,500 text',
      'more, of 2025-01-01 00:00:09',
      '{"ts":"2025-01-01T00:00:02Z"}',
      '',
    ),
    select: '_time, message',
    values: [
      '2025-01-01 00:00:00|null',
      '2025-01-01 00:00:01.5|2025-01-01 00:00:01,500 text',
      '2025-01-01 00:00:01.500000001|more, of 2025-01-01 00:00:09',
      '2025-01-01 00:00:02|null',
    ],
    notes: ['Not JSON objects: 2 lines, each an event with its text in `message`.', carried],
  },
  {
    what: 'text lines between objects whose first field is the message',
    name: 'in.ndjson',
    content: lines('{"message":"a","ts":"2025-01-01T00:00:00Z"}', '2025-01-01 00:00:01,500 text', ''),
    select: '_time, message',
    values: ['2025-01-01 00:00:00|a', '2025-01-01 00:00:01.5|2025-01-01 00:00:01,500 text'],
    notes: ['Not JSON objects: 1 line, each an event with its text in `message`.'],
  },
]);
