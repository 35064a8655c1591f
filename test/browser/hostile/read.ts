/** Scripts that read everything a grid or a panel shows; they run in the page because driving it from here would take a minute each. */

const waiting = `
const until = async (what, test) => {
  for (const end = performance.now() + 60_000; performance.now() < end; ) {
    const found = test();
    if (found) return found;
    await new Promise(done => setTimeout(done));
  }
  throw new Error('never: ' + what);
};
const press = (node, kinds = ['mousedown', 'mouseup', 'click']) => {
  for (const kind of kinds) node.dispatchEvent(new MouseEvent(kind, { bubbles: true, button: 0 }));
};
const textsOf = (node, selector) => [...node.querySelectorAll(selector)].map(each => each.textContent);
`;

/** A grid cell as read. */
export interface ReadCell {
  readonly text: string;
  readonly title: string;
}

/** The visible content of a row and its details. */
export interface ReadRow {
  readonly cells: readonly ReadCell[];
  readonly details: readonly string[];
  /** The button that removes a filter by the value, and the number of rows that pass it; empty if the grid was not filtered. */
  readonly chip: string;
  readonly status: string;
}

/** Reads each row of a grid with its details; for the rows in `filtered`, also filters by a column's value and removes the filter. */
export const readRows = (grid: number, column: number, filtered: readonly number[]): string => `(async () => {
  ${waiting}
  const grid = document.querySelectorAll('.apl-grid')[${grid}];
  const table = grid.querySelector('regular-table');
  const rowOf = number => [...table.querySelectorAll('tbody tr')].find(row => row.querySelector('th').textContent === String(number));
  const count = Number(/([\\d,]+) rows/.exec(grid.querySelector('.apl-grid-heading').textContent)[1].replace(',', ''));
  const rows = [];
  for (let number = 1; number <= count; number += 1) {
    if (rowOf(number) === undefined) await table.scrollToCell(0, number - 1);
    const row = await until('row ' + number, () => rowOf(number));
    await until('cells of row ' + number, () => !textsOf(row, 'td').every(text => text === '\\u2026'));
    const cells = [...row.querySelectorAll('td')].map(cell => ({ text: cell.textContent, title: cell.title }));
    press(row.querySelector('th'), ['mousedown']);
    const panel = await until('details of row ' + number, () => grid.querySelector('.apl-grid-details[aria-label="Row ' + number + '"]'));
    const one = { cells, details: textsOf(panel, 'dt, dd'), chip: '', status: '' };
    rows.push(one);
    if (!${JSON.stringify(filtered)}.includes(number)) continue;
    press(rowOf(number).querySelectorAll('td')[${column}], ['contextmenu']);
    const menu = await until('menu of row ' + number, () => document.querySelector('.apl-popover[aria-label="Value"]'));
    [...menu.querySelectorAll('button')].find(each => /^Show only rows/.test(each.title)).click();
    const chip = await until('filter of row ' + number, () => grid.querySelector('.apl-grid-chips button'));
    await until('matches of row ' + number, () => / rows? match|^1 of/.test(grid.querySelector('.apl-grid-status').textContent));
    one.chip = chip.textContent;
    one.status = grid.querySelector('.apl-grid-status').textContent;
    chip.click();
    await until('all rows again', () => grid.querySelector('.apl-grid-status').textContent === '');
  }
  return rows;
})()`;

/** The visible content of a column's head and menu. */
export interface ReadColumn {
  readonly head: string;
  readonly title: string;
  readonly label: string;
  readonly name: string;
  readonly facts: readonly string[];
  readonly top: readonly string[];
}

/** The columns of a grid, and the menus that extended beyond the window. */
export interface ReadColumns {
  readonly columns: readonly ReadColumn[];
  readonly beyond: readonly string[];
}

/** Reads the head, menu and profile of each column of a grid; for the columns in `looked`, measures the menu with its profile. */
export const readColumns = (grid: number, looked: readonly number[]): string => `(async () => {
  ${waiting}
  const grid = document.querySelectorAll('.apl-grid')[${grid}];
  const table = grid.querySelector('regular-table');
  const count = Number(/([\\d,]+) columns/.exec(grid.querySelector('.apl-grid-heading').textContent)[1].replace(',', ''));
  const headOf = x => [...table.querySelectorAll('thead th')].find(head => table.getMeta(head)?.x === x && head.querySelector('.apl-grid-menu') !== null);
  const columns = [];
  const beyond = [];
  for (let x = 0; x < count; x += 1) {
    if (headOf(x) === undefined) await table.scrollToCell(x, 0);
    const head = await until('head ' + x, () => headOf(x));
    const { width, height } = head.getBoundingClientRect();
    if (width > 440 || height !== 40) beyond.push(['head', x, width, height].join(' '));
    head.querySelector('.apl-grid-menu').click();
    const menu = await until('menu ' + x, () => document.querySelector('.apl-popover'));
    if (${JSON.stringify(looked)}.includes(x)) {
      await until('profile ' + x, () => menu.querySelector('.apl-grid-profile dl'));
      // The menu is put into its place again when it has been laid out with the profile.
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    }
    const { left, right, top, bottom } = menu.getBoundingClientRect();
    if (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight) beyond.push(['menu', x, left, right, top, bottom].join(' '));
    columns.push({ head: head.querySelector('span').textContent, title: head.title, menu });
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  }
  await until('every profile', () => columns.every(({ menu }) => menu.querySelector('.apl-grid-profile dl')));
  return {
    beyond,
    columns: columns.map(({ head, title, menu }) => ({
      head,
      title,
      label: menu.getAttribute('aria-label'),
      name: menu.querySelector('header strong').textContent,
      facts: textsOf(menu, '.apl-grid-profile dd'),
      top: textsOf(menu, '.apl-grid-top .apl-grid-value'),
    })),
  };
})()`;

/** A row of the panel and its details. */
export interface ReadItem {
  readonly label: string;
  readonly title: string;
  readonly subject: string;
  readonly facts: readonly string[];
  readonly text: string;
  readonly box: string;
}

/** Reads the first rows of a kind in the panel with their details, moving down from the top of the tree by key. */
export const readItems = (kind: string, count: number): string => `(async () => {
  ${waiting}
  const tree = document.querySelector('.apl-tree');
  const details = document.querySelector('.apl-panel-details');
  const down = key => tree.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  const items = [];
  down('Home');
  for (let steps = 0; items.length < ${count} && steps < ${count} + 50; steps += 1) {
    down('ArrowDown');
    const row = tree.querySelector('[aria-selected="true"]');
    if (!row.classList.contains('apl-tree-${kind}')) continue;
    const { height, right } = row.getBoundingClientRect();
    const { top, bottom } = details.getBoundingClientRect();
    items.push({
      label: row.querySelector('.apl-tree-label').textContent,
      title: row.title,
      subject: details.querySelector('.apl-panel-subject').textContent,
      facts: textsOf(details, 'dd'),
      text: details.querySelector('pre')?.textContent ?? '',
      box: height === 22 && right <= tree.getBoundingClientRect().right && bottom <= innerHeight && bottom - top < innerHeight / 2 && details.scrollWidth <= details.clientWidth ? 'fits' : [height, right, top, bottom, details.scrollWidth, details.clientWidth].join(' '),
    });
  }
  return items;
})()`;

/** The texts of an image and of each mark's tooltip. */
export interface ReadChart {
  readonly texts: readonly string[];
  readonly tips: readonly string[];
}

/** Reads every chart: its texts, and the tooltip of each of its marks. */
export const readCharts = `(async () => {
  ${waiting}
  return [...document.querySelectorAll('.apl-chart-frame')].map(frame => {
    const svg = frame.querySelector('.apl-chart-svg > svg');
    const marks = [...svg.querySelectorAll('.mark-rect.role-mark path, .mark-arc path, .mark-symbol.role-mark path')];
    const tips = marks.map(mark => {
      const { left, top, width, height } = mark.getBoundingClientRect();
      for (const kind of ['pointerover', 'pointermove', 'mousemove'])
        mark.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX: left + width / 2, clientY: top + height / 2 }));
      return frame.querySelector('.apl-chart-tip')?.textContent ?? '';
    });
    return { texts: textsOf(svg, 'text'), tips: [...new Set(tips)] };
  });
})()`;
