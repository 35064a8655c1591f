import { timesIn, type Zone } from '../../link/link-zone.js';
import { button, element } from '../../ui/dom.js';
import { nameOf } from '../grid-cells.js';
import { COPY_FORMATS, type CopyFormat } from '../grid-copy.js';
import type { ColumnLayout } from '../surface/surface-columns.js';
import { headingParts, type Surroundings } from './grid-notes.js';

/** The actions of the controls above a grid. */
export interface ToolbarActions {
  /** Called when the reader focuses the search box. */
  prepareSearch(): void;
  search(text: string): void;
  setZone(zone: Zone): void;
  setWrapped(isWrapped: boolean): void;
  setStream(isStream: boolean): void;
  openColumns(opener: HTMLElement): void;
  openCopy(opener: HTMLElement): void;
}

/** The display options of the rows. */
interface Looks {
  readonly isWrapped: boolean;
  readonly isStream: boolean;
}

const IN_UTC = 'Notebook times are in UTC; switch to local time';
const IN_LOCAL_TIME = 'Notebook times are in local time; switch to UTC';

/** Delay of a search after the last key, in milliseconds. */
const SEARCH_DELAY = 100;

/** The line above a grid, with functions that set its controls and time zone without triggering them. */
export interface Toolbar {
  readonly node: HTMLElement;
  show(search: string, zone: Zone, looks: Looks): void;
}

/** Creates the line above a grid: size and range, the last message, search, time zone and menus. */
export function toolbar(
  { heading, window }: Pick<Surroundings, 'heading' | 'window'>,
  said: readonly HTMLElement[],
  { hasTimes, hasStream }: { readonly hasTimes: boolean; readonly hasStream: boolean },
  actions: ToolbarActions,
): Toolbar {
  const search = searchBox(actions);
  const zone = zoneSwitch(actions);
  const wrap = pressed('Wrap', 'Wrap long values', actions.setWrapped);
  const stream = pressed(
    'Stream',
    'Stream: one line per event; press again for the table',
    actions.setStream,
  );
  const columns = button('Columns', 'Show or hide columns', () => actions.openColumns(columns));
  const copy = button('Copy', 'Copy rows', () => actions.openCopy(copy));
  const head = element('span', { class: 'apl-grid-heading' });
  const node = element(
    'div',
    { class: 'apl-grid-bar', role: 'toolbar', 'aria-label': 'Result' },
    head,
    ...said,
    element(
      'span',
      { class: 'apl-grid-controls' },
      search.node,
      ...(hasTimes ? [zone.node] : []),
      ...(hasStream ? [stream.node] : []),
      wrap.node,
      columns,
      copy,
    ),
  );
  const show: Toolbar['show'] = (text, zoneShown, { isWrapped, isStream }) => {
    search.show(text);
    zone.show(zoneShown);
    head.replaceChildren(...headingParts(timesIn(heading, zoneShown)));
    if (window !== '') head.title = timesIn(window, zoneShown);
    wrap.show(isWrapped);
    stream.show(isStream);
  };
  return { node, show };
}

/** A control, with a function that sets it without triggering it. */
interface Control<Value> {
  readonly node: HTMLElement;
  show(value: Value): void;
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

/** Returns controls that open a result in its console, and copy its address; empty until it is known, and if there is none. */
export function linkTo(ask: (hear: (url: string) => void) => void, copy: (url: string) => void): HTMLElement {
  const node = element('div', { class: 'apl-grid-row' });
  ask(url =>
    node.replaceChildren(
      element('a', { href: url, target: '_blank', rel: 'noopener noreferrer' }, 'Open in console'),
      button('Copy link', 'Copy the link to the console', () => copy(url)),
    ),
  );
  return node;
}

function searchBox({ prepareSearch, search }: ToolbarActions): Control<string> {
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
  const show = (text: string) => {
    clearTimeout(timer);
    box.value = text;
  };
  return { node: box, show };
}

function zoneSwitch({ setZone }: ToolbarActions): Control<Zone> {
  let zone: Zone = 'utc';
  const node = button('UTC', IN_UTC, () => setZone(zone === 'utc' ? 'local' : 'utc'));
  const show = (shown: Zone) => {
    zone = shown;
    node.textContent = zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
    node.title = zone === 'utc' ? IN_UTC : IN_LOCAL_TIME;
    node.ariaLabel = node.title;
  };
  return { node, show };
}

/** Returns a toggle button. */
function pressed(text: string, label: string, set: (isPressed: boolean) => void): Control<boolean> {
  let isPressed = false;
  const node = button(text, label, () => {
    show(!isPressed);
    set(isPressed);
  });
  const show = (shown: boolean) => {
    isPressed = shown;
    node.setAttribute('aria-pressed', String(isPressed));
  };
  show(false);
  return { node, show };
}
