import type { AddStage } from '../../sql/dialect.js';
import type { SqlArg } from '../../sql/template.js';
import { sqlText } from '../literal.js';

/** Rows on each side, selected and not, in which words and elements are looked for. */
const readRows = 5_000;
/** Text of fewer values is compared by these alone. */
const fewestTexts = 24;
/** Elements of one array, and words of one text, that are read. */
const mostMembers = 100;
/** Rows that a word or an element has to be in. */
const fewestRows = 5;
/** Characters of a word; short ones are articles and units more often than causes. */
const word = String.raw`[\pL\pN]{2,40}`;
/** The members that are listed of a field. */
const listed = 10;
/** How much more a member has to tell than the whole values of its field. */
const leastGain = 0.01;

/** A field whose values may have members: `raw` is the column of its text, which has about `d` and `place` values. */
interface WholeField {
  readonly label: string;
  readonly place: number;
  readonly type: SqlArg['type'];
  readonly raw: string;
}

/** The stages of `spotlight` that are read here. */
interface WholeTables {
  readonly rows: string;
  readonly totals: string;
  readonly facts: string;
  readonly ranked: string;
}

/**
 * Returns the entries of words in text and of elements of arrays that tell more than the whole values of their fields, as SELECT of
 * place, score and entry; undefined if no field can have any. The rows that are read are chosen by a hash on either side, as rows that
 * are selected may be few; each member that enough of them have is tested as a value is.
 */
export function membersSql(
  fields: readonly WholeField[],
  { rows, totals, facts, ranked }: WholeTables,
  { falseAlarms }: { readonly falseAlarms: number },
  stage: AddStage,
): string | undefined {
  const whole = fields.filter(({ type }) => type === 'string' || type === 'dynamic');
  if (whole.length === 0) return undefined;
  const part = (of: string) =>
    `least(18446744073709551615.0 * ${readRows} / greatest(${of}, 1), 18446744073709551615)::UHUGEINT`;
  const parts = stage(
    `SELECT ${part('chosen')} AS of_chosen, ${part('(total - chosen)')} AS of_others FROM ${totals}`,
  );
  const columns = whole.map(({ raw }) => raw).join(', ');
  const lists = whole.map(
    ({ place, ...field }) =>
      `CASE WHEN ${field.type === 'dynamic' ? `starts_with(${field.raw}, '[')` : `d${place} > ${fewestTexts} AND regexp_matches(${field.raw}, '[ /]')`} THEN list_transform(list_distinct(list_slice(${listSql(field)}, 1, ${mostMembers})), lambda v: {place: ${place}, v: v}) END`,
  );
  // A member of no field in each row counts the rows.
  const each = `SELECT sel, unnest(list_prepend({place: -1, v: ''}, flatten([${lists.map(list => `coalesce(${list}, [])`).join(', ')}]))) AS m
    FROM (SELECT sel, ${columns}, ${facts}.* FROM ${rows}, ${facts}, ${parts} WHERE hash(${columns}) <= CASE WHEN sel THEN of_chosen ELSE of_others END)`;
  const counted = stage(
    `SELECT m.place AS place, m.v AS v, count(*) AS n, count_if(sel)::BIGINT AS s FROM (${each}) GROUP BY ALL HAVING n >= ${fewestRows}`,
    true,
  );
  const tested = `SELECT a.place, a.v, a.s / b.s AS inside, (a.n - a.s) / (b.n - b.s) AS outside, inside - outside AS d, apl_chance_gap(a.n, b.s, b.n) AS e,
      apl_chance_ln(a.s, a.n, b.s, b.n) + ln(2.0 * ${whole.length} * count(*) OVER (PARTITION BY a.place)) AS chance
    FROM ${counted} AS a, (SELECT * FROM ${counted} WHERE place < 0) AS b WHERE a.place >= 0 AND b.s >= ${fewestRows} AND b.n - b.s >= ${fewestRows}`;
  const best = stage(
    `SELECT *, round((d - e) / (1 - e), 6) AS tells, row_number() OVER (PARTITION BY place ORDER BY d DESC, length(v) DESC, v) AS turn
    FROM (${tested}) WHERE d > 0 AND chance < ln(${falseAlarms})`,
  );
  const value = `json_object('value', 'has ' || apl_spotlight_text(name), 'selected', inside, 'baseline', outside, 'has', has)`;
  const labels = whole.map(
    ({ place, label, type }) => `(${place}, ${sqlText(label)}, ${type === 'dynamic'})`,
  );
  const named = `SELECT best.*, label, CASE WHEN is_array THEN v ->> '$' ELSE v END AS name, CASE WHEN is_array THEN v::JSON ELSE to_json(v) END AS has
    FROM ${best} AS best JOIN (VALUES ${labels.join(', ')}) AS labels(place, label, is_array) ON labels.place = best.place WHERE turn <= ${listed}`;
  return `SELECT found.place, found.score, entry FROM (SELECT place, max(tells) AS score,
      json_object('field', any_value(label), 'score', max(tells), 'values', to_json(list(${value} ORDER BY turn)), 'rows', any_value(part)) AS entry
    FROM (${named}), (${readRowsSql(counted, totals)}) GROUP BY place) AS found
    JOIN ${ranked} ON ${ranked}.place = found.place WHERE found.score > ${ranked}.score + ${leastGain}`;
}

/** How many rows were read, null if that is all of them. */
function readRowsSql(counted: string, totals: string): string {
  return `SELECT CASE WHEN n < total THEN n END AS part FROM ${counted}, ${totals} WHERE place < 0`;
}

/** The members of a value: the words of a text that begin with a letter, as `has` tells them apart, or the elements of an array as JSON. */
function listSql({ type, raw }: Pick<WholeField, 'type' | 'raw'>): string {
  if (type === 'dynamic')
    return `(CASE WHEN json_valid(${raw}) THEN ${raw} ELSE '[]' END)::JSON::JSON[]::VARCHAR[]`;
  return `list_filter(regexp_extract_all(lower(${raw}), ${sqlText(word)}), lambda w: w >= 'a')`;
}
