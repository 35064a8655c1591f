/**
 * Takes screenshots of every state of the gallery and the examples, and of the menus, toolbars and panel around them:
 * `npm run screens [-- DIR [NAME…]]`. A name is a notebook of the gallery, an example such as `07-three-places`, `around`, or a view
 * such as `report`. The screenshots are for people to look at; no test reads them.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { AROUND, CAUSES, GALLERY, notebookOf, runEach } from './gallery.js';
import { profileOf, startStranger } from './hostile/stranger.js';
import { closeAll, NEWEST_LAB, openFile, THEMES, type Theme } from './lab.js';
import { clear, prepare, STATES } from './page/states.js';
import { VIEWED_FILES, VIEWS, type View, viewNotebooks } from './page/views.js';
import { openSite, type Site } from './session.js';

const WIDTHS = [560, 900, 1400];
/** Tall enough to show all cells of a notebook in one screenshot. */
const HEIGHT = 9_000;
const SHOT_HEIGHT = 1_500;
/** Height of a typical working window. */
const HEIGHT_AROUND = 860;

/** Cells of the `causes` notebook that the README shows, from their top down to a height. */
const TOUR = { explain: { cell: 1, height: 506 }, trace: { cell: 8, height: 396 } };

const [directory = 'test-output/screens', ...names] = process.argv.slice(2);
const isWanted = (name: string): boolean => names.length === 0 || names.includes(name);
mkdirSync(directory, { recursive: true });
const examples = filesIn(new URL('../../examples/', import.meta.url));
const stranger = await startStranger();
for (const theme of THEMES) await takeTheme(theme);
await stranger.close();
await closeAll();
console.log(`The screenshots are in ${directory}`);

async function takeTheme(theme: Theme): Promise<void> {
  const notebooks = Object.entries({ ...GALLERY, ...CAUSES, around: AROUND });
  const site = await openSite(NEWEST_LAB, {
    theme,
    files: {
      ...examples,
      ...VIEWED_FILES,
      ...viewNotebooks(),
      ...Object.fromEntries(notebooks.map(([name, cells]) => [`${name}.ipynb`, notebookOf(cells)])),
    },
    home: profileOf(stranger),
    browser: {
      viewport: { width: 1400, height: HEIGHT },
      colorScheme: theme === 'light' ? 'light' : 'dark',
    },
  });
  if (isWanted('around')) await takeAround(site, theme);
  for (const view of VIEWS.filter(({ name }) => isWanted(name))) await takeView(site, view, theme);
  const files = Object.keys(examples).filter(name => name.endsWith('.ipynb'));
  const looked = [
    ...Object.keys({ ...GALLERY, ...CAUSES }),
    ...files.map(name => name.replace('.ipynb', '')),
  ];
  for (const name of looked.filter(isWanted)) await takeNotebook(site, name, theme);
  await site.stop();
}

/** Returns the files of a folder and its subfolders, by relative path. */
function filesIn(folder: URL): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(each => each.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    paths.map(path => [relative(fileURLToPath(folder), path), readFileSync(path, 'utf8')]),
  );
}

/** Takes one screenshot of every state around the outputs in every width. */
async function takeAround({ context, lab }: Site, theme: Theme): Promise<void> {
  const { page, complaints, close } = await openFile(context, lab, 'around.ipynb');
  await prepare(page);
  for (const { name, show, stays } of STATES) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT_AROUND });
      await settled(page);
      if (stays === undefined || width === WIDTHS[0]) await show(page);
      await settled(page);
      await page.screenshot({ path: join(directory, `${name}-${slug(theme)}-${width}.png`) });
      if (stays === undefined) await clear(page);
    }
  }
  report('around', theme, complaints);
  await close();
}

/** Takes a view in each window width; a page other than JupyterLab's is captured in full. */
async function takeView({ context, lab }: Site, { name, show }: View, theme: Theme): Promise<void> {
  const { page, complaints, close } = await openFile(context, lab, `view-${name}.ipynb`);
  await page.keyboard.press('Control+b');
  await page.setViewportSize({ width: 1400, height: HEIGHT_AROUND });
  const shown = await show(page);
  for (const width of WIDTHS) {
    await shown.setViewportSize({ width, height: HEIGHT_AROUND });
    await settled(shown);
    // A full-page screenshot is as wide as its window minus the scroll bar.
    if (shown !== page) await shown.addStyleTag({ content: 'html { scrollbar-width: none }' });
    const path = join(directory, `${name}-${slug(theme)}-${width}.png`);
    await shown.screenshot({ path, fullPage: shown !== page });
  }
  if (shown !== page) {
    await shown.pdf({ path: join(directory, `${name}-${slug(theme)}.pdf`), preferCSSPageSize: true });
    await shown.close();
  }
  report(name, theme, complaints);
  await close();
}

async function takeNotebook({ context, lab }: Site, name: string, theme: Theme): Promise<void> {
  const { page, complaints, close } = await openFile(context, lab, `${name}.ipynb`);
  await page.keyboard.press('Control+b');
  await page.locator('.jp-FileBrowser').waitFor({ state: 'hidden' });
  await runEach(page);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    await settled(page);
    await page.locator('.jp-WindowedPanel-outer').evaluate((node: { scrollTop: number }) => {
      node.scrollTop = 0;
    });
    await takePage(page, `${name}-${slug(theme)}-${width}`, width);
  }
  if (name === 'causes') await takeTour(page, theme);
  report(name, theme, complaints);
  await close();
}

async function takeTour(page: Page, theme: Theme): Promise<void> {
  await page.setViewportSize({ width: 1000, height: HEIGHT });
  await settled(page);
  for (const [name, { cell, height }] of Object.entries(TOUR)) {
    const box = await page.locator('.jp-Notebook .jp-CodeCell').nth(cell).boundingBox();
    if (box === null) throw new Error(`the cell of ${name} is not on the page`);
    const clip = { x: box.x, y: box.y, width: box.width, height };
    const path = join(directory, `${name}-${slug(theme)}.png`);
    await page.screenshot({ path, clip });
  }
}

function slug(theme: Theme): string {
  return theme.replaceAll(' ', '-');
}

function report(name: string, theme: Theme, complaints: readonly string[]): void {
  for (const complaint of complaints) console.log(`${name}, ${theme}: ${complaint}`);
}

/** Captures the notebook from top to bottom in screenshots of a readable height. */
async function takePage(page: Page, name: string, width: number): Promise<void> {
  const last = await page.locator('.jp-Notebook .jp-Cell').last().boundingBox();
  const end = Math.min(HEIGHT, (last?.y ?? HEIGHT) + (last?.height ?? 0));
  for (let top = 0; top < end; top += SHOT_HEIGHT) {
    const clip = { x: 0, y: top, width, height: Math.min(SHOT_HEIGHT, HEIGHT - top) };
    await page.screenshot({ path: join(directory, `${name}-${1 + top / SHOT_HEIGHT}.png`), clip });
  }
}

/** Resolves once two consecutive measurements of the outputs' sizes agree. */
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
