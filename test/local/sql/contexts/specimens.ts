import { aggregates } from '../../../../kernel/apl/catalog/aggregates.js';
import { functions } from '../../../../kernel/apl/catalog/all-functions.js';
import type { FunctionEntry, TypeName } from '../../../../kernel/apl/catalog/entry.js';
import { elements } from '../../../../kernel/apl/catalog/operator-entries.js';
import type { Expr } from '../../../../kernel/apl/syntax/ast.js';
import { parseQuery } from '../../../../kernel/apl/syntax/parse.js';
import { visitQuery } from '../../../../kernel/apl/syntax/syntax-walk.js';
import { compileRequest } from '../../../../kernel/local/sql/compile.js';

/** Rows with a value and a null of every type, negative numbers and ordinary numbers. */
const rows = `datatable(id: long, b: bool, n: long, r: real, s: string, t: datetime, d: timespan, j: dynamic)[
  0, true, 5, 2.5, 'a b', datetime(2024-03-31T13:45:06.123456789Z), 90s, dynamic([3, 'b', null]),
  1, false, -3, -0.25, 'b', datetime(1969-12-31T23:00:00Z), -2h, dynamic({'k': 7, 'b': [1]}),
  2, true, 2, 1e300, '', datetime(2024-02-29), 1tick, dynamic(2),
  3, bool(null), long(null), real(null), string(null), datetime(null), timespan(null), dynamic(null)]`;

const columns: Readonly<Record<TypeName, string>> = {
  bool: 'b',
  long: 'n',
  real: 'r',
  string: 's',
  datetime: 't',
  timespan: 'd',
  dynamic: 'j',
};

/** An expression over `rows`, with the additional fields it needs. */
export interface Specimen {
  readonly text: string;
  readonly type: TypeName;
  readonly fields: readonly string[];
  /** Name of the called function. */
  readonly callee: string | undefined;
}

/**
 * Returns every expression in an example of the reference that compiles by itself, both unchanged and with fields as operands.
 * Expressions that differ only in their operands are included once for each list of types.
 */
export function specimens(): readonly Specimen[] {
  const found = new Map<string, readonly Specimen[]>();
  for (const { apl } of examples()) {
    for (const expr of expressionsIn(apl)) {
      const written = specimen(apl.slice(expr.from, expr.to), [], expr);
      const { text, fields, shape } = overFields(apl, expr);
      const overOthers = fields.length === 0 ? undefined : specimen(text, fields, expr);
      if (!found.has(shape))
        found.set(
          shape,
          [written, overOthers].filter(each => each !== undefined),
        );
    }
  }
  return [...found.values()].flat();
}

/** Without `rand`, which returns another number each time. */
function examples(): readonly { readonly apl: string }[] {
  const entries: readonly FunctionEntry[] = [...functions, ...aggregates];
  return [
    ...entries.filter(each => each.unavailable === undefined).map(each => each.example),
    ...elements.flatMap(({ example }) => example ?? []),
  ].filter(({ apl }) => !apl.includes('rand('));
}

/** Returns the expressions that compute something, without `*`, which depends on the fields in scope. */
function expressionsIn(apl: string): readonly Expr[] {
  const found: Expr[] = [];
  const expr = (each: Expr): void => {
    const operands = operandsOf(each);
    if ((operands.length > 0 || each.kind === 'call') && operands.every(({ kind }) => kind !== 'star'))
      found.push(each);
  };
  visitQuery(parseQuery(apl).query, { expr });
  return found;
}

/**
 * Replaces operands with fields: they have the operands' values in the first row, and other values of the same types in the rows
 * below. In `shape`, types replace the operands.
 */
function overFields(apl: string, expr: Expr) {
  const fields: string[] = [];
  let [text, shape, from] = ['', '', expr.from];
  for (const operand of operandsOf(expr)) {
    const written = apl.slice(operand.from, operand.to);
    const type = typeOf(written, []);
    if (type === undefined || isFixed(expr, operand)) continue;
    const [name, between] = [fieldOf(written), apl.slice(from, operand.from)];
    fields.push(`${name} = iff(id == 0, ${written}, ${columns[type]})`);
    text += between + name;
    shape += between + type;
    from = operand.to;
  }
  const rest = apl.slice(from, expr.to);
  return { text: text + rest, shape: shape + rest, fields };
}

const fieldNames = new Map<string, string>();

/** Returns the same name for the same text, as the fields of many expressions share a query. */
function fieldOf(written: string): string {
  const name = fieldNames.get(written) ?? `f${fieldNames.size}`;
  fieldNames.set(written, name);
  return name;
}

function operandsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'call':
      return expr.args.map(({ value }) => value);
    case 'binary':
      return [expr.left, expr.right];
    case 'list':
      return [expr.left, ...expr.items];
    case 'between':
      return [expr.value, expr.low, expr.high];
    case 'unary':
      return [expr.operand];
    case 'index':
      return [expr.object, expr.index];
    default:
      return [];
  }
}

/** Returns whether an operand is an argument that must be a constant. */
function isFixed(expr: Expr, operand: Expr): boolean {
  if (expr.kind !== 'call') return false;
  const entry: FunctionEntry | undefined = functions.find(each => each.name === expr.callee.name);
  const index = expr.args.findIndex(({ value }) => value === operand);
  return entry?.params[Math.min(index, entry.params.length - 1)]?.constant === true;
}

function specimen(text: string, fields: readonly string[], expr: Expr): Specimen | undefined {
  const type = typeOf(text, fields);
  const callee = expr.kind === 'call' ? expr.callee.name : undefined;
  return type === undefined ? undefined : { text, type, fields, callee };
}

/** Returns the type of an expression; undefined if the text does not compile by itself. */
function typeOf(text: string, fields: readonly string[]): TypeName | undefined {
  const result = compileRequest({ apl: `${sourceOf(fields)} | project x = (${text})` }, noDatasets, 0n);
  return result.ok ? result.compiled.tables[0]?.fields[0]?.type : undefined;
}

/** Returns the source of the rows, with the fields of some specimens. */
export function sourceOf(fields: readonly string[]): string {
  return fields.length === 0 ? rows : `${rows} | extend ${[...new Set(fields)].join(', ')}`;
}

const noDatasets = {
  names: () => [],
  schema: () => undefined,
  scan: (name: string): string => {
    throw new Error(`there is no dataset ${name}`);
  },
};
