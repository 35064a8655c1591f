/**
 * Writes pictures of every state of the gallery: `npm run screens [-- DIR]`. A person looks at them; no test reads them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { GALLERY, notebookOf, runEach } from './gallery.js';
import { type Lab, openFile, startBrowser, startLab, type Theme, venvPath } from './lab.js';

const WIDTHS = [700, 1000, 1400];
/** Tall enough for a whole notebook, so that one picture shows all of its cells. */
const HEIGHT = 9_000;
const PICTURE_HEIGHT = 1_500;

const directory = process.argv[2] ?? 'test-output/screens';
mkdirSync(directory, { recursive: true });
const browser = await startBrowser();
for (const theme of ['light', 'dark'] as const) await takeTheme(theme);
await browser.close();
console.log(`Pictures of ${Object.keys(GALLERY).join(', ')} are in ${directory}`);

async function takeTheme(theme: Theme): Promise<void> {
  const files = Object.entries(GALLERY).map(([name, cells]) => [`${name}.ipynb`, notebookOf(cells)]);
  const lab = await startLab({
    venv: venvPath('APL_TEST_VENV', '.venv'),
    theme,
    files: Object.fromEntries(files),
  });
  lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  const context = await browser.newContext({ viewport: { width: 1400, height: HEIGHT }, colorScheme: theme });
  for (const name of Object.keys(GALLERY)) await takeNotebook(lab, context, name, theme);
  await lab.stop();
}

async function takeNotebook(lab: Lab, context: BrowserContext, name: string, theme: Theme): Promise<void> {
  const { page, complaints, close } = await openFile(context, lab, `${name}.ipynb`);
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  await runEach(page);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await settled(page);
    await takePage(page, `${name}-${theme}-${width}`, width);
  }
  for (const complaint of complaints) console.log(`${name}, ${theme}: ${complaint}`);
  await close();
}

/** The notebook from top to end, in pictures of a height that a person reads at once. */
async function takePage(page: Page, name: string, width: number): Promise<void> {
  const last = await page.locator('.jp-Notebook .jp-Cell').last().boundingBox();
  const end = Math.min(HEIGHT, (last?.y ?? HEIGHT) + (last?.height ?? 0));
  for (let top = 0; top < end; top += PICTURE_HEIGHT) {
    const clip = { x: 0, y: top, width, height: Math.min(PICTURE_HEIGHT, HEIGHT - top) };
    await page.screenshot({ path: join(directory, `${name}-${1 + top / PICTURE_HEIGHT}.png`), clip });
  }
}

/** Resolves when two pictures in a row of the outputs' sizes are the same. */
async function settled(page: Page): Promise<void> {
  const sizes = () =>
    page.evaluate<string>(
      "Array.from(document.querySelectorAll('.jp-OutputArea, .marks'), e => e.getBoundingClientRect().height + 'x' + e.getBoundingClientRect().width).join()",
    );
  for (let before = ''; ; ) {
    const now = await sizes();
    if (now === before) return;
    before = now;
    await page.waitForTimeout(500);
  }
}
