import type { Expr, Operator, Pipeline, Query, Span } from '../../apl/syntax/ast.js';
import type { QueryText } from '../../apl/syntax/parse.js';
import { visitQuery } from '../../apl/syntax/syntax-walk.js';
import { present } from '../../present.js';
import type { Reading, TableInfo } from '../../result/result.js';
import { retainsRows } from './query-reading.js';

/** Returns facts about a result, described by `info`, that follow from the text of its query. */
export function readAggregation(
  { text, tree, pipeline }: QueryText,
  info: Pick<TableInfo, 'groups' | 'buckets' | 'range'>,
): Reading {
  if (pipeline === undefined) return { missingBins: 'unknown', keyColumns: [] };
  const { operators } = pipeline;
  const at = operators.findLastIndex(({ kind }) => kind === 'summarize');
  const after = operators.slice(at + 1);
  const fields = fieldsOf(tree, text);
  const keys = [
    ...info.groups.map(({ name }) => name),
    ...(info.buckets === undefined ? [] : [info.buckets.field]),
  ];
  return {
    missingBins:
      at < 0 ? 'unknown' : missingBins(operators.slice(0, at), after, fields, info.range?.field ?? '_time'),
    ...present({ isSorted: after.some(({ kind }) => ordering.has(kind)) ? (true as const) : undefined }),
    keyColumns: keyColumns(after, keys, fields),
  };
}

/** Functions that group timestamps into bins. */
const binning: ReadonlySet<string> = new Set([
  'bin',
  'bin_auto',
  'floor',
  'startofday',
  'startofweek',
  'startofmonth',
  'startofyear',
]);

/** Returns whether a query's text creates bins or series, mostly of time: its result is then probably drawn along it. */
export function groupsByTime({ tree }: QueryText): boolean {
  let found = false;
  visitQuery(tree, {
    expr: expr => {
      found ||= expr.kind === 'call' && binning.has(expr.callee.name.toLowerCase());
    },
    operator: operator => {
      found ||= operator.kind === 'make-series';
    },
  });
  return found;
}

/** Operators that determine the order of the rows. */
const ordering: ReadonlySet<Operator['kind']> = new Set(['sort', 'top']);

/** Operators that retain only some of the rows. */
const sampling: ReadonlySet<Operator['kind']> = new Set(['limit', 'top', 'sample']);

function missingBins(
  before: Pipeline['operators'],
  after: Pipeline['operators'],
  fields: readonly FieldUse[],
  time: string,
): Reading['missingBins'] {
  const isSampled = before.some(({ kind }) => sampling.has(kind));
  if (isSampled || !after.every(retainsRows)) return 'unknown';
  const narrows = before.some(each => each.kind === 'where' && within(each.predicate, fields).includes(time));
  return narrows ? 'empty-between' : 'empty';
}

/** Returns the columns that operators after the aggregation compute from its keys only. */
function keyColumns(
  after: Pipeline['operators'],
  groups: readonly string[],
  fields: readonly FieldUse[],
): readonly string[] {
  const keys = new Set(groups);
  const found = new Set<string>();
  for (const operator of after) {
    if (operator.kind !== 'extend' && operator.kind !== 'project' && operator.kind !== 'project-rename')
      continue;
    for (const { names, value } of operator.items) {
      const [name] = names;
      const used = within(value, fields);
      if (names.length !== 1 || name === undefined) continue;
      if (used.length === 0 || !used.every(each => keys.has(each))) {
        found.delete(name.name);
        continue;
      }
      keys.add(name.name);
      found.add(name.name);
    }
  }
  return [...found];
}

/** The use of a field in a query: its name and position. */
interface FieldUse extends Span {
  readonly name: string;
}

function fieldsOf(query: Query, text: string): readonly FieldUse[] {
  const uses: FieldUse[] = [];
  let end = 0;
  const add = (expr: Expr, name: string) => {
    uses.push({ from: expr.from, to: expr.to, name });
    end = expr.to;
  };
  visitQuery(query, {
    expr: expr => {
      if (expr.from < end) return;
      if (expr.kind === 'name') add(expr, expr.name);
      if (expr.kind === 'member') add(expr, text.slice(expr.from, expr.to));
    },
  });
  return uses;
}

function within({ from, to }: Span, fields: readonly FieldUse[]): readonly string[] {
  return fields.filter(field => field.from >= from && field.to <= to).map(({ name }) => name);
}
