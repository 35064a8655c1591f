import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endless } from '../setup/endless.js';
import { notebookOf } from './gallery.js';
import { SAMPLES } from './hostile/payloads.js';
import { changeTheme, kernelOf, kernelReady, NEWEST_LAB, THEMES, usually } from './lab.js';
import { type Cells, cellsOf, clickIn } from './page/cells.js';
import { findings } from './page/findings.js';
import { soon } from './page/soon.js';
import { openSession, type Session } from './session.js';

const sources = [
  '%use local\n%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  '%param city = "LHR" --choices "LHR", "a, b", "<b>bold</b>"\n%param slow = 500 span=5m',
  'declare query_parameters(verb: string = "GET", most: long = 3);\n[\'sample-http-logs\'] | where method == verb | limit most | summarize n = count() by method, city',
];

/** One payload of each class, since axe-core checks each field in each theme; cell-parameters.test.ts covers every payload. */
const hostile = [...SAMPLES, 'first\nsecond']
  .map((text, index) => `%param evil_${index} = ${JSON.stringify(text)}`)
  .join('\n');

const long = 'a "text" \u{1F600} that goes on '.repeat(150);
const choices = Array.from({ length: 200 }, (_, index) => JSON.stringify(`choice ${index} \u{1F600}`));

/** Parameters that are hard to show or to write. */
const awkward = [
  `%param region = ${choices[0]} --choices ${choices.join(', ')}`,
  `%param story = ${JSON.stringify(long)}`,
  '%param nobody --prompt',
  'declare query_parameters(none: string, since: datetime);',
  `%param ${'n'.repeat(120)} = 1`,
];

describe.each(usually(NEWEST_LAB))('the parameter form in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: {
        'report.ipynb': notebookOf(sources),
        'plain.ipynb': notebookOf(['print 1']),
        'hostile.ipynb': notebookOf([hostile]),
        'awkward.ipynb': notebookOf([awkward.join('\n'), endless]),
      },
      file: 'report.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
    await opener(page).waitFor();
  });

  afterAll(() => session?.stop());

  const prompts = (): Promise<string[]> => page.locator('.jp-CodeCell .jp-InputPrompt').allTextContents();
  const field = (name: string): Locator =>
    page.locator('.apl-parameter', { hasText: name }).locator('.apl-input');
  const said = (): Promise<string | null> => page.locator('.apl-popover .apl-said').textContent();

  test('lists names, types, values and choices', async () => {
    await cells.enter(2);
    await page.keyboard.press('Alt+Shift+M');
    await soon(() => page.locator('.apl-parameter strong').allTextContents()).toEqual([
      ...['city', 'slow', 'span', 'verb', 'most'],
    ]);
    expect(await page.locator('.apl-parameter-type').allTextContents()).toEqual([
      '',
      '',
      '',
      'string',
      'long',
    ]);
    const values = ['city', 'slow', 'span', 'verb', 'most'].map(name => field(name).inputValue());
    expect(await Promise.all(values)).toEqual(['"LHR"', '500', '5m', 'GET', '3']);
    expect(await field('city').locator('option').allTextContents()).toEqual(['LHR', 'a, b', '<b>bold</b>']);
  });

  test('reports an invalid value, and writes nothing', async () => {
    await field('slow').fill('fast');
    await page.keyboard.press('Enter');
    await soon(said).toBe('%param: slow cannot be fast, which is not a literal');
    await field('slow').fill('5 verb = "PUT"');
    await page.keyboard.press('Enter');
    await soon(said).toMatch(/^slow needs one value/);
    expect([await cells.source(1), await cells.source(2)]).toEqual(sources.slice(1));
    await page.keyboard.press('Escape');
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
  });

  test('writes a value in place or above its declaration by keyboard, without running cells', async () => {
    // The focus is back in the cell.
    await page.keyboard.press('Alt+Shift+M');
    await soon(() => page.evaluate("document.activeElement.closest('.apl-parameter')?.textContent")).toMatch(
      /^city/,
    );
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.insertText('900');
    for (const _ of ['span', 'verb']) await page.keyboard.press('Tab');
    await page.keyboard.insertText('POST');
    await page.keyboard.press('Enter');
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
    expect(await cells.source(1)).toBe(
      '%param city = "a, b" --choices "LHR", "a, b", "<b>bold</b>"\n%param slow = 900 span=5m',
    );
    expect(await cells.source(2)).toBe(`%param verb = "POST"\n${sources[2]}`);
    expect(await prompts()).toEqual(['[ ]:', '[ ]:', '[ ]:']);
  });

  test('Set and run all cells gives the results of the new values', async () => {
    await opener(page).click();
    await field('most').fill('2');
    await page.getByRole('button', { name: 'Set and run all cells' }).click();
    await soon(() => cells.output(2)).toMatch(/POST.*a, b/s);
    expect(await cells.source(2)).toBe(`%param most = 2\n%param verb = "POST"\n${sources[2]}`);
    expect(session.complaints).toEqual([]);
  });

  test('appears once a cell names a parameter, and disappears with the last one', async () => {
    const plain = await session.open('plain.ipynb');
    await kernelReady(plain.page);
    expect(await opener(plain.page).count()).toBe(0);
    await clickIn(plain.page.locator('.jp-CodeCell .cm-line').first());
    await plain.page.keyboard.press('Control+Home');
    await plain.page.keyboard.insertText('%param n = 5\n');
    await opener(plain.page).waitFor();
    await plain.page.keyboard.press('Control+A');
    await plain.page.keyboard.press('Delete');
    await opener(plain.page).waitFor({ state: 'detached' });
  });

  test('shows two hundred choices, a long text and names without values in full', async () => {
    const { page } = await session.open('awkward.ipynb');
    await opener(page).click();
    const control = (name: string) => page.locator('.apl-parameter', { hasText: name }).locator('.apl-input');
    await soon(() => control('region').locator('option').count()).toBe(200);
    expect(await control('story').inputValue()).toBe(long);
    expect([await control('nobody').inputValue(), await control('since').inputValue()]).toEqual(['', '']);
    const widths = await page.evaluate(
      "[...document.querySelectorAll('.apl-parameters, .apl-parameter, .apl-input')].map(each => each.getBoundingClientRect().width)",
    );
    for (const width of widths as readonly number[]) expect(width).toBeLessThanOrEqual(360);
    await control('region').selectOption({ index: 199 });
    await control('since').fill('datetime(2026-01-26)');
    await control('nobody').fill('"she said \\"hi\\" \u{1F600}"');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
    const text = await cellsOf(page).source(0);
    expect(text).toContain(`%param region = ${choices[199]} --choices`);
    expect(text).toContain('%param since = datetime(2026-01-26)');
    expect(text).toContain('nobody = "she said');
  });

  test('waits for a running cell, can be sent again after an interrupt, and stays without a kernel', async () => {
    const { page } = await session.open('awkward.ipynb');
    const said = () => page.locator('.apl-popover .apl-said').textContent();
    await opener(page).waitFor();
    await cellsOf(page).enter(1);
    await page.keyboard.press('Control+Enter');
    // Visible once the page knows that a cell is running.
    await page.locator('.apl-toolbar-stop').waitFor();
    await opener(page).click();
    const since = page.locator('.apl-parameter', { hasText: 'since' }).locator('.apl-input');
    await since.fill('datetime(2026-01-20)');
    await page.keyboard.press('Enter');
    await soon(said).toBe('Waiting for the running cell\u2026');
    const kernel = await kernelOf(session.lab, 'awkward.ipynb');
    await kernel.interrupt();
    await soon(said).toBe('The kernel aborted the request.');
    await since.press('Enter');
    await page.locator('.apl-popover').waitFor({ state: 'detached' });
    await opener(page).click();
    await since.fill('datetime(2026-01-21)');
    await kernel.end();
    await soon(() => page.locator('.apl-toolbar-parameters').isDisabled()).toBe(true);
    await since.press('Enter');
    await soon(said).toMatch(/^(The notebook has no kernel|The kernel was restarted or has stopped)\.$/);
    expect(await since.inputValue()).toBe('datetime(2026-01-21)');
  });

  test('closes with its notebook, or when another document is opened in front', async () => {
    const { page } = await session.open('awkward.ipynb');
    const form = page.locator('.apl-popover');
    await opener(page).click();
    await form.waitFor();
    await page.evaluate("jupyterapp.commands.execute('launcher:create')");
    await form.waitFor({ state: 'detached' });
    await page.evaluate('jupyterapp.shell.currentWidget.dispose()');
    await opener(page).click();
    await form.waitFor();
    await page.evaluate('jupyterapp.shell.currentWidget.dispose()');
    await form.waitFor({ state: 'detached' });
  });

  test('shows hostile values as readable text in every theme', async () => {
    const { page } = await session.open('hostile.ipynb');
    await opener(page).click();
    await soon(() => page.locator('.apl-parameter input').count()).toBe(SAMPLES.length + 1);
    const shown = await page.evaluate(
      "[...document.querySelectorAll('.apl-parameter input')].map(({ value }) => value)",
    );
    // A field has one line: a multi-line value is shown as its literal.
    expect(shown).toEqual([...SAMPLES, '"first\\nsecond"']);
    for (const theme of THEMES) {
      await changeTheme(page, theme);
      const rules = theme === THEMES[0] ? 'all' : 'colors';
      expect([theme, ...(await findings(page, ['.apl-popover'], rules))]).toEqual([theme]);
    }
    expect(await page.evaluate("'pwned' in window")).toBe(false);
    const box = await page.locator('.apl-popover').boundingBox();
    expect((box?.width ?? 0) <= 380).toBe(true);
  });
});

function opener(page: Page): Locator {
  return page.locator('.apl-toolbar-parameters:not(:disabled):visible');
}
