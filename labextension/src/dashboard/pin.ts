/** Whether and how a cell is on the dashboard, in its metadata, so that it persists when the notebook is reopened. */

import { present } from '../../../kernel/present.js';

/** How a cell appears on the dashboard. */
export interface Pin {
  /** Whether it has the full width. */
  readonly isWide: boolean;
  /** Whether the table below a chart is shown too. */
  readonly showsTable: boolean;
  /** Its index among the tiles, from 0; tiles without one come last, in the order of the notebook. */
  readonly place?: number;
}

/** The metadata of a cell. */
interface Model {
  getMetadata(name: string): unknown;
  setMetadata(name: string, value: unknown): void;
  deleteMetadata(name: string): void;
}

/** Returns how a cell appears on the dashboard; undefined if it is not pinned. */
export function pinOf(cell: Model): Pin | undefined {
  const { dashboard } = partOf(cell);
  if (dashboard === true) return { isWide: false, showsTable: false };
  if (typeof dashboard !== 'object' || dashboard === null) return undefined;
  const { wide, table, place } = dashboard as Readonly<Record<'wide' | 'table' | 'place', unknown>>;
  return {
    isWide: wide === true,
    showsTable: table === true,
    ...present({ place: Number.isSafeInteger(place) ? (place as number) : undefined }),
  };
}

/** Pins a cell to the dashboard, changes how it appears there, or removes it. */
export function setPin(cell: Model, pin: Pin | undefined): void {
  const { dashboard: _, ...rest } = partOf(cell);
  const written = pin && {
    ...(pin.isWide ? { wide: true } : {}),
    ...(pin.showsTable ? { table: true } : {}),
    ...present({ place: pin.place }),
  };
  const dashboard = written !== undefined && Object.keys(written).length === 0 ? true : written;
  const part = dashboard === undefined ? rest : { ...rest, dashboard };
  if (Object.keys(part).length === 0) cell.deleteMetadata(KEY);
  else cell.setMetadata(KEY, part);
}

/** Returns cells in the order of their tiles. */
export function inPlaces<Each extends { readonly model: Model }>(cells: readonly Each[]): readonly Each[] {
  const placeOf = ({ model }: Each): number => pinOf(model)?.place ?? Number.POSITIVE_INFINITY;
  return cells.toSorted((a, b) => {
    const [left, right] = [placeOf(a), placeOf(b)];
    return left === right ? 0 : left - right;
  });
}

/** Stores the index of each pinned cell in a list. */
export function setPlaces(cells: readonly { readonly model: Model }[]): void {
  for (const [place, { model }] of cells.entries()) {
    const pin = pinOf(model);
    if (pin !== undefined && pin.place !== place) setPin(model, { ...pin, place });
  }
}

const KEY = 'apl';

/** Returns the dashboard's part of a cell's untrusted metadata. */
function partOf(cell: Model): Readonly<Record<string, unknown>> {
  const part: unknown = cell.getMetadata(KEY);
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
}
