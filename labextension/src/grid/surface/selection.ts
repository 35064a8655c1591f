/** The header row, above the first. */
export const HEAD_ROW = -1;

/** A cell by the indexes of its column, among those shown, and of its row, or the header of a column. */
export interface CellPlace {
  readonly x: number;
  readonly y: number;
}

/** A block of cells, from its start to its end; headers alone represent their columns. */
export interface Selection {
  readonly anchor: CellPlace;
  readonly focus: CellPlace;
}

/** Returns true for headers, which stay in place as rows change. */
export function isOfHeads({ anchor, focus }: Selection): boolean {
  return Math.max(anchor.y, focus.y) === HEAD_ROW;
}

/** Returns the edges of a selection, all inclusive; `bottom` is infinite for whole columns. */
export function inBlock(selection: Selection) {
  const { anchor, focus } = selection;
  return {
    left: Math.min(anchor.x, focus.x),
    right: Math.max(anchor.x, focus.x),
    top: Math.min(anchor.y, focus.y),
    bottom: isOfHeads(selection) ? Number.POSITIVE_INFINITY : Math.max(anchor.y, focus.y),
  };
}

/** Returns true for a cell of a selection. */
export function isIn(selection: Selection, { x, y }: CellPlace): boolean {
  const { left, right, top, bottom } = inBlock(selection);
  return x >= left && x <= right && y >= top && y <= bottom;
}
