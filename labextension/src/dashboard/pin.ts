/** Whether and how a cell is on the dashboard, in its metadata, so that it is there when the notebook is opened again. */

/** How a cell is shown on the dashboard. */
export interface Pin {
  /** Whether it has the whole width. */
  readonly isWide: boolean;
  /** Whether the table of a chart is shown too. */
  readonly showsTable: boolean;
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
  const { wide, table } = dashboard as { readonly wide?: unknown; readonly table?: unknown };
  return { isWide: wide === true, showsTable: table === true };
}

/** Puts a cell on the dashboard, changes how it is shown there, or removes it. */
export function setPin(cell: Model, pin: Pin | undefined): void {
  const { dashboard: _, ...rest } = partOf(cell);
  const written = pin && {
    ...(pin.isWide ? { wide: true } : {}),
    ...(pin.showsTable ? { table: true } : {}),
  };
  const dashboard = written !== undefined && Object.keys(written).length === 0 ? true : written;
  const part = dashboard === undefined ? rest : { ...rest, dashboard };
  if (Object.keys(part).length === 0) cell.deleteMetadata(KEY);
  else cell.setMetadata(KEY, part);
}

const KEY = 'apl';

/** What the metadata of a cell, which a stranger may have written, say of it. */
function partOf(cell: Model): Readonly<Record<string, unknown>> {
  const part: unknown = cell.getMetadata(KEY);
  return typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>) : {};
}
