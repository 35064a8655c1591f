import type { SqlColumn, SqlExpr, SqlSelect, SqlStatement, SqlTable } from './sql-model.js';

/** Returns the SQL text of a statement's structure, given as JSON; null if it is not one. */
export function formatSql(json: string): string | null {
  try {
    return statementText(JSON.parse(json) as SqlStatement);
  } catch (error) {
    // A map of another shape that lacks a required member.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function statementText(model: SqlStatement): string {
  switch (model.statement) {
    case 'select':
      return selectText(model);
    case 'insert':
      return joined(
        `insert into ${path(model.table)}`,
        model.columns && `(${model.columns.map(identifier).join(', ')})`,
        model.values && `values ${model.values.map(row => `(${list(row)})`).join(', ')}`,
        model.query && selectText(model.query),
      );
    case 'update':
      return joined(
        `update ${path(model.table)}`,
        `set ${model.set.map(({ colname, expr }) => `${identifier(colname)} = ${text(expr)}`).join(', ')}`,
        model.where && `where ${text(model.where)}`,
      );
    case 'delete':
      return joined(`delete from ${tablesText(model.from)}`, model.where && `where ${text(model.where)}`);
    default:
      throw new TypeError('not a statement');
  }
}

function selectText(model: SqlSelect): string {
  return joined(
    `select${model.distinct ? ' distinct' : ''} ${model.columns.map(columnText).join(', ')}`,
    model.from && `from ${tablesText(model.from)}`,
    model.where && `where ${text(model.where)}`,
    model.group && `group by ${list(model.group)}`,
    model.having && `having ${text(model.having)}`,
    model.combine && `${model.combine.operator} ${selectText(model.combine.query)}`,
    model.order && `order by ${model.order.map(key => `${text(key.expr)} ${key.direction}`).join(', ')}`,
    model.limit && `limit ${text(model.limit)}`,
    model.offset && `offset ${text(model.offset)}`,
  );
}

function columnText(column: SqlColumn): string {
  return joined(text(column), column.alias && `as ${identifier(column.alias)}`);
}

function tablesText(tables: readonly SqlTable[]): string {
  return tables
    .map((table, index) => {
      const before = index === 0 ? '' : table.join === undefined ? ', ' : ` ${table.join} `;
      return (
        before +
        joined(
          table.query === undefined ? path(table.table ?? '') : `(${selectText(table.query)})`,
          table.alias && `as ${identifier(table.alias)}`,
          table.on && `on ${text(table.on)}`,
        )
      );
    })
    .join('');
}

/** Operator precedence: a higher rank binds tighter. */
const ranks: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  not: 3,
  '+': 5,
  '-': 5,
  '||': 5,
  '*': 6,
  '/': 6,
  '%': 6,
};
const comparisonRank = 4;
const highest = 8;

function text(expr: SqlExpr, outer = 0): string {
  if ('query' in expr) return `(${selectText(expr.query)})`;
  if ('colname' in expr)
    return expr.table === undefined
      ? identifier(expr.colname)
      : `${path(expr.table)}.${identifier(expr.colname)}`;
  if ('function' in expr)
    return `${path(expr.function)}(${expr.distinct ? 'distinct ' : ''}${list(expr.params)})`;
  if ('operator' in expr) return operatorText(expr.operator, expr.params, outer);
  return expr.valtype === 'string' ? `'${expr.value.replaceAll("'", "''")}'` : expr.value;
}

function operatorText(operator: string, params: readonly SqlExpr[], outer: number): string {
  if (operator === 'list') return `(${list(params)})`;
  if (operator === 'case') return caseText(params);
  const rank = params.length === 1 && operator === '-' ? highest - 1 : (ranks[operator] ?? comparisonRank);
  const whole = operands(operator, params, rank);
  return rank < outer ? `(${whole})` : whole;
}

function operands(operator: string, params: readonly SqlExpr[], rank: number): string {
  const [first, second, third] = params;
  if (first === undefined) throw new TypeError('an operator without operands');
  if (second === undefined) return `${operator}${operator === '-' ? '' : ' '}${text(first, rank)}`;
  if (third !== undefined)
    return `${text(first, rank + 1)} ${operator} ${text(second, rank + 1)} and ${text(third, rank + 1)}`;
  const left = text(first, ranks[operator] === undefined ? rank + 1 : rank);
  return `${left} ${operator} ${text(second, rank + 1)}`;
}

function caseText(params: readonly SqlExpr[]): string {
  const branches: string[] = [];
  for (let i = 0; i + 1 < params.length; i += 2) {
    branches.push(`when ${text(params[i] as SqlExpr)} then ${text(params[i + 1] as SqlExpr)}`);
  }
  const last = params.length % 2 === 1 ? params.at(-1) : undefined;
  return `${joined('case', ...branches, last && `else ${text(last)}`)} end`;
}

function list(items: readonly SqlExpr[]): string {
  return items.map(item => text(item)).join(', ');
}

function path(name: string): string {
  return name.split('.').map(identifier).join('.');
}

function identifier(name: string): string {
  return name === '*' || /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter(part => part !== undefined && part !== '').join(' ');
}
