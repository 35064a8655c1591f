import type { GridColumn } from '../grid-cells.js';
import { type CellPlace, HEAD_ROW, isIn, type Selection } from './selection.js';
import { ROW_HEIGHT, ROWS_IN_SIGHT, type Surface } from './surface.js';

/** The actions that mouse and keys trigger. */
export interface GestureActions {
  readonly selection: Selection | undefined;
  readonly size: { readonly rows: number; readonly columns: number };
  select(selection: Selection): void;
  /** Handles a click or Enter on a header; with Shift, it adds a key to the sort. */
  sort(column: GridColumn, isMore: boolean): void;
  /** Opens the menu of a value beside its cell. */
  openValue(target: HTMLElement, column: GridColumn, row: number): void;
  /** Opens the menu of a column beside one of its cells. */
  openColumn(target: HTMLElement, column: GridColumn): void;
  showRow(row: number): void;
  /** Adds a cell that draws the trace of a row. */
  openTrace(row: number): void;
  copy(): void;
}

/** Turns mouse and key events on the table into actions. */
export function listen(surface: Surface, actions: GestureActions): void {
  const { table } = surface;
  table.addEventListener('mousedown', event => onMouseDown(event, surface, actions));
  table.addEventListener('dblclick', event => {
    const place = surface.placeOf(event.target);
    if (place !== undefined && place.y >= 0) actions.showRow(place.y);
  });
  table.addEventListener('keydown', event => onKey(event, surface, actions));
  table.addEventListener('contextmenu', event => onContextMenu(event, surface, actions));
  surface.chevron.addEventListener('click', () => {
    const at = actions.selection?.focus;
    if (at !== undefined) void openMenu(at, false, surface, actions);
  });
  table.addEventListener('mouseover', ({ target }) => surface.hover(surface.placeOf(target)));
  surface.frame.addEventListener('mouseleave', () => surface.hover(undefined));
  surface.trace.addEventListener('click', () => {
    const { traceRow } = surface;
    if (traceRow !== undefined) actions.openTrace(traceRow);
  });
  const wheel = new Wheel(surface);
  table.addEventListener('wheel', event => wheel.turn(event), { passive: false });
}

/**
 * Browsers limit the height of a page, so a pixel of a very long table represents a fraction of a row, or several rows. The wheel
 * then moves it as far as any other table, carrying over fractions of a pixel.
 */
class Wheel {
  readonly #surface: Surface;
  #rest = 0;

  constructor(surface: Surface) {
    this.#surface = surface;
  }

  turn(event: WheelEvent): void {
    const { table, heightShown } = this.#surface;
    if (heightShown >= 1 || event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    const before = table.scrollTop;
    const wanted = pixelsOf(event) * heightShown + this.#rest;
    const whole = Math.trunc(wanted);
    table.scrollTop += whole;
    // At either end, the notebook scrolls.
    if (whole !== 0 && table.scrollTop === before) return;
    this.#rest = wanted - whole;
    table.scrollLeft += event.deltaX;
    event.preventDefault();
  }
}

function pixelsOf({ deltaY, deltaMode }: WheelEvent): number {
  if (deltaMode === WheelEvent.DOM_DELTA_LINE) return deltaY * ROW_HEIGHT;
  return deltaMode === WheelEvent.DOM_DELTA_PAGE ? deltaY * ROWS_IN_SIGHT * ROW_HEIGHT : deltaY;
}

function onMouseDown(event: MouseEvent, surface: Surface, actions: GestureActions): void {
  const { target } = event;
  if (event.button !== 0 || !(target instanceof HTMLElement)) return;
  if (target.closest('button, .rt-column-resize') !== null) return;
  const place = surface.placeOf(target);
  if (place === undefined) return;
  const { column, y } = place;
  if (column === undefined) {
    if (y >= 0) actions.showRow(y);
  } else if (y < 0) actions.sort(column, event.shiftKey);
  else drag(surface, actions, place, event.shiftKey);
}

/** Opens the menu of a cell; the browser's own opens with Shift. A cell of the selection leaves the selection unchanged. */
function onContextMenu(event: MouseEvent, surface: Surface, actions: GestureActions): void {
  const place = surface.placeOf(event.target);
  if (place?.column === undefined || event.shiftKey) return;
  event.preventDefault();
  // JupyterLab would open its own menu beside this one.
  event.stopPropagation();
  const { x, y } = place;
  const { selection } = actions;
  if (selection === undefined || !isIn(selection, place))
    actions.select({ anchor: { x, y }, focus: { x, y } });
  surface.focus();
  void openMenu({ x, y }, false, surface, actions);
}

/** Selects from the cell in which the button was pressed to the one in which it is released. */
function drag(surface: Surface, actions: GestureActions, { x, y }: CellPlace, isMore: boolean): void {
  const focus = { x, y };
  const anchor = isMore ? (actions.selection?.anchor ?? focus) : focus;
  actions.select({ anchor, focus });
  const onMove = ({ target }: MouseEvent) => {
    const over = surface.placeOf(target);
    if (over?.column !== undefined && over.y >= 0)
      actions.select({ anchor, focus: { x: over.x, y: over.y } });
  };
  surface.table.addEventListener('mousemove', onMove);
  const onUp = () => surface.table.removeEventListener('mousemove', onMove);
  window.addEventListener('mouseup', onUp, { once: true });
}

function onKey(event: KeyboardEvent, surface: Surface, actions: GestureActions): void {
  const { selection, size } = actions;
  const at = selection?.focus;
  if (at !== undefined && isMenuKey(event)) {
    event.preventDefault();
    // On a key, the notebook would move the focus back into its cell, away from the menu.
    event.stopPropagation();
    void openMenu(at, event.altKey, surface, actions);
    return;
  }
  const isCopy = (event.ctrlKey || event.metaKey) && event.key === 'c';
  if (at !== undefined && (isCopy || event.key === 'Enter')) {
    event.preventDefault();
    if (isCopy) actions.copy();
    else if (at.y === HEAD_ROW) sortHead(at, event.shiftKey, surface, actions);
    else actions.showRow(at.y);
    return;
  }
  if (at !== undefined && at.y !== HEAD_ROW && isTraceKey(event)) {
    event.preventDefault();
    actions.openTrace(at.y);
    return;
  }
  const step = stepOf(event, size.rows, size.columns);
  if (step === undefined || size.columns === 0) return;
  event.preventDefault();
  // The first arrow key selects the first cell.
  const isFirst = at === undefined && Math.abs(step.x) + Math.abs(step.y) === 1;
  const from = at ?? { x: 0, y: size.rows === 0 ? HEAD_ROW : 0 };
  const isExtended = event.shiftKey && (from.y !== HEAD_ROW || step.y === 0);
  const focus = isFirst
    ? from
    : { x: clamp(from.x + step.x, size.columns), y: rowAfter(from.y, step.y, size.rows, isExtended) };
  actions.select({ anchor: isExtended ? (selection?.anchor ?? from) : focus, focus });
  void surface.reveal(focus);
}

/** Returns the row some rows away; the header is one up from the first, unless a selection of cells is being extended. */
function rowAfter(from: number, by: number, rows: number, isExtended: boolean): number {
  if (from === HEAD_ROW) return by > 0 && rows > 0 ? clamp(by - 1, rows) : HEAD_ROW;
  return from === 0 && by === -1 && !isExtended ? HEAD_ROW : clamp(from + by, rows);
}

function sortHead(at: CellPlace, isMore: boolean, surface: Surface, actions: GestureActions): void {
  const head = surface.cellAt(at);
  const column = head === undefined ? undefined : surface.placeOf(head)?.column;
  if (column !== undefined) actions.sort(column, isMore);
}

/** Returns whether a key opens a menu: Space and the context menu keys for the value, Alt+Down for the column, as in spreadsheets. */
function isMenuKey({ key, altKey, shiftKey }: KeyboardEvent): boolean {
  return (
    key === ' ' || key === 'ContextMenu' || (key === 'F10' && shiftKey) || (key === 'ArrowDown' && altKey)
  );
}

/** Returns whether a key is T, which draws the trace of the row. */
export function isTraceKey({ key, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 't' && !(altKey || ctrlKey || metaKey);
}

/** Opens the menu of a cell, first scrolling the cell back into view. */
async function openMenu(
  at: CellPlace,
  isOfColumn: boolean,
  surface: Surface,
  actions: GestureActions,
): Promise<void> {
  await surface.reveal(at);
  const target = surface.cellAt(at);
  const column = target === undefined ? undefined : surface.placeOf(target)?.column;
  if (target === undefined || column === undefined) return;
  if (isOfColumn || at.y === HEAD_ROW) actions.openColumn(target, column);
  else actions.openValue(target, column, at.y);
}

function stepOf(event: KeyboardEvent, rows: number, columns: number): CellPlace | undefined {
  const whole = event.ctrlKey || event.metaKey;
  switch (event.key) {
    case 'ArrowUp':
      return { x: 0, y: whole ? -rows : -1 };
    case 'ArrowDown':
      return { x: 0, y: whole ? rows : 1 };
    case 'ArrowLeft':
      return { x: whole ? -columns : -1, y: 0 };
    case 'ArrowRight':
      return { x: whole ? columns : 1, y: 0 };
    case 'PageUp':
      return { x: 0, y: -ROWS_IN_SIGHT };
    case 'PageDown':
      return { x: 0, y: ROWS_IN_SIGHT };
    case 'Home':
      return { x: -columns, y: whole ? -rows : 0 };
    case 'End':
      return { x: columns, y: whole ? rows : 0 };
    default:
      return undefined;
  }
}

function clamp(value: number, length: number): number {
  return Math.max(0, Math.min(value, length - 1));
}
