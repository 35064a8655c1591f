import type { IRenderMime } from '@jupyterlab/rendermime';
import type { Kernel } from '@jupyterlab/services';
import { Table } from 'apache-arrow';
import { showsEvents } from '../../../kernel/apl/editor/editor-events.js';
import type { ResultReference } from '../../../kernel/notebook/results/result-protocol.js';
import { tableOf } from '../../../kernel/result/ipc/codec.js';
import type { Explainer } from '../cell/cell-explain.js';
import { queryShown } from '../cell/query-shown.js';
import type { ZoneSetting } from '../link/link-zone.js';
import { arrowBytes, stillResult, surroundings } from './controls/grid-notes.js';
import { kernelRows } from './data/kernel-rows.js';
import { Grid } from './grid.js';
import { addGridStyle } from './grid-style.js';
import type { SetupStore } from './setup.js';
import { addStreamStyle } from './stream/stream-style.js';
import type { WrittenLine } from './surface/surface-place.js';

/** The connections of a grid to its notebook. */
export interface Connections {
  /** Identifies the result in the kernel; absent in outputs of other kernels. */
  readonly reference: ResultReference | undefined;
  kernel(): Kernel.IKernelConnection | undefined;
  addCondition(field: string, condition: string): WrittenLine | undefined;
  explainer(): Explainer | undefined;
  consoleLink(result: string, hear: (url: string) => void): void;
  leave(): void;
  readonly zone: ZoneSetting;
  readonly setups: SetupStore | undefined;
}

/** Resolves with the grid of an output, not started yet, or with an element if the result is shown as saved. */
export async function openResult(
  model: IRenderMime.IMimeModel,
  connections: Connections,
): Promise<Grid | HTMLElement> {
  addGridStyle();
  addStreamStyle();
  return stillResult(model.data, model.metadata) ?? openGrid(model, connections);
}

function openGrid(
  model: IRenderMime.IMimeModel,
  { reference, kernel, addCondition, explainer, consoleLink, leave, zone, setups }: Connections,
): Promise<Grid> {
  const bytes = arrowBytes(model.data);
  const table = bytes === undefined ? new Table() : tableOf(bytes);
  return Grid.create({
    table,
    rows: reference?.rows ?? table.numRows,
    columns: reference?.columns ?? table.numCols,
    surroundings: surroundings(model.data, model.metadata),
    isOfEvents: isOfEvents(model.metadata.apl),
    connect: lost => {
      const connection = kernel();
      if (reference === undefined || connection === undefined) return undefined;
      return kernelRows(connection, reference.id, lost);
    },
    addCondition,
    explainer,
    consoleLink: hear => (reference === undefined ? undefined : consoleLink(reference.id, hear)),
    leave,
    zone,
    setups,
  });
}

function isOfEvents(apl: unknown): boolean {
  const shown = queryShown(apl);
  return shown !== undefined && showsEvents(shown.query);
}
