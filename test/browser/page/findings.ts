import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** A finding of axe-core: https://github.com/dequelabs/axe-core/blob/develop/doc/API.md#results-object */
interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The rule that a name has the words that are seen. A row of a tree is named by what its columns mean, and begins with its label all the same. */
const NAME_RULE = 'label-content-name-mismatch';

interface Found {
  readonly violations: readonly Finding[];
  readonly inapplicable: readonly { readonly id: string }[];
}

/**
 * What axe-core finds in parts of a page that keeps people out, as sentences; JupyterLab's own page is its own matter. Throws if
 * the page holds none of the parts, or if colors alone are asked for and no text is seen. Of an open page whose theme alone has changed, the colors are all that can be new.
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
  const { violations, inapplicable } = await page.evaluate<Found>(`(async () => {
    // JupyterLab's body has no height: all that is in no scrolled part of it would be taken for hidden, and its colors looked at by nobody.
    const { style } = document.body;
    const { minHeight } = style;
    style.minHeight = '100vh';
    try {
      return await axe.run(${parts}, ${options});
    } finally {
      style.minHeight = minHeight;
    }
  })()`);
  const unseen = inapplicable.some(({ id }) => id === 'color-contrast');
  if (unseen && rules === 'colors') throw new Error(`No colors were looked at in ${selectors.join(', ')}.`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes
        .filter(({ html }) => !(id === NAME_RULE && html.includes('role="treeitem"')))
        .map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
    );
}
