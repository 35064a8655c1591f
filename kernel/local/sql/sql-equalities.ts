import type { Scalar } from '../../apl/plan/plan.js';
import type { Equality } from './compiled-query.js';

/** So many that to look for each takes no longer than to read the rows. */
const mostValues = 100;

/** Returns what a condition says of a field that it compares with constants; none for any other condition. `nameOf` names columns. */
export function equalitiesIn(
  condition: Scalar,
  nameOf: (id: number) => string | undefined,
): readonly Equality[] {
  const [column, ...constants] = sidesOf(condition);
  if (column?.kind !== 'column') return [];
  const { id, type } = column;
  if (type !== 'string' && type !== 'long') return [];
  const field = nameOf(id);
  const values = constants.flatMap(each => valueIn(each, type) ?? []);
  if (field === undefined || values.length < constants.length || values.length > mostValues) return [];
  return [{ field, type, values }];
}

/** What is compared, and what it must be equal to one of; nothing for another condition. */
function sidesOf(condition: Scalar): readonly Scalar[] {
  if (condition.kind === 'in' && condition.operator === 'in' && condition.subquery === undefined)
    return [condition.left, ...condition.items];
  if (condition.kind !== 'binary' || condition.operator !== '==') return [];
  const { left, right } = condition;
  return left.kind === 'column' ? [left, right] : [right, left];
}

function valueIn(value: Scalar, type: 'string' | 'long'): string | bigint | undefined {
  if (value.kind !== 'constant' || value.type !== type) return undefined;
  if (type === 'string') return typeof value.value === 'string' ? value.value : undefined;
  return typeof value.value === 'bigint' ? value.value : undefined;
}
