import type { Locator, Page } from 'playwright-core';
import { runEach } from '../gallery.js';
import { cellsOf } from './cells.js';
import { sidePanelOf } from './side-panel.js';

/** A state of the page around the outputs: menus, toolbars, the side panel. */
export interface State {
  readonly name: string;
  /** Page regions that the extension renders. */
  readonly parts: readonly string[];
  /** The cell it concerns; absent if it concerns no cell's outputs. */
  readonly cell?: number;
  /** True if it survives resizing the window. */
  readonly stays?: true;
  /** Brings the page into the state; `clear` undoes it. */
  readonly show: (page: Page) => Promise<void>;
}

const popover = ['.apl-popover'];
const panel = ['.apl-panel'];

/** States of the AROUND notebook, in order; the panel's come last because it takes up space. */
export const STATES: readonly State[] = [
  {
    name: 'toolbar',
    parts: ['.apl-toolbar-item', '.jp-cell-toolbar [data-jp-item-name^="apl-"]'],
    cell: 1,
    show: page => cellsOf(page).at(1).locator('.jp-InputPrompt').click(),
  },
  { name: 'range', parts: popover, cell: 0, show: page => byKey(page, 'T') },
  { name: 'profiles', parts: popover, cell: 0, show: page => byKey(page, 'U') },
  { name: 'parameters', parts: popover, cell: 0, show: page => byKey(page, 'M') },
  { name: 'chart-kinds', parts: popover, cell: 0, show: page => byKey(page, 'V') },
  {
    name: 'chart-menu',
    parts: ['.apl-chart-menu'],
    cell: 0,
    show: async page => {
      await page.locator('.apl-chart-frame').first().hover();
      await page.locator('.apl-chart-menu > summary').first().click();
    },
  },
  {
    name: 'column',
    parts: popover,
    cell: 1,
    show: page => openColumn(page, 1, '_time'),
  },
  {
    name: 'value',
    parts: popover,
    cell: 1,
    show: page => grid(page, 1).locator('tbody td').first().click({ button: 'right' }),
  },
  {
    name: 'row',
    parts: ['.apl-grid-details'],
    cell: 1,
    show: page => grid(page, 1).locator('tbody tr').first().locator('th').first().click(),
  },
  {
    name: 'hostile-column',
    parts: popover,
    cell: 2,
    show: page => openColumn(page, 2, 'value'),
  },
  {
    name: 'hostile-row',
    parts: ['.apl-grid-details'],
    cell: 2,
    show: page => grid(page, 2).locator('tbody tr').nth(2).locator('th').first().click(),
  },
  {
    name: 'columns',
    parts: popover,
    cell: 3,
    show: page => grid(page, 3).getByRole('button', { name: 'Columns' }).click(),
  },
  {
    name: 'copy',
    parts: popover,
    cell: 1,
    show: page => grid(page, 1).getByRole('button', { name: 'Copy' }).click(),
  },
  {
    name: 'panel-dataset',
    parts: panel,
    stays: true,
    show: async page => {
      const { rows } = sidePanelOf(page);
      await page.keyboard.press('Alt+Shift+P');
      await rows('dataset').filter({ hasText: 'sample-http-logs' }).locator('.apl-tree-twisty').click();
      await rows('field').filter({ hasText: 'method' }).locator('.apl-tree-twisty').click();
      await rows('value').first().waitFor();
      await rows('dataset').filter({ hasText: 'sample-http-logs' }).locator('.apl-tree-label').click();
    },
  },
  {
    name: 'panel-star',
    parts: panel,
    stays: true,
    show: async page => {
      const { rows, unfold } = sidePanelOf(page);
      await unfold('Starred');
      await rows('star').first().click();
    },
  },
  {
    name: 'panel-history',
    parts: panel,
    stays: true,
    show: async page => {
      const { rows, unfold } = sidePanelOf(page);
      await unfold('History');
      await rows('history').first().click();
    },
  },
  {
    name: 'panel-strangers',
    parts: [...panel, '.apl-toolbar-item'],
    stays: true,
    show: async page => {
      const { act, rows, unfold } = sidePanelOf(page);
      await unfold('Profiles');
      await rows('profile').filter({ hasText: 'far' }).click();
      await act('Use');
      await unfold('Datasets');
      await rows('dataset').first().locator('.apl-tree-twisty').click();
      await rows('field').nth(1).click();
    },
  },
];

/** Runs the cells of the AROUND notebook and closes the file browser, so that the notebook has the whole window. */
export async function prepare(page: Page): Promise<void> {
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  await runEach(page);
  await grid(page, 3).waitFor();
}

/** Hides all but one cell of a notebook, as JupyterLab's own menus do: axe-core walks the whole page whatever it checks. */
export async function leaveCell(page: Page, cell: number | undefined): Promise<void> {
  await page.evaluate(`jupyterapp.shell.currentWidget.content.widgets.forEach((each, index) => {
    each.inputHidden = each.outputHidden = index !== ${cell};
  })`);
}

/** Closes everything that a state has opened. */
export async function clear(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  for (const close of await page.getByRole('button', { name: 'Close the row' }).all()) await close.click();
  for (const menu of await page.locator('.apl-chart-menu[open] > summary').all()) await menu.click();
}

function grid(page: Page, cell: number): Locator {
  return cellsOf(page).at(cell).locator('.apl-grid');
}

async function openColumn(page: Page, cell: number, column: string): Promise<void> {
  await grid(page, cell).scrollIntoViewIfNeeded();
  await grid(page, cell)
    .locator('regular-table')
    .evaluate((node: { scrollTo(x: number, y: number): void }) => node.scrollTo(0, 0));
  // The end of a wide head may be out of view, and a resized grid redraws its heads: click it in the page as soon as it is found.
  const selector = `.apl-grid [aria-label=${JSON.stringify(`Menu of ${column}`)}]`;
  await page.waitForFunction(`(() => {
    const opener = document.querySelectorAll('.jp-CodeCell')[${cell}].querySelector(${JSON.stringify(selector)});
    opener?.click();
    return opener !== null;
  })()`);
  await page.locator('.apl-grid-top li').first().waitFor();
}

async function byKey(page: Page, key: string): Promise<void> {
  await cellsOf(page).enter(0);
  // A resting pointer would open documentation.
  await page.mouse.move(0, 0);
  await page.keyboard.press(`Alt+Shift+${key}`);
  await page.locator('.apl-popover').waitFor();
  await page.locator('.apl-popover :is(button, input)').first().waitFor();
}
