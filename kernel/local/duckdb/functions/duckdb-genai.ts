import type { genai as catalog } from '../../../apl/catalog/functions/genai-functions.js';
import { modelPrice } from '../../functions/model-prices.js';
import { type SqlArg, type SqlTemplates, sqlOr } from '../../sql/sql-template.js';
import type { JsFunction } from '../duckdb-template.js';
import { toDynamic } from './duckdb-conversion.js';

/** SQL of the functions for conversations with language models. */
export const genai: SqlTemplates<typeof catalog> = {
  genai_concat_contents: ([messages, separator]) =>
    `apl_joined(list_filter(list_transform(${list(messages)}, lambda m: apl_message_text(m)), lambda t: t IS NOT NULL), ${sqlOr(separator, "' '")})`,
  genai_conversation_turns: ([messages]) => `apl_turns(${list(messages)})`,
  genai_cost: ([model, input, output]) =>
    `(${input.sql} * apl_model_price(${model.sql}, 'input') + ${output.sql} * apl_model_price(${model.sql}, 'output')) / 1e6::DOUBLE`,
  genai_input_cost: ([model, tokens]) =>
    `(${tokens.sql} * apl_model_price(${model.sql}, 'input') / 1e6::DOUBLE)`,
  genai_output_cost: ([model, tokens]) =>
    `(${tokens.sql} * apl_model_price(${model.sql}, 'output') / 1e6::DOUBLE)`,
  genai_get_pricing: ([model]) => `apl_model_pricing(${model.sql})::JSON`,
  genai_estimate_tokens: ([text]) => `((length(${text.sql}) + 3) // 4)`,
  genai_extract_assistant_response: ([messages]) => `apl_role_text(${list(messages)}, 'assistant', -1)`,
  genai_extract_user_prompt: ([messages]) => `apl_role_text(${list(messages)}, 'user', -1)`,
  genai_extract_system_prompt: ([messages]) => `apl_role_text(${list(messages)}, 'system', 1)`,
  genai_get_content_by_role: ([messages, role]) => `apl_role_text(${list(messages)}, ${role.sql}, 1)`,
  genai_get_content_by_index: ([messages, index]) =>
    `coalesce(apl_message_text(${messageAt(messages, index)}), '')`,
  genai_get_role: ([messages, index]) => `coalesce(apl_message_role(${messageAt(messages, index)}), '')`,
  genai_message_roles: ([messages]) =>
    `to_json(list_transform(${list(messages)}, lambda m: apl_message_role(m)))`,
  genai_extract_tool_calls: ([messages]) => `apl_tool_calls(${list(messages)})`,
  genai_has_tool_calls: ([messages]) => `(apl_tool_calls(${list(messages)}) IS NOT NULL)`,
  genai_extract_function_results: ([messages]) => `apl_tool_results(${list(messages)})`,
  genai_is_truncated: ([, reason]) => `apl_is_truncated(apl_text_list(${toDynamic(reason)}))`,
};

/**
 * Contents are a string, or an array of parts with `text` or `content`, under `content` or `parts`; a conversation may be a JSON string.
 */
export const setup: readonly string[] = [
  `CREATE MACRO apl_message_list(j) AS CASE json_type(j) WHEN 'ARRAY' THEN j::JSON[] WHEN 'OBJECT' THEN [j] ELSE []::JSON[] END`,
  `CREATE MACRO apl_messages(j) AS coalesce(apl_message_list(apl_parse_dynamic(j)), []::JSON[])`,
  `CREATE MACRO apl_message_role(m) AS json_extract_string(m, '$.role')`,
  `CREATE MACRO apl_part_text(p) AS CASE WHEN json_type(p) = 'VARCHAR' THEN json_extract_string(p, '$')
     WHEN json_type(p, '$.text') = 'VARCHAR' THEN json_extract_string(p, '$.text')
     WHEN json_type(p, '$.content') = 'VARCHAR' THEN json_extract_string(p, '$.content') END`,
  `CREATE MACRO apl_parts_text(parts) AS
     array_to_string(list_transform(parts::JSON[], lambda part: apl_part_text(part)), ' ')`,
  `CREATE MACRO apl_message_text(m) AS CASE json_type(m, '$.content')
     WHEN 'VARCHAR' THEN json_extract_string(m, '$.content') WHEN 'ARRAY' THEN apl_parts_text(json_extract(m, '$.content'))
     ELSE CASE WHEN json_type(m, '$.parts') = 'ARRAY' THEN apl_parts_text(json_extract(m, '$.parts')) END END`,
  // array_to_string() only takes a constant separator, and list_reduce() would copy the result for every string.
  `CREATE MACRO apl_joined(texts, separator) AS CASE WHEN len(texts) < 2 OR separator IS NOT NULL
     THEN array_to_string(list_transform(texts, lambda t, i: CASE WHEN i = 1 THEN t ELSE separator || t END), '') END`,
  `CREATE MACRO apl_role_text(messages, role, place) AS coalesce(apl_message_text(
     list_filter(messages, lambda m: apl_message_role(m) = role)[place]), '')`,
  `CREATE MACRO apl_turns(messages) AS len(regexp_extract_all(array_to_string(list_transform(messages,
     lambda m: CASE apl_message_role(m) WHEN 'user' THEN 'u' WHEN 'assistant' THEN 'a' END), ''), 'u+a+'))`,
  `CREATE MACRO apl_tool_parts(parts) AS CASE WHEN json_type(parts) = 'ARRAY' THEN list_filter(parts::JSON[],
     lambda part: json_extract_string(part, '$.type') IN ('tool_use', 'tool_call')) ELSE []::JSON[] END`,
  `CREATE MACRO apl_message_calls(m) AS list_concat(
     coalesce(apl_message_list(json_extract(m, '$.tool_calls')), []::JSON[]),
     CASE WHEN json_type(m, '$.function_call') = 'OBJECT'
       THEN [json_object('function', json_extract(m, '$.function_call'))] ELSE []::JSON[] END,
     apl_tool_parts(json_extract(m, '$.content')), apl_tool_parts(json_extract(m, '$.parts')))`,
  `CREATE MACRO apl_some(items) AS CASE WHEN len(items) > 0 THEN to_json(items) END`,
  `CREATE MACRO apl_tool_calls(messages) AS
     apl_some(flatten(list_transform(messages, lambda m: apl_message_calls(m))))`,
  `CREATE MACRO apl_tool_result(m) AS CASE WHEN json_type(m, '$.content') = 'VARCHAR'
     AND apl_json_valid(json_extract_string(m, '$.content')) THEN json(json_extract_string(m, '$.content'))
     ELSE json_extract(m, '$.content') END`,
  `CREATE MACRO apl_one_or_all(items) AS CASE WHEN len(items) = 1 THEN apl_json(items[1]) ELSE apl_some(items) END`,
  `CREATE MACRO apl_tool_results(messages) AS apl_one_or_all(list_transform(
     list_filter(messages, lambda m: coalesce(apl_message_role(m) IN ('tool', 'function'), false)),
     lambda m: apl_tool_result(m)))`,
  `CREATE MACRO apl_is_truncated(reasons) AS coalesce(list_has_any(
     list_transform(reasons, lambda reason: lower(reason)), ['length', 'max_tokens', 'model_length']), false)`,
];

export const udfs: readonly JsFunction[] = [
  {
    name: 'apl_model_price',
    params: ['VARCHAR', 'VARCHAR'],
    returns: 'DOUBLE',
    run: (model: string, side: 'input' | 'output') => modelPrice(model)?.[side] ?? null,
  },
  {
    name: 'apl_model_pricing',
    params: ['VARCHAR'],
    returns: 'VARCHAR',
    run: (model: string) => {
      const price = modelPrice(model);
      return price === undefined
        ? null
        : JSON.stringify({ input_price_per_million: price.input, output_price_per_million: price.output });
    },
  },
];

function list(messages: SqlArg): string {
  return `apl_messages(${messages.sql})`;
}

function messageAt(messages: SqlArg, index: SqlArg): string {
  return `CASE WHEN ${index.sql} BETWEEN 0 AND 2147483646 THEN ${list(messages)}[${index.sql} + 1] END`;
}
