import { formatCount } from '../../../text.js';
import { aggregateOf, nameOf } from '../columns.js';
import type { Plot } from '../model.js';
import { firstOf, namesOf, notDrawn, notes, rowsWithout, withoutValues } from '../notes.js';
import type { Facts, TimeLayout } from './layout.js';

/** Returns a sentence about each value that is drawn differently from the table, or not at all. */
export function notesOf(layout: TimeLayout, plots: readonly Plot[], facts: Facts): readonly string[] {
  const { empty, leftOut, beyond, measures, untimed } = layout;
  return notes(
    facts.refusals,
    groupNotes(layout),
    firstOf(measures.length, measures.length + beyond.length, 'measures'),
    withoutValues(empty),
    rowsWithout(untimed, 'a time'),
    notDrawn(leftOut),
    edgeNotes(layout, plots),
    missingNotes(layout, facts),
    plots.some(plot => plot.mark === 'dots') &&
      layout.options.kind !== 'scatter' &&
      'rows that share a timestamp are dots',
    layout.options.kind === 'bar' &&
      plots.some(plot => plot.mark === 'area') &&
      'too many bins for bars: an area',
    layout.flags.length > 0 && `anomalies by ${namesOf(layout.flags)} are red`,
    facts.isThinned && 'too many points to draw: of neighbors the least and the greatest are shown',
    facts.isNarrow && 'the axis does not begin at 0',
  );
}

function groupNotes({ groups, measures }: TimeLayout): string | false {
  const [first] = measures;
  if (groups.count <= groups.chosen || first === undefined) return false;
  const rank = aggregateOf(first).additive ? `total of ${nameOf(first)}` : nameOf(first);
  const shown = `${groups.chosen} of ${formatCount(groups.count)}`;
  return `the ${shown} groups by ${namesOf(groups.keys)} with the greatest ${rank}`;
}

/** A bin at an edge is called partial where a value is drawn in it. */
function edgeNotes({ axis }: TimeLayout, plots: readonly Plot[]): readonly string[] {
  const partial = plots.flatMap(plot =>
    plot.lines.flatMap(line => line.points.filter(point => point.partial)),
  );
  const edges = notes(
    partial.some(point => point.t < axis.start) && 'first',
    partial.some(point => point.t >= axis.start) && 'last',
  );
  return notes(
    edges.length > 0 && `the ${edges.join(' and the ')} bin ${edges.length > 1 ? 'are' : 'is'} partial`,
    axis.isSearched && axis.until < axis.end && 'the range ends in the future',
    !axis.isSearched && 'the axis covers the times of the result, not the searched range',
  );
}

function missingNotes({ missing }: TimeLayout, { zeros, breaks }: Facts): readonly string[] {
  const why = missing === 'unknown' ? 'the result leaves out' : 'without rows';
  return notes(
    zeros.length > 0 && `bins without rows are 0 in ${namesOf(zeros)}`,
    breaks.length > 0 && `bins ${why} are gaps in ${namesOf(breaks)}`,
  );
}
