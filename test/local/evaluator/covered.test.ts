import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { functions } from '../../../kernel/apl/catalog/all-functions.js';
import { functionRows } from './functions.js';

/** Functions that the random expressions generate directly. */
const made = 'strlen toint todouble strcat not isnull isnotnull iff coalesce bin'.split(' ');

/**
 * Functions that no random expression calls, by group: those whose argument is a notation, floating-point functions whose last digit
 * differs between libraries, and those that are random or depend on the schema. Only cases with fixed results cover them.
 */
const byCases: Readonly<Record<string, string>> = {
  string: `countof_regex extract extract_all indexof_regex replace_regex split strcat_delim strip_ansi_escapes translate trim_regex trim_start_regex trim_end_regex base64_decode_toarray base64_decode_tostring base64_encode_fromarray format_bytes format_url parse_bytes parse_csv parse_json parse_path parse_url parse_urlquery quote unicode_codepoints_to_string url_decode gettype`,
  pair: `pair parse_pair find_pair`,
  hash: `hash`,
  conversion: `todatetime totimespan todynamic toarray tohex dynamic_to_json ensure_field isbool`,
  type: `isstring isreal ismap isutf8 iscc isimei`,
  conditional: `case`,
  metadata: `column_ifexists ingestion_time`,
  ip: `parse_ipv4 parse_ipv4_mask format_ipv4 format_ipv4_mask ipv4_compare ipv4_is_match ipv4_is_in_range ipv4_is_in_any_range ipv4_is_private ipv4_netmask_suffix has_ipv4 has_ipv4_prefix has_any_ipv4 has_any_ipv4_prefix ipv6_compare ipv6_is_match ipv6_is_in_range ipv6_is_in_any_range`,
  genai: `genai_concat_contents genai_conversation_turns genai_cost genai_input_cost genai_output_cost genai_get_pricing genai_estimate_tokens genai_extract_assistant_response genai_extract_user_prompt genai_extract_system_prompt genai_extract_tool_calls genai_extract_function_results genai_has_tool_calls genai_get_content_by_index genai_get_content_by_role genai_get_role genai_message_roles genai_is_truncated`,
  sql: `parse_sql format_sql`,
  datetime: `ago datetime_add datetime_diff datetime_part dayofweek now week_of_year`,
  math: `acos asin atan atan2 cos cot degrees exp exp10 exp2 gamma isfinite isinf isint isnan log log10 log2 loggamma pi pow radians rand range round set_difference set_has_element set_intersect set_union sin sqrt tan`,
  rounding: `bin_auto ceiling floor`,
  array: `array_concat array_extract array_iff array_index_of array_rotate_left array_rotate_right array_select_dict array_shift_left array_shift_right array_slice array_sort_asc array_sort_desc array_split array_sum bag_has_key bag_keys bag_pack bag_zip len pack_array pack_dictionary strcat_array`,
  series: `series_abs series_acos series_add series_asin series_atan series_ceiling series_cos series_cosine_similarity series_divide series_dot_product series_equals series_exp series_fft series_fill_backward series_fill_const series_fill_forward series_fill_linear series_fir series_floor series_greater series_greater_equals series_ifft series_iir series_less series_less_equals series_log series_magnitude series_max series_min series_multiply series_not_equals series_pearson_correlation series_pow series_sign series_sin series_stats series_stats_dynamic series_subtract series_sum series_tan`,
};

const available = functions.filter(each => each.unavailable === undefined);

test('every function is computed by the evaluator or listed here', () => {
  const computed = new Set([...Object.keys(functionRows), ...made]);
  const left = available.filter(({ name }) => !computed.has(name));
  const groups = [...new Set(left.map(({ group }) => group))];
  const named = groups.map(group => [
    group,
    left.flatMap(each => (each.group === group ? [each.name] : [])).join(' '),
  ]);
  expect(Object.fromEntries(named)).toEqual(
    Object.fromEntries(Object.entries(byCases).map(([group, text]) => [group, text.split(/\s+/).join(' ')])),
  );
});

/** Functions that the binder resolves; the golden files have their results. */
const resolved = ['column_ifexists', 'ingestion_time'];

test('every function has cases with exact results', () => {
  const folder = new URL('../duckdb/functions/', import.meta.url);
  const files = readdirSync(folder).filter(name => name.endsWith('.test.ts'));
  const cases = files.map(name => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const without = available.filter(({ name }) => !new RegExp(`[[(]\\s*'${name}',`).test(cases));
  expect(without.map(({ name }) => name)).toEqual(resolved);
});
