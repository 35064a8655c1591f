/** Reorders tiles by pointer and keyboard. */
import { button } from '../ui/dom.js';

/** The tiles among which a handle moves its own. */
export interface Moves {
  /** The nodes of all tiles, in order. */
  tiles(): readonly HTMLElement[];
  /** Moves the tile to an index, from 0, among the others. */
  moveTo(place: number): void;
}

/** Minimum movement of a drag, in pixels; anything less is ignored. */
const LEAST_DRAG = 5;
const BEFORE = 'apl-tile-before';
const AFTER = 'apl-tile-after';
const ROW = 'apl-tile-row';

/** Returns the handle that drags a tile to another position, or moves it by the arrow keys, Home and End. */
export function moveHandle(tile: HTMLElement, moves: Moves): HTMLButtonElement {
  const handle = button('\u283f', 'Move: drag, or press an arrow key, Home or End', () => undefined);
  handle.classList.add('apl-tile-move');
  handle.addEventListener('keydown', event => {
    const place = placeAfter(event.key, moves.tiles().indexOf(tile), moves.tiles().length);
    if (place === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    moves.moveTo(place);
  });
  handle.addEventListener('pointerdown', event => drag(event, handle, tile, moves));
  return handle;
}

function placeAfter(key: string, place: number, count: number): number | undefined {
  const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[key];
  const wanted = key === 'Home' ? 0 : key === 'End' ? count - 1 : by === undefined ? undefined : place + by;
  return wanted === undefined ? undefined : Math.max(0, Math.min(wanted, count - 1));
}

/** Follows the pointer: a line marks the target position, and Escape cancels. */
function drag(down: PointerEvent, handle: HTMLElement, tile: HTMLElement, moves: Moves): void {
  if (down.button !== 0) return;
  const gesture = new AbortController();
  const { signal } = gesture;
  handle.setPointerCapture(down.pointerId);
  let target: Target | undefined;
  const end = (): void => {
    gesture.abort();
    unmark(moves.tiles());
    tile.classList.remove('apl-tile-dragged');
  };
  const move = ({ clientX, clientY }: PointerEvent): void => {
    const isDragged = Math.hypot(clientX - down.clientX, clientY - down.clientY) >= LEAST_DRAG;
    if (!isDragged && target === undefined) return;
    tile.classList.add('apl-tile-dragged');
    unmark(moves.tiles());
    target = targetAt(clientX, clientY, tile, moves.tiles());
    target?.node.classList.add(target.isAfter ? AFTER : BEFORE);
    target?.node.classList.toggle(ROW, target.isRow);
  };
  handle.addEventListener('pointermove', move, { signal });
  handle.addEventListener(
    'pointerup',
    () => {
      const tiles = moves.tiles();
      end();
      if (target !== undefined) moves.moveTo(placeOf(target, tile, tiles));
    },
    { signal },
  );
  handle.addEventListener('pointercancel', end, { signal });
  document.addEventListener(
    'keydown',
    event => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      end();
    },
    { signal, capture: true },
  );
}

/** The tile next to which the dragged one would be placed. */
interface Target {
  readonly node: HTMLElement;
  readonly isAfter: boolean;
  /** It fills a row of the dashboard. */
  readonly isRow: boolean;
}

function targetAt(
  x: number,
  y: number,
  tile: HTMLElement,
  tiles: readonly HTMLElement[],
): Target | undefined {
  const node = tiles.find(each => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
  });
  if (node === undefined || node === tile) return undefined;
  const { left, width, top, height } = node.getBoundingClientRect();
  const isRow = width > (tile.parentElement?.clientWidth ?? 0) * 0.7;
  return { node, isRow, isAfter: isRow ? y > top + height / 2 : x > left + width / 2 };
}

/** Returns the index of a tile placed next to another, after its removal from its own position. */
function placeOf({ node, isAfter }: Target, tile: HTMLElement, tiles: readonly HTMLElement[]): number {
  const rest = tiles.filter(each => each !== tile);
  return rest.indexOf(node) + (isAfter ? 1 : 0);
}

function unmark(tiles: readonly HTMLElement[]): void {
  for (const tile of tiles) tile.classList.remove(BEFORE, AFTER, ROW);
}
