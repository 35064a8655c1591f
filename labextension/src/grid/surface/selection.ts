/** A cell by the places of its column, among those shown, and of its row. */
export interface CellPlace {
  readonly x: number;
  readonly y: number;
}

/** A block of cells, from the one where it was begun to the one where it ends. */
export interface Selection {
  readonly anchor: CellPlace;
  readonly focus: CellPlace;
}

/** Returns the edges of a selection, all inclusive. */
export function inBlock({ anchor, focus }: Selection) {
  return {
    left: Math.min(anchor.x, focus.x),
    right: Math.max(anchor.x, focus.x),
    top: Math.min(anchor.y, focus.y),
    bottom: Math.max(anchor.y, focus.y),
  };
}
