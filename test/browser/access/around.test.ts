import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../../api/service.js';
import { AROUND, notebookOf } from '../gallery.js';
import { profileOf, startStranger } from '../hostile/stranger.js';
import { changeTheme, NEWEST_LAB, themesOf } from '../lab.js';
import { findings } from '../page/findings.js';
import { clear, prepare, STATES } from '../page/states.js';
import { openSession, type Session } from '../session.js';

describe('around the outputs in every theme', () => {
  let session: Session;
  let stranger: Service;
  let page: Page;

  beforeAll(async () => {
    stranger = await startStranger();
    session = await openSession(NEWEST_LAB, {
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

  test.each(STATES.map((state, part) => ({ ...state, themes: themesOf(part) })))(
    '$name: everyone can read and reach it, and nothing runs',
    async ({ show, parts, stays, themes }) => {
      // Colors are the same in a narrow window: it is looked at in one theme.
      for (const [width, looks] of [
        [1400, themes],
        [560, themes.slice(0, 1)],
      ] as const) {
        await page.setViewportSize({ width, height: 860 });
        if (stays === undefined || width === 1400) await show(page);
        for (const theme of looks) {
          await changeTheme(page, theme);
          const rules = theme === themes[0] ? 'all' : 'colors';
          expect([width, theme, ...(await findings(page, parts, rules))]).toEqual([width, theme]);
        }
        if (stays === undefined) await clear(page);
      }
      expect(await page.evaluate("'pwned' in window")).toBe(false);
    },
  );
});
