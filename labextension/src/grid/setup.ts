/** A reader's setup of a grid, with which the next run of its cell begins. */
import type { Filter, SortKey, View } from '../../../kernel/notebook/results/result-protocol.js';
import { cut, plural, visible } from '../../../kernel/text.js';
import { type GridColumn, nameOf } from './grid-cells.js';
import type { ColumnLayout, ColumnSetup } from './surface/surface-columns.js';

/** Maximum length of a filter on its button. */
const FILTER_LENGTH = 80;

/** What is shown of a result, and how; none of its rows. */
export interface Setup {
  readonly view: View;
  /** Types of the fields that the view names: a comparison only makes sense for its own type. */
  readonly types: ReadonlyMap<string, string>;
  readonly columns: ColumnSetup;
  readonly isWrapped: boolean;
  /** True for a stream, false for a table; undefined without a choice. */
  readonly isStream: boolean | undefined;
}

/** Storage of a setup between runs of a cell. */
export interface SetupStore {
  setup: Setup | undefined;
}

/** Returns the view of a setup, without keys and filters of fields that are gone or have another type. */
export function viewOf({ view, types }: Setup, columns: readonly GridColumn[]): View {
  const isSame = (name: string) => columns.some(each => each.name === name && each.type === types.get(name));
  const hasFields = (filter: Filter) => !('column' in filter) || isSame(filter.column);
  return {
    sort: (view.sort ?? []).filter(({ column }) => isSame(column)),
    filters: (view.filters ?? []).filter(hasFields),
    search: view.search ?? '',
  };
}

/** Returns true for a view of all rows in their original order. */
export function isPlain({ sort = [], filters = [], search = '' }: View): boolean {
  return sort.length + filters.length + search.length === 0;
}

/** Describes the changes a setup makes to a grid; empty if there are none. */
export function wordsOf(
  { sort = [], filters = [], search = '' }: View,
  layout: ColumnLayout,
  { isWrapped, isStream }: Pick<Setup, 'isWrapped' | 'isStream'>,
): readonly string[] {
  const { hidden, pinned, order, widths } = layout.setup;
  const count = (columns: readonly unknown[], what: string) =>
    columns.length === 0 ? [] : [`${plural(columns.length, 'column')} ${what}`];
  const keys = sort.map(
    ({ column, descending }) => `${nameOf({ name: column })} ${descending ? '\u2193' : '\u2191'}`,
  );
  return [
    ...(keys.length === 0 ? [] : [`sorted by ${keys.join(', ')}`]),
    ...(filters.length === 0 ? [] : [plural(filters.length, 'filter')]),
    ...(search === '' ? [] : ['search']),
    ...count(hidden, 'hidden'),
    ...count(pinned, 'pinned'),
    ...(order === undefined ? [] : ['columns moved']),
    ...(widths.size === 0 ? [] : ['widths']),
    ...(isWrapped ? ['wrapped'] : []),
    ...(isStream === undefined ? [] : [isStream ? 'as a stream' : 'as a table']),
  ];
}

/** Describes a filter, short enough for a button. */
export function filterText(filter: Filter): string {
  if ('expression' in filter) return visible(filter.expression);
  const value = filter.value === null ? 'null' : filter.value === '' ? '""' : String(filter.value);
  return cut(visible(`${filter.column} ${filter.op} ${value}`), FILTER_LENGTH);
}

/** Returns the next sort key: a click sorts ascending, the next descending, the third not at all. */
export function nextKey(view: View, column: GridColumn): SortKey | undefined {
  const key = view.sort?.find(each => each.column === column.name);
  if (key === undefined) return { column: column.name, descending: false };
  return key.descending ? undefined : { column: column.name, descending: true };
}
