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
  const those = 'Add and run a cell below with the events within 30 s of this one';
  const buttons = [
    ...(all === undefined ? [] : [button('All events', those, all)]),
    ...(same === undefined
      ? []
      : [button('Same value', `${those} and with the same ${nameOf(column)}`, same)]),
    ...(trace === undefined
      ? []
      : [button('Trace', 'Add and run a cell below that draws the trace of this event', trace)]),
  ];
  return buttons.length === 0 ? [] : [[element('span', {}, 'Nearby'), ...buttons]];
}

const EXPLAIN =
  'Add and run a cell below that shows what distinguishes these events from the others; the query does not change';

/** Returns the content of the menu of a value: first read-only actions, then those on the grid, then those on the query. */
export function valueMenu(column: GridColumn, actions: ValueActions): readonly Node[] {
  const row = (...buttons: readonly Node[]) => element('div', { class: 'apl-grid-row' }, ...buttons);
  const choices = (where: string, keep: HTMLElement, leave: HTMLElement) =>
    row(element('span', {}, where), keep, leave);
  const here = choices(
    'In this table',
    button('Keep only', `Show only rows with this ${nameOf(column)}; the query does not change`, () =>
      actions.filter('=='),
    ),
    button('Exclude', `Hide rows with this ${nameOf(column)}; the query does not change`, () =>
      actions.filter('!='),
    ),
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
      button('Keep only', 'Add a where line to the query that keeps only this value', () =>
        actions.condition(true),
      ),
      button('Exclude', 'Add a where line to the query that excludes this value', () =>
        actions.condition(false),
      ),
    ),
  ];
}
