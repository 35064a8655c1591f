import { type GestureActions, isTraceKey } from '../surface/surface-gestures.js';
import type { Stream, StreamPlace } from './stream.js';

/** Turns mouse and key events on the lines into actions. */
export function listenToStream(stream: Stream, actions: GestureActions): void {
  const { lines } = stream;
  lines.addEventListener('click', ({ target }) => {
    const place = stream.placeOf(target);
    if (place !== undefined && isTraceButton(target)) actions.openTrace(place.y);
  });
  lines.addEventListener('mousedown', event => {
    if (isTraceButton(event.target)) return;
    const place = stream.placeOf(event.target);
    if (place !== undefined && event.button === 0) select(place, event.shiftKey, actions);
  });
  lines.addEventListener('dblclick', event => {
    const place = stream.placeOf(event.target);
    if (place !== undefined) actions.showRow(place.y);
  });
  lines.addEventListener('contextmenu', event => {
    const place = stream.placeOf(event.target);
    // With Shift, the browser's own menu opens.
    if (place === undefined || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    select(place, false, actions);
    stream.focus();
    openMenu(place, actions);
  });
  lines.addEventListener('keydown', event => onKey(event, stream, actions));
}

function isTraceButton(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('.apl-grid-trace') !== null;
}

/** Selects a part of a line, or with Shift all lines from the previously selected one. */
function select({ x, y }: Pick<StreamPlace, 'x' | 'y'>, isMore: boolean, actions: GestureActions): void {
  const from = actions.selection?.anchor.y;
  if (isMore && from !== undefined)
    actions.select({ anchor: { x: 0, y: from }, focus: { x: actions.size.columns - 1, y } });
  else actions.select({ anchor: { x, y }, focus: { x, y } });
}

function openMenu({ node, column, y }: StreamPlace, actions: GestureActions): void {
  actions.openValue(node, column, y);
}

function onKey(event: KeyboardEvent, stream: Stream, actions: GestureActions): void {
  if (actions.size.rows === 0) return;
  const act = actionAt(event, stream, actions) ?? moveTo(event, stream, actions);
  if (act === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** Returns the action of a key on the selected part. */
function actionAt(event: KeyboardEvent, stream: Stream, actions: GestureActions): (() => void) | undefined {
  const at = actions.selection?.focus;
  if (at === undefined || at.y < 0) return undefined;
  if (isMenuKey(event))
    return () => {
      stream.reveal(at.y);
      const place = placeAt(stream, at);
      if (place !== undefined) openMenu(place, actions);
    };
  if (event.key === 'Enter') return () => actions.showRow(at.y);
  if (isTraceKey(event)) return () => actions.openTrace(at.y);
  if ((event.ctrlKey || event.metaKey) && event.key === 'c') return () => actions.copy();
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  return by === undefined ? undefined : () => step(by, at, stream, actions);
}

function moveTo(event: KeyboardEvent, stream: Stream, actions: GestureActions): (() => void) | undefined {
  const at = actions.selection?.focus;
  const row = rowAfter(event, at?.y, actions.size.rows, stream.pageRows);
  if (row === undefined) return undefined;
  return () => {
    stream.reveal(row);
    const parts = stream.partsOf(row);
    const place = parts.find(({ x }) => x === at?.x) ?? stream.placeOf(parts[0]?.node.parentElement ?? null);
    if (place !== undefined) select(place, event.shiftKey, actions);
  };
}

/** Moves to the part beside the selected one. */
function step(by: number, at: { x: number; y: number }, stream: Stream, actions: GestureActions): void {
  stream.reveal(at.y);
  const parts = stream.partsOf(at.y);
  const next = parts[parts.findIndex(({ x }) => x === at.x) + by];
  if (next === undefined) return;
  select(next, false, actions);
  next.node.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function placeAt(
  stream: Stream,
  { x, y }: { readonly x: number; readonly y: number },
): StreamPlace | undefined {
  const parts = stream.partsOf(y);
  return parts.find(part => part.x === x) ?? parts[0];
}

function isMenuKey({ key, shiftKey }: KeyboardEvent): boolean {
  return key === ' ' || key === 'ContextMenu' || (key === 'F10' && shiftKey);
}

function rowAfter(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  from: number | undefined,
  rows: number,
  page: number,
): number | undefined {
  const isWhole = ctrlKey || metaKey;
  const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page }[key];
  if (key === 'Home' || (by !== undefined && by < 0 && isWhole)) return 0;
  if (key === 'End' || (by !== undefined && isWhole)) return rows - 1;
  if (by === undefined) return undefined;
  return from === undefined || from < 0 ? 0 : Math.max(0, Math.min(from + by, rows - 1));
}
