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
 * the page holds none of the parts. Of an open page whose theme alone has changed, the colors are all that can be new.
 */
export async function findings(
  page: Page,
  selectors: readonly string[],
  rules: 'all' | 'colors' = 'all',
): Promise<readonly string[]> {
  // Pages that let no script run are looked at too.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const parts = JSON.stringify({ include: selectors.map(selector => [selector]) });
  const options = JSON.stringify({
    resultTypes: ['violations'],
    ...(rules === 'colors' && {
      runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
    }),
  });
  const found = await page.evaluate<readonly Finding[]>(
    `axe.run(${parts}, ${options}).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
