import type { Locator, Page } from 'playwright-core';

/** The side panel of a page, read and operated as a user would. */
export interface SidePanel {
  rows(kind: string): Locator;
  labels(kind: string): Promise<readonly string[]>;
  section(name: string): Locator;
  /** Returns the details of the selected row. */
  details(): Locator;
  /** Presses a button in the details. */
  act(name: string): Promise<void>;
  filter(text: string): Promise<void>;
  /** Opens these sections, from the top, and closes all others: only the visible part of the tree is in the DOM. */
  unfold(...names: readonly string[]): Promise<void>;
}

export function sidePanelOf(page: Page): SidePanel {
  const rows = (kind: string): Locator => page.locator(`.apl-tree-${kind}`);
  const section = (name: string): Locator => rows('section').filter({ hasText: name });
  const details = (): Locator => page.locator('.apl-panel-details');
  return {
    rows,
    section,
    details,
    labels: kind => rows(kind).locator('.apl-tree-label').allTextContents(),
    act: name => details().getByRole('button', { name }).first().click(),
    filter: text => page.getByLabel('Filter the lists').fill(text),
    unfold: async (...names) => {
      const open = page.locator('.apl-tree-section[aria-expanded="true"]');
      await page.getByRole('tree').focus();
      for (await page.keyboard.press('Home'); (await open.count()) > 0; ) {
        await open.first().click();
        await page.keyboard.press('Home');
      }
      for (const name of names.toReversed()) await section(name).click();
    },
  };
}
