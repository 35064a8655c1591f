import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from './gallery.js';
import { FRONT_ENDS } from './lab.js';
import { openSession, type Session } from './session.js';
import { soon } from './soon.js';

const query = "['sample-http-logs'] | summarize n = count() by status";

const cells = [
  '%use local\n%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  `%star --new "By status"\n${query}`,
  '%time 2026-01-20',
  '',
];

describe.each(FRONT_ENDS)('starred queries of a write-up in $name', frontEnd => {
  let session: Session;
  let page: Page;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'stars.ipynb': notebookOf(cells) },
      file: 'stars.ipynb',
    });
    ({ page } = session);
  });

  afterAll(() => session?.stop());

  const cell = (index: number): Locator => page.locator('.jp-CodeCell').nth(index);
  const source = async (index: number): Promise<string> =>
    (await cell(index).locator('.cm-line').allTextContents()).join('\n');
  const output = (index: number): Promise<string | null> =>
    cell(index).locator('.jp-OutputArea').textContent();
  const prompt = (index: number): Promise<string | null> =>
    cell(index).locator('.jp-InputPrompt').textContent();
  const offered = (): Locator => page.locator('.cm-tooltip-autocomplete li');

  /** Runs the cell and resolves with its output. */
  async function run(index: number): Promise<string> {
    const before = await prompt(index);
    await cell(index).locator('.cm-line').last().click();
    await page.keyboard.press('Control+Enter');
    await soon(() => prompt(index)).not.toBe(before);
    await soon(() => prompt(index)).toMatch(/\[\d+\]/);
    return (await output(index)) ?? '';
  }

  /** Replaces the text of the cell. */
  async function write(index: number, text: string): Promise<void> {
    await cell(index).locator('.cm-line').last().click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
  }

  let id = '';

  test('the line that created one updates it from then on', async () => {
    await run(0);
    await run(1);
    await soon(() => source(1)).toMatch(/^%star \w+\n/);
    id = /^%star (\w+)/.exec(await source(1))?.[1] ?? '';
    expect(await output(1)).toContain(`Saved the starred query ${id}, "By status"`);
    expect(await source(1)).toBe(`%star ${id}\n${query}`);
    await run(1);
    await soon(() => output(1)).toContain(`Updated the starred query ${id}, "By status"`);
  });

  test('--new with its name makes no second one', async () => {
    await write(3, cells[1] ?? '');
    await run(3);
    await soon(() => source(3)).toBe(`%star ${id}\n${query}`);
    await write(3, '%stars');
    await run(3);
    await soon(() => output(3)).toContain('1 starred query of your own');
  });

  test.each([
    ['%star ', '"By status"'],
    ['%star By', '"By status"'],
    ['%load star:', 'star:"By status"'],
    ['%run star:"By st', 'star:"By status"'],
  ])('Tab after %s offers the name, and the id with the name', async (typed, label) => {
    await write(3, typed);
    await page.keyboard.press('Tab');
    const names = offered().filter({ hasText: 'By status' });
    await soon(async () => (await names.allTextContents()).join('\n')).toContain(label);
    if (typed.endsWith(' ') || typed.endsWith(':'))
      expect((await offered().filter({ hasText: id }).textContent()) ?? '').toMatch(/By status$/);
    await names.first().click();
    await soon(() => source(3)).toBe(`${typed.split(' ')[0]} ${label}`);
  });

  test('%run has the range of the query, and %load puts it into the next cell', async () => {
    await run(2);
    await write(3, '%run star:"By status"');
    await run(3);
    await soon(() => output(3)).toContain('2026-01-26T10:00:00Z to 2026-01-26T11:00:00Z');
    await write(3, `%load star:${id}`);
    const count = await page.locator('.jp-CodeCell').count();
    await run(3);
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(count + 1);
    await soon(() => source(4)).toBe(`%%time 2026-01-26T10:00:00Z..2026-01-26T11:00:00Z\n${query}`);
  });
});
