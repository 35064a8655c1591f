import { expect, test } from 'vitest';
import { timeRank } from '../../../../kernel/local/store/times/time-names.js';
import { formatTime } from '../../../../kernel/time.js';
import { importText, stored, useService } from '../readers/traps.js';

useService();

/** JSON fields, and the resulting time or note. */
const times: readonly (readonly [fields: string, time: string])[] = [
  ['{"started_at":1700000000}', '2023-11-14T22:13:20Z'],
  ['{"started_at":1700000000123}', '2023-11-14T22:13:20.123Z'],
  ['{"startedAt":1700000000123456}', '2023-11-14T22:13:20.123456Z'],
  ['{"started_at":1700000000123456789}', '2023-11-14T22:13:20.123456789Z'],
  ['{"started_at":1700000000.25}', '2023-11-14T22:13:20.25Z'],
  ['{"started_at":"2023-11-14T22:13:20Z"}', '2023-11-14T22:13:20Z'],
  [
    '{"EdgeStartTimestamp":1700000000123456789,"EdgeEndTimestamp":1700000001123456789}',
    '2023-11-14T22:13:20.123456789Z',
  ],
  ['{"EdgeStartTimestamp":"2023-11-14T22:13:20Z"}', '2023-11-14T22:13:20Z'],
  ['{"instant":{"epochSecond":1700000000,"nanoOfSecond":123456789}}', '2023-11-14T22:13:20.123456789Z'],
  ['{"at":{"seconds":1700000000,"nanos":5}}', '2023-11-14T22:13:20.000000005Z'],
  ['{"ended":{"seconds":1700000000}}', ''],
  ['{"wait":{"seconds":3,"nanos":5}}', ''],
  ['{"started_at":12}', ''],
  ['{"Datum":"2024-02-01 10:00"}', '2024-02-01T10:00:00Z'],
  ['{"Fecha":"13/02/2024"}', '2024-02-13T00:00:00Z'],
  ['{"data":"13/02/2024 10:00"}', '2024-02-13T10:00:00Z'],
  ['{"日付":"2020/5/13"}', '2020-05-13T00:00:00Z'],
  ['{"data":"x"}', ''],
  ['{"Date":"1951-03-04"}', '1951-03-04T00:00:00Z'],
  ['{"time":0.25}', ''],
  ['{"time":1700000000,"timeNano":1700000000123456789}', '2023-11-14T22:13:20.123456789Z'],
  ['{"msec":"1700000000.123","time":"0.005"}', '2023-11-14T22:13:20.123Z'],
  ['{"startsAt":"2023-11-14T22:13:20Z","endsAt":"0001-01-01T00:00:00Z"}', '2023-11-14T22:13:20Z'],
  ['{"TimeCreated":"/Date(1700000000123)/"}', '2023-11-14T22:13:20.123Z'],
  ['{"TimeCreated":"\\/Date(1700000000123+0200)\\/"}', '2023-11-14T22:13:20.123Z'],
  ['{"TimeCreated":"/Date(-1)/"}', '1969-12-31T23:59:59.999Z'],
  ['{"TimeCreated":"/Date(999999999999999)/"}', ''],
];

/** Field names that products use for the time of an event, most likely first. */
const names =
  `timeNano _time @timestamp ts datetime eventTime event_timestamp date time_local time_iso8601 TimeGenerated CreatedAt
  created start_time start_timestamp logged_at ObservedTimestamp published t TimeCreated DateAndTime SystemTime UtcTime
  __REALTIME_TIMESTAMP asctime log_time log_timestamp log_date timestamp_utc timestamp_ms timestamp_ns timeUnixNano
  observedTimeUnixNano startTimeUnixNano unix_timestamp unix_time calendarTime epoch epoch_ms requestReceivedTimestamp
  stageTimestamp receiveTimestamp timereported received_at recorded_at occurred_at eventDate CreationTime RequestTime
  createdDateTime activityDateTime eventDateTime CreationDate created_date detected_at detectionTime server_timestamp t.$date
  EdgeStartTimestamp started_at startsAt startedDateTime query_timestamp dateCreated date_create EventTimestampMs reqTimeSec msec
  StartUTC StartLocal configurationItemCaptureTime dt eventCreationTime detection_timestamp
  messageTime effective_at CREATED_ON generatedDateTime Zeitstempel Datum Zeit fecha fecha_hora data data_ora data_hora horodatage czas дата время 日時 日付
  年月日 时间 日期`.split(/\s+/);

test('fields are ranked by how their names suggest an event time', () => {
  const ranks = names.map(timeRank);
  expect(names.filter((_, index) => (ranks[index] ?? -1) < 0)).toEqual([]);
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  expect([new Set(ranks).size, timeRank('finished'), timeRank('')]).toEqual([names.length, -1, -1]);
});

test.each(times)('the time field is chosen in %s', async (text, time) => {
  const { notes, rows } = await imported(text);
  if (time !== '') expect(rows).toEqual([time]);
  else expect(notes.join()).toContain('every row gets the time of the import');
});

test.each([
  ['{"date":"2024-02-03","TimeOfDay":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"day":"2024-02-03","clock":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"date_local":"2024-02-03","time_local":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"Datum":"2024-02-03","Uhrzeit":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"fecha":"2024-02-03","hora":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"data":"2024-02-03","ora":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"date":"2024-02-03","heure":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"date":"2024-02-03","Zeit":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"month":"Feb","day":"3","year":"2024","time":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"mon":"February","mday":"3","year":"2024","time":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"month":"Feb","date":"3","year":"2024","time":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"date":"Feb","day":"3","year":"2024","time":"04:05:06"}', '2024-02-03T04:05:06Z'],
  ['{"date":"2024-02-03","time":"04:05:06","tz":"+02:00"}', '2024-02-03T02:05:06Z'],
  ['{"date":"2024-02-03","time":"04:05:06","timezone":"UTC"}', '2024-02-03T04:05:06Z'],
  ['{"date":"2024-02-03","time":"04:05:06","tz_offset":"-0130"}', '2024-02-03T05:35:06Z'],
  ['{"date":"2024-02-03","time":"04:05:06","utcOffset":"+02:00"}', '2024-02-03T02:05:06Z'],
])('a time is combined from fields: %s', async (text, time) => {
  const { notes, rows } = await imported(text);
  const names = Object.keys(JSON.parse(text)).map(name => `\`${name}\``);
  expect([notes.map(note => note.match(/`[^`]+`/g)?.toSorted()), rows]).toEqual([[names.toSorted()], [time]]);
});

const near =
  '`time` is named like a timestamp, but most of its numbers, such as "0.25", would be before 1990: use them anyway with `--time time`.';

test.each([
  ['{"time":0.25}', near],
  ['{"born":"13/02/1970"}', '`born` holds timestamps: choose one, for example with `--time born`.'],
  ['{"shipped":"5-Nov-26"}', '`shipped` holds timestamps: choose one, for example with `--time shipped`.'],
  [
    '{"shipped":"Nov 5, 2026","version":"1.2.24"}',
    '`shipped` holds timestamps: choose one, for example with `--time shipped`.',
  ],
  // Numbers are times from ten digits in seconds to the year 2100.
  [
    '{"low_at":999999999,"least_at":1000000000,"most_at":4102444800,"high_at":4102444801,"id":1700000000}',
    '`least_at`, `most_at` hold timestamps: choose one, for example with `--time least_at`.',
  ],
  [
    '{"low_at":999999999999,"least_at":1000000000000.0,"most_at":4102444800000,"high_at":4102444800001}',
    '`least_at`, `most_at` hold timestamps: choose one, for example with `--time least_at`.',
  ],
  ['{"version":"1.2.24","ip":"10.0.0.1","part":"13-45-2024"}', 'Set one with `--time` if there is one.'],
])('a note says why no field of %s is the time', async (text, note) => {
  expect((await imported(text)).notes.join()).toContain(`matches every time range. ${note}`);
});

test('server times may be in brackets, and out of range ones get the time of the import', async () => {
  const written = [
    '[10/Oct/2025:13:55:36 +0200]',
    '10/Oct/2025:13:55:36 -0730',
    '10/Oct/2025:13:55:36 +0000[',
    '10/Oct/1850:13:55:36 +0000',
    '21/Sep/1677:00:12:44 +0000',
    '10/Oct/0001:13:55:36 +0000',
    '10/Oct/2999:13:55:36 +0000',
  ];
  const { notes, rows } = await imported(written.map(time => JSON.stringify({ time })).join('\n'));
  expect(notes).toEqual(['No readable timestamp in `time` in 3 rows: they get the time of the import.']);
  expect(rows).toEqual([
    '2025-10-10T11:55:36Z',
    '2025-10-10T21:25:36Z',
    '2025-10-10T13:55:36Z',
    '1850-10-10T13:55:36Z',
    '2026-06-15T12:00:00Z',
    '2026-06-15T12:00:00Z',
    '2026-06-15T12:00:00Z',
  ]);
});

test('an ambiguous zone is reported for the first field with strings', async () => {
  const { body } = await importText('in.csv', 'date,time\n,2024-02-01 10:00:00 IST\n');
  expect((body as { readonly notes: readonly string[] }).notes).toEqual([
    'Times in `time` have the zone IST, which is ambiguous: set one such as Asia/Kolkata with `--zone`. Until then, every row gets the time of the import and matches every time range.',
  ]);
});

test.each([
  [
    '{"finish_time":1700000000123,"id":1700000000123}',
    '`finish_time` holds timestamps: choose one, for example with `--time finish_time`.',
  ],
  [
    '{"doneAt":1700000000,"latency_time":12}',
    '`doneAt` holds timestamps: choose one, for example with `--time doneAt`.',
  ],
  [
    '{"beginTs":1700000000,"endTs":1700000001}',
    '`beginTs`, `endTs` hold timestamps: choose one, for example with `--time beginTs`.',
  ],
])('a note names fields whose names and numbers are times: %s', async (text, note) => {
  expect((await imported(text)).notes.join()).toContain(note);
});

async function imported(
  text: string,
): Promise<{ readonly notes: readonly string[]; readonly rows: readonly string[] }> {
  const { status, body, dataset } = await importText('in.ndjson', text);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const { notes } = body as { readonly notes: readonly string[] };
  const nanos = await stored(dataset, 'epoch_ns(_time)');
  return { notes, rows: nanos.map(each => formatTime(BigInt(each), 'fewest')) };
}
