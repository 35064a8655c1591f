import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf, runEach } from '../gallery.js';
import { LAB_42, usually } from '../lab.js';
import { type Cells, cellsOf, clickIn, writtenIn } from '../page/cells.js';
import { sidePanelOf } from '../page/side-panel.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const rows = 'errs << range n from 1 to 20000 step 1 | extend host = strcat("host ", tostring(n % 4))';

// Notebook 7 shows only one document at a time.
describe.each(usually(LAB_42).filter(({ app }) => app !== 'notebooks'))('a console in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'beside.ipynb': notebookOf([rows, 'seen | count']) },
      file: 'beside.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    await runEach(page, 0, 1);
  });

  afterAll(() => session?.stop());

  const command = (name: string, options: object = {}) =>
    page.evaluate(`void jupyterapp.commands.execute('${name}', ${JSON.stringify(options)})`);
  /** Returns the console that was opened last. */
  const view = (): Locator => page.locator('.jp-ConsolePanel:not(.lm-mod-hidden)').last();
  const prompt = (): Locator =>
    view().locator(".jp-CodeConsole-promptCell .cm-content[data-language='axiom-apl']");
  const offered = () => page.locator('.cm-tooltip-autocomplete li').allTextContents();
  const isInPrompt = () =>
    page.evaluate("document.activeElement.closest('.jp-CodeConsole-promptCell') !== null");
  /** Returns the cell that was run last. */
  const last = (): Locator => view().locator('.jp-CodeConsole-content .jp-CodeCell').last();
  /** Runs a text at the prompt; resolves with its output once it has a number. */
  const run = async (text: string): Promise<string> => {
    // A console that is still opening moves the focus.
    await soon(async () => {
      await clickIn(prompt());
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
      return writtenIn(prompt());
    }).toBe(text);
    await page.keyboard.press('Shift+Enter');
    await soon(() => writtenIn(last().locator('.cm-content'))).toBe(text);
    await soon(() => last().locator('.jp-InputPrompt').textContent()).toMatch(/\[\d+\]/);
    return (await last().locator('.jp-OutputArea').allTextContents()).join('');
  };

  test('beside a notebook completes its results, and Escape first closes the list', async () => {
    await command('notebook:create-console', { activate: true });
    await clickIn(prompt());
    await page.keyboard.type('er');
    // The names arrive with the kernel's first reply.
    await soon(async () => {
      await page.keyboard.press('Control+Space');
      return offered();
    }).toEqual(['errs']);
    await page.keyboard.press('Escape');
    await soon(offered).toEqual([]);
    expect(await isInPrompt()).toBe(true);
    await page.keyboard.press('Escape');
    await soon(isInPrompt).toBe(false);
  });

  test('shows grids over all rows, and Escape moves from a grid to the prompt', async () => {
    expect(await run('seen << errs | where n > 10')).toContain('19,990 rows');
    const grid = view().locator('.apl-grid').last();
    await grid.getByRole('searchbox').fill('host 3');
    await soon(() => grid.locator('.apl-grid-status').textContent()).toBe('4,998 of 19,990 rows match.');
    await grid.locator('table').focus();
    await page.keyboard.press('Escape');
    expect(await isInPrompt()).toBe(true);
    await cells.run(1);
    expect(await cells.output(1)).toContain('19,990');
  });

  test('shares the time range of the notebook, whose panel lists its results', async () => {
    await run('%time last 6h');
    await soon(() => page.locator('.apl-toolbar-range').textContent()).toBe('last 6h');
    await run("['sample-http-logs'] | summarize count() by bin_auto(_time)");
    await view().locator('.apl-chart-svg > svg').waitFor();
    await cells.enter(1);
    await page.keyboard.press('Alt+Shift+P');
    await soon(() => sidePanelOf(page).labels('result')).toContain('seen');
    expect(session.complaints).toEqual([]);
  });

  test('of a file runs its cells, and the file completes its results', async () => {
    writeFileSync(join(session.lab.notebookDir, 'cells.apl'), '// %%\nkept << print x = 1\n\n// %%\nke');
    await command('docmanager:open', { path: 'cells.apl' });
    const file = page.locator('.jp-FileEditor:visible .cm-content');
    await clickIn(file);
    await command('fileeditor:create-console', { activate: false });
    // JupyterLab asks which kernel to use for a file, whatever its language.
    await page.locator('.jp-Dialog select').selectOption({ label: 'APL (Axiom)' });
    await page.locator('.jp-Dialog').getByRole('button', { name: 'Select' }).click();
    await run('kept << print x = 1');
    await view().locator('.apl-grid').waitFor();
    // A click would wait for the hover documentation under the pointer to close.
    await file.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Control+Space');
    await soon(async () => (await offered())[0]).toBe('kept');
    expect(session.complaints).toEqual([]);
  });
});
