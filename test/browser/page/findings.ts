import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** A violation reported by axe-core: https://github.com/dequelabs/axe-core/blob/develop/doc/API.md#results-object */
interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Rule that names contain the visible text. Not applied to tree rows: their name begins with the label and spells out their columns. */
const NAME_RULE = 'label-content-name-mismatch';

interface Found {
  readonly violations: readonly Finding[];
  readonly inapplicable: readonly { readonly id: string }[];
}

/**
 * Returns serious and critical axe-core violations in parts of a page, as sentences; JupyterLab's own page is out of scope. Throws if the
 * page contains none of the parts, or if only colors are requested and no text is visible. If only the theme of an open page has changed,
 * only the colors can have new violations.
 */
export async function findings(
  page: Page,
  selectors: readonly string[],
  rules: 'all' | 'colors' = 'all',
): Promise<readonly string[]> {
  // Works on pages that block scripts too.
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
