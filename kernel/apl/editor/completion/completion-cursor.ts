import type { Query } from '../../syntax/ast.js';
import { parseTokens } from '../../syntax/parse.js';
import { type Token, tokenize } from '../../syntax/tokens/lexer.js';
import { Offers, type Slot } from '../../syntax/tokens/offers.js';

/** The kinds of text allowed at the cursor, and the word being typed there. */
export interface Cursor {
  readonly slot: Slot | ValueSlot;
  /** Words also allowed there, and option names with their `=`. */
  readonly words: readonly string[];
  readonly options: readonly string[];
  /** True after an operand, when expression operators are allowed. */
  readonly scalar: boolean;
  readonly typed: string;
  /** Start of the typed word; for a quoted name, of its bracket. */
  readonly from: number;
  /** True inside `['…`. */
  readonly quoted: boolean;
  /** The query before the typed word. */
  readonly query: Query;
}

/** The inside of a string that is compared with a field. */
export interface ValueSlot {
  readonly kind: 'value';
  readonly path: readonly string[];
  readonly quote: string;
}

/** Reads the text before `offset`, complete or not, and returns what may follow it and the word being typed. */
export function cursorAt(text: string, offset: number): Cursor {
  const before = text.slice(0, offset);
  const tokens = tokenize(before);
  const last = tokens.at(-1);
  const read = (from: number): Cursor => readUpTo(before, tokens, from);
  if (last === undefined || last.to < offset) return read(offset);
  if (last.kind === 'comment') return nothing(read(offset));
  if (last.kind === 'string')
    return last.problem === 'unterminated' ? inString(before, tokens, last) : nothing(read(offset));
  const hyphenated = /[\p{L}_$][\p{L}\w$]*(?:-[\p{L}\w$]*)+$/u.exec(before);
  if (hyphenated !== null) {
    const cursor = read(hyphenated.index);
    if (takesHyphens(cursor)) return { ...cursor, typed: hyphenated[0] };
  }
  if (last.kind === 'word') return { ...read(last.from), typed: last.text };
  if (last.kind === 'symbol' && last.text === '[') return inBracket(before, tokens, last);
  const isOpen = last.kind === 'symbol' && !')]}'.includes(last.text);
  return isOpen ? read(offset) : nothing(read(offset));
}

/** Parses the text before `from`, and returns the parser's own offers at its end. */
function readUpTo(text: string, tokens: readonly Token[], from: number): Cursor {
  const offers = new Offers();
  const code = withoutResults(tokens.filter(token => token.to <= from && token.kind !== 'comment'));
  const query = parseTokens(text.slice(0, from), code, { from: 0, to: from }, offers);
  const { words, options, scalar } = offers;
  const follows = words.length > 0 || scalar;
  // A pipe may also follow an operand, but that needs no completion.
  const slot: Slot =
    follows && offers.slot.kind === 'operator' && !offers.slot.piped ? { kind: 'none' } : offers.slot;
  return { slot, words, options, scalar, typed: '', from, quoted: false, query };
}

/** Drops the `name <<` of a named result. */
function withoutResults(code: readonly Token[]): readonly Token[] {
  const arrow = code.findIndex(token => token.kind === 'symbol' && token.text === '<<');
  return arrow < 1 ? code : [...code.slice(0, arrow - 1), ...code.slice(arrow + 1)];
}

function nothing(cursor: Cursor): Cursor {
  return { ...cursor, slot: { kind: 'none' }, words: [], options: [], scalar: false };
}

/** True if a word there may have hyphens. */
function takesHyphens({ slot, words }: Cursor): boolean {
  return ['operator', 'source', 'option'].includes(slot.kind) || words.some(word => word.includes('-'));
}

/** Returns the cursor after an empty bracket: at a key, or at a name whose quote is yet to come. */
function inBracket(before: string, tokens: readonly Token[], bracket: Token): Cursor {
  const key = readUpTo(before, tokens, bracket.to);
  if (key.slot.kind === 'member') return key;
  const name = readUpTo(before, tokens, bracket.from);
  const mayBeName = ['source', 'operand', 'field'].includes(name.slot.kind);
  return mayBeName ? { ...name, words: [], options: [], scalar: false, quoted: true } : nothing(key);
}

/** Returns the cursor inside a string: at a quoted name, a key, or a value. */
function inString(before: string, tokens: readonly Token[], string: Token): Cursor {
  const bracket = tokens.filter(token => token.kind !== 'comment').at(-2);
  const inner = { typed: string.text, quoted: true };
  if (bracket?.kind === 'symbol' && bracket.text === '[' && bracket.to === string.from) {
    const key = readUpTo(before, tokens, bracket.to);
    if (key.slot.kind === 'member') return { ...key, ...inner, from: string.from + 1 };
    return { ...readUpTo(before, tokens, bracket.from), ...inner };
  }
  const cursor = { ...readUpTo(before, tokens, string.from), ...inner, from: string.from + 1 };
  const compared = cursor.slot.kind === 'operand' ? cursor.slot.compared : undefined;
  if (compared === undefined) return nothing(cursor);
  const slot: ValueSlot = { kind: 'value', path: compared, quote: before[string.from] ?? '"' };
  return { ...nothing(cursor), slot };
}
