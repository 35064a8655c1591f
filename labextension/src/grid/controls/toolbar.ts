import { button, element } from '../../ui/dom.js';
import { nameOf, type Zone } from '../cells.js';
import { COPY_FORMATS, type CopyFormat } from '../copy.js';
import type { ColumnLayout } from '../surface/columns.js';

/** The actions of the controls above a grid. */
export interface ToolbarActions {
  /** The reader has gone to the search box. */
  prepareSearch(): void;
  search(text: string): void;
  setZone(zone: Zone): void;
  setWrapped(isWrapped: boolean): void;
  openColumns(opener: HTMLElement): void;
  openCopy(opener: HTMLElement): void;
}

const IN_UTC = 'Times in UTC; switch to local time';
const IN_LOCAL_TIME = 'Local times; switch to UTC';

/** How long after the last key a search begins, in milliseconds. */
const SEARCH_DELAY = 100;

/** Returns the line above a grid: size and range, the last message, search, time zone and menus. */
export function toolbar(
  heading: string,
  status: HTMLElement,
  hasTimes: boolean,
  actions: ToolbarActions,
): HTMLElement {
  const columns = button('Columns', 'Show and hide columns', () => actions.openColumns(columns));
  const copy = button('Copy', 'Copy rows', () => actions.openCopy(copy));
  return element(
    'div',
    { class: 'apl-grid-bar', role: 'toolbar', 'aria-label': 'Result' },
    element('span', { class: 'apl-grid-heading' }, heading),
    status,
    element(
      'span',
      { class: 'apl-grid-controls' },
      searchBox(actions),
      ...(hasTimes ? [zoneSwitch(actions)] : []),
      wrapSwitch(actions),
      columns,
      copy,
    ),
  );
}

/** Returns the content of the menu of columns. */
export function columnsMenu(layout: ColumnLayout, changed: () => void, close: () => void): readonly Node[] {
  const items = layout.all.map(column => {
    const box = element('input', { type: 'checkbox', checked: !layout.isHidden(column) });
    box.addEventListener('change', () => {
      layout.toggleHidden(column);
      box.checked = !layout.isHidden(column);
      changed();
    });
    return element('label', {}, box, nameOf(column));
  });
  const all = button('Show all', 'Show all columns', () => {
    layout.showAll();
    close();
    changed();
  });
  return [all, element('div', { class: 'apl-grid-list' }, ...items)];
}

/** Returns the content of the copy menu. */
export function copyMenu(what: string, copy: (format: CopyFormat) => void): readonly Node[] {
  const formats = Object.keys(COPY_FORMATS) as CopyFormat[];
  const choices = formats.map(format =>
    button(COPY_FORMATS[format], `${what} as ${COPY_FORMATS[format]}`, () => copy(format)),
  );
  return [element('p', {}, what), element('div', { class: 'apl-grid-row' }, ...choices)];
}

function searchBox({ prepareSearch, search }: ToolbarActions): HTMLElement {
  const box = element('input', {
    type: 'search',
    class: 'apl-grid-input apl-grid-search',
    placeholder: 'Search all rows',
    'aria-label': 'Search all rows',
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  box.addEventListener('focus', prepareSearch);
  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(box.value), SEARCH_DELAY);
  });
  return box;
}

function zoneSwitch({ setZone }: ToolbarActions): HTMLElement {
  let zone: Zone = 'utc';
  const control = button('UTC', IN_UTC, () => {
    zone = zone === 'utc' ? 'local' : 'utc';
    control.textContent = zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
    control.title = zone === 'utc' ? IN_UTC : IN_LOCAL_TIME;
    control.ariaLabel = control.title;
    setZone(zone);
  });
  return control;
}

function wrapSwitch({ setWrapped }: ToolbarActions): HTMLElement {
  let isWrapped = false;
  const control = button('Wrap', 'Wrap long values', () => {
    isWrapped = !isWrapped;
    control.setAttribute('aria-pressed', String(isWrapped));
    setWrapped(isWrapped);
  });
  control.setAttribute('aria-pressed', 'false');
  return control;
}
