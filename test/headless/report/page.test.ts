import { describe, expect, test } from 'vitest';
import type { Notebook, NotebookCell } from '../../../kernel/headless/notebook.js';
import { notebookPage, type ReportOptions } from '../../../kernel/headless/report/page.js';
import { ARROW_MIME, type OutputOptions, toBundle } from '../../../kernel/result/mime.js';
import { cells, type SampleColumn, sampleResult } from '../../result/sample.js';

const markdown = (source: string) => ({ cell_type: 'markdown', metadata: {}, source });
const code = (source: string, ...outputs: readonly object[]) => ({
  cell_type: 'code',
  execution_count: 1,
  metadata: {},
  source,
  outputs,
});

function page(cells: readonly object[], options: Partial<ReportOptions> = {}): string {
  const notebook: Notebook = {
    cells: cells as NotebookCell[],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  };
  return notebookPage(notebook, { title: 'file-name', ...options });
}

function result(apl: object): object {
  return {
    output_type: 'execute_result',
    execution_count: 1,
    data: { 'text/html': '<b>7</b>' },
    metadata: { apl },
  };
}

test('an image has an escaped text alternative', () => {
  const data = { 'image/svg+xml': '<svg/>', 'text/plain': 'Chart of "a" <b>\u001b[31m over time.' };
  expect(page([code('', { output_type: 'display_data', data, metadata: {} })])).toContain(
    '<img alt="Chart of &#34;a&#34; &#60;b&#62; over time." src="data:image/svg+xml;base64,PHN2Zy8+">',
  );
});

test('a page runs no scripts and loads nothing remote, whatever its cells contain', () => {
  const evil = '<script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>';
  const html = page([
    markdown(`# ${evil}\n\n${evil}\n\n[x](javascript:alert(1)) ![y](https://evil.example/y.png)`),
    code(`%param evil = "${evil}"\n// ${evil}`, { output_type: 'stream', name: 'stdout', text: evil }),
    code(
      'web',
      result({ startTime: evil, endTime: evil, profile: evil, datasets: [evil], kernelVersion: evil }),
    ),
  ]);
  expect(html).not.toMatch(/<script|onerror=alert\(1\)>|href="javascript/i);
  expect(html.match(/<img[^>]*src="(?!data:)/g)).toEqual(['<img src="']);
  expect(html).toContain("default-src 'none'; img-src data:; style-src 'unsafe-inline'");
});

describe('the facts below the title', () => {
  const window = { startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-02T00:00:00Z' };

  test('list range, profile, data, parameters and versions', () => {
    const html = page([
      markdown('# The *week*\n\nText.'),
      code('%param city = "A & B" slow = 500 --choices 500, 900'),
      code(
        '%param slow = 900\nweb',
        result({ ...window, frozen: true, profile: 'prod', datasets: ['web'], kernelVersion: '1.2.3' }),
      ),
    ]);
    expect(html).toContain('<title>The *week*</title>');
    expect(html).toContain('<h1>The <em>week</em></h1>');
    expect(/<dl class="facts">.*<\/dl>/.exec(html)?.[0]).toBe(
      '<dl class="facts"><dt>Time range</dt><dd>2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z</dd>' +
        '<dt>Profile</dt><dd>prod</dd><dt>Data</dt><dd>web</dd>' +
        '<dt>Parameters</dt><dd>city = &#34;A &#38; B&#34;, slow = 900</dd>' +
        '<dt>Versions</dt><dd>apl-kernel 1.2.3</dd></dl>',
    );
  });

  /** Returns the parameters that the page lists for these cells and their outputs. */
  const parameters = (cells: readonly object[]) =>
    /<dt>Parameters<\/dt><dd>(.*?)<\/dd>/.exec(page(cells))?.[1];

  test.each<[string, readonly object[], string]>([
    [
      'a string that contains an assignment',
      [code('%param service="a b=c" n = 2')],
      'service = &#34;a b=c&#34;, n = 2',
    ],
    [
      'a string that contains an option',
      [code('%param a = "x --choices y" b=1')],
      'a = &#34;x --choices y&#34;, b = 1',
    ],
    ['a list', [code('%param list = ["a=1", "b"] --prompt')], 'list = [&#34;a=1&#34;, &#34;b&#34;]'],
    [
      'a default without a `%param` line',
      [
        code('%param n = 5'),
        code('declare query_parameters(n: long = 1, city: string = "Rome", free: long);\nweb'),
      ],
      'n = 5, city = &#34;Rome&#34;, free = not set',
    ],
    [
      'a value typed at a prompt',
      [
        code('%param city = "Rome" --prompt'),
        code('web', result({ ...window, variables: { city: 'Oslo' } })),
      ],
      'city = &#34;Oslo&#34;',
    ],
    [
      'every value of a parameter that changes',
      [
        code('%param slow = 500\nweb', result({ ...window, variables: { slow: 500 } })),
        code('%param slow = 900\nweb', result({ ...window, variables: { slow: 900 } })),
      ],
      'slow = 500, then 900',
    ],
  ])('list parameters: %s', (_, cells, expected) => {
    expect(parameters(cells)).toBe(expected);
  });

  test('give the interval around all windows, and say that some follow the clock', () => {
    const later = { startTime: '2026-01-05T00:00:00Z', endTime: '2026-01-06T00:00:00Z', frozen: false };
    const html = page([code('a', result({ ...window, frozen: true })), code('b', result(later))]);
    expect(html).toContain(
      '<dd>2026-01-01T00:00:00Z to 2026-01-06T00:00:00Z, in 2 windows, each above its result; some follow the clock of the run</dd>',
    );
  });

  test('are omitted if nothing ran, and the file name is the title', () => {
    const html = page([markdown('Text')]);
    expect([html.includes('<dl'), html.includes('<h1>file-name</h1>')]).toEqual([false, true]);
  });
});

test('a page shows no access tokens', () => {
  const cells = [
    markdown('# By xaat-1234-0\n\nUse xaat-1234-a here'),
    code('%param key = "xaat-1234-1"'),
    { ...markdown('xaat-1234-b'), cell_type: 'raw' },
    code('// xaat-1234-c\nprint "xapt-1234-d"', {
      output_type: 'stream',
      name: 'stdout',
      text: 'xaat-1234-e',
    }),
    code('', { output_type: 'error', ename: 'e', evalue: 'v', traceback: ['xaat-1234-f'] }),
  ];
  expect(page(cells).replace(/<[^>]*>/g, '')).not.toMatch(/1234/);
});

describe('cells', () => {
  const cells = [code("%time last 1h\n['web'] | where n > 5 // <b>", result({}))];

  test("are highlighted with the editor's grammar", () => {
    const html = page(cells);
    expect(html).toContain('<span class="tok-keyword">where</span>');
    expect(html).toContain('<span class="tok-comment">// &#60;b&#62;</span>');
    expect(html).toContain('<span class="tok-number">5</span>');
  });

  test('are shown, folded or hidden, and always keep their outputs', () => {
    const views = (['show', 'fold', 'hide'] as const).map(view => page(cells, { code: view }));
    expect(views.map(html => html.includes('class="source"'))).toEqual([true, true, false]);
    expect(views.map(html => html.includes('<details class="code">'))).toEqual([false, true, false]);
    expect(views.map(html => html.includes('<b>7</b>'))).toEqual([true, true, true]);
  });
});

test('results side by side stay so on the page, even with untrusted metadata', () => {
  const html = page([
    code('web', result({ beside: 1 }), result({ beside: 2 }), result({ beside: '"><script>' })),
  ]);
  const body = html.slice(html.indexOf('<main>'));
  expect(body.match(/<div class="(?:columns|apl-beside[^"]*)">/g)).toEqual([
    '<div class="columns">',
    '<div class="apl-beside apl-beside-1">',
    '<div class="apl-beside apl-beside-2">',
  ]);
  expect(body).not.toContain('script');
  expect(page([code('web', result({}))]).split('<main>')[1]).not.toContain('columns');
});

describe('output of setup lines', () => {
  const cells = [
    code('%use local', { output_type: 'stream', name: 'stdout', text: 'Using local' }),
    code('%import a.csv', { ...result({ setup: true }), data: { 'text/html': '<i>field table</i>' } }),
    code(
      '%assert rows > 0\nweb\n| take 1',
      { output_type: 'stream', name: 'stdout', text: 'holds:  rows > 0 (rows is 1)\n' },
      { output_type: 'stream', name: 'stderr', text: 'careful' },
      result({}),
    ),
    code('%assert n > 1', { output_type: 'error', ename: 'e', evalue: 'v', traceback: ['n is 0'] }),
  ];
  const found = (html: string) =>
    [
      'Using local',
      'field table',
      'holds:',
      'careful',
      '<b>7</b>',
      'n is 0',
      'small > span:first-child',
    ].filter(text => html.includes(text));

  test('is omitted along with field types, but warnings, results and failures stay', () => {
    expect(found(page(cells))).toEqual(['careful', '<b>7</b>', 'n is 0', 'small > span:first-child']);
    expect(found(page(cells, { setup: true }))).toEqual([
      'Using local',
      'field table',
      'holds:',
      'careful',
      '<b>7</b>',
      'n is 0',
    ]);
  });

  test('is not counted as code to unfold', () => {
    const folds = (options: Partial<ReportOptions>) =>
      page(cells, options).match(/<details class="code">/g)?.length;
    expect([folds({ code: 'fold' }), folds({ code: 'fold', setup: true })]).toEqual([1, 4]);
  });

  test('is kept in a notebook of another language', () => {
    const html = notebookPage(
      {
        cells: cells as NotebookCell[],
        metadata: { kernelspec: { name: 'python3', language: 'python' } },
        nbformat: 4,
        nbformat_minor: 5,
      },
      { title: 't' },
    );
    expect(html).toContain('Using local');
  });
});

describe('the data of a table', () => {
  const columns: readonly SampleColumn[] = [
    ['name', 'string', '["a\\"b", "=1+1", "ü", null]'],
    ['n', 'integer', '[9223372036854775807, 2, 3, null]'],
  ];
  const output = (rows: Partial<OutputOptions> = {}) => {
    const { data, metadata } = toBundle(sampleResult([{ columns }]), rows);
    return { output_type: 'execute_result', execution_count: 1, data, metadata };
  };
  const link = (html: string) =>
    /<p class="data"><a download="(.*?)" href="(.*?)">(.*?)<\/p>/.exec(html) ?? [];

  test('can be downloaded as exact CSV without formulas', () => {
    const [, name, href = '', rest] = link(page([markdown('# Wöchentlich: 5xx!'), code('web', output())]));
    expect([name, rest]).toEqual(['Wöchentlich-5xx.csv', 'Data as CSV</a>']);
    expect(href.startsWith('data:text/csv;charset=utf-8;base64,')).toBe(true);
    expect(Buffer.from(href.split(',')[1] ?? '', 'base64').toString()).toBe(
      'name,n\n"a""b",9223372036854775807\n\'=1+1,2\nü,3\n,\n',
    );
  });

  test.each<readonly [heading: string, name: string]>([
    ['# -- 5xx / p99 --', '5xx-p99'],
    ['# \u{1f4c8} !', 'data'],
    [`# ${'\u{20000}'.repeat(61)}`, '\u{20000}'.repeat(60)],
    ['# u\u0308ber', 'über'],
  ])('is named after the heading: %j', (heading, name) => {
    expect(link(page([markdown(heading), code('web', output())]))[1]).toBe(`${name}.csv`);
  });

  test('says how much of a large result the notebook has', () => {
    const many: readonly SampleColumn[] = [['n', 'integer', cells(50_000, row => (row * 7_919) % 50_021)]];
    const { data, metadata } = toBundle(sampleResult([{ columns: many }]));
    const html = page([code('web', { output_type: 'display_data', data, metadata })]);
    expect(link(html)[3]).toMatch(/^Data as CSV<\/a> \(the first [\d,]+ of 50,000 rows\)$/);
    expect(html).toMatch(/Showing the first [\d,]+ of 50,000 rows<span class="apl-advice">/);
    expect(html).toContain('.apl-advice { display: none; }');
  });

  test('is omitted if the notebook has none, or if it is damaged', () => {
    const damaged = { ...output(), data: { ...output().data, [ARROW_MIME]: 'AAAA' } };
    expect([output({ byteBudget: 0 }), damaged].map(each => link(page([code('web', each)])).length)).toEqual([
      0, 0,
    ]);
  });
});

test('each heading starts a part, so that printed pages can break between parts', () => {
  const html = page([
    markdown('# T'),
    code('a'),
    markdown('## One'),
    code('b'),
    markdown('### Sub'),
    markdown('## Two'),
  ]);
  expect(
    html
      .split('<div class="part">')
      .slice(1)
      .map(part => part.match(/<h[23]>/g)?.join('') ?? ''),
  ).toEqual(['', '<h2><h3>', '<h2>']);
});

test('right-to-left names stay isolated, and other invisible marks are shown', () => {
  const text = 'no `\u2068\u05e9<\u2069` 5 \u2068\u202e\u2069 \u2068x';
  const error = { output_type: 'error', ename: 'e', evalue: text, traceback: [text] };
  const data = { 'text/plain': text };
  const html = page([code('', error, { output_type: 'display_data', data, metadata: {} })]);
  const shown =
    'no &#96;<bdi>\u05e9&#60;</bdi>&#96; 5 \u27e8U+2068\u27e9\u27e8U+202E\u27e9\u27e8U+2069\u27e9 \u27e8U+2068\u27e9x';
  expect(html.split(shown)).toHaveLength(3);
});
