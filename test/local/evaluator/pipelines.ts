import { aggregate, type Grouped } from './aggregates.js';
import { type Column, type Draw, expression, widened } from './expressions.js';
import { join } from './joins.js';
import { Dynamic, dynamicOf, groupKey, type Json, literal, order, type Type, type Value } from './values.js';

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Value[])[];
}

/** A query and its expected rows, in any order. */
export interface Case {
  readonly text: string;
  readonly expected: Table;
  /** Tables inlined into the query, by the name of their `let`. */
  readonly written: Readonly<Record<string, Table>>;
}

const types: readonly Type[] = ['long', 'real', 'string', 'bool', 'datetime', 'timespan', 'dynamic'];

/** A stored dataset: its name and contents. */
export interface Stored {
  readonly name: string;
  readonly table: Table;
}

/** Draws a query over one or two inline or stored tables, with up to `steps` operators. */
export function pipeline(draw: Draw, steps: number, stored: Stored): Case {
  const isStored = draw.pick([true, false, false, false]);
  const left = isStored ? storedSource(stored) : source(draw, 'T', ['k', 's', 'n', 'x', 'b', 't', 'd', 'j']);
  const right = source(
    draw,
    'R',
    draw.pick([
      ['k', 's', 'x'],
      ['k', 'n', 'j'],
      ['k', 'v'],
      ['s', 'n', 't', 'd'],
    ]),
  );
  let text = `${left.text}\n${right.text}\nT`;
  let table = left.table;
  for (let step = 0; step < steps; step += 1) {
    const made = draw.pick(operators)(draw, table, right.table);
    if (made === undefined) continue;
    text += `\n| ${made.text}`;
    table = made.table;
  }
  const written = { ...(isStored ? {} : { T: left.table }), R: right.table };
  return { text, expected: table, written };
}

const typeOfColumn: Readonly<Record<string, Type>> = {
  k: 'long',
  s: 'string',
  n: 'long',
  x: 'real',
  b: 'bool',
  t: 'datetime',
  d: 'timespan',
  j: 'dynamic',
  v: 'dynamic',
};

function storedSource({ name, table }: Stored): { text: string; table: Table } {
  const names = table.columns.map(column => column.name).join(', ');
  return { text: `let T = ${name} | project ${names};`, table };
}

function source(draw: Draw, name: string, names: readonly string[]): { text: string; table: Table } {
  const columns = names.map(each => ({ name: each, type: typeOfColumn[each] ?? 'long' }));
  const count = draw.pick([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const rows = Array.from({ length: count }, () =>
    columns.map(column => (column.name === 'k' ? draw.pick([0n, 1n, 2n, null]) : draw.value(column.type))),
  );
  const cells = rows.flatMap(row =>
    row.map((value, index) => literal(value, columns[index]?.type ?? 'long')),
  );
  const declared = columns.map(column => `${column.name}:${column.type}`).join(', ');
  return { text: `let ${name} = datatable(${declared})[${cells.join(', ')}];`, table: { columns, rows } };
}

/** An operator, and the table it produces. */
export interface Step {
  readonly text: string;
  readonly table: Table;
}

type Operator = (draw: Draw, table: Table, right: Table) => Step | undefined;

const operators: readonly Operator[] = [
  where,
  where,
  extend,
  extend,
  project,
  projectAway,
  summarize,
  summarize,
  limitOfGroups,
  distinct,
  sortAndLimit,
  rowsAround,
  top,
  count,
  join,
  join,
  join,
  union,
  expand,
  expand,
];

function where(draw: Draw, { columns, rows }: Table): Step {
  const condition = expression(draw, columns, 'bool', 3);
  return {
    text: `where ${condition.text}`,
    table: { columns, rows: rows.filter(row => condition.value(row) === true) },
  };
}

/** A field that is set again moves to the end. */
function extend(draw: Draw, { columns, rows }: Table): Step {
  const type = draw.pick(types);
  const name = draw.pick(['e', 'n', 'x', 's']);
  const made = expression(draw, columns, type, 3);
  const kept = columns.flatMap((column, index) => (column.name === name ? [] : [index]));
  return {
    text: `extend ${name} = ${made.text}`,
    table: {
      columns: [...kept.map(index => columns[index] as Column), { name, type }],
      rows: rows.map(row => [...kept.map(index => row[index] ?? null), made.value(row)]),
    },
  };
}

function project(draw: Draw, { columns, rows }: Table): Step {
  const kept = columns.flatMap((_, index) => (draw.pick([true, true, true, false]) ? [index] : []));
  const made = expression(draw, columns, draw.pick(types), 2);
  const names = kept.map(index => columns[index]?.name ?? '');
  return {
    text: `project ${[...names, `p = ${made.text}`].join(', ')}`,
    table: uniqueTable(
      [...kept.map(index => columns[index] as Column), { name: 'p', type: made.type }],
      rows.map(row => [...kept.map(index => row[index] ?? null), made.value(row)]),
    ),
  };
}

/** Appends a number to names already in use. */
export function uniqueTable(columns: readonly Column[], rows: Table['rows']): Table {
  const taken = new Set<string>();
  const unique = columns.map(column => {
    let name = column.name;
    for (let number = 1; taken.has(name); number += 1) name = `${column.name}${number}`;
    taken.add(name);
    return { name, type: column.type };
  });
  return { columns: unique, rows };
}

function projectAway(draw: Draw, { columns, rows }: Table): Step | undefined {
  if (columns.length < 3) return undefined;
  const away = draw.pick(columns.map((_, index) => index));
  const without = <T>(list: readonly T[]): T[] => list.filter((_, index) => index !== away);
  return {
    text: `project-away ${columns[away]?.name}`,
    table: { columns: without(columns), rows: rows.map(row => without(row)) },
  };
}

/** Draws fields that can be keys: not dynamic ones, whose text may be written in more than one way. */
function keysOf(draw: Draw, columns: readonly Column[], most: number): readonly number[] {
  const fit = columns.flatMap((column, index) => (column.type === 'dynamic' ? [] : [index]));
  const chosen = fit.filter(() => draw.pick([true, false, false]));
  return chosen.slice(0, most);
}

function groupsOf(rows: Table['rows'], keys: readonly number[]): Grouped[] {
  const groups = new Map<string, { key: Value[]; rows: (readonly Value[])[] }>();
  if (keys.length === 0) groups.set('[]', { key: [], rows: [] });
  for (const row of rows) {
    const key = keys.map(index => row[index] ?? null);
    const text = groupKey(key);
    const group = groups.get(text) ?? { key, rows: [] };
    group.rows.push(row);
    groups.set(text, group);
  }
  return [...groups.values()];
}

function summarize(draw: Draw, { columns, rows }: Table): Step {
  const keys = keysOf(draw, columns, 2);
  const made = draw.pick([1, 2, 3]);
  const aggregates = Array.from({ length: made }, (_, index) => aggregate(draw, columns, `a${index}`));
  const by = keys.length === 0 ? '' : ` by ${keys.map(index => columns[index]?.name).join(', ')}`;
  return {
    text: `summarize ${aggregates.map(each => each.text).join(', ')}${by}`,
    table: uniqueTable(
      [
        ...keys.map(index => columns[index] as Column),
        ...aggregates.map(each => ({ name: each.name, type: each.type })),
      ],
      groupsOf(rows, keys).map(group => [...group.key, ...aggregates.map(each => each.value(group))]),
    ),
  };
}

const hour = 3_600_000_000_000n;

/** A limit directly after bins of time with another key selects the groups with the most events, with the key as tie-breaker. */
function limitOfGroups(draw: Draw, { columns, rows }: Table): Step | undefined {
  const time = columns.findIndex(column => column.name === 't' && column.type === 'datetime');
  const key = columns.findIndex(column => column.name === 'k' && column.type === 'long');
  if (time < 0 || key < 0) return undefined;
  const limit = draw.pick([1, 2, 3]);
  const binned = rows.map(row => [startOfHour(row[time] ?? null), row[key] ?? null]);
  const groups = groupsOf(binned, [1])
    .toSorted((a, b) => b.rows.length - a.rows.length || nullLast(a.key[0] ?? null, b.key[0] ?? null))
    .slice(0, limit);
  return {
    text: `summarize n = count() by bin(t, 1h), k | ${draw.pick(['limit', 'take'])} ${limit}`,
    table: {
      columns: [columns[time] as Column, columns[key] as Column, { name: 'n', type: 'long' }],
      rows: groups.flatMap(group =>
        groupsOf(group.rows, [0, 1]).map(bin => [...bin.key, BigInt(bin.rows.length)]),
      ),
    },
  };
}

function startOfHour(time: Value): Value {
  if (typeof time !== 'bigint') return null;
  return time - (((time % hour) + hour) % hour);
}

function nullLast(a: Value, b: Value): number {
  return Number(a === null) - Number(b === null) || order(a, b);
}

function distinct(draw: Draw, { columns, rows }: Table): Step | undefined {
  const keys = keysOf(draw, columns, 3);
  if (keys.length === 0) return undefined;
  return {
    text: `distinct ${keys.map(index => columns[index]?.name).join(', ')}`,
    table: {
      columns: keys.map(index => columns[index] as Column),
      rows: groupsOf(rows, keys).map(group => group.key),
    },
  };
}

/** A sort key with the position of its nulls, which are smallest by default. */
interface SortKey {
  readonly text: string;
  readonly compare: (a: Value, b: Value) => number;
}

function sortKey(draw: Draw, name: string): SortKey {
  const [direction, down] = draw.pick([
    ['', true] as const,
    [' asc', false] as const,
    [' desc', true] as const,
  ]);
  const nulls = draw.pick(['', '', ' nulls first', ' nulls last']);
  const nullsFirst = nulls === '' ? !down : nulls === ' nulls first';
  const isNothing = (value: Value): boolean => value === null || Number.isNaN(value);
  return {
    text: `${name}${direction}${nulls}`,
    compare: (a, b) => {
      if (isNothing(a) !== isNothing(b)) return isNothing(a) === nullsFirst ? -1 : 1;
      return down ? order(b, a) : order(a, b);
    },
  };
}

/** Returns whether a field has both NaN and null: they sort as equal, so a limit might drop either. */
function mixesNothings(rows: Table['rows'], index: number): boolean {
  const values = rows.map(row => row[index] ?? null);
  return values.includes(null) && values.some(Number.isNaN);
}

/** Sorts by every field, so that only equal rows may change places. */
function sortAndLimit(draw: Draw, { columns, rows }: Table): Step | undefined {
  if (columns.some((_, index) => mixesNothings(rows, index))) return undefined;
  if (columns.some(column => column.type === 'dynamic' || column.type === 'bool')) return undefined;
  const keys = columns.map(column => sortKey(draw, column.name));
  const limit = draw.pick([0, 1, 2, 3, 5]);
  const sorted = sortedBy(rows, keys);
  return {
    text: `sort by ${keys.map(key => key.text).join(', ')} | ${draw.pick(['limit', 'take'])} ${limit}`,
    table: { columns, rows: sorted.slice(0, limit) },
  };
}

function sortedBy(rows: Table['rows'], keys: readonly SortKey[]): Table['rows'] {
  return rows.toSorted((a, b) => {
    for (const [index, key] of keys.entries()) {
      const found = key.compare(a[index] ?? null, b[index] ?? null);
      if (found !== 0) return found;
    }
    return 0;
  });
}

/** Sorts by every field, and skips NaN: it sorts like null, but differs as a neighbor. */
function rowsAround(draw: Draw, { columns, rows }: Table): Step | undefined {
  if (columns.some(column => column.type === 'dynamic' || column.type === 'bool')) return undefined;
  if (columns.some(({ name }) => name === 'p' || name === 'q' || name === 'r')) return undefined;
  if (rows.some(row => row.some(Number.isNaN))) return undefined;
  const keys = columns.map(column => sortKey(draw, column.name));
  const sorted = sortedBy(rows, keys);
  const [before, after] = [draw.pick([0, 1, 2]), draw.pick([1, 3])];
  const [index, other] = [draw.pick(columns.map((_, at) => at)), draw.pick(columns.map((_, at) => at))];
  const [one, two] = [columns[index] as Column, columns[other] as Column];
  const near = (row: number, column: number): Value => sorted[row]?.[column] ?? null;
  return {
    text: `sort by ${keys.map(key => key.text).join(', ')} | extend p = prev(${one.name}, ${before}), q = next(${two.name}, ${after}), r = row_number()`,
    table: {
      columns: [
        ...columns,
        { name: 'p', type: one.type },
        { name: 'q', type: two.type },
        { name: 'r', type: 'long' },
      ],
      rows: sorted.map((row, at) => [
        ...row,
        near(at - before, index),
        near(at + after, other),
        BigInt(at + 1),
      ]),
    },
  };
}

/** Keeps only the key, as rows with equal keys may change places. */
function top(draw: Draw, { columns, rows }: Table): Step | undefined {
  const index = draw.pick(columns.map((_, at) => at));
  if (mixesNothings(rows, index)) return undefined;
  const column = columns[index] as Column;
  const { text, compare } = sortKey(draw, column.name);
  const n = draw.pick([1, 2, 4]);
  const keys = rows.map(row => row[index] ?? null).toSorted(compare);
  return {
    text: `top ${n} by ${text} | project ${column.name}`,
    table: { columns: [column], rows: keys.slice(0, n).map(key => [key]) },
  };
}

function count(draw: Draw, { rows }: Table): Step | undefined {
  if (!draw.pick([true, false, false])) return undefined;
  return {
    text: 'count',
    table: { columns: [{ name: 'count', type: 'long' }], rows: [[BigInt(rows.length)]] },
  };
}

/** A field missing on one side is null there; integers and reals become reals, other differing types dynamic. */
function union(_: Draw, left: Table, right: Table): Step | undefined {
  if (left.rows.length > 40) return undefined;
  const names = [...new Set([...left.columns, ...right.columns].map(column => column.name))];
  const columns = names.map((name): Column => {
    const found = [left, right].flatMap(table => table.columns.filter(column => column.name === name));
    const [first, second] = found.map(column => column.type);
    if (first === undefined || second === undefined || first === second)
      return { name, type: first ?? 'long' };
    const numeric = [first, second].every(type => type === 'long' || type === 'real');
    return { name, type: numeric ? 'real' : 'dynamic' };
  });
  const rowsOf = (table: Table): Value[][] =>
    table.rows.map(row =>
      columns.map(({ name, type }) => {
        const index = table.columns.findIndex(column => column.name === name);
        const own = table.columns[index];
        return own === undefined ? null : widened(row[index] ?? null, own.type, type);
      }),
    );
  return { text: 'union R', table: { columns, rows: [...rowsOf(left), ...rowsOf(right)] } };
}

/** Null and an empty array keep their row with null, a map gives a row per key, a single value stays. */
function expand(draw: Draw, { columns, rows }: Table): Step | undefined {
  const dynamics = columns.flatMap((column, index) => (column.type === 'dynamic' ? [index] : []));
  if (dynamics.length === 0) return undefined;
  const at = draw.pick(dynamics);
  const limit = draw.pick([undefined, undefined, 1, 2]);
  const cut = limit === undefined ? '' : ` limit ${limit}`;
  return {
    text: `mv-expand ${columns[at]?.name}${cut}`,
    table: {
      columns,
      rows: rows.flatMap(row =>
        elements(row[at] ?? null)
          .slice(0, limit)
          .map(value => row.with(at, value)),
      ),
    },
  };
}

function elements(value: Value): readonly Value[] {
  if (!(value instanceof Dynamic)) return [value];
  const { json } = value;
  if (Array.isArray(json)) return json.length === 0 ? [null] : json.map((each: Json) => dynamicOf(each));
  if (typeof json !== 'object') return [value];
  const entries = Object.entries(json);
  return entries.length === 0 ? [null] : entries.map(([key, each]) => dynamicOf({ [key]: each }));
}
