import { type Column, type Draw, textOf } from './expressions.js';
import { type Step, type Table, uniqueTable } from './pipelines.js';
import { Dynamic, groupKey, type Value } from './values.js';

const kinds = [
  ...(['inner', 'innerunique', 'leftouter', 'rightouter', 'fullouter'] as const),
  ...(['leftsemi', 'leftanti', 'rightsemi', 'rightanti'] as const),
];
type JoinKind = (typeof kinds)[number];

/** Positions of the keys in the left and the right table; keys with the same name share a column. */
interface Keys {
  readonly left: number;
  readonly right: number;
  readonly text: string;
  readonly shared: boolean;
}

/** A lookup keeps only the key of its left side. */
interface Join extends Keys {
  readonly drops: boolean;
}

/** Null keys match nothing; all NaN are the same key. */
export function join(draw: Draw, left: Table, right: Table): Step | undefined {
  const keys = keysOf(draw, left, right);
  if (keys === undefined || left.rows.length * right.rows.length > 200) return undefined;
  const isLookup = draw.pick([true, false, false, false]);
  const kind = isLookup ? draw.pick(['leftouter', 'inner'] as const) : draw.pick(kinds);
  // Which of several matches comes first is not defined by the query.
  if (kind === 'innerunique' && !isUnique(right, keys.right)) return undefined;
  const text = `${isLookup ? 'lookup' : 'join'} kind=${kind} (R) on ${keys.text}`;
  return { text, table: joined(kind, left, right, { ...keys, drops: keys.shared || isLookup }) };
}

function keysOf(draw: Draw, left: Table, right: Table): Keys | undefined {
  const all = left.columns.flatMap((a, atLeft) =>
    right.columns.flatMap((b, atRight): Keys[] => {
      if (a.type !== b.type) return [];
      const shared = a.name === b.name;
      const text = shared ? a.name : `$left.${a.name} == $right.${b.name}`;
      return [{ left: atLeft, right: atRight, text, shared }];
    }),
  );
  const shared = all.filter(each => each.shared);
  const pool = shared.length === 0 || draw.pick([true, false, false]) ? all : shared;
  return pool.length === 0 ? undefined : draw.pick(pool);
}

function isUnique({ rows }: Table, at: number): boolean {
  return new Set(rows.map(row => groupKey([comparable(row[at] ?? null)]))).size === rows.length;
}

/** Dynamic keys are compared as strings. */
function comparable(value: Value): Value {
  return value instanceof Dynamic ? textOf(value.json) : value;
}

function isMatch(a: Value, b: Value): boolean {
  return a !== null && b !== null && (a === b || (Number.isNaN(a) && Number.isNaN(b)));
}

function joined(kind: JoinKind, left: Table, right: Table, keys: Join): Table {
  const matches = (a: readonly Value[], b: readonly Value[]): boolean =>
    isMatch(comparable(a[keys.left] ?? null), comparable(b[keys.right] ?? null));
  const inLeft = (expected: boolean) =>
    left.rows.filter(a => right.rows.some(b => matches(a, b)) === expected);
  const inRight = (expected: boolean) =>
    right.rows.filter(b => left.rows.some(a => matches(a, b)) === expected);
  if (kind === 'leftsemi' || kind === 'leftanti') return { ...left, rows: inLeft(kind === 'leftsemi') };
  if (kind === 'rightsemi' || kind === 'rightanti') return { ...right, rows: inRight(kind === 'rightsemi') };
  const rest = <T>(row: readonly T[]): readonly T[] =>
    keys.drops ? row.filter((_, index) => index !== keys.right) : row;
  const pairs = left.rows.flatMap(a =>
    right.rows.filter(b => matches(a, b)).map((b): readonly Value[] => [...a, ...rest(b)]),
  );
  const nothing = (columns: readonly Column[]): Value[] => columns.map(() => null);
  const alone = inLeft(false).map(row => [...row, ...nothing(rest(right.columns))]);
  const unmatched = inRight(false).map(row => [
    ...left.columns.map((_, at) => (keys.shared && at === keys.left ? (row[keys.right] ?? null) : null)),
    ...rest(row),
  ]);
  const columns = [...left.columns, ...rest(right.columns)];
  return uniqueTable(columns, [
    ...pairs,
    ...(kind === 'leftouter' || kind === 'fullouter' ? alone : []),
    ...(kind === 'rightouter' || kind === 'fullouter' ? unmatched : []),
  ]);
}
