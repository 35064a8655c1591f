/**
 * Annotations over a chart along time: a dashed line at each, a band if there is an end, and above the plot as many labels as fit
 * beside each other, which Vega places. Strings enter only as data.
 */
import { cut, plural } from '../../../text.js';
import type { Rule } from '../model.js';
import type { TimeAxis } from '../time/bins.js';
import { tip, utcTime } from './axes.js';
import { at, CLIPPED, mark, SHOWN, TEXT_COLOR } from './draw-style.js';

/** Height of the labels above a plot, in pixels. */
export const RULE_LABELS_HEIGHT = 14;
const LABEL_LENGTH = 32;
/** Pixels between an annotation mark and its label. */
const LEAD = 3;
/** The gap between two labels, appended before they are measured; spaces would not be. */
const GAP = 'n';

const [BANDS, EDGES, LABELS] = ['ruleBands', 'ruleEdges', 'ruleLabels'];

/** Returns the rows of the annotations, shared by all plots. */
export function ruleData(rules: readonly Rule[] = [], { start, end }: TimeAxis): readonly object[] {
  if (rules.length === 0) return [];
  const bands = rules.flatMap(rule =>
    rule.end === undefined ? [] : [{ t: Math.max(rule.t, start), e: Math.min(rule.end, end) }],
  );
  const edges = rules.flatMap(({ t, end: until, label, type, text }) =>
    [t, until]
      .filter(each => each !== undefined && each >= start && each <= end)
      .map(each => ({ t: each, f: t, n: label, k: type, d: text })),
  );
  const labels = rules.map(({ t, label }) => ({ t: Math.max(t, start), n: cut(label, LABEL_LENGTH) }));
  return [
    { name: BANDS, values: bands },
    { name: EDGES, values: edges },
    { name: LABELS, values: labels },
  ];
}

/** Returns the note on annotations: how to see their names, or in an image which of them have labels. */
export function ruleCaption(rules: readonly Rule[], interactive: boolean): readonly string[] {
  if (rules.length === 0) return [];
  const count = plural(rules.length, 'annotation');
  return [`${count}, ${interactive ? 'named under the pointer' : 'labeled where there is room'}`];
}

const COLOR = { value: TEXT_COLOR };
const whole = (height: number) => ({ x: at('x', 't'), y: { value: 0 }, y2: { value: height } });

/** Returns bands from the beginning to the end of each interval, below the marks of a plot. */
export function ruleBands(rules: readonly Rule[], height: number): readonly object[] {
  if (rules.every(({ end }) => end === undefined)) return [];
  const band = { ...whole(height), x2: at('x', 'e'), fill: COLOR, fillOpacity: { value: 0.16 } };
  return [mark('rect', BANDS, band, CLIPPED)];
}

/** Returns the annotation marks above the marks of a plot, and their labels above the plot. */
export function ruleMarks(
  rules: readonly Rule[],
  height: number,
  { isLabeled, interactive }: { readonly isLabeled: boolean; readonly interactive: boolean },
): readonly object[] {
  if (rules.length === 0) return [];
  const dashed = { stroke: COLOR, strokeWidth: { value: 1.3 }, strokeDash: { value: [4, 3] } };
  const flag = {
    ...{ x: at('x', 't'), y: { value: 3 }, shape: { value: 'triangle-down' } },
    ...{ size: { value: 36 }, fill: COLOR },
  };
  const said = {
    annotation: 'datum.n',
    type: 'datum.k',
    'time (UTC)': utcTime('f'),
    about: 'datum.d',
  };
  const hit = {
    ...whole(height),
    ...{ stroke: COLOR, strokeWidth: { value: 9 }, opacity: { value: 0 }, tooltip: tip(said) },
  };
  return [
    mark('rule', EDGES, { ...whole(height), ...dashed }, CLIPPED),
    ...(isLabeled ? [mark('symbol', LABELS, flag, CLIPPED), labels()] : []),
    ...(interactive ? [mark('rule', EDGES, hit, { ...CLIPPED, interactive: true })] : []),
  ];
}

/** Returns a strip above the plot with the labels that do not overlap, to the right or left of their marks. */
function labels(): object {
  const text = {
    ...{ x: at('x', 't'), y: { value: RULE_LABELS_HEIGHT / 2 } },
    ...{ text: { signal: `datum.n + '${GAP}'` }, fontSize: { value: 11 }, fill: COLOR },
  };
  // Labels are placed again only if a parameter changes, so this one also depends on the zoom.
  const size = { signal: `[width, ${SHOWN} === null ? ${RULE_LABELS_HEIGHT} : ${RULE_LABELS_HEIGHT}]` };
  const placed = { type: 'label', size, anchor: ['right', 'left'], offset: [LEAD], avoidBaseMark: false };
  const named = { type: 'formula', as: 'text', expr: 'datum.datum.n' };
  return {
    type: 'group',
    interactive: false,
    encode: {
      update: {
        y: { value: -RULE_LABELS_HEIGHT },
        width: { signal: 'width' },
        height: { value: RULE_LABELS_HEIGHT },
      },
    },
    marks: [mark('text', LABELS, text, { name: LABELS, interactive: false, transform: [placed, named] })],
  };
}
