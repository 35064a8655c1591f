/** The menu of a column: sorting, position, filter, and the profile of its values over all rows. */
import type { Filter, SortKey, View } from '../../../../kernel/notebook/results/result-protocol.js';
import { typeWord } from '../../../../kernel/result/display/display-text.js';
import { formatCount, visible } from '../../../../kernel/text.js';
import { button, element } from '../../ui/dom.js';
import type { Profile, RowSource } from '../data/grid-source.js';
import { type GridColumn, nameOf } from '../grid-cells.js';

/** The actions of a column's menu. */
export interface ColumnActions {
  readonly view: View;
  readonly source: Pick<RowSource, 'canCompute' | 'canArrange'>;
  readonly isPinned: boolean;
  sort(key: SortKey | undefined): void;
  filter(filter: Filter): void;
  togglePinned(): void;
  hide(): void;
  move(by: -1 | 1): void;
  copy(): void;
  /** Adds a condition on a value to the query of the cell. */
  condition(value: string | null, keep: boolean): void;
  profile(): Promise<Profile>;
}

/** Returns the sentence in place of actions that a source cannot do without a kernel. */
export function withoutKernel({ canArrange }: Pick<RowSource, 'canArrange'>): string {
  return canArrange
    ? 'Run the cell again to filter and to see column statistics.'
    : 'Run the cell again to sort, filter and search. These need all rows, which only the kernel has.';
}

/** Returns the content of a column's menu; its profile is added once it is loaded. */
export function columnMenu(column: GridColumn, actions: ColumnActions): readonly Node[] {
  const kind = [typeWord(column.type), column.unit].filter(Boolean).join(', ');
  const head = element('header', {}, element('strong', {}, nameOf(column)), ` ${kind}`);
  const place = element(
    'div',
    { class: 'apl-grid-row' },
    button(actions.isPinned ? 'Unpin' : 'Pin', 'Keep visible on the left', actions.togglePinned),
    button('\u2190', 'Move left', () => actions.move(-1)),
    button('\u2192', 'Move right', () => actions.move(1)),
    button('Hide', 'Hide the column', actions.hide),
    button('Copy', 'Copy the column', actions.copy),
  );
  const { source } = actions;
  if (!source.canCompute) {
    const sorting = source.canArrange ? [sortRow(column, actions)] : [];
    return [head, ...sorting, place, element('p', {}, withoutKernel(source))];
  }
  return [head, sortRow(column, actions), place, filterRow(column, actions), profileOf(column, actions)];
}

function sortRow(column: GridColumn, { view, sort }: ColumnActions): HTMLElement {
  const key = view.sort?.find(each => each.column === column.name);
  const order = (text: string, descending: boolean) => {
    const isOn = key?.descending === descending;
    const made = button(text, `${text}; press again to remove the sort`, () =>
      sort(isOn ? undefined : { column: column.name, descending }),
    );
    made.setAttribute('aria-pressed', String(isOn));
    return made;
  };
  return element(
    'div',
    { class: 'apl-grid-row' },
    order('\u2191 Ascending', false),
    order('\u2193 Descending', true),
  );
}

function filterRow(column: GridColumn, { filter }: ColumnActions): HTMLElement {
  const input = element('input', {
    type: 'text',
    class: 'apl-grid-input',
    placeholder: column.isNumeric ? '= 5, >= 100, != 0' : 'contains \u2026, or = exactly',
    'aria-label': `Filter ${nameOf(column)}`,
    spellcheck: 'false',
  });
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter' && input.value.trim() !== '') filter(typedFilter(column, input.value));
  });
  return element('div', { class: 'apl-grid-row' }, input);
}

/** Returns the filter for typed input: a string without an operator is searched for within the values, a number without one is compared. */
function typedFilter(column: GridColumn, typed: string): Filter {
  const [, sign = '', rest = ''] = /^\s*(==?|!=|>=|<=|>|<|!)?\s*(.*?)\s*$/s.exec(typed) ?? [];
  const op = { '=': '==', '': column.isNumeric ? '==' : 'contains', '!': '!contains' }[sign] ?? sign;
  return {
    column: column.name,
    op: op as Extract<Filter, { op: string }>['op'],
    value: rest === 'null' ? null : rest,
  };
}

function profileOf(column: GridColumn, actions: ColumnActions): HTMLElement {
  const host = element('div', { class: 'apl-grid-profile', 'aria-live': 'polite' }, 'Reading all rows\u2026');
  actions.profile().then(
    profile => host.replaceChildren(...profileNodes(column, profile, actions)),
    (error: unknown) => host.replaceChildren(visible(error instanceof Error ? error.message : String(error))),
  );
  return host;
}

function profileNodes(column: GridColumn, profile: Profile, actions: ColumnActions): readonly Node[] {
  const facts: [string, string][] = [
    ['rows', formatCount(profile.rows)],
    ['null', `${formatCount(profile.nulls)} (${percent(profile.nulls, profile.rows)})`],
    ['distinct', formatCount(profile.distinct)],
  ];
  if (profile.min !== null) facts.push(['min', profile.min]);
  if (profile.max !== null) facts.push(['max', profile.max]);
  const list = element(
    'dl',
    {},
    ...facts.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, visible(value))]),
  );
  return [list, ...histogram(column, profile), ...topValues(profile, actions)];
}

function topValues({ top, rows }: Profile, actions: ColumnActions): readonly Node[] {
  if (top.length === 0) return [];
  const most = Math.max(...top.map(({ count }) => count));
  const lines = top.map(({ value, count }) => {
    const bar = element('span', { class: 'apl-grid-share' });
    bar.style.width = `${(count / most) * 100}%`;
    return element(
      'li',
      {},
      bar,
      element(
        'span',
        { class: 'apl-grid-value', title: visible(value) },
        value === '' ? '""' : visible(value),
      ),
      element('span', { class: 'apl-grid-count' }, `${formatCount(count)} \u00b7 ${percent(count, rows)}`),
      button('=', 'Keep only this value in the query', () => actions.condition(value, true)),
      button('\u2260', 'Exclude this value from the query', () => actions.condition(value, false)),
    );
  });
  return [element('ul', { class: 'apl-grid-top' }, ...lines)];
}

const SVG = 'http://www.w3.org/2000/svg';

/** Returns bars of equal bins, with the range of each as a tooltip. */
function histogram(column: GridColumn, { histogram: bins }: Profile): readonly Node[] {
  if (bins === undefined || bins.length === 0) return [];
  const most = Math.max(...bins.map(({ count }) => count), 1);
  const chart = document.createElementNS(SVG, 'svg');
  chart.setAttribute('class', 'apl-grid-histogram');
  chart.setAttribute('viewBox', `0 0 ${bins.length} 1`);
  chart.setAttribute('preserveAspectRatio', 'none');
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', `Histogram of ${nameOf(column)}`);
  for (const [index, { from, to, count }] of bins.entries()) {
    const bar = document.createElementNS(SVG, 'rect');
    // A nonempty bin is always visible.
    const height = count === 0 ? 0 : Math.max(count / most, 0.03);
    const place = { x: index + 0.05, y: 1 - height, width: 0.9, height };
    for (const [name, value] of Object.entries(place)) bar.setAttribute(name, String(value));
    const title = document.createElementNS(SVG, 'title');
    title.textContent = `${visible(from)} to ${visible(to)}: ${formatCount(count)}`;
    bar.append(title);
    chart.append(bar);
  }
  return [chart];
}

function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  const share = (part / whole) * 100;
  return share < 0.1 ? '< 0.1 %' : `${share.toFixed(1)} %`;
}
