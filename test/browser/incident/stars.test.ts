import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notebookOf } from '../gallery.js';
import { NEWEST_LAB, usually } from '../lab.js';
import { type Cells, cellsOf } from '../page/cells.js';
import { soon } from '../page/soon.js';
import { openSession, type Session } from '../session.js';

const query = "['sample-http-logs'] | summarize n = count() by status";

const sources = [
  '%use local\n%time 2026-01-26T10:00Z..2026-01-26T11:00Z',
  `%star --new "By status"\n${query}`,
  '%time 2026-01-20',
  '',
];

describe.each(usually(NEWEST_LAB))('starred queries of a notebook in $name', frontEnd => {
  let session: Session;
  let page: Page;
  let cells: Cells;

  beforeAll(async () => {
    session = await openSession(frontEnd, {
      files: { 'stars.ipynb': notebookOf(sources) },
      file: 'stars.ipynb',
    });
    ({ page } = session);
    cells = cellsOf(page);
  });

  afterAll(() => session?.stop());

  const offered = (): Locator => page.locator('.cm-tooltip-autocomplete li');

  let id = '';

  test('the line that created a query updates it from then on', async () => {
    await cells.run(0);
    await cells.run(1);
    await soon(() => cells.source(1)).toBe(`%star "By status"\n${query}`);
    const said = await cells.output(1);
    id = /Saved the starred query (\w+), "By status"/.exec(said)?.[1] ?? '';
    expect(id).not.toBe('');
    await cells.run(1);
    expect(await cells.output(1)).toContain(`Saved the starred query ${id}, "By status"`);
  });

  test('--new with an existing name creates no second query', async () => {
    await cells.write(3, sources[1] ?? '');
    await cells.run(3);
    await soon(() => cells.source(3)).toBe(`%star "By status"\n${query}`);
    await cells.write(3, '%stars');
    await cells.run(3);
    await soon(() => cells.output(3)).toContain('1 starred query of your own');
  });

  test.each([
    ['%star ', '"By status"'],
    ['%star By', '"By status"'],
    ['%load star:', 'star:"By status"'],
    ['%run star:"By st', 'star:"By status"'],
  ])('after %s, completion offers the query once by name, while typing and on Tab', async (typed, label) => {
    const names = offered().filter({ hasText: 'By status' });
    const found = async () => (await names.allTextContents()).join('\n');
    await cells.write(3, typed);
    // Tab would accept the visible completion.
    await soon(found).toContain(label);
    await page.keyboard.press('Escape');
    await soon(() => offered().count()).toBe(0);
    await page.keyboard.press('Tab');
    await soon(found).toContain(label);
    expect(await offered().filter({ hasText: id }).count()).toBe(0);
    await names.first().click();
    await soon(() => cells.source(3)).toBe(`${typed.split(' ')[0]} ${label}`);
  });

  test('%run uses the range of the query, and %load puts it into the next cell', async () => {
    await cells.run(2);
    await cells.write(3, '%run star:"By status"');
    await cells.run(3);
    await soon(() => cells.output(3)).toContain('2026-01-26T10:00:00Z to 2026-01-26T11:00:00Z');
    await cells.write(3, `%load star:${id}`);
    const count = await page.locator('.jp-CodeCell').count();
    await cells.run(3);
    await soon(() => page.locator('.jp-CodeCell').count()).toBe(count + 1);
    await soon(() => cells.source(4)).toBe(`%%time 2026-01-26T10:00:00Z..2026-01-26T11:00:00Z\n${query}`);
  });
});
