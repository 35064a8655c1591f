/** Sizes and colors that all charts share, and building blocks of their Vega specifications. */

import type { Signal } from 'vega';
import { present } from '../../../present.js';
import { distinctLabels } from '../labels.js';
import type { Entry, KeyValue } from '../palette.js';

/** What one kind of chart contributes to the specification. */
export interface Drawing {
  /** A group for each plot, one below the other; plain marks where `height` is given. */
  readonly marks: readonly object[];
  /** The rows of the marks by the name of their data set. */
  readonly data: readonly object[];
  /** Scales that several plots share. */
  readonly scales?: readonly object[];
  readonly legends?: readonly object[];
  /** Strings of the data by their ids in scales and rows: none of them becomes part of an expression. */
  readonly labels: Readonly<Record<string, string>>;
  /** Titles of axes by their index, for `titlePlace`. */
  readonly titles: readonly string[];
  /** Pixels beside the plots, as an expression of `outer`, the width of the output. */
  readonly beside: string;
  readonly signals?: readonly Signal[];
  /** For JupyterLab's extension: facts about the horizontal axis and the groups behind marks; absent if there are none. */
  readonly facts?: object;
  /** Height of a drawing without plots, as an expression. */
  readonly height?: string;
}

/** Width of an image whose output has no width yet, in pixels. */
export const SVG_WIDTH = 766;
/** Space for the labels of a vertical axis of numbers, the same for all plots, and for everything beside a plot. */
export const LABELS_WIDTH = 58;
export const BESIDE_WIDTH = LABELS_WIDTH + 34;
export const TICKS = 5;
/** Width of an average character, in pixels. */
const CHARACTER_WIDTH = 6.5;

/** Width of a character as Vega measures it without a screen, in pixels. */
const MEASURED_WIDTH = 8.8;

/** Returns the width of a string in most fonts, in pixels; rather too much than too little. */
function textWidth(text: string): number {
  const wide = text.match(/[A-Z@%mw_]/g)?.length ?? 0;
  const full = text.match(/[^\0-\u02ff]/g)?.length ?? 0;
  return Math.ceil(text.length * CHARACTER_WIDTH + wide * 2 + full * 5.5);
}

/** Returns the width of the widest string, in pixels. */
export function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
}

/** A part of a chart that may represent groups of a result: a bar, a row of cells, a series. */
export interface Part {
  readonly of?: readonly KeyValue[];
}

/** Returns the groups of the result that parts of a chart represent, by the ids of the data; undefined if there are none. */
export function partFacts(
  lists: readonly (readonly [idOf: (index: number) => string, parts: readonly Part[]])[],
): { readonly parts: object } | undefined {
  const found = lists.flatMap(([idOf, parts]) =>
    parts.flatMap(({ of }, index) => (of === undefined ? [] : [[idOf(index), of] as const])),
  );
  return found.length === 0 ? undefined : { parts: Object.fromEntries(found) };
}

/** Signals that hold the strings of the data. */
export const LABELS_SIGNAL = 'shownLabels';
export const TITLES_SIGNAL = 'shownTitles';
/** Signal with the visible part of the horizontal axis; null for all of it. */
export const SHOWN = 'shownWindow';

/** Grays with a contrast of at least 4:1 against white and near-black. */
export const TEXT_COLOR = '#7b818c';
const LINE_COLOR = '#8a909a';

const FONT = { font: 'system-ui, -apple-system, "Segoe UI", sans-serif' };
const GUIDE = {
  labelColor: TEXT_COLOR,
  titleColor: TEXT_COLOR,
  labelFontSize: 11,
  titleFontSize: 11,
  titleFontWeight: 'normal',
  aria: false,
};

export const CONFIG = {
  axis: {
    ...GUIDE,
    domainColor: LINE_COLOR,
    tickColor: LINE_COLOR,
    gridColor: LINE_COLOR,
    gridOpacity: 0.25,
  },
  legend: { ...GUIDE, symbolStrokeWidth: 3 },
  style: { 'guide-label': FONT, 'guide-title': FONT, 'group-title': FONT, 'group-subtitle': FONT },
  text: FONT,
};

/** Returns a member of the encoding that depends on a row. */
export const at = (scale: string, field: string) => ({ scale, field });

/** Returns a mark for each row of `data`, encoded by `update`; strings of the data are values of fields. */
export function mark(type: string, data: string, update: object, more: object = {}): object {
  return { type, from: { data }, aria: false, encode: { update }, ...more };
}

/** Members of a mark that ends at its plot if the axis is zoomed, and does not react to the pointer. */
export const CLIPPED = { clip: { signal: `${SHOWN} !== null` }, interactive: false };

/** Returns the plot of a height with its own scales and axes; its width is the signal `width`. */
export function plotGroup(height: number, parts: object): object {
  return {
    type: 'group',
    encode: { update: { width: { signal: 'width' }, height: { value: height } } },
    ...parts,
  };
}

const isPicked = (id: string) => `picked === '' || indexof(picked, ' ' + ${id} + ' ') >= 0`;

/** Returns the opacity of a mark of a series: it fades while others are picked in the legend. */
export function faded(own: number | string = 1): object {
  return { signal: `${isPicked('datum.s')} ? ${own} : 0.07` };
}

/** Returns the id of a series in the data. Vega keeps groups in plain objects, where a name such as `__proto__` would break the chart. */
export function seriesId(index: number): string {
  return `l${index}`;
}

/** Length of a name if the chart is too narrow for whole ones, and of a slanted name below a column. */
export const SHORT_NAME = 24;
const MEDIUM_NAME = 36;
const SLANTED_NAME = 18;
const SHORT = '~';
const MEDIUM = '~~';

/** Names beside or below a chart: their labels by id, the space they take as a signal, and their axis. */
export interface NameAxis {
  readonly labels: Readonly<Record<string, string>>;
  readonly width: string;
  readonly signal: Signal;
  readonly guide: object;
}

const NO_FRAME = { labelOverlap: false, ticks: false, domain: false, zindex: 1 };
const NAMES_SIGNAL = 'namesWidth';

/**
 * Returns the axis of names beside a chart: whole if they take less than half of the output, otherwise shortened to fit, no two the same.
 */
export function namesBeside(names: readonly string[], idOf: (index: number) => string): NameAxis {
  const medium = distinctLabels(names, MEDIUM_NAME);
  const short = distinctLabels(names, SHORT_NAME);
  const [wide, less, least] = [names, medium, short].map(each => 12 + widest(each));
  const room = 'outer * 0.45';
  const isMedium = `${room} < ${wide} && ${room} >= ${less}`;
  const isShort = `${room} < min(${wide}, ${less})`;
  const width = { signal: NAMES_SIGNAL };
  return {
    labels: { ...withShort(names, idOf, medium, MEDIUM), ...withShort(names, idOf, short) },
    width: NAMES_SIGNAL,
    signal: {
      name: NAMES_SIGNAL,
      update: `${isShort} ? min(${least}, ${room}) : ${isMedium} ? ${less} : ${wide}`,
    },
    guide: {
      ...NO_FRAME,
      orient: 'left',
      ...labeled(`((${isMedium}) && ${LABELS_SIGNAL}[datum.value + '${MEDIUM}']) || ${labelWhere(isShort)}`),
      labelLimit: { signal: `${isShort} ? ${NAMES_SIGNAL} - 8 : 0` },
      minExtent: width,
      maxExtent: width,
    },
  };
}

/** Returns the axis of names below the columns of a chart. */
export function namesBelow(
  names: readonly string[],
  idOf: (index: number) => string,
): Pick<NameAxis, 'labels' | 'guide'> {
  return {
    labels: withShort(names, idOf, distinctLabels(names, SLANTED_NAME)),
    guide: {
      ...NO_FRAME,
      orient: 'bottom',
      ...labeled(labelWhere('true')),
      labelAngle: -40,
      labelAlign: 'right',
      labelBaseline: 'top',
      labelLimit: 0,
    },
  };
}

/** Returns the names of series by their ids, as `seriesGuide` shows them. */
export function seriesLabels(legend: readonly Entry[]): Readonly<Record<string, string>> {
  const names = legend.map(({ label }) => label);
  return withShort(names, seriesId, distinctLabels(names, SHORT_NAME));
}

/** Returns the option that makes an axis or a legend format its labels by an expression of `datum.value`. */
export function labeled(text: string): object {
  return { encode: { labels: { update: { text: { signal: text } } } } };
}

function labelWhere(isShort: string): string {
  return `((${isShort}) && ${LABELS_SIGNAL}[datum.value + '${SHORT}']) || ${LABELS_SIGNAL}[datum.value]`;
}

/** Returns labels by the ids from `idOf`, including shortened ones. */
export function withShort(
  names: readonly string[],
  idOf: (index: number) => string,
  short: readonly string[],
  mark = SHORT,
): Readonly<Record<string, string>> {
  const whole = names.map((label, index) => [idOf(index), label] as const);
  const changed = short.flatMap((label, index) =>
    label === names[index] ? [] : [[`${idOf(index)}${mark}`, label] as const],
  );
  return Object.fromEntries([...whole, ...changed]);
}

/** Returns a title by reference: Vega looks up literal titles in plain objects, where `constructor` would be found. */
export function titlePlace(index: number): object {
  return { signal: `${TITLES_SIGNAL}[${index}]` };
}

/** Returns the scales `color` and `dash` of series, with the legend below the plots that names them; empty without series. */
export function seriesGuide(
  legend: readonly Entry[],
  symbolType: 'stroke' | 'square' | 'circle',
): Pick<Drawing, 'scales' | 'legends'> {
  if (legend.length === 0) return { scales: [], legends: [] };
  const domain = legend.map((_, index) => seriesId(index));
  const longest = legend.reduce((most, { label }) => Math.max(most, label.length), 0);
  const isShort = `width - 30 < ${Math.ceil(longest * MEASURED_WIDTH)}`;
  const isDashed = symbolType === 'stroke' && legend.some(({ look }) => look.dash[1] !== 0);
  const scale = (name: string, range: readonly unknown[]) => ({ name, type: 'ordinal', domain, range });
  // Clicking a name picks its series; clicking another adds that one.
  const part = (name: string, own: object) => ({
    name,
    interactive: true,
    update: {
      ...own,
      cursor: { value: 'pointer' },
      opacity: { signal: `${isPicked('datum.value')} ? 1 : 0.35` },
    },
  });
  const looks = legend.map(({ look }) => look);
  const colors = looks.map(({ color }) => color);
  const dashes = looks.map(({ dash }) => dash);
  return {
    scales: [scale('color', colors), ...(isDashed ? [scale('dash', dashes)] : [])],
    legends: [
      {
        ...present({ strokeDash: isDashed ? 'dash' : undefined }),
        [symbolType === 'stroke' ? 'stroke' : 'fill']: 'color',
        orient: 'bottom',
        direction: 'horizontal',
        columns: { signal: `max(1, floor(width / ${Math.ceil(longest * CHARACTER_WIDTH) + 40}))` },
        labelLimit: { signal: 'width - 30' },
        symbolLimit: 0,
        symbolOpacity: 1,
        symbolType,
        encode: {
          labels: part('pickLabel', { text: { signal: labelWhere(isShort) } }),
          symbols: part('pickSymbol', {}),
        },
      },
    ],
  };
}
