/**
 * The text around a result, from the static rendering saved with it: size and range, notices, totals, footer. It is
 * inserted as text, never as HTML.
 */

import { formatCount, plural } from '../../../../kernel/text.js';
import { element } from '../../ui/dom.js';
import { ARROW_MIME } from '../grid-mime.js';

/** The text around the table of an output. */
export interface Surroundings {
  readonly heading: string;
  /** The exact window of a range given in words. */
  readonly window: string;
  readonly notices: readonly { readonly level: string; readonly text: string }[];
  /** Folded tables below the result, such as totals. */
  readonly folded: readonly HTMLElement[];
  readonly footer: string;
}

/** Returns a heading in parts between which lines may break; within a part they break between words, not at the hyphens of a time. */
export function headingParts(text: string): readonly (string | HTMLElement)[] {
  return text.split(SEPARATOR).flatMap((part, place) => {
    const words = part
      .split(/(\S*-\S*)/)
      .map((each, at) => (at % 2 === 0 ? each : element('span', {}, each)));
    return [...(place === 0 ? [] : [SEPARATOR]), element('span', {}, ...words)];
  });
}

const SEPARATOR = ' \u00b7 ';

/** Reads the surroundings from an output's data and metadata; missing ones are empty. */
export function surroundings(
  data: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>>,
): Surroundings {
  const html = data['text/html'];
  const page = new DOMParser().parseFromString(typeof html === 'string' ? html : '', 'text/html');
  const textOf = (selector: string) => page.querySelector(selector)?.textContent?.trim() ?? '';
  return {
    heading: textOf('.apl-size'),
    window: page.querySelector('.apl-size span[title]')?.getAttribute('title') ?? '',
    notices: noticesOf(metadata.apl),
    folded: [...page.querySelectorAll('details.apl-more')].map(copyOfFolded),
    footer: textOf('.apl-foot'),
  };
}

/**
 * Returns a result that is shown as saved, rebuilt from its text: a comparison of one row, whose figures are below each
 * other. Undefined for one that is shown as a grid.
 */
export function stillResult(
  data: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>>,
): HTMLElement | undefined {
  const html = data['text/html'];
  const page = new DOMParser().parseFromString(typeof html === 'string' ? html : '', 'text/html');
  const table = page.querySelector('table.apl-across');
  if (table === null) return undefined;
  const { heading, window, notices, folded, footer } = surroundings(data, metadata);
  return element(
    'div',
    { class: 'apl-grid' },
    ...noticeList(notices),
    element(
      'p',
      { class: 'apl-grid-heading', title: window === '' ? undefined : window },
      ...headingParts(heading),
    ),
    element('div', { class: 'apl-grid-still' }, copyOfTable(table)),
    ...folded,
    element('p', { class: 'apl-grid-foot' }, footer),
  );
}

/** The size of a result, and the table of its first rows and columns in the notebook. */
interface Sizes {
  readonly rows: number;
  readonly columns: number;
  readonly table: { readonly numRows: number; readonly numCols: number };
}

/** Describes the part of a result that is shown: what the notebook has of it without a kernel, or the matching rows; empty for all. */
export function sizeText(
  { rows, columns, table }: Sizes,
  { canCompute, count }: { readonly canCompute: boolean; readonly count: number },
): string {
  const saved = [
    ...(table.numRows < rows ? [`${formatCount(table.numRows)} of ${plural(rows, 'row')}`] : []),
    ...(table.numCols < columns ? [`${formatCount(table.numCols)} of ${plural(columns, 'column')}`] : []),
  ];
  if (!canCompute && saved.length > 0)
    return `The first ${saved.join(' and ')}, as saved in the notebook; run the cell again to see all.`;
  return count === rows ? '' : `${formatCount(count)} of ${plural(rows, 'row')} match.`;
}

/** Returns the list of notices; backticks enclose code. */
export function noticeList(notices: Surroundings['notices']): readonly HTMLElement[] {
  if (notices.length === 0) return [];
  const items = notices.map(({ level, text }) => {
    const parts = text.split(/`([^`]+)`/);
    const nodes = parts.map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)));
    return element('li', { class: level === 'warn' && 'apl-grid-warn' }, ...nodes);
  });
  return [element('ul', { class: 'apl-grid-notices' }, ...items)];
}

function noticesOf(apl: unknown): Surroundings['notices'] {
  if (typeof apl !== 'object' || apl === null || !('limits' in apl) || !Array.isArray(apl.limits)) return [];
  return apl.limits.filter(isNotice);
}

function isNotice(value: unknown): value is Surroundings['notices'][number] {
  return (
    typeof value === 'object' &&
    value !== null &&
    'text' in value &&
    typeof value.text === 'string' &&
    'level' in value &&
    typeof value.level === 'string'
  );
}

/** Returns a folded table, rebuilt from its text. */
function copyOfFolded(details: Element): HTMLElement {
  const summary = element('summary', {}, details.querySelector('summary')?.textContent ?? '');
  return element('details', { class: 'apl-grid-more' }, summary, copyOfTable(details));
}

function copyOfTable(part: Element): HTMLElement {
  const rows = [...part.querySelectorAll('tr')].map(row =>
    element(
      'tr',
      {},
      ...[...row.children].map(cell =>
        element(
          cell.tagName === 'TH' ? 'th' : 'td',
          { scope: cell.getAttribute('scope') ?? undefined, title: cell.getAttribute('title') ?? undefined },
          cell.textContent ?? '',
        ),
      ),
    ),
  );
  return element('table', {}, ...rows);
}

/** Returns the bytes of the Arrow stream of an output; undefined if there is none. */
export function arrowBytes(data: Readonly<Record<string, unknown>>): Uint8Array | undefined {
  const text = data[ARROW_MIME];
  if (typeof text !== 'string') return undefined;
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}
