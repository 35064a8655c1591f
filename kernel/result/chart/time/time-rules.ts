/** The annotations of a service as marks over a chart: at a time, or over an interval. */

import type { Annotation } from '../../../api/wire.js';
import { present } from '../../../present.js';
import { cut, formatCount } from '../../../text.js';
import { MILLISECOND, parseTime } from '../../../time.js';
import { safeWords } from '../../display/summary.js';
import type { Rule } from '../model.js';
import type { TimeAxis } from './bins.js';

/** The annotations for a chart; `problem` says why they could not be read; with `isPart`, some could not. */
export interface ChartAnnotations {
  readonly annotations: readonly Annotation[];
  readonly isPart?: true;
  readonly problem?: string;
}

/** The annotation marks of a chart, and notes on those that are not drawn. */
export interface Rules {
  readonly rules: readonly Rule[];
  readonly notes: readonly string[];
}

/** Maximum number drawn: more would hide the chart, and the notebook stores them. */
const MAX_RULES = 100;
/** Maximum length of a tooltip. */
const TEXT_LENGTH = 400;
const TITLE_LENGTH = 80;

/** Returns the annotations that touch the axis, in order of time; the latest if there are too many. */
export function rulesOf(annotations: readonly Annotation[], { start, end }: TimeAxis): Rules {
  const found = annotations
    .map(ruleOf)
    .filter(rule => rule.t < end && (rule.end ?? rule.t) >= start)
    .sort((a, b) => a.t - b.t || (a.label < b.label ? -1 : 1));
  const rules = found.slice(-MAX_RULES);
  const notes =
    rules.length < found.length
      ? [`the latest ${MAX_RULES} of ${formatCount(found.length)} annotations are drawn`]
      : [];
  return { rules, notes };
}

function ruleOf({ time, endTime, title, type, description, url }: Annotation): Rule {
  const texts = [description, url].flatMap(text =>
    text === undefined ? [] : [cut(safeWords(text), TEXT_LENGTH)],
  );
  const name = cut(safeWords(title ?? type), TITLE_LENGTH);
  return {
    t: millisecondsOf(time),
    ...present({ end: endTime === undefined ? undefined : millisecondsOf(endTime) }),
    label: name === '' ? 'annotation' : name,
    type: cut(safeWords(type), TITLE_LENGTH),
    text: texts.join(' \u00b7 '),
  };
}

/** Returns a time with the precision of an image. */
function millisecondsOf(time: string): number {
  return Number((parseTime(time) ?? 0n) / MILLISECOND);
}
