import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GALLERY, notebookOf, runEach } from '../gallery.js';
import { NEWEST_LAB, openFile, THEMES } from '../lab.js';
import { findings } from '../page/findings.js';
import { openSite, type Site } from '../session.js';

describe.each(THEMES)('outputs in the %s theme', theme => {
  let site: Site;

  beforeAll(async () => {
    const files = Object.entries(GALLERY).map(([name, cells]) => [`${name}.ipynb`, notebookOf(cells)]);
    const browser = { viewport: { width: 1000, height: 900 } };
    site = await openSite(NEWEST_LAB, { theme, files: Object.fromEntries(files), browser });
  });

  afterAll(() => site?.stop());

  test.each(Object.keys(GALLERY))(
    '%s: everyone can read and reach the outputs, and nothing runs',
    async name => {
      const { page, complaints, close } = await openFile(site.context, site.lab, `${name}.ipynb`);
      await runEach(page);
      expect(await findings(page, ['.jp-OutputArea-output'])).toEqual([]);
      expect(await page.evaluate("'pwned' in window")).toBe(false);
      expect(complaints).toEqual([]);
      await close();
    },
  );
});
