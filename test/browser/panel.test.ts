import { dirname, join } from 'node:path';
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../api/service.js';
import { connectAgent } from '../protocols/mcp/agent.js';
import { endless } from '../setup/endless.js';
import { notebookOf } from './gallery.js';
import { PAYLOADS } from './hostile/payloads.js';
import { PLAIN_DATASETS, profileOf, startStranger } from './hostile/stranger.js';
import { endKernels, NEWEST_LAB, usually } from './lab.js';
import { type Cells, cellsOf } from './page/cells.js';
import { type SidePanel, sidePanelOf } from './page/side-panel.js';
import { soon } from './page/soon.js';
import { openSession, type Session } from './session.js';

const sources = [
  "['sample-http-logs']\n| summarize n = count() by status",
  "errs << ['sample-http-logs'] | where status == '500' | limit 3",
  "let limit = 2;\n['sample-http-logs']\n| limit limit\n| project method",
  endless,
];

describe.each(usually(NEWEST_LAB))('toolbar and panel in $name', frontEnd => {
  let session: Session;
  let service: Service;
  let page: Page;
  let cells: Cells;
  let panel: SidePanel;

  beforeAll(async () => {
    service = await startStranger();
    session = await openSession(frontEnd, {
      files: { 'around.ipynb': notebookOf(sources) },
      file: 'around.ipynb',
      home: profileOf(service),
    });
    ({ page } = session);
    cells = cellsOf(page);
    panel = sidePanelOf(page);
  });

  afterAll(async () => {
    await session?.stop();
    await service?.close();
  });

  const range = (): Locator => page.locator('.apl-toolbar-range:not(:disabled)');
  const profile = (): Locator => page.locator('.apl-toolbar-profile');
  test('a picked range is written into the notebook and applies to its cells', async () => {
    await cells.enter(1);
    await page.keyboard.press('Alt+Shift+T');
    await page.getByRole('button', { name: 'Last 6h' }).click();
    await soon(() => range().textContent()).toBe('last 6h');
    await soon(() => cells.source(0)).toBe(`%time last 6h\n${sources[0]}`);
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
    await cells.run(0);
    await soon(() => cells.output(0)).toContain('last 6h');
  });

  test('a popover opened while a choice is pending stays open', async () => {
    await range().click();
    const choice = page.getByRole('button', { name: 'Last 15m' });
    await choice.waitFor();
    await page.evaluate(
      "document.querySelector('.apl-popover [title=\"Last 15m\"]').click(); document.querySelector('.apl-toolbar-range').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true })); document.querySelector('.apl-toolbar-range').click()",
    );
    await soon(() => range().textContent()).toBe('last 15m');
    await soon(() => cells.source(0)).toBe(`%time last 15m\n${sources[0]}`);
    await page.getByRole('button', { name: 'Last 6h' }).click();
    await soon(() => range().textContent()).toBe('last 6h');
    await soon(() => cells.source(0)).toBe(`%time last 6h\n${sources[0]}`);
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
  });

  test('the overflow menu of a narrow toolbar closes on a choice, an outside click and Escape', async () => {
    const size = page.viewportSize() ?? { width: 1200, height: 900 };
    await page.setViewportSize({ width: 500, height: size.height });
    const toolbar = page.locator('.jp-NotebookPanel-toolbar');
    const more = toolbar.locator('.jp-Toolbar-responsive-opener:visible jp-button');
    const folded = page.locator('.jp-Toolbar-responsive-popup:visible');
    await more.click();
    await folded.waitFor();
    await page.keyboard.press('Escape');
    await soon(() => folded.count()).toBe(0);
    expect(
      await page.evaluate("document.activeElement.closest('.jp-Toolbar-responsive-opener') !== null"),
    ).toBe(true);
    await more.click();
    await folded.waitFor();
    await cells.enter(1);
    await soon(() => folded.count()).toBe(0);
    await more.click();
    await folded.locator('.apl-toolbar-profile').click();
    await page.locator('.apl-popover').waitFor();
    expect(await folded.count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.setViewportSize(size);
    await range().waitFor();
  });

  test('the list of profiles gets the focus once it is filled, above hover documentation', async () => {
    await cells.at(0).locator('.cm-line span', { hasText: 'summarize' }).hover();
    await page.locator('.cm-tooltip-hover').waitFor();
    await cells.at(0).locator('.cm-content').focus();
    await page.keyboard.press('Alt+Shift+U');
    await soon(() => page.evaluate('document.activeElement.title')).toMatch(/^Use local: /);
    const [above = 0, below = 0] = await page.evaluate<readonly number[]>(layers);
    expect(above).toBeGreaterThan(below);
    await page.keyboard.press('Escape');
    await page.mouse.move(0, 0);
  });

  test('an invalid range is refused with the message of `%time`, and nothing is written', async () => {
    await range().click();
    await page.getByLabel('Any range that %time accepts').fill('last fortnight');
    await page.keyboard.press('Enter');
    await soon(() => page.locator('.apl-said').textContent()).toContain('fortnight');
    await page.keyboard.press('Escape');
    expect(await cells.source(0)).toBe(`%time last 6h\n${sources[0]}`);
  });

  /** Returns the cursor position in the first cell, 0-based. */
  const cursor = () =>
    page.evaluate<{ line: number; column: number }>(
      'jupyterapp.shell.currentWidget.content.widgets[0].editor.getCursorPosition()',
    );

  test('two times or a pinned window set the range, and the cursor stays in its line', async () => {
    await cells.enter(0);
    const { column } = await cursor();
    await range().click();
    await page.getByLabel('From', { exact: true }).fill('2026-11-20T09:00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-11-20T10:30:00');
    await page.getByRole('button', { name: 'Set times' }).click();
    await soon(() => range().textContent()).toBe('20 Nov 09:00\u201310:30 UTC pinned');
    const size = page.viewportSize() ?? { width: 1200, height: 900 };
    for (const width of [1000, 800]) {
      await page.setViewportSize({ width, height: size.height });
      await soon(() => page.evaluate(rangeIsWhole)).toBe(true);
    }
    await page.setViewportSize(size);
    await soon(() => cells.source(0)).toBe(`%time 2026-11-20T09:00:00Z..2026-11-20T10:30:00Z\n${sources[0]}`);
    expect(await cursor()).toEqual({ line: sources[0]?.split('\n').length, column });
    await range().click();
    await page.getByRole('button', { name: 'Return to the last hour' }).click();
    await soon(() => range().textContent()).toBe('last 1h');
    await range().click();
    await page.getByRole('button', { name: 'Keep this window' }).click();
    await soon(() => range().textContent()).toMatch(/pinned$/);
    await soon(() => cells.source(0)).toMatch(
      /^%time \d{4}-\d\d-\d\dT[\d:.]+Z\.\.\d{4}-\d\d-\d\dT[\d:.]+Z\n/,
    );
  });

  test('the toolbar follows a range typed in a cell', async () => {
    await cells.enter(0);
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.insertText('%time last 2h');
    await cells.run(0);
    await soon(() => range().textContent()).toBe('last 2h');
  });

  test('a cell runs on the last 24 hours without changing the range or the cell', async () => {
    await cells.enter(2);
    await cells.at(2).locator('.jp-cell-toolbar').getByText('24h').click();
    await soon(() => cells.output(2)).toContain('last 24h');
    expect(await range().textContent()).toBe('last 2h');
    expect(await cells.source(2)).toBe(sources[2]);
  });

  test('a result is redrawn as another kind by key, and one undo removes the line', async () => {
    await cells.enter(0);
    await page.keyboard.press('Alt+Shift+V');
    await page.getByRole('button', { name: 'Bars', exact: true }).waitFor();
    expect(await page.locator('.apl-popover .apl-choices button').allTextContents()).toEqual([
      'Bars',
      'Heatmap',
      'Pie',
      'Dots',
      'Table only',
    ]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await soon(() => cells.source(0)).toBe(`%time last 2h\n// @viz pie\n${sources[0]}`);
    await cells.at(0).locator('.apl-chart-svg .mark-arc path').first().waitFor();
    expect(await cells.output(0)).toContain('last 2h');
    await cells.enter(0);
    await page.keyboard.press('Control+Z');
    await soon(() => cells.source(0)).toBe(`%time last 2h\n${sources[0]}`);
    await page.keyboard.press('Alt+Shift+V');
    await page.getByRole('button', { name: 'Table only' }).click();
    await cells.at(0).locator('.apl-chart-svg').waitFor({ state: 'detached' });
    expect(await cells.output(0)).toContain('last 2h');
    await cells.enter(0);
    await page.keyboard.press('Control+Z');
    await soon(() => cells.source(0)).toBe(`%time last 2h\n${sources[0]}`);
  });

  test('a kind chosen before more is typed is written above the query', async () => {
    await page.keyboard.press('Alt+Shift+V');
    await page.getByRole('button', { name: 'Pie', exact: true }).waitFor();
    await page.evaluate(`(() => {
      document.querySelector('.apl-choices button[title=Pie]').click();
      const { sharedModel } = jupyterapp.shell.currentWidget.content.widgets[0].model;
      sharedModel.updateSource(0, 0, '// typed\\n');
    })()`);
    await soon(() => cells.source(0)).toBe(`// typed\n%time last 2h\n// @viz pie\n${sources[0]}`);
    await cells.write(0, `%time last 2h\n${sources[0]}`);
  });

  test('a selection runs with the statements before it', async () => {
    await cells.enter(2);
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Control+Shift+Enter');
    // Without the `project` below the selection, every field is shown.
    await soon(() => cells.output(2)).toContain('content_type');
  });

  test('the toolbar stops a running query', async () => {
    await cells.enter(3);
    await page.keyboard.press('Control+Enter');
    await page.locator('.apl-toolbar-stop').click();
    await soon(() => cells.output(3)).toContain('Interrupted');
    await page.locator('.apl-toolbar-stop').waitFor({ state: 'hidden' });
  });

  test('an agent adds a cell once its user allows it, undo removes it, and a click ends access', async () => {
    const agent = await connectAgent({ HOME: join(dirname(session.lab.notebookDir), 'home') });
    try {
      expect((await agent.call('list_notebooks')).data).toEqual([]);
      const [before, own, text] = [
        await cells.count(),
        await cells.source(0),
        "['sample-http-logs'] | summarize n = count()",
      ];
      await cells.write(0, '%agents on');
      await page.keyboard.press('Control+Enter');
      await page.locator('.jp-Stdin-input').fill('yes');
      await page.keyboard.press('Enter');
      const mark = page.locator('.apl-toolbar-agents');
      await mark.waitFor();
      await cells.write(0, own);
      const [{ notebook, name } = {}] = (await agent.call('list_notebooks')).data;
      expect(name).toBe('around.ipynb');
      const order = { notebook, query: text, range: '2026-01-26T15:10Z..2026-01-26T15:14Z' };
      const added = await agent.call('append_cell', order);
      expect([added.isError, added.data.flatMap(each => ('n' in each ? [each.n] : []))]).toEqual([
        false,
        [expect.any(Number)],
      ]);
      expect([await cells.count(), await cells.source(before)]).toEqual([
        before + 1,
        `// Added by an agent\n%%time ${order.range}\n${text}`,
      ]);
      await soon(() => cells.output(before)).toContain('1 row');
      await page.keyboard.press('Escape');
      await page.keyboard.press('z');
      await soon(() => cells.count()).toBe(before);
      await mark.click();
      await mark.waitFor({ state: 'hidden' });
      expect((await agent.call('list_notebooks')).data).toEqual([]);
    } finally {
      await agent.client.close();
    }
  });

  test('toggles a comment', async () => {
    await cells.enter(2);
    await page.keyboard.press('Control+/');
    await soon(() => cells.source(2)).toContain('// | project method');
    await page.keyboard.press('Control+/');
    await soon(() => cells.source(2)).toBe(sources[2]);
  });

  test('the panel lists datasets, fields and values, and inserts them', async () => {
    await page.keyboard.press('Alt+Shift+P');
    await soon(() => panel.labels('dataset')).toContain('sample-http-logs');
    await panel.filter('http-logs');
    await soon(() => panel.labels('dataset')).toEqual(['sample-http-logs']);
    await page.getByRole('tree').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await soon(() => panel.labels('field')).toContain('method');
    await panel.rows('field').filter({ hasText: 'method' }).locator('.apl-tree-twisty').click();
    await soon(() => panel.labels('value')).toContain('GET');
    await cells.enter(2);
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('\n| where ');
    await panel.rows('value').filter({ hasText: /^GET/ }).click();
    await soon(() => panel.details().textContent()).toContain('GET');
    expect(await cells.source(2)).toBe(`${sources[2]}\n| where `);
    await panel.rows('value').filter({ hasText: /^GET/ }).dblclick();
    await soon(() => cells.source(2)).toBe(`${sources[2]}\n| where "GET"`);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
  });

  test('the panel lists results as soon as a cell makes them, and drops one', async () => {
    await panel.filter('');
    await cells.run(1);
    await soon(() => panel.labels('result')).toContain('_, errs');
    await panel.rows('result').filter({ hasText: 'errs' }).click();
    await panel.details().getByRole('button', { name: 'Drop' }).click();
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Drop' }).click();
    await soon(() => panel.labels('result')).not.toContain('_, errs');
  });

  // Notebook 7 saves neither layouts nor page state.
  if (frontEnd.app === 'lab/tree')
    test('after a reload the panel keeps its side, sections and row', async () => {
      const onTheRight = page.locator('.jp-SideBar.jp-mod-right [data-id="apl-panel"]');
      await page.locator('[data-id="apl-panel"]').click({ button: 'right' });
      await page.locator('.lm-Menu-itemLabel', { hasText: 'Switch Sidebar Side' }).click();
      await onTheRight.waitFor();
      await cells.enter(2);
      await page.keyboard.press('Alt+Shift+P');
      await page.locator('.apl-panel').waitFor();
      await panel.unfold('Datasets', 'Profiles');
      const saved = page.waitForRequest(request => placeIn(request) === 'profile <b>far</b>');
      await panel.rows('profile').filter({ hasText: 'far' }).click();
      await (await saved).response();
      await page.reload();
      await range().waitFor();
      await page.locator('.apl-panel').waitFor();
      const active = page.locator('.apl-tree-row[aria-selected="true"] .apl-tree-label');
      await soon(() => active.textContent()).toBe('<b>far</b>');
      expect(await panel.section('Results').getAttribute('aria-expanded')).toBe('false');
      expect(await panel.section('Profiles').getAttribute('aria-expanded')).toBe('true');
      expect(await onTheRight.count()).toBe(1);
    });

  test('the star of a cell saves its query, and the panel finds, opens and runs it', async () => {
    await page.reload();
    await range().waitFor();
    await cells.enter(0);
    await page.keyboard.press('Alt+Shift+S');
    await page.locator('.jp-Dialog input').fill('By "status"');
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Star' }).click();
    await page.getByText('Starred as').first().waitFor();
    await page.keyboard.press('Alt+Shift+P');
    await panel.unfold('Starred');
    await soon(() => panel.labels('star')).toEqual(['By "status"']);
    await panel.filter('no such star');
    await soon(() => panel.labels('star')).toEqual([]);
    await panel.filter('BY "ST');
    await soon(() => panel.labels('star')).toEqual(['By "status"']);
    await panel.filter('');
    await panel.rows('star').click();
    await soon(() => panel.details().locator('pre').textContent()).toContain(
      'summarize n = count() by status',
    );
    await cells.enter(2);
    await panel.act('Open as cell');
    await soon(() => cells.source(3)).toBe(`%%time now-2h..now\n${sources[0]}`);
    expect(await cells.prompt(3)).toBe('[ ]:');
    await panel.act('Run');
    await soon(() => cells.source(4)).toMatch(/^%run "star:\w+"$/);
    await soon(() => cells.output(4)).toContain('last 2h');
  });

  test('a starred query is replaced by a draft only after its error was shown', async () => {
    await cells.enter(3);
    const query = () => panel.details().locator('pre').textContent();
    const before = await query();
    const dialog = page.locator('.jp-Dialog');
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText("['sample-http-logs'] | summarise count()");
    await panel.act('Update from cell');
    await soon(() => dialog.textContent()).toMatch(/with an error.*That query has an error: .*summarise/s);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await query()).toBe(before);
    await panel.act('Update from cell');
    await dialog.getByRole('button', { name: 'Update anyway' }).click();
    await soon(query).toBe("['sample-http-logs'] | summarise count()");
  });

  test('a starred query is updated from a cell, and deleted', async () => {
    await cells.enter(3);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`%%time last 3h\n['sample-http-logs'] | count`);
    await panel.act('Update from cell');
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Update' }).click();
    await soon(() => page.locator('.apl-panel-status').textContent()).toMatch(/^Updated the starred query /);
    await soon(() => panel.details().locator('pre').textContent()).toBe("['sample-http-logs'] | count");
    await soon(() => panel.details().textContent()).toContain('now-3h..now');
    expect(await panel.labels('star')).toEqual(['By "status"']);
    await panel.act('Delete');
    const question = page.locator('.jp-Dialog');
    await soon(() => question.locator('button:focus').allTextContents()).toEqual(['Cancel']);
    await question.getByRole('button', { name: 'Delete' }).click();
    await soon(() => panel.labels('star')).toEqual([]);
    await soon(() => page.locator('.apl-panel-status').textContent()).toMatch(/^Deleted the starred query /);
  });

  test('a history entry opens as a cell with its time window, runs again, and is inserted', async () => {
    const found = /summarize n = count\(\) by status/;
    await panel.unfold('History');
    await soon(
      async () => (await panel.labels('history')).filter(label => !found.test(label)).length,
    ).toBeGreaterThan(3);
    await panel.filter('SUMMARIZE n = count() by status');
    await soon(async () => (await panel.labels('history')).filter(label => !found.test(label))).toEqual([]);
    await panel.rows('history').first().click();
    const read = (await panel.details().locator('dd').allTextContents()).find(text => / \.\. /.test(text));
    const opened = `%%time ${read?.replace(' .. ', '..')}\n${sources[0]}`;
    await cells.enter(4);
    await panel.act('Open as cell');
    await soon(() => cells.source(5)).toBe(opened);
    await panel.act('Run again');
    await soon(() => cells.source(6)).toBe(opened);
    await soon(() => cells.output(6)).toContain(read?.slice(0, 16) ?? '');
    await panel.act('Open as cell');
    await cells.enter(7);
    await page.keyboard.press('Control+a');
    await panel.act('Insert');
    await soon(() => cells.source(7)).toBe(sources[0]);
    await panel.filter('');
  });

  test('another profile is marked red and written into the notebook, and its hostile names are harmless', async () => {
    await cells.enter(2);
    await page.keyboard.press('Alt+Shift+U');
    await page.getByTitle('Use <b>far</b>').click();
    await soon(() => profile().textContent()).toBe('<b>far</b>');
    expect(await profile().getAttribute('class')).toContain('apl-remote');
    await soon(() => cells.source(0)).toContain('%use "<b>far</b>"');
    expect(await page.evaluate(backgroundOfProfile)).toBe('rgb(179, 38, 30)');
    await panel.rows('history').first().click();
    await panel.act('Run again');
    const refused = page.locator('.jp-CodeCell', { hasText: /ran on local, but the profile is/ });
    await soon(() => refused.count()).toBe(1);
    await panel.unfold('Datasets');
    await soon(() => panel.labels('dataset')).not.toContain('sample-http-logs');
    await soon(() => panel.section('Datasets').textContent()).toContain(
      `${PAYLOADS.length + PLAIN_DATASETS}`,
    );
    await page.getByRole('tree').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await soon(() => panel.rows('field').count()).toBeGreaterThan(5);
    await panel.rows('field').first().locator('.apl-tree-twisty').click();
    await soon(async () => (await panel.labels('note')).join()).toContain(PAYLOADS[0]);
    await panel.rows('field').nth(1).locator('.apl-tree-twisty').click();
    await soon(() => panel.rows('value').count()).toBeGreaterThan(5);
    const seen = await page.evaluate<Seeing>(scrollThrough);
    expect(seen.pwned).toBe(false);
    expect(seen.mostNodes).toBeLessThan(120);
    expect(seen.foreign).toBe(0);
    expect(seen.tooWide).toBe(0);
    expect(seen.height).toBeGreaterThan(2_500 * 22);
    await soon(() => session.complaints.filter(text => !passedOver.test(text))).toEqual([]);
  });

  test('without a kernel the panel says so, and the toolbar is disabled', async () => {
    await endKernels(session.lab);
    await soon(() => page.locator('.apl-panel-status').textContent()).toMatch(/kernel/);
    await soon(() => page.locator('.apl-toolbar-range').isDisabled()).toBe(true);
  });
});

/** Returns the key of the panel's active row in the workspace that a request saves. */
function placeIn(request: Request): string | undefined {
  if (request.method() !== 'PUT' || !request.url().includes('/api/workspaces/')) return undefined;
  const { data } = JSON.parse(request.postData() ?? '{}') as {
    readonly data?: Readonly<Record<string, { readonly active?: string }>>;
  };
  return data?.['apl-panel:place']?.active;
}

/** Console errors to ignore: replies of the hostile service. */
const passedOver = /Failed to load resource|WebSocket/;

/** Findings of `scrollThrough`. */
interface Seeing {
  readonly pwned: boolean;
  readonly mostNodes: number;
  /** Number of elements in the panel that the panel does not create. */
  readonly foreign: number;
  /** Number of rows wider than the panel, or not one line high. */
  readonly tooWide: number;
  readonly height: number;
}

const backgroundOfProfile =
  "getComputedStyle(document.querySelector('.apl-toolbar-profile')).backgroundColor";

/** Whether the range is in the toolbar itself and not cut off. */
const rangeIsWhole = `(() => {
  const text = document.querySelector('.apl-toolbar-range .apl-toolbar-text');
  const isFolded = text.closest('.jp-Toolbar-responsive-popup') !== null;
  return !isFolded && text.offsetWidth > 0 && text.scrollWidth <= text.offsetWidth;
})()`;

/** The z-indexes of the popover and the hover documentation. */
const layers =
  "['.apl-popover', '.cm-tooltip-hover'].map(part => Number(getComputedStyle(document.querySelector(part)).zIndex))";

/** Scrolls through the tree a page at a time and checks what is drawn. */
const scrollThrough = `(async () => {
  const tree = document.querySelector('.apl-tree');
  const panel = document.querySelector('.apl-panel');
  let mostNodes = 0, foreign = 0, tooWide = 0;
  for (let top = 0; top < tree.scrollHeight; top += tree.clientHeight) {
    tree.scrollTop = top;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const rows = [...tree.querySelectorAll('.apl-tree-row')];
    mostNodes = Math.max(mostNodes, rows.length);
    foreign += tree.querySelectorAll(':not(.apl-tree-space, .apl-tree-row, .apl-tree-row > span)').length;
    tooWide += rows.filter(row => row.offsetWidth > tree.clientWidth || row.offsetHeight !== 22).length;
  }
  foreign += panel.querySelectorAll('img, script, iframe, style, h1, svg:not(.jp-icon *)').length;
  return { pwned: 'pwned' in window, mostNodes, foreign, tooWide, height: tree.scrollHeight };
})()`;
