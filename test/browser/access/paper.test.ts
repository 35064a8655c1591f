import type { Browser } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { NotebookCell } from '../../../kernel/headless/notebook.js';
import { notebookPage } from '../../../kernel/headless/report/page.js';
import { traceOf } from '../../../kernel/result/trace/trace-tree.js';
import { waterfallHtml } from '../../../kernel/result/trace/waterfall.js';
import { sharedBrowser } from '../lab.js';

let browser: Browser;
beforeAll(async () => {
  browser = await sharedBrowser();
});

const heading = (words: string) => ({ cell_type: 'markdown', metadata: {}, source: `## ${words}` });
const table = (rows: number, columns: number) => {
  const cells = (tag: string) => Array.from({ length: columns }, () => `<${tag}>1,000,000</${tag}>`).join('');
  const body = Array.from({ length: rows }, () => `<tr>${cells('td')}</tr>`).join('');
  const html = `<table class="apl-table"><thead><tr>${cells('th')}</tr></thead><tbody>${body}</tbody></table>`;
  return {
    cell_type: 'code',
    execution_count: 1,
    metadata: {},
    source: 'print 1',
    outputs: [{ output_type: 'display_data', data: { 'text/html': html }, metadata: {} }],
  };
};

/** Returns the page sizes of the printed notebook, in millimeters. */
async function pagesOf(...cells: readonly object[]): Promise<readonly string[]> {
  const notebook = { cells: cells as NotebookCell[], metadata: {}, nbformat: 4, nbformat_minor: 5 };
  const page = await browser.newPage();
  await page.setContent(notebookPage(notebook, { title: 'report' }));
  const paper = (await page.pdf({ format: 'A4', preferCSSPageSize: true })).toString('latin1');
  await page.close();
  return [...paper.matchAll(/\/MediaBox *\[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, width, height]) =>
    [width, height].map(points => Math.round((Number(points) / 72) * 25.4)).join(' x '),
  );
}

test('a wide table gets a landscape page, larger if needed, along with its heading', async () => {
  const parts = [heading('Wide'), table(3, 12), heading('Widest'), table(3, 25)];
  expect(await pagesOf(heading('First'), table(3, 3), ...parts, heading('Last'))).toEqual([
    '210 x 297',
    '297 x 210',
    '420 x 297',
    '210 x 297',
  ]);
});

test('a part with a table of more than 15 rows may break across pages', async () => {
  const parts = ['One', 'Two', 'Three'].flatMap(words => [heading(words), table(16, 3)]);
  expect(await pagesOf(...parts)).toEqual(['210 x 297', '210 x 297']);
});

test('a part that would break across pages starts a new page', async () => {
  // Three fifths of a page each, made of paragraphs that may break across pages.
  const parts = ['One', 'Two', 'Three'].map(words => ({
    ...heading(words),
    source: [`## ${words}`, ...Array.from({ length: 16 }, () => 'A paragraph.')].join('\n\n'),
  }));
  expect(await pagesOf(...parts)).toEqual(['210 x 297', '210 x 297', '210 x 297']);
});

test('trace bars keep the colors of their services in print', async () => {
  const span = { id: 'a', start: 0n, duration: 5n, service: 'cart', name: 'get', kind: '', isFailed: false };
  const trace = traceOf([{ ...span, message: '', row: 0, events: 0, links: 0 }]);
  const page = await browser.newPage();
  await page.setContent(waterfallHtml('Trace t', trace));
  await page.emulateMedia({ media: 'print' });
  const adjusted = await page.evaluate(
    "[...document.querySelectorAll('[style*=background-color]')].map(each => getComputedStyle(each).printColorAdjust)",
  );
  expect(adjusted).toEqual(['exact', 'exact', 'exact', 'exact']);
  await page.close();
});
