import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from './gallery.js';
import { LAB_42, type LabPage, NEWEST_LAB, openFile } from './lab.js';
import { clickIn } from './page/cells.js';
import { soon } from './page/soon.js';
import { openSite, type Site } from './session.js';

const query = `%%time last 1h
// errors by city
let width = 5m;
['sample-http-logs']
| where status >= 500 and ['geo.city'] !has 'x'
| summarize errors = count(), ok = 1.5 by bin(_time, width)
| project-away geo.country
| sort by errors desc`;

const pipeline = `['sample-http-logs']
| where status == 500
| count`;

/** Colors of all colored spans of `query`, by the end of the variable's name in JupyterLab's theme. */
const coloredQuery = `
meta: %%time
string-2: last 1h
comment: // errors by city
keyword: let
def: width
operator: =
number: 5m
bracket: [
variable-2: 'sample-http-logs'
bracket: ]
operator: |
keyword: where
operator: >=
number: 500
keyword: and
bracket: [
bracket: ]
keyword: !has
string: 'x'
operator: |
keyword: summarize
def: errors
operator: =
builtin: count
def: ok
operator: =
number: 1.5
keyword: by
builtin: bin
variable-2: width
operator: |
keyword: project-away
operator: |
keyword: sort
keyword: by
keyword: desc`.trim();

describe.each([
  { frontEnd: NEWEST_LAB, version: /^4\.[56]\./ },
  { frontEnd: LAB_42, version: /^4\.2\./ },
])('$frontEnd.name', ({ frontEnd, version }) => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite(frontEnd, {
      files: {
        'query.apl': query,
        'pipeline.apl': pipeline,
        'empty.apl': '',
        'saved.apl': "['sample-http-logs']|count\n",
        'cells.ipynb': notebookOf([query, pipeline]),
      },
    });
  });

  afterAll(() => site?.stop());

  test('is the expected version of JupyterLab', async () => {
    const { page } = await open('empty.apl');
    const config = await page.locator('#jupyter-config-data').textContent();
    expect(JSON.parse(config ?? '{}').appVersion).toMatch(version);
  });

  test('highlights a notebook cell', async () => {
    const opened = await open('cells.ipynb');
    expect(await colors(opened.page, '.jp-Cell')).toBe(coloredQuery);
    finish(opened);
  });

  test('highlights an .apl file', async () => {
    const opened = await open('query.apl');
    expect(await colors(opened.page, '.jp-FileEditor')).toBe(coloredQuery);
    finish(opened);
  });

  test('toggles line comments', async () => {
    const opened = await open('pipeline.apl');
    await placeCursor(opened.page, '| where');
    await opened.page.keyboard.press('Control+/');
    expect(await editorText(opened.page)).toBe(pipeline.replace('| where', '// | where'));
    await opened.page.keyboard.press('Control+/');
    expect(await editorText(opened.page)).toBe(pipeline);
    finish(opened);
  });

  test('closes brackets and quotes, and types over them', async () => {
    const opened = await open('empty.apl');
    await type(opened.page, "['a");
    expect(await editorText(opened.page)).toBe("['a']");
    await type(opened.page, "'] | where f(x");
    expect(await editorText(opened.page)).toBe("['a'] | where f(x)");
    finish(opened);
  });

  test('marks the bracket that matches the one at the cursor', async () => {
    const opened = await open('pipeline.apl');
    await placeCursor(opened.page, "['sample");
    await opened.page.keyboard.press('Home');
    const marked = opened.page.locator('.cm-matchingBracket');
    await marked.nth(1).waitFor();
    expect(await marked.allTextContents()).toEqual(['[', ']']);
    finish(opened);
  });

  test('folds a multiline pipeline', async () => {
    const opened = await open('pipeline.apl');
    const { page } = opened;
    await page.locator('.jp-FileEditor .cm-foldGutter span[title="Fold line"]:visible').click();
    expect(await page.locator('.jp-FileEditor .cm-line').allTextContents()).toEqual([
      "['sample-http-logs']…",
    ]);
    await page.locator('.jp-FileEditor .cm-foldGutter span[title="Unfold line"]:visible').click();
    expect(await editorText(page)).toBe(pipeline);
    finish(opened);
  });

  test('indents after Enter', async () => {
    const opened = await open('empty.apl');
    const { page } = opened;
    await type(page, 'logs\n| summarize\nn = count(),\ntotal = sum(\nx');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await type(page, '\n| join (\nother\n| where a == 1');
    expect(await editorText(page)).toBe(
      [
        'logs',
        '| summarize',
        '    n = count(),',
        '    total = sum(',
        '        x',
        '    )',
        '| join (',
        '    other',
        '    | where a == 1',
        ')',
      ].join('\n'),
    );
    finish(opened);
  });

  describe('with user settings, which are read when the page loads', () => {
    let opened: LabPage;

    beforeAll(async () => {
      site.lab.configure('@apl-kernel/labextension:language', {
        autoClosingBrackets: false,
        formatOnSave: true,
      });
      site.lab.configure('@jupyterlab/codemirror-extension:plugin', { defaultConfig: { codeFolding: true } });
      opened = await openFile(site.context, site.lab, 'saved.apl');
    });

    afterAll(() => opened?.close());

    test("shows only one folding gutter if JupyterLab's own is on", async () => {
      const gutters = opened.page.locator('.jp-FileEditor .cm-foldGutter');
      await gutters.nth(1).waitFor({ state: 'attached' });
      expect(await Promise.all((await gutters.all()).map(gutter => gutter.isVisible()))).toEqual([
        true,
        false,
      ]);
      expect(opened.complaints).toEqual([]);
    });

    test('formats a file on save if that is enabled', async () => {
      await opened.page.locator('.jp-FileEditor .cm-content').focus();
      await opened.page.keyboard.press('Control+s');
      await soon(() => editorLines(opened.page).allTextContents()).toEqual([
        "['sample-http-logs']",
        '| count',
        '',
      ]);
      expect(opened.complaints).toEqual([]);
    });

    test('does not close brackets if that is disabled', async () => {
      await opened.page.locator('.jp-FileEditor .cm-content').press('Control+a');
      await opened.page.keyboard.press('Delete');
      await type(opened.page, '[(');
      expect(await editorText(opened.page)).toBe('[(');
      expect(opened.complaints).toEqual([]);
    });
  });

  async function open(file: string): Promise<LabPage> {
    const opened = await site.open(file);
    await opened.page.locator('.jp-MainAreaWidget:not(.lm-mod-hidden) .cm-foldGutter').first().waitFor();
    return opened;
  }

  function finish(opened: LabPage): void {
    expect(opened.complaints).toEqual([]);
  }
});

/** Variables of JupyterLab's theme that the language uses; some share a color and differ in weight. */
const themeColors = [
  ...[
    'keyword bold',
    'operator bold',
    'number',
    'atom',
    'def',
    'builtin',
    'variable-2',
    'property',
    'comment',
  ],
  ...['string', 'string-2', 'bracket', 'attribute', 'meta'],
];

/** The page properties that `colors` reads; the tests compile without the DOM library. */
interface PageElement {
  readonly textContent: string;
  readonly style: { color: string; fontWeight: string };
  querySelectorAll(selector: string): Iterable<PageElement>;
  appendChild(child: PageElement): PageElement;
  remove(): void;
}
interface PageWindow {
  readonly document: {
    readonly body: PageElement;
    createElement(name: string): PageElement;
    querySelector(selector: string): PageElement | null;
  };
  getComputedStyle(element: PageElement): { readonly color: string; readonly fontWeight: string };
}

/** Returns every span in the first element of `root` that has a theme color, one `variable: text` per line. */
async function colors(page: Page, root: string): Promise<string> {
  await page.locator(root).first().locator('.cm-line span').first().waitFor();
  const read = ([root, names]: readonly [string, readonly string[]]): string => {
    const window = globalThis as unknown as PageWindow;
    const styleOf = (element: PageElement): string => {
      const { color, fontWeight } = window.getComputedStyle(element);
      return `${color} ${Number(fontWeight) > 400}`;
    };
    const probe = window.document.body.appendChild(window.document.createElement('span'));
    const nameOf = new Map<string, string>();
    for (const name of names) {
      const [variable, bold] = name.split(' ');
      probe.style.color = `var(--jp-mirror-editor-${variable}-color)`;
      probe.style.fontWeight = bold === undefined ? '400' : '700';
      nameOf.set(styleOf(probe), variable ?? '');
    }
    probe.remove();
    return [...(window.document.querySelector(root)?.querySelectorAll('.cm-line span') ?? [])]
      .filter(element => nameOf.has(styleOf(element)))
      .map(element => `${nameOf.get(styleOf(element))}: ${element.textContent}`)
      .join('\n');
  };
  return page.evaluate(read, [root, themeColors] as const);
}

function editorLines(page: Page): Locator {
  return page.locator('.jp-FileEditor .cm-line');
}

async function editorText(page: Page): Promise<string> {
  return (await editorLines(page).allTextContents()).join('\n');
}

/** Clicks on the line that starts with `text`. */
async function placeCursor(page: Page, text: string): Promise<void> {
  await clickIn(editorLines(page).filter({ hasText: text }));
}

async function type(page: Page, text: string): Promise<void> {
  await page.locator('.jp-FileEditor .cm-content').focus();
  await page.keyboard.type(text);
}
