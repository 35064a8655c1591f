import type { AddStage } from '../../sql/dialect.js';
import type { SqlArg } from '../../sql/sql-template.js';
import { sqlText } from '../duckdb-literal.js';

/** Rows per side, selected or not, that are searched for members of values. */
const readRows = 5_000;
/** Text with fewer values is only compared by whole values. */
const fewestTexts = 24;
/** Maximum elements per array, and words per text, that are read. */
const mostMembers = 100;
/** Minimum rows with a word or element. */
const fewestRows = 5;
/** Words, separated as by `has`. The engine takes thirty times as long over a pattern that limits their length. */
const word = String.raw`[\pL\pN]+`;
/** Length of a word, in characters; shorter ones tend to be articles and units rather than causes. */
const [shortestWord, longestWord] = [2, 40];
/** Pieces that make up the beginning of a text, the numbers of pieces tried, and the maximum length of a beginning in characters. */
const piece = String.raw`[^\pL\pN]+|(?:\pL+|\pN+)[^\pL\pN]*`;
const longestStart = 200;
const pieces = [1, 2, 3, 4];
/** Maximum members per field that are counted again, and that are listed. */
const mostLikely = 100;
const listed = 10;
/** How much more a member has to explain than the whole values of its field. */
const leastGain = 0.01;

/** A field whose values may have members: `raw` is the column of its text, with about `d` and `place` values. */
interface WholeField {
  readonly label: string;
  readonly place: number;
  readonly type: SqlArg['type'];
  readonly raw: string;
  /** Column that is true for dynamic values that are strings, whatever their content. */
  readonly isText: string;
}

/** The stages of `spotlight` that are used here. */
interface WholeTables {
  readonly rows: string;
  readonly totals: string;
  readonly facts: string;
  readonly ranked: string;
}

/**
 * Returns the entries of words and beginnings of text, array elements and object members that explain more than the whole values of their
 * fields, as a SELECT of place, score and entry; undefined if no field can have any. Rows are sampled by hash on each side, as few may be
 * selected. Every member with enough rows is tested like a value.
 */
export function membersSql(
  fields: readonly WholeField[],
  { rows, totals, facts, ranked }: WholeTables,
  { falseAlarms }: { readonly falseAlarms: number },
  stage: AddStage,
): string | undefined {
  const whole = fields.filter(({ type }) => type === 'string' || type === 'dynamic');
  if (whole.length === 0) return undefined;
  const read = stage(readSql(whole, { rows, totals, facts }, stage), true);
  const each = membersOf.map(
    ({ kind, isRead, list }) =>
      `SELECT sel, place, ${sqlText(kind)} AS kind, unnest(list_distinct(list_slice(${list}, 1, ${mostMembers}))) AS v FROM ${read} WHERE ${isRead}`,
  );
  const counted = stage(
    `SELECT place, kind, v, count(*) AS n, count_if(sel)::BIGINT AS s FROM (SELECT sel, place, '' AS kind, v FROM ${read} WHERE place < 0 UNION ALL ${each.join(' UNION ALL ')})
    GROUP BY ALL HAVING n >= ${fewestRows}`,
    true,
  );
  const tested = (from: string) =>
    `SELECT * FROM (SELECT a.place, a.kind, a.v, a.s / b.s AS inside, (a.n - a.s) / (b.n - b.s) AS outside, inside - outside AS d, apl_chance_gap(a.n, b.s, b.n) AS e,
      apl_chance_ln(a.s, a.n, b.s, b.n) + ln(2.0 * ${whole.length} * tried) AS chance
    FROM ${from} AS a JOIN (SELECT place, count(*) AS tried FROM ${counted} WHERE place >= 0 GROUP BY place) AS t ON t.place = a.place, (SELECT * FROM ${counted} WHERE place < 0) AS b
    WHERE b.s >= ${fewestRows} AND b.n - b.s >= ${fewestRows}) WHERE chance < ln(${falseAlarms})`;
  const likely = stage(
    `SELECT place, kind, v FROM (${tested(counted)}) QUALIFY row_number() OVER (PARTITION BY place ${strongestFirst}) <= ${mostLikely}`,
    true,
  );
  // Nothing is reported about values that selected rows lack if the values they have explain as much; for some kinds, never.
  const lacking = `-min(d) OVER (PARTITION BY place) > greatest(max(d) OVER (PARTITION BY place), 0) + ${leastGain}`;
  const sided = `SELECT * FROM (SELECT * FROM (${tested(`(${againSql(read, likely)})`)}) WHERE d > 0 OR kind IN ('word', 'element'))
    QUALIFY CASE WHEN ${lacking} THEN d < 0 ELSE d > 0 END`;
  const best = stage(
    `SELECT *, round((abs(d) - e) / (1 - e), 6) AS tells, row_number() OVER (PARTITION BY place ${strongestFirst}) AS turn
    FROM (${sided})`,
  );
  const labels = whole.map(({ place, label }) => `(${place}, ${sqlText(label)})`);
  const named = `SELECT best.*, label, CASE WHEN kind = 'element' THEN v ->> '$' WHEN kind = 'member' THEN v ->> '$[1]' ELSE v END AS name, CASE WHEN kind = 'element' THEN v::JSON ELSE to_json(v) END AS has
    FROM ${best} AS best JOIN (VALUES ${labels.join(', ')}) AS labels(place, label) ON labels.place = best.place WHERE turn <= ${listed}`;
  return `SELECT found.place, found.score, entry FROM (SELECT place, max(tells) AS score,
      json_object('field', any_value(label), 'score', max(tells), 'values', to_json(list(${valueSql()} ORDER BY turn)), 'rows', any_value(part)) AS entry
    FROM (${named}), (${readRowsSql(counted, totals)}) GROUP BY place) AS found
    JOIN ${ranked} ON ${ranked}.place = found.place WHERE found.score > ${ranked}.score + ${leastGain}`;
}

const strongestFirst = `ORDER BY abs(d) DESC, kind = 'start', length(v) DESC, v`;

/** Returns the values that are read, plus one value of no field in each row, which counts the rows. */
function readSql(
  whole: readonly WholeField[],
  { rows, totals, facts }: Omit<WholeTables, 'ranked'>,
  stage: AddStage,
): string {
  const part = (of: string) =>
    `least(18446744073709551615.0 * ${readRows} / greatest(${of}, 1), 18446744073709551615)::UHUGEINT`;
  const parts = stage(
    `SELECT ${part('chosen')} AS of_chosen, ${part('(total - chosen)')} AS of_others FROM ${totals}`,
  );
  const columns = whole.map(({ raw }) => raw).join(', ');
  const values = whole.map(({ place, type, raw, isText }) =>
    type === 'dynamic'
      ? `CASE WHEN NOT ${isText} THEN {place: ${place}, type: 'dynamic', v: ${raw}} END`
      : `CASE WHEN d${place} > ${fewestTexts} THEN {place: ${place}, type: 'string', v: ${raw}} END`,
  );
  // All values are in one column, since the engine compiles a pattern per column.
  return `SELECT sel, f.place AS place, f.type AS type, f.v AS v
    FROM (SELECT sel, unnest([{place: -1, type: '', v: ''}, ${values.join(', ')}]) AS f
      FROM ${rows}, ${facts}, ${parts} WHERE hash(${columns}) <= CASE WHEN sel THEN of_chosen ELSE of_others END)
    WHERE f.v IS NOT NULL`;
}

/** Counts the likely members again by their conditions, which check the whole value, including values that were not read. */
function againSql(read: string, likely: string): string {
  const each = membersOf.map(({ kind, again }) => {
    const own = `(SELECT place, v FROM ${likely} WHERE kind = ${sqlText(kind)})`;
    return `SELECT sel, place, ${sqlText(kind)} AS kind, v FROM (${again(read, own)})`;
  });
  return `SELECT place, kind, v, count(*) AS n, count_if(sel)::BIGINT AS s FROM (${each.join(' UNION ALL ')}) GROUP BY ALL`;
}

/** Returns the number of rows read, null if all of them were. */
function readRowsSql(counted: string, totals: string): string {
  return `SELECT CASE WHEN n < total THEN n END AS part FROM ${counted}, ${totals} WHERE place < 0`;
}

/** Returns the JSON of a value by its kind. */
function valueSql(): string {
  const shares = `'selected', inside, 'baseline', outside`;
  const text = 'apl_spotlight_text(name)';
  return `CASE WHEN d < 0 THEN json_object('value', 'has no ' || ${text}, 'selected', 1 - inside, 'baseline', 1 - outside, 'lacks', has)
    WHEN kind = 'start' THEN json_object('value', 'starts with ' || ${text}, ${shares}, 'starts', name)
    WHEN kind = 'member' THEN json_object('value', apl_spotlight_text(v ->> '$[0]') || ' = ' || ${text}, ${shares}, 'member', v ->> '$[0]', 'is', name)
    ELSE json_object('value', 'has ' || ${text}, ${shares}, 'has', has) END`;
}

/** A list of members of a field's value `v`, as strings, and a condition for reading it. */
interface Members {
  readonly kind: 'word' | 'start' | 'element' | 'member';
  readonly isRead: string;
  readonly list: string;
  /** Returns a SELECT of sel, place and v for every row that matches the condition on one of the `likely` members. */
  readonly again: (read: string, likely: string) => string;
}

const json = (empty: string) => `(CASE WHEN json_valid(v) THEN v ELSE ${sqlText(empty)} END)::JSON`;
const isObject = `type = 'dynamic' AND starts_with(v, '{')`;
/** Returns the member of an object at a key, as a JSON pair that does not distinguish strings from other types. */
const pair = (k: string) =>
  `json_array(${k}, apl_dyn_text(json_extract(${json('{}')}, '/' || replace(replace(${k}, '~', '~0'), '/', '~1'))))::VARCHAR`;
const starts = pieces.map(
  many => `regexp_extract(left(v, ${longestStart}), ${sqlText(`^(?:${piece}){${many}}`)})`,
);

/** Restricts lists of members to the likely ones. */
const among = (lists: (read: string) => string) => (read: string, likely: string) =>
  `SELECT a.* FROM (${lists(read)}) AS a JOIN ${likely} AS b ON a.place = b.place AND a.v = b.v`;
const inList = (isRead: string, list: string) =>
  among(read => `SELECT sel, place, unnest(list_distinct(${list})) AS v FROM ${read} WHERE ${isRead}`);

const words = `list_filter(regexp_extract_all(lower(v), ${sqlText(word)}), lambda w: w >= 'a' AND length(w) BETWEEN ${shortestWord} AND ${longestWord})`;

/** Values that a condition can express: strings, bools, and numbers that parsing leaves unchanged. */
const isWritten = (e: string) =>
  `(starts_with(${e}, '"') OR ${e} IN ('true', 'false') OR (abs(TRY_CAST(${e} AS DOUBLE)) < ${2 ** 53} AND ${e} <> '-0'))`;
const elements = `list_filter(apl_keys(${json('[]')})::VARCHAR[], lambda e: ${isWritten('e')})`;
const isArray = `type = 'dynamic' AND starts_with(v, '[')`;

/**
 * Members of values: the words of a text that begin with a letter, as separated by `has`, and its beginnings; array elements as JSON;
 * object members as JSON pairs.
 */
const membersOf: readonly Members[] = [
  {
    kind: 'word',
    isRead: `type = 'string' AND regexp_matches(v, '[ /]')`,
    list: words,
    again: inList(`type = 'string'`, words),
  },
  {
    kind: 'start',
    isRead: `type = 'string'`,
    list: `list_filter([${starts.join(', ')}], lambda w: w <> '' AND w <> v)`,
    again: (read, likely) =>
      `SELECT sel, a.place, b.v FROM ${read} AS a JOIN ${likely} AS b ON a.place = b.place AND starts_with(a.v, b.v)`,
  },
  { kind: 'element', isRead: isArray, list: elements, again: inList(isArray, elements) },
  {
    kind: 'member',
    isRead: isObject,
    list: `list_filter(list_transform(list_slice(json_keys(${json('{}')}), 1, ${mostMembers}), lambda k: ${pair('k')}), lambda p: p ->> '$[1]' IS NOT NULL)`,
    again: (read, likely) =>
      among(
        () =>
          `SELECT sel, a.place, ${pair('k')} AS v FROM ${read} AS a JOIN (SELECT DISTINCT place, v ->> '$[0]' AS k FROM ${likely}) AS keys ON a.place = keys.place WHERE ${isObject}`,
      )(read, likely),
  },
];
