import type { Query, Span, Statement } from '../../syntax/ast.js';
import { type NameRole, type Visitor, visitStatement } from '../../syntax/syntax-walk.js';

/** Role that the parser assigns to a span of text. Text with no role is punctuation, a literal, or a contextual keyword. */
export type Role = NameRole | 'none' | 'letName';

/** A span that folds and indents as a unit. */
export interface Structure extends Span {
  readonly kind: 'Statement' | 'Pipeline';
}

const roles: readonly Role[] = [
  ...(['none', 'stage', 'dataset', 'field', 'member', 'definition'] as const),
  ...(['letName', 'callee', 'optionName', 'optionValue', 'operator'] as const),
];
const codeOf = Object.fromEntries(roles.map((role, code) => [role, code])) as Record<Role, number>;

/** Collects, from syntax trees, the roles of the names in a text and the spans of its statements and pipelines. */
export class RoleMap {
  readonly #found: Structure[] = [];
  readonly #codes: Uint8Array;
  readonly #letNames = new Set<string>();
  readonly #visitor: Visitor = {
    pipeline: pipeline => this.#addStructure('Pipeline', pipeline),
    name: (span, role, name) =>
      this.#mark(
        span,
        role !== 'definition' && name !== undefined && this.#letNames.has(name) ? 'letName' : role,
      ),
  };

  /** `length` is the length of the whole text. */
  constructor(length: number) {
    this.#codes = new Uint8Array(length);
  }

  /** Statements and pipelines by start, outer before inner. */
  get structures(): readonly Structure[] {
    return this.#found.sort((a, b) => a.from - b.from || b.to - a.to);
  }

  at(position: number): Role {
    return roles[this.#codes[position] ?? 0] ?? 'none';
  }

  /** Adds a query; its `let` names are in scope for later additions. */
  addQuery(query: Query): void {
    for (const statement of query.statements) this.#addStatement(statement);
  }

  /** Adds the name of a result, as in `name << …`. */
  addResult(span: Span, name: string): void {
    this.#mark(span, 'definition');
    this.#letNames.add(name);
  }

  #addStatement(statement: Statement): void {
    this.#addStructure('Statement', statement);
    visitStatement(statement, this.#visitor);
    if (statement.kind === 'let') this.#letNames.add(statement.name.name);
    if (statement.kind === 'parameters')
      for (const { name } of statement.params) this.#letNames.add(name.name);
  }

  #mark(span: Span, role: Role): void {
    const code = codeOf[role];
    for (let at = span.from; at < span.to; at += 1) this.#codes[at] = code;
  }

  #addStructure(kind: Structure['kind'], span: Span): void {
    this.#found.push({ kind, from: span.from, to: span.to });
  }
}
