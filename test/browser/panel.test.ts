import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../api/service.js';
import { notebookOf } from './gallery.js';
import { endKernels, FRONT_ENDS } from './lab.js';
import { openSession, type Session } from './session.js';
import { soon } from './soon.js';
import { HOSTILE, PLAIN_DATASETS, profileOf, startStranger } from './stranger.js';

const cells = [
  "['sample-http-logs']\n| summarize n = count() by status",
  "errs << ['sample-http-logs'] | where status == '500' | limit 3",
  "let limit = 2;\n['sample-http-logs']\n| limit limit\n| project method",
  "%%time last 3650d\n['sample-http-logs'] | summarize percentile(req_duration_ms, 99)",
];

describe.each(FRONT_ENDS)('toolbar and panel in $name', frontEnd => {
  let session: Session;
  let service: Service;
  let page: Page;

  beforeAll(async () => {
    service = await startStranger();
    session = await openSession(frontEnd, {
      files: { 'around.ipynb': notebookOf(cells) },
      file: 'around.ipynb',
      home: profileOf(service),
    });
    ({ page } = session);
  });

  afterAll(async () => {
    await session?.stop();
    await service?.close();
  });

  const range = (): Locator => page.locator('.apl-toolbar-range:not(:disabled)');
  const profile = (): Locator => page.locator('.apl-toolbar-profile');
  const cell = (index: number): Locator => page.locator('.jp-CodeCell').nth(index);
  const source = async (index: number): Promise<string> =>
    (await cell(index).locator('.cm-line').allTextContents()).join('\n');
  const enter = (index: number): Promise<void> => cell(index).locator('.cm-line').last().click();
  const rows = (kind: string): Locator => page.locator(`.apl-tree-${kind}`);
  const labels = (kind: string): Promise<string[]> => rows(kind).locator('.apl-tree-label').allTextContents();
  const section = (name: string): Locator => page.locator('.apl-tree-section', { hasText: name });
  const details = (): Locator => page.locator('.apl-panel-details');
  const act = (name: string): Promise<void> => details().getByRole('button', { name }).first().click();
  const run = async (index: number): Promise<void> => {
    await enter(index);
    await page.keyboard.press('Control+Enter');
    await soon(() => cell(index).locator('.jp-InputPrompt').textContent()).toMatch(/\[\d+\]/);
  };

  test('the range that is picked is written into the notebook and holds for its cells', async () => {
    await enter(1);
    await page.keyboard.press('Alt+Shift+T');
    await page.getByRole('button', { name: 'Last 6h' }).click();
    await soon(() => range().textContent()).toBe('last 6h');
    expect(await source(0)).toBe(`%time last 6h\n${cells[0]}`);
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
    await run(0);
    await soon(() => cell(0).locator('.jp-OutputArea').textContent()).toContain('last 6h');
  });

  test('a range that cannot be read is refused in the words of `%time`, and nothing is written', async () => {
    await range().click();
    await page.getByLabel('Any range that %time takes').fill('last fortnight');
    await page.keyboard.press('Enter');
    await soon(() => page.locator('.apl-said').textContent()).toContain('fortnight');
    await page.keyboard.press('Escape');
    expect(await source(0)).toBe(`%time last 6h\n${cells[0]}`);
  });

  test('two times, and a window that is pinned', async () => {
    await range().click();
    await page.getByLabel('From', { exact: true }).fill('2026-11-20T09:00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-11-20T10:30:00');
    await page.getByRole('button', { name: 'Set times' }).click();
    await soon(() => range().textContent()).toBe('2026-11-20 09:00 .. 10:30pinned');
    expect(await source(0)).toBe(`%time 2026-11-20T09:00:00Z..2026-11-20T10:30:00Z\n${cells[0]}`);
    await range().click();
    await page.getByRole('button', { name: 'Go back to the last hour' }).click();
    await soon(() => range().textContent()).toBe('last 1h');
    await range().click();
    await page.getByRole('button', { name: 'Keep the window of this moment' }).click();
    await soon(() => range().textContent()).toMatch(/pinned$/);
    expect(await source(0)).toMatch(/^%time \d{4}-\d\d-\d\dT[\d:.]+Z\.\.\d{4}-\d\d-\d\dT[\d:.]+Z\n/);
  });

  test('it follows what is typed in cells', async () => {
    await enter(0);
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.insertText('%time last 2h');
    await run(0);
    await soon(() => range().textContent()).toBe('last 2h');
  });

  test('a cell runs on the last 24 hours; the range and the cell stay', async () => {
    await enter(2);
    await cell(2).locator('.jp-cell-toolbar').getByText('24h').click();
    await soon(() => cell(2).locator('.jp-OutputArea').textContent()).toContain('last 24h');
    expect(await range().textContent()).toBe('last 2h');
    expect(await source(2)).toBe(cells[2]);
  });

  test('a result is drawn as another kind by key, without asking the service, and one undo takes the line back', async () => {
    await enter(0);
    await page.keyboard.press('Alt+Shift+V');
    await page.getByRole('button', { name: 'Bars', exact: true }).waitFor();
    expect(await page.locator('.apl-popover .apl-choices button').allTextContents()).toEqual([
      'Bars',
      'Pie',
      'Heatmap',
      'Dots',
      'Table only',
    ]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await soon(() => source(0)).toBe(`%time last 2h\n// @viz pie\n${cells[0]}`);
    await cell(0).locator('.apl-chart-picture .mark-arc path').first().waitFor();
    expect(await cell(0).locator('.jp-OutputArea').textContent()).toContain('last 2h');
    await enter(0);
    await page.keyboard.press('Control+Z');
    await soon(() => source(0)).toBe(`%time last 2h\n${cells[0]}`);
    await page.keyboard.press('Alt+Shift+V');
    await page.getByRole('button', { name: 'Table only' }).click();
    await cell(0).locator('.apl-chart-picture').waitFor({ state: 'detached' });
    expect(await cell(0).locator('.jp-OutputArea').textContent()).toContain('last 2h');
    await enter(0);
    await page.keyboard.press('Control+Z');
    await soon(() => source(0)).toBe(`%time last 2h\n${cells[0]}`);
  });

  test('what is selected runs with the statements before it', async () => {
    await enter(2);
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Control+Shift+Enter');
    // Without the `project` below the selection, every field is there.
    await soon(() => cell(2).locator('.jp-OutputArea').textContent()).toContain('content_type');
  });

  test('a query that runs is stopped by the toolbar', async () => {
    await enter(3);
    await page.keyboard.press('Control+Enter');
    await page.locator('.apl-toolbar-stop').click();
    await soon(() => cell(3).locator('.jp-OutputArea').textContent()).toContain('Interrupted');
    await page.locator('.apl-toolbar-stop').waitFor({ state: 'hidden' });
  });

  test('a comment is toggled', async () => {
    await enter(2);
    await page.keyboard.press('Control+/');
    await soon(() => source(2)).toContain('// | project method');
    await page.keyboard.press('Control+/');
    await soon(() => source(2)).toBe(cells[2]);
  });

  test('the panel lists datasets, fields and their values, and writes names by keys', async () => {
    await page.keyboard.press('Alt+Shift+P');
    await soon(() => labels('dataset')).toContain('sample-http-logs');
    await page.getByLabel('Filter the lists').fill('http-logs');
    await soon(() => labels('dataset')).toEqual(['sample-http-logs']);
    await page.getByRole('tree').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await soon(() => labels('field')).toContain('method');
    await rows('field').filter({ hasText: 'method' }).locator('.apl-tree-twisty').click();
    await soon(() => labels('value')).toContain('GET');
    await enter(2);
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('\n| where ');
    await rows('value').filter({ hasText: /^GET/ }).click();
    await soon(() => source(2)).toBe(`${cells[2]}\n| where "GET"`);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
  });

  test('it lists results as soon as a cell has made them, and drops one', async () => {
    await page.getByLabel('Filter the lists').fill('');
    await run(1);
    await soon(() => labels('result')).toContain('_, errs');
    await rows('result').filter({ hasText: 'errs' }).click();
    await details().getByRole('button', { name: 'Drop' }).click();
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Drop' }).click();
    await soon(() => labels('result')).not.toContain('_, errs');
  });

  // Notebook 7 keeps neither layouts nor states of its pages.
  if (frontEnd.app === 'lab/tree')
    test('after the page is reloaded the panel is where it was: in sight, at its side, with its sections and row', async () => {
      const onTheRight = page.locator('.jp-SideBar.jp-mod-right [data-id="apl-panel"]');
      await page.locator('[data-id="apl-panel"]').click({ button: 'right' });
      await page.locator('.lm-Menu-itemLabel', { hasText: 'Switch Sidebar Side' }).click();
      await onTheRight.waitFor();
      await enter(2);
      await page.keyboard.press('Alt+Shift+P');
      await page.locator('.apl-panel').waitFor();
      await section('Results').click();
      await section('Profiles').click();
      const saved = page.waitForRequest(request => placeIn(request) === 'profile <b>far</b>');
      await rows('profile').filter({ hasText: 'far' }).click();
      await (await saved).response();
      await page.reload();
      await range().waitFor();
      await page.locator('.apl-panel').waitFor();
      const active = page.locator('.apl-tree-row[aria-selected="true"] .apl-tree-label');
      await soon(() => active.textContent()).toBe('<b>far</b>');
      expect(await section('Results').getAttribute('aria-expanded')).toBe('false');
      expect(await section('Profiles').getAttribute('aria-expanded')).toBe('true');
      expect(await onTheRight.count()).toBe(1);
    });

  test('the star of a cell saves its query; the panel finds it, opens and runs it in cells', async () => {
    await page.reload();
    await range().waitFor();
    await enter(0);
    await page.keyboard.press('Alt+Shift+S');
    await page.locator('.jp-Dialog input').fill('By "status"');
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Star' }).click();
    await page.getByText('Starred as').first().waitFor();
    await page.keyboard.press('Alt+Shift+P');
    await section('Starred').click();
    await soon(() => labels('star')).toEqual(['By "status"']);
    await page.getByLabel('Filter the lists').fill('no such star');
    await soon(() => labels('star')).toEqual([]);
    await page.getByLabel('Filter the lists').fill('BY "ST');
    await soon(() => labels('star')).toEqual(['By "status"']);
    await page.getByLabel('Filter the lists').fill('');
    await rows('star').click();
    expect(await details().locator('pre').textContent()).toContain('summarize n = count() by status');
    await enter(2);
    await act('Open as cell');
    await soon(() => source(3)).toBe(`%%time now-2h..now\n${cells[0]}`);
    expect(await cell(3).locator('.jp-InputPrompt').textContent()).toBe('[ ]:');
    await act('Run');
    await soon(() => source(4)).toMatch(/^%run "star:\w+"$/);
    await soon(() => cell(4).locator('.jp-OutputArea').textContent()).toContain('now-2h..now');
  });

  test('a starred query is changed to the query of a cell, and deleted', async () => {
    await enter(3);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`%%time last 3h\n['sample-http-logs'] | count`);
    await act('Update from cell');
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Change' }).click();
    await soon(() => page.locator('.apl-panel-status').textContent()).toMatch(/^Updated the starred query /);
    await soon(() => details().locator('pre').textContent()).toBe("['sample-http-logs'] | count");
    await soon(() => details().textContent()).toContain('now-3h..now');
    expect(await labels('star')).toEqual(['By "status"']);
    await act('Delete');
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Delete' }).click();
    await soon(() => labels('star')).toEqual([]);
    expect(await page.locator('.apl-panel-status').textContent()).toMatch(/^Deleted the starred query /);
    await section('Starred').click();
  });

  test('an entry of the history is opened as a cell with the window that it read, inserted, and run again', async () => {
    await section('Datasets').click();
    await section('History').click();
    await soon(() => rows('history').count()).toBeGreaterThan(3);
    await page.getByLabel('Filter the lists').fill('SUMMARIZE n = count() by status');
    await soon(async () => (await labels('history')).at(0)).toContain('summarize n = count() by status');
    await rows('history').first().click();
    const window = (await details().locator('dd').allTextContents()).find(text => / \.\. /.test(text));
    const opened = `%%time ${window?.replace(' .. ', '..')}\n${cells[0]}`;
    await enter(4);
    await act('Open as cell');
    await soon(() => source(5)).toBe(opened);
    await act('Run again');
    await soon(() => source(6)).toBe(opened);
    await soon(() => cell(6).locator('.jp-OutputArea').textContent()).toContain(window?.slice(0, 16) ?? '');
    await act('Open as cell');
    await enter(7);
    await page.keyboard.press('Control+a');
    await act('Insert');
    await soon(() => source(7)).toBe(cells[0]);
    await page.getByLabel('Filter the lists').fill('');
  });

  test('another profile is red and written down; none of its names runs or breaks the layout', async () => {
    await enter(2);
    await page.keyboard.press('Alt+Shift+U');
    await page.getByRole('button', { name: 'Use <b>far</b>' }).click();
    await soon(() => profile().textContent()).toBe('<b>far</b>');
    expect(await profile().getAttribute('class')).toContain('apl-remote');
    expect(await source(0)).toContain('%use "<b>far</b>"');
    expect(await page.evaluate(backgroundOfProfile)).toBe('rgb(179, 38, 30)');
    await rows('history').first().click();
    await act('Run again');
    const refused = page.locator('.jp-CodeCell', { hasText: /ran on local, and the profile is/ });
    await soon(() => refused.count()).toBe(1);
    await section('Datasets').click();
    await section('History').click();
    await soon(() => labels('dataset')).not.toContain('sample-http-logs');
    await soon(() => section('Datasets').textContent()).toContain(`${HOSTILE.length + PLAIN_DATASETS}`);
    await page.getByRole('tree').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await soon(() => rows('field').count()).toBeGreaterThan(5);
    await rows('field').first().locator('.apl-tree-twisty').click();
    await soon(async () => (await labels('note')).join()).toContain(HOSTILE[0]);
    await rows('field').nth(1).locator('.apl-tree-twisty').click();
    await soon(() => rows('value').count()).toBeGreaterThan(5);
    const seen = await page.evaluate<Seeing>(scrollThrough);
    expect(seen.pwned).toBe(false);
    expect(seen.mostNodes).toBeLessThan(120);
    expect(seen.foreign).toBe(0);
    expect(seen.tooWide).toBe(0);
    expect(seen.height).toBeGreaterThan(2_500 * 22);
    await soon(() => session.complaints.filter(text => !passedOver.test(text))).toEqual([]);
  });

  test('without a kernel it says so, and the toolbar is still', async () => {
    await endKernels(session.lab);
    await soon(() => page.locator('.apl-panel-status').textContent()).toMatch(/kernel/);
    await soon(() => page.locator('.apl-toolbar-range').isDisabled()).toBe(true);
  });
});

/** The key of the panel's active row in the workspace that a request saves. */
function placeIn(request: Request): string | undefined {
  if (request.method() !== 'PUT' || !request.url().includes('/api/workspaces/')) return undefined;
  const { data } = JSON.parse(request.postData() ?? '{}') as {
    readonly data?: Readonly<Record<string, { readonly active?: string }>>;
  };
  return data?.['apl-panel:place']?.active;
}

/** What a page may complain of: answers of the hostile service. */
const passedOver = /Failed to load resource|WebSocket/;

/** What `scrollThrough` finds. */
interface Seeing {
  readonly pwned: boolean;
  readonly mostNodes: number;
  /** Elements in the panel that the panel does not make. */
  readonly foreign: number;
  /** Rows that are wider than the panel, or not one line high. */
  readonly tooWide: number;
  readonly height: number;
}

const backgroundOfProfile =
  "getComputedStyle(document.querySelector('.apl-toolbar-profile')).backgroundColor";

/** Scrolls the tree from its top to its end, a page at a time, and looks at what is drawn. */
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
