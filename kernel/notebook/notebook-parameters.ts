import type { TypeName } from '../apl/catalog/entry.js';
import type { Expr, Span } from '../apl/syntax/ast.js';
import { type CellQuery, preceded } from '../apl/syntax/cell.js';
import { declaredParameters } from '../apl/syntax/syntax-parameters.js';
import { type Token, tokenize } from '../apl/syntax/tokens/lexer.js';
import { present } from '../present.js';
import { formatDuration, formatTime, parseTime, parseTimespan } from '../time.js';
import { MagicError } from './magics/magic-arguments.js';
import { readDefinition } from './query/definition.js';

/** A value as sent in a request: JSON, with timestamps and durations as strings. */
export interface ParameterValue {
  readonly type: TypeName;
  readonly json: unknown;
}

interface GivenValue {
  readonly kind: 'value';
  readonly value: ParameterValue;
  /** The literal as written. */
  readonly text: string;
  readonly choices?: readonly ParameterValue[];
}

/** A parameter of the notebook. */
export type Parameter =
  | GivenValue
  /** A table, sent as the statement that defines it, as the API's variables cannot contain tables. */
  | { readonly kind: 'table'; readonly text: string };

/** A query as sent: its text with the statements that its parameters need, and the parameters' values. */
export interface BoundQuery extends CellQuery {
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A parameter as in `declare query_parameters`; its default is APL. */
interface Declared {
  readonly type: TypeName;
  readonly fallback: string | undefined;
}

/** The parameters of a notebook: those that its cells declared, and those with given values. */
export class Parameters {
  readonly #declared = new Map<string, Declared>();
  readonly #given = new Map<string, Parameter>();

  /** Records the declarations among a cell's statements, for all later queries. */
  declare(source: string, statements: readonly Span[]): void {
    for (const { from, to } of statements) {
      const text = source.slice(from, to);
      for (const { name, type, fallback } of declaredParameters(text))
        this.#declared.set(name.name, { type, fallback: fallback && text.slice(fallback.from, fallback.to) });
    }
  }

  /**
   * Sets all parameters, or throws MagicError and sets none if a value is not among its choices, which last until others are given.
   * Parses text as a timestamp or duration if the parameter is one: command lines and papermill cannot write it otherwise.
   */
  set(written: readonly (readonly [name: string, parameter: Parameter])[]): void {
    const checked = written.map(([name, parameter]) => [name, this.#checked(name, parameter)] as const);
    for (const [name, parameter] of checked) this.#given.set(name, parameter);
  }

  #checked(name: string, written: Parameter): Parameter {
    const before = this.#given.get(name);
    const parameter = written.kind === 'value' ? this.#asBefore(name, written) : written;
    const choices =
      parameter.kind === 'value'
        ? (parameter.choices ?? (before?.kind === 'value' ? before.choices : undefined))
        : undefined;
    if (
      parameter.kind === 'value' &&
      choices !== undefined &&
      !choices.some(each => isSame(each, parameter.value))
    )
      throw new MagicError(
        `%param: ${name} cannot be ${parameter.text}`,
        `Its choices are ${choices.map(({ json }) => JSON.stringify(json)).join(', ')}.`,
      );
    return { ...parameter, ...present({ choices }) };
  }

  get(name: string): Parameter | undefined {
    return this.#given.get(name);
  }

  /** Returns name, type, value and choices of each parameter, as text. */
  rows(): readonly (readonly [name: string, type: string, value: string, choices: string])[] {
    const names = [...new Set([...this.#declared.keys(), ...this.#given.keys()])];
    return names.map(name => {
      const given = this.#given.get(name);
      const declared = this.#declared.get(name);
      if (given?.kind === 'table') return [name, 'table', given.text, ''];
      const choices = (given?.choices ?? []).map(({ json }) => JSON.stringify(json)).join(', ');
      const type = declared?.type ?? given?.value.type ?? '';
      const fallback = declared?.fallback === undefined ? 'none yet' : `${declared.fallback} (default)`;
      return [name, type, given?.text ?? fallback, choices];
    });
  }

  /** Returns the values by name, for an editor that binds queries. */
  values(): Readonly<Record<string, unknown>> {
    const values = [...this.#given].flatMap(([name, each]) =>
      each.kind === 'value' ? [[name, each.value.json]] : [],
    );
    return Object.fromEntries(values);
  }

  /**
   * Returns the query with the parameters that it names. Values are sent separately, never in the text; a name that the query itself
   * defines is not a parameter.
   */
  bind(query: CellQuery): BoundQuery {
    const tokens = tokenize(query.text);
    const own = new Set(
      tokens.flatMap((token, index) => (token.text === 'let' ? [tokens[index + 1]?.text ?? ''] : [])),
    );
    const declaredHere = new Set(declaredParameters(query.text).map(({ name }) => name.name));
    const names = [...new Set([...this.#declared.keys(), ...this.#given.keys()])].filter(
      name => !own.has(name) && tokens.some((token, index) => isUse(token, tokens[index - 1], name)),
    );
    const variables: [name: string, value: unknown][] = [];
    const declared: string[] = [];
    const tables: string[] = [];
    for (const name of names) {
      const given = this.#given.get(name);
      if (given?.kind === 'value') variables.push([name, given.value.json]);
      if (given?.kind === 'table') tables.push(`let ${name} = ${given.text};\n`);
      else if (!declaredHere.has(name)) declared.push(this.#declaration(name));
    }
    const prelude = `${declared.length === 0 ? '' : `declare query_parameters(${declared.join(', ')});\n`}${tables.join('')}`;
    return { ...preceded(query, prelude), variables: Object.fromEntries(variables) };
  }

  #typeOf(name: string): TypeName | undefined {
    const given = this.#given.get(name);
    return this.#declared.get(name)?.type ?? (given?.kind === 'value' ? given.value.type : undefined);
  }

  #asBefore(name: string, parameter: GivenValue): GivenValue {
    const { type, json } = parameter.value;
    if (type !== 'string' || typeof json !== 'string') return parameter;
    const value = timeLike(json, this.#typeOf(name));
    return value === undefined ? parameter : { ...parameter, value };
  }

  #declaration(name: string): string {
    const fallback = this.#declared.get(name)?.fallback;
    const given = this.#given.get(name);
    return `${name}: ${this.#typeOf(name) ?? 'dynamic'}${given !== undefined || fallback === undefined ? '' : ` = ${fallback}`}`;
  }
}

/** Returns whether a token is the name on its own, not after a dot. */
function isUse(token: Token, before: Token | undefined, name: string): boolean {
  return token.kind === 'word' && token.text === name && before?.text !== '.';
}

/** Parses a text as a timestamp or duration, by its type; returns undefined for other types and other text. */
function timeLike(text: string, type: TypeName | undefined): ParameterValue | undefined {
  const read = type === 'datetime' ? parseTime : type === 'timespan' ? parseTimespan : undefined;
  const nanos = read?.(text);
  if (type === undefined || nanos === undefined) return undefined;
  return { type, json: literalJson({ type, value: nanos }) };
}

function isSame(a: ParameterValue, b: ParameterValue): boolean {
  return JSON.stringify(a.json) === JSON.stringify(b.json);
}

/** Parses an APL literal as a parameter; throws MagicError for any other expression. */
export function readParameter(name: string, written: string): Parameter {
  const text = written.trim();
  const literal = /^[[{]/.test(text) ? `dynamic(${text})` : text;
  const { value, problem } = readDefinition(literal);
  if (value === undefined) throw noLiteral(name, text, problem);
  if ('source' in value) {
    if (value.source.kind !== 'datatable' || value.operators.length > 0) throw noLiteral(name, text);
    return { kind: 'table', text };
  }
  const read = constantOf(value);
  if (read === undefined) throw noLiteral(name, text);
  return { kind: 'value', value: read, text };
}

function noLiteral(name: string, text: string, why?: string): MagicError {
  return new MagicError(
    `%param: ${name} cannot be ${text === '' ? 'nothing' : text}${why === undefined ? ', which is not a literal' : `: ${why}`}`,
    'A parameter is a literal: "checkout", 30, 0.5, true, 5m, datetime(2026-01-01), ["a", "b"] or datatable(…)[…].',
  );
}

/** Returns the value of a literal; undefined for an expression that must be computed. */
function constantOf(expr: Expr): ParameterValue | undefined {
  switch (expr.kind) {
    case 'literal':
      return isOverflow(expr.value) ? undefined : { type: expr.type, json: literalJson(expr) };
    case 'paren':
      return constantOf(expr.inner);
    case 'unary':
      return negated(expr);
    case 'array': {
      const items = expr.items.map(constantOf);
      return items.includes(undefined) ? undefined : { type: 'dynamic', json: items.map(item => item?.json) };
    }
    case 'map': {
      const entries = expr.entries.map(({ key, value }) => [key, constantOf(value)] as const);
      if (entries.some(([, value]) => value === undefined)) return undefined;
      return { type: 'dynamic', json: Object.fromEntries(entries.map(([key, value]) => [key, value?.json])) };
    }
    case 'call': {
      const [argument] = expr.args;
      if (expr.callee.name !== 'dynamic' || argument === undefined || expr.args.length > 1) return undefined;
      const inner = constantOf(argument.value);
      return inner && { type: 'dynamic', json: inner.json };
    }
    default:
      return undefined;
  }
}

/** Evaluates `-5` or `-5m`; digits of an integer stay a string if a JSON number cannot represent them. */
function negated(expr: Extract<Expr, { kind: 'unary' }>): ParameterValue | undefined {
  const { operand } = expr;
  if (operand.kind !== 'literal' || expr.operator === 'not') return undefined;
  const value: unknown = operand.value;
  if ((typeof value !== 'bigint' && typeof value !== 'number') || isOverflow(value)) return undefined;
  const sign = expr.operator === '-' ? -1 : 1;
  const signed = typeof value === 'bigint' ? value * BigInt(sign) : value * sign;
  return { type: operand.type, json: literalJson({ type: operand.type, value: signed }) };
}

/** Returns whether a number exceeds a double, as `1e400` does: JSON has no infinity. */
function isOverflow(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

function literalJson({ type, value }: { readonly type: TypeName; readonly value: unknown }): unknown {
  if (typeof value !== 'bigint') return value;
  if (type === 'datetime') return formatTime(value);
  if (type === 'timespan') return formatDuration(value);
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
