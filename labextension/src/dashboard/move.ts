/** Tiles are put in another order by pointer and by keys. */
import { button } from '../ui/dom.js';

/** What a handle moves its tile among. */
export interface Moves {
  /** The nodes of all tiles, in their order. */
  tiles(): readonly HTMLElement[];
  /** Puts a tile into a place from 0 on among the others. */
  moveTo(place: number): void;
}

/** A press that moves less is none, in pixels. */
const LEAST_DRAG = 5;
const BEFORE = 'apl-tile-before';
const AFTER = 'apl-tile-after';
const ROW = 'apl-tile-row';

/** Returns the handle by which a tile is dragged to another place, or moved by the arrow keys, Home and End. */
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

/** Follows the pointer: a line marks where the tile would go, and Escape leaves it where it is. */
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

/** The tile beside which the dragged one would go. */
interface Target {
  readonly node: HTMLElement;
  readonly isAfter: boolean;
  /** It has a row of the dashboard for itself. */
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

/** The place of a tile beside another, once it is taken out of its own. */
function placeOf({ node, isAfter }: Target, tile: HTMLElement, tiles: readonly HTMLElement[]): number {
  const rest = tiles.filter(each => each !== tile);
  return rest.indexOf(node) + (isAfter ? 1 : 0);
}

function unmark(tiles: readonly HTMLElement[]): void {
  for (const tile of tiles) tile.classList.remove(BEFORE, AFTER, ROW);
}
