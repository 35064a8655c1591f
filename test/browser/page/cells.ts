import type { Locator, Page } from 'playwright-core';
import { soon } from './soon.js';

/** The code cells of the notebook in a page, by number from 0, as somebody who works in it reads and writes them. */
export interface Cells {
  at(index: number): Locator;
  /** How many there are. */
  count(): Promise<number>;
  source(index: number): Promise<string>;
  output(index: number): Promise<string>;
  /** What stands before the cell, such as `[1]:`. */
  prompt(index: number): Promise<string | null>;
  /** Puts the cursor at the end of the cell. */
  enter(index: number): Promise<void>;
  /** Replaces the text of the cell. */
  write(index: number, text: string): Promise<void>;
  /** Runs the cell, and resolves with its output when it has a new number. */
  run(index: number): Promise<string>;
}

/** What is written in an editor, without the hint that an empty one shows. */
export async function writtenIn(editor: Locator): Promise<string> {
  const lines = editor.locator('.cm-line').filter({ hasNot: editor.page().locator('.apl-welcome') });
  return (await lines.allTextContents()).join('\n');
}

export function cellsOf(page: Page): Cells {
  const at = (index: number): Locator => page.locator('.jp-CodeCell').nth(index);
  const prompt = (index: number) => at(index).locator('.jp-InputPrompt').textContent();
  const enter = async (index: number) => {
    await at(index).locator('.cm-line').last().click();
    // A pointer that rests on a word has it explained, over whatever is pressed next.
    await page.mouse.move(0, 0);
  };
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

/** Restarts the notebook's kernel; a cell that is run before the new one is there would wait for an answer that never comes. */
export async function restartKernel(page: Page): Promise<void> {
  const restarted = page.evaluate("jupyterapp.commands.execute('notebook:restart-kernel')");
  await page.locator('.jp-Dialog .jp-mod-accept').click();
  await restarted;
}
