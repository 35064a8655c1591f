import type { Expr, Operator, Query } from '../../kernel/apl/syntax/ast.js';
import { parseQuery } from '../../kernel/apl/syntax/parse.js';
import { visitExpr, visitQuery } from '../../kernel/apl/syntax/syntax-walk.js';
import type { PageExample, PrintedTable } from './examples.js';

/** The part of a printed table that follows from its query and the table's other columns. */
export interface Claims {
  /** The query that computes it: the whole query, or its last operators over a dataset `printed` of the printed rows. */
  readonly apl: string;
  /** Printed columns it reads. */
  readonly reads: readonly string[];
  /** Printed columns it computes. */
  readonly computes: readonly string[];
}

const sourcesWithRows = ['print', 'datatable', 'range'];
/** Operators that select or sort rows, which the printed rows have already passed. */
const ofChoice = ['where', 'limit', 'sort', 'top', 'sample', 'search'];
/** Operators that derive each row from one row by expressions. */
const ofRows = ['extend', 'project'];
/** Calls whose value does not follow from their arguments. */
const unsteady = [
  'now',
  'ago',
  'rand',
  'ingestion_time',
  'cursor_current',
  'column_ifexists',
  'ensure_field',
  'geo_info_from_ip_address',
];

/** Returns the computable part of an example; undefined if there is none. */
export function claimsOf({ apl, output }: PageExample): Claims | undefined {
  if (output === undefined) return undefined;
  const { query, diagnostics } = parseQuery(apl);
  if (diagnostics.some(each => each.severity === 'error')) return undefined;
  const last = query.statements.at(-1);
  if (last?.kind !== 'query') return undefined;
  const { source, operators } = last.pipeline;
  if (sourcesWithRows.includes(source.kind))
    return isSteady(query) ? { apl, reads: [], computes: output.columns } : undefined;
  const isOfRow = (each: Operator): boolean => ofRows.includes(each.kind);
  const from = 1 + operators.findLastIndex(each => !isOfRow(each) && !ofChoice.includes(each.kind));
  return claimsOfRows(apl, query, operators.slice(from).filter(isOfRow), output);
}

function claimsOfRows(
  apl: string,
  query: Query,
  tail: readonly Operator[],
  output: PrintedTable,
): Claims | undefined {
  const assigned = new Set(tail.flatMap(assignments).map(each => each.name));
  const given = output.columns.filter(name => !assigned.has(name));
  const lets = query.statements.flatMap(each =>
    each.kind === 'let' && !each.tabular ? [each.name.name] : [],
  );
  const known = new Map<string, ReadonlySet<string>>([
    ...lets.map(name => [name, new Set<string>()] as const),
    ...given.map(name => [name, new Set([name])] as const),
  ]);
  for (const { name, value } of tail.flatMap(assignments)) {
    const sources = fieldsOf(value)?.map(each => known.get(each));
    if (sources === undefined || sources.includes(undefined)) known.delete(name);
    else known.set(name, new Set(sources.flatMap(each => [...(each ?? [])])));
  }
  const computes = output.columns.filter(name => assigned.has(name) && known.has(name));
  if (computes.length === 0) return undefined;
  const statements = query.statements.slice(0, -1).map(({ from, to }) => `${apl.slice(from, to)};\n`);
  const stages = tail.map(({ from, to }) => `| ${apl.slice(from, to).replace(/^\s*\|\s*/, '')}`);
  const reads = [...new Set(computes.flatMap(name => [...(known.get(name) ?? [])]))];
  return { apl: [...statements, 'printed', ...stages].join(' '), reads, computes };
}

/** Returns the names that a row operator assigns, each with its expression. */
function assignments(operator: Operator): { name: string; value: Expr }[] {
  if (operator.kind !== 'extend' && operator.kind !== 'project') return [];
  return operator.items.flatMap(({ names, value }) => names.map(({ name }) => ({ name, value })));
}

/** Returns the fields that an expression reads; undefined if its value does not follow from them. */
function fieldsOf(value: Expr): string[] | undefined {
  const fields = new Set<string>();
  let steady = true;
  visitExpr(value, {
    expr: expr => {
      if (expr.kind === 'name') fields.add(expr.name);
      if (expr.kind === 'subquery' || expr.kind === 'star') steady = false;
      if (expr.kind === 'call' && unsteady.includes(expr.callee.name)) steady = false;
    },
  });
  return steady ? [...fields] : undefined;
}

function isSteady(query: Query): boolean {
  let steady = true;
  visitQuery(query, {
    expr: expr => {
      if (expr.kind === 'call' && unsteady.includes(expr.callee.name)) steady = false;
    },
  });
  return steady;
}
