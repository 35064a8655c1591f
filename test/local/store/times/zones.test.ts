import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqlText } from '../../../../kernel/local/duckdb/duckdb-literal.js';
import { eventTimeNs } from '../../../../kernel/local/functions/event-time.js';
import { inZone } from '../../../../kernel/local/store/times/time-zone.js';

// ---- a local time is read the same way with a zone in its text, by JavaScript, and with `--zone`, by the engine ----

let instance: DuckDBInstance;
beforeAll(async () => {
  instance = await DuckDBInstance.create();
});
afterAll(() => instance.closeSync());

/** Reads local times, such as 2026-03-29 02:30:00, in a zone with SQL: nanoseconds since 1970, null for a time skipped by the clocks. */
async function bySql(zone: string, times: readonly string[]): Promise<readonly (string | null)[]> {
  const connection = await instance.connect();
  const values = times.map((time, index) => `(${index}, ${sqlText(time)})`).join(', ');
  const time = inZone('s::TIMESTAMP_NS', 's', zone);
  const answer = await connection.run(
    `SELECT epoch_ns(${time})::VARCHAR FROM (VALUES ${values}) AS v(i, s) ORDER BY i`,
  );
  const rows = await answer.getRows();
  connection.closeSync();
  return rows.map(([ns]) => (ns === null ? null : String(ns)));
}

function byScript(zone: string, times: readonly string[]): readonly (string | null)[] {
  return times.map(time => eventTimeNs(`${time} ${zone}`, 0n, '')?.toString() ?? null);
}

test.each([
  ['Europe/Berlin', '2026-03-29 01:59:59', '2026-03-29T00:59:59Z'],
  ['Europe/Berlin', '2026-03-29 02:00:00', null],
  ['Europe/Berlin', '2026-03-29 02:59:59', null],
  ['Europe/Berlin', '2026-03-29 03:00:00', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25 01:59:59', '2026-10-24T23:59:59Z'],
  ['Europe/Berlin', '2026-10-25 02:00:00', '2026-10-25T00:00:00Z'],
  ['Europe/Berlin', '2026-10-25 02:59:59', '2026-10-25T00:59:59Z'],
  ['Europe/Berlin', '2026-10-25 03:00:00', '2026-10-25T02:00:00Z'],
  // A jump of two hours, in the last spring of the war.
  ['Europe/Berlin', '1945-05-24 02:30:00', null],
  ['America/New_York', '2026-03-08 02:30:00', null],
  ['America/New_York', '2026-11-01 01:30:00', '2026-11-01T05:30:00Z'],
  ['Australia/Lord_Howe', '2026-10-04 02:15:00', null],
  ['Australia/Lord_Howe', '2026-04-05 01:45:00', '2026-04-04T14:45:00Z'],
  ['Asia/Kolkata', '2026-01-01 00:00:00', '2025-12-31T18:30:00Z'],
  ['Asia/Kathmandu', '2026-01-01 00:00:00', '2025-12-31T18:15:00Z'],
  ['Pacific/Kiritimati', '2026-01-01 00:00:00', '2025-12-31T10:00:00Z'],
  // A skipped day.
  ['Pacific/Apia', '2011-12-30 12:00:00', null],
  ['Pacific/Apia', '2011-12-31 00:00:00', '2011-12-30T10:00:00Z'],
  // Offsets with seconds.
  ['Europe/Amsterdam', '1890-01-01 00:00:00', '1889-12-31T23:42:30Z'],
  ['America/New_York', '1880-01-01 12:00:00', '1880-01-01T16:56:02Z'],
  ['Africa/Monrovia', '1960-01-01 00:00:00', '1960-01-01T00:44:30Z'],
])('a local time is read: %s, %s', async (zone, local, utc) => {
  const ns = utc === null ? null : String(BigInt(Date.parse(utc)) * 1_000_000n);
  expect([await bySql(zone, [local]), byScript(zone, [local])]).toEqual([[ns], [ns]]);
});

const zones = [
  ...[
    'Europe/Berlin',
    'Europe/London',
    'Europe/Dublin',
    'Europe/Amsterdam',
    'Europe/Moscow',
    'Europe/Lisbon',
  ],
  ...['America/New_York', 'America/Los_Angeles', 'America/St_Johns', 'America/Caracas', 'America/Sao_Paulo'],
  ...['Asia/Kolkata', 'Asia/Kathmandu', 'Asia/Kabul', 'Asia/Pyongyang', 'Asia/Shanghai', 'Asia/Manila'],
  ...['Africa/Cairo', 'Africa/Monrovia', 'Africa/Lagos', 'Africa/Johannesburg', 'Africa/Algiers'],
  ...['Australia/Lord_Howe', 'Australia/Adelaide', 'Pacific/Apia', 'Pacific/Kiritimati', 'Pacific/Chatham'],
  ...['Antarctica/Troll', 'America/Metlakatla', 'Pacific/Kwajalein'],
];

/** Offsets in seconds around a clock change, relative to the local times before and after it. */
const around = [-7200, -3600, -1, 0, 1800, 3600, 7200];

test.each(zones)('%s: SQL and JavaScript read the hours around clock changes alike', async zone => {
  const times = [...new Set(changesOf(zone).flatMap(shownAround))];
  const read = await bySql(zone, times);
  const unlike = byScript(zone, times).flatMap((ns, index) =>
    ns === read[index] ? [] : [`${times[index]}: ${ns} and ${read[index]}`],
  );
  expect(unlike).toEqual([]);
  expect(times.length).toBeGreaterThan(around.length);
});

interface Change {
  readonly ms: number;
  readonly before: number;
  readonly after: number;
}

/** Returns the clock changes of a zone from 1875 to 2026. */
function changesOf(zone: string): readonly Change[] {
  const months = Array.from({ length: 12 * 152 }, (_, index) => Date.UTC(1875, index, 1));
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const ahead = months.map(ms => aheadOf(clock, ms));
  return months.slice(1).flatMap((end, index) => {
    const [start = 0, before = 0, after = 0] = [months[index], ahead[index], ahead[index + 1]];
    if (before === after) return [];
    let [from, to] = [start, end];
    while (to - from > 1000) {
      const middle = from + Math.floor((to - from) / 2000) * 1000;
      if (aheadOf(clock, middle) === before) from = middle;
      else to = middle;
    }
    return [{ ms: to, before, after }];
  });
}

function shownAround({ ms, before, after }: Change): readonly string[] {
  return [before, after].flatMap(offset =>
    around.map(seconds =>
      new Date(ms + offset + seconds * 1000).toISOString().slice(0, 19).replace('T', ' '),
    ),
  );
}

/** Returns a clock's offset from UTC, in milliseconds. */
function aheadOf(clock: Intl.DateTimeFormat, ms: number): number {
  const shown = clock.format(ms);
  return Date.parse(`${shown.replace(' ', 'T')}Z`) - ms;
}

test.each([
  ['@40000000433225833b6e1a8c', 1_127_359_865_997_071_500n],
  ['@4000000043322584', 1_127_359_866_000_000_000n],
  // Span and trace ids.
  ['4bf92f3577b34da6', null],
  ['@4bf92f3577b34da6a3ce929d', null],
  ['40000000433225833b6e1a8c', null],
  ['@4000000143322583', null],
])('%s is read as TAI64 or left as an identifier', (text, ns) => {
  expect(eventTimeNs(text, 1_780_000_000_000_000_000n, '')).toBe(ns);
});
