import { expect, test } from 'vitest';
import type { ShownSpan } from '../../../kernel/result/trace/trace-spans.js';
import { traceOf } from '../../../kernel/result/trace/trace-tree.js';
import { traceSentences, waterfallHtml, waterfallText } from '../../../kernel/result/trace/waterfall.js';

const span = (
  id: string,
  parent: string | undefined,
  start: number,
  duration: number,
  more: Partial<ShownSpan> = {},
): ShownSpan => ({
  ...{ id, ...(parent === undefined ? {} : { parent }) },
  ...{ start: 1_767_225_600_000_000_000n + BigInt(start), duration: BigInt(duration) },
  ...{
    service: 'cart',
    name: `step ${id}`,
    kind: '',
    isFailed: false,
    message: '',
    row: 0,
    events: 0,
    links: 0,
  },
  ...more,
});

test('counts the problems of a trace by kind', () => {
  const trace = traceOf([
    span('a', undefined, 0, 10),
    span('orphan', 'nowhere', 1, 2, { isFailed: true, service: 'shop' }),
    span('x', 'y', 20, 5),
    span('y', 'x', 21, 5),
    span('self', 'self', 3, 1),
    span('a', undefined, 5, 1),
    span('ahead', 'orphan', 0, 2),
    span('over', 'a', 5, 9),
    span('last', undefined, 30, 1),
  ]);
  expect(traceSentences(trace)).toEqual([
    '9 spans of 2 services, 31ns from 2026-01-01T00:00:00Z; 1 span failed.',
    '1 span whose parent is missing: it was not sent or is outside the range.',
    '2 cycles: spans that are their own callers, cut before the earliest.',
    '1 span with the id of an earlier one.',
    '1 span that started before the caller: host clocks differ.',
    '2 spans that ended after the caller, which did not wait, or clocks differ.',
    '2 gaps in which no span ran, 6ns at most.',
  ]);
  expect(traceSentences(traceOf([span('a', undefined, 0, 10)]))).toEqual([
    '1 span of 1 service, 10ns from 2026-01-01T00:00:00Z.',
  ]);
});

test('renders a text tree with bars on one axis', () => {
  const trace = traceOf([
    span('a', undefined, 0, 100),
    span('b', 'a', 25, 50, { isFailed: true }),
    span('c', 'b', 30, 0, {
      name: 'a step whose name is longer than any line has room for it',
      service: 'x',
    }),
  ]);
  const at = (width: number) => waterfallText('Trace t', trace, width).split('\n');
  expect(at(80)).toEqual([
    'Trace t',
    '3 spans of 2 services, 100ns from 2026-01-01T00:00:00Z; 1 span failed.',
    '',
    '                      +0s                       +100ns',
    'cart step a           ████████████████████████████████  100ns  *',
    '  cart step b         ········████████████████········   50ns  * ✖',
    '    x a step whose …  ·········█······················     0s',
    '',
    '* on the critical path',
  ]);
  const names = (width: number) => at(width)[6]?.slice(0, at(width)[6]?.indexOf('·'));
  expect(names(20)).toBe('    x a step whose …  ');
  expect(names(93)).toBe('    x a step whose n…  ');
  expect(names(200)).toBe('    x a step whose name is longer than any line has room fo…  ');
});

test('has times at each quarter of the axis', () => {
  const html = waterfallHtml('Trace t', traceOf([span('a', undefined, 0, 100)]));
  const [, axis = ''] = /<div aria-hidden="true"(.*?)<\/div>/s.exec(html) ?? [];
  expect(axis.match(/\+\d+\w+/g)).toEqual(['+0s', '+25ns', '+50ns', '+75ns', '+100ns']);
});

test('describes each span in a saved notebook, and says if only the first are drawn', () => {
  const spans = Array.from({ length: 501 }, (_, at) =>
    span(`s${at}`, at === 0 ? undefined : 's0', at, 1_000 - at, at === 1 ? { events: 2, links: 1 } : {}),
  );
  const [few, many] = [traceOf(spans.slice(0, 2)), traceOf(spans)];
  const html = waterfallHtml('Trace t', few);
  expect(html).toContain('2 events \u00b7 1 link');
  expect(html).not.toContain('are drawn;');
  const rows = (text: string) => text.match(/step s\d+/g)?.length;
  const drawn = waterfallHtml('Trace t', many);
  expect(drawn).toContain('The first 500 of 501 spans are drawn; the table below has all.');
  // Each name is beside its bar and in its tooltip.
  expect(rows(drawn)).toBe(2 * 500);
  const text = waterfallText('Trace t', many);
  expect(text).toContain('The first 60 of 501 spans are drawn; the table below has all.');
  expect(rows(text)).toBe(60);
});
