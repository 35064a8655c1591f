import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { LAB_42, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

/** More rows than a notebook stores. */
const rows = 'range n from 1 to 20000 step 1 | extend text = strcat("a text of the row ", tostring(n))';

// Notebook 7 shows only one document at a time.
describe.each(usually(LAB_42).filter(({ app }) => app !== 'notebooks'))(
  'grids in several documents of one kernel, in $name',
  frontEnd => {
    let session: Session;
    let page: Page;
    let cells: Cells;

    beforeAll(async () => {
      session = await openSession(frontEnd, {
        files: {
          'first.ipynb': notebookOf([rows]),
          'second.ipynb': notebookOf([rows, "['sample-http-logs'] | count"]),
        },
        file: 'first.ipynb',
      });
      ({ page } = session);
      cells = cellsOf(page);
      await runEach(page);
      await page.locator('.apl-grid').first().waitFor();
    });

    afterAll(() => session?.stop());

    const command = (name: string, options: object = {}) =>
      page.evaluate(`void jupyterapp.commands.execute('${name}', ${JSON.stringify(options)})`);
    const status = (grid: Locator) => grid.locator('.apl-grid-status').textContent();
    /** Filters the grid to one row; resolves once the grid shows it. */
    const find = async (grid: Locator) => {
      await grid.getByRole('searchbox').fill('row 19999');
      await soon(() => status(grid)).toBe('1 of 20,000 rows match.');
      await grid.getByRole('searchbox').fill('');
      await soon(() => status(grid)).toBe('');
    };

    test('a second notebook on the kernel has all rows and a toolbar, even after the first is closed', async () => {
      await page.evaluate(openOnKernelOf('first.ipynb', 'second.ipynb'));
      const second = page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)');
      await second.locator('.apl-toolbar-range:not(:disabled)').waitFor();
      await second.locator('.cm-content').first().focus();
      await page.keyboard.press('Control+Enter');
      const grid = second.locator('.apl-grid');
      await find(grid);
      await page.evaluate(close('first.ipynb'));
      await find(grid);
    });

    test('a new view of an output has all rows, and writes into its cell', async () => {
      await cells.at(0).locator('.jp-InputPrompt').click();
      await command('notebook:create-output-view');
      const view = page.locator('.jp-LinkedOutputView .apl-grid');
      await find(view);
      await view.locator('tbody td').first().click({ button: 'right' });
      await page.getByRole('button', { name: /that excludes this value$/ }).click();
      expect((await cells.source(0)).split('\n').at(-1)).toBe('| where n != 1');
      await command('application:close');
      await view.waitFor({ state: 'detached' });
      expect(session.complaints).toEqual([]);
    });
  },
);

/** Opens a notebook on the kernel of another open notebook. */
const openOnKernelOf = (open: string, path: string) => `(async () => {
  const widget = [...jupyterapp.shell.widgets('main')].find(each => each.context?.path === '${open}');
  const { id } = widget.sessionContext.session.kernel;
  await jupyterapp.commands.execute('docmanager:open', { path: '${path}', kernel: { id } });
})()`;

/** Saves and closes a notebook; its changes do not matter. */
const close = (path: string) => `(async () => {
  const widget = [...jupyterapp.shell.widgets('main')].find(each => each.context?.path === '${path}');
  await widget.context.save();
  widget.close();
})()`;
