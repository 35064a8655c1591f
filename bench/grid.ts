/**
 * Results of a million rows of 20 columns and of ten million of 10 in the grid of a real JupyterLab: time until the rows appear,
 * duration of a frame while scrolling, sorting, filtering and searching all rows against a handwritten statement over the same rows,
 * and the size of the saved notebook. Chromium draws frames as fast as it can, so the time between two is the cost of one.
 * ROWS limits the run to the results with that many rows.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Page } from 'playwright-core';
import { notebookOf } from '../test/browser/gallery.js';
import { closeAll, NEWEST_LAB } from '../test/browser/lab.js';
import { openSession } from '../test/browser/session.js';
import { median, quantile, type Row, report } from './tools/row.js';

const RUNS = Number(process.env.RUNS ?? 3);
const FRAMES = 600;
/** The speed of practiced typists. */
const MS_PER_KEY = 200;

interface Size {
  readonly rows: number;
  readonly columns: number;
}

const SIZES: readonly Size[] = [
  { rows: 1_000_000, columns: 20 },
  { rows: 10_000_000, columns: 10 },
].filter(({ rows }) => rows === Number(process.env.ROWS ?? rows));

/** The columns besides n in APL and in SQL: integers, fractions, strings and times. */
const COLUMNS: readonly (readonly [name: string, apl: string, sql: string])[] = [
  ['shuffled', 'n * 7919 % 1000003', 'n * 7919 % 1000003'],
  ['host', 'strcat("host-", tostring(n % 50))', "'host-' || n % 50"],
  ['uri', 'strcat("/api/orders/", tostring(n % 5000))', "'/api/orders/' || n % 5000"],
  ['time', 'datetime(2026-11-20T00:00:00Z) + n * 1ms', "TIMESTAMP '2026-11-20' + INTERVAL (n) MILLISECOND"],
  ...Array.from({ length: 15 }, (_, index): readonly [string, string, string] =>
    index % 3 === 0
      ? [`share_${index}`, `n / ${index + 7}.0`, `n / ${index + 7}.0`]
      : [`size_${index}`, `n * ${index} % 100003`, `n * ${index} % 100003`],
  ),
];

function columnsOf({ columns }: Size): typeof COLUMNS {
  return COLUMNS.slice(0, columns - 1);
}

/** `range` creates at most a million rows, each of which becomes a thousand. */
function queryOf(size: Size): string {
  const extended = columnsOf(size).map(([name, apl]) => `${name} = ${apl}`);
  return [
    `range thousand from 0 to ${size.rows / 1000 - 1} step 1`,
    '| extend n = range(1, 1000) | mv-expand n to typeof(long) | project n = 1000 * thousand + n',
    `| extend ${extended.join(', ')}`,
    `| limit ${size.rows}`,
  ].join('\n');
}

function statementOf(size: Size): string {
  const columns = columnsOf(size).map(([name, , sql]) => `${sql} AS ${name}`);
  return `CREATE TABLE rows AS SELECT n, ${columns.join(', ')} FROM range(1, ${size.rows + 1}) AS r(n)`;
}

/** Events observed by the page, in milliseconds of its own clock. */
interface Seen {
  /** The cell has its execution count. */
  readonly idle: number;
  /** The first rows are drawn. */
  readonly rows: number;
  /** The grid scrolls over all rows. */
  readonly all: number;
}

interface Scrolled {
  readonly frames: readonly number[];
  readonly nodesBefore: number;
  readonly nodesMost: number;
}

async function main(): Promise<void> {
  for (const size of SIZES) await measure(size);
  await closeAll();
}

async function measure(size: Size): Promise<void> {
  const file = 'grid.ipynb';
  const session = await openSession(NEWEST_LAB, {
    files: { [file]: notebookOf([queryOf(size)]) },
    file,
    switches: ['--disable-frame-rate-limit', '--disable-gpu-vsync'],
  });
  try {
    const { page } = session;
    const scale = scaleOf(size);
    reportArrival(scale, await runCell(page));
    const ways = [
      [`by the wheel, in a new page, ${scale}`, WHEEL],
      [`by the wheel, later, ${scale}`, WHEEL],
      [`through all of it, ${scale}`, DRAG],
    ] as const;
    for (const [how, step] of ways) reportScrolling(how, await scroll(page, step), await drawPlain(page));
    await reportFirst(page, size);
    await reportViews(page, size);
    await page.keyboard.press('Control+s');
    await page.waitForFunction("!document.querySelector('.jp-mod-dirty')");
    reportBytes(scale, statSync(join(session.lab.notebookDir, file)).size);
  } finally {
    await session.stop();
  }
}

function scaleOf({ rows, columns }: Size): string {
  return `${rows.toLocaleString('en')} rows of ${columns} columns`;
}

async function runCell(page: Page): Promise<Seen> {
  await page.locator('.jp-CodeCell .cm-content').click();
  const seen = page.evaluate<Seen>(WATCH);
  await page.keyboard.press('Control+Enter');
  return seen;
}

function reportArrival(scale: string, { idle, rows, all }: Seen): void {
  const figure = (name: string, at: number) =>
    report({
      figure: `${name}, ${scale}, after the cell has its number`,
      unit: 'ms',
      ours: Math.max(0, at - idle),
      goal: { atMost: 300 },
    });
  figure('first rows in the grid', rows);
  figure('all rows in the grid', all);
}

/** `plain` are frames of a copy of the table, see {@link drawPlain}. */
function reportScrolling(
  how: string,
  { frames, nodesBefore, nodesMost }: Scrolled,
  plain: readonly number[],
): void {
  const frame = (name: string, share: number) =>
    report({
      figure: `frame of scrolling ${how}, ${name}`,
      unit: 'ms',
      ours: quantile(frames, share),
      baseline: { name: 'other texts in a copy of the table', value: quantile(plain, share) },
      goal: { atMost: 16 },
    });
  frame('median', 0.5);
  frame('p95', 0.95);
  report({
    figure: `most elements of the page while scrolling ${how}`,
    unit: 'elements',
    ours: nodesMost,
    baseline: { name: 'before', value: nodesBefore },
    goal: { ratio: 1.1 },
  });
}

function scroll(page: Page, step: string): Promise<Scrolled> {
  return page.evaluate<Scrolled>(scrolling(step));
}

/** Returns the frames of a copy of the table, without the grid, in which every cell gets new text each time: no table does less. */
async function drawPlain(page: Page): Promise<readonly number[]> {
  await page.evaluate(COPY);
  const { frames } = await scroll(page, REPLACE);
  await page.evaluate("document.getElementById('copy').remove()");
  return frames;
}

async function reportViews(page: Page, size: Size): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(statementOf(size));
  for (const [name, { act, sql }] of Object.entries(viewsOf(size))) {
    const ours: number[] = [];
    const byHand: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      ours.push(await act(page, run));
      byHand.push(await timed(connection, sql));
    }
    report({
      figure: `${name}, ${scaleOf(size)}, until it is drawn`,
      unit: 'ms',
      ours: median(ours),
      baseline: { name: 'the statement by hand', value: median(byHand) },
      ...viewGoal(size),
    });
  }
}

/** Returns the goal; none for ten times as many rows, which take ten times as long even with handwritten statements. */
function viewGoal({ rows }: Size): Pick<Row, 'goal'> {
  return rows > 1_000_000 ? {} : { goal: { atMost: 1000 } };
}

/**
 * Reports the first views. The first one to read a column also passes the column to the engine; a search reads all of them. Its text is
 * typed one key at a time.
 */
async function reportFirst(page: Page, size: Size): Promise<void> {
  const figure = (name: string, ours: number) =>
    report({ figure: `${name}, ${scaleOf(size)}, the first time`, unit: 'ms', ours, ...viewGoal(size) });
  figure('sort by a number', await clickHead(page, 'shuffled', 'ascending'));
  await clickHead(page, 'shuffled', 'descending');
  await clickHead(page, 'shuffled', 'none');
  await page.locator('.apl-grid-search').click();
  await page.keyboard.type('8888', { delay: MS_PER_KEY });
  await page.waitForTimeout(MS_PER_KEY);
  figure('search for digits in all fields', await search(page, '88888'));
}

async function timed(connection: DuckDBConnection, sql: string): Promise<number> {
  const begun = performance.now();
  await connection.runAndReadAll(sql);
  return performance.now() - begun;
}

function reportBytes(scale: string, bytes: number): void {
  report({ figure: `saved notebook, ${scale}`, unit: 'KiB', ours: bytes / 1024, goal: { atMost: 256 } });
}

/** A reader's action on all rows, on different ones in each run, which resolves with its duration, and the same as a statement. */
interface ViewOfRows {
  readonly act: (page: Page, run: number) => Promise<number>;
  readonly sql: string;
}

const viewsOf = (size: Size): Readonly<Record<string, ViewOfRows>> => ({
  'sort by a number': {
    act: page => sortBy(page, 'shuffled'),
    sql: 'SELECT n FROM rows ORDER BY shuffled DESC',
  },
  'sort by a text': {
    act: page => sortBy(page, 'uri'),
    sql: 'SELECT n FROM rows ORDER BY uri DESC',
  },
  'rows with one value': {
    act: filterByHost,
    sql: "SELECT n FROM rows WHERE host = 'host-1'",
  },
  'search for digits in all fields': {
    act: (page, run) => search(page, `9999${run}`),
    sql: searching(size, '99999'),
  },
  'search for a word in all fields': {
    act: (page, run) => search(page, `orders/123${run}`),
    sql: searching(size, 'orders/1234'),
  },
});

const TABLE = "document.querySelector('.apl-grid regular-table')";
const STATUS = "document.querySelector('.apl-grid-status').textContent";

/** Higher than the rows in a notebook, in pixels; browsers limit greater heights. */
const HIGH = 1_000_000;

/** Watches frame by frame for the execution count, for rows, and for the grid to be as high as all of them. */
const WATCH = `new Promise(settle => {
  const seen = {};
  const look = () => {
    const now = performance.now();
    if (/\\[\\d+\\]/.test(document.querySelector('.jp-CodeCell .jp-InputPrompt').textContent)) seen.idle ??= now;
    if (document.querySelector('.apl-grid tbody td') !== null) seen.rows ??= now;
    if (${TABLE}?.scrollHeight > ${HIGH}) seen.all ??= now;
    if (seen.idle && seen.rows && seen.all) settle(seen);
    else setTimeout(look, 5);
  };
  look();
})`;

const WHEEL = "table.dispatchEvent(new WheelEvent('wheel', { deltaY: 120, cancelable: true }))";
const DRAG = `table.scrollTop = table.scrollHeight * frame / ${FRAMES}`;

const COPY = `(() => {
  const copy = document.createElement('div');
  copy.id = 'copy';
  copy.style.cssText = 'position: fixed; inset: 30% 20% 20% 20%; overflow: hidden; background: white; font: 12px/18px sans-serif; z-index: 99';
  copy.append(${TABLE}.querySelector('table').cloneNode(true));
  document.body.append(copy);
})()`;
const REPLACE =
  "for (const cell of document.querySelectorAll('#copy td')) cell.textContent = String(Math.random())";

/** Scrolls once per frame by the statement. */
const scrolling = (step: string): string => `(async () => {
  const table = ${TABLE};
  const isDrawn = () => new Promise(done => requestAnimationFrame(done));
  const count = () => document.querySelectorAll('*').length;
  const frames = [];
  table.scrollTop = 0;
  await isDrawn();
  const nodesBefore = count();
  let nodesMost = nodesBefore;
  for (let frame = 1; frame <= ${FRAMES}; frame += 1) {
    const begun = performance.now();
    ${step};
    await isDrawn();
    frames.push(performance.now() - begun);
    if (frame % 20 === 0) nodesMost = Math.max(nodesMost, count());
  }
  table.scrollTop = 0;
  return { frames, nodesBefore, nodesMost };
})()`;

/** Acts, and resolves with the milliseconds until the condition holds. */
const timeOf = (act: string, done: string): string => `new Promise(settle => {
  const begun = performance.now();
  ${act};
  const look = () => ${done} ? settle(performance.now() - begun) : setTimeout(look, 2);
  look();
})`;

/** Sorts descending, and removes the sort again. */
async function sortBy(page: Page, column: string): Promise<number> {
  await clickHead(page, column, 'ascending');
  const ms = await clickHead(page, column, 'descending');
  await clickHead(page, column, 'none');
  return ms;
}

/** Clicks the header of a column, and waits for its new sort order. */
function clickHead(page: Page, column: string, order: string): Promise<number> {
  const head = `[...document.querySelectorAll('.apl-grid thead th')].find(each => each.textContent.startsWith('${column}'))`;
  const press = `${head}.querySelector('span').dispatchEvent(new MouseEvent('mousedown', { bubbles: true }))`;
  return page.evaluate<number>(timeOf(press, `${head}.ariaSort === '${order}'`));
}

/** Shows only the rows with one host, and removes the filter again. */
async function filterByHost(page: Page, run: number): Promise<number> {
  const cell = page.locator('.apl-grid tbody td', { hasText: new RegExp(`^host-${run + 1}$`) });
  await cell.click({ button: 'right' });
  const only = page.getByRole('button', { name: /Show only rows with this/ });
  await only.waitFor();
  const ms = await page.evaluate<number>(
    timeOf(
      `document.querySelector('.apl-popover button[title^="Show only rows"]').click()`,
      `${STATUS}.endsWith('match.')`,
    ),
  );
  await page.evaluate(timeOf(`document.querySelector('.apl-grid-chips button').click()`, `${STATUS} === ''`));
  return ms;
}

/** Searches, from the last key on, after which the grid waits, and clears the box again. */
async function search(page: Page, text: string): Promise<number> {
  const type = (typed: string) =>
    `const box = document.querySelector('.apl-grid-search'); box.value = '${typed}'; box.dispatchEvent(new Event('input'))`;
  const ms = await page.evaluate<number>(timeOf(type(text), `${STATUS}.endsWith('match.')`));
  await page.evaluate(timeOf(type(''), `${STATUS} === ''`));
  return ms;
}

function searching(size: Size, text: string): string {
  const found = ['n', ...columnsOf(size).map(([name]) => name)].map(
    name => `contains(${name}::VARCHAR, '${text}')`,
  );
  return `SELECT n FROM rows WHERE ${found.join(' OR ')}`;
}

await main();
