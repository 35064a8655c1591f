import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Reply, type Seen, type Service, startService, tabular } from '../api/service.js';
import { notebookOf, PAYLOADS } from './gallery.js';
import { type App, type Lab, openFile, startBrowser, startLab, venvPath } from './lab.js';

/** More than a hundred texts that would run, or break a layout, if any part of the page took them for markup. */
const HOSTILE = PAYLOADS.flatMap(text =>
  ['', ' ', '"', "']", '`', '\n', '%drop ', '-->'].map(before => `${before}${text}`),
);

const cells = [
  "['sample-http-logs']\n| summarize n = count() by status",
  "errs << ['sample-http-logs'] | where status == '500' | limit 3",
  "let limit = 2;\n['sample-http-logs']\n| limit limit\n| project method",
  "%%time last 3650d\n['sample-http-logs'] | summarize percentile(req_duration_ms, 99)",
];

/** A service on another machine, as far as the kernel can tell, whose every name is hostile. */
function hostile({ path, method, body }: Seen): Reply {
  const datasets = [...HOSTILE, ...Array.from({ length: 400 }, (_, index) => `plain ${index}`)];
  const star = (name: string, index: number) => ({
    ...{ id: `s${index}`, kind: 'apl', name, who: 'me', metadata: {} },
    query: { apl: `['x'] // ${name}`, startTime: 'now-1h', endTime: 'now' },
  });
  if (path === '/v2/datasets') return { body: datasets.map(name => ({ id: name, name, description: name })) };
  if (path === '/v2/user') return { body: { id: 'me', name: 'me', email: '' } };
  if (path === '/v2/apl-starred-queries') return { body: HOSTILE.slice(0, 90).map(star) };
  if (path.endsWith('/fields')) return { body: fieldsOf() };
  if (method !== 'POST') return { status: 404, body: { message: HOSTILE[1] } };
  if (body.includes('_time')) return { status: 400, body: { message: HOSTILE[0] } };
  const fields = [
    { name: 'value', type: 'string' },
    { name: 'n', type: 'integer' },
  ];
  return {
    body: tabular(fields, [HOSTILE.slice(0, 20), HOSTILE.slice(0, 20).map((_, index) => 20 - index)]),
  };
}

function fieldsOf(): readonly object[] {
  const names = ['_time', ...HOSTILE, ...Array.from({ length: 2_000 }, (_, index) => `field_${index}`)];
  return names.map(name => ({ name, type: 'string', unit: '', hidden: false, description: name }));
}

describe.each<{ name: string; variable: string; fallback: string; app: App }>([
  { name: 'the JupyterLab of npm start', variable: 'APL_TEST_VENV', fallback: '.venv', app: 'lab/tree' },
  { name: 'JupyterLab 4.2', variable: 'APL_TEST_VENV_LAB42', fallback: '.venv-lab42', app: 'lab/tree' },
  { name: 'Notebook 7', variable: 'APL_TEST_VENV', fallback: '.venv', app: 'notebooks' },
])('toolbar and panel in $name', ({ variable, fallback, app }) => {
  let lab: Lab;
  let service: Service;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(async () => {
    service = await startService(hostile);
    browser = await startBrowser();
    context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
    lab = await startLab({
      venv: venvPath(variable, fallback),
      files: { 'around.ipynb': notebookOf(cells) },
      home: { '.axiom.toml': `[deployments."<b>far</b>"]\nurl = "${service.url}"\ntoken = "xaat-secret"\n` },
    });
    lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
    ({ page, complaints } = await openFile(context, lab, 'around.ipynb', app));
    await range().waitFor();
  });

  afterAll(async () => {
    await browser?.close();
    await lab?.stop();
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

  test('the star of a cell saves its query, the panel opens it, and deletes it', async () => {
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
    await rows('star').click();
    expect(await details().locator('pre').textContent()).toContain('summarize n = count() by status');
    await details().getByRole('button', { name: 'Delete' }).click();
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Delete' }).click();
    await soon(() => labels('star')).toEqual([]);
    await section('History').click();
    await soon(() => rows('history').count()).toBeGreaterThan(3);
  });

  test('another profile is red and written down; none of its names runs or breaks the layout', async () => {
    await enter(2);
    await page.keyboard.press('Alt+Shift+U');
    await page.getByRole('button', { name: 'Use <b>far</b>' }).click();
    await soon(() => profile().textContent()).toBe('<b>far</b>');
    expect(await profile().getAttribute('class')).toContain('apl-remote');
    expect(await source(0)).toContain('%use "<b>far</b>"');
    expect(await page.evaluate(backgroundOfProfile)).toBe('rgb(179, 38, 30)');
    await soon(() => labels('dataset')).not.toContain('sample-http-logs');
    await soon(() => section('Datasets').textContent()).toContain(`${HOSTILE.length + 400}`);
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
    await soon(() => complaints.filter(text => !passedOver.test(text))).toEqual([]);
  });

  test('without a kernel it says so, and the toolbar is still', async () => {
    const headers = { authorization: `token ${lab.token}` };
    const kernels = (await (await fetch(`${lab.url}api/kernels`, { headers })).json()) as { id: string }[];
    for (const { id } of kernels) await fetch(`${lab.url}api/kernels/${id}`, { method: 'DELETE', headers });
    await soon(() => page.locator('.apl-panel-status').textContent()).toMatch(/kernel/);
    await soon(() => page.locator('.apl-toolbar-range').isDisabled()).toBe(true);
  });
});

/** What a page may complain of: answers of the hostile service. */
const passedOver = /Failed to load resource|WebSocket/;

/** Waits for what a page shows in the end, however busy the machine is. */
function soon<T>(read: () => T) {
  return expect.poll(read, { timeout: 60_000 });
}

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
