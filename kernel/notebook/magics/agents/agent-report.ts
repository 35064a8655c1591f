import { allNotices, heading } from '../../../result/display/summary.js';
import { jsonLines } from '../../../result/export/export-lines.js';
import type { QueryResult } from '../../../result/result.js';
import { formatCount, plural } from '../../../text.js';
import type { AgentReply } from './agent-link.js';

/** Maximum characters of data in a response, some 8,000 tokens. */
const mostCharacters = 32_768;
/** Maximum characters of one value's line; a longer one is omitted entirely. */
const longestLine = 8_192;

/** Returns a result as reported to an agent: its size and range, its notices, and its first rows. */
export function reportOf(result: QueryResult, rows: number): AgentReply {
  const [table] = result.tables;
  if (table === undefined) return { sentences: ['The query has no result.'], lines: [] };
  const shown = table.data.slice(0, rows);
  const sentences = [
    `The result: ${heading(table, result).join(', ')}.`,
    ...(shown.numRows < table.data.numRows ? [`Only the first ${rows} rows are included.`] : []),
  ];
  // Notices may quote values and fields of the data.
  const notes = allNotices(result).map(({ text: note }) => JSON.stringify({ note }));
  // 64-bit integers and nanoseconds retain all digits.
  const values = [...jsonLines(shown)].flatMap(({ part }) => part.split('\n').filter(line => line !== ''));
  return { sentences, lines: [...notes, ...values] };
}

/** Drops lines from the end of a response until it fits; a sentence reports how many. */
export function fitted({ sentences, lines, ...rest }: AgentReply): AgentReply {
  const kept: string[] = [];
  let [size, long] = [0, 0];
  for (const line of lines.map(harmless)) {
    if (line.length > longestLine) long += 1;
    else if (size + line.length > mostCharacters) break;
    else {
      kept.push(line);
      size += line.length + 1;
    }
  }
  const left = lines.length - kept.length;
  if (left === 0) return { ...rest, sentences, lines: kept };
  const because = `, ${formatCount(long)} of them longer than ${formatCount(longestLine)} characters`;
  const count = `${plural(left, 'line')} of ${formatCount(lines.length)}${long > 0 ? because : ''}`;
  const said = `Left out of this response: ${count}. Request less: fewer rows or fields, or names that contain a string.`;
  return { ...rest, sentences: [...sentences, said], lines: kept };
}

/** Escapes invisible characters in JSON, as they can hide text from people. */
function harmless(json: string): string {
  return json.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, character =>
    [...Array(character.length).keys()]
      .map(index => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
