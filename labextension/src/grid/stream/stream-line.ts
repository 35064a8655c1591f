import { cut, isolated, visible, visibleLines } from '../../../../kernel/text.js';
import { element } from '../../ui/dom.js';
import type { Rows } from '../data/grid-rows.js';
import { type GridColumn, nameOf, type ShownCell } from '../grid-cells.js';
import { traceButton, type ViewModel } from '../grid-view.js';
import { type Roles, repeatsTime } from './stream-roles.js';

/** The parts of a line in order, each with its column. */
export interface Line {
  readonly node: HTMLElement;
  readonly parts: ReadonlyMap<HTMLElement, GridColumn>;
}

/** Maximum length of a wrapped message, and of any tooltip, in characters; the row's details have the full value. */
const WRAPPED_LENGTH = 2_000;
/** A message longer than this gets a line of its own when wrapped. */
const SHORT_LENGTH = 60;

/** Creates the line of a row: its time, level and message, and a chip for each other value present. */
export function lineOf(
  rows: Rows,
  row: number,
  roles: Roles,
  { zone, isWrapped, hasTrace }: Pick<ViewModel, 'zone' | 'isWrapped' | 'hasTrace'>,
): Line {
  const parts = new Map<HTMLElement, GridColumn>();
  const part = (column: GridColumn, name: string, shown: ShownCell, ...content: readonly Node[]) => {
    const tone = shown.exact === null ? 'null' : shown.tone;
    const node = element(
      'span',
      {
        role: 'gridcell',
        class: `apl-stream-${name}${tone === undefined ? '' : ` apl-stream-${tone}`}`,
        title: [nameOf(column), shown.exact ?? 'null']
          .map(text => isolated(visible(cut(text, WRAPPED_LENGTH))))
          .join(': '),
      },
      ...content,
    );
    parts.set(node, column);
    return node;
  };
  const hasOthers = roles.others.some(column => !isEmpty(rows.cell(row, column, zone)));
  const text = (column: GridColumn | undefined, name: string): readonly HTMLElement[] => {
    if (column === undefined) return [];
    const shown = rows.cell(row, column, zone);
    // An event without a level shows none, and one without a message consists of its other values.
    if (isEmpty(shown) && (name === 'level' || (name === 'message' && hasOthers))) return [];
    const isWhole = isWrapped && name === 'message' && shown.exact !== null && shown.exact.trim() !== '';
    const written = isWhole ? visibleLines(cut(shown.exact, WRAPPED_LENGTH)) : shown.text;
    const node = part(column, name, shown, document.createTextNode(written));
    node.classList.toggle('apl-stream-long', name === 'message' && written.length > SHORT_LENGTH);
    return [node];
  };
  const time = roles.time && rows.cell(row, roles.time, zone).exact;
  const chips = roles.others.flatMap(column => {
    const shown = rows.cell(row, column, zone);
    // Empty values and repeated times are not part of the line; the table shows them.
    if (isEmpty(shown) || repeatsTime(shown.exact ?? '', time)) return [];
    return [
      part(
        column,
        'chip',
        shown,
        element('span', {}, `${nameOf(column)} `),
        document.createTextNode(shown.text),
        ...(hasTrace(column, row) ? [traceButton()] : []),
      ),
    ];
  });
  const level = roles.level && rows.cell(row, roles.level, zone).tone;
  const node = element(
    'div',
    {
      role: 'row',
      'aria-rowindex': row + 1,
      class: `apl-stream-line${level === undefined ? '' : ` apl-stream-${level}`}`,
    },
    ...text(roles.time, 'time'),
    ...text(roles.level, 'level'),
    ...text(roles.message, 'message'),
    ...(chips.length === 0
      ? []
      : [element('span', { role: 'presentation', class: 'apl-stream-rest' }, ...chips)]),
  );
  // A row without values still has a cell.
  if (parts.size === 0) node.append(element('span', { role: 'gridcell' }));
  return { node, parts };
}

function isEmpty({ exact }: ShownCell): boolean {
  return exact === null || exact === '';
}
