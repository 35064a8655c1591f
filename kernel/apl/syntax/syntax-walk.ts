import type { Clause, Operand } from '../operators/grammar.js';
import { clausesOf } from '../operators/operator-rows.js';
import type {
  Assignment,
  Expr,
  FieldPattern,
  Identifier,
  OperandNodes,
  Operator,
  Option,
  Pipeline,
  Query,
  SearchPredicate,
  Source,
  Span,
  Statement,
} from './ast.js';

/** Role of a name or another word. */
export type NameRole =
  /** An operator's word. */
  | 'stage'
  | 'dataset'
  | 'field'
  | 'member'
  /** A name defined by the query: a `let`, a parameter, a new field. */
  | 'definition'
  | 'callee'
  | 'optionName'
  | 'optionValue'
  /** A comparison: a symbol, or words such as `!has` and `matches regex`. */
  | 'operator';

/** A callback for each kind of tree node; parents are visited before their children. */
export interface Visitor {
  readonly pipeline?: (pipeline: Pipeline) => void;
  readonly source?: (source: Source) => void;
  readonly operator?: (operator: Operator) => void;
  readonly expr?: (expr: Expr) => void;
  readonly option?: (option: Option) => void;
  readonly pattern?: (pattern: FieldPattern) => void;
  /** A span that is one word or one `name=value`, but several tokens. */
  readonly unit?: (span: Span) => void;
  /** A name and its role; `name` is given if it is a definition or may refer to a `let`. */
  readonly name?: (span: Span, role: NameRole, name?: string) => void;
}

/** Visits every node of a query. */
export function visitQuery(query: Query, visitor: Visitor): void {
  for (const statement of query.statements) visitStatement(statement, visitor);
}

/** Visits every node of a statement. */
export function visitStatement(statement: Statement, visitor: Visitor): void {
  switch (statement.kind) {
    case 'let':
      visitor.name?.(statement.name, 'definition', statement.name.name);
      if ('source' in statement.value) visitPipeline(statement.value, visitor);
      else visitExpr(statement.value, visitor);
      break;
    case 'set':
      visitor.name?.(statement.name, 'optionName');
      visitExpr(statement.value, visitor);
      break;
    case 'parameters':
      for (const { name, fallback } of statement.params) {
        visitor.name?.(name, 'definition', name.name);
        visitExpr(fallback, visitor);
      }
      break;
    case 'query':
      visitPipeline(statement.pipeline, visitor);
  }
}

function visitPipeline(pipeline: Pipeline, visitor: Visitor): void {
  visitor.pipeline?.(pipeline);
  visitSource(pipeline.source, visitor);
  for (const operator of pipeline.operators) visitOperator(operator, visitor);
}

function visitSource(source: Source, visitor: Visitor): void {
  visitor.source?.(source);
  switch (source.kind) {
    case 'dataset':
      visitor.name?.(
        source.held === true ? source.name : source,
        'dataset',
        source.name.quoted ? undefined : source.name.name,
      );
      return;
    case 'pattern':
      visitor.pattern?.(source.pattern);
      visitor.unit?.(source.pattern);
      visitor.name?.(source.pattern, 'dataset');
      return;
    case 'paren':
      visitPipeline(source.pipeline, visitor);
      return;
    case 'given':
    case 'missing':
      return;
    default:
      visitClauses(source, visitor);
  }
}

/** Visits every node of an operator. */
export function visitOperator(operator: Operator, visitor: Visitor): void {
  visitor.operator?.(operator);
  if (operator.kind === 'unknown') return;
  visitor.name?.(operator.word, 'stage');
  visitor.unit?.(operator.word);
  visitClauses(operator, visitor);
}

/** Visits the contents of a row's node, clause by clause. */
function visitClauses(node: { readonly kind: string }, visitor: Visitor): void {
  const held = node as unknown as Readonly<Record<string, unknown>>;
  for (const clause of clausesOf(node.kind)) {
    const value = held[clause.name];
    if (value !== undefined) visitOperand(clause, value, visitor);
  }
}

/** Visits an operand. The property has the type of the clause's operand, as the node's type is derived from the same row. */
function visitOperand({ takes }: Clause, value: unknown, visitor: Visitor): void {
  const walk = walkers[takes] as (value: unknown, visitor: Visitor) => void;
  walk(value, visitor);
}

type Walker<T extends Operand> = (value: OperandNodes[T], visitor: Visitor) => void;

/** Walker of each operand. */
const walkers: { readonly [T in Operand]: Walker<T> } = {
  expression: visitExpr,
  expressions: visitExprs,
  assignments: visitAssignments,
  'defaulted assignments': (items, visitor) => {
    for (const item of items) {
      visitAssignments([item], visitor);
      visitExpr(item.fallback, visitor);
      if (item.defaultSpan !== undefined) visitor.unit?.(item.defaultSpan);
    }
  },
  'typed assignments': visitAssignments,
  'field patterns': visitPatterns,
  'ordered patterns': (items, visitor) => {
    for (const { pattern, orderSpan } of items) {
      visitPatterns([pattern], visitor);
      if (orderSpan !== undefined) visitor.unit?.(orderSpan);
    }
  },
  'sort key': (key, visitor) => visitExpr(key.value, visitor),
  'sort keys': (keys, visitor) => {
    for (const key of keys) visitExpr(key.value, visitor);
  },
  source: visitSource,
  sources: visitSources,
  'sources in parentheses': visitSources,
  stages: visitPipeline,
  options: visitOptions,
  'options in parentheses': visitOptions,
  columns: visitDefinitions,
  name: (name, visitor) => visitor.name?.(name, 'definition', name.name),
  word: (word, visitor) => visitor.name?.(word, 'optionValue'),
  values: visitExprs,
  texts: () => undefined,
  range: visitExprs,
  pieces: (pieces, visitor) =>
    visitDefinitions(
      pieces.filter(piece => piece.kind === 'field'),
      visitor,
    ),
  search: visitSearch,
};

function visitSources(sources: readonly Source[], visitor: Visitor): void {
  for (const source of sources) visitSource(source, visitor);
}

function visitAssignments(items: readonly Assignment[], visitor: Visitor): void {
  for (const { names, value } of items) {
    for (const name of names) visitor.name?.(name, 'definition', name.name);
    visitExpr(value, visitor);
  }
}

function visitDefinitions(items: readonly { readonly name: Identifier }[], visitor: Visitor): void {
  for (const { name } of items) visitor.name?.(name, 'definition', name.name);
}

function visitPatterns(patterns: readonly FieldPattern[], visitor: Visitor): void {
  for (const pattern of patterns) {
    visitor.pattern?.(pattern);
    visitor.name?.(pattern, 'field');
    visitor.unit?.(pattern);
  }
}

/** Visits options; their values are words, not names. */
function visitOptions(options: readonly Option[], visitor: Visitor): void {
  for (const option of options) {
    visitor.option?.(option);
    visitor.unit?.(option);
    visitor.name?.(option.name, 'optionName');
    if (option.value.kind === 'name') visitor.name?.(option.value, 'optionValue');
    else visitExpr(option.value, visitor);
  }
}

function visitSearch(search: SearchPredicate, visitor: Visitor): void {
  const pending: SearchPredicate[] = [search];
  for (let predicate = pending.pop(); predicate !== undefined; predicate = pending.pop()) {
    if (predicate.kind === 'and' || predicate.kind === 'or') pending.push(predicate.right, predicate.left);
    else if (predicate.kind === 'not') pending.push(predicate.operand);
    else if (predicate.kind === 'term') visitExpr(predicate.field, visitor);
    else if (predicate.kind === 'expr') visitExpr(predicate.expr, visitor);
  }
}

function visitExprs(exprs: readonly Expr[], visitor: Visitor): void {
  for (const expr of exprs) visitExpr(expr, visitor);
}

/** Visits an expression, if any, and every node in it. Iterative rather than recursive, as `a or b or …` is a deep tree. */
export function visitExpr(root: Expr | undefined, visitor: Visitor): void {
  const pending: (Expr | undefined)[] = [root];
  while (pending.length > 0) {
    const expr = pending.pop();
    if (expr === undefined) continue;
    visitor.expr?.(expr);
    if (visitor.name !== undefined) visitNames(expr, visitor.name);
    if (expr.kind === 'subquery') visitPipeline(expr.pipeline, visitor);
    else pushChildren(expr, pending);
  }
}

/** Visits the names that belong to an expression itself. */
function visitNames(expr: Expr, visit: NonNullable<Visitor['name']>): void {
  switch (expr.kind) {
    case 'name':
      visit(expr, 'field', expr.quoted ? undefined : expr.name);
      return;
    case 'member':
      visit(expr.member, 'member');
      return;
    case 'call':
      visit(expr.callee, 'callee');
      for (const { name } of expr.args) if (name !== undefined) visit(name, 'definition', name.name);
      return;
    case 'binary':
    case 'list':
      visit(expr.operatorSpan, 'operator');
      return;
    default:
  }
}

/** Pushes the children of an expression, the first on top. */
function pushChildren(expr: Exclude<Expr, { kind: 'subquery' }>, pending: (Expr | undefined)[]): void {
  switch (expr.kind) {
    case 'member':
      pending.push(expr.object);
      return;
    case 'index':
      pending.push(expr.index, expr.object);
      return;
    case 'call':
      for (let at = expr.args.length - 1; at >= 0; at -= 1) pending.push(expr.args[at]?.value);
      return;
    case 'unary':
      pending.push(expr.operand);
      return;
    case 'binary':
      pending.push(expr.right, expr.left);
      return;
    case 'list':
      for (let at = expr.items.length - 1; at >= 0; at -= 1) pending.push(expr.items[at]);
      pending.push(expr.left);
      return;
    case 'between':
      pending.push(expr.high, expr.low, expr.value);
      return;
    case 'paren':
      pending.push(expr.inner);
      return;
    case 'array':
      for (let at = expr.items.length - 1; at >= 0; at -= 1) pending.push(expr.items[at]);
      return;
    case 'map':
      for (let at = expr.entries.length - 1; at >= 0; at -= 1) pending.push(expr.entries[at]?.value);
      return;
    case 'name':
    case 'literal':
    case 'typeof':
    case 'star':
    case 'missing':
  }
}
