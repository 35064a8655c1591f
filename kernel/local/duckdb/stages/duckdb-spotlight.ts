import type { AddStage, SpotlightField, SpotlightParts } from '../../sql/dialect.js';
import { type SqlArg, sqlArg } from '../../sql/sql-template.js';
import { withoutNaN } from '../duckdb-expressions.js';
import { sqlText } from '../duckdb-literal.js';
import { convert, toDynamic } from '../functions/duckdb-conversion.js';
import { membersSql } from './duckdb-members.js';

/** Numeric fields with more values than this are binned. */
const mostPlainNumbers = 24;
/** Numeric fields with more values than this are binned row by row; for the rest, values are counted first. */
const mostCountedNumbers = 10_000;
/** Rows that represent all of them when quantiles are computed from counts: the first of `quantiles` is one of them. */
const quantileShares = 1_000;
/** Quantiles over all rows that separate the bins of a numeric field. */
const quantiles = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999];
/** Bins of equal width between the first and the last time. */
const timeBins = 12;
/** Approximate number of rows that determine the bins of numeric fields whose values are not counted. */
const quantileRows = 100_000;
/** Text fields with more values are not counted. */
const mostValues = 250_000;
/** Fields that the engine counts per pass. */
const fieldsInPass = 30;
/** With fewer rows on either side, no difference can be told from chance. */
const fewestRows = 5;
/** Probability that a field is listed by chance alone, over all fields and values combined. */
const falseAlarms = 0.01;
/** A text field with this many values per row identifies rows and explains nothing. */
const uniqueShare = 0.8;
/** Values listed per field. */
const listedValues = 10;
/** Fields that are combined, and number of combinations listed. */
const combinedFields = 8;
const listedCombinations = 3;
/** How much more a combination has to explain than any of its fields. */
const leastGain = 0.01;

/**
 * Returns `spotlight` as a SELECT of its keys and, as `value`, JSON [{field, score, values}], most telling first. The values of each field
 * are binned, the engine counts the rows of each bin, and the rest is arithmetic on those counts:
 *
 * - `score` is the total variation distance of the two distributions, corrected for the distance expected of shuffled rows:
 *   (d - E[d]) / (1 - E[d]), the form of Hubert & Arabie, "Comparing partitions" (1985), with the exact mean deviation of the
 *   hypergeometric distribution in Diaconis & Zabell, "Closed form summation for classical distributions" (1991).
 * - It is 0 unless a bin, or all bins up to one, has more or fewer selected rows than expected by chance: Fisher's exact test, with
 *   Bonferroni's correction for all bins of all fields.
 * - For the fields that explain most, the bins with the highest share of selected rows are tested together.
 */
export function spotlightSql(parts: SpotlightParts, stage: AddStage): string {
  const fields = parts.fields.map(codedField);
  const keys = parts.keys.map(key => key.name);
  const rows = stage(
    `SELECT ${listOf(
      parts.keys.map(key => `${key.sql} AS ${key.name}`),
      `coalesce(${parts.selected.sql}, false) AS sel`,
      fields.map(field => `${field.value} AS ${field.raw}`),
      fields.flatMap(field => (field.type === 'dynamic' ? `${field.isTextSql} AS ${field.isText}` : [])),
    )} FROM ${parts.input}`,
  );
  const totals = stage(
    `SELECT ${listOf(keys, 'count(*) AS total, count_if(sel) AS chosen')} FROM ${rows}${groupedBy(keys)}`,
    true,
  );
  const tables = fields.length === 0 ? undefined : fieldTables(fields, keys, { rows, totals }, stage);
  const told =
    tables === undefined || keys.length > 0
      ? undefined
      : membersSql(fields, { ...tables, totals }, { falseAlarms }, stage);
  const members = told === undefined ? undefined : stage(told, true);
  const entries = [
    ...(tables === undefined ? [] : [wholeSql(tables.listed, members)]),
    ...(members === undefined ? [] : [`SELECT * FROM ${members}`]),
    ...(tables === undefined || keys.length > 0 || fields.length === 1
      ? []
      : [combinedSql(fields, tables, totals, stage)]),
    ...parts.omitted.map(({ name, note }, index) => {
      const entry = `apl_spotlight_entry(${sqlText(name)}, 0.0, '[]'::JSON, ${sqlText(note)})`;
      return `SELECT ${listOf(keys, `${fields.length + index} AS place, -1.0 AS score`, `${entry} AS entry`)} FROM ${totals}`;
    }),
  ];
  const all = stage(
    entries.length === 0
      ? `SELECT *, 0 AS place, 0.0 AS score, NULL::JSON AS entry FROM ${totals} WHERE false`
      : entries.join(' UNION ALL '),
  );
  const list = `coalesce(to_json(list(entry ORDER BY score DESC, place)), '[]'::JSON) AS value`;
  return `SELECT ${listOf(keys, list)} FROM ${all}${groupedBy(keys)}`;
}

/** Returns the entries of whole values, except for fields whose members explain more. */
function wholeSql(listed: string, members: string | undefined): string {
  const where = members === undefined ? '' : ` WHERE place NOT IN (SELECT place FROM ${members})`;
  return `SELECT * FROM ${listed}${where}`;
}

/** A field with its column names: the value of a row, the key that groups its rows (`code`), and the SQL of both. */
interface CodedField {
  readonly label: string;
  readonly place: number;
  readonly type: SqlArg['type'];
  readonly bins: 'none' | 'quantiles' | 'times';
  readonly raw: string;
  readonly value: string;
  readonly isText: string;
  readonly isTextSql: string;
  readonly code: string;
  readonly codeSql: string;
  /** The bin of the grouped value, as a number; null for unordered values. */
  readonly binSql: string;
}

function codedField({ label, arg }: SpotlightField, place: number): CodedField {
  const [raw, code] = [`r${place}`, `k${place}`];
  const field = {
    ...{ label, place, type: arg.type, raw, code, isText: `t${place}` },
    isTextSql: `coalesce(json_type(${arg.sql}) = 'VARCHAR', true)`,
  };
  switch (arg.type) {
    case 'long':
    case 'real':
    case 'timespan': {
      const cuts = quantiles.map((_, at) => `WHEN ${raw} < g${place}_${at} THEN ${at}`).join(' ');
      const bin = `CASE WHEN ${raw} IS NULL THEN NULL ${cuts} ELSE ${quantiles.length} END`;
      const counted = `len(list_filter(e${place}, lambda edge: edge <= ${code}))`;
      return {
        ...field,
        ...{ bins: 'quantiles', value: withoutNaN(arg) },
        codeSql: `CASE WHEN d${place} <= ${mostCountedNumbers} THEN ${raw} ELSE ${bin} END`,
        binSql: `CASE WHEN ${code} IS NOT NULL AND d${place} BETWEEN ${mostPlainNumbers + 1} AND ${mostCountedNumbers} THEN ${counted} ELSE ${code} END::DOUBLE`,
      };
    }
    case 'datetime': {
      const codeSql = `(epoch_ns(${raw}) - a${place}) // w${place}`;
      return { ...field, bins: 'times', value: arg.sql, codeSql, binSql: `${code}::DOUBLE` };
    }
    default: {
      const codeSql = `CASE WHEN d${place} <= ${mostValues} THEN apl_spotlight_text(${raw}) END`;
      return { ...field, bins: 'none', value: convert(arg, 'string'), codeSql, binSql: 'NULL' };
    }
  }
}

/** Stages shared by all fields. */
interface FieldTables {
  readonly rows: string;
  readonly facts: string;
  readonly edges: string;
  readonly bins: string;
  readonly scored: string;
  readonly ranked: string;
  readonly listed: string;
}

function fieldTables(
  fields: readonly CodedField[],
  keys: readonly string[],
  { rows, totals }: { readonly rows: string; readonly totals: string },
  stage: AddStage,
): FieldTables {
  const facts = stage(factsSql(fields, rows), true);
  const guessed = stage(guessedEdgesSql(fields, rows, facts), true);
  const codes = fields.map(field => `${field.codeSql} AS ${field.code}`);
  const coded = stage(`SELECT ${listOf(keys, 'sel', codes)} FROM ${rows}, ${facts}, ${guessed}`);
  const groups = stage(groupsSql(fields, keys, coded), true);
  const edges = stage(edgesSql(fields, { groups, facts, guessed }), true);
  const bins = stage(binsSql(fields, facts, edges), true);
  const counted = stage(countsSql(fields, keys, { groups, facts, edges }), true);
  const scored = stage(scoredSql(fields, keys, { counted, totals }, stage), true);
  const ranked = stage(rankedSql(fields, keys, { scored, totals, facts }), true);
  const listed = stage(listedSql(keys, { scored, ranked, bins }));
  return { rows, facts, edges, bins, scored, ranked, listed };
}

/** Returns one row: the number of rows, and for each field its approximate number of values, or the start and width of its time bins. */
function factsSql(fields: readonly CodedField[], rows: string): string {
  const facts = fields.flatMap(({ bins, raw, place }) =>
    bins === 'times'
      ? [
          `epoch_ns(min(${raw})) AS a${place}`,
          `greatest((epoch_ns(max(${raw})) - epoch_ns(min(${raw}))) // ${timeBins} + 1, 1) AS w${place}`,
        ]
      : [`approx_count_distinct(${raw}) AS d${place}`],
  );
  // A hash threshold that selects this many rows: dividing every hash by a number takes longer than all the counting.
  const part = `18446744073709551615::UBIGINT // greatest(count(*) // ${quantileRows}, 1)::UBIGINT AS part`;
  return `SELECT ${listOf('count(*) AS n', part, facts)} FROM ${rows}`;
}

/**
 * Returns one row: the quantiles of each numeric field whose values are not counted, over rows sampled by hash, the same ones each time.
 */
function guessedEdgesSql(fields: readonly CodedField[], rows: string, facts: string): string {
  const numbers = fields.filter(field => field.bins === 'quantiles');
  if (numbers.length === 0) return 'SELECT NULL AS none';
  const lists = numbers.map(
    ({ raw, place }) =>
      `CASE WHEN any_value(d${place}) > ${mostCountedNumbers} THEN quantile_disc(${raw}, [${quantiles.join(', ')}]) END AS q${place}`,
  );
  const chosen = `hash(${numbers.map(({ raw }) => raw).join(', ')}) <= part`;
  const each = numbers.flatMap(({ place }) => [
    `q${place}`,
    ...quantiles.map((_, at) => `q${place}[${at + 1}] AS g${place}_${at}`),
  ]);
  return `SELECT ${each.join(', ')} FROM (SELECT ${lists.join(', ')} FROM ${rows}, ${facts} WHERE ${chosen})`;
}

/** Returns one row: the quantiles of each numeric field with many values, from the counts of its values or else the sampled ones. */
function edgesSql(
  fields: readonly CodedField[],
  { groups, facts, guessed }: { readonly groups: string; readonly facts: string; readonly guessed: string },
): string {
  const numbers = fields.filter(field => field.bins === 'quantiles');
  if (numbers.length === 0) return 'SELECT NULL AS none';
  const own = (all: readonly CodedField[], of: (field: CodedField) => string) =>
    all.length === 0
      ? 'NULL'
      : `CASE place ${all.map(field => `WHEN ${field.place} THEN ${of(field)}`).join(' ')} END`;
  const columns = numbers.map(({ code }) => code);
  // Integers and reals are each ordered by their own type, which is exact.
  const ordered = (isReal: boolean) =>
    own(
      numbers.filter(({ type }) => (type === 'real') === isReal),
      ({ code }) => code,
    );
  const order = `${ordered(true)}, ${ordered(false)}`;
  const isCounted = own(
    numbers,
    ({ code, place }) => `${code} IS NOT NULL AND d${place} <= ${mostCountedNumbers}`,
  );
  const counted = `SELECT ${listOf(columns, 'n')}, sum(n) OVER (PARTITION BY place ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS up_to, sum(n) OVER (PARTITION BY place) AS total
    FROM ${groups}, (SELECT * EXCLUDE (n) FROM ${facts}) WHERE ${isCounted}`;
  // Each value is repeated in proportion to its share of the rows.
  const shares = `SELECT ${listOf(columns)}, unnest(range((up_to * ${quantileShares} // total - (up_to - n) * ${quantileShares} // total)::BIGINT)) FROM (${counted})`;
  const lists = numbers.map(
    ({ code, place }) =>
      `CASE WHEN any_value(d${place}) > ${mostCountedNumbers} THEN any_value(q${place}) ELSE quantile_disc(${code}, [${quantiles.join(', ')}]) END AS e${place}`,
  );
  return `SELECT ${lists.join(', ')} FROM ${facts}, ${guessed} LEFT JOIN (${shares}) AS shares ON true`;
}

/** Returns the bins that are ranges: at least `lo` and less than `hi`, null if unbounded. */
function binsSql(fields: readonly CodedField[], facts: string, edges: string): string {
  const range = (place: number, count: number, lo: string, hi: string, where: string) =>
    `SELECT ${place} AS place, unnest(range(${count}))::DOUBLE AS bin, unnest(${lo}) AS lo, unnest(${hi}) AS hi FROM ${facts}, ${edges} WHERE ${where}`;
  const selects = fields.flatMap(({ bins, place, type }) => {
    if (bins === 'none') return [];
    if (bins === 'times') {
      const at = (from: number) =>
        `list_transform(range(${from}, ${from + timeBins}), lambda i: ${toDynamic(sqlArg(`make_timestamp_ns(a${place} + i * w${place})`, 'datetime'))})`;
      return [range(place, timeBins, at(0), at(1), `a${place} IS NOT NULL`)];
    }
    const end = toDynamic(sqlArg('edge', type));
    // Integers that JSON parsers would round are written as strings.
    const exact = `CASE WHEN abs(edge::DOUBLE) < ${2 ** 53} THEN ${end} ELSE to_json(edge::VARCHAR) END`;
    const ends = `list_transform(e${place}, lambda edge: ${type === 'real' ? end : exact})`;
    const many = `d${place} > ${mostPlainNumbers}`;
    return [
      range(place, quantiles.length + 1, `list_prepend(NULL, ${ends})`, `list_append(${ends}, NULL)`, many),
    ];
  });
  if (selects.length === 0)
    return 'SELECT 0 AS place, NULL::DOUBLE AS bin, NULL::JSON AS lo, NULL::JSON AS hi WHERE false';
  return selects.join(' UNION ALL ');
}

/** Returns the row count of each value of each field: `place` identifies the field, and the remaining codes are null. */
function groupsSql(fields: readonly CodedField[], keys: readonly string[], coded: string): string {
  const passes = Array.from({ length: Math.ceil(fields.length / fieldsInPass) }, (_, pass) =>
    fields.slice(pass * fieldsInPass, (pass + 1) * fieldsInPass),
  );
  const selects = passes.map(pass => {
    const place = `CASE ${pass.map(field => `WHEN grouping(${field.code}) = 0 THEN ${field.place}`).join(' ')} END AS place`;
    const sets = pass.map(({ code }) => `(${listOf(keys, code)})`).join(', ');
    return `SELECT ${listOf(
      keys,
      place,
      pass.map(({ code }) => code),
      'count(*) AS n, count_if(sel) AS s',
    )} FROM ${coded} GROUP BY GROUPING SETS (${sets})`;
  });
  return selects.join(' UNION ALL BY NAME ');
}

/** Returns the row count of each bin of each field: the bin as text and, if bins are ordered, as a number. */
function countsSql(
  fields: readonly CodedField[],
  keys: readonly string[],
  { groups, facts, edges }: { readonly groups: string; readonly facts: string; readonly edges: string },
): string {
  const chosen = (of: (field: CodedField) => string) =>
    `CASE place ${fields.map(field => `WHEN ${field.place} THEN ${of(field)}`).join(' ')} END`;
  const text = ({ code, type, bins, place }: CodedField) => {
    if (bins === 'none') return `${code}::VARCHAR`;
    return bins === 'times'
      ? 'NULL'
      : `CASE WHEN d${place} <= ${mostPlainNumbers} THEN ${convert(sqlArg(code, type), 'string')} END`;
  };
  const bin = chosen(({ binSql }) => binSql);
  const each = `SELECT ${listOf(keys, 'place')}, ${chosen(text)} AS value, ${bin}::DOUBLE AS bin, n, s FROM ${groups}, ${edges}, (SELECT * EXCLUDE (n) FROM ${facts})`;
  return `SELECT ${listOf(keys, 'place')}, coalesce(value, bin::VARCHAR) AS v, bin, sum(n)::BIGINT AS n, sum(s)::BIGINT AS s FROM (${each}) GROUP BY ALL`;
}

/** Returns each bin with its shares, their expected difference by chance, and the log probability of the observed counts by chance. */
function scoredSql(
  fields: readonly CodedField[],
  keys: readonly string[],
  { counted, totals }: { readonly counted: string; readonly totals: string },
  stage: AddStage,
): string {
  const enough = `chosen >= ${fewestRows} AND total - chosen >= ${fewestRows}`;
  // In a text field with many values, most have the same few row counts, so there are few distinct pairs.
  const pairs = stage(
    `SELECT pairs.*, total, chosen, s / chosen AS inside, (n - s) / (total - chosen) AS outside,
      apl_chance_gap(n, chosen, total) AS gap, apl_chance_ln(s, n, chosen, total) AS likely
    FROM (SELECT DISTINCT ${listOf(keys, 'n', 's')} FROM ${counted}) AS pairs JOIN ${totals} ON ${same(keys, 'pairs', totals)} WHERE ${enough}`,
    true,
  );
  const kinds = stage(
    `SELECT ${listOf(keys, 'place')}, count(*) AS kinds FROM ${counted} GROUP BY ALL`,
    true,
  );
  // Ordered bins are also tested cumulatively: a shift spreads over many bins and is large in none.
  const ordered = fields.filter(({ bins }) => bins !== 'none').map(({ place }) => place);
  const upTo = `OVER (PARTITION BY ${listOf(keys, 'place')} ORDER BY bin, v)`;
  const select = (likely: string, from: string) =>
    `SELECT bins.*, inside, outside, gap, kinds, ${likely} + ln(2.0 * ${fields.length} * kinds) AS chance FROM ${from} AS bins
    JOIN ${pairs} AS pairs ON pairs.n = bins.n AND pairs.s = bins.s AND ${same(keys, 'pairs', 'bins')}
    JOIN ${kinds} AS kinds ON kinds.place = bins.place AND ${same(keys, 'kinds', 'bins')}`;
  const plain = select('likely', `(SELECT * FROM ${counted} WHERE bin IS NULL)`);
  if (ordered.length === 0) return plain;
  const sums = `(SELECT *, sum(n) ${upTo} AS n_up, sum(s) ${upTo} AS s_up FROM ${counted} WHERE bin IS NOT NULL)`;
  const least = 'least(likely, apl_chance_ln(s_up, n_up, chosen, total)) + ln(2)';
  return `${plain} UNION ALL SELECT * EXCLUDE (n_up, s_up) FROM (${select(least, sums)})`;
}

/** Returns each field with its score, or with a note on why it has none. */
function rankedSql(
  fields: readonly CodedField[],
  keys: readonly string[],
  { scored, totals, facts }: { readonly scored: string; readonly totals: string; readonly facts: string },
): string {
  const names = fields.map(
    ({ place, label, bins }) =>
      `SELECT ${place} AS place, ${sqlText(label)} AS label, ${bins === 'times' ? 'NULL' : `d${place}`}::BIGINT AS kinds_about, n AS rows_about, ${bins === 'none'} AS plain FROM ${facts}`,
  );
  const note = `CASE WHEN total = 0 THEN 'there are no rows' WHEN chosen = 0 THEN 'no row is selected' WHEN chosen = total THEN 'every row is selected'
    WHEN chosen < ${fewestRows} THEN 'too few rows are selected: ' || chosen || ', at least ${fewestRows} are needed'
    WHEN total - chosen < ${fewestRows} THEN 'too few rows are not selected: ' || (total - chosen) || ', at least ${fewestRows} are needed'
    WHEN plain AND (kinds >= ${uniqueShare} * total OR (kinds_about > ${mostValues} AND kinds_about >= 0.5 * rows_about)) THEN 'left out: nearly every row has its own value'
    WHEN plain AND kinds_about > ${mostValues} THEN 'left out: more than ${mostValues} values' END`;
  const score = `CASE WHEN chance >= ln(${falseAlarms}) OR e >= 1 THEN 0 ELSE greatest(0, round((d - e) / (1 - e), 6)) END`;
  return `SELECT *, CASE WHEN note IS NULL THEN coalesce(${score}, 0) ELSE 0 END AS score
    FROM (SELECT ${listOf(
      keys.map(key => `${totals}.${key}`),
      'fields.place, label, d, e, chance',
    )}, ${note} AS note
    FROM ${totals} CROSS JOIN (${names.join(' UNION ALL ')}) AS fields
    LEFT JOIN (SELECT ${listOf(keys, 'place')}, sum(abs(inside - outside)) / 2 AS d, sum(gap) / 2 AS e, min(chance) AS chance, any_value(kinds) AS kinds
      FROM ${scored} GROUP BY ALL) AS sums ON sums.place = fields.place AND ${same(keys, totals, 'sums')})`;
}

/** Returns the entries of single fields. Ranges are listed in order, other values by the difference of their shares. */
function listedSql(
  keys: readonly string[],
  { scored, ranked, bins }: { readonly scored: string; readonly ranked: string; readonly bins: string },
): string {
  const partition = `PARTITION BY ${listOf(
    keys.map(key => `${scored}.${key}`),
    `${scored}.place`,
  )}`;
  const order = `abs(inside - outside) DESC, inside DESC, v NULLS LAST`;
  const value = `apl_spotlight_value(v, lo, hi, ranged, inside, outside)`;
  const values = `SELECT ${listOf(keys, 'place')}, to_json(list(${value} ORDER BY CASE WHEN ranged THEN bin END NULLS LAST, turn)) AS found
    FROM (SELECT ${scored}.*, lo, hi, ${bins}.place IS NOT NULL AS ranged, row_number() OVER (${partition} ORDER BY ${order}) AS turn
      FROM ${scored} LEFT JOIN ${bins} ON ${scored}.place = ${bins}.place AND ${scored}.bin = ${bins}.bin)
    WHERE turn <= ${listedValues} OR ranged GROUP BY ALL`;
  const entry = `apl_spotlight_entry(label, score, CASE WHEN note IS NULL THEN coalesce(found, '[]'::JSON) ELSE '[]'::JSON END, note)`;
  return `SELECT ${listOf(
    keys.map(key => `${ranked}.${key}`),
    `${ranked}.place, CASE WHEN note IS NULL THEN score ELSE -1 END AS score`,
  )}, ${entry} AS entry
    FROM ${ranked} LEFT JOIN (${values}) AS listed ON listed.place = ${ranked}.place AND ${same(keys, ranked, 'listed')}`;
}

/** Returns the entries of fields that explain more together: each of the first fields is a bit of a row, set if its fullest bins match. */
function combinedSql(
  fields: readonly CodedField[],
  { rows, facts, edges, bins, scored, ranked }: FieldTables,
  totals: string,
  stage: AddStage,
): string {
  // Neighboring bins with a higher share of selected rows count as one.
  const runs = `SELECT place, v, bin, inside, outside, place_score, turn,
      CASE WHEN bin IS NULL THEN turn ELSE turn - row_number() OVER (PARTITION BY place, inside > outside ORDER BY bin, v) END AS run
    FROM (SELECT ${scored}.*, score AS place_score, row_number() OVER (PARTITION BY ${scored}.place ORDER BY bin, v) AS turn
      FROM ${scored} JOIN ${ranked} ON ${scored}.place = ${ranked}.place WHERE score > 0)
    QUALIFY inside > outside`;
  const best = stage(
    `SELECT place, place_score, v, v_last, low, high, row_number() OVER (ORDER BY place_score DESC, place) - 1 AS bit
    FROM (SELECT place, any_value(place_score) AS place_score, first(v ORDER BY turn) AS v, last(v ORDER BY turn) AS v_last, min(bin) AS low, max(bin) AS high, sum(inside - outside) AS gain, min(turn) AS start
      FROM (${runs}) GROUP BY place, run QUALIFY row_number() OVER (PARTITION BY place ORDER BY gain DESC, start) = 1)
    QUALIFY bit < ${combinedFields}`,
    true,
  );
  const pivot = fields.flatMap(({ place }) =>
    ['bit', 'v', 'low', 'high'].map(
      name => `any_value(${name}) FILTER (WHERE place = ${place}) AS ${name}${place}`,
    ),
  );
  const picked = stage(`SELECT ${pivot.join(', ')} FROM ${best}`);
  const chosen = stage(
    `SELECT ${listOf('*', fields.flatMap(endsSql))} FROM ${picked}, ${facts}, ${edges}`,
    true,
  );
  const bits = fields.map(
    field =>
      `CASE WHEN bit${field.place} IS NOT NULL AND ${holdsSql(field)} THEN 1 << bit${field.place} ELSE 0 END`,
  );
  const masks = stage(
    `SELECT ${bits.join(' + ')} AS mask, count(*) AS n, count_if(sel) AS s FROM ${rows}, ${chosen} GROUP BY 1`,
    true,
  );
  const sets = Array.from({ length: 2 ** combinedFields }, (_, mask) => mask).filter(
    mask => bitsOf(mask) <= 3,
  );
  const counts = stage(
    `SELECT wanted, coalesce(sum(n), 0) AS n, coalesce(sum(s), 0) AS s FROM (VALUES ${sets.map(mask => `(${mask})`).join(', ')}) AS sets(wanted)
    JOIN ${masks} ON (mask & wanted) = wanted GROUP BY 1`,
    true,
  );
  const members = sets.flatMap(mask =>
    bitsOf(mask) < 2 ? [] : bitPlaces(mask).map(bit => `(${mask}, ${bit}, ${mask - 2 ** bit})`),
  );
  // Neighbors without bins are numbers, and both occur in the rows.
  const ends = `first_bin.lo, last_bin.hi, first_bin.place IS NOT NULL`;
  const label = `CASE WHEN first_bin.place IS NULL AND v <> v_last THEN v || ' to ' || v_last ELSE apl_spotlight_label(v, ${ends}) END`;
  const part = `CASE WHEN first_bin.place IS NULL AND v <> v_last THEN json_object('least', v, 'most', v_last) ELSE apl_spotlight_part(v, ${ends}) END`;
  const tested = `SELECT members.wanted, label AS name, ${label} AS text, ${part} AS part, ${best}.place, place_score, whole.n AS n, whole.s AS s,
      apl_chance_ln(whole.s, whole.n, fewer.s, fewer.n) + ln(2.0 * ${members.length}) AS chance, whole.s * fewer.n > fewer.s * whole.n AS more
    FROM (VALUES ${members.join(', ')}) AS members(wanted, bit, without)
    JOIN ${best} ON ${best}.bit = members.bit JOIN ${ranked} ON ${ranked}.place = ${best}.place
    JOIN ${counts} AS whole ON whole.wanted = members.wanted JOIN ${counts} AS fewer ON fewer.wanted = members.without
    LEFT JOIN ${bins} AS first_bin ON first_bin.place = ${best}.place AND first_bin.bin = low
    LEFT JOIN ${bins} AS last_bin ON last_bin.place = ${best}.place AND last_bin.bin = high`;
  const told = stage(
    `SELECT wanted, list(name ORDER BY place) AS names, list(text ORDER BY place) AS texts, list(part ORDER BY place) AS parts,
      any_value(s) / any_value(chosen) AS inside, (any_value(n) - any_value(s)) / any_value(total - chosen) AS outside,
      inside - outside AS d, apl_chance_gap(any_value(n), any_value(chosen), any_value(total)) AS e, max(place_score) AS single
    FROM (${tested}), ${totals} GROUP BY wanted HAVING bool_and(more) AND max(chance) < ln(${falseAlarms})`,
  );
  const entry = `json_object('field', array_to_string(names, ', '), 'score', score, 'values',
      json_array(json_object('value', array_to_string(texts, ', '), 'selected', inside, 'baseline', outside, 'parts', parts)), 'fields', names)`;
  return `SELECT -wanted AS place, score, ${entry} AS entry FROM (SELECT *, round((d - e) / (1 - e), 6) AS score FROM ${told})
    WHERE score > single + ${leastGain} QUALIFY row_number() OVER (ORDER BY score DESC, wanted) <= ${listedCombinations}`;
}

/** Returns the ends of the bins `low` to `high` of a field: at least `x`, less than `y`, from `u` to `z`; null if unbounded. */
function endsSql({ bins, place }: CodedField): readonly string[] {
  if (bins === 'none') return [];
  const [low, high] = [`low${place}`, `high${place}`];
  if (bins === 'times') {
    const at = (bin: string) => `make_timestamp_ns((a${place} + ${bin} * w${place})::BIGINT)`;
    return [`${at(low)} AS x${place}`, `${at(`(${high} + 1)`)} AS y${place}`];
  }
  const isPlain = `d${place} <= ${mostPlainNumbers}`;
  const edge = (bin: string) => `CASE WHEN NOT ${isPlain} THEN e${place}[TRY_CAST(${bin} AS BIGINT)] END`;
  // Bins of plain numbers are reals: the largest real may not fit an integer.
  return [
    `${edge(low)} AS x${place}`,
    `${edge(`(${high} + 1)`)} AS y${place}`,
    `CASE WHEN ${isPlain} THEN ${low} END AS u${place}`,
    `CASE WHEN ${isPlain} THEN ${high} END AS z${place}`,
  ];
}

/** Returns whether a row is in the chosen bins of a field. */
function holdsSql({ bins, place, raw }: CodedField): string {
  if (bins === 'none') return `apl_spotlight_text(${raw}) IS NOT DISTINCT FROM v${place}`;
  const ends: readonly string[] = [
    `${raw} >= x${place}`,
    `${raw} < y${place}`,
    ...(bins === 'times' ? [] : [`${raw}::DOUBLE >= u${place}`, `${raw}::DOUBLE <= z${place}`]),
  ];
  const inside = ends.map(end => `coalesce(${end}, true)`).join(' AND ');
  return `CASE WHEN low${place} IS NULL THEN ${raw} IS NULL ELSE ${raw} IS NOT NULL AND ${inside} END`;
}

function bitPlaces(mask: number): number[] {
  return Array.from({ length: combinedFields }, (_, bit) => bit).filter(bit => (mask >> bit) % 2 === 1);
}

function bitsOf(mask: number): number {
  return bitPlaces(mask).length;
}

function listOf(...items: readonly (string | readonly string[])[]): string {
  return items.flat().join(', ');
}

function groupedBy(keys: readonly string[]): string {
  return keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
}

function same(keys: readonly string[], left: string, right: string): string {
  return keys.map(key => `${left}.${key} IS NOT DISTINCT FROM ${right}.${key}`).join(' AND ') || 'true';
}
