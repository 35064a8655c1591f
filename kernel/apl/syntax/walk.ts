import type {
  Assignment,
  Expr,
  FieldPattern,
  Operator,
  Option,
  Pipeline,
  Query,
  SearchClause,
  SearchPredicate,
  Source,
} from './ast.js';

/** What to do at each node of a tree; a parent comes before what it holds. */
export interface Visitor {
  readonly pipeline?: (pipeline: Pipeline) => void;
  readonly source?: (source: Source) => void;
  readonly operator?: (operator: Operator) => void;
  readonly expr?: (expr: Expr) => void;
  readonly option?: (option: Option) => void;
  readonly pattern?: (pattern: FieldPattern) => void;
}

/** Visits every node of a query. */
export function visitQuery(query: Query, visitor: Visitor): void {
  for (const statement of query.statements) {
    switch (statement.kind) {
      case 'let':
        if ('source' in statement.value) visitPipeline(statement.value, visitor);
        else visitExprs([statement.value], visitor);
        break;
      case 'set':
        visitExprs([statement.value], visitor);
        break;
      case 'parameters':
        visitExprs(
          statement.params.map(param => param.fallback),
          visitor,
        );
        break;
      case 'query':
        visitPipeline(statement.pipeline, visitor);
    }
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
    case 'pattern':
      visitor.pattern?.(source.pattern);
      break;
    case 'datatable':
      visitExprs(source.values, visitor);
      break;
    case 'print':
      visitExprs(values(source.items), visitor);
      break;
    case 'range':
      visitExprs([source.start, source.end, source.step], visitor);
      break;
    case 'externaldata':
      visitOptions(source.options, visitor);
      break;
    case 'union':
      visitTables(source.union.options, source.union.tables, visitor);
      break;
    case 'search':
      visitSearch(source.search, visitor);
      break;
    case 'paren':
      visitPipeline(source.pipeline, visitor);
      break;
    case 'dataset':
    case 'missing':
  }
}

function visitOperator(operator: Operator, visitor: Visitor): void {
  visitor.operator?.(operator);
  if ('options' in operator) visitOptions(operator.options, visitor);
  switch (operator.kind) {
    case 'where':
      visitExprs([operator.predicate], visitor);
      break;
    case 'extend':
    case 'extend-valid':
    case 'project':
    case 'project-rename':
    case 'distinct':
      visitExprs(values(operator.items), visitor);
      break;
    case 'project-away':
    case 'project-keep':
      visitPatterns(operator.patterns, visitor);
      break;
    case 'project-reorder':
      visitPatterns(
        operator.items.map(item => item.pattern),
        visitor,
      );
      break;
    case 'summarize':
      visitExprs(values([...operator.aggregates, ...operator.by]), visitor);
      break;
    case 'sort':
      visitExprs(
        operator.keys.map(key => key.value),
        visitor,
      );
      break;
    case 'limit':
      visitExprs([operator.count], visitor);
      break;
    case 'top':
      visitExprs([operator.count, operator.key.value], visitor);
      break;
    case 'sample':
      visitExprs([operator.proportion], visitor);
      break;
    case 'join':
    case 'lookup':
      visitSource(operator.right, visitor);
      visitExprs(operator.on, visitor);
      break;
    case 'union':
      visitTables(operator.union.options, operator.union.tables, visitor);
      break;
    case 'search':
      visitSearch(operator.search, visitor);
      break;
    case 'make-series': {
      const { aggregates, on, start, stop, step, by } = operator;
      const fallbacks = aggregates.map(aggregate => aggregate.fallback);
      visitExprs([...values([...aggregates, ...by]), ...fallbacks, on, start, stop, step], visitor);
      break;
    }
    case 'mv-expand':
      visitExprs([...values(operator.items.map(({ item }) => item)), operator.limit], visitor);
      break;
    case 'parse':
    case 'parse-where':
    case 'parse-kv':
      visitExprs([operator.subject], visitor);
      break;
    case 'redact':
      visitPatterns(operator.on, visitor);
      visitExprs(operator.patterns, visitor);
      break;
    case 'count':
    case 'getschema':
    case 'unknown':
  }
}

function values(items: readonly Assignment[]): Expr[] {
  return items.map(item => item.value);
}

function visitPatterns(patterns: readonly FieldPattern[], visitor: Visitor): void {
  for (const pattern of patterns) visitor.pattern?.(pattern);
}

/** The value of an option is a word, not a name. */
function visitOptions(options: readonly Option[], visitor: Visitor): void {
  for (const option of options) {
    visitor.option?.(option);
    if (option.value.kind !== 'name') visitExprs([option.value], visitor);
  }
}

function visitTables(options: readonly Option[], tables: readonly Source[], visitor: Visitor): void {
  visitOptions(options, visitor);
  for (const table of tables) visitSource(table, visitor);
}

function visitSearch(search: SearchClause, visitor: Visitor): void {
  visitTables(search.options, search.tables, visitor);
  const pending: SearchPredicate[] = [search.predicate];
  for (let predicate = pending.pop(); predicate !== undefined; predicate = pending.pop()) {
    if (predicate.kind === 'and' || predicate.kind === 'or') pending.push(predicate.right, predicate.left);
    else if (predicate.kind === 'not') pending.push(predicate.operand);
    else if (predicate.kind === 'term') visitExprs([predicate.field], visitor);
    else if (predicate.kind === 'expr') visitExprs([predicate.expr], visitor);
  }
}

/** A list of its own and no recursion: a chain of ten thousand `or` is one deep tree. */
function visitExprs(exprs: readonly (Expr | undefined)[], visitor: Visitor): void {
  const pending = exprs.toReversed();
  while (pending.length > 0) {
    const expr = pending.pop();
    if (expr === undefined) continue;
    visitor.expr?.(expr);
    if (expr.kind === 'subquery') visitPipeline(expr.pipeline, visitor);
    else pending.push(...childrenOf(expr).toReversed());
  }
}

function childrenOf(expr: Exclude<Expr, { kind: 'subquery' }>): readonly Expr[] {
  switch (expr.kind) {
    case 'member':
      return [expr.object];
    case 'index':
      return [expr.object, expr.index];
    case 'call':
      return expr.args.map(argument => argument.value);
    case 'unary':
      return [expr.operand];
    case 'binary':
      return [expr.left, expr.right];
    case 'list':
      return [expr.left, ...expr.items];
    case 'between':
      return [expr.value, expr.low, expr.high];
    case 'paren':
      return [expr.inner];
    case 'array':
      return expr.items;
    case 'map':
      return expr.entries.map(entry => entry.value);
    case 'name':
    case 'literal':
    case 'typeof':
    case 'star':
    case 'missing':
      return [];
  }
}
