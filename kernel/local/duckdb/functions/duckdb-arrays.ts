import type { arrays as catalog } from '../../../apl/catalog/functions/array-functions.js';
import { enginePath } from '../../functions/json/path.js';
import {
  constantText,
  type SqlArg,
  type SqlTemplates,
  sqlArg,
  TemplateError,
} from '../../sql/sql-template.js';
import { computeFirst, computeOnce } from '../duckdb-arguments.js';
import { constantInteger, sqlText } from '../duckdb-literal.js';
import type { JsFunction } from '../duckdb-template.js';
import { mayBeElement } from '../text-test.js';
import { convert, memberOf, toDynamic } from './duckdb-conversion.js';
import { keysList } from './duckdb-lists.js';

/** SQL of the array and map functions. Arrays and maps are JSON; other values give null unless documented otherwise. */
export const arrays: SqlTemplates<typeof catalog> = {
  array_concat: args => concat(args),
  array_extract: args => extract(args[0], args[1]),
  array_iff: args => iff(args[0], args[1], args[2]),
  array_index_of: ([array, value, ...options]) => indexOf(array, value, options),
  array_length: args => arrayLength(args[0]),
  array_reverse: args => `to_json(list_reverse(${items(args[0])}))`,
  array_rotate_left: args => moved('apl_rotate_left', args[0], args[1]),
  array_rotate_right: args => moved('apl_rotate_right', args[0], args[1]),
  array_select_dict: args => selectMap(args[0], args[1], args[2]),
  array_shift_left: args => moved('apl_shift_left', args[0], args[1]),
  array_shift_right: args => moved('apl_shift_right', args[0], args[1]),
  array_slice: args => slice(args[0], args[1], args[2]),
  array_sort_asc: args => sort('ASC', args[0]),
  array_sort_desc: args => sort('DESC', args[0]),
  array_split: args => split(args[0], args[1]),
  array_sum: args => computeOnce([args[0]], j => `list_sum(apl_reals(${j}))`),
  bag_has_key: args => computeOnce([args[0], args[1]], (j, key) => `apl_has_key(${j}, ${key})`),
  bag_keys: args => `to_json(${keysList(args)})`,
  bag_pack: args => pack('bag_pack', args),
  bag_zip: args => computeFirst([itemsOf(args[0]), itemsOf(args[1])], (k, v) => `apl_bag_zip(${k}, ${v})`),
  isarray: ([value]) =>
    value.type === 'dynamic' ? `coalesce(json_type(${value.sql}) = 'ARRAY', false)` : 'false',
  len: args => len(args[0]),
  pack_array: args => `json_array(${args.map(memberOf).join(', ')})`,
  pack_dictionary: args => pack('pack_dictionary', args),
  strcat_array: args => joinText(args[0], args[1] ?? noText),
};

/**
 * Macros. `apl_items` returns the elements of an array as a list, null for anything else. `apl_key` is the same for equal elements (1 and
 * 1.0). `apl_reals` reads elements as doubles, null for non-numbers. `l` is always a list.
 */
export const setup: readonly string[] = [
  // Without a type, the engine would make a constant null a list of strings.
  `CREATE OR REPLACE MACRO apl_items(j) AS CAST(from_json(j, '["JSON"]') AS JSON[])`,
  `CREATE OR REPLACE MACRO apl_key(x) AS CASE WHEN ends_with(x::VARCHAR, '.0') THEN json(left(x::VARCHAR, -2)) ELSE x END`,
  // Only text with a fraction or exponent of zero can contain a whole number written as a real.
  `CREATE OR REPLACE MACRO apl_keys(j) AS CASE WHEN regexp_matches(j::VARCHAR, '\\.0|[0-9][eE]')
     THEN list_transform(apl_items(j), lambda x: apl_key(x)) ELSE apl_items(j) END`,
  // The elements of an array as strings; numbers and bools are written in the engine's form.
  `CREATE OR REPLACE MACRO apl_plain_texts(j) AS CAST(from_json(j, '["VARCHAR"]') AS VARCHAR[])`,
  `CREATE OR REPLACE MACRO apl_text_place(l, x) AS CAST(coalesce(list_position(l, x), 0) - 1 AS BIGINT)`,
  `CREATE OR REPLACE MACRO apl_has_item(j, item) AS list_contains(apl_keys(j), apl_key(item))`,
  // Strings and bools would be read as numbers, so arrays with any are checked element by element.
  `CREATE OR REPLACE MACRO apl_reals(j) AS
     CASE WHEN NOT (contains(j::VARCHAR, '"') OR contains(j::VARCHAR, 't') OR contains(j::VARCHAR, 'f'))
     THEN CAST(from_json(j, '["DOUBLE"]') AS DOUBLE[]) ELSE list_transform(apl_items(j), lambda x:
       CASE WHEN regexp_matches(x::VARCHAR, '^[-0-9]') THEN CAST(x AS DOUBLE) END) END`,
  `CREATE OR REPLACE MACRO apl_array_length(j) AS CASE WHEN starts_with(j::VARCHAR, '[') THEN CAST(json_array_length(j) AS BIGINT)
     WHEN json_type(j) = 'ARRAY' THEN CAST(json_array_length(j) AS BIGINT) END`,
  `CREATE OR REPLACE MACRO apl_rotate_left(l, n) AS CASE WHEN len(l) = 0 THEN l
     ELSE list_concat(l[apl_floor_mod(n, len(l)) + 1:], l[:apl_floor_mod(n, len(l))]) END`,
  `CREATE OR REPLACE MACRO apl_rotate_right(l, n) AS CASE WHEN len(l) = 0 THEN l ELSE apl_rotate_left(l, -(n % len(l))) END`,
  `CREATE OR REPLACE MACRO apl_shift_left(l, n) AS list_transform(range(1, len(l) + 1),
     lambda i: CASE WHEN i + apl_clamp(n, -len(l), len(l)) BETWEEN 1 AND len(l) THEN l[i + apl_clamp(n, -len(l), len(l))] END)`,
  `CREATE OR REPLACE MACRO apl_shift_right(l, n) AS apl_shift_left(l, -apl_clamp(n, -len(l), len(l)))`,
  // A position, counted from the end if negative and clamped to the list.
  `CREATE OR REPLACE MACRO apl_place(l, n) AS apl_clamp(CASE WHEN n < 0 THEN len(l) + n ELSE n END, 0, len(l))`,
  `CREATE OR REPLACE MACRO apl_slice(l, a, b) AS CASE WHEN apl_place(l, a) >= apl_place(l, b) THEN l[:0]
     WHEN a IS NOT NULL AND b IS NOT NULL THEN l[apl_place(l, a) + 1:apl_place(l, b)] END`,
  `CREATE OR REPLACE MACRO apl_kind(x) AS CASE left(x::VARCHAR, 1)
     WHEN '"' THEN 'text' WHEN 't' THEN 'bool' WHEN 'f' THEN 'bool' WHEN '{' THEN 'map' WHEN '[' THEN 'map' ELSE 'number' END`,
  `CREATE OR REPLACE MACRO apl_kinds(l) AS
     list_distinct(list_transform(list_filter(l, lambda x: x IS NOT NULL), lambda x: apl_kind(x)))`,
  `CREATE OR REPLACE MACRO apl_sortable(l) AS list_transform(list_filter(l, lambda x: x IS NOT NULL), lambda x:
     CASE WHEN apl_kind(x) = 'text' THEN {'r': NULL::DOUBLE, 'i': NULL::HUGEINT, 't': json_extract_string(x, '$'), 'x': x}
     ELSE {'r': CAST(x AS DOUBLE), 'i': TRY_CAST(x AS HUGEINT), 't': NULL::VARCHAR, 'x': x} END)`,
  // Nulls go last. Elements of mixed kinds, arrays and maps have no order.
  `CREATE OR REPLACE MACRO apl_sorted(l, sorted) AS CASE WHEN len(apl_kinds(l)) > 1 OR list_contains(apl_kinds(l), 'map')
     THEN l[:0] ELSE list_concat(list_transform(sorted, lambda e: e.x), list_filter(l, lambda x: x IS NULL)) END`,
  `CREATE OR REPLACE MACRO apl_sort_items(l, direction) AS apl_sorted(l, list_sort(apl_sortable(l), direction, 'NULLS LAST'))`,
  // An integer or an array of integers of at most 19 digits: their sums and products fit 128 bits.
  `CREATE OR REPLACE MACRO apl_whole(j) AS regexp_full_match(j::VARCHAR, '\\s*\\[?[-0-9,nul\\s]*\\]?\\s*')
     AND NOT regexp_matches(j::VARCHAR, '[0-9]{20}')`,
  // Only strings, without escapes.
  `CREATE OR REPLACE MACRO apl_all_texts(j) AS regexp_full_match(j::VARCHAR, '\\["[^"\\\\]*"(?:,"[^"\\\\]*")*\\]')`,
  `CREATE OR REPLACE MACRO apl_wholes(j) AS CAST(from_json(j, '["HUGEINT"]') AS HUGEINT[])`,
  `CREATE OR REPLACE MACRO apl_indexes(j) AS coalesce(from_json(j, '["BIGINT"]'), [apl_dyn_long(j)])`,
  `CREATE OR REPLACE MACRO apl_cuts(l, places) AS
     list_concat(list_concat([0], list_transform(places, lambda n: apl_place(l, n))), [len(l)])`,
  `CREATE OR REPLACE MACRO apl_pieces(l, cuts) AS
     list_transform(range(1, len(cuts)), lambda i: l[cuts[i] + 1:greatest(cuts[i + 1], cuts[i])])`,
  `CREATE OR REPLACE MACRO apl_index_of(l, item) AS
     CASE WHEN item IS NOT NULL AND l IS NOT NULL THEN CAST(coalesce(list_position(l, item), 0) - 1 AS BIGINT) END`,
  `CREATE OR REPLACE MACRO apl_indexes_of(l, item, a, b) AS list_filter(range(a, b), lambda i: l[i + 1] = item)`,
  `CREATE OR REPLACE MACRO apl_pointer(key) AS '/' || replace(replace(key, '~', '~0'), '/', '~1')`,
  `CREATE OR REPLACE MACRO apl_has_key(j, key) AS CASE WHEN key IS NOT NULL AND j IS NOT NULL
     THEN json_type(j) = 'OBJECT' AND json_exists(j, apl_pointer(key)) END`,
  `CREATE OR REPLACE MACRO apl_key_text(x) AS CASE WHEN starts_with(x::VARCHAR, '"') THEN x::VARCHAR
     ELSE to_json(x::VARCHAR)::VARCHAR END`,
  // The last of equal keys wins.
  `CREATE OR REPLACE MACRO apl_bag_zip(k, v) AS CASE WHEN k IS NOT NULL AND v IS NOT NULL THEN json('{' || array_to_string(
     list_transform(list_filter(range(1, least(len(k), len(v)) + 1),
       lambda i: k[i] IS NOT NULL AND NOT list_contains(k[i + 1:len(v)], k[i])),
       lambda i: apl_key_text(k[i]) || ':' || coalesce(v[i]::VARCHAR, 'null')), ',') || '}') END`,
];

export const udfs: readonly JsFunction[] = [];

function arrayLength(array: SqlArg): string {
  if (array.list !== undefined) return `CAST(len(${array.list}) AS BIGINT)`;
  return computeOnce([array], j => `apl_array_length(${j})`);
}

/** Returns the elements of a dynamic argument as a list of JSON. */
function items(array: SqlArg): string {
  return `apl_items(${array.sql})`;
}

function itemsOf(array: SqlArg): SqlArg {
  return sqlArg(items(array), 'dynamic');
}

function keysOf(array: SqlArg): SqlArg {
  return sqlArg(
    computeOnce([array], j => `apl_keys(${j})`),
    'dynamic',
  );
}

function itemOf(value: SqlArg): SqlArg {
  const json = sqlArg(toDynamic(value), 'dynamic');
  return sqlArg(
    computeOnce([json], x => `apl_key(${x})`),
    'dynamic',
  );
}

/** Skips arguments that are not arrays; null if none is. The text of non-empty arrays is concatenated and parsed once, if all are. */
function concat(arrays: readonly SqlArg[]): string {
  const lists = arrays.map(items);
  const some = lists.map(list => `${list} IS NOT NULL`).join(' OR ');
  const joined = lists.reduce((left, right) => `list_concat(${left}, ${right})`);
  const filled = arrays
    .map(({ sql }) => `apl_is_filled_array(${sql}) AND ends_with(${sql}::VARCHAR, ']')`)
    .join(' AND ');
  const texts = arrays.map(({ sql }) => `(${sql}::VARCHAR)[2:-2]`).join(', ');
  return `CASE WHEN ${filled} THEN json('[' || concat_ws(',', ${texts}) || ']') WHEN ${some} THEN to_json(${joined}) END`;
}

function extract(array: SqlArg, path: SqlArg): string {
  const text = constantText(path);
  const hint = "use the form $[*].name: names, ['quoted names'], indexes and * are supported";
  if (text === undefined) throw new TemplateError('the path must be a string constant', 1, hint);
  const found = enginePath(text);
  if (found === undefined) throw new TemplateError(`\`${text}\` is not a JSON path`, 1, hint);
  const values = (j: string) => `json_extract(${j}, ${sqlText(found.path)})`;
  if (found.many) return `to_json(${values(array.sql)})`;
  return computeOnce(
    [array],
    j =>
      `CASE WHEN ${values(j)} IS NOT NULL THEN json_array(${values(j)}) WHEN ${j} IS NOT NULL THEN '[]'::JSON END`,
  );
}

/** Either side may be a single value, used for every element; a null condition counts as false. */
function iff(condition: SqlArg, whenTrue: SqlArg, whenFalse: SqlArg): string {
  const sides = [whenTrue, whenFalse].flatMap((arg): SqlArg[] => {
    const value = sqlArg(toDynamic(arg), 'dynamic');
    return [value, arg.type === 'dynamic' ? itemsOf(value) : sqlArg('NULL::JSON[]', 'dynamic')];
  });
  return computeFirst([itemsOf(condition), ...sides], (c, a, listA, b, listB) => {
    const pick = (value: string, list: string) =>
      `CASE WHEN ${list} IS NULL THEN ${value} ELSE ${list}[i] END`;
    return `to_json(list_transform(${c}, lambda x, i: CASE WHEN apl_dyn_bool(x) THEN ${pick(a, listA)} ELSE ${pick(b, listB)} END))`;
  });
}

function indexOf(
  array: SqlArg,
  value: SqlArg,
  options: readonly [start?: SqlArg, length?: SqlArg, occurrence?: SqlArg],
): string {
  if (array.list !== undefined && value.type === 'string' && options.length === 0)
    return computeOnce([sqlArg(array.list, 'dynamic'), value], (l, x) => `apl_index_of(${l}, ${x})`);
  const list = keysOf(array);
  const item = itemOf(value);
  if (options.length === 0) {
    const place = computeFirst([list, item], (l, x) => `apl_index_of(${l}, ${x})`);
    return computeOnce([array], j => {
      const first = mayBeElement(j, value, false);
      if (first === undefined) return place;
      const among = `CASE WHEN ${first} THEN apl_text_place(apl_plain_texts(${j}), ${value.sql}) ELSE -1 END`;
      return `CASE WHEN starts_with(${j}::VARCHAR, '[') THEN ${among} ELSE ${place} END`;
    });
  }
  const [start, length, occurrence] = options;
  const from = start ?? sqlArg('0::BIGINT', 'long');
  const count = length ?? sqlArg('-1::BIGINT', 'long');
  const nth = occurrence ?? sqlArg('1::BIGINT', 'long');
  return computeFirst([list, item, from, count, nth], (l, x, a, n, k) => {
    const first = `apl_place(${l}, ${a})`;
    const last = `CASE WHEN ${n} = -1 THEN len(${l}) ELSE least(${first} + least(${n}, len(${l})), len(${l})) END`;
    const found = `apl_indexes_of(${l}, ${x}, ${first}, ${last})`;
    const known = [l, x, a].map(sql => `${sql} IS NOT NULL`).join(' AND ');
    return `CASE WHEN ${known} AND ${n} >= -1 AND ${k} >= 0 THEN coalesce(CASE WHEN ${k} > 0 THEN ${found}[${k}] END, -1) END`;
  });
}

/** Beyond the end of any array: the engine's positions start at 1. */
const lastPlace = 2 ** 31;

/** Constant nonnegative positions map directly to those of the engine. */
function slice(array: SqlArg, start: SqlArg, end: SqlArg): string {
  const [from, to] = [constantInteger(start), constantInteger(end)];
  if (from !== undefined && to !== undefined && 0 <= from && from <= to && to <= lastPlace)
    return `to_json((${items(array)})[${from + 1}:${to}])`;
  return computeFirst(
    [itemsOf(array), start, end],
    (l, first, last) => `to_json(apl_slice(${l}, ${first}, ${last}))`,
  );
}

function moved(macro: string, array: SqlArg, count: SqlArg | undefined): string {
  const positions = count ?? sqlArg('1::BIGINT', 'long');
  return computeFirst(
    [itemsOf(array), positions],
    (l, n) => `CASE WHEN ${l} IS NOT NULL AND ${n} IS NOT NULL THEN to_json(${macro}(${l}, ${n})) END`,
  );
}

function selectMap(array: SqlArg, key: SqlArg, value: SqlArg): string {
  return computeFirst(
    [itemsOf(array), sqlArg(`apl_pointer(${key.sql})`, 'string'), itemOf(value)],
    (l, pointer, item) => {
      const matches = `starts_with(x::VARCHAR, '{') AND apl_key(json_extract(x, ${pointer})) = ${item}`;
      return `list_filter(${l}, lambda x: ${matches})[1]`;
    },
  );
}

/** A value that is not an array gives an empty one, as documented; null stays null. Integer arrays skip the check of every element. */
function sort(direction: 'ASC' | 'DESC', array: SqlArg): string {
  return computeOnce([array], j => {
    const integers = `coalesce(to_json(list_sort(apl_wholes(${j}), '${direction}', 'NULLS LAST')), '[]'::JSON)`;
    const others = computeFirst(
      [itemsOf(sqlArg(j, 'dynamic'))],
      l => `to_json(apl_sort_items(${l}, '${direction}'))`,
    );
    const texts = `to_json(list_sort(apl_plain_texts(${j}), '${direction}', 'NULLS LAST'))`;
    return `CASE WHEN apl_all_texts(${j}) THEN ${texts} WHEN apl_whole(${j}) THEN ${integers} WHEN ${j} IS NOT NULL THEN ${others} END`;
  });
}

function split(array: SqlArg, index: SqlArg): string {
  if (index.type !== 'dynamic' && index.type !== 'long') {
    throw new TemplateError(`array_split takes an index or an array of indexes, not a ${index.type}`, 1);
  }
  const places = index.type === 'long' ? `[${index.sql}]` : computeOnce([index], j => `apl_indexes(${j})`);
  return computeFirst([itemsOf(array), sqlArg(places, 'dynamic')], (l, p) => {
    const parts: SqlArg[] = [sqlArg(l, 'dynamic'), sqlArg(`apl_cuts(${l}, ${p})`, 'dynamic')];
    const known = `${l} IS NOT NULL AND len(list_filter(${p}, lambda n: n IS NULL)) = 0`;
    return `CASE WHEN ${known} THEN ${computeFirst(parts, (list, cuts) => `to_json(apl_pieces(${list}, ${cuts}))`)} END`;
  });
}

/** Keys are at even positions, values at odd ones; the last of equal constant keys wins. */
function pack(name: string, args: readonly SqlArg[]): string {
  if (args.length % 2 === 1)
    throw new TemplateError(`${name} takes key-value pairs: a value is missing`, args.length - 1);
  const members = new Map<string, string>();
  for (const [index, value] of args.entries()) {
    const key = args[index - 1];
    if (key === undefined || index % 2 === 0) continue;
    const text = typeof key.constant === 'string' ? key.sql : `coalesce(${convert(key, 'string')}, '')`;
    members.delete(text);
    members.set(text, memberOf(value));
  }
  return `json_object(${[...members].flat().join(', ')})`;
}

function len(value: SqlArg): string {
  if (value.type === 'string') return `length(${value.sql})`;
  if (value.type !== 'dynamic')
    throw new TemplateError(`len takes a string or an array, not a ${value.type}`, 0);
  return computeOnce(
    [value],
    j =>
      `CASE WHEN json_type(${j}) = 'VARCHAR' THEN length(json_extract_string(${j}, '$')) ELSE apl_array_length(${j}) END`,
  );
}

const noText: SqlArg = { ...sqlArg("''", 'string'), constant: '' };

/** The engine only joins by constants: any other delimiter goes before every element, and the first one is cut off. */
function joinText(array: SqlArg, delimiter: SqlArg): string {
  const texts = (before: string) =>
    `list_transform(${items(array)}, lambda x: ${before}coalesce(apl_dyn_text(x), ''))`;
  if (typeof delimiter.constant === 'string')
    return computeOnce(
      [array],
      j =>
        // array_to_string() would compute the list twice.
        `CASE WHEN ${j}::VARCHAR = '[]' THEN '' WHEN apl_is_filled_array(${j}) AND NOT apl_has_real_or_null(${j})
         THEN list_aggregate(apl_plain_texts(${j}), 'string_agg', ${delimiter.sql}) ELSE array_to_string(${texts('')}, ${delimiter.sql}) END`,
    );
  return computeOnce([delimiter], d => `substr(array_to_string(${texts(`${d} || `)}, ''), length(${d}) + 1)`);
}
