import { describe } from 'vitest';
import { genai } from '../../../../kernel/local/duckdb/functions/duckdb-genai.js';
import { checkAll, j, n, nul, openEngine, s } from './harness.js';

const engine = openEngine();

const chat = j([
  { role: 'system', content: 'Be "brief".' },
  { role: 'user', content: 'Hi' },
  { role: 'user', content: 'there' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'get_weather' } }] },
  { role: 'tool', content: '{"status": "success", "data": {"balance": 5}}' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'It is' },
      { type: 'text', text: '72°' },
    ],
  },
  { role: 'user', content: '' },
]);
const parts = j([
  { role: 'user', parts: [{ type: 'text', content: 'Hi' }] },
  { role: 'assistant', parts: [{ type: 'tool_call', id: 'b', name: 'f' }] },
  { role: 'tool', content: 'plain' },
  { role: 'function', content: { x: 1 } },
]);
const empty = j([]);
const inString = j(JSON.stringify([{ role: 'user', content: 'Hi' }]));

describe('messages', () => {
  checkAll(engine, genai, [
    [
      'genai_concat_contents',
      [chat, s(' / ')],
      'Be "brief". / Hi / there / {"status": "success", "data": {"balance": 5}} / It is 72° / ',
    ],
    ['genai_concat_contents', [parts], 'Hi plain'],
    ['genai_concat_contents', [inString], 'Hi'],
    ['genai_concat_contents', [empty], ''],
    ['genai_concat_contents', [chat, nul('string')], null],
    ['genai_concat_contents', [nul('dynamic')], ''],
    ['genai_conversation_turns', [chat], 1n],
    [
      'genai_conversation_turns',
      [j([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }, { role: 'assistant' }])],
      2n,
    ],
    ['genai_conversation_turns', [empty], 0n],
    ['genai_extract_user_prompt', [chat], ''],
    ['genai_extract_user_prompt', [parts], 'Hi'],
    ['genai_extract_assistant_response', [chat], 'It is 72°'],
    ['genai_extract_assistant_response', [nul('dynamic')], ''],
    ['genai_extract_system_prompt', [chat], 'Be "brief".'],
    ['genai_extract_system_prompt', [parts], ''],
    ['genai_get_content_by_role', [chat, s('user')], 'Hi'],
    ['genai_get_content_by_role', [chat, s("x' OR 1=1 --")], ''],
    ['genai_get_content_by_index', [chat, n(1n)], 'Hi'],
    ['genai_get_content_by_index', [chat, n(3n)], ''],
    ['genai_get_content_by_index', [chat, n(-1n)], ''],
    ['genai_get_content_by_index', [chat, n(9223372036854775807n)], ''],
    ['genai_get_role', [chat, n(0n)], 'system'],
    ['genai_get_role', [chat, n(99n)], ''],
    ['genai_message_roles', [chat], ['system', 'user', 'user', 'assistant', 'tool', 'assistant', 'user']],
    ['genai_message_roles', [empty], []],
    ['genai_message_roles', [j([1, 'x', null, {}])], [null, null, null, null]],
    ['genai_extract_tool_calls', [chat], [{ id: 'a', function: { name: 'get_weather' } }]],
    ['genai_extract_tool_calls', [parts], [{ type: 'tool_call', id: 'b', name: 'f' }]],
    ['genai_extract_tool_calls', [j([{ function_call: { name: 'g' } }])], [{ function: { name: 'g' } }]],
    ['genai_extract_tool_calls', [empty], null],
    ['genai_has_tool_calls', [chat], true],
    ['genai_has_tool_calls', [inString], false],
    ['genai_has_tool_calls', [nul('dynamic')], false],
    ['genai_extract_function_results', [chat], { status: 'success', data: { balance: 5 } }],
    ['genai_extract_function_results', [parts], ['plain', { x: 1 }]],
    ['genai_extract_function_results', [empty], null],
    ['genai_is_truncated', [chat, s('length')], true],
    ['genai_is_truncated', [chat, s('stop')], false],
    ['genai_is_truncated', [chat, j(['stop', 'MAX_TOKENS'])], true],
    ['genai_is_truncated', [chat, nul('string')], false],
  ]);
});

describe('tokens and prices', () => {
  checkAll(engine, genai, [
    ['genai_estimate_tokens', [s('How do I reset my password?')], 7n],
    ['genai_estimate_tokens', [s('')], 0n],
    ['genai_estimate_tokens', [nul('string')], null],
    ['genai_get_pricing', [s('gpt-4')], { input_price_per_million: 30, output_price_per_million: 60 }],
    [
      'genai_get_pricing',
      [s('gpt-3.5-turbo')],
      { input_price_per_million: 0.5, output_price_per_million: 1.5 },
    ],
    [
      'genai_get_pricing',
      [s('anthropic/claude-3-opus-20240229')],
      { input_price_per_million: 15, output_price_per_million: 75 },
    ],
    [
      'genai_get_pricing',
      [s('gpt-4o-mini-2024-07-18')],
      { input_price_per_million: 0.15, output_price_per_million: 0.6 },
    ],
    ['genai_get_pricing', [s('GPT-4-0613')], { input_price_per_million: 30, output_price_per_million: 60 }],
    ['genai_get_pricing', [s('gpt-4-vision')], null],
    ['genai_get_pricing', [s('mine')], null],
    ['genai_cost', [s('gpt-4'), n(1_000n), n(500n)], 0.06],
    ['genai_cost', [s('mine'), n(1n), n(1n)], null],
    ['genai_input_cost', [s('gpt-4'), n(1_000_000n)], 30],
    ['genai_input_cost', [s('gpt-4'), nul('long')], null],
    ['genai_output_cost', [s('gpt-4'), n(500_000n)], 30],
  ]);
});
