import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GALLERY, notebookOf, runEach } from '../gallery.js';
import { changeTheme, NEWEST_LAB, THEMES, themesOf } from '../lab.js';
import { findings } from '../page/findings.js';
import { openSite, type Site } from '../session.js';

const colored = ["['sample-http-logs'] | summarize count() by bin_auto(_time), status"];

describe('outputs in every theme', () => {
  let site: Site;

  beforeAll(async () => {
    const files = Object.entries({ ...GALLERY, colored }).map(([name, cells]) => [
      `${name}.ipynb`,
      notebookOf(cells),
    ]);
    const browser = { viewport: { width: 1000, height: 900 } };
    site = await openSite(NEWEST_LAB, { files: Object.fromEntries(files), browser });
  });

  afterAll(() => site?.stop());

  test.each(Object.keys(GALLERY).map((name, part) => ({ name, themes: themesOf(part) })))(
    '$name: outputs are accessible, and nothing hostile runs',
    async ({ name, themes }) => {
      const { page, complaints } = await site.open(`${name}.ipynb`);
      await runEach(page);
      for (const theme of themes) {
        await changeTheme(page, theme);
        const rules = theme === themes[0] ? 'all' : 'colors';
        expect([theme, ...(await findings(page, ['.jp-OutputArea-output'], rules))]).toEqual([theme]);
      }
      expect(await page.evaluate("'pwned' in window")).toBe(false);
      expect(complaints).toEqual([]);
    },
  );

  describe('colors', () => {
    let page: Page;

    beforeAll(async () => {
      ({ page } = await site.open('colored.ipynb'));
      await runEach(page);
      await page.locator('.apl-chart-svg > svg').waitFor();
      await page.locator('.apl-grid tbody td').first().click();
      await page.keyboard.press('Escape');
      await page.locator('.apl-grid').getByRole('button', { name: 'Wrap' }).click();
    });

    test.each(THEMES)('chart text uses the colors of the theme: %s', async theme => {
      await changeTheme(page, theme);
      const fills = await page.evaluate<string[]>(
        "[...new Set([...document.querySelectorAll('.apl-chart-svg text')].map(each => getComputedStyle(each).fill))]",
      );
      const ofTheme = await colorsOf('--jp-content-font-color1', '--jp-content-font-color2');
      expect(fills.length).toBeGreaterThan(0);
      expect(fills.filter(fill => !ofTheme.includes(fill))).toEqual([]);
    });

    test('charts, selections and pressed buttons use forced system colors', async () => {
      await page.emulateMedia({ forcedColors: 'active' });
      const [text, highlight, highlighted] = await colorsOf('CanvasText', 'Highlight', 'HighlightText');
      const seen = (selector: string, property: string) =>
        page.evaluate<string>(
          `getComputedStyle(document.querySelector(${JSON.stringify(selector)}))['${property}']`,
        );
      expect(await seen('.apl-chart-svg text', 'fill')).toBe(text);
      for (const selector of [
        '.apl-grid td.apl-grid-selected',
        '.apl-grid .apl-button[aria-pressed="true"]',
      ]) {
        expect(await seen(selector, 'backgroundColor')).toBe(highlight);
        expect(await seen(selector, 'color')).toBe(highlighted);
      }
      await page.emulateMedia({ forcedColors: 'none' });
    });

    /** Returns the colors that the page renders for custom properties and color names. */
    const colorsOf = (...names: readonly string[]) =>
      page.evaluate<string[]>(`${JSON.stringify(names)}.map(name => {
      const probe = document.createElement('span');
      probe.style.color = name.startsWith('--') ? \`var(\${name})\` : name;
      probe.style.forcedColorAdjust = 'none';
      document.body.append(probe);
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    })`);
  });
});
