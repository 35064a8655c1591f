/**
 * Annotations over a chart along time: a dashed rule at each, one for those that would run into each other, a band where there is
 * an end, and above the plot as many labels as fit beside each other. Texts enter as data only.
 */
import type { Signal } from 'vega';
import { present } from '../../../present.js';
import { cut } from '../../../text.js';
import type { Rule } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import { ruleCount } from '../time/rules.js';
import { BESIDE_WIDTH, PICTURE_WIDTH, TEXT_COLOR, widest } from './style.js';

/** The height of the labels above a plot, in pixels. */
export const RULE_LABELS_HEIGHT = 14;

/**
 * The widths of a plot at which other labels fit and other rules stand apart; a plot has those of the greatest that is not wider.
 * The last are those of stretches that are looked at closer.
 */
const WIDTHS = [
  ...([120, 200, 280, 360, 460, 560, PICTURE_WIDTH - BESIDE_WIDTH, 820, 1000, 1300, 1700] as const),
  ...([3_400, 6_800, 13_600, 27_200] as const),
] as const;
/** The bits of all of them. */
const ALWAYS = 2 ** WIDTHS.length - 1;
/** Plots below the width of this place have shorter labels. */
const LONG_FROM = 3;
const SHORT_LABEL = 14;
const LONG_LABEL = 32;

/** Pixels between a rule and its label, and between labels. */
const LEAD = 2;
const GAP = 8;

/** Rules nearer to each other than these pixels are drawn as one; JupyterLab's extension explains those so near to the pointer. */
const APART = 8;

/** The place of the width of the plot among {@link WIDTHS}. */
export const RULE_LEVEL = 'ruleLevel';
/** The same for the whole axis, where a stretch of it is looked at closer. */
const RULE_ZOOM = 'ruleZoom';
/** Marks whose name begins so stand above the plot, where its edges do not cut them off. */
export const RULE_LABELS = 'ruleLabels';

/** The side of a rule on which its label stands. */
type Side = 'right' | 'left';

/**
 * Returns the side of each label at a width of the plot; undefined for one that has no room. As many as can stand to the right of
 * their rules do, a short one rather than a long one, and then as many to the left as there is room for.
 */
export function labelSides(
  rules: readonly Rule[],
  axis: TimeAxis,
  place: number,
): readonly (Side | undefined)[] {
  const width = WIDTHS[place] ?? WIDTHS[0];
  const counts = drawnAsOne(rules, axis, place);
  const sides = rules.map((): Side | undefined => undefined);
  const taken: (readonly [from: number, to: number])[] = [];
  for (const side of ['right', 'left'] as const) {
    const wanted = rules.flatMap((rule, index) => {
      const [x, count] = [xOf(rule, axis, place), counts[index] ?? 0];
      const room = LEAD + widest([`${labelOf(rule, place)}${moreText(count)}`]);
      const [from, to] = side === 'right' ? [x, x + room] : [x - room, x];
      const isOpen = count > 0 && sides[index] === undefined;
      return isOpen && from >= 0 && to <= width ? [{ index, from, to }] : [];
    });
    for (const { index, from, to } of wanted.sort((one, other) => one.to - other.to)) {
      if (taken.some(([start, end]) => from < end + GAP && start < to + GAP)) continue;
      taken.push([from, to]);
      sides[index] = side;
    }
  }
  return sides;
}

/** Pixels from the left of a plot to a rule; one that began before the axis stands at its start. */
function xOf({ t }: Rule, { start, end }: TimeAxis, place: number): number {
  return (Math.max(0, t - start) / (end - start)) * (WIDTHS[place] ?? WIDTHS[0]);
}

/** Returns how many rules are drawn as one with each at a width of the plot, itself included; 0 for one that an earlier one stands for. */
export function drawnAsOne(rules: readonly Rule[], axis: TimeAxis, place: number): readonly number[] {
  const counts = rules.map(() => 0);
  let first = 0;
  for (const [index, rule] of rules.entries()) {
    const from = rules[first] ?? rule;
    if (xOf(rule, axis, place) - xOf(from, axis, place) >= APART) first = index;
    counts[first] = (counts[first] ?? 0) + 1;
  }
  return counts;
}

function labelOf({ label }: Rule, place: number): string {
  return cut(label, place < LONG_FROM ? SHORT_LABEL : LONG_LABEL);
}

/** What follows the label of a rule that stands for several. */
function moreText(count: number): string {
  return count > 1 ? ` +${count - 1}` : '';
}

/** Returns what a chart says of its rules at each width, and the signals that choose by it. */
export function ruleCaptions(
  rules: readonly Rule[],
  axis: TimeAxis,
  interactive: boolean,
): { readonly captions: readonly string[]; readonly signals: readonly Signal[] } {
  const captions = WIDTHS.map((_, place) =>
    ruleCount(rules, labelSides(rules, axis, place).filter(side => side !== undefined).length),
  );
  const level = { name: RULE_LEVEL, update: levelAt('width') };
  const span = axis.end - axis.start;
  const shown = `(shownWindow ? shownWindow[1] - shownWindow[0] : ${span})`;
  const zoom = { name: RULE_ZOOM, update: levelAt(`width * ${span} / ${shown}`) };
  return { captions, signals: interactive ? [level, zoom] : [level] };
}

/** The signal by which rules and labels are drawn. */
function levelSignal(interactive: boolean): string {
  return interactive ? RULE_ZOOM : RULE_LEVEL;
}

/** The rows whose `at` has the bit of the width. */
function drawnAt(interactive: boolean): readonly object[] {
  return [{ filter: `(datum.at >> ${levelSignal(interactive)}) & 1` }];
}

/** The bits of the widths at which something holds. */
function bitsOf(holds: (place: number) => boolean): number {
  return WIDTHS.reduce<number>((bits, _, place) => bits | (holds(place) ? 1 << place : 0), 0);
}

/** An expression of the place of a width. */
function levelAt(width: string): string {
  const [, ...wider] = WIDTHS;
  return wider.reduceRight(
    (beyond, least, place) => `${width} < ${least} ? ${place} : ${beyond}`,
    `${wider.length}`,
  );
}

/** Returns the layers below and above the marks of one plot; its labels stand above the first plot alone. */
export function ruleLayers(
  rules: readonly Rule[],
  axis: TimeAxis,
  { isFirst, interactive }: { readonly isFirst: boolean; readonly interactive: boolean },
): { readonly below: readonly object[]; readonly above: readonly object[] } {
  if (rules.length === 0) return { below: [], above: [] };
  return {
    below: layers([bands(rules, axis)]),
    above: layers([
      lines(rules, axis, interactive),
      ...(isFirst ? [flags(rules, axis, interactive), ...labels(rules, axis, interactive)] : []),
      interactive ? hits(rules, axis) : undefined,
    ]),
  };
}

function layers(found: readonly (object | undefined)[]): readonly object[] {
  return found.filter(each => each !== undefined);
}

const WHOLE_HEIGHT = { y: { value: 0 }, y2: { value: 'height' } };
const AT_TIME = { field: 't', type: 'temporal' };

/** The stretches from their beginning to their end, as far as the axis shows them. */
function bands(rules: readonly Rule[], { start, end }: TimeAxis): object | undefined {
  const values = rules.flatMap(rule =>
    rule.end === undefined ? [] : [{ t: Math.max(rule.t, start), e: Math.min(rule.end, end) }],
  );
  if (values.length === 0) return undefined;
  const mark = { type: 'rect', color: TEXT_COLOR, fillOpacity: 0.16 };
  return { data: { values }, mark, encoding: { x: AT_TIME, x2: { field: 'e' }, ...WHOLE_HEIGHT } };
}

/** Where annotations begin and end on the axis. */
function edges(
  rules: readonly Rule[],
  { start, end }: TimeAxis,
): readonly (readonly [t: number, rule: Rule])[] {
  return rules.flatMap(rule =>
    [rule.t, rule.end].flatMap(t => (t === undefined || t < start || t > end ? [] : [[t, rule] as const])),
  );
}

/** The widths at which each rule is drawn, as bits. */
function levelsOf(rules: readonly Rule[], axis: TimeAxis): ReadonlyMap<Rule, number> {
  const counts = WIDTHS.map((_, place) => drawnAsOne(rules, axis, place));
  return new Map(rules.map((rule, index) => [rule, bitsOf(place => (counts[place]?.[index] ?? 0) > 0)]));
}

function lines(rules: readonly Rule[], axis: TimeAxis, interactive: boolean): object | undefined {
  const levels = levelsOf(rules, axis);
  const values = edges(rules, axis).map(([t, rule]) => ({ t, at: t === rule.t ? levels.get(rule) : ALWAYS }));
  if (values.length === 0) return undefined;
  const mark = { type: 'rule', color: TEXT_COLOR, strokeWidth: 1.3, strokeDash: [4, 3] };
  const encoding = { x: AT_TIME, ...WHOLE_HEIGHT };
  return { data: { values }, transform: drawnAt(interactive), mark, encoding };
}

/** A mark at the top of each rule, below the labels. */
function flags(rules: readonly Rule[], axis: TimeAxis, interactive: boolean): object {
  const levels = levelsOf(rules, axis);
  const values = rules.map(rule => ({ t: Math.max(rule.t, axis.start), at: levels.get(rule) }));
  const mark = {
    type: 'point',
    shape: 'triangle-down',
    filled: true,
    size: 36,
    color: TEXT_COLOR,
    opacity: 1,
  };
  const encoding = { x: AT_TIME, y: { value: 3 } };
  return { data: { values }, transform: drawnAt(interactive), mark, encoding };
}

/**
 * The labels, those to the right of their rules and those to the left: `at` says at which widths as bits, `m` what follows them at
 * each.
 */
function labels(
  rules: readonly Rule[],
  axis: TimeAxis,
  interactive: boolean,
): readonly (object | undefined)[] {
  const sides = WIDTHS.map((_, place) => labelSides(rules, axis, place));
  const counts = WIDTHS.map((_, place) => drawnAsOne(rules, axis, place));
  return (['right', 'left'] as const).map(side => {
    const values = rules.flatMap((rule, index) => {
      const at = bitsOf(place => sides[place]?.[index] === side);
      if (at === 0) return [];
      const [short, long] = [labelOf(rule, 0), labelOf(rule, LONG_FROM)];
      const more = counts.map(each => moreText(each[index] ?? 0));
      const w = LEAD + widest(more.map(text => `${long}${text}`));
      const texts = {
        ...present({ s: short === long ? undefined : short }),
        ...present({ m: more.every(text => text === '') ? undefined : more }),
      };
      return [{ t: Math.max(rule.t, axis.start), at, w, n: long, ...texts }];
    });
    if (values.length === 0) return undefined;
    const isRight = side === 'right';
    const mark = {
      ...{ type: 'text', align: isRight ? 'left' : 'right', dx: isRight ? LEAD : -LEAD, baseline: 'middle' },
      ...{ color: TEXT_COLOR, fontSize: 11 },
    };
    return {
      ...present({ name: interactive ? `${RULE_LABELS}_${side}` : undefined }),
      data: { values },
      transform: [{ calculate: labelText(axis, isRight, interactive), as: 'x' }],
      mark,
      encoding: { x: AT_TIME, y: { value: -7 }, text: { field: 'x', type: 'nominal' } },
    };
  });
}

/** The label where it fits; empty elsewhere, as a text that is only transparent would still take room. */
function labelText({ start, end }: TimeAxis, isRight: boolean, interactive: boolean): string {
  const level = levelSignal(interactive);
  const text = `((${RULE_LEVEL} < ${LONG_FROM} && datum.s) || datum.n) + (datum.m ? datum.m[${level}] : '')`;
  const isAt = `((datum.at >> ${level}) & 1)`;
  if (!interactive) return `${isAt} ? ${text} : ''`;
  // A stretch that is looked at closer has the room of a wider plot, but its own edges.
  const [low, high] = [
    `(shownWindow ? shownWindow[0] : ${start})`,
    `(shownWindow ? shownWindow[1] : ${end})`,
  ];
  const x = `((datum.t - ${low}) / (${high} - ${low}) * width)`;
  const fits = isRight ? `${x} >= 0 && ${x} + datum.w <= width` : `${x} <= width && ${x} - datum.w >= 0`;
  return `${isAt} && (shownWindow === null || (${fits})) ? ${text} : ''`;
}

const TIP = [
  { field: 'n', type: 'nominal', title: 'annotation' },
  { field: 'k', type: 'nominal', title: 'type' },
  {
    ...{ field: 'f', type: 'temporal', title: 'time (UTC)', timeUnit: 'utcyearmonthdatehoursminutesseconds' },
    format: '%Y-%m-%d %H:%M:%S',
  },
  { field: 'd', type: 'nominal', title: 'about' },
];

/** Says what an annotation is a little beside its rule too, which is hard to hit. */
function hits(rules: readonly Rule[], axis: TimeAxis): object | undefined {
  const values = edges(rules, axis).map(([t, { t: f, label, type, text }]) => ({
    t,
    f,
    n: label,
    k: type,
    d: text,
  }));
  if (values.length === 0) return undefined;
  const mark = { type: 'rule', strokeWidth: 9, opacity: 0 };
  return { data: { values }, mark, encoding: { x: AT_TIME, ...WHOLE_HEIGHT, tooltip: TIP } };
}
