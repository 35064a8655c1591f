import type {
  Assignment,
  Expr,
  Identifier,
  Operator,
  Option,
  Pipeline,
  Query,
  SearchClause,
  SearchPredicate,
  Source,
  Span,
  Statement,
  UnionClause,
} from '../syntax/ast.js';

/** What a stretch of text is to the parser. Text with no role is punctuation, a literal, or a contextual keyword. */
export type Role =
  | 'none'
  /** The word of an operator or of a source such as `print`. */
  | 'stage'
  | 'dataset'
  | 'field'
  | 'member'
  /** A name that the query defines: of a `let`, a parameter, a new field. */
  | 'definition'
  | 'letName'
  | 'callee'
  | 'optionName'
  | 'optionValue'
  /** Of a comparison: a symbol, or words such as `!has` and `matches regex`. */
  | 'operator';

/** A stretch that folds and indents as one. */
export interface Structure extends Span {
  readonly kind: 'Statement' | 'Pipeline';
}

const roles: readonly Role[] = [
  ...(['none', 'stage', 'dataset', 'field', 'member', 'definition'] as const),
  ...(['letName', 'callee', 'optionName', 'optionValue', 'operator'] as const),
];

/** Collects, from syntax trees, the roles of the names in a text and where its statements and pipelines lie. */
export class RoleMap {
  private readonly found: Structure[] = [];
  private readonly codes: Uint8Array;
  private readonly letNames = new Set<string>();

  /** `length` is that of the whole text. */
  constructor(length: number) {
    this.codes = new Uint8Array(length);
  }

  /** Statements and pipelines by their start, the outer before the inner. */
  get structures(): readonly Structure[] {
    return this.found.sort((a, b) => a.from - b.from || b.to - a.to);
  }

  at(position: number): Role {
    return roles[this.codes[position] ?? 0] as Role;
  }

  /** Adds a query; its `let` names hold for what is added later. */
  addQuery(query: Query): void {
    for (const statement of query.statements) this.addStatement(statement);
  }

  /** Adds the name of a result, `name << …`. */
  addResult(span: Span, name: string): void {
    this.mark(span, 'definition');
    this.letNames.add(name);
  }

  private mark(span: Span, role: Role): void {
    const code = roles.indexOf(role);
    for (let at = span.from; at < span.to; at += 1) this.codes[at] = code;
  }

  private markName(name: Identifier, otherwise: Role): void {
    this.mark(name, !name.quoted && this.letNames.has(name.name) ? 'letName' : otherwise);
  }

  private addStructure(kind: Structure['kind'], span: Span): void {
    this.found.push({ kind, from: span.from, to: span.to });
  }

  private addStatement(statement: Statement): void {
    this.addStructure('Statement', statement);
    switch (statement.kind) {
      case 'let':
        this.mark(statement.name, 'definition');
        if ('source' in statement.value) this.addPipeline(statement.value);
        else this.addExprs([statement.value]);
        this.letNames.add(statement.name.name);
        return;
      case 'set':
        this.mark(statement.name, 'optionName');
        this.addExprs([statement.value]);
        return;
      case 'parameters':
        for (const param of statement.params) {
          this.mark(param.name, 'definition');
          this.addExprs([param.fallback]);
          this.letNames.add(param.name.name);
        }
        return;
      case 'query':
        this.addPipeline(statement.pipeline);
    }
  }

  private addPipeline(pipeline: Pipeline): void {
    this.addStructure('Pipeline', pipeline);
    this.addSource(pipeline.source);
    for (const operator of pipeline.operators) this.addOperator(operator);
  }

  private addSource(source: Source): void {
    switch (source.kind) {
      case 'dataset':
        this.markName(source.name, 'dataset');
        return;
      case 'pattern':
        this.mark(source.pattern, 'dataset');
        return;
      case 'datatable':
        this.markDefinitions(source.columns);
        this.addExprs(source.values);
        return;
      case 'print':
        this.addAssignments(source.items);
        return;
      case 'range':
        this.mark(source.name, 'definition');
        this.addExprs([source.start, source.end, source.step]);
        return;
      case 'externaldata':
        this.markDefinitions(source.columns);
        this.addOptions(source.options);
        return;
      case 'union':
        this.addUnion(source.union);
        return;
      case 'search':
        this.addSearch(source.search);
        return;
      case 'paren':
        this.addPipeline(source.pipeline);
        return;
      case 'missing':
    }
  }

  private addOperator(operator: Operator): void {
    if (operator.kind !== 'unknown') this.mark(operator.word, 'stage');
    switch (operator.kind) {
      case 'where':
        this.addExprs([operator.predicate]);
        return;
      case 'extend':
      case 'extend-valid':
      case 'project':
      case 'project-rename':
      case 'distinct':
        this.addAssignments(operator.items);
        return;
      case 'project-away':
      case 'project-keep':
        this.markAll(operator.patterns, 'field');
        return;
      case 'project-reorder':
        for (const item of operator.items) this.mark(item.pattern, 'field');
        return;
      case 'summarize':
        this.addAssignments(operator.aggregates);
        this.addAssignments(operator.by);
        return;
      case 'sort':
        this.addExprs(operator.keys.map(key => key.value));
        return;
      case 'limit':
        this.addExprs([operator.count]);
        return;
      case 'top':
        this.addExprs([operator.count, operator.key.value]);
        return;
      case 'sample':
        this.addExprs([operator.proportion]);
        return;
      case 'join':
      case 'lookup':
        this.addOptions(operator.options);
        this.addSource(operator.right);
        this.addExprs(operator.on);
        return;
      case 'union':
        this.addUnion(operator.union);
        return;
      case 'search':
        this.addSearch(operator.search);
        return;
      case 'make-series':
        this.addAssignments(operator.aggregates);
        this.addExprs(operator.aggregates.map(aggregate => aggregate.fallback));
        this.addExprs([operator.on, operator.start, operator.stop, operator.step]);
        this.addAssignments(operator.by);
        return;
      case 'mv-expand':
        this.addOptions(operator.options);
        this.addAssignments(operator.items.map(({ item }) => item));
        this.addExprs([operator.limit]);
        return;
      case 'parse':
      case 'parse-where':
        this.addOptions(operator.options);
        this.addExprs([operator.subject]);
        for (const piece of operator.pieces) if (piece.kind === 'field') this.mark(piece.name, 'definition');
        return;
      case 'parse-kv':
        this.addExprs([operator.subject]);
        this.markDefinitions(operator.columns);
        this.addOptions(operator.options);
        return;
      case 'redact':
        this.addOptions(operator.options);
        this.addExprs(operator.patterns);
        this.markAll(operator.on, 'field');
        return;
      case 'count':
      case 'getschema':
      case 'unknown':
    }
  }

  private markAll(spans: readonly Span[], role: Role): void {
    for (const span of spans) this.mark(span, role);
  }

  private markDefinitions(columns: readonly { readonly name: Identifier }[]): void {
    for (const column of columns) this.mark(column.name, 'definition');
  }

  private addAssignments(items: readonly Assignment[]): void {
    for (const item of items) {
      this.markAll(item.names, 'definition');
      this.addExprs([item.value]);
    }
  }

  private addOptions(options: readonly Option[]): void {
    for (const { name, value } of options) {
      this.mark(name, 'optionName');
      if (value.kind === 'name') this.mark(value, 'optionValue');
      else this.addExprs([value]);
    }
  }

  private addUnion(union: UnionClause): void {
    this.addOptions(union.options);
    for (const table of union.tables) this.addSource(table);
  }

  private addSearch(search: SearchClause): void {
    this.addOptions(search.options);
    for (const table of search.tables) this.addSource(table);
    const pending: SearchPredicate[] = [search.predicate];
    for (let predicate = pending.pop(); predicate !== undefined; predicate = pending.pop()) {
      if (predicate.kind === 'and' || predicate.kind === 'or') pending.push(predicate.left, predicate.right);
      else if (predicate.kind === 'not') pending.push(predicate.operand);
      else if (predicate.kind === 'term') this.addExprs([predicate.field]);
      else if (predicate.kind === 'expr') this.addExprs([predicate.expr]);
    }
  }

  /** A list of its own and no recursion: a chain of ten thousand `or` is one deep tree. */
  private addExprs(exprs: readonly (Expr | undefined)[]): void {
    const pending = [...exprs];
    while (pending.length > 0) {
      const expr = pending.pop();
      if (expr !== undefined) this.addExpr(expr, pending);
    }
  }

  private addExpr(expr: Expr, pending: (Expr | undefined)[]): void {
    switch (expr.kind) {
      case 'name':
        this.markName(expr, 'field');
        return;
      case 'member':
        this.mark(expr.member, 'member');
        pending.push(expr.object);
        return;
      case 'index':
        pending.push(expr.object, expr.index);
        return;
      case 'call':
        this.mark(expr.callee, 'callee');
        for (const argument of expr.args) {
          if (argument.name !== undefined) this.mark(argument.name, 'definition');
          pending.push(argument.value);
        }
        return;
      case 'unary':
        pending.push(expr.operand);
        return;
      case 'binary':
        this.mark(expr.operatorSpan, 'operator');
        pending.push(expr.left, expr.right);
        return;
      case 'list':
        this.mark(expr.operatorSpan, 'operator');
        pending.push(expr.left);
        for (const item of expr.items) pending.push(item);
        return;
      case 'between':
        pending.push(expr.value, expr.low, expr.high);
        return;
      case 'paren':
        pending.push(expr.inner);
        return;
      case 'subquery':
        this.addPipeline(expr.pipeline);
        return;
      case 'array':
        for (const item of expr.items) pending.push(item);
        return;
      case 'map':
        for (const entry of expr.entries) pending.push(entry.value);
        return;
      case 'literal':
      case 'typeof':
      case 'star':
      case 'missing':
    }
  }
}
