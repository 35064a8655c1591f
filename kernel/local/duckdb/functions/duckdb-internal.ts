import type { internalFunctions as catalog } from '../../../apl/catalog/catalog-internal.js';
import { phrases } from '../../functions/insight.js';
import { redact } from '../../functions/redact.js';
import { constantText, type SqlArg, type SqlTemplates } from '../../sql/sql-template.js';
import { computeHeavyFirst } from '../duckdb-arguments.js';
import { sqlText } from '../duckdb-literal.js';
import type { FunctionFamily } from '../duckdb-template.js';
import { canMatchNothing, regexArgument } from '../regex.js';
import { spotlightSetup } from '../stages/chance.js';
import { convert } from './duckdb-conversion.js';

/** SQL of the functions that operators compile to; users cannot write them. */
export const internal: SqlTemplates<typeof catalog> = {
  $regex_group: ([text, pattern, group]) => {
    const regex = regexArgument(pattern, 1).sql;
    return `CASE WHEN regexp_matches(${text.sql}, ${regex}) THEN regexp_extract(${text.sql}, ${regex}, ${group.sql}::INTEGER) END`;
  },
  $regex_part: ([text, pattern, group]) =>
    `regexp_extract(${text.sql}, ${regexArgument(pattern, 1).sql}, ${group.sql}::INTEGER)`,
  $regex_match: ([text, pattern]) => {
    const { sql, groups = 0 } = regexArgument(pattern, 1);
    const names = Array.from({ length: groups }, (_, index) => `'g${index + 1}'`).join(', ');
    const match = `regexp_extract(${text.sql}, ${sql}, [${names}])`;
    return matchesNothing(pattern)
      ? `CASE WHEN regexp_matches(${text.sql}, ${sql}) THEN ${match} END`
      : match;
  },
  $regex_text: ([match, pattern, group]) => {
    regexArgument(pattern, 1);
    const text = `${match.sql}.g${group.constant}`;
    return matchesNothing(pattern) ? text : `CASE WHEN ${match.sql}.g1 <> '' THEN ${text} END`;
  },
  $document: ([text]) => `apl_json_document(${text.sql})`,
  $json: ([text]) => `${text.sql}::JSON`,
  // A new list: given a subset of the rows, the engine would otherwise serialize the elements of all.
  $texts: ([list]) => `to_json(list_transform(${list.sql}, lambda x: x))`,
  $valid: ([value]) => valid(value),
  $histogram_bucket: ([value, count]) => {
    const width = `((max(${value.sql}) OVER () - min(${value.sql}) OVER ()) / greatest(${count.sql}, 1))`;
    const least = `min(${value.sql}) OVER ()`;
    return `${least} + coalesce(apl_bucket(${value.sql}, ${least}, nullif(${width}, 0), ${count.sql}), 0) * ${width}`;
  },
  $joined_text: args => `concat_ws(${sqlText('\n\uffff\n')}, ${args.map(arg => arg.sql).join(', ')})`,
  $compare: ([operator, a, b]) => {
    return compareLoose(constantText(operator) ?? '', a, b);
  },
  $first: args => `coalesce(${args.map(arg => arg.sql).join(', ')})`,
  $redact: ([text, pattern, token, hash, groups]) => {
    regexArgument(pattern, 1);
    return `apl_redact(${text.sql}, ${pattern.sql}, ${token.sql}, ${hash.sql}, ${groups.sql})`;
  },
};

function compareLoose(operator: string, a: SqlArg, b: SqlArg): string {
  return computeHeavyFirst([a, b], ([left = a, right = b]) => {
    if (operator === '!=') {
      const isThere = `(${left.sql} IS NOT NULL OR ${right.sql} IS NOT NULL)`;
      return `(${isThere} AND NOT ${compareLoose('==', left, right)})`;
    }
    const [x, y] = [convert(left, 'real'), convert(right, 'real')];
    // Equal reals may come from unequal integers.
    const [m, n] = [convert(left, 'long'), convert(right, 'long')];
    const number =
      operator === '=='
        ? `(${x} = ${y} AND ${m} IS NOT DISTINCT FROM ${n})`
        : `(${x} ${operator.charAt(0)} ${y} OR (${x} = ${y} AND coalesce(${m} ${operator} ${n}, ${operator.length > 1})))`;
    const text = `${convert(left, 'string')} ${operator === '==' ? '=' : operator} ${convert(right, 'string')}`;
    const isText = left.type === 'dynamic' && right.type === 'dynamic';
    return `coalesce(CASE WHEN ${x} IS NOT NULL AND ${y} IS NOT NULL THEN ${number} ${isText ? `ELSE ${text}` : ''} END, false)`;
  });
}

/** Returns whether a match may be empty. If not, an empty whole match means that there was none. */
function matchesNothing(pattern: SqlArg): boolean {
  return canMatchNothing(constantText(pattern) ?? '');
}

/** Macros and JavaScript functions used by the internal functions. */
export const internalFamily: FunctionFamily = {
  setup: [
    ...spotlightSetup,
    `CREATE MACRO apl_texts(j) AS CASE json_type(j) WHEN 'ARRAY' THEN json_extract_string(j, '$[*]') ELSE [j ->> '$'] END`,
    // In an array without these, text within quotes is an element, so a search finds it without parsing.
    `CREATE MACRO apl_shows_elements(j) AS CASE WHEN contains(j::VARCHAR, '{') THEN false WHEN contains(j::VARCHAR, '\\') THEN false
       ELSE NOT contains(substr(j::VARCHAR, 2), '[') END`,
    `CREATE MACRO apl_flat_once(l) AS flatten(list_transform(l, lambda x: CASE WHEN starts_with(x::VARCHAR, '[') THEN from_json(x, '["JSON"]') ELSE [x] END))`,
    // Arrays within an array give their elements, down to a depth that no data has. The result is a string: another JSON type is a cast.
    `CREATE MACRO apl_flat(j) AS CASE WHEN starts_with(j::VARCHAR, '[') AND contains(substr(j::VARCHAR, 2), '[') THEN to_json(list_reduce(
       list_concat([from_json(j, '["JSON"]')], list_transform(range(least(64, len(regexp_extract_all(j::VARCHAR, '\\[')))), lambda i: []::JSON[])),
       lambda l, i: apl_flat_once(l)))::VARCHAR ELSE j::VARCHAR END`,
    `CREATE MACRO apl_elements(j) AS CASE WHEN json_type(j) = 'ARRAY' AND json_array_length(j) > 0
       THEN from_json(j, '["JSON"]') WHEN j IS NULL OR json_type(j) = 'ARRAY' THEN [NULL::JSON] ELSE [j::JSON] END`,
    `CREATE MACRO apl_bag_elements(j, pairs) AS CASE WHEN json_type(j) = 'OBJECT' AND len(json_keys(j)) > 0
       THEN list_transform(json_keys(j), lambda k: CASE WHEN pairs THEN json_array(k, json_extract(j, '/' || replace(replace(k, '~', '~0'), '/', '~1')))
         ELSE json_object(k, json_extract(j, '/' || replace(replace(k, '~', '~0'), '/', '~1'))) END)
       WHEN json_type(j) = 'OBJECT' THEN [NULL::JSON] ELSE apl_elements(j) END`,
    // Recognizes most arrays without parsing: `[`, followed by neither a space nor `]`.
    `CREATE MACRO apl_is_filled_array(j) AS j::VARCHAR >= '[!' AND j::VARCHAR < '\\' AND NOT starts_with(j::VARCHAR, '[]')`,
    `CREATE MACRO apl_expanded(j, pairs) AS CASE WHEN apl_is_filled_array(j) THEN from_json(j, '["JSON"]') ELSE apl_bag_elements(j, pairs) END`,
    // An array whose elements are neither numbers nor null, unless a string has such a comma. The engine finds a comma faster than any of
    // several characters.
    `CREATE MACRO apl_has_no_numbers(j) AS CASE WHEN starts_with(j::VARCHAR, '["') THEN NOT regexp_matches(j::VARCHAR, ',[-0-9n\\s]') ELSE false END`,
    // Few arrays have a letter that a real needs, and a search for letters takes a fraction of the time of a regular expression.
    `CREATE MACRO apl_real_in(j) AS CASE WHEN apl_has_no_numbers(j) THEN false ELSE regexp_matches(j::VARCHAR, '[\\[,\\s]-?[0-9]+[.eE]') END`,
    `CREATE MACRO apl_has_real(j) AS CASE WHEN contains(j::VARCHAR, '.') THEN apl_real_in(j) WHEN contains(j::VARCHAR, 'e') THEN apl_real_in(j)
       WHEN contains(j::VARCHAR, 'E') THEN apl_real_in(j) ELSE false END`,
    // Like `apl_dyn_text` of each element; the engine formats non-integers differently.
    `CREATE MACRO apl_expanded_texts(j, pairs) AS CASE WHEN apl_is_filled_array(j) AND NOT apl_has_real(j)
       THEN from_json(j, '["VARCHAR"]') WHEN j IS NULL OR j::VARCHAR = '[]' THEN [NULL::VARCHAR]
       ELSE list_transform(apl_bag_elements(j, pairs), lambda x: apl_dyn_text(x)) END`,
    `CREATE MACRO apl_has_real_or_null(j) AS CASE WHEN apl_has_no_numbers(j) THEN false WHEN contains(j::VARCHAR, 'null') THEN true ELSE apl_has_real(j) END`,
    `CREATE MACRO apl_expanded_list(l) AS CASE WHEN len(l) > 0 THEN l ELSE [NULL::VARCHAR] END`,
    // A value on the border of two buckets belongs to the upper one. The quotient may round past the displayed bounds, so these decide.
    `CREATE MACRO apl_bucket_near(x, lo, width, b) AS b + CASE WHEN x < lo + b * width THEN -1 WHEN x >= lo + (b + 1) * width THEN 1 ELSE 0 END`,
    `CREATE MACRO apl_bucket(x, lo, width, n) AS least(apl_bucket_near(x, lo, width, floor((x - lo) / width)), n - 1)`,
    // Equal values all go into the first bucket.
    `CREATE MACRO apl_bucket_width(lo, hi, n) AS CASE WHEN hi > lo THEN (hi - lo) / n ELSE 1 END`,
    `CREATE MACRO apl_buckets(lo, hi, n, counts) AS CASE WHEN lo IS NULL THEN '[]'::JSON ELSE to_json(list_transform(range(CASE WHEN hi > lo THEN n ELSE 1 END), lambda i:
       {'from': lo + i * ((hi - lo) / n), 'to': CASE WHEN i = n - 1 THEN hi ELSE lo + (i + 1) * ((hi - lo) / n) END, 'count': coalesce(counts[i::DOUBLE], 0)})) END`,
    // Each step binds its input to a lambda parameter, so the list is built and scanned once.
    `CREATE MACRO apl_histogram(x, lo, hi, n) AS list_transform(list_transform([{'l': x, 'lo': lo, 'hi': hi, 'width': apl_bucket_width(lo, hi, n)}],
       lambda s: {'lo': s.lo, 'hi': s.hi, 'counts': list_aggregate(list_transform(s.l, lambda v: apl_bucket(v, s.lo, s.width, n)), 'histogram')}),
       lambda r: apl_buckets(r.lo, r.hi, n, r.counts))[1]`,
    `CREATE MACRO apl_term(t) AS '(?i)(?:^|[^\\pL\\pN])' || regexp_escape(t) || '(?:$|[^\\pL\\pN])'`,
    `CREATE MACRO apl_term_cs(t) AS '(?:^|[^\\pL\\pN])' || regexp_escape(t) || '(?:$|[^\\pL\\pN])'`,
  ],
  udfs: [
    {
      name: 'apl_redact',
      params: ['VARCHAR', 'VARCHAR', 'VARCHAR', 'BOOLEAN', 'BOOLEAN'],
      returns: 'VARCHAR',
      run: redact,
    },
    { name: 'apl_phrases', params: ['VARCHAR', 'BIGINT'], returns: 'VARCHAR', run: phrases },
  ],
};

function valid(value: SqlArg): string {
  const { sql, type } = value;
  switch (type) {
    case 'string':
      return `nullif(${sql}, '')`;
    case 'bool':
      return `CASE WHEN ${sql} THEN true END`;
    case 'real':
      return `CASE WHEN isfinite(${sql}) AND ${sql} <> 0 THEN ${sql} END`;
    case 'long':
    case 'timespan':
      return `nullif(${sql}, 0)`;
    case 'datetime':
      return sql;
    case 'dynamic':
      return `CASE WHEN ${sql}::VARCHAR NOT IN ('""', '[]', '{}', 'null', 'false', '0') THEN ${sql} END`;
  }
}
