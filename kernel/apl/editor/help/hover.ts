import { present } from '../../../present.js';
import { escapeMarkdown, markdownParts, oneLine } from '../../../text.js';
import { resultNamed } from '../../bind/bind-names.js';
import { aggregateNamed, functionNamed } from '../../catalog/all-functions.js';
import { type FunctionEntry, serviceTypes, type TypeName } from '../../catalog/entry.js';
import { elementNamed } from '../../catalog/operator-entries.js';
import type { BindEnvironment, Column } from '../../plan/plan.js';
import type { Expr, Query, Source, Span } from '../../syntax/ast.js';
import { dataset, identifier } from '../../syntax/nodes.js';
import { parseQuery } from '../../syntax/parse.js';
import { typeNamed } from '../../syntax/syntax-types.js';
import { visitQuery } from '../../syntax/syntax-walk.js';
import { type Token, tokenize } from '../../syntax/tokens/lexer.js';
import { type NamesAt, namesAt } from '../scope.js';
import { code, describeElement, describeFunction, parameterText, signatureOf } from './help-describe.js';

/** An explanation and the span of text it explains. */
export interface Hover extends Span {
  readonly markdown: string;
  /** Plain text of the explanation, without markup. */
  readonly plain: string;
}

/**
 * Explains the element at `offset` in one query: an operator, a function, a field, a dataset, a type, a `let` name; else the enclosing
 * call.
 */
export function hover(text: string, offset: number, environment: BindEnvironment): Hover | undefined {
  const tokens = tokenize(text).filter(token => token.kind !== 'comment');
  const { query } = parseQuery(text);
  const place: Place = { text, offset, tokens, query, environment };
  const found = atName(place) ?? atWord(place) ?? atCall(place) ?? atFunctionName(place);
  return found === undefined ? undefined : { ...found, plain: plainText(found.markdown) };
}

/** The call whose argument is being written. */
export interface SignatureHelp {
  readonly label: string;
  readonly doc: string;
  readonly parameters: readonly { readonly label: string; readonly doc?: string }[];
  /** Index of the parameter being written; the number of parameters if there are too many arguments. */
  readonly active: number;
}

/** Returns the signature of the innermost open call at `offset`; undefined unless it calls a known function. */
export function signatureHelp(text: string, offset: number): SignatureHelp | undefined {
  const open = openCall(tokenize(text.slice(0, offset)));
  const entry = open === undefined ? undefined : callable(open.callee.text);
  if (open === undefined || entry === undefined) return undefined;
  const last = entry.params.at(-1);
  const active = last?.rest === true ? Math.min(open.commas, entry.params.length - 1) : open.commas;
  return {
    label: signatureOf(entry),
    doc: entry.doc,
    parameters: entry.params.map(param => ({
      label: parameterText(param),
      ...present({ doc: param.doc }),
    })),
    active: Math.min(active, entry.params.length),
  };
}

interface Place {
  readonly text: string;
  readonly offset: number;
  /** Without comments. */
  readonly tokens: readonly Token[];
  readonly query: Query;
  readonly environment: BindEnvironment;
}

interface Found extends Span {
  readonly markdown: string;
}

function touches({ from, to }: Span, offset: number): boolean {
  return from <= offset && offset <= to;
}

/** Finds a name of the tree under the cursor: dataset, field, `let` name, function, type. */
function atName(place: Place): Found | undefined {
  const { query, offset } = place;
  const found: Found[] = [];
  const add = (span: Span, describe: () => string | undefined): void => {
    const markdown = touches(span, offset) ? describe() : undefined;
    if (markdown !== undefined) found.push({ from: span.from, to: span.to, markdown });
  };
  visitQuery(query, {
    source: source => add(sourceName(source), () => describeSource(place, source)),
    pattern: pattern => {
      const [name = ''] = pattern.parts;
      if (pattern.exact) add(pattern, () => describeValue(place, name, pattern.from));
    },
    expr: expr => addExpr(place, expr, add),
  });
  for (const span of definedNames(query, offset)) add(span, () => describeOutput(place, span));
  return found.at(-1);
}

function sourceName(source: Source): Span {
  return source.kind === 'dataset' ? source.name : { from: -1, to: -1 };
}

function addExpr(
  place: Place,
  expr: Expr,
  add: (span: Span, describe: () => string | undefined) => void,
): void {
  if (expr.kind === 'name') add(expr, () => describeValue(place, expr.name, expr.from));
  else if (expr.kind === 'member') add(expr, () => describeMember(place, expr));
  else if (expr.kind === 'call') add(expr.callee, () => describeCallable(expr.callee.name));
  else if (expr.kind === 'typeof') {
    const name = expr.type;
    add(expr, () => (name === undefined ? undefined : describeType(name)));
  }
}

/** Describes `a.b`: a flat field if there is one, else a property. */
function describeMember(place: Place, expr: Extract<Expr, { kind: 'member' }>): string | undefined {
  const dotted = place.text.slice(expr.from, expr.to).replace(/\s+/g, '');
  const names = namesOf(place, expr.from);
  const column = columnNamed(names, dotted);
  if (column !== undefined) return describeColumn(column, names);
  return touches(expr.member, place.offset) ? `property ${code(expr.member.name)}: dynamic` : undefined;
}

function namesOf({ query, text, environment }: Place, offset: number): NamesAt {
  return namesAt(query, text, environment, offset);
}

function columnNamed({ columns, right }: NamesAt, name: string): Column | undefined {
  return [...columns, ...right].find(column => column.name === name);
}

function describeSource(place: Place, source: Source): string | undefined {
  if (source.kind !== 'dataset') return undefined;
  const { name } = source.name;
  const definition = namesOf(place, source.from).definitions.get(name);
  if (definition !== undefined) return describeValue(place, name, source.from);
  const result = resultNamed(place.environment, source.name);
  const schema = result ?? place.environment.schema(name);
  if (schema === undefined) return undefined;
  const listing = schema.fields
    .filter(field => field.hidden !== true)
    .map(field => `- ${code(field.name)}: ${serviceTypes[field.type]}`);
  return `${result === undefined ? 'dataset' : 'result'} ${code(name)}\n\n${listing.join('\n')}`;
}

/** Describes a field of the stage, else a `let` name. */
function describeValue(place: Place, name: string, offset: number): string | undefined {
  const names = namesOf(place, offset);
  const column = columnNamed(names, name);
  if (column !== undefined) return describeColumn(column, names);
  const definition = names.definitions.get(name);
  if (definition === undefined) {
    const schema = place.environment.schema(name);
    return schema === undefined ? undefined : describeSource(place, datasetSource(name, offset));
  }
  if (definition.kind === 'scalar') return `let ${code(name)}: ${serviceTypes[definition.value.type]}`;
  const listing = definition
    .bind()
    .relation.columns.map(each => `- ${code(each.name)}: ${serviceTypes[each.type]}`);
  return `let ${code(name)}, a table\n\n${listing.join('\n')}`;
}

function datasetSource(name: string, from: number): Source {
  const span = { from, to: from };
  return dataset(identifier(name, false, span), span);
}

function describeColumn(column: Column, names: NamesAt): string {
  const { name, type, unit, description } = column;
  const inUnit = unit === undefined || unit === '' || unit === 'none' ? '' : `, in ${code(unit)}`;
  const origin = names.origin(column);
  const from = origin === undefined ? '' : `, of ${code(origin)}`;
  return [
    `field ${code(name)}: ${serviceTypes[type]}${inUnit}${from}`,
    escapeMarkdown(oneLine(description ?? '')),
  ]
    .join('\n\n')
    .trim();
}

interface DefinedName extends Span {
  readonly name: string;
}

/** Returns the names at the cursor that an operator or a statement defines. */
function definedNames(query: Query, offset: number): DefinedName[] {
  const names: DefinedName[] = [];
  visitQuery(query, {
    name: ({ from, to }, role, name) => {
      if (role === 'definition' && name !== undefined && touches({ from, to }, offset))
        names.push({ from, to, name });
    },
  });
  return names;
}

/** Describes a name at its definition: the field that the operator creates, or the value of its `let`. */
function describeOutput(place: Place, { name, from }: DefinedName): string | undefined {
  const statement = place.query.statements.find(each => each.kind === 'let' && each.name.from === from);
  if (statement !== undefined) {
    const text = `${place.text.slice(0, statement.to)};`;
    return describeValue({ ...place, text, query: parseQuery(text).query }, name, text.length);
  }
  const names = namesOf(place, from);
  const column = names.outputs().find(candidate => candidate.name === name);
  return column === undefined ? undefined : describeColumn(column, names);
}

function callable(name: string): FunctionEntry | undefined {
  return aggregateNamed(name) ?? functionNamed(name);
}

function describeCallable(name: string): string | undefined {
  const entry = callable(name);
  if (entry !== undefined) return describeFunction(entry);
  const element = elementNamed(name);
  return element === undefined ? undefined : describeElement(element);
}

/** Finds a word or symbol that is not a name: an operator, a source, a comparison, a type. */
function atWord({ text, offset, tokens, query }: Place): Found | undefined {
  for (const span of operatorWords(query)) {
    const entry = touches(span, offset) ? elementNamed(text.slice(span.from, span.to)) : undefined;
    if (entry !== undefined) return { from: span.from, to: span.to, markdown: describeElement(entry) };
  }
  const index = tokens.findIndex(token => token.from <= offset && offset < token.to);
  const at = index >= 0 ? index : tokens.findLastIndex(token => token.kind === 'word' && token.to === offset);
  const token = tokens[at];
  if (token === undefined || '()[]{},.'.includes(token.text)) return undefined;
  const { from, to } = token;
  if (tokens[at - 1]?.text === ':' || tokens[at - 2]?.text === 'typeof') {
    const type = typeNamed(token.text);
    return type === undefined ? undefined : { from, to, markdown: describeType(type) };
  }
  if (token.kind !== 'word' && token.kind !== 'symbol') return undefined;
  const name = token.text === 'matches' || token.text === '!matches' ? `${token.text} regex` : token.text;
  const entry = elementNamed(name === 'regex' ? 'matches regex' : name);
  if (entry !== undefined) return { from, to, markdown: describeElement(entry) };
  const markdown = tokens[at + 1]?.text === '(' ? describeCallable(token.text) : undefined;
  return markdown === undefined ? undefined : { from, to, markdown };
}

function operatorWords(query: Query): Span[] {
  const spans: Span[] = [];
  visitQuery(query, { operator: operator => void spans.push(operator.word) });
  return spans;
}

const typeDocs: Readonly<Record<TypeName, string>> = {
  bool: 'True or false.',
  long: 'A 64-bit integer; also int.',
  real: 'A 64-bit floating-point number; also double.',
  string: 'A Unicode string.',
  datetime: 'A UTC timestamp with nanosecond precision.',
  timespan: 'A duration with nanosecond precision.',
  dynamic: 'An array, a map, or any other JSON value.',
};

function describeType(type: TypeName): string {
  return `type ${code(type)}\n\n${typeDocs[type]}`;
}

/** Finds the call whose closing parenthesis is at or right before the cursor, else the call around the cursor. */
function atCall({ tokens, offset, text }: Place): Found | undefined {
  const closed = tokens.find(
    token => token.kind === 'symbol' && token.text === ')' && (token.from === offset || token.to === offset),
  );
  const end = closed === undefined ? offset : closed.from;
  const open = openCall(tokens.filter(token => token.to <= end));
  const markdown = open === undefined ? undefined : describeCallable(open.callee.text);
  if (open === undefined || markdown === undefined) return undefined;
  const active = closed === undefined ? activeParameter(text, offset) : undefined;
  return {
    from: open.callee.from,
    to: Math.min(Math.max(end, open.callee.to), text.length),
    markdown: active === undefined ? markdown : `${markdown}\n\nThe argument here is ${code(active)}.`,
  };
}

/** Finds the name of a function, even without parentheses. */
function atFunctionName({ tokens, offset }: Place): Found | undefined {
  const token = tokens.find(each => each.kind === 'word' && touches(each, offset));
  const markdown = token === undefined ? undefined : describeCallable(token.text);
  return token === undefined || markdown === undefined
    ? undefined
    : { from: token.from, to: token.to, markdown };
}

function activeParameter(text: string, offset: number): string | undefined {
  const help = signatureHelp(text, offset);
  return help?.parameters[help.active]?.label;
}

/** Returns the innermost unclosed call in the tokens, and the number of its commas. */
function openCall(tokens: readonly Token[]): { readonly callee: Token; readonly commas: number } | undefined {
  let depth = 0;
  let commas = 0;
  for (let at = tokens.length - 1; at > 0; at -= 1) {
    const token = tokens[at];
    if (token?.kind !== 'symbol') continue;
    if (')]}'.includes(token.text)) depth += 1;
    else if (depth > 0 && '([{'.includes(token.text)) depth -= 1;
    else if (token.text === '|' && depth === 0) return undefined;
    else if (token.text === ',' && depth === 0) commas += 1;
    else if ('([{'.includes(token.text)) {
      const callee = tokens[at - 1];
      if (token.text === '(' && callee?.kind === 'word' && isCallee(callee.text)) return { callee, commas };
      commas = 0;
    }
  }
  return undefined;
}

function isCallee(name: string): boolean {
  return callable(name) !== undefined;
}

function plainText(markdown: string): string {
  return [...markdownParts(markdown.replace(/^#+ /gm, ''))].map(({ text }) => text).join('');
}
