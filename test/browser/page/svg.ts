import type { Locator, Page } from 'playwright-core';

/** The nth chart of a page, with its tip and its menus. */
export function frameOf(page: Page, chart: number): Locator {
  return page.locator('.apl-chart-frame').nth(chart);
}

/** What is drawn of the nth chart of a page. */
export function svgOf(page: Page, chart: number): Locator {
  return frameOf(page, chart).locator('.apl-chart-svg > svg');
}
