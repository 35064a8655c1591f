import type { Locator, Page } from 'playwright-core';
import { soon } from './soon.js';

/** The code cells of the notebook in a page, by 0-based index, read and written as a user would. */
export interface Cells {
  at(index: number): Locator;
  /** Counts the cells. */
  count(): Promise<number>;
  source(index: number): Promise<string>;
  output(index: number): Promise<string>;
  /** Returns the prompt of the cell, such as `[1]:`. */
  prompt(index: number): Promise<string | null>;
  /** Moves the cursor to the end of the cell. */
  enter(index: number): Promise<void>;
  /** Replaces the source of the cell. */
  write(index: number, text: string): Promise<void>;
  /** Runs the cell; resolves with its output once it has a new number. */
  run(index: number): Promise<string>;
}

/** Returns the text of an editor, without the hint that an empty one shows. */
export async function writtenIn(editor: Locator): Promise<string> {
  const lines = editor.locator('.cm-line').filter({ hasNot: editor.page().locator('.apl-welcome') });
  return (await lines.allTextContents()).join('\n');
}

/** Clicks in an editor, without a pointer that rests on a word and opens its documentation over what is clicked, then or next. */
export async function clickIn(editor: Locator): Promise<void> {
  const { mouse } = editor.page();
  await mouse.move(0, 0);
  await editor.click();
  await mouse.move(0, 0);
}

export function cellsOf(page: Page): Cells {
  const at = (index: number): Locator => page.locator('.jp-CodeCell').nth(index);
  const prompt = (index: number) => at(index).locator('.jp-InputPrompt').textContent();
  const enter = (index: number) => clickIn(at(index).locator('.cm-line').last());
  const output = async (index: number) =>
    (await at(index).locator('.jp-OutputArea').allTextContents()).join('');
  return {
    at,
    count: () => page.locator('.jp-CodeCell').count(),
    prompt,
    enter,
    output,
    source: index => writtenIn(at(index)),
    write: async (index, text) => {
      await enter(index);
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    },
    run: async index => {
      const before = await prompt(index);
      await enter(index);
      await page.keyboard.press('Control+Enter');
      await soon(() => prompt(index)).not.toBe(before);
      await soon(() => prompt(index)).toMatch(/\[\d+\]/);
      return output(index);
    },
  };
}

/** Restarts the notebook's kernel; a cell run before the new one is ready would wait forever for a reply. */
export async function restartKernel(page: Page): Promise<void> {
  const restarted = page.evaluate("jupyterapp.commands.execute('notebook:restart-kernel')");
  await page.locator('.jp-Dialog .jp-mod-accept').click();
  await restarted;
}
