import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GALLERY, notebookOf, runEach } from '../gallery.js';
import { changeTheme, NEWEST_LAB, themesOf } from '../lab.js';
import { findings } from '../page/findings.js';
import { openSite, type Site } from '../session.js';

describe('outputs in every theme', () => {
  let site: Site;

  beforeAll(async () => {
    const files = Object.entries(GALLERY).map(([name, cells]) => [`${name}.ipynb`, notebookOf(cells)]);
    const browser = { viewport: { width: 1000, height: 900 } };
    site = await openSite(NEWEST_LAB, { files: Object.fromEntries(files), browser });
  });

  afterAll(() => site?.stop());

  test.each(Object.keys(GALLERY).map((name, part) => ({ name, themes: themesOf(part) })))(
    '$name: everyone can read and reach the outputs, and nothing runs',
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
});
