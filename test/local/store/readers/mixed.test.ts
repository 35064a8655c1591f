import { lines, odd, testTraps, timeless, useService } from './traps.js';

useService();

// ---- files with several kinds of rows: lines that do not fit the table's columns, times in several fields ----

const imported = '2026-06-15 12:00:00';
const carried =
  'No readable timestamp in 1 line, as in a stack trace: each gets the timestamp of the preceding line plus one nanosecond.';

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
      '`_time` has no values: rows without a timestamp use `ts`.',
    ],
    [
      'some rows have no `_time`',
      '2025-01-01T00:00:00Z,2024-01-01T00:00:00Z\n2025-01-01T00:00:01Z,\n,2025-01-01T00:00:01Z',
      'Rows without a timestamp in `_time` use `ts`.',
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
      'No field is named like a timestamp: every row gets the time of the import and matches every time range. `when` holds timestamps: choose one, for example with `--time when`.',
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
      'Rows without a timestamp in `timestamp` use `date`, else `createdAt`.',
      'No readable timestamp in `timestamp` in 1 row: they get the time of the import.',
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
      'The events come from the list `items`. Skipped 1 other field of the enclosing object: `apiVersion`.',
      'Rows without a timestamp in `eventTime` use `lastTimestamp`, else `metadata.creationTimestamp`.',
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
      'The events come from the list `items`.',
      'The time comes from `metadata.creationTimestamp`: use another field with `--time FIELD`.',
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
    notes: ['Not JSON objects: 2 lines, each imported as an event with the line in `message`.', carried],
  },
  {
    what: 'text lines between objects whose first field is the message',
    name: 'in.ndjson',
    content: lines('{"message":"a","ts":"2025-01-01T00:00:00Z"}', '2025-01-01 00:00:01,500 text', ''),
    select: '_time, message',
    values: ['2025-01-01 00:00:00|a', '2025-01-01 00:00:01.5|2025-01-01 00:00:01,500 text'],
    notes: ['Not JSON objects: 1 line, each imported as an event with the line in `message`.'],
  },
]);
