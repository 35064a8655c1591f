/**
 * Sizes and colors that all charts share, and the parts of a Vega specification that they are made of.
 */

import type { Signal } from 'vega';
import { present } from '../../../present.js';
import { distinctLabels } from '../labels.js';
import type { Entry, KeyValue } from '../palette.js';

/** What one kind of chart gives to the specification. */
export interface Drawing {
  /** A group for each plot, one below the other; plain marks where `height` is given. */
  readonly marks: readonly object[];
  /** The rows of the marks by the name of their data. */
  readonly data: readonly object[];
  /** Scales that several plots share. */
  readonly scales?: readonly object[];
  readonly legends?: readonly object[];
  /** Texts of the data by the ids that stand for them in scales and rows: no text of the data becomes part of an expression. */
  readonly labels: Readonly<Record<string, string>>;
  /** Titles of axes by their places, for `titlePlace`. */
  readonly titles: readonly string[];
  /** Pixels beside the plots, as an expression of `outer`, the width of the output. */
  readonly beside: string;
  readonly signals?: readonly Signal[];
  /** What JupyterLab's extension reads: along the horizontal axis, and of the groups behind marks; absent if there is none of it. */
  readonly facts?: object;
  /** The height of a drawing without plots, as an expression. */
  readonly height?: string;
}

/** Pixels of an image whose output has no width yet. */
export const SVG_WIDTH = 766;
/** Space for the labels of a vertical axis of numbers, the same for all plots, and all space beside a plot. */
export const LABELS_WIDTH = 58;
export const BESIDE_WIDTH = LABELS_WIDTH + 34;
export const TICKS = 5;
/** Pixels of an average character. */
const CHARACTER_WIDTH = 6.5;

/** Pixels of a character as Vega measures it if there is no screen. */
const MEASURED_WIDTH = 8.8;

/** The pixels of a text in most fonts, rather too many than too few. */
function textWidth(text: string): number {
  const wide = text.match(/[A-Z@%mw_]/g)?.length ?? 0;
  const full = text.match(/[^\0-\u02ff]/g)?.length ?? 0;
  return Math.ceil(text.length * CHARACTER_WIDTH + wide * 2 + full * 5.5);
}

/** Returns the pixels of the widest text. */
export function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
}

/** What may be the groups of a result: a bar, a row of cells, a series. */
export interface Part {
  readonly of?: readonly KeyValue[];
}

/** Returns the groups of the result that parts of a chart are, by the ids of the data; undefined if none is any. */
export function partFacts(
  lists: readonly (readonly [idOf: (index: number) => string, parts: readonly Part[]])[],
): { readonly parts: object } | undefined {
  const found = lists.flatMap(([idOf, parts]) =>
    parts.flatMap(({ of }, index) => (of === undefined ? [] : [[idOf(index), of] as const])),
  );
  return found.length === 0 ? undefined : { parts: Object.fromEntries(found) };
}

/** The signals that hold the texts of the data. */
export const LABELS_SIGNAL = 'shownLabels';
export const TITLES_SIGNAL = 'shownTitles';
/** The signal with the part of the horizontal axis that is shown, null for all. */
export const SHOWN = 'shownWindow';

/** Greys with at least 4:1 against white and near-black. */
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

/** A member of the encoding that depends on a row. */
export const at = (scale: string, field: string) => ({ scale, field });

/** Returns a mark for each row of `data`, by what is encoded; texts of the data are values of fields. */
export function mark(type: string, data: string, update: object, more: object = {}): object {
  return { type, from: { data }, aria: false, encode: { update }, ...more };
}

/** Returns the plot of a height with its own scales and axes; it is as wide as the signal `width`. */
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

/** The id of a series in the data. Groups go by ids, as Vega keeps them in plain objects, where `__proto__` would break the chart. */
export function seriesId(index: number): string {
  return `l${index}`;
}

/** Characters of a name if the chart is too narrow for whole ones, and of a name that stands aslant below a column. */
export const SHORT_NAME = 24;
const MEDIUM_NAME = 36;
const SLANTED_NAME = 18;
const SHORT = '~';
const MEDIUM = '~~';

/** Names beside or below a chart: their texts by id, the space they take as a signal, and the axis that shows them. */
export interface NameAxis {
  readonly labels: Readonly<Record<string, string>>;
  readonly width: string;
  readonly signal: Signal;
  readonly guide: object;
}

const NO_FRAME = { labelOverlap: false, ticks: false, domain: false, zindex: 1 };
const NAMES_SIGNAL = 'namesWidth';

/** Returns the axis of names beside a chart: whole if they take less than half of the output, else as long as fits, no two the same. */
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
    labels: withShort(names, idOf, SLANTED_NAME),
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
  return withShort(
    legend.map(({ label }) => label),
    seriesId,
    SHORT_NAME,
  );
}

/** Returns what makes an axis or a legend write its labels by an expression of `datum.value`. */
export function labeled(text: string): object {
  return { encode: { labels: { update: { text: { signal: text } } } } };
}

function labelWhere(isShort: string): string {
  return `((${isShort}) && ${LABELS_SIGNAL}[datum.value + '${SHORT}']) || ${LABELS_SIGNAL}[datum.value]`;
}

/** Returns labels by the ids that `idOf` gives them, and those that are shorter. */
export function withShort(
  names: readonly string[],
  idOf: (index: number) => string,
  short: number | readonly string[],
  mark = SHORT,
): Readonly<Record<string, string>> {
  const shorter = typeof short === 'number' ? distinctLabels(names, short) : short;
  const whole = names.map((label, index) => [idOf(index), label] as const);
  const changed = shorter.flatMap((label, index) =>
    label === names[index] ? [] : [[`${idOf(index)}${mark}`, label] as const],
  );
  return Object.fromEntries([...whole, ...changed]);
}

/** Returns a title: Vega looks up those that are written out in plain objects, where `constructor` would be found. */
export function titlePlace(index: number): object {
  return { signal: `${TITLES_SIGNAL}[${index}]` };
}

/** Returns the scales `color` and `dash` of series, with the legend below the plots that names them; neither without series. */
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
  // A click on a name picks its series, another one adds to them.
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
