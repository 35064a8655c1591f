import type { Locator, Page } from 'playwright-core';

/** Returns the nth chart of a page, with its tooltip and menus. */
export function frameOf(page: Page, chart: number): Locator {
  return page.locator('.apl-chart-frame').nth(chart);
}

/** Returns the SVG of the nth chart of a page. */
export function svgOf(page: Page, chart: number): Locator {
  return frameOf(page, chart).locator('.apl-chart-svg > svg');
}
