/** All fields of one row with their full values, and JSON as a tree whose paths can be copied. */

import { writtenName } from '../../../../kernel/apl/catalog/catalog-written.js';
import { writtenText } from '../../../../kernel/apl/syntax/tokens/quote.js';
import { typeWord } from '../../../../kernel/result/display/display-text.js';
import { cut, plural, visibleLines } from '../../../../kernel/text.js';
import { toClipboard } from '../../ui/clipboard.js';
import { button, element } from '../../ui/dom.js';
import { type GridColumn, nameOf } from '../grid-cells.js';

/** A row as exact strings, in the order of its columns. */
export interface Row {
  readonly number: number;
  readonly columns: readonly GridColumn[];
  readonly cells: readonly (string | null)[];
}

/** Members of an object or a list to build at a time: building 100,000 would block the page. */
const MEMBERS_AT_ONCE = 200;

/** Maximum length of a field name in a tooltip. */
const TITLE_LENGTH = 2_000;

/** Initially open depth of JSON; deeper nodes are built when their parent is opened. */
const OPEN_DEPTH = 1;

/** Returns the details of a row; their button calls `close`. */
export function detailsOf(row: Row, close: () => void): HTMLElement {
  return element(
    'section',
    { class: 'apl-grid-details', 'aria-label': `Row ${row.number}` },
    element(
      'header',
      {},
      element('strong', {}, `Row ${row.number.toLocaleString('en-US')}`),
      button('\u2715', 'Close the row', close),
    ),
    fieldList(row.columns.map((column, index) => [column, row.cells[index] ?? null])),
  );
}

/** Returns a list of fields with their full values, JSON as trees; null for a null. */
export function fieldList(fields: readonly (readonly [GridColumn, string | null])[]): HTMLElement {
  const parts = fields.flatMap(([column, cell]) => [
    element(
      'dt',
      { title: visibleLines(`${cut(column.name, TITLE_LENGTH)}\n${typeWord(column.type)}`) },
      nameOf(column),
    ),
    element('dd', cell === null ? { class: 'apl-grid-null' } : {}, valueNode(column, cell)),
  ]);
  return element('dl', {}, ...parts);
}

function valueNode(column: GridColumn, cell: string | null): Node {
  if (cell === null) return document.createTextNode('null');
  const json = parsed(column, cell);
  if (typeof json === 'object' && json !== null) return treeOf(json, writtenName(column.name), 0);
  return element('span', { class: 'apl-grid-text' }, cell === '' ? '""' : visibleLines(cell));
}

/** Returns the parsed value of a JSON cell, or of a string with an object or a list. */
function parsed(column: GridColumn, cell: string): unknown {
  if (column.isNumeric || !/^\s*[[{]/.test(cell)) return undefined;
  try {
    return JSON.parse(cell, exactNumber);
  } catch {
    return undefined;
  }
}

/** The digits of a number as written: a double would lose some of a large integer. */
class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

interface SourceContext {
  readonly source?: string;
}

function exactNumber(this: unknown, _key: string, value: unknown, context?: SourceContext): unknown {
  return typeof value === 'number' ? new Digits(context?.source ?? String(value)) : value;
}

function treeOf(value: object, path: string, depth: number): HTMLElement {
  const list = element('ul', { class: 'apl-grid-tree' });
  const members = Object.entries(value);
  const itemOf = ([key, member]: readonly [string, unknown]) => {
    const memberPath = Array.isArray(value)
      ? `${path}[${key}]`
      : /^[A-Za-z_]\w*$/.test(key)
        ? `${path}.${key}`
        : `${path}[${writtenText(key)}]`;
    return element('li', {}, ...memberOf(key, member, memberPath, depth));
  };
  const addFrom = (from: number): void => {
    list.append(...members.slice(from, from + MEMBERS_AT_ONCE).map(itemOf));
    const left = members.length - from - MEMBERS_AT_ONCE;
    if (left <= 0) return;
    const label = `Show more (${plural(left, 'member')} left)`;
    const more = element(
      'li',
      {},
      button(label, label, () => {
        more.remove();
        addFrom(from + MEMBERS_AT_ONCE);
      }),
    );
    list.append(more);
  };
  addFrom(0);
  return list;
}

function memberOf(key: string, member: unknown, path: string, depth: number): readonly Node[] {
  const copy = button(visibleLines(key), `Copy the path ${path}`, () => void toClipboard(path));
  copy.classList.add('apl-grid-key');
  if (typeof member !== 'object' || member === null || member instanceof Digits)
    return [
      copy,
      document.createTextNode(' '),
      element('span', { class: `apl-grid-json-${kindOf(member)}` }, scalarText(member)),
    ];
  const size = Object.keys(member).length;
  const summary = Array.isArray(member) ? `[${size}]` : `{${size}}`;
  const details = element('details', { open: depth < OPEN_DEPTH }, element('summary', {}, summary));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(treeOf(member, path, depth + 1));
  };
  details.addEventListener('toggle', fill);
  fill();
  return [copy, details];
}

function kindOf(value: unknown): string {
  return value instanceof Digits ? 'number' : value === null ? 'null' : typeof value;
}

function scalarText(value: unknown): string {
  if (value instanceof Digits) return value.text;
  return typeof value === 'string' ? visibleLines(JSON.stringify(value)) : String(value);
}
