/** A chart as a Vega specification that fits the width of its container, so that every front end draws the same. */

import type { Signal, Spec } from 'vega';
import { present } from '../../../present.js';
import { isolatedWords } from '../../../text.js';
import { widthOf, wrapped } from '../../display/aligned.js';
import { formOf } from '../kinds/kind-table.js';
import type { ChartModel } from '../model.js';
import { ruleCaption } from './draw-rules.js';
import {
  CONFIG,
  type Drawing,
  LABELS_SIGNAL,
  SHOWN,
  SVG_WIDTH,
  TEXT_COLOR,
  TITLES_SIGNAL,
} from './draw-style.js';

/** Returns the specification for front ends: as wide as their output, with tooltips. */
export function interactiveSpec(chart: ChartModel, description: string): Spec {
  const drawing = formOf(chart).draw(chart, true);
  return {
    ...specOf(chart, drawing, true),
    description,
    usermeta: { embedOptions: EMBED_OPTIONS, ...present({ apl: drawing.facts }) },
  };
}

/** Returns the specification of an image of fixed width. */
export function staticSpec(chart: ChartModel): Spec {
  return specOf(chart, formOf(chart).draw(chart, false), false);
}

/** The menu saves images; its other entries would send the data to another site or show internals. */
const EMBED_OPTIONS = {
  renderer: 'svg',
  actions: { export: true, source: false, compiled: false, editor: false },
};

function specOf(chart: ChartModel, drawing: Drawing, interactive: boolean): Spec {
  const { marks, data, scales = [], legends = [], height } = drawing;
  return {
    $schema: 'https://vega.github.io/schema/vega/v5.json',
    background: 'transparent',
    padding: 5,
    autosize: { type: 'pad', resize: true },
    config: CONFIG,
    ...(height === undefined
      ? { layout: { padding: 14, columns: 1, bounds: 'full', align: 'each' } }
      : undefined),
    ...present({ title: headOf(chart) }),
    signals: [...sizes(drawing, interactive), ...texts(chart, drawing, interactive), ...READING],
    data,
    scales,
    legends: chart.isLegendHidden === true ? [] : legends,
    marks,
  } as unknown as Spec;
}

/** Returns the size signals; all derive from `outer`, the width of the output. */
function sizes({ beside, height, signals = [] }: Drawing, interactive: boolean): readonly Signal[] {
  const measured = `given > 0 ? given : containerSize()[0] > 200 ? containerSize()[0] : ${SVG_WIDTH}`;
  const outer: Signal = interactive
    ? {
        name: 'outer',
        init: measured,
        on: [
          { events: { source: 'window', type: 'resize' }, update: measured },
          { events: { signal: 'given' }, update: measured },
        ],
      }
    : { name: 'outer', value: SVG_WIDTH };
  return [
    ...(interactive ? [{ name: 'given', value: 0 }] : []),
    outer,
    ...signals,
    { name: 'width', update: `max(120, outer - (${beside}))` },
    ...(height === undefined ? [] : [{ name: 'height', update: height }]),
  ];
}

function texts(
  { title = '', notes, rules = [] }: ChartModel,
  { labels, titles }: Drawing,
  interactive: boolean,
): readonly Signal[] {
  const caption = sentences([...ruleCaption(rules, interactive), ...notes]);
  return [
    { name: 'fittingTitle', value: fittings(title, TITLE_LINES) },
    { name: 'fittingNotes', value: fittings(caption, NOTE_LINES) },
    { name: TITLES_SIGNAL, value: titles },
    { name: LABELS_SIGNAL, value: labels },
  ];
}

/** State that a reader changes: the visible part of the horizontal axis, null for all of it, and the ids of the picked series. */
const READING: readonly Signal[] = [
  { name: SHOWN, value: null },
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

/** Number of line lengths: one fits an output `LEAST_OUTPUT` wide, and each further one is wider by `WIDTH_STEP` pixels. */
const WIDTHS = 10;
const NOTE_LINES = lineLengths(46, 16);
const TITLE_LINES = lineLengths(38, 13);
const LEAST_OUTPUT = 270;
const WIDTH_STEP = 94;

/** Wraps a string for each width of the output, from the narrowest to the first at which it fits on one line. */
function fittings(text: string, lengths: readonly number[]): readonly (readonly string[])[] {
  const all = lengths.map(length => lines(text, length));
  const single = all.findIndex(each => each.length < 2);
  return single < 0 ? all : all.slice(0, single + 1);
}

/** Returns the title and the notes above the plots, wrapped to fit; they are values of signals, never part of an expression. */
function headOf({ title, notes, rules = [] }: ChartModel): Spec['title'] | undefined {
  if (title === undefined && notes.length === 0 && rules.length === 0) return undefined;
  const fitting = (name: string) => ({
    signal: `${name}[clamp(floor((outer - ${LEAST_OUTPUT}) / ${WIDTH_STEP}), 0, length(${name}) - 1)]`,
  });
  const shownNotes = fitting('fittingNotes');
  const plain = { color: TEXT_COLOR, fontSize: 11, fontWeight: 'normal' as const };
  const common = { anchor: 'start' as const, offset: 10, aria: false };
  if (title === undefined) return { ...common, ...plain, text: shownNotes };
  return {
    ...{ ...common, color: TEXT_COLOR, fontSize: 13, text: fitting('fittingTitle') },
    ...{ subtitle: shownNotes, subtitleColor: TEXT_COLOR, subtitleFontSize: 11, subtitlePadding: 4 },
  };
}

function sentences(notes: readonly string[]): string {
  return notes.map(note => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`).join(' ');
}

function lineLengths(least: number, more: number): readonly number[] {
  return Array.from({ length: WIDTHS }, (_, at) => least + at * more);
}

/** Wraps a string at `most` columns, between words if they are not wider. */
function lines(text: string, most: number): readonly string[] {
  const words = text.split(' ').flatMap(word => pieces(word, most));
  return words.length === 0 ? [] : wrapped(words.join(' '), most).split('\n').map(isolatedWords);
}

function pieces(word: string, most: number): readonly string[] {
  const length = widthOf(word) === word.length ? most : Math.floor(most / 2);
  return word.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? [];
}
