/** Maximum length of a listed value, in characters. */
const longestText = 1_000;

/** Macros of `spotlight`: the probabilities under chance, and the entries of its result. */
export const spotlightSetup: readonly string[] = [
  // The logarithm of the probability that `draws` rows out of `total` contain `hits` of the `marked` ones.
  `CREATE MACRO apl_ln_choose(a, b) AS lgamma(a + 1.0) - lgamma(b + 1.0) - lgamma(a - b + 1.0)`,
  `CREATE MACRO apl_ln_draw(hits, marked, draws, total) AS apl_ln_choose(marked, hits) + apl_ln_choose(total - marked, draws - hits) - apl_ln_choose(total, draws)`,
  // The same for at least as many hits, or at most as many: an upper bound, since probabilities fall faster than the geometric series.
  `CREATE MACRO apl_ln_tail(first, ratio) AS CASE WHEN ratio < 1 THEN least(first - ln(1 - ratio), 0) ELSE 0 END`,
  `CREATE MACRO apl_chance_ln(hits, marked, draws, total) AS CASE WHEN hits::DOUBLE * total = marked::DOUBLE * draws THEN 0
     WHEN hits::DOUBLE * total > marked::DOUBLE * draws THEN apl_ln_tail(apl_ln_draw(hits, marked, draws, total),
       (marked - hits) * (draws - hits)::DOUBLE / ((hits + 1.0) * (total - marked - draws + hits + 1)))
     ELSE apl_ln_tail(apl_ln_draw(hits, marked, draws, total), hits * (total - marked - draws + hits)::DOUBLE / ((marked - hits + 1.0) * (draws - hits + 1))) END`,
  // The expected difference by chance between the shares of marked rows among drawn and undrawn rows.
  `CREATE MACRO apl_gap_at(above, marked, draws, total) AS CASE WHEN above > least(marked, draws) THEN 0
     ELSE 2.0 * above * (total - marked - draws + above) * exp(apl_ln_draw(above, marked, draws, total)) / (draws::DOUBLE * (total - draws)) END`,
  `CREATE MACRO apl_chance_gap(marked, draws, total) AS apl_gap_at(floor(marked::DOUBLE * draws / total) + 1, marked, draws, total)`,
  // Values of megabytes are told apart by their beginnings. Most are short, and the byte length shows that sooner.
  `CREATE MACRO apl_spotlight_text(v) AS CASE WHEN strlen(v) > ${longestText} AND length(v) > ${longestText} THEN left(v, ${longestText}) || '…' ELSE v END`,
  `CREATE MACRO apl_spotlight_label(v, lo, hi, ranged) AS CASE WHEN NOT ranged THEN apl_spotlight_text(v) WHEN lo IS NULL THEN 'less than ' || (hi ->> '$')
     WHEN hi IS NULL THEN (lo ->> '$') || ' or more' ELSE (lo ->> '$') || ' to ' || (hi ->> '$') END`,
  `CREATE MACRO apl_spotlight_part(v, lo, hi, ranged) AS CASE WHEN ranged THEN json_object('from', lo, 'to', hi) ELSE json_object('value', v) END`,
  `CREATE MACRO apl_spotlight_value(v, lo, hi, ranged, inside, outside) AS CASE WHEN ranged
     THEN json_object('value', apl_spotlight_label(v, lo, hi, ranged), 'selected', inside, 'baseline', outside, 'from', lo, 'to', hi)
     ELSE json_object('value', apl_spotlight_text(v), 'selected', inside, 'baseline', outside) END`,
  `CREATE MACRO apl_spotlight_entry(label, score, found, note) AS CASE WHEN note IS NULL
     THEN json_object('field', label, 'score', score, 'values', found) ELSE json_object('field', label, 'score', score, 'values', found, 'note', note) END`,
];
