import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GALLERY, notebookOf, runEach } from './gallery.js';
import { type Lab, openFile, startBrowser, startLab, type Theme, venvPath } from './lab.js';

/** A finding of axe-core: https://github.com/dequelabs/axe-core/blob/develop/doc/API.md#results-object */
interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

describe.each<{ theme: Theme }>([{ theme: 'light' }, { theme: 'dark' }])(
  'in the $theme theme',
  ({ theme }) => {
    let lab: Lab;
    let browser: Browser;

    beforeAll(async () => {
      browser = await startBrowser();
      const files = Object.entries(GALLERY).map(([name, cells]) => [`${name}.ipynb`, notebookOf(cells)]);
      lab = await startLab({
        venv: venvPath('APL_TEST_VENV', '.venv'),
        theme,
        files: Object.fromEntries(files),
      });
      lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
    });

    afterAll(async () => {
      await browser?.close();
      await lab?.stop();
    });

    test.each(Object.keys(GALLERY))(
      '%s: everyone can read and reach the outputs, and nothing runs',
      async name => {
        const context = await browser.newContext({ viewport: { width: 1000, height: 900 } });
        const { page, complaints } = await openFile(context, lab, `${name}.ipynb`);
        await runEach(page);
        await page.addScriptTag({ content: axe.source });
        expect(await serious(page)).toEqual([]);
        expect(await page.evaluate("'pwned' in window")).toBe(false);
        expect(complaints).toEqual([]);
        await context.close();
      },
    );
  },
);

/** What axe-core finds in the outputs that keeps people out; JupyterLab's own page is its own matter. */
async function serious(page: Page): Promise<readonly string[]> {
  const findings = await page.evaluate<readonly Finding[]>(
    "axe.run('.jp-OutputArea-output', { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
