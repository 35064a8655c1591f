import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Service } from '../../api/service.js';
import { AROUND, notebookOf } from '../gallery.js';
import { profileOf, startStranger } from '../hostile/stranger.js';
import { changeTheme, NEWEST_LAB, THEMES, type Theme, themesOf } from '../lab.js';
import { findings } from '../page/findings.js';
import { clear, leaveCell, prepare, STATES } from '../page/states.js';
import { openSession, type Session } from '../session.js';

describe('the page around outputs in every theme', () => {
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

  const lookAt = async (parts: readonly string[], width: number, theme: Theme) => {
    // In themes other than the first, only the colors can be new.
    const rules = theme === 'light' ? 'all' : 'colors';
    expect([width, theme, ...(await findings(page, parts, rules))]).toEqual([width, theme]);
    expect(await page.evaluate("'pwned' in window")).toBe(false);
  };

  const states = STATES.map((state, part) => ({ ...state, themes: themesOf(part) }));

  // Changing the theme or the window size takes longer than opening a menu. A narrow window has the same colors.
  describe.each<{ width: number; theme: Theme }>([
    { width: 1400, theme: 'light' },
    { width: 560, theme: 'light' },
    ...THEMES.filter(theme => theme !== 'light').map(theme => ({ width: 1400, theme })),
  ])('$width pixels wide, $theme', ({ width, theme }) => {
    beforeAll(async () => {
      await page.setViewportSize({ width, height: 860 });
      await changeTheme(page, theme);
    });

    test.each(states.filter(({ stays, themes }) => stays === undefined && themes.includes(theme)))(
      '$name: accessible, and nothing hostile runs',
      async ({ show, parts, cell }) => {
        await leaveCell(page, cell);
        try {
          await show(page);
          await lookAt(parts, width, theme);
        } finally {
          await clear(page);
        }
      },
    );
  });

  test.each(states.filter(({ stays }) => stays === true))(
    '$name: accessible, and nothing hostile runs',
    async ({ show, parts, cell, themes }) => {
      await leaveCell(page, cell);
      await page.setViewportSize({ width: 1400, height: 860 });
      await show(page);
      for (const theme of themes) {
        await changeTheme(page, theme);
        await lookAt(parts, 1400, theme);
      }
      await changeTheme(page, 'light');
      await page.setViewportSize({ width: 560, height: 860 });
      await lookAt(parts, 560, 'light');
    },
  );
});
