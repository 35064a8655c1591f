import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../api/service.js';
import { everyday } from '../../notebook/session.js';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, openFile, usually } from '../lab.js';
import { type Cells, cellsOf, restartKernel } from '../page/cells.js';
import { findings } from '../page/findings.js';
import { type SidePanel, sidePanelOf } from '../page/side-panel.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const few = 'range n from 1 to 7 step 1 | extend host = strcat("host ", tostring(n * 5 % 7))';
const sources = ['%param top = 3', few, '%%on prod\nweb | count', '_ | count', `${few} | where n < top`];
const elsewhere = '%import lines.csv --dataset made_elsewhere';

describe.each(usually(NEWEST_LAB))('coming back to a notebook in $name', frontEnd => {
  let session: Session;
  let hosted: Service;
  let page: Page;
  let cells: Cells;
  let panel: SidePanel;

  beforeAll(async () => {
    hosted = await startService(each => everyday({ ...each, path: '/v1/datasets/_apl' }));
    const prod = `url = "http://api.invalid:81"\nedge_url = "${hosted.url}"\ntoken = "xaat-secret"\norg_id = "acme"`;
    session = await openSession(frontEnd, {
      files: {
        'again.ipynb': notebookOf(sources),
        'other.ipynb': notebookOf([elsewhere]),
        'lines.csv': 'time,n\n2026-01-01T10:00:00Z,1\n',
      },
      file: 'again.ipynb',
      allow: 'profile',
      home: { '.axiom.toml': `[deployments.prod]\n${prod}\n` },
    });
    ({ page } = session);
    cells = cellsOf(page);
    panel = sidePanelOf(page);
    await runEach(page);
    await grid(4).waitFor();
  });

  afterAll(async () => {
    await session?.stop();
    await hosted?.close();
  });

  const grid = (cell: number): Locator => cells.at(cell).locator('.apl-grid');
  const hosts = () => grid(1).locator('tbody tr td:nth-of-type(2)').allTextContents();

  test('a hosted result links to its console, and a local one does not', async () => {
    const copy = (cell: number) => grid(cell).getByRole('button', { name: 'Copy rows' });
    const menu = page.getByRole('dialog', { name: 'Copy' });
    await copy(2).click();
    const link = menu.getByRole('link', { name: 'Open in console' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toMatch(/^http:\/\/app\.invalid:81\/acme\/query\?initForm=/);
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await findings(page, ['.apl-popover'])).toEqual([]);
    await menu.getByRole('button', { name: 'Copy the link to the console' }).press('Enter');
    await soon(() => grid(2).locator('.apl-grid-status').textContent()).toBe('Copied the link.');
    await copy(1).press('Enter');
    await menu.waitFor();
    expect(await link.count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  test('the panel shows the query of an unnamed result', async () => {
    await page.evaluate("void jupyterapp.commands.execute('apl:panel')");
    await panel.unfold('Results');
    await soon(() => panel.labels('result')).toContain(few);
  });

  test('the editor notices a dataset that another notebook creates', async () => {
    await cells.write(3, 'made_elsewhere | count');
    const error = cells.at(3).locator('.cm-lintRange-error');
    await error.waitFor();
    const other = await openFile(session.context, session.lab, 'other.ipynb', frontEnd.app);
    await runEach(other.page);
    await cellsOf(other.page).at(0).locator('.jp-OutputArea', { hasText: 'made_elsewhere' }).waitFor();
    await other.close();
    await cells.enter(1);
    await cells.enter(3);
    await soon(() => error.count()).toBe(0);
    await cells.write(3, '_ | count');
  });

  test('after a restart, cells say what to run again, and a complete grid sorts and searches', async () => {
    await restartKernel(page);
    expect(await cells.run(3)).toContain('Run the cells above again: a new kernel has no results.');
    expect(await cells.run(4)).toContain(
      '`top` was a parameter of an earlier kernel: run the cells above again.',
    );
    await grid(1).locator('thead th', { hasText: 'host' }).locator('span').first().click();
    await soon(hosts).toEqual([0, 1, 2, 3, 4, 5, 6].map(each => `host ${each}`));
    await grid(1).getByRole('button', { name: 'Menu of host', exact: true }).press('Enter');
    const menu = page.getByRole('dialog', { name: 'Column host' });
    expect(await findings(page, ['.apl-popover'])).toEqual([]);
    await menu.getByRole('button', { name: /Descending/ }).press('Enter');
    await soon(hosts).toEqual([6, 5, 4, 3, 2, 1, 0].map(each => `host ${each}`));
    await grid(1).getByRole('searchbox').fill('HOST 3');
    await soon(hosts).toEqual(['host 3']);
  });
});
