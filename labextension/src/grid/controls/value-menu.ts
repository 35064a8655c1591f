import type { Around } from '../../cell/cell-explain.js';
import { button, element } from '../../ui/dom.js';
import { type GridColumn, nameOf } from '../grid-cells.js';

/** The actions of a value's menu. */
export interface ValueActions {
  readonly canCompute: boolean;
  /** Adds a condition on the value to the query of the cell. */
  condition(keep: boolean): void;
  /** Filters only the grid. */
  filter(op: '==' | '!='): void;
  copy(): void;
  showRow(): void;
  /** Adds cells of the events around the row, and of its trace. */
  readonly around: Around;
  /** Adds a cell that explains the selected rows; undefined if there is no notebook. */
  readonly explain: (() => void) | undefined;
}

function aroundRow(column: GridColumn, { all, same, trace }: Around): readonly (readonly Node[])[] {
  const those = 'Add a cell below, and run it, with the events from 30 s before this one to 30 s after it';
  const buttons = [
    ...(all === undefined ? [] : [button('All events', those, all)]),
    ...(same === undefined ? [] : [button('Same value', `${those} that have this ${nameOf(column)}`, same)]),
    ...(trace === undefined
      ? []
      : [button('Trace', 'Add a cell below, and run it, that draws the trace of this event', trace)]),
  ];
  return buttons.length === 0 ? [] : [[element('span', {}, 'Around it'), ...buttons]];
}

const EXPLAIN =
  'Add a cell below, and run it, that shows what tells these events from the others; the query stays';

/** Returns the content of the menu of a value: first read-only actions, then those on the grid, then those on the query. */
export function valueMenu(column: GridColumn, actions: ValueActions): readonly Node[] {
  const row = (...buttons: readonly Node[]) => element('div', { class: 'apl-grid-row' }, ...buttons);
  const choices = (where: string, keep: HTMLElement, leave: HTMLElement) =>
    row(element('span', {}, where), keep, leave);
  const here = choices(
    'In this table',
    button('Keep only', `Show only rows with this ${nameOf(column)}; the query stays`, () =>
      actions.filter('=='),
    ),
    button('Leave out', `Hide rows with this ${nameOf(column)}; the query stays`, () => actions.filter('!=')),
  );
  return [
    row(
      button('Copy', 'Copy the exact value', actions.copy),
      button('Whole row', 'Show every field of the row', actions.showRow),
      ...(actions.explain === undefined ? [] : [button('Explain', EXPLAIN, actions.explain)]),
    ),
    ...aroundRow(column, actions.around).map(buttons => row(...buttons)),
    ...(actions.canCompute ? [here] : []),
    choices(
      'In the query',
      button('Keep only', 'Add a where line to the query that keeps this value', () =>
        actions.condition(true),
      ),
      button('Leave out', 'Add a where line to the query that leaves this value out', () =>
        actions.condition(false),
      ),
    ),
  ];
}
