/** Whether and how a cell is on the dashboard, in its metadata, so that it is there when the notebook is opened again. */

import { present } from '../../../kernel/present.js';

/** How a cell is shown on the dashboard. */
export interface Pin {
  /** Whether it has the whole width. */
  readonly isWide: boolean;
  /** Whether the table of a chart is shown too. */
  readonly showsTable: boolean;
  /** Its place among the tiles, from 0; those without one come last, in the order of the notebook. */
  readonly place?: number;
}

/** The metadata of a cell. */
interface Model {
  getMetadata(name: string): unknown;
  setMetadata(name: string, value: unknown): void;
  deleteMetadata(name: string): void;
}

/** Returns how a cell is shown on the dashboard; undefined if it is not there. */
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

/** Puts a cell on the dashboard, changes how it is shown there, or removes it. */
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

/** Gives each pinned cell the place that it has in a list. */
export function setPlaces(cells: readonly { readonly model: Model }[]): void {
  for (const [place, { model }] of cells.entries()) {
    const pin = pinOf(model);
    if (pin !== undefined && pin.place !== place) setPin(model, { ...pin, place });
  }
}

const KEY = 'apl';

/** What the metadata of a cell, which a stranger may have written, say of it. */
function partOf(cell: Model): Readonly<Record<string, unknown>> {
  const part: unknown = cell.getMetadata(KEY);
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
}
