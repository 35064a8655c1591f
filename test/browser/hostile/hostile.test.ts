import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cut,
  cutWords,
  oneLine,
  shownName,
  spreadsheetText,
  visible,
  visibleLines,
} from '../../../kernel/text.js';
import type { Service } from '../../api/service.js';
import { notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { type SidePanel, sidePanelOf } from '../page/side-panel.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';
import { type Guard, guard } from './guard.js';
import { PAYLOAD_CLASSES, PAYLOADS, SAMPLES } from './payloads.js';
import {
  type ReadChart,
  type ReadColumns,
  type ReadItem,
  type ReadRow,
  readCharts,
  readColumns,
  readItems,
  readRows,
} from './read.js';
import { FIELDS, profileOf, REFUSED, startStranger } from './stranger.js';

/** Bars per chart. */
const BARS = 22;

const barCharts = Array.from({ length: Math.ceil(PAYLOADS.length / BARS) }, (_, index) => {
  const from = index * BARS;
  return `values | where n between (${from} .. ${from + BARS - 1}) | summarize n = sum(n + 1) by value`;
});

/** Cells whose results are read while the notebook holds nothing else: each step lays out the whole notebook. */
const results = ['%use "<b>far</b>"\n%rows 200', "values << ['values']", "names << ['names']"];

const sources = [
  ...results,
  '%stars',
  ...REFUSED.keys(),
  ...barCharts,
  '// @viz line\nvalues | where n < 8 | summarize n = sum(n) by bin(_time, 1m), value',
  '// @viz pie\nvalues | where n < 8 | summarize n = sum(n) by value',
];

/** Replaces lone surrogates, which UTF-8 cannot encode. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');
const TEXTS = PAYLOADS.map(wellFormed);
const NAMES = FIELDS.map(wellFormed);

/** Returns a value as a table shows it: quoted if it would be ambiguous. */
const shown = (text: string): string => visible(/^(?:\s*$|null$|")/.test(text) ? JSON.stringify(text) : text);

/** Returns a value as a spreadsheet receives it: a number keeps its sign, and whitespace counts as 0. */
const pasted = (text: string): string => (Number.isNaN(Number(text)) ? spreadsheetText(text) : text);

/** Returns a cell of tab-separated text: a spreadsheet reads one that begins with a quote up to the next one. */
const tabCell = (text: string): string => {
  const line = pasted(text).replace(/[\t\r\n]+/g, ' ');
  return line.startsWith('"') ? `"${line.replaceAll('"', '""')}"` : line;
};

describe('hostile texts', () => {
  let stranger: Service;
  let session: Session;
  let page: Page;
  let watch: Guard;
  let cells: Cells;
  let panel: SidePanel;

  beforeAll(async () => {
    stranger = await startStranger();
    session = await openSession(NEWEST_LAB, {
      files: { 'hostile.ipynb': notebookOf(sources) },
      file: 'hostile.ipynb',
      home: profileOf(stranger),
      allow: 'profile',
      browser: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    ({ page } = session);
    cells = cellsOf(page);
    panel = sidePanelOf(page);
    watch = await guard(page, session.lab);
    await runEach(page, 0, results.length);
  });

  afterAll(async () => {
    await session?.stop();
    await stranger?.close();
  });

  const grid = (cell: number): Locator => cells.at(cell).locator('.apl-grid');

  /** Copies all rows of the values in a format. */
  async function copied(format: string): Promise<string> {
    await page.evaluate("navigator.clipboard.writeText('')");
    await grid(1).getByRole('button', { name: 'Copy rows', exact: true }).click();
    const choice = page
      .locator('.apl-popover')
      .getByRole('button', { name: new RegExp(`as ${format}$`, 'i') });
    await choice.click();
    await soon(() => page.evaluate('navigator.clipboard.readText()')).not.toBe('');
    return page.evaluate<string>('navigator.clipboard.readText()');
  }

  test('copied as JSON, CSV and text are unchanged, but for escaped formulas', async () => {
    const rows = JSON.parse(await copied('json')) as readonly { readonly value: string }[];
    expect(rows.map(({ value }) => value)).toEqual(TEXTS);
    const csv = csvRows(await copied('csv')).map(row => row[1] ?? '');
    expect(csv).toEqual(['value', ...TEXTS.map(pasted)]);
    const lines = (await copied('text')).split('\n').map(row => row.split('\t')[1] ?? '');
    expect(lines).toEqual(TEXTS.map(tabCell));
    expect([...csv, ...lines].filter(cell => /^\s*[=+\-@\uff1d]/.test(cell))).toEqual([]);
  });

  test('copied as Markdown are plain text in a Markdown cell', async () => {
    const table = await copied('markdown');
    await cells.enter(1);
    await page.evaluate(`(async () => {
      const { commands, shell } = jupyterapp;
      await commands.execute('notebook:insert-cell-below');
      await commands.execute('notebook:change-cell-to-markdown');
      shell.currentWidget.content.activeCell.model.sharedModel.setSource('$x$ @@0@@\\n\\n' + ${JSON.stringify(table)});
      await commands.execute('notebook:run-cell');
    })()`);
    const rendered = page.locator('.jp-MarkdownCell .jp-RenderedMarkdown');
    await rendered.locator('table').waitFor();
    await rendered.locator('p mjx-container').waitFor();
    // The only intended LaTeX, which proves that LaTeX is rendered.
    await page.evaluate("document.querySelector('.jp-MarkdownCell p').remove()");
    const rows = await page.evaluate<readonly string[]>(
      "[...document.querySelectorAll('.jp-MarkdownCell tr')].map(row => row.children[1].textContent.replace(/\\s+/g, ' ').trim())",
    );
    expect(rows).toEqual(['value', ...TEXTS.map(text => visible(text).replace(/\s+/g, ' ').trim())]);
    expect(await rendered.locator('a, code, em, strong, del, mjx-container').count()).toBe(0);
    expect(await watch.faults()).toEqual([]);
    await page.evaluate("void jupyterapp.commands.execute('notebook:delete-cell')");
    await soon(() => rendered.count()).toBe(0);
  });

  test('as values are plain text in cells and row details, and filter exactly', async () => {
    const filtered = SAMPLES.map(text => PAYLOADS.indexOf(text) + 1);
    const rows = await page.evaluate<readonly ReadRow[]>(readRows(0, 1, filtered));
    expect(rows.map(({ cells }) => cells[1])).toEqual(
      TEXTS.map(text => {
        const cell = cut(shown(text), 300);
        return { text: cell, title: cell === text ? '' : visible(cut(text, 2_000)) };
      }),
    );
    // A text that is JSON is pretty-printed.
    const isJson = (text: string): boolean => /^\s*[[{]"/.test(text);
    const details = rows.map(row => row.details[3]).filter((_, index) => !isJson(TEXTS[index] ?? ''));
    expect(details).toEqual(
      TEXTS.filter(text => !isJson(text)).map(text => (text === '' ? '""' : visibleLines(text))),
    );
    expect(rows.map(row => row.details[7])).toEqual(
      PAYLOADS.map(text => `${visibleLines(text)}[1]0 ${visibleLines(JSON.stringify(text))}`),
    );
    const chips = SAMPLES.map(text => `${cut(visible(`value == ${text}`), 80)} \u2715`);
    expect(filtered.map(number => rows[number - 1]?.chip)).toEqual(chips);
    const status = SAMPLES.map(() => `1 of ${PAYLOADS.length} rows match.`);
    expect(filtered.map(number => rows[number - 1]?.status)).toEqual(status);
    expect(await watch.faults()).toEqual([]);
  });

  test('as field names are plain text in headers, menus, profiles and the list of columns', async () => {
    const looked = SAMPLES.map(text => FIELDS.indexOf(text));
    const { columns, beyond } = await page.evaluate<ReadColumns>(readColumns(1, looked));
    expect(columns).toEqual(
      NAMES.map(text => {
        const [name, value] = [cut(visible(text), 200), visible(text)];
        return {
          head: name,
          title: visible(cut(text, 2_000)),
          label: `Column ${name}`,
          name,
          facts: ['1', '0 (0 %)', '1', value, value],
          top: [value],
        };
      }),
    );
    expect(beyond).toEqual([]);
    await grid(2).getByRole('button', { name: 'columns' }).click();
    const names = page.locator('.apl-popover label');
    await soon(() => names.count()).toBe(NAMES.length);
    expect(await names.allTextContents()).toEqual(NAMES.map(text => cut(visible(text), 200)));
    expect(await watch.faults()).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test('are plain text in the panel and its dialogs', async () => {
    await page.keyboard.press('Alt+Shift+P');
    const label = (text: string) => oneLine(text, 200) || '(empty)';
    const about = (text: string) => (text === '' ? [] : [visibleLines(cut(text, 2_000))]);
    const read = (kind: string, count = PAYLOADS.length) =>
      page.evaluate<readonly ReadItem[]>(readItems(kind, count));
    await panel.unfold('Datasets');
    await panel.rows('dataset').first().waitFor();
    const datasets = await read('dataset');
    expect(datasets.map(({ label, subject, facts, box }) => [label, subject, facts, box])).toEqual(
      TEXTS.map(text => [label(text), label(text), about(text), 'fits']),
    );
    const tree = page.getByRole('tree');
    await tree.focus();
    await page.keyboard.press('Home');
    await panel.rows('dataset').first().locator('.apl-tree-twisty').click();
    await panel.rows('field').first().waitFor();
    const [, ...fields] = await read('field', PAYLOADS.length + 1);
    expect(fields.map(({ label, facts, box }) => [label, facts.slice(2), box])).toEqual(
      TEXTS.map(text => [label(text), about(text), 'fits']),
    );
    await panel.unfold('Starred');
    await panel.rows('star').first().waitFor();
    const stars = await read('star');
    const query = (text: string) => `['x'] // ${text.replace(/\s/g, ' ')}`;
    expect(stars.map(({ label, subject, text, box }) => [label, subject, text, box])).toEqual(
      TEXTS.map(text => [label(text), label(text), visible(query(text)), 'fits']),
    );
    const after = Object.values(PAYLOAD_CLASSES['no text'] ?? {}).length;
    for (let key = 0; key < after; key += 1) await tree.press('ArrowUp');
    for (const text of PAYLOAD_CLASSES.sizes?.toReversed() ?? []) {
      await soon(() => panel.details().locator('.apl-panel-subject').textContent()).toBe(label(text));
      await panel.act('Delete');
      const question = page.locator('.jp-Dialog');
      await question.waitFor();
      expect(await question.locator('.jp-Dialog-body').textContent()).toContain(visible(text));
      expect(await watch.faults()).toEqual([]);
      await question.getByRole('button', { name: 'Cancel' }).click();
      await tree.press('ArrowUp');
    }
    await page.keyboard.press('Alt+Shift+P');
  });

  test('are plain text in completions', async () => {
    await cells.write(3, '[');
    await page.keyboard.type("'");
    const offers = page.locator('.cm-tooltip-autocomplete li .cm-completionLabel');
    await offers.first().waitFor();
    await page.locator('.cm-completionInfo').waitFor();
    expect((await offers.allTextContents()).slice(0, 30)).toEqual(TEXTS.slice(0, 30).map(visible));
    expect(await watch.faults()).toEqual([]);
    await page.keyboard.press('Escape');
    await cells.write(3, '%stars');
  });

  describe('in other outputs', () => {
    beforeAll(async () => {
      await runEach(page, results.length);
    });

    test('are plain text in errors', async () => {
      const errors = page.locator('.jp-CodeCell pre').filter({ hasText: /^invalid-query: / });
      const texts = (await errors.allTextContents()).map(text =>
        text.replace(/^invalid-query: |\n.*$/gs, ''),
      );
      const said = [...REFUSED.values()].map(message => {
        const line = message.replace(/\s+/g, ' ').trim();
        const rest = line.length - 2000;
        return visible(cutWords(rest > 0 ? `${line.slice(0, 2000)}\u2026 (${rest} more characters)` : line));
      });
      expect(texts).toEqual(said);
      expect(await watch.faults()).toEqual([]);
    });

    test('are plain text in charts, legends and tooltips', async () => {
      const charts = await page.evaluate<readonly ReadChart[]>(readCharts);
      const tips = TEXTS.map((text, index) => `name${cut(shown(text), 48)}value${index + 1}`);
      const bars = charts.slice(0, barCharts.length);
      expect(bars.map(chart => chart.tips.toReversed())).toEqual(
        bars.map((_, index) => tips.slice(index * BARS, (index + 1) * BARS)),
      );
      const missing = bars.flatMap(({ texts }, index) =>
        TEXTS.slice(index * BARS, (index + 1) * BARS)
          .map(text => [48, 36, 24].map(length => cut(shown(text), length).trim()))
          .filter(labels => !labels.some(label => texts.some(each => each.trim() === label))),
      );
      expect(missing).toEqual([]);
      const [line, pie] = charts.slice(barCharts.length);
      const first = TEXTS.slice(0, 8).map(text => cut(shown(text), 48));
      expect(line?.texts).toEqual(expect.arrayContaining(first));
      expect(line?.tips).toHaveLength(8);
      expect(pie?.texts.map(text => text.replace(/: \d+ \(.*\)$/, '')).toReversed()).toEqual(first);
      expect(await watch.faults()).toEqual([]);
    });

    test("are plain text in somebody else's notebook, before and after it is trusted", async () => {
      await page.evaluate("jupyterapp.commands.execute('docmanager:save').then(() => undefined)");
      const directory = session.lab.notebookDir;
      const saved = readFileSync(join(directory, 'hostile.ipynb'), 'utf8');
      writeFileSync(join(directory, 'received.ipynb'), received(saved));
      const { page: other, complaints } = await session.open('received.ipynb');
      const guarded = await guard(other, session.lab);
      const trusted = () =>
        other.evaluate(
          "[...new Set([...(jupyterapp.shell.currentWidget?.content.model?.cells ?? [])].filter(({ type }) => type === 'code').map(cell => cell.trusted))]",
        );
      await soon(trusted).toEqual([false]);
      await soon(() => other.locator('.jp-RenderedHTML').count()).toBeGreaterThan(barCharts.length + 3);
      expect((await tablesOf(other)).slice(0, 3)).toEqual(TABLES);
      expect(await guarded.faults()).toEqual([]);
      await other.evaluate("void jupyterapp.commands.execute('notebook:trust')");
      await other.locator('.jp-Dialog').getByRole('button', { name: 'Trust' }).click();
      await soon(trusted).toEqual([true]);
      await soon(() => other.locator('.jp-RenderedSVG img').count()).toBeGreaterThan(barCharts.length);
      expect((await tablesOf(other)).slice(0, 3)).toEqual(TABLES);
      expect(await guarded.faults()).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  test('log nothing to the console', () => expect(session.complaints).toEqual([]));
});

/** Static tables of values, names and starred queries. */
const TABLES: readonly (readonly string[])[] = [
  TEXTS.map(text => cut(shown(text), 100)),
  NAMES.map(text => `${cut(shownName(text), 100)}string`),
  TEXTS.map(text => visibleLines(cut(text, 300))),
];

/** Returns the second column of each static table, or the headers if it has a single row. */
function tablesOf(page: Page): Promise<readonly (readonly string[])[]> {
  return page.evaluate(
    `[...document.querySelectorAll('.jp-RenderedHTML table')].map(table =>
      [...table.querySelectorAll(table.tBodies[0].rows.length === 1 ? 'th' : 'td:nth-child(2)')].map(cell => cell.textContent))`,
  );
}

/**
 * Rewrites the notebook as if a stranger had sent it: modified, so that its signature is invalid. Its cells appear without the extension's
 * output, and some of them also unchanged.
 */
function received(text: string): string {
  const notebook = JSON.parse(text) as {
    metadata: object;
    cells: { id: string; cell_type: string; outputs?: { data?: Record<string, unknown> }[] }[];
  };
  const plain = notebook.cells.map(cell => ({
    ...cell,
    id: `${cell.id}-plain`,
    ...(cell.outputs === undefined ? {} : { outputs: cell.outputs.map(withoutExtension) }),
  }));
  const first = sources.length - barCharts.length - 2;
  return JSON.stringify({
    ...notebook,
    metadata: { ...notebook.metadata, received: true },
    cells: [...plain, ...notebook.cells.slice(0, results.length), ...notebook.cells.slice(first, first + 1)],
  });
}

function withoutExtension(output: { data?: Record<string, unknown> }): object {
  if (output.data === undefined) return output;
  const data = Object.entries(output.data).filter(([type]) =>
    /^text\/html$|^image\/|^text\/plain$/.test(type),
  );
  return { ...output, data: Object.fromEntries(data) };
}

/** Parses the rows of a CSV text (RFC 4180). */
function csvRows(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
    if (end === '') break;
  }
  return rows;
}
