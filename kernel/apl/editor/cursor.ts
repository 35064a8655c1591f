import { aggregateNamed } from '../catalog/all.js';
import { type Token, tokenize } from '../syntax/lexer.js';
import { maxDepth } from '../syntax/stream.js';

/** What may stand at a place of a query. */
export type Slot =
  | { readonly kind: 'none' }
  /** A table; with `statement`, also `let` and its kin. */
  | { readonly kind: 'source'; readonly statement: boolean }
  /** An operator; `piped` when the pipe is already there. */
  | { readonly kind: 'operator'; readonly piped: boolean }
  | Operand
  /** The name of a field and nothing else. */
  | { readonly kind: 'field' }
  /** What goes on behind a complete operand: clause words, and operators of expressions where `scalar`. */
  | { readonly kind: 'words'; readonly words: readonly string[]; readonly scalar: boolean }
  | { readonly kind: 'type' }
  /** The value of an option such as `kind=`. */
  | { readonly kind: 'option'; readonly operator: string; readonly option: string }
  /** Behind `path.` or inside `path['…`. */
  | { readonly kind: 'member'; readonly path: readonly string[]; readonly quoted: boolean }
  /** A string compared with a field. */
  | { readonly kind: 'value'; readonly path: readonly string[]; readonly quote: string };

interface Operand {
  readonly kind: 'operand';
  readonly aggregates: boolean;
  /** Tables may stand here too: in the list of `in (…)`, after `let x =`. */
  readonly tables: boolean;
  /** Words such as `kind=` that may come first. */
  readonly options: readonly string[];
  /** After `by`. */
  readonly keys: boolean;
  /** After `on`. */
  readonly sides: boolean;
  readonly callee?: string;
  /** Which argument of the callee, from 0. */
  readonly argument?: number;
  /** The field that the operand is compared with. */
  readonly compared?: readonly string[];
}

/** The slot at a place of a text, and the word there that is being typed. */
export interface Cursor {
  readonly slot: Slot;
  readonly typed: string;
  /** Where the typed word starts; for a quoted name, its bracket. */
  readonly from: number;
  /** True inside `['…`. */
  readonly quoted: boolean;
}

/** Reads the text before `offset`, whatever state it is in, and says what may stand there. */
export function cursorAt(text: string, offset: number): Cursor {
  const before = text.slice(0, offset);
  const tokens = tokenize(before);
  const last = tokens.at(-1);
  const none: Cursor = { slot: { kind: 'none' }, typed: '', from: offset, quoted: false };
  if (last === undefined || last.to < offset) return { ...none, slot: slotAfter(tokens) };
  if (last.kind === 'comment') return none;
  if (last.kind === 'string') return last.flaw === 'unterminated' ? inString(before, tokens) : none;
  const hyphenated = /[\p{L}_$][\p{L}\w$]*(?:-[\p{L}\w$]*)+$/u.exec(before);
  if (hyphenated !== null) {
    const slot = slotAfter(tokens.filter(token => token.to <= hyphenated.index));
    if (hyphenatedSlots.has(slot.kind))
      return { slot, typed: hyphenated[0], from: hyphenated.index, quoted: false };
  }
  if (last.kind !== 'word') {
    const open = last.kind === 'symbol' && !')]}'.includes(last.text);
    return open ? { ...none, slot: slotAfter(tokens) } : none;
  }
  return { slot: slotAfter(tokens.slice(0, -1)), typed: last.text, from: last.from, quoted: false };
}

/** The words of options by operator, and the values that each takes. */
export const optionValues: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  join: {
    kind: [
      ...['inner', 'innerunique', 'leftouter', 'rightouter', 'fullouter'],
      ...['leftsemi', 'leftanti', 'rightsemi', 'rightanti'],
    ],
  },
  lookup: { kind: ['leftouter', 'inner'] },
  union: { withsource: [] },
  search: { kind: ['case_sensitive', 'case_insensitive'] },
  'mv-expand': { kind: ['bag', 'array'], with_itemindex: [] },
  parse: { kind: ['simple', 'regex', 'relaxed'], flags: [] },
  'parse-where': { kind: ['simple', 'regex', 'relaxed'], flags: [] },
  redact: { replaceToken: [], replaceHash: ['true', 'false'], redactGroups: ['true', 'false'] },
  'parse-kv': { pair_delimiter: [], kv_delimiter: [], quote: [], escape: [], greedy: ['true', 'false'] },
  externaldata: {
    format: ['csv', 'scsv', 'tsv', 'psv', 'json', 'multijson', 'raw', 'txt'],
    ignoreFirstRecord: ['true', 'false'],
  },
};

/** The words of the operators of expressions. */
export const scalarWords: readonly string[] = [
  ...['and', 'or', 'in', '!in', 'in~', '!in~', 'between', '!between', 'matches regex', '!matches regex'],
  ...['contains', 'startswith', 'endswith', 'has', 'hasprefix', 'hassuffix'].flatMap(word => [
    word,
    `!${word}`,
    `${word}_cs`,
    `!${word}_cs`,
  ]),
  ...['has_any', 'has_any_cs', 'has_all', 'has_all_cs'],
];

const listWords = new Set(['in', '!in', 'in~', '!in~', 'has_any', 'has_any_cs', 'has_all', 'has_all_cs']);
/** Slots where a word may hold hyphens. */
const hyphenatedSlots: ReadonlySet<Slot['kind']> = new Set(['operator', 'source', 'option', 'words']);
const clauseWords = ['by', 'on', 'with', 'as', 'from', 'to', 'step', 'limit', 'regex', 'matches', '!matches'];
/** Words after which an operand stands. */
const openWords = new Set([...scalarWords, ...clauseWords, 'not', 'default']);
/** Words that end an operand and are none themselves. */
const closingWords = new Set(['asc', 'desc', 'nulls', 'first', 'last']);

/** The tokens of one stage of a bracket; what is nested in it stands as one token `()`. */
interface Frame {
  readonly open?: Token;
  stage: Token[];
  piped: boolean;
  commas: number;
}

/** Folds closed brackets away; the last frame is the innermost that is open. */
function framesOf(tokens: readonly Token[]): Frame[] {
  const frames: Frame[] = [{ stage: [], piped: false, commas: 0 }];
  for (const token of tokens) {
    const frame = frames.at(-1) as Frame;
    const symbol = token.kind === 'symbol' ? token.text : '';
    if (token.kind === 'comment') continue;
    if (symbol === '(' || symbol === '[' || symbol === '{') {
      frames.push({ open: token, stage: [], piped: false, commas: 0 });
    } else if (symbol === ')' || symbol === ']' || symbol === '}') {
      if (frames.length > 1) frames.pop();
      const from = frame.open?.from ?? token.from;
      frames.at(-1)?.stage.push({ kind: 'symbol', text: '()', from, to: token.to });
    } else if (symbol === '|') {
      frame.stage = [];
      frame.piped = true;
    } else if (symbol === ';') frames.splice(0, frames.length, { stage: [], piped: false, commas: 0 });
    else {
      if (symbol === ',') frame.commas += 1;
      frame.stage.push(token);
    }
  }
  return frames;
}

function slotAfter(tokens: readonly Token[]): Slot {
  const code = tokens.filter(token => token.kind !== 'comment');
  const last = code.at(-1);
  if (last?.kind === 'symbol' && last.text === '.') {
    const path = pathBefore(code.slice(0, -1));
    return path === undefined ? { kind: 'none' } : { kind: 'member', path, quoted: false };
  }
  const slot = frameSlot(framesOf(code));
  if (slot.kind !== 'operand') return slot;
  const compared = comparedField(code);
  return compared === undefined ? slot : { ...slot, compared };
}

const operand: Operand = {
  kind: 'operand',
  aggregates: false,
  tables: false,
  options: [],
  keys: false,
  sides: false,
};
const nothing: Slot = { kind: 'none' };

function words(list: readonly string[], scalar = false): Slot {
  return { kind: 'words', words: list, scalar };
}

function frameSlot(frames: readonly Frame[]): Slot {
  if (frames.length > maxDepth) return nothing;
  const frame = frames.at(-1) as Frame;
  const outer = frames.at(-2);
  if (outer === undefined) return stageSlot(frame, true);
  const before = outer.stage.at(-1);
  if (frame.open?.text === '{') return isOpen(frame.stage.at(-1)) ? operand : nothing;
  if (frame.open?.text === '[') return expression(frame.stage, operand);
  if (frame.piped || frameSlot(frames.slice(0, -1)).kind === 'source') return stageSlot(frame, false);
  if (before?.kind === 'word' && !openWords.has(before.text)) return callSlot(frames, before.text);
  if (before?.text === 'as') return columnSlot(frame);
  if (before?.text === 'with') return withSlot(outer, frame);
  if (before !== undefined && listWords.has(before.text)) {
    const { name, rest } = operatorOf(outer);
    if (name === 'search' && rest.length === 1) return expectsOperand(frame.stage) ? source() : nothing;
    return expression(frame.stage, { ...operand, tables: true });
  }
  return expression(frame.stage, { ...operand, aggregates: aggregatesIn(frames) });
}

function source(statement = false): Slot {
  return { kind: 'source', statement };
}

const columnWords = new Set(['datatable', 'externaldata', 'query_parameters']);

function callSlot(frames: readonly Frame[], callee: string): Slot {
  const frame = frames.at(-1) as Frame;
  if (callee === 'typeof') return frame.stage.length === 0 ? { kind: 'type' } : nothing;
  if (columnWords.has(callee)) return columnSlot(frame);
  return expression(frame.stage, {
    ...operand,
    aggregates: aggregatesIn(frames),
    callee,
    argument: frame.commas,
  });
}

/** `name: type = default, …`. */
function columnSlot({ stage }: Frame): Slot {
  const last = stage.at(-1)?.text;
  return last === ':' ? { kind: 'type' } : last === '=' ? operand : nothing;
}

function withSlot(outer: Frame, { stage }: Frame): Slot {
  const operator = outer.stage.some(token => token.text === 'externaldata') ? 'externaldata' : 'parse-kv';
  const [option, sign] = stage.slice(-2);
  if (sign?.text === '=' && option !== undefined) return { kind: 'option', operator, option: option.text };
  const fresh = stage.length === 0 || stage.at(-1)?.text === ',';
  return fresh ? words(Object.keys(optionValues[operator] ?? {}).map(name => `${name}=`)) : nothing;
}

/** Aggregates may stand in the list of summarize and make-series, also within functions, but not within each other. */
function aggregatesIn(frames: readonly Frame[]): boolean {
  const at = frames.findLastIndex(frame => frame.piped);
  const stage = frames[at];
  if (stage === undefined) return false;
  const { name, rest } = operatorOf(stage);
  const ends = name === 'summarize' ? ['by'] : ['on', 'by'];
  if ((name !== 'summarize' && name !== 'make-series') || rest.some(token => ends.includes(token.text)))
    return false;
  const callees = frames.slice(at, -1).map(frame => frame.stage.at(-1)?.text ?? '');
  return callees.every(callee => aggregateNamed(callee) === undefined);
}

function operatorOf({ stage }: Frame): { readonly name: string; readonly rest: readonly Token[] } {
  let name = stage[0]?.text ?? '';
  let at = 1;
  while (stage[at]?.text === '-' && stage[at + 1]?.kind === 'word' && stage[at]?.from === stage[at - 1]?.to) {
    name += `-${stage[at + 1]?.text}`;
    at += 2;
  }
  return { name, rest: stage.slice(at) };
}

function stageSlot(frame: Frame, statement: boolean): Slot {
  const { stage } = frame;
  if (frame.piped) return stage.length === 0 ? { kind: 'operator', piped: true } : operatorSlot(frame);
  const [first, , sign] = stage;
  if (first === undefined) return source(statement);
  if (statement && first.text === 'let') {
    if (stage.length === 3 && sign?.text === '=') return { ...operand, tables: true };
    return stage.length > 3 ? expression(stage.slice(3), operand) : nothing;
  }
  if (statement && first.text === 'set') return stage.length === 1 ? words(['stricttypes']) : nothing;
  if (statement && first.text === 'declare')
    return stage.length === 1 ? words(['query_parameters']) : nothing;
  if (stage[1]?.text === '<<' && stage.length === 2) return source();
  const rest = stage.slice(1);
  if (first.text === 'print') return expression(rest, operand);
  if (first.text === 'range') return rangeSlot(rest);
  if (first.text === 'union') return tablesSlot('union', rest);
  if (first.text === 'search') return searchSlot(rest);
  if (first.text === 'datatable') return nothing;
  if (first.text === 'externaldata') return rest.length === 2 ? words(['with (']) : nothing;
  return { kind: 'operator', piped: false };
}

function rangeSlot(rest: readonly Token[]): Slot {
  const next = ['from', 'to', 'step'].find(word => !rest.some(token => token.text === word));
  if (rest.length === 0) return nothing;
  if (isOpen(rest.at(-1))) return operand;
  return next === undefined ? nothing : words([next]);
}

function tablesSlot(operator: string, rest: readonly Token[]): Slot {
  const option = optionBefore(operator, rest);
  if (option !== undefined) return option;
  const last = rest.at(-1);
  const start = last === undefined || last.text === ',' || rest.at(-2)?.text === '=';
  return start ? source() : { kind: 'operator', piped: false };
}

function searchSlot(rest: readonly Token[]): Slot {
  const option = optionBefore('search', rest);
  if (option !== undefined) return option;
  const slot = expression(rest, operand);
  return rest.length === 0 ? { ...operand, options: ['kind=', 'in ('] } : slot;
}

/** After `kind=`. */
function optionBefore(operator: string, rest: readonly Token[]): Slot | undefined {
  const [option, sign] = rest.slice(-2);
  const known = option !== undefined && Object.hasOwn(optionValues[operator] ?? {}, option.text);
  return known && sign?.text === '=' ? { kind: 'option', operator, option: option.text } : undefined;
}

const sortWords = ['asc', 'desc', 'nulls first', 'nulls last'];

/** Behind the word of an operator. */
function operatorSlot(frame: Frame): Slot {
  const { name, rest } = operatorOf(frame);
  const has = (word: string): boolean => rest.some(token => token.text === word);
  const option = optionBefore(name, rest);
  if (option !== undefined) return option;
  const plain = withoutOptions(rest);
  const options = plain.length === 0 ? Object.keys(optionValues[name] ?? {}).map(each => `${each}=`) : [];
  switch (name) {
    case 'where':
    case 'filter':
    case 'extend':
    case 'extend-valid':
    case 'project':
    case 'distinct':
      return expression(rest, operand);
    case 'project-away':
    case 'project-keep':
      return expectsOperand(rest) ? { kind: 'field' } : nothing;
    case 'project-reorder':
      return expectsOperand(rest) ? { kind: 'field' } : words(['asc', 'desc', 'granny-asc', 'granny-desc']);
    case 'project-rename':
      return rest.at(-1)?.text === '=' ? { kind: 'field' } : nothing;
    case 'summarize':
      return has('by')
        ? expression(after(rest, 'by'), { ...operand, keys: true })
        : expression(rest, { ...operand, aggregates: true }, ['by']);
    case 'sort':
    case 'order':
      return has('by') ? expression(after(rest, 'by'), operand, sortWords) : words(['by']);
    case 'top':
      if (has('by')) return expression(after(rest, 'by'), operand, sortWords);
      return rest.length === 0 ? nothing : words(['by']);
    case 'join':
    case 'lookup':
      if (has('on')) return expression(after(rest, 'on'), { ...operand, sides: true });
      return plain.length > 0 ? words(['on']) : source();
    case 'union':
      return tablesSlot('union', rest);
    case 'search':
      return searchSlot(rest);
    case 'make-series':
      return seriesSlot(rest, has);
    case 'mv-expand':
    case 'mvexpand':
      return expression(plain, { ...operand, options }, ['to typeof(', 'limit']);
    case 'parse':
    case 'parse-where':
      if (!has('with')) return expression(plain, { ...operand, options }, ['with']);
      return rest.at(-1)?.text === ':' ? { kind: 'type' } : nothing;
    case 'parse-kv':
      if (!has('as')) return expression(rest, operand, ['as (']);
      return rest.at(-1)?.text === '()' ? words(['with (']) : nothing;
    case 'redact':
      if (has('on')) return expectsOperand(after(rest, 'on')) ? { kind: 'field' } : nothing;
      return plain.length === 0 ? words(options) : words(['on']);
    default:
      return nothing;
  }
}

function seriesSlot(rest: readonly Token[], has: (word: string) => boolean): Slot {
  if (has('by')) return expression(after(rest, 'by'), { ...operand, keys: true });
  if (has('step')) return expression(after(rest, 'step'), operand, ['by']);
  if (has('to')) return expression(after(rest, 'to'), operand, ['step']);
  if (has('from')) return expression(after(rest, 'from'), operand, ['to']);
  if (has('on')) {
    const axis = after(rest, 'on');
    return axis.length === 0 ? { kind: 'field' } : words(['from', 'in range(', 'step']);
  }
  return expression(rest, { ...operand, aggregates: true }, ['on', 'default=']);
}

function after(tokens: readonly Token[], word: string): readonly Token[] {
  return tokens.slice(tokens.findLastIndex(token => token.text === word) + 1);
}

function withoutOptions(rest: readonly Token[]): readonly Token[] {
  let at = 0;
  while (rest[at]?.kind === 'word' && rest[at + 1]?.text === '=' && rest[at + 2] !== undefined) at += 3;
  return rest.slice(at);
}

/** An operand where one is due, else the words that may follow one. */
function expression(tokens: readonly Token[], slot: Operand, clause: readonly string[] = []): Slot {
  if (tokens.at(-1)?.text === 'matches' || tokens.at(-1)?.text === '!matches') return words(['regex']);
  if (expectsOperand(tokens)) return slot;
  const sorted = tokens.at(-1)?.text === 'asc' || tokens.at(-1)?.text === 'desc';
  if (sorted) return words(['nulls first', 'nulls last']);
  if (tokens.at(-1)?.text === 'nulls') return words(['first', 'last']);
  return words(clause, !closingWords.has(tokens.at(-1)?.text ?? ''));
}

function expectsOperand(tokens: readonly Token[]): boolean {
  return tokens.length === 0 || isOpen(tokens.at(-1));
}

/** True of a token that is no operand and wants one behind it. */
function isOpen(token: Token | undefined): boolean {
  if (token?.kind === 'symbol') return token.text !== '()' && token.text !== '.';
  return token?.kind === 'word' && openWords.has(token.text);
}

/** Inside a string: a quoted name, a key, or a value. */
function inString(before: string, tokens: readonly Token[]): Cursor {
  const string = tokens.at(-1) as Token;
  const rest = tokens.slice(0, -1).filter(token => token.kind !== 'comment');
  const bracket = rest.at(-1);
  const quote = before[string.from] ?? '"';
  const inner = { typed: string.text, from: string.from + 1, quoted: true };
  if (bracket?.kind === 'symbol' && bracket.text === '[' && bracket.to === string.from) {
    const outside = rest.slice(0, -1);
    const path = outside.at(-1)?.to === bracket.from ? pathBefore(outside) : undefined;
    if (path !== undefined) return { ...inner, slot: { kind: 'member', path, quoted: true } };
    return { ...inner, slot: slotAfter(outside), from: bracket.from };
  }
  const path = comparedField(rest);
  return { ...inner, slot: path === undefined ? nothing : { kind: 'value', path, quote } };
}

const comparing = new Set(['==', '!=', '=~', '!~', '<>', ...scalarWords]);

/** The field on the left of the comparison, or of the list, that goes on at the end of the tokens. */
function comparedField(tokens: readonly Token[]): readonly string[] | undefined {
  let at = tokens.length - 1;
  if (tokens[at]?.text === ',' || tokens[at]?.text === '(') {
    while (at >= 0 && (tokens[at]?.kind === 'string' || tokens[at]?.text === ',')) at -= 1;
    if (tokens[at]?.text !== '(' || !listWords.has(tokens[at - 1]?.text ?? '')) return undefined;
    at -= 1;
  }
  const operator = tokens[at]?.text ?? '';
  if (operator === 'and' || operator === 'or' || !comparing.has(operator)) return undefined;
  return pathBefore(tokens.slice(0, at));
}

/** The parts of `a.b['c']` at the end of the tokens. */
function pathBefore(tokens: readonly Token[]): string[] | undefined {
  const parts: string[] = [];
  let at = tokens.length - 1;
  for (;;) {
    const token = tokens[at];
    if (token?.text === ']' && tokens[at - 1]?.kind === 'string' && tokens[at - 2]?.text === '[') {
      const open = tokens[at - 2] as Token;
      parts.unshift(tokens[at - 1]?.text ?? '');
      at -= 3;
      const joined = tokens[at];
      const operandBefore =
        joined?.to === open.from &&
        ((joined.kind === 'word' && !openWords.has(joined.text)) || joined.text === ']');
      if (operandBefore) continue;
    } else if (token?.kind === 'word' && !openWords.has(token.text)) {
      parts.unshift(token.text);
      at -= 1;
    } else return undefined;
    if (tokens[at]?.kind !== 'symbol' || tokens[at]?.text !== '.') return parts;
    at -= 1;
  }
}
