import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { drawTwice, openResults } from '../page/drawn.js';
import { findings } from '../page/findings.js';
import { soon } from '../page/soon.js';
import { svgOf } from '../page/svg.js';
import { openSession, type Session } from '../session.js';

const window = '2026-01-26T10:00:00Z..2026-01-26T11:00:00Z';
const odd = 'it\'s "odd" \\d';
const events = `range n from 1 to 400 step 1 | extend kind = iff(n % 4 == 0, ${JSON.stringify(odd)}, "plain"), host = strcat("h", tostring(iff(n % 4 == 0, 7, n % 3)))`;
const sources = [
  `%time ${window}`,
  `${events}\n| sort by n asc`,
  '[\'sample-http-logs\']\n| where method != "PUT" // as it is\n| summarize count() by bin_auto(_time), status\n| sort by count_',
  '[\'sample-http-logs\'] | where method != "PUT" | project _time, method | take 3',
  `${events} | summarize count() by kind`,
  "['otel-demo-traces'] | project _time, trace_id, name | take 3",
  "['otel-demo-logs'] | where isnotempty(trace_id) | take 3",
  '%import spans.ndjson --dataset spans\n%import lines.ndjson --dataset lines',
  "%trace 0af7651916cd ['spans']",
  '%patterns lines',
  "%trace 0af7651916cd b7ad6b7169203331 ['spans']",
  "%trace services ['spans']",
];

const evil = '<img src=x onerror=window.pwned=1>\u202e$x$';
const traceSpan = (id: string, from: number, duration: number, parent?: string, more: object = {}) => ({
  ...{ _time: new Date(Date.UTC(2026, 0, 26, 10, 0, 0, from)).toISOString(), trace_id: '0af7651916cd' },
  ...{ span_id: id, parent_span_id: parent, name: id, duration: duration * 1_000_000, error: false },
  ...{ 'service.name': 'cart', ...more },
});
/** A chain of 40 spans below the first root; a failed span with an event and a link; a cycle and an orphan. */
const traceSpans = [
  traceSpan('whole', 0, 800, undefined, { 'service.name': evil }),
  traceSpan('charge', 10, 200, 'whole', {
    ...{ error: true, 'status.message': `refused ${evil}`, 'http.status_code': 503, 'user agent': evil },
    events: [
      { name: 'exception', timestamp: '1769421600050000000', attributes: { type: evil } },
      { name: 'sent early', timestamp: '1769421599995000000' },
    ],
    links: [{ trace_id: 'b7ad6b716920', span_id: 'x' }],
  }),
  traceSpan('query', 20, 50, 'charge'),
  ...Array.from({ length: 40 }, (_, n) =>
    traceSpan(`step ${n}`, 300 + n, 200 - n, n === 0 ? 'whole' : `step ${n - 1}`),
  ),
  traceSpan('orphan', 700, 20, 'gone', { error: true }),
  traceSpan('round', 750, 5, 'again'),
  traceSpan('again', 751, 5, 'round'),
  traceSpan('x', 0, 90, undefined, { trace_id: 'b7ad6b7169203331' }),
  traceSpan('y', 10, 20, 'x', { trace_id: 'b7ad6b7169203331', 'service.name': 'shop', error: true }),
];
const line = (span: string, message: string) => ({
  _time: '2026-01-26T10:00:00.02Z',
  trace_id: '0af7651916cd',
  span_id: span,
  message,
});
const ndjson = (rows: readonly object[]) => rows.map(row => JSON.stringify(row)).join('\n');

describe.each(usually(NEWEST_LAB))('explaining in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: {
        // The last notebook format without cell ids: buttons must write cells there too.
        'explain.ipynb': notebookOf(sources).replace('"nbformat_minor":5', '"nbformat_minor":4'),
        'spans.ndjson': ndjson(traceSpans),
        'lines.ndjson': ndjson([
          ...[line('charge', 'the card was refused'), line('whole', 'a request')],
          ...['12', '7', '190'].map(id => line('query', `${evil} took ${id} ms`)),
        ]),
      },
      file: 'explain.ipynb',
      browser: { timezoneId: 'Asia/Kolkata' },
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page);
    await grid(5).waitFor({ timeout: 60_000 });
  });

  // Each frame and each axe-core run takes longer the larger the page is.
  afterEach(async () => {
    await page.evaluate(`(() => {
      const { cells, sharedModel } = jupyterapp.shell.currentWidget.content.model;
      for (let index = cells.length - 1; index >= 0; index -= 1)
        if (!${JSON.stringify(sources)}.includes(cells.get(index).sharedModel.source)) sharedModel.deleteCell(index);
    })()`);
  });

  afterAll(() => session?.stop());

  const grid = (cell: number): Locator => cells.at(cell).locator('.apl-grid');
  const menu = () => page.getByRole('dialog', { name: 'Value' });
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Moves from a grid's first cell to one of its values by key and opens its menu. */
  const openMenu = async (cell: number, ...keys: readonly string[]) => {
    await grid(cell).locator('table').focus();
    await press('Control+Home', ...keys, 'Space');
    await menu().waitFor();
  };
  const focused = () =>
    page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent');
  /** Tabs to the element with this name and presses Enter. */
  const enterOn = async (name: RegExp) => {
    for (let stops = 0; !name.test(await focused()); stops += 1) {
      if (stops === 30) throw new Error(`Tab leads to nothing that is called ${name}`);
      await press('Tab');
    }
    await press('Enter');
  };
  const cellOf = (text: string) => grid(1).locator('tbody td', { hasText: text }).first();

  test('a click selects, and the menu of a value adds and runs a cell that explains it', async () => {
    await cellOf('odd').click();
    expect(await menu().count()).toBe(0);
    await cellOf('odd').click({ button: 'right' });
    expect(await findings(page, ['.apl-popover'])).toEqual([]);
    await menu()
      .getByRole('button', { name: /Add and run a cell below/ })
      .click();
    await soon(() => cells.source(2)).toBe(
      `%%time ${window}\n%%explain kind == "it's \\"odd\\" \\\\d"\n${events}`,
    );
    await soon(() => cells.output(2)).toContain('| where host == "h7"');
    expect(await cells.source(1)).toBe(sources[1]);
    expect(await grid(1).locator('.apl-grid-status').textContent()).toContain(
      'The explanation is in the cell below.',
    );
    await svgOf(page, 0).waitFor();
  });

  test('explains a value and a selection of rows by keyboard', async () => {
    const written = async (condition: string) => {
      await soon(() => cells.source(2)).toBe(`%%time ${window}\n%%explain ${condition}\n${events}`);
      await soon(() => cells.prompt(2)).toMatch(/\[\d+\]/);
    };
    await openMenu(1, 'ArrowRight');
    await enterOn(/what distinguishes these events from the others/);
    await written('kind == "plain"');
    await openMenu(1, 'Shift+ArrowDown');
    await enterOn(/what distinguishes these events from the others/);
    await written('n == 1 or n == 2');
  });

  test('explains a selected part of a chart shown in local time', async () => {
    const chart = page.locator('.jp-CodeCell', { hasText: 'as it is' }).first();
    const cell = async () =>
      (await page.locator('.jp-CodeCell').allTextContents()).findIndex(text => text.includes('as it is'));
    await chart.scrollIntoViewIfNeeded();
    await chart.getByRole('button', { name: /switch to local time/ }).click();
    const frame = chart.locator('.apl-chart-frame');
    await soon(() => frame.locator('svg').first().textContent()).toContain('UTC+05:30');
    const box = await frame.locator('.apl-chart-svg > svg').boundingBox();
    if (box === null) throw new Error('the chart is not on the page');
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await page.mouse.up();
    const before = await cell();
    await frame
      .locator('.apl-chart-bar')
      .getByRole('button', { name: /Add and run a cell below/ })
      .click();
    await soon(() => cells.source(before + 1)).toMatch(
      /^%%time 2026-01-26T10:00:00Z\.\.2026-01-26T11:00:00Z\n%%explain _time >= datetime\(2026-01-26T10:2\d:[03]0\.000Z\) and _time < datetime\(2026-01-26T10:[23]\d:[03]0\.000Z\)\n\['sample-http-logs'\]\n\| where method != "PUT"$/,
    );
    await soon(() => cells.output(before + 1)).toMatch(/No field distinguishes|Continue with:/);
    expect(await cells.source(before)).toBe(sources[2]);
    await frame.scrollIntoViewIfNeeded();
    const now = await frame.locator('.apl-chart-svg > svg').boundingBox();
    await page.mouse.click((now?.x ?? 0) + (now?.width ?? 0) * 0.7, (now?.y ?? 0) + 60);
    await frame
      .locator('.apl-chart-bar')
      .getByRole('button', { name: /Add and run a cell below/ })
      .click();
    const source = () => cells.source(before + 1);
    await soon(source).toMatch(/10:[34]\d:[03]0\.000Z\) and _time < /);
    const [, from = '', to = ''] =
      /datetime\((.*?)\) and _time < datetime\((.*?)\)/.exec(await source()) ?? [];
    expect(Date.parse(to) - Date.parse(from)).toBe(30_000);
  });

  test('shows the events around one, or only those with the same value', async () => {
    const texts = await page.locator('.jp-CodeCell').allTextContents();
    const at = texts.findIndex(text => text.includes('sample-http-logs') && text.includes('take 3'));
    const value = grid(at).locator('tbody tr').first().locator('td').nth(1);
    const method = await value.textContent();
    const byPointer = async (name: RegExp) => {
      await value.click({ button: 'right' });
      await menu().getByRole('button', { name }).click();
    };
    const byKeys = async (name: RegExp) => {
      await openMenu(at, 'ArrowRight');
      await enterOn(name);
    };
    for (const [act, name, line] of [
      [byPointer, /within 30 s of this one$/, ''],
      [byKeys, /within 30 s of this one and with the same method$/, `\n| where method == "${method}"`],
      [byKeys, /within 30 s of this one$/, ''],
    ] as const) {
      const before = await cells.count();
      await act(name);
      await soon(() => cells.count()).toBe(before + 1);
      await soon(() => cells.source(at + 1)).toMatch(/^%%around 2026-01-26T\S+Z\n\['sample-http-logs'\]/);
      expect((await cells.source(at + 1)).split('\n').slice(1).join('\n')).toBe(
        `['sample-http-logs']${line}`,
      );
      await soon(() => cells.output(at + 1)).toContain('2026-01-26T');
    }
  });

  test('draws the trace of an event, from any of its values', async () => {
    const texts = await page.locator('.jp-CodeCell').allTextContents();
    const at = texts.findIndex(text => text.includes('otel-demo-traces'));
    const row = grid(at).locator('tbody tr').nth(1);
    await row.scrollIntoViewIfNeeded();
    const id = await row.locator('td').nth(1).textContent();
    await row.locator('td').nth(2).click({ button: 'right' });
    expect(await findings(page, ['.apl-popover'])).toEqual([]);
    await menu()
      .getByRole('button', { name: /draws the trace of this event$/ })
      .press('Enter');
    await soon(() => cells.source(at + 1)).toBe(`%%time ${window}\n%trace ${id}`);
    await soon(() => cells.output(at + 1)).toContain(`Trace ${id} in otel-demo-traces`);
  });

  test('draws a trace by the button on its id, or by T on any value of the event', async () => {
    // Limited to one cell: another cell's button may stay visible for a moment after the pointer has left it.
    const press = (at: number) =>
      cells
        .at(at)
        .getByRole('button', { name: /draws this trace \(T\)$/ })
        .and(page.locator(':visible'));
    const drawn = async (at: number, id: string, act: () => Promise<void>) => {
      const before = await page.locator('.jp-CodeCell').count();
      await act();
      await soon(() => page.locator('.jp-CodeCell').count()).toBe(before + 1);
      await soon(() => cells.source(at + 1)).toBe(`%%time ${window}\n%trace ${id}`);
      // Its output shifts everything below away from the pointer.
      await soon(() =>
        cells
          .at(at + 1)
          .locator('.apl-trace-view')
          .count(),
      ).toBe(1);
    };
    const table = await cellWith('otel-demo-traces');
    const query = await cells.source(table);
    const row = grid(table).locator('tbody tr').first();
    await row.scrollIntoViewIfNeeded();
    const id = (await row.locator('td').nth(1).textContent()) ?? '';
    await row.locator('td').nth(2).hover();
    expect(await press(table).count()).toBe(0);
    await row.locator('td').nth(1).hover();
    await drawn(table, id, () => press(table).click());
    await row.locator('td').nth(1).click();
    expect(await findings(page, ['.apl-grid-frame'])).toEqual([]);
    await row.locator('td').nth(2).click();
    await drawn(table, id, () => page.keyboard.press('t'));
    expect(await cells.source(table)).toBe(query);
    const stream = await cellWith('isnotempty(trace_id)');
    const line = cells.at(stream).locator('.apl-stream-line').first();
    await line.scrollIntoViewIfNeeded();
    const chip = line.locator('.apl-stream-chip', { hasText: /^trace_id / });
    const named = /[0-9a-f]{32}/.exec((await chip.textContent()) ?? '')?.[0] ?? '';
    await line.hover();
    await drawn(stream, named, () => press(stream).click());
  });

  const cellWith = async (text: string) =>
    (await page.locator('.jp-CodeCell').allTextContents()).findIndex(each => each.includes(text));
  const trace = () => page.locator('.apl-trace-view', { hasText: '0af7651916cd in spans' }).first();
  const spans = () => trace().getByRole('treeitem');
  const chosen = () => trace().locator('[role=treeitem][aria-selected=true]');
  const details = () => trace().getByRole('region', { name: 'Span' });

  test('keys of a trace move, fold, search, find errors, and show one subtree', async () => {
    const tree = trace().getByRole('tree');
    await tree.scrollIntoViewIfNeeded();
    await tree.focus();
    for (const key of ['Home', 'ArrowDown']) await page.keyboard.press(key);
    expect(await tree.getAttribute('aria-activedescendant')).toBe(await chosen().getAttribute('id'));
    expect(await chosen().getAttribute('aria-label')).toBe(
      'cart charge refused <img src=x onerror=window.pwned=1>\u27e8U+202E\u27e9$x$, 200ms, failed, on the critical path',
    );
    const facts = ['aria-level', 'aria-expanded', 'aria-posinset', 'aria-setsize'];
    expect(await Promise.all(facts.map(name => chosen().getAttribute(name)))).toEqual([
      '2',
      'true',
      '1',
      '2',
    ]);
    expect(
      (await details().locator('dd, li').allTextContents()).filter(text => text.includes('pwned')),
    ).toHaveLength(4);
    expect(await details().locator('.apl-trace-at').allTextContents()).toEqual(['+50ms ', '-5ms ']);
    expect(await details().textContent()).toContain('http.status_code503');
    expect(await findings(page, ['.apl-trace-view'])).toEqual([]);
    // Only the visible ones of 46 spans are in the page.
    expect(await spans().count()).toBeLessThan(30);
    await page.keyboard.press('ArrowLeft');
    expect(await chosen().getAttribute('aria-expanded')).toBe('false');
    expect(await spans().nth(2).getAttribute('aria-label')).toMatch(/^cart step 0, 200ms/);
    await page.keyboard.press('ArrowRight');
    expect(await spans().nth(2).getAttribute('aria-label')).toMatch(/^cart query, 50ms/);
    const status = trace().getByRole('status');
    await page.keyboard.press('/');
    await page.keyboard.insertText('name=step 3');
    await soon(() => status.textContent()).toBe('11 spans found.');
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('HTTP.status_code=503');
    await soon(() => status.textContent()).toBe('1 span found.');
    await page.keyboard.press('Enter');
    expect(await status.textContent()).toBe('1 of 1.');
    await tree.focus();
    await page.keyboard.press('e');
    expect([await status.textContent(), await chosen().getAttribute('aria-label')]).toEqual([
      '2 of 2.',
      expect.stringMatching(/^cart orphan \(missing parent\), 20ms, failed/),
    ]);
    await page.keyboard.press('Shift+E');
    await page.keyboard.press('f');
    expect(await spans().count()).toBe(2);
    expect(await trace().locator('.apl-trace-ticks').textContent()).toBe('+10ms+60ms+110ms+160ms+210ms');
    expect(await trace().locator('.apl-trace-critical').count()).toBe(2);
    expect(await trace().locator('.apl-trace-segment').count()).toBeGreaterThan(1);
    await page.keyboard.press('c');
    expect(await trace().locator('.apl-trace-critical').count()).toBe(0);
    for (const key of ['c', 'Escape', 'Escape']) await page.keyboard.press(key);
    expect(await details().count()).toBe(0);
    expect(await trace().locator('.apl-trace-ticks').textContent()).toBe('+0s+200ms+400ms+600ms+800ms');
    expect(await page.evaluate("'pwned' in window")).toBe(false);
  });

  test('the pointer folds and zooms a trace, selects a span, and adds a cell with its log lines', async () => {
    await spans().first().locator('.apl-tree-twisty').click();
    expect(await spans().count()).toBe(4);
    await spans().first().locator('.apl-tree-twisty').click();
    const box = await trace().locator('.apl-trace-overview').boundingBox();
    if (box === null) throw new Error('the overview is not on the page');
    await page.mouse.move(box.x + box.width * 0.25, box.y + 9);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 9, { steps: 3 });
    await page.mouse.up();
    const [first = 0, last = 0] = (await trace().locator('.apl-trace-ticks span').allTextContents())
      .filter((_, index) => index % 4 === 0)
      .map(text => Number.parseFloat(text));
    expect([Math.round(first / 20), Math.round(last / 20)]).toEqual([10, 20]);
    await trace()
      .getByRole('button', { name: /whole trace again/ })
      .click();
    await spans().nth(1).locator('.apl-trace-bars').click();
    await details()
      .getByRole('button', { name: /log lines of this span/ })
      .click();
    const menu = page.getByRole('dialog', { name: 'Log lines' });
    expect(await menu.getByRole('button').allTextContents()).toEqual(['lines', 'otel-demo-logs']);
    expect(await findings(page, ['.apl-popover'])).toEqual([]);
    const at = await cellWith("%trace 0af7651916cd ['spans']");
    await menu.getByRole('button', { name: /lines of lines$/ }).press('Enter');
    await soon(() => cells.source(at + 1)).toBe(
      `%%time ${window}\n['lines']\n| where trace_id == "0af7651916cd" and span_id == "charge"\n| sort by _time asc`,
    );
    await soon(() => cells.output(at + 1)).toContain('the card was refused');
    expect(await cells.output(at + 1)).not.toContain('a request');
  });

  test('splits, keeps or leaves out the lines of a pattern in a cell below', async () => {
    const at = await cellWith('%patterns lines');
    const [buttons, status] = [cells.at(at).getByRole('button'), cells.at(at).getByRole('status')];
    await cells.at(at).scrollIntoViewIfNeeded();
    await soon(() => buttons.filter({ hasText: /^(Split|Keep|Exclude)$/ }).allTextContents()).toEqual([
      ...['Split', 'Keep', 'Exclude'],
      ...['Keep', 'Exclude', 'Keep', 'Exclude'],
    ]);
    expect(await findings(page, ['.apl-patterns-go'])).toEqual([]);
    const go = async (name: RegExp) => {
      const before = await cells.count();
      await buttons.filter({ hasText: /^Split$/ }).focus();
      await enterOn(name);
      await soon(() => cells.count()).toBe(before + 1);
      await soon(() => cells.prompt(at + 1)).toMatch(/\[\d+\]/);
      return (await cells.source(at + 1)).split('\n').slice(1);
    };
    const [source, where, parse] = await go(/splits the lines of template 1 into fields$/);
    expect([source, parse?.slice(-14)]).toEqual(["['lines']", 'p2: long " ms"']);
    await soon(() => cells.output(at + 1)).toMatch(/3 rows/);
    expect(await go(/only the lines of template 1$/)).toEqual([source, where]);
    await soon(() => cells.output(at + 1)).toMatch(/3 rows/);
    expect(await go(/without the lines of template 1$/)).toEqual([
      source,
      `| where not(${where?.slice('| where '.length)})`,
    ]);
    await soon(() => cells.output(at + 1)).toMatch(/2 rows/);
    expect(await status.last().textContent()).toBe('Added a cell below.');
    expect(await page.evaluate("'pwned' in window")).toBe(false);
  });

  test('Tab moves between two traces side by side, and each has its own selected span', async () => {
    const both = cells.at(await cellWith("b7ad6b7169203331 ['spans']"));
    const trees = both.getByRole('tree');
    await trees.last().scrollIntoViewIfNeeded();
    expect(await trees.count()).toBe(2);
    const chosenIn = (tree: Locator) => tree.locator('[aria-selected=true]').getAttribute('aria-label');
    const isIn = (tree: Locator) =>
      tree.evaluate(
        (node: unknown) =>
          node === (globalThis as { document?: { activeElement?: unknown } }).document?.activeElement,
      );
    await trees.first().focus();
    await press('Home', 'ArrowDown');
    for (let stops = 0; !(await isIn(trees.last())) && stops < 30; stops += 1) await press('Tab');
    await press('Home', 'ArrowDown');
    expect(await Promise.all([trees.first(), trees.last()].map(chosenIn))).toEqual([
      expect.stringMatching(/^cart charge refused .*, 200ms, failed, on the critical path$/),
      'shop y, 20ms, failed, on the critical path',
    ]);
    expect(await findings(page, ['.apl-trace-view'])).toEqual([]);
  });

  test('an output that is updated twice shows the last trace, even if the first takes longer', async () => {
    const cell = await cellWith("%trace 0af7651916cd ['spans']");
    const shown = () => cells.at(cell).locator('.apl-trace-view').count();
    expect(await shown()).toBe(1);
    await drawTwice(page, {
      ...{ cell, mime: 'application/vnd.axiom-apl.trace+json', second: '' },
      first: "output.data['application/vnd.axiom-apl.trace+json'].result.id = 'gone'",
    });
    // By then, the kernel has answered that the first is gone.
    await page.evaluate(openResults);
    await soon(shown).toBe(1);
    expect(await cells.output(cell)).not.toContain('no longer has the spans');
  });

  test('a service map has its figures in a text alternative, and Tab leads to its table', async () => {
    const map = cells.at(await cellWith("%trace services ['spans']"));
    await map.scrollIntoViewIfNeeded();
    const image = map.getByRole('region', { name: 'Services of spans' }).getByRole('img');
    expect(await image.getAttribute('alt')).toMatch(/\nshop: .*, 100% failed, p95 20ms$/m);
    await map.getByRole('region', { name: 'Services of spans' }).focus();
    await enterOn(/^Copy rows$/);
    await page.getByRole('dialog', { name: 'Copy' }).waitFor();
    await press('Escape');
    expect(await findings(page, ['.apl-map'])).toEqual([]);
  });

  test('explains a group, and continues within a part of it', async () => {
    const texts = await page.locator('.jp-CodeCell').allTextContents();
    const at = texts.findIndex(text => text.includes('summarize count() by kind'));
    const group = grid(at);
    await group.scrollIntoViewIfNeeded();
    await openMenu(at, 'ArrowRight');
    await enterOn(/what distinguishes these events from the others/);
    await soon(() => cells.output(at + 1)).toContain('Continue with:');
    expect(await cells.source(at + 1)).toContain('%%explain kind == ');
    const lines = (await cells.source(at + 1)).split('\n');
    const further = cells
      .at(at + 1)
      .getByRole('button', { name: /explains the selected events within this part$/ });
    expect(await findings(page, ['.apl-explained'])).toEqual([]);
    await further.press('Enter');
    await soon(() => cells.source(at + 2)).toBe([...lines, '| where host == "h7"'].join('\n'));
    await cells
      .at(at + 1)
      .getByRole('button', { name: /with the selected events of this part$/ })
      .click();
    await soon(() => cells.source(at + 2)).toBe(
      [
        lines[0],
        ...lines.slice(2),
        `| where ${lines[1]?.slice('%%explain '.length)}`,
        '| where host == "h7"',
      ].join('\n'),
    );
    await soon(() => cells.output(at + 2)).toMatch(/100 rows/);
  });

  test('an investigation is written below once, and edits to its cells stay', async () => {
    await cells.at(0).locator('.cm-content').focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.keyboard.insertText("%investigate 2026-01-26T15:10Z..2026-01-26T15:14Z ['sample-http-logs']");
    const before = await cells.count();
    expect(await cells.run(0)).not.toContain('Go on with');
    const heads = () => page.locator('.jp-MarkdownCell .jp-RenderedMarkdown :is(h2, h3)').allTextContents();
    const written = ['Failures', 'Latency', 'What they have in common', 'Most frequent message'];
    await soon(heads).toEqual([
      expect.stringMatching(/^sample-http-logs, 2026-01-26T15:10:00Z\.\.2026-01-26T15:14:00Z/),
      ...written.map(each => expect.stringContaining(each)),
    ]);
    const all = await cells.count();
    expect(await cells.run(1)).toContain('holds:');
    await cells.write(2, '// mine');
    await cells.run(0);
    // A run's cells arrive before its number: the next run shows them.
    await cells.run(0);
    expect([await cells.count(), await cells.source(2)]).toEqual([all, '// mine']);
    expect(await cells.output(1)).toContain('holds:');
    expect(all).toBeGreaterThan(before + 4);
    expect(await heads()).toHaveLength(5);
  });

  test('a live view keeps the selected event in place, and counts new ones', async () => {
    await cells.at(0).locator('.cm-content').focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.keyboard.insertText("%tail ['sample-http-logs'] | where method != 'X'");
    await page.keyboard.press('Control+Enter');
    const output = cells.at(0).locator('.jp-OutputArea');
    const first = output.locator('.apl-stream-line').first();
    await first.waitFor({ timeout: 60_000 });
    const text = await first.textContent();
    // A view at the newest event follows new ones.
    await soon(() => first.textContent()).not.toBe(text);
    await first.click();
    const chosen = await first.textContent();
    const later = output.locator('.apl-grid-later button');
    await soon(() => later.textContent()).toMatch(/^Show \d+ new events?$/);
    expect(await first.textContent()).toBe(chosen);
    await later.click();
    await soon(() => first.textContent()).not.toBe(chosen);
    await soon(() => later.count()).toBe(0);
    await page.getByRole('button', { name: /^Stop/ }).first().click();
    await soon(() => cells.prompt(0)).toMatch(/\[\d+\]/);
    await soon(() => output.textContent()).toContain('Events of sample-http-logs stored from');
    expect(session.complaints).toEqual([]);
  });
});
