import type { Locator, Page } from 'playwright-core';
import { runEach } from './gallery.js';

/** A state of the page around outputs: menus, toolbars, the side panel. */
export interface State {
  readonly name: string;
  /** The parts of the page that are ours. */
  readonly parts: readonly string[];
  /** True where it stays as the window is resized. */
  readonly stays?: true;
  /** Brings the page into the state; `clear` leaves it again. */
  readonly show: (page: Page) => Promise<void>;
}

const popover = ['.apl-popover'];
const panel = ['.apl-panel'];

/** The states of the notebook AROUND, in the order in which they are taken; those of the panel come last, as it takes room. */
export const STATES: readonly State[] = [
  { name: 'toolbar', parts: ['.apl-toolbar-item'], show: page => enter(page, 1) },
  { name: 'range', parts: popover, show: page => byKey(page, 'T') },
  { name: 'profiles', parts: popover, show: page => byKey(page, 'U') },
  { name: 'parameters', parts: popover, show: page => byKey(page, 'M') },
  { name: 'chart-kinds', parts: popover, show: page => byKey(page, 'V') },
  {
    name: 'chart-menu',
    parts: ['.apl-chart-menu'],
    show: async page => {
      await page.locator('.apl-chart-frame').first().hover();
      await page.locator('.apl-chart-menu > summary').first().click();
    },
  },
  {
    name: 'column',
    parts: popover,
    show: page => openColumn(page, 1, '_time'),
  },
  {
    name: 'value',
    parts: popover,
    show: page => grid(page, 1).locator('tbody td').first().click(),
  },
  {
    name: 'row',
    parts: ['.apl-grid-details'],
    show: page => grid(page, 1).locator('tbody tr').first().locator('th').first().click(),
  },
  {
    name: 'hostile-column',
    parts: popover,
    show: page => openColumn(page, 2, 'value'),
  },
  {
    name: 'hostile-row',
    parts: ['.apl-grid-details'],
    show: page => grid(page, 2).locator('tbody tr').nth(2).locator('th').first().click(),
  },
  {
    name: 'columns',
    parts: popover,
    show: page => grid(page, 3).getByRole('button', { name: 'Columns' }).click(),
  },
  { name: 'copy', parts: popover, show: page => grid(page, 1).getByRole('button', { name: 'Copy' }).click() },
  {
    name: 'panel-dataset',
    parts: panel,
    stays: true,
    show: async page => {
      await page.keyboard.press('Alt+Shift+P');
      await rows(page, 'dataset').filter({ hasText: 'sample-http-logs' }).locator('.apl-tree-twisty').click();
      await rows(page, 'field').filter({ hasText: 'method' }).locator('.apl-tree-twisty').click();
      await rows(page, 'value').first().waitFor();
      await rows(page, 'dataset').filter({ hasText: 'sample-http-logs' }).locator('.apl-tree-label').click();
    },
  },
  {
    name: 'panel-star',
    parts: panel,
    stays: true,
    show: async page => {
      await fold(page);
      await section(page, 'Starred').click();
      await rows(page, 'star').first().click();
    },
  },
  {
    name: 'panel-history',
    parts: panel,
    stays: true,
    show: async page => {
      await fold(page);
      await section(page, 'History').click();
      await rows(page, 'history').first().click();
    },
  },
  {
    name: 'panel-strangers',
    parts: [...panel, '.apl-toolbar-item'],
    stays: true,
    show: async page => {
      await fold(page);
      await section(page, 'Profiles').click();
      await rows(page, 'profile').filter({ hasText: 'far' }).click();
      await page.locator('.apl-panel-details').getByRole('button', { name: 'Use' }).click();
      await section(page, 'Profiles').click();
      await section(page, 'Datasets').click();
      await rows(page, 'dataset').first().locator('.apl-tree-twisty').click();
      await rows(page, 'field').nth(1).click();
    },
  },
];

/** Runs the cells of the notebook AROUND and closes the file browser, so that the page has all of the window. */
export async function prepare(page: Page): Promise<void> {
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  await runEach(page);
  await grid(page, 3).waitFor();
}

/** Closes what a state has opened. */
export async function clear(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  for (const close of await page.getByRole('button', { name: 'Close the row' }).all()) await close.click();
  for (const menu of await page.locator('.apl-chart-menu[open] > summary').all()) await menu.click();
}

function grid(page: Page, cell: number): Locator {
  return page.locator('.jp-CodeCell').nth(cell).locator('.apl-grid');
}

async function openColumn(page: Page, cell: number, column: string): Promise<void> {
  await grid(page, cell)
    .locator('regular-table')
    .evaluate((node: { scrollTo(x: number, y: number): void }) => node.scrollTo(0, 0));
  // The end of a wide head may be out of sight.
  await grid(page, cell)
    .getByRole('button', { name: `Menu of ${column}`, exact: true })
    .evaluate((node: { click(): void }) => node.click());
  await page.locator('.apl-grid-top li').first().waitFor();
}

function rows(page: Page, kind: string): Locator {
  return page.locator(`.apl-tree-${kind}`);
}

function section(page: Page, name: string): Locator {
  return page.locator('.apl-tree-section', { hasText: name });
}

/** Closes the sections of the panel that are open. */
async function fold(page: Page): Promise<void> {
  for (const name of ['Datasets', 'Results', 'Starred', 'History', 'Profiles']) {
    const head = section(page, name);
    await page.getByRole('tree').focus();
    await page.keyboard.press('Home');
    if ((await head.getAttribute('aria-expanded')) === 'true') await head.click();
  }
}

async function enter(page: Page, cell: number): Promise<void> {
  await page.locator('.jp-CodeCell').nth(cell).locator('.jp-InputPrompt').click();
}

async function byKey(page: Page, key: string): Promise<void> {
  await page.locator('.jp-CodeCell').first().locator('.cm-line').last().click();
  await page.keyboard.press(`Alt+Shift+${key}`);
  await page.locator('.apl-popover').waitFor();
  await page.locator('.apl-popover :is(button, input)').first().waitFor();
}
