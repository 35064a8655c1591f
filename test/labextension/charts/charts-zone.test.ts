import { afterAll, beforeAll, expect, test } from 'vitest';
import { interactiveSpec } from '../../../kernel/result/chart/draw/spec.js';
import { fullTimestamp, timestampText } from '../../../labextension/src/charts/charts-texts.js';
import { inZone } from '../../../labextension/src/charts/charts-zone.js';
import { timesIn } from '../../../labextension/src/link/link-zone.js';
import { buckets, chartOf, minute } from '../../result/chart/fixtures.js';
import { cells } from '../../result/sample.js';

const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = 'Asia/Kolkata';
});
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test('a chart shows times in the chosen zone on axes and in tooltips, and leaves its data unchanged', async () => {
  const names = cells(3, () => "utcFormat(datum.t) 'time (UTC)'");
  const { model } = await chartOf({
    columns: [
      ['_time', 'datetime', cells(3, minute)],
      ['service', 'string', names],
      ['n', 'integer', '[1,2,3]'],
    ],
    buckets,
    groups: ['service'],
    aggs: { n: { name: 'avg' } },
  });
  const spec = interactiveSpec(model, 'a chart');
  const facts = { start: Date.parse(minute(0)), end: Date.parse(minute(3)) };
  expect(inZone(spec, facts, 'utc')).toBe(spec);
  const local = inZone(spec, facts, 'local');
  const drawn = ({ data: _, usermeta: __, signals: ___, ...rest }: typeof spec) => JSON.stringify(rest);
  expect(drawn(spec)).toContain('utcFormat(');
  expect(drawn(spec)).toContain('time (UTC)');
  expect(drawn(local)).not.toMatch(/utcFormat\(|"utc"|time \(UTC\)/);
  expect(drawn(local)).toContain('time (UTC+05:30)');
  expect(drawn(local)).toContain('2026-11-20, UTC+05:30');
  expect(drawn(local)).not.toMatch(/UTC(?!\+05:30)/);
  const odd = { ...spec, data: [{ name: 'odd', values: [{ type: 'utc', signal: 'utcFormat(' }] }] };
  expect(inZone(odd, facts, 'local').data).toEqual(odd.data);
});

test('timestamps and headlines use the chosen zone', () => {
  const t = Date.UTC(2026, 10, 20, 20, 0, 0, 5);
  expect(timestampText(t, 'utc')).toBe('2026-11-20 20:00:00.005');
  expect(fullTimestamp(t - 5, 'local')).toBe('2026-11-21 01:30:00 UTC+05:30');
  expect(timesIn('7 rows \u00b7 2026-11-20T20:00:00Z to 2026-11-20T21:00:00.5Z', 'local')).toBe(
    '7 rows \u00b7 2026-11-21T01:30:00+05:30 to 2026-11-21T02:30:00.5+05:30',
  );
});
