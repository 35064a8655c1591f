/**
 * A chart as a Vega specification that fits the width of its container. It is written as Vega-Lite and compiled here, so
 * that every front end draws the same.
 */

import type { Legend, Signal, Spec, Scale as VegaScale } from 'vega';
import type { TopLevelSpec } from 'vega-lite';
import { present } from '../../../present.js';
import { formOf } from '../kinds/table.js';
import type { ChartModel } from '../model.js';
import { RULE_LABELS, RULE_LEVEL, ruleCaptions } from './rules.js';
import { CONFIG, type Drawing, LABELS_SIGNAL, PICTURE_WIDTH, TEXT_COLOR, TITLES_SIGNAL } from './style.js';
import { loadVegaLite } from './vega.js';

/** Returns the specification for front ends: as wide as their output, with values under the pointer. */
export async function interactiveSpec(chart: ChartModel, description: string): Promise<Spec> {
  const drawing = formOf(chart).draw(chart, true);
  return {
    ...(await compiled(chart, drawing, true)),
    description,
    usermeta: { embedOptions: EMBED_OPTIONS, ...present({ apl: drawing.facts }) },
  };
}

/** Returns the specification of a picture of fixed width. */
export function staticSpec(chart: ChartModel): Promise<Spec> {
  return compiled(chart, formOf(chart).draw(chart, false), false);
}

/** The menu saves pictures; its other entries would send the data to another site or show internals. */
const EMBED_OPTIONS = {
  renderer: 'svg',
  actions: { export: true, source: false, compiled: false, editor: false },
};

/** Vega marks the rows it is given, so they are copies. */
async function compiled(chart: ChartModel, drawing: Drawing, interactive: boolean): Promise<Spec> {
  const { compile } = await loadVegaLite();
  const [single] = drawing.height === undefined ? [] : drawing.views;
  const source = {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    background: 'transparent',
    config: CONFIG,
    ...(single ?? {
      vconcat: drawing.views,
      spacing: 14,
      resolve: { legend: { color: 'shared', strokeDash: 'shared' } },
    }),
  } as unknown as TopLevelSpec;
  const {
    width: _,
    height,
    signals = [],
    marks = [],
    scales = [],
    legends = [],
    ...spec
  } = compile(source).spec;
  return {
    ...spec,
    ...present({ height: drawing.height === undefined ? height : undefined }),
    autosize: { type: 'pad', resize: true },
    scales: scales.map(scale => onRange(scale, chart, drawing, interactive)),
    legends:
      chart.isLegendHidden === true ? [] : legends.map(legend => picking(withTitle(legend), interactive)),
    marks: marks.map(mark => (mark.type === 'group' ? finished(mark, drawing, interactive) : mark)),
    signals: [
      ...signals,
      ...sizes(drawing, interactive),
      ...texts(chart, drawing, interactive),
      ...(interactive ? READING : []),
    ],
    ...present({ title: headOf(chart) }),
  };
}

/** `outer` is the width of the output, from which all others follow. */
function sizes({ beside, height, signals = [] }: Drawing, interactive: boolean): readonly Signal[] {
  const measured = `given > 0 ? given : containerSize()[0] > 200 ? containerSize()[0] : ${PICTURE_WIDTH}`;
  const outer: Signal = interactive
    ? {
        name: 'outer',
        init: measured,
        on: [
          { events: { source: 'window', type: 'resize' }, update: measured },
          { events: { signal: 'given' }, update: measured },
        ],
      }
    : { name: 'outer', value: PICTURE_WIDTH };
  return [
    ...(interactive ? [{ name: 'given', value: 0 }] : []),
    outer,
    ...signals,
    { name: 'width', update: `max(120, outer - (${beside}))` },
    ...(height === undefined ? [] : [{ name: 'height', update: height }]),
  ];
}

function texts(chart: ChartModel, { labels, titles }: Drawing, interactive: boolean): readonly Signal[] {
  const { title = '', remarks, rules = [] } = chart;
  const axis = formOf(chart).timeAxis(chart);
  const counted =
    axis === undefined || rules.length === 0 ? undefined : ruleCaptions(rules, axis, interactive);
  const lines = (most: number) =>
    counted === undefined
      ? wrapped(sentences(remarks), most)
      : counted.captions.map(caption => wrapped(sentences([caption, ...remarks]), most));
  return [
    { name: 'wideTitle', value: wrapped(title, WIDE_LINE) },
    { name: 'narrowTitle', value: wrapped(title, NARROW_LINE) },
    { name: TITLES_SIGNAL, value: titles },
    { name: LABELS_SIGNAL, value: labels },
    { name: 'wideRemarks', value: lines(WIDE_LINE) },
    { name: 'narrowRemarks', value: lines(NARROW_LINE) },
    ...(counted?.signals ?? []),
  ];
}

type GroupMark = Extract<NonNullable<Spec['marks']>[number], { readonly type: 'group' }>;

const TITLE_PLACE = /^title (\d+)$/;

/** What a reader changes: the part of the horizontal axis that is shown, null for all, and the series that were picked, by their ids. */
const READING: readonly Signal[] = [
  { name: 'shownWindow', value: null },
  {
    name: 'picked',
    value: '',
    on: [
      { events: '@pickLabel:click, @pickSymbol:click', update: toggled() },
      { events: 'dblclick', update: "''" },
    ],
  },
];

function toggled(): string {
  const id = "' ' + datum.value + ' '";
  return `indexof(picked, ${id}) < 0 ? picked + ${id} : replace(picked, ${id}, '')`;
}

const isPicked = (id: string) => `picked === '' || indexof(picked, ' ' + ${id} + ' ') >= 0`;

/** A click on a name of the legend picks its series, another one adds to them; the others fade. */
function picking(legend: Legend, interactive: boolean): Legend {
  if (!interactive || legend.type === 'gradient' || legend.symbolType === undefined) return legend;
  const part = (name: string, own: object | undefined) => ({
    ...own,
    name,
    interactive: true,
    update: {
      ...(own !== undefined && 'update' in own ? (own.update as object) : undefined),
      cursor: { value: 'pointer' },
      opacity: { signal: `${isPicked('datum.value')} ? 1 : 0.35` },
    },
  });
  const { labels, symbols } = legend.encode ?? {};
  return {
    ...legend,
    encode: {
      ...legend.encode,
      labels: part('pickLabel', labels),
      symbols: part('pickSymbol', symbols),
    },
  } as Legend;
}

/** Marks that only show take no pointer from those below them; all are cut off at the part that is shown. */
function finished(group: GroupMark, { facts }: Drawing, interactive: boolean): GroupMark {
  if (!interactive) return withTitles(group);
  const isXy = facts !== undefined;
  const marks = (group.marks ?? []).map(mark => {
    const faded = fading(mark);
    if (!isXy) return faded;
    if (mark.name?.startsWith(RULE_LABELS)) return { ...faded, interactive: false };
    const cut = { ...faded, clip: { signal: 'shownWindow !== null' } };
    return 'tooltip' in updateOf(mark) ? cut : { ...cut, interactive: false };
  });
  return withTitles({ ...group, marks } as GroupMark);
}

type AnyMark = NonNullable<GroupMark['marks']>[number];

/** Marks coloured by their series fade while others are picked. */
function fading(mark: AnyMark): AnyMark {
  if (mark.type === 'group') return { ...mark, marks: (mark.marks ?? []).map(fading) };
  const update = updateOf(mark);
  const isSeries = ['stroke', 'fill'].some(
    channel => JSON.stringify(update[channel])?.includes('"scale":"color"') === true,
  );
  if (!isSeries) return mark;
  const { opacity } = update;
  const own =
    opacity !== null && typeof opacity === 'object' && 'value' in opacity ? Number(opacity.value) : 1;
  const faded = { signal: `${isPicked('datum.s')} ? ${own} : 0.07` };
  return { ...mark, encode: { ...mark.encode, update: { ...update, opacity: faded } } } as AnyMark;
}

function updateOf({ encode }: AnyMark): Readonly<Record<string, unknown>> {
  return (encode?.update ?? {}) as Readonly<Record<string, unknown>>;
}

/** Vega looks up titles that are written out in plain objects, where `constructor` would be found: they come from a signal. */
function withTitles(group: GroupMark): GroupMark {
  return { ...group, axes: (group.axes ?? []).map(withTitle) };
}

function withTitle<T extends { readonly title?: unknown }>(guide: T): T {
  const index = typeof guide.title === 'string' ? TITLE_PLACE.exec(guide.title)?.[1] : undefined;
  return index === undefined ? guide : { ...guide, title: { signal: `${TITLES_SIGNAL}[${index}]` } };
}

/** The horizontal axis covers the searched range, whatever the data covers. */
function onRange(scale: VegaScale, chart: ChartModel, { facts }: Drawing, interactive: boolean): VegaScale {
  const isAcross = /(?:^|_)x$/.test(scale.name);
  const isXy = facts !== undefined && isAcross && (scale.type === 'utc' || scale.type === 'linear');
  const shown = interactive && isXy ? { domainRaw: { signal: 'shownWindow' } } : {};
  const axis = formOf(chart).timeAxis(chart);
  if (scale.type !== 'utc' || axis === undefined) return { ...scale, ...shown };
  return { ...scale, domain: [axis.start, axis.end], ...shown };
}

/** Characters of a line of remarks that fit a wide and a narrow chart. */
const WIDE_LINE = 110;
const NARROW_LINE = 46;
const NARROW_WIDTH = 640;

/** The title and the remarks above the plots, in lines that fit; they are values of signals, never a part of an expression. */
function headOf({ title, remarks, rules = [] }: ChartModel): Spec['title'] | undefined {
  if (title === undefined && remarks.length === 0 && rules.length === 0) return undefined;
  const fitting = (name: string) => ({
    signal: `outer < ${NARROW_WIDTH} ? narrow${name} : wide${name}`,
  });
  const shownRemarks = {
    signal: `(${fitting('Remarks').signal})${rules.length === 0 ? '' : `[${RULE_LEVEL}]`}`,
  };
  const plain = { color: TEXT_COLOR, fontSize: 11, fontWeight: 'normal' as const };
  const common = { anchor: 'start' as const, offset: 10, aria: false };
  if (title === undefined) return { ...common, ...plain, text: shownRemarks };
  return {
    ...{ ...common, color: TEXT_COLOR, fontSize: 13, text: fitting('Title') },
    ...{ subtitle: shownRemarks, subtitleColor: TEXT_COLOR, subtitleFontSize: 11, subtitlePadding: 4 },
  };
}

function sentences(remarks: readonly string[]): string {
  return remarks.map(remark => `${remark.charAt(0).toUpperCase()}${remark.slice(1)}.`).join(' ');
}

/** Lines of at most `most` characters, of wide ones half as many, broken between words where there are any. */
function wrapped(text: string, most: number): readonly string[] {
  const length = /[^\0-\u02ff]/.test(text) ? Math.floor(most / 2) : most;
  const pieces = text.split(' ').flatMap(word => word.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? []);
  const found: string[] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    if (last !== undefined && last.length + piece.length < length)
      found[found.length - 1] = `${last} ${piece}`;
    else found.push(piece);
  }
  return found;
}
