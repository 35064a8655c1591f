import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../api/service.js';
import { findings } from './findings.js';
import { AROUND, GALLERY, notebookOf, runEach } from './gallery.js';
import { type Lab, NEWEST_LAB, openFile, startBrowser, startLab, THEMES, venvPath } from './lab.js';
import { openSession, type Session } from './session.js';
import { clear, prepare, STATES } from './states.js';
import { profileOf, startStranger } from './stranger.js';

describe.each(THEMES)('outputs in the %s theme', theme => {
  let lab: Lab;
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
    const files = Object.entries(GALLERY).map(([name, cells]) => [`${name}.ipynb`, notebookOf(cells)]);
    lab = await startLab({ venv: venvPath(NEWEST_LAB), theme, files: Object.fromEntries(files) });
    lab.configure('@jupyterlab/notebook-extension:tracker', { windowingMode: 'none' });
  });

  afterAll(async () => {
    await browser?.close();
    await lab?.stop();
  });

  test.each(Object.keys(GALLERY))(
    '%s: everyone can read and reach the outputs, and nothing runs',
    async name => {
      const context = await browser.newContext({ viewport: { width: 1000, height: 900 } });
      const { page, complaints } = await openFile(context, lab, `${name}.ipynb`);
      await runEach(page);
      expect(await findings(page, ['.jp-OutputArea-output'])).toEqual([]);
      expect(await page.evaluate("'pwned' in window")).toBe(false);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );
});

describe.each(THEMES)('around the outputs in the %s theme', theme => {
  let session: Session;
  let stranger: Service;
  let page: Page;

  beforeAll(async () => {
    stranger = await startStranger();
    session = await openSession(NEWEST_LAB, {
      theme,
      files: { 'around.ipynb': notebookOf(AROUND) },
      file: 'around.ipynb',
      home: profileOf(stranger),
    });
    ({ page } = session);
    await prepare(page);
  });

  afterAll(async () => {
    await session?.stop();
    await stranger?.close();
  });

  test.each(STATES)(
    '$name: everyone can read and reach it, and nothing runs',
    async ({ show, parts, stays }) => {
      for (const width of [1400, 560]) {
        await page.setViewportSize({ width, height: 860 });
        if (stays === undefined || width === 1400) await show(page);
        expect(await findings(page, parts)).toEqual([]);
        if (stays === undefined) await clear(page);
      }
      expect(await page.evaluate("'pwned' in window")).toBe(false);
    },
  );
});
