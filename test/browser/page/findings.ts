import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** A finding of axe-core: https://github.com/dequelabs/axe-core/blob/develop/doc/API.md#results-object */
interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/**
 * What axe-core finds in parts of a page that keeps people out, as sentences; JupyterLab's own page is its own matter. Throws where
 * the page holds none of the parts.
 */
export async function findings(page: Page, selectors: readonly string[]): Promise<readonly string[]> {
  // Pages that let no script run are looked at too.
  await page.evaluate(axe.source);
  const parts = JSON.stringify({ include: selectors.map(selector => [selector]) });
  const found = await page.evaluate<readonly Finding[]>(
    `axe.run(${parts}, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
