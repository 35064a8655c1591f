import { DAY, datesMeant, isBeyondTime, parseTime, parseTimespan } from '../../../time.js';
import type { Literal } from '../ast.js';
import { literal } from '../nodes.js';
import type { Token } from '../tokens/lexer.js';
import type { TokenStream } from '../tokens/token-stream.js';

/** Returns the literal of `datetime(…)` or `timespan(…)` after its word; null, with a diagnostic, if it is invalid. */
export function rawLiteral(stream: TokenStream, word: Token, type: 'datetime' | 'timespan'): Literal {
  stream.next();
  const raw = stream.next();
  const value = type === 'datetime' ? parseTime(raw.text) : (parseTimespan(raw.text) ?? bareDays(raw.text));
  if (value === undefined) reportRawLiteral(stream, raw, type);
  stream.expectSymbol(')', `to close \`${word.text}(\``);
  const span = { from: word.from, to: stream.lastEnd };
  return literal(type, value ?? null, span);
}

/** Reads `timespan(2)` as two days, as in Kusto. */
function bareDays(text: string): bigint | undefined {
  return /^\d+$/.test(text) ? BigInt(text) * DAY : undefined;
}

function reportRawLiteral(stream: TokenStream, raw: Token, type: 'datetime' | 'timespan'): void {
  const hint =
    type === 'datetime' && /^\d{1,2}:\d{2}(:\d{2})?$/.test(raw.text)
      ? `A time of day needs a date: write startofday(now()) + timespan(${withSeconds(raw.text)}).`
      : type === 'datetime'
        ? 'Write datetime(2026-01-02), datetime(2026-01-02 03:04:05) or datetime(2026-01-02T03:04:05.123Z); years 1677 to 2262.'
        : 'Write timespan(1d), timespan(1h30m), timespan(500ms) or timespan(1.02:03:04).';
  const isBeyond = type === 'datetime' && isBeyondTime(raw.text);
  const message = isBeyond
    ? `\`${raw.text}\` is outside the datetime range of 1677-09-22 to 2262-04-11`
    : `\`${raw.text}\` is not a ${type}`;
  const dates = type === 'datetime' ? datesMeant(raw.text) : [];
  const advice = dates.length === 0 ? hint : `Write datetime(${dates.join(') or datetime(')}).`;
  const instead = dates.length === 1 ? dates[0] : undefined;
  stream.report('error', `bad-${type}`, raw, message, isBeyond ? undefined : advice, instead);
}

/** Returns `08:00:00` for `8:00`. */
function withSeconds(time: string): string {
  return `${time}${time.split(':').length === 2 ? ':00' : ''}`.padStart(8, '0');
}

const int64Max = 2n ** 63n - 1n;

/** Returns a number literal; null, with a diagnostic, if it does not fit. */
export function numberLiteral(stream: TokenStream, token: Token): Literal {
  const { text } = token;
  if (token.problem !== undefined) return literal('long', null, token);
  if (!/^(?:0[xX][0-9a-fA-F]+|\d+)$/.test(text)) return literal('real', Number(text), token);
  const value = BigInt(text);
  if (value <= int64Max + 1n) return literal('long', value, token);
  stream.report(
    'error',
    'number-too-large',
    token,
    `\`${text}\` does not fit in 64 bits`,
    `The largest long is ${int64Max}; write ${text}.0 for a real.`,
  );
  return literal('long', null, token);
}

/** Returns the literal of a timespan such as `5m`; null, with a diagnostic, if it does not fit. */
export function timespanLiteral(stream: TokenStream, token: Token): Literal {
  const { text } = token;
  const value = parseTimespan(text);
  if (value !== undefined) return literal('timespan', value, token);
  stream.report(
    'error',
    'timespan-too-large',
    token,
    `\`${text}\` does not fit in 64-bit nanoseconds`,
    'The longest timespan is 106751d (292 years).',
  );
  return literal('timespan', null, token);
}
