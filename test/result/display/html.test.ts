import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toHtml } from '../../../kernel/result/display/html.js';
import { footerParts } from '../../../kernel/result/display/summary.js';
import { cells, type SampleTable, sampleResult } from '../sample.js';

/** Returns the text of each element with this tag, without the tags inside. */
function texts(html: string, tag: string): string[] {
  return [...html.matchAll(new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, 'gs'))].map(([, inner]) =>
    (inner as string).replace(/<[^>]*>/g, ''),
  );
}

const HOSTILE = `<script>alert(1)</script>"'\`&<img src=x onerror=alert(1)>`;
const ESCAPED =
  '&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#96;&#38;&#60;img src=x onerror=alert(1)&#62;';

test('renders a table with its range, units, order, totals and footer', () => {
  const table: SampleTable = {
    columns: [
      ['_time', 'datetime', '["2026-11-20T09:00:00.5Z","2026-11-20T09:00:00.123456789Z"]'],
      ['bytes', 'integer', '[9223372036854775807,null]'],
      ['took', 'timespan', '[1500000000,"5m0.004487127s"]'],
    ],
    order: [{ field: '_time', desc: true }],
  };
  const totals: SampleTable = { name: '_totals', columns: [['bytes', 'integer', '[12]']] };
  const html = toHtml(
    sampleResult([table, totals], {
      meta: [{ name: 'bytes', unit: 'decbytes', description: 'Bytes "sent"' }],
    }),
  );
  expect(texts(html, 'p')).toEqual([
    '2 rows \u00d7 3 columns \u00b7 last 1h',
    '55 ms (42 ms in the service) \u00b7 5,000,000 rows examined \u00b7 9 of 12 blocks cached',
  ]);
  expect(html).toContain('<span title="2026-11-20T09:00:00Z to 2026-11-20T10:00:00Z">last 1h</span>');
  expect(texts(html, 'summary')).toEqual(['Totals \u00b7 1 row \u00d7 1 column']);
  expect(texts(html, 'caption')).toEqual([
    'Result, 2 rows \u00d7 3 columns',
    'Totals, 1 row \u00d7 1 column',
  ]);
  expect(html).toContain('role="region" aria-label="Result, 2 rows \u00d7 3 columns" tabindex="0"');
  expect(texts(html, 'th')).toEqual([
    '_time\u2193datetime',
    'byteslong \u00b7 decbytes',
    'tooktimespan',
    'byteslong \u00b7 decbytes',
  ]);
  expect(texts(html, 'td')).toEqual([
    '2026-11-20T09:00:00.500Z',
    '9,223 PB',
    '1.5 s',
    '2026-11-20T09:00:00.123456789Z',
    'null',
    '5.000075 min',
    '12 B',
  ]);
  expect(html).toContain('<td title="9223372036854775807">9,223 PB</td>');
  const edge = 'vertical-align:bottom;white-space:pre;border-bottom:1px solid';
  expect(html).toContain(
    `<th scope="col" style="text-align:right;${edge}" title="bytes&#10;Bytes &#34;sent&#34;"><u>bytes</u>`,
  );
  expect(html).toContain('<td class="z">null</td>');
});

describe('a line above the table names every limit:', () => {
  const notices = (html: string) => texts(html, 'li');

  test('rows', () => {
    const html = toHtml(sampleResult([{ columns: [['i', 'integer', cells(1500, row => row)]] }]));
    expect(notices(html)).toEqual([
      'Showing the first 30 of 1,500 rows; %rows N shows more. The kernel has all of them.',
    ]);
    expect(texts(html, 'td').length).toBe(30);
    expect(html.indexOf('Showing the first')).toBeLessThan(html.indexOf('<table'));
  });

  test('bytes, for two hundred columns of a thousand rows', () => {
    const columns = Array.from(
      { length: 200 },
      (_, index) => [`column ${index}`, 'integer', cells(1000, row => row * index)] as const,
    );
    const html = toHtml(sampleResult([{ columns }]));
    expect(Buffer.byteLength(html)).toBeLessThan(80_000);
    const rows = html.split('<tr>').length - 2;
    expect(notices(html)).toEqual([
      `Showing the first ${rows} of 1,000 rows; more would make the notebook too large. The kernel has all of them.`,
    ]);
    expect(texts(html, 'td').length).toBe(rows * 200);
  });

  test('columns, if the header alone is too large', () => {
    const columns = Array.from({ length: 300 }, (_, index) => [`column ${index}`, 'integer', '[1]'] as const);
    const html = toHtml(sampleResult([{ columns }]), { rows: 1000, head: 1000, bytes: 10_000 });
    const shown = texts(html, 'th').length;
    expect(shown).toBeLessThan(300);
    expect(notices(html)).toEqual([
      `Showing the first ${shown} of 300 columns; add a project with the fields you need. The kernel has all of them.`,
    ]);
    expect(texts(html, 'td').length).toBe(shown);
  });

  test('messages of the service and the decoder', () => {
    const result = sampleResult([{ columns: [['i', 'integer', '[1,"x"]']] }], {
      status: {
        isPartial: true,
        isEstimate: true,
        messages: [
          { priority: 'warn', count: 3, code: 'a', msg: 'field <x>' },
          { priority: 'debug', count: 1, code: 'b', msg: 'not shown' },
        ],
      },
      notices: [{ level: 'warn', text: 'At most 1,000 rows were asked for.' }],
    });
    expect(notices(toHtml(result))).toEqual([
      'At most 1,000 rows were asked for.',
      'The result contains only part of the rows: the service did not read all data in the range.',
      'The result contains an estimate: the service did not count every row.',
      'field &#60;x&#62; (3 times)',
      'The field &#34;i&#34; is declared integer, but row 2 holds a string that does not fit; its values are kept as JSON text.',
    ]);
  });

  test('no rows or no tables', () => {
    expect(texts(toHtml(sampleResult([{ columns: [['i', 'integer', '[]']] }])), 'p')[0]).toBe(
      '0 rows \u00d7 1 column \u00b7 last 1h',
    );
    expect(texts(toHtml(sampleResult([])), 'p')[0]).toBe('The query returned no table.');
  });
});

test('shows the profile and the trace unless the result is local', () => {
  const html = toHtml(
    sampleResult([{ columns: [['i', 'integer', '[1]']] }], {
      provenance: { profile: 'prod', isLocal: false },
    }),
  );
  expect(texts(html, 'p')).toEqual([
    'profile prod \u00b7 1 row \u00d7 1 column \u00b7 last 1h',
    '55 ms (42 ms in the service) \u00b7 5,000,000 rows examined \u00b7 9 of 12 blocks cached \u00b7 trace trace-1',
  ]);
});

test('renders code in notices', () => {
  const html = toHtml(
    sampleResult([{ columns: [['i', 'integer', '[1]']] }], {
      notices: [{ level: 'info', text: '`a < b` and `c`, one ` alone' }],
    }),
  );
  expect(html).toContain('<code>a &#60; b</code> and <code>c</code>, one &#96; alone');
});

test('folds notices about the totals with them', () => {
  const left = {
    priority: 'info',
    count: 1,
    code: 'totals_left_out',
    msg: 'The totals leave out `p95`.',
  } as const;
  const html = toHtml(
    sampleResult(
      [{ columns: [['i', 'integer', '[1]']] }, { name: '_totals', columns: [['i', 'integer', '[1]']] }],
      { status: { messages: [left] } },
    ),
  );
  const [above = '', fold = ''] = html.split('<details');
  expect([above.includes('leave out'), texts(fold, 'li')]).toEqual([false, ['The totals leave out p95.']]);
});

test.each([
  ['name ', 'name\u2423'],
  ['  a b', '\u2423\u2423a b'],
  ['a\u00a0b', 'a\u2423b'],
])('makes invisible spaces of the name %j visible', (name, shown) => {
  expect(texts(toHtml(sampleResult([{ columns: [[name, 'integer', '[1]']] }])), 'th')).toEqual([
    `${shown}long`,
  ]);
});

test.each([
  ['0.36133139999999986', '0.3613314'],
  ['123456789.12345679', '123,456,789'],
  ['-3.3333333333333335e-7', '-3.333333e-7'],
  ['1.7976931348623157e308', '1.797693e308'],
  ['1234.5678', '1,234.568'],
  ['0.1', '0.1'],
])('shows the real number %s as %s, with all digits in its tooltip', (exact, shown) => {
  const html = toHtml(sampleResult([{ columns: [['f', 'float', `[${exact}]`]] }]));
  const full = String(Number(exact));
  expect(html).toContain(full === shown ? `<td>${shown}</td>` : `<td title="${full}">${shown}</td>`);
});

test('print styles expand scroll boxes and folds', () => {
  const html = toHtml(sampleResult([{ columns: [['i', 'integer', '[1]']] }]));
  const print = html.slice(html.indexOf('@media print'), html.indexOf('</style>'));
  expect(print).toContain('.apl-box{max-height:none!important;overflow:visible!important');
  expect(print).toContain('::details-content{display:block;content-visibility:visible}');
});

test('styles a chart image to be no wider than an exported page', () => {
  const html = toHtml(sampleResult([{ columns: [['i', 'integer', '[1]']] }]));
  expect(html).toMatch(
    /\.jp-OutputArea:has\(\.apl-[0-9a-f]{6}\) \.jp-RenderedSVG>img\{max-width:100%;height:auto\}/,
  );
});

describe('values are escaped:', () => {
  test('in cells, names, units, descriptions, notices, traces', () => {
    const result = sampleResult(
      [{ columns: [[HOSTILE, 'string', JSON.stringify([HOSTILE, HOSTILE.repeat(3)])]] }],
      {
        meta: [{ name: HOSTILE, unit: HOSTILE, description: HOSTILE }],
        notices: [{ level: 'warn', text: HOSTILE }],
        provenance: { traceId: HOSTILE, rangeLabel: HOSTILE, profile: HOSTILE, isLocal: false },
      },
    );
    const html = toHtml(result);
    expect(html.split(ESCAPED).length - 1).toBe(13);
    expect(html).not.toContain('<script');
    expect(html).not.toContain('<img');
  });

  test('long values, truncated with a longer tooltip', () => {
    const html = toHtml(
      sampleResult([{ columns: [['s', 'string', JSON.stringify(['x'.repeat(150), 'y'.repeat(5000)])]] }]),
    );
    expect(html).toContain(
      `<td style="text-align:left" title="${'x'.repeat(150)}">${'x'.repeat(99)}\u2026</td>`,
    );
    expect(html).toContain(
      `<td style="text-align:left" title="${'y'.repeat(1999)}\u2026 (5,000 characters in all)">${'y'.repeat(99)}\u2026</td>`,
    );
  });

  test('any string, leaving only our tags and no raw control characters', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom(HOSTILE, '\u202e', '</style>', '" onclick="x'),
    );
    fc.assert(
      fc.property(text, text, text, (name, value, notice) => {
        const result = sampleResult(
          [{ columns: [[name, 'string', JSON.stringify([value, value.repeat(50)])]] }],
          {
            meta: [{ name, unit: value, description: notice }],
            notices: [{ level: 'info', text: notice }],
          },
        );
        const html = toHtml(result).replace(/<style>.*?<\/style>/s, '');
        const tags = new Set([...html.matchAll(/<\/?([^\s>]*)([^>]*)>/g)].map(([, tag]) => tag as string));
        const own = [
          'div',
          'ul',
          'li',
          'p',
          'span',
          'table',
          'caption',
          'details',
          'summary',
          'code',
          'thead',
          'tbody',
          'tr',
          'th',
          'td',
          'small',
          'u',
          'i',
          'br',
          'wbr',
        ];
        expect([...tags].filter(tag => !own.includes(tag))).toEqual([]);
        const bare = html.replace(/="[^"]*"/g, '=');
        const attributes = [...bare.matchAll(/<[a-z]+([^<>]*)>/g)].flatMap(
          ([, list]) => (list as string).match(/\S+/g) ?? [],
        );
        expect(
          attributes.filter(
            name =>
              !['class=', 'title=', 'tabindex=', 'style=', 'role=', 'aria-label=', 'scope='].includes(name),
          ),
        ).toEqual([]);
        expect(html.replaceAll('\n', '').match(/[\p{Cc}\p{Bidi_Control}\u200b]/u)).toBe(null);
      }),
      { numRuns: 50 },
    );
  });
});

test('styles are scoped to outputs with the same styles', () => {
  const first = toHtml(sampleResult([{ columns: [['i', 'integer', '[1]']] }]));
  const scope = (html: string) =>
    /^<div class="(apl-[0-9a-f]{6}) tex2jax_ignore mathjax_ignore">/.exec(html)?.[1] as string;
  const css = /<style>(.*?)<\/style>/s.exec(first)?.[1] as string;
  const selectors = [...css.matchAll(/(?:^|[}{])\s*([^{}@]+)\{/g)].flatMap(([, list]) =>
    (list as string).split(','),
  );
  expect(selectors.length).toBeGreaterThan(20);
  expect(selectors.filter(selector => !selector.includes(`.${scope(first)}`))).toEqual([]);
});

test('a changed value changes only its line, for line-based notebook diffs', () => {
  const lines = (value: number) =>
    toHtml(
      sampleResult([{ columns: [['n', 'integer', cells(30, row => (row === 7 ? value : row))]] }]),
    ).split('\n');
  const [one, other] = [lines(1), lines(2)];
  const differing = one.flatMap((line, at) => (line === other[at] ? [] : [`${line} / ${other[at]}`]));
  expect([one.length === other.length, differing.map(each => each.length < 200)]).toEqual([true, [true]]);
});

test.each([
  [0.04, '0 ms'],
  [9.94, '9.9 ms'],
  [10.4, '10 ms'],
  [999, '999 ms'],
  [1_000, '1.00 s'],
  [9_990, '9.99 s'],
  [10_000, '10.0 s'],
])('%d ms is shown as %s', (elapsedMs, text) => {
  const status = { elapsedTime: elapsedMs * 1000 };
  const result = sampleResult([{ columns: [['i', 'integer', '[1]']] }], {
    provenance: { elapsedMs },
    status,
  });
  expect(footerParts(result)[0]).toBe(`${text} (${text} in the service)`);
});

test('output of a frozen range omits what varies between runs', () => {
  const run = (elapsedMs: number, traceId: string) =>
    toHtml(
      sampleResult([{ columns: [['i', 'integer', '[1]']] }], {
        provenance: { frozen: true, elapsedMs, traceId, profile: 'prod', isLocal: false },
        status: { elapsedTime: elapsedMs * 1000, blocksCached: elapsedMs },
      }),
    );
  expect(texts(run(12, 'a'), 'p').at(-1)).toBe('5,000,000 rows examined');
  expect(run(12, 'a')).toBe(run(700, 'b'));
});
