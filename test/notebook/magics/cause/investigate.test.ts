import { describe, expect, test } from 'vitest';
import { realBench } from '../../real-bench.js';
import { shown, traceback } from '../../session.js';

/** Ten events a second for twenty minutes; in the last ten those of one host fail. The message of one ends a line. */
const events = Array.from({ length: 12_000 }, (_, index) => {
  const isLater = index >= 6_000;
  const host = `h${index % 7}`;
  const isFailed = isLater && host === 'h3';
  return {
    _time: new Date(Date.UTC(2026, 0, 1, 10, 0, 0, index * 100)).toISOString(),
    host,
    status: isFailed ? '503' : '200',
    duration_ms: 10 + (index % 50),
    message: isFailed ? `no route to\n%drop web ${index}` : `ok ${index}`,
  };
});

const bench = realBench({ web: events });

const nextCell = (run: Awaited<ReturnType<ReturnType<typeof bench>['run']>>) =>
  run.outputs.flatMap(output => (output.kind === 'next cell' ? [output.text] : [])).join('');

describe('%investigate', () => {
  test('says what stands out, and adds a cell that holds', async () => {
    const run = await bench().run("%investigate 2026-01-01T10:10Z..2026-01-01T10:20Z ['web']");
    expect(traceback(run)).toEqual([]);
    const text = shown(run).at(-1) ?? '';
    const [out = '', rest = ''] = text.split('What does not:');
    expect(out).toContain('Failed: 857 (14%), before 0 (0%)');
    expect(out).toContain('100% of the selected events have host = h3, 0% of the others');
    expect(out).toContain('1 new kind of log lines; the most frequent, 857 times');
    expect(rest).toContain('Events: 6,000, before 6,000');
    expect(rest).toContain('No annotation is near it');
    const cell = nextCell(run);
    expect(cell).toMatch(
      /^%%time 2026-01-01T10:00:00Z\.\.2026-01-01T10:20:00Z\n%assert max\(events\) == 6000\n/,
    );
    expect(cell.split('\n').filter(line => line.startsWith('%'))).toHaveLength(2);
    expect(traceback(await bench().run(cell))).toEqual([]);
    const again = await bench().run("%investigate 2026-01-01T10:10Z..2026-01-01T10:20Z ['web']");
    expect(nextCell(again)).toBe(cell);
  });

  test('where nothing stands out it says so', async () => {
    const run = await bench().run("%investigate 2026-01-01T10:05Z..2026-01-01T10:08Z ['web']");
    expect(traceback(run)).toEqual([]);
    expect(shown(run).at(-1)).toContain('Nothing stands out.');
  });

  test.each([
    ['sample-http-logs', 'GRU', /99 of 100 events have req_duration_ms of at most [\d.]+, before [\d.]+\./],
    [
      'otel-demo-traces',
      'checkout',
      /99 of 100 events have duration of at most [\d.]+ ms, before [\d.]+ ms\./,
    ],
    ['otel-demo-traces', 'checkout', /The slowest trace, of [\d.]+ ms, is [\da-f]{32}\./],
  ])('of %s', async (name, cause, sentence) => {
    const run = await bench().run(`%investigate 2026-01-26T15:09Z..2026-01-26T15:36Z ['${name}']`);
    expect(traceback(run)).toEqual([]);
    const text = shown(run).at(-1) ?? '';
    expect(text).toContain(cause);
    expect(text).toMatch(sentence);
    expect(traceback(await bench().run(nextCell(run)))).toEqual([]);
  });

  test.each<[string, string]>([
    ["%investigate ['web']", 'give a time or a range'],
    ["%investigate sometime ['web']", 'sometime'],
    ["%investigate now ['nothing']", 'nothing'],
  ])('%s is refused', async (cell, words) => {
    expect(traceback(await bench().run(cell)).join('\n')).toContain(words);
  });
});
