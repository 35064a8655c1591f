import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from './gallery.js';
import { endKernels, type LabPage, NEWEST_LAB, usually } from './lab.js';
import { writtenIn } from './page/cells.js';
import { soon } from './page/soon.js';
import { openSite, type Site } from './session.js';

const dataset = "['sample-http-logs']";
const hostile = '<img src=x onerror=document.title=1>';
const wrong = `%tiem last 1h
${dataset}
| whree status == 500
| project stauts`;

describe.each(usually(NEWEST_LAB))('$name', frontEnd => {
  const { app } = frontEnd;
  let site: Site;
  /** The empty notebook, kept open because opening it takes longer than most tests that type into it. */
  let empty: LabPage | undefined;

  beforeAll(async () => {
    site = await openSite(frontEnd, {
      files: {
        'empty.ipynb': notebookOf(['']),
        'wrong.ipynb': notebookOf([wrong]),
        'ready.ipynb': notebookOf([`${dataset} | count`, '']),
        'python.ipynb': notebookOf(['']).replace('"apl"', '"python3"').replaceAll('axiom-apl', 'python'),
        'logs/access.csv': 'a,b\n1,2\n',
        'hostile.csv': `"${hostile}","b"\n1,2\n`,
        'hostile.ipynb': notebookOf(['%import hostile.csv --dataset hostile', '']),
        'query.apl': `// %%\n%tiem last 1h\n${dataset} | whree x == 1\n\n// %%\n${dataset} | count\n`,
      },
    });
  });

  afterAll(() => site?.stop());

  test('marks every error of a cell and fixes them', async () => {
    const opened = await openConnected('wrong.ipynb');
    const { page } = opened;
    const marks = page.locator('.cm-lintRange-error');
    await soon(() => marks.allTextContents()).toEqual(['tiem', 'whree', 'stauts']);
    await marks.first().hover();
    const tooltip = page.locator('.cm-tooltip .cm-diagnostic');
    await soon(() => tooltip.first().textContent()).toContain('unknown magic %tiem');
    await page.locator('.cm-diagnosticAction', { hasText: 'Write time' }).click();
    await placeCursor(page, 'whree');
    await page.keyboard.press('Control+.');
    await soon(() => marks.allTextContents()).toEqual(['stauts']);
    await placeCursor(page, 'stauts');
    await page.keyboard.press('Control+.');
    await soon(() => text(page)).toBe(`%time last 1h\n${dataset}\n| where status == 500\n| project status`);
    await soon(() => marks.count()).toBe(0);
    // Right-to-left words keep the token order through bidi isolates, which even the oldest CodeMirror supports.
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' // \u05d0\u05d1 > 5');
    await soon(() => page.locator('.cm-iso').allTextContents()).toEqual([
      'project',
      'status',
      '// \u05d0\u05d1 > 5',
    ]);
    finish(opened);
  });

  test('offers completions with documentation while typing', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    await page.keyboard.type("['sample-h");
    await soon(() => labels(page)).toEqual(['sample-http-logs']);
    await accept(page, 'Enter');
    await soon(() => text(page)).toBe("['sample-http-logs']");
    await page.keyboard.type(' | whe');
    await soon(() => labels(page)).toEqual(['where']);
    await accept(page, 'Tab');
    await page.keyboard.type(' stat');
    await soon(async () => (await labels(page))[0]).toBe('status');
    expect(await page.locator('.cm-completionDetail').first().textContent()).toBe('string');
    await page.keyboard.press('Escape');
    expect(await page.locator('.jp-Notebook.jp-mod-editMode').count()).toBe(1);
    await page.keyboard.type('us > 1 | summarize dcou');
    await soon(() => page.locator('.cm-completionInfo').allTextContents()).toEqual([
      expect.stringContaining('dcount('),
    ]);
    await accept(page, 'Enter');
    await soon(() => text(page)).toBe("['sample-http-logs'] | where status > 1 | summarize dcount()");
    expect(await page.locator('.jp-Completer:visible').count()).toBe(0);
    finish(opened);
  });

  test.each([700, 1400])(
    'shows documentation next to completions without overlap, %i px wide',
    async width => {
      const opened = await openEmpty();
      const { page } = opened;
      await page.setViewportSize({ width, height: 700 });
      await page.keyboard.type(`${dataset} | where s`);
      const [list, info] = ['.cm-tooltip-autocomplete > ul', '.cm-completionInfo'].map(each =>
        page.locator(each),
      );
      await soon(async () => {
        const [a, b] = [await list?.boundingBox(), await info?.boundingBox()];
        if (!a || !b) return 'not there';
        const isInside = b.x >= 0 && b.y >= 0 && b.x + b.width <= width && b.y + b.height <= 700;
        const isApart =
          b.x >= a.x + a.width - 1 ||
          b.x + b.width <= a.x + 1 ||
          b.y >= a.y + a.height - 1 ||
          b.y + b.height <= a.y + 1;
        return { isInside, isApart };
      }).toEqual({ isInside: true, isApart: true });
      await page.keyboard.press('Escape');
      await page.setViewportSize({ width: 1200, height: 900 });
      finish(opened);
    },
  );

  test('reopens completions when the kernel reports fields, with matching ones only', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    // These fields have not been requested yet: no known name begins with the typed word.
    await page.keyboard.insertText("['otel-demo-traces'] | where nam");
    await soon(() => labels(page)).toEqual(['name']);
    finish(opened);
  });

  test('loads the code of the grid before a query has a result', async () => {
    const opened = await openEmpty();
    await soon(() => opened.page.evaluate("customElements.get('regular-table') !== undefined")).toBe(true);
    finish(opened);
  });

  test('shows the signature with the current parameter', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    await page.keyboard.type('print x = substring(');
    const active = page.locator('.apl-signature strong');
    await soon(() => active.textContent()).toContain('text');
    await page.keyboard.type('"a", ');
    await soon(() => active.textContent()).toContain('start');
    await page.keyboard.press('Escape');
    expect(await active.count()).toBe(0);
    finish(opened);
  });

  test('Tab inserts the only matching completion', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    await page.keyboard.type(`${dataset} | join kin`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await soon(() => text(page)).toBe(`${dataset} | join kind=`);
    finish(opened);
  });

  test('breaks the line if nothing is left to complete', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    await page.keyboard.type(`${dataset}\n| count\n`);
    expect(await text(page)).toBe(`${dataset}\n| count\n`);
    finish(opened);
  });

  test('completes file names on a magic line', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    await page.keyboard.type('%import logs/');
    await soon(() => labels(page)).toEqual(['logs/access.csv']);
    await accept(page, 'Tab');
    expect(await text(page)).toBe('%import logs/access.csv');
    finish(opened);
  });

  test('formats, renames and finds definitions', async () => {
    const opened = await openEmpty();
    const { page } = opened;
    const typed = `let low=500;\n${dataset}|where status>low|count`;
    const formatted = `let low = 500;\n${dataset}\n| where status > low\n| count`;
    await page.keyboard.insertText(typed);
    await page.keyboard.press('Shift+Alt+F');
    await soon(() => text(page)).toBe(formatted);
    await page.keyboard.press('Control+z');
    await soon(() => text(page)).toBe(typed);
    await page.keyboard.press('Shift+Alt+F');
    await soon(() => text(page)).toBe(formatted);
    await placeCursor(page, 'low');
    await page.keyboard.press('F2');
    const input = page.locator('.jp-Dialog input');
    await input.fill('least');
    await page.keyboard.press('Enter');
    await soon(() => text(page)).toBe(formatted.replaceAll('low', 'least'));
    await placeCursor(page, '> least');
    await page.keyboard.press('F12');
    await page.keyboard.type('x');
    await soon(() => text(page)).toContain('let x = 500;');
    finish(opened);
  });

  test('shows documentation on hover', async () => {
    const opened = await openConnected('ready.ipynb');
    const { page } = opened;
    await page.locator('.cm-line span', { hasText: 'count' }).first().hover();
    await soon(() => page.locator('.cm-tooltip-hover .apl-doc').textContent()).toContain('count');
    finish(opened);
  });

  test('keeps completing and checking after its kernel has ended', async () => {
    const opened = await openConnected('ready.ipynb');
    const { page } = opened;
    await page.locator('.jp-Notebook .cm-content').nth(1).focus();
    await page.keyboard.type(`${dataset} | where sta`);
    await soon(async () => (await labels(page))[0]).toBe('status');
    await endKernels(site.lab);
    await page.keyboard.type('tus == 1 and meth');
    await soon(() => labels(page)).toEqual(['method']);
    await page.keyboard.press('Escape');
    await page.keyboard.type('od == "GET" | whree');
    await soon(() => page.locator('.cm-lintRange-error').allTextContents()).toContain('whree');
    finish(opened);
  });

  test('shows hostile names as plain text', async () => {
    const opened = await openConnected('hostile.ipynb');
    const { page } = opened;
    await page.keyboard.press('Shift+Enter');
    // The kernel has announced the new dataset by the time the cell ends.
    await page.locator('.jp-InputArea-prompt', { hasText: '[1]:' }).waitFor();
    await page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').waitFor({ state: 'attached' });
    await page.locator('.jp-Notebook .cm-content').nth(1).focus();
    await page.keyboard.type('hostile | where [');
    await soon(() => labels(page)).toContain(hostile);
    await page.locator('.cm-completionInfo').waitFor();
    expect(await page.locator('.cm-tooltip img').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.keyboard.type("'<imx src=x onerror=document.title=1>'");
    const mark = page.locator('.cm-lintRange-error').last();
    await mark.waitFor();
    await mark.hover();
    await page.locator('.cm-diagnosticAction', { hasText: hostile }).waitFor();
    expect(await page.locator('.cm-tooltip img').count()).toBe(0);
    finish(opened);
  });

  // Notebook 7 opens other files in a page of another application.
  if (app === 'lab/tree') {
    test('highlights and checks every cell of a file', async () => {
      const opened = await site.open('query.apl');
      const { page } = opened;
      const marks = page.locator('.cm-lintRange-error');
      await soon(() => marks.allTextContents()).toEqual(['whree']);
      expect(await page.locator('.cm-line', { hasText: '%tiem' }).locator('span').count()).toBe(2);
      finish(opened);
    });
  }

  test('leaves other languages alone', async () => {
    const opened = await site.open('python.ipynb');
    await opened.page.locator('.jp-Notebook .cm-content').focus();
    await opened.page.keyboard.type('| whe');
    expect(await opened.page.locator('.cm-tooltip').count()).toBe(0);
  });

  /**
   * Accepts the first completion. CodeMirror ignores keys while it queries again, 100 ms after the last letter, and for 75 ms after a list
   * opens (interactionDelay).
   */
  async function accept(page: Page, key: 'Enter' | 'Tab'): Promise<void> {
    await page.waitForTimeout(300);
    await page
      .locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled) [aria-selected]')
      .waitFor();
    await page.waitForTimeout(150);
    await page.keyboard.press(key);
  }

  /** Opens a notebook and waits until its editor has received the kernel's facts. */
  async function openConnected(file: string): Promise<LabPage> {
    empty = undefined;
    const opened = await site.open(file);
    const { page } = opened;
    await page
      .locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
      .waitFor({ state: 'attached', timeout: 60_000 });
    await page.locator('.jp-Notebook .cm-content').first().focus();
    await page.locator('.cm-content[data-apl-profile="local"]').first().waitFor({ timeout: 60_000 });
    return opened;
  }

  /** Opens the empty notebook, or clears it if it is open. */
  async function openEmpty(): Promise<LabPage> {
    empty ??= await openConnected('empty.ipynb');
    const { page } = empty;
    await page.locator('.jp-Notebook .cm-content').first().focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await soon(() => text(page)).toBe('');
    return empty;
  }

  function finish(opened: LabPage): void {
    expect(opened.complaints).toEqual([]);
  }
});

async function labels(page: Page): Promise<readonly string[]> {
  return page.locator('.cm-tooltip-autocomplete .cm-completionLabel').allTextContents();
}

function firstEditor(page: Page): Locator {
  return page.locator('.jp-Notebook .jp-Cell .cm-content').first();
}

async function text(page: Page): Promise<string> {
  return writtenIn(firstEditor(page));
}

/** Clicks on the last character of the first occurrence of `wanted` in the first cell. */
async function placeCursor(page: Page, wanted: string): Promise<void> {
  const place = await firstEditor(page)
    .locator('.cm-line', { hasText: wanted })
    .first()
    .evaluate((line, part) => {
      const { document } = globalThis as unknown as PageWindow;
      const { textContent } = line as unknown as { readonly textContent: string };
      const walker = document.createTreeWalker(line, 4);
      let before = 0;
      const at = textContent.indexOf(part) + part.length - 1;
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const { length } = node.textContent;
        if (before + length > at) {
          const range = document.createRange();
          range.setStart(node, at - before);
          range.setEnd(node, at - before + 1);
          const { left, top, width, height } = range.getBoundingClientRect();
          return { x: left + width / 3, y: top + height / 2 };
        }
        before += length;
      }
      return { x: 0, y: 0 };
    }, wanted);
  // A tooltip from the last hover may still cover the position.
  await page.mouse.move(1, 1);
  await page.locator('.cm-tooltip-hover').waitFor({ state: 'hidden' });
  await page.mouse.click(place.x, place.y);
}

/** The page properties that `placeCursor` reads; the tests compile without the DOM library. */
interface PageWindow {
  readonly document: {
    createTreeWalker(root: unknown, kinds: number): { nextNode(): { readonly textContent: string } | null };
    createRange(): {
      setStart(node: unknown, offset: number): void;
      setEnd(node: unknown, offset: number): void;
      getBoundingClientRect(): { left: number; top: number; width: number; height: number };
    };
  };
}
