import type { Locator, Page } from 'playwright-core';
import { runEach } from '../gallery.js';
import { cellsOf } from './cells.js';
import { sidePanelOf } from './side-panel.js';

/** A state of the page around outputs: menus, toolbars, the side panel. */
export interface State {
  readonly name: string;
  /** The parts of the page that are ours. */
  readonly parts: readonly string[];
  /** The cell that it is about; none if the outputs of no cell are. */
  readonly cell?: number;
  /** True if it stays as the window is resized. */
  readonly stays?: true;
  /** Brings the page into the state; `clear` leaves it again. */
  readonly show: (page: Page) => Promise<void>;
}

const popover = ['.apl-popover'];
const panel = ['.apl-panel'];

/** The states of the notebook AROUND, in the order in which they are taken; those of the panel come last, as it takes room. */
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

/** Runs the cells of the notebook AROUND and closes the file browser, so that the page has all of the window. */
export async function prepare(page: Page): Promise<void> {
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  await runEach(page);
  await grid(page, 3).waitFor();
}

/** Hides all of a notebook but one cell, as JupyterLab's own menus do: axe-core walks the whole page, whatever it is to look at. */
export async function leaveCell(page: Page, cell: number | undefined): Promise<void> {
  await page.evaluate(`jupyterapp.shell.currentWidget.content.widgets.forEach((each, index) => {
    each.inputHidden = each.outputHidden = index !== ${cell};
  })`);
}

/** Closes what a state has opened. */
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
  // The end of a wide head may be out of view, and a grid in a window of a new size draws its heads anew: pressed where it is found.
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
  // What the pointer rests on would be explained.
  await page.mouse.move(0, 0);
  await page.keyboard.press(`Alt+Shift+${key}`);
  await page.locator('.apl-popover').waitFor();
  await page.locator('.apl-popover :is(button, input)').first().waitFor();
}
