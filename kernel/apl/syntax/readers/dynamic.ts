import type { Expr } from '../ast.js';
import { call, identifier, literal } from '../nodes.js';
import type { Token } from '../tokens/lexer.js';
import type { TokenStream } from '../tokens/token-stream.js';
import { parseExpression, tooDeep } from './read-expression.js';

/** Parses `dynamic(…)` after its word. */
export function parseDynamic(stream: TokenStream, word: Token): Expr {
  stream.next();
  const value = parseDynamicValue(stream);
  if (stream.expectSymbol(')', 'to close `dynamic(`') === undefined) {
    stream.skipTo(')', '|', ';');
    stream.takeSymbol(')');
  }
  const span = { from: word.from, to: stream.lastEnd };
  if (value.kind === 'array' || value.kind === 'map') return { ...value, ...span };
  const args = [{ from: value.from, to: value.to, value }];
  return call(identifier('dynamic', false, word), args, span.to);
}

/** Parses JSON as people write it in APL: single quotes and expressions are allowed inside. */
function parseDynamicValue(stream: TokenStream): Expr {
  const parse = (): Expr => {
    if (stream.isSymbol('[')) return parseDynamicArray(stream);
    if (stream.isSymbol('{')) return parseDynamicMap(stream);
    return takeExactNumber(stream) ?? parseExpression(stream, 'in `dynamic(…)`');
  };
  return stream.nested(parse, () => tooDeep(stream));
}

/** Consumes a number that neither 64 bits nor a real can represent exactly: JSON keeps its digits. */
function takeExactNumber(stream: TokenStream): Expr | undefined {
  const sign = stream.isSymbol('-') ? 1 : 0;
  const number = stream.peek(sign);
  const end = stream.peek(sign + 1);
  const stands = number.kind === 'number' && end.kind === 'symbol' && ',]})'.includes(end.text);
  if (!stands || !/^(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(number.text)) return undefined;
  const text = `${sign === 0 ? '' : '-'}${number.text}`;
  if (isHeld(text)) return undefined;
  const span = { from: stream.peek().from, to: number.to };
  stream.skip(sign + 1);
  return literal('dynamic', text, span);
}

function isHeld(text: string): boolean {
  if (/^-?\d+$/.test(text)) return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
  return Number.isFinite(Number(text)) && digitsOf(text) === digitsOf(String(Number(text)));
}

/** Returns the digits of a number between its leading and trailing zeros. */
function digitsOf(text: string): string {
  return text
    .replace(/e.*$/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '');
}

function parseDynamicArray(stream: TokenStream): Expr {
  const from = stream.next().from;
  const items: Expr[] = [];
  while (!stream.done && !stream.isSymbol(']')) {
    items.push(parseDynamicValue(stream));
    if (stream.takeSymbol(',') === undefined) break;
  }
  if (stream.expectSymbol(']', 'to close the array') === undefined) stream.skipTo(')', '|', ';');
  return { kind: 'array', items, from, to: stream.lastEnd };
}

function parseDynamicMap(stream: TokenStream): Expr {
  const from = stream.next().from;
  const entries: { key: string; value: Expr }[] = [];
  while (!stream.done && !stream.isSymbol('}')) {
    const key = stream.peek();
    if (key.kind !== 'string' && key.kind !== 'word') {
      stream.expected('a key in quotes', 'in the map');
      break;
    }
    stream.next();
    stream.expectSymbol(':', 'after the key');
    entries.push({ key: key.text, value: parseDynamicValue(stream) });
    if (stream.takeSymbol(',') === undefined) break;
  }
  if (stream.expectSymbol('}', 'to close the map') === undefined) stream.skipTo(')', '|', ';');
  return { kind: 'map', entries, from, to: stream.lastEnd };
}
