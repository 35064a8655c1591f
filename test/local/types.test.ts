import { describe, expect, test } from 'vitest';
import { aggregates } from '../../kernel/apl/catalog/aggregates.js';
import { functions } from '../../kernel/apl/catalog/all-functions.js';
import type { FunctionEntry, Param, ParamType, TypeName } from '../../kernel/apl/catalog/entry.js';
import { compileRequest } from '../../kernel/local/sql/compile.js';
import { catalogOf, now, openQueries } from './queries.js';

// Running a query also compares the engine's types with the declared ones.
const { run } = openQueries();
const noDatasets = catalogOf({});

/** Types to test for each type of parameter. */
const typesOf: Readonly<Record<ParamType, readonly TypeName[]>> = {
  bool: ['bool'],
  long: ['long'],
  real: ['real'],
  string: ['string'],
  datetime: ['datetime'],
  timespan: ['timespan'],
  dynamic: ['dynamic'],
  number: ['long', 'real'],
  any: ['bool', 'long', 'real', 'string', 'datetime', 'timespan', 'dynamic'],
  scalar: ['bool', 'long', 'real', 'string', 'datetime', 'timespan'],
  array: ['dynamic'],
  map: ['dynamic'],
  type: [],
  field: [],
};

const columns: Readonly<Record<TypeName, string>> = {
  bool: 'b',
  long: 'l',
  real: 'r',
  string: 's',
  datetime: 't',
  timespan: 'd',
  dynamic: 'j',
};
const table =
  'datatable(b:bool, l:long, r:real, s:string, t:datetime, d:timespan, j:dynamic)' +
  "[true, 3, 0.5, 'a b', datetime(2026-01-02), 5m, dynamic([3,1]), null, null, null, null, null, null, null]";

type Written = (type: TypeName) => string;
const typedNull: Written = type => `${type}(null)`;
const column: Written = type => columns[type];

/** Returns a call for each choice of types, with one argument per parameter. */
function calls({ name, params }: FunctionEntry, written: Written): string[] {
  const most = Math.max(1, ...params.map(({ type }) => typesOf[type].length));
  const lists = Array.from({ length: most }, (_, choice) =>
    params.map(param => argument(param, choice, written)),
  );
  return [...lists.map(args => `${name}(${args.join(', ')})`), ...(withConstants[name] ?? [])];
}

/** Calls of functions that reject a null constant, or need their arguments in pairs. */
const withConstants: Readonly<Record<string, readonly string[]>> = {
  array_extract: ["array_extract(j, '$[0]')"],
  bag_pack: ['bag_pack(s, l)'],
  column_ifexists: ["column_ifexists('l', 1)"],
  datetime_add: ["datetime_add('day', l, t)"],
  datetime_diff: ["datetime_diff('day', t, t)"],
  datetime_part: ["datetime_part('day', t)"],
  ensure_field: ["ensure_field('s', typeof(string))"],
  extract: ["extract('(.)', 1, s)"],
  extract_all: ["extract_all('(.)', dynamic([1]), s)"],
  pack_dictionary: ['pack_dictionary(s, l)'],
};

/** Runs calls of many functions as columns of one table; some types may be refused, but not all of a function. */
async function allRun(
  entries: readonly FunctionEntry[],
  written: Written,
  operator: 'project' | 'summarize',
): Promise<void> {
  const taken = entries.flatMap(entry => {
    const columnsOf = calls(entry, written)
      .map((call, index) => `${entry.name}_${index} = ${call}`)
      .filter(each => compileRequest({ apl: `${table} | ${operator} ${each}` }, noDatasets, now).ok);
    expect(columnsOf, entry.name).not.toEqual([]);
    return columnsOf;
  });
  const { diagnostics, ok } = await run(`${table} | ${operator} ${taken.join(', ')}`);
  expect([ok, diagnostics.filter(each => each.severity === 'error')]).toEqual([true, []]);
}

function argument({ type, constant }: Param, choice: number, written: Written): string {
  const types = typesOf[type];
  const chosen = types[choice % types.length] ?? 'string';
  return (constant ? typedNull : written)(chosen);
}

const ways = { nulls: typedNull, columns: column };

/** Number of functions per table. */
const together = 40;
const available = functions.filter(each => each.unavailable === undefined);
const groups = Array.from({ length: Math.ceil(available.length / together) }, (_, index) => {
  const entries = available.slice(index * together, (index + 1) * together);
  return [entries[0]?.name, entries.at(-1)?.name, entries] as const;
});

describe.each(Object.entries(ways))('the engine returns the declared types for %s', (_, written) => {
  test.each(groups)('functions from %s to %s', async (_first, _last, entries) => {
    await allRun(entries, written, 'project');
  });
  test('aggregates', async () => {
    await allRun([...aggregates], written, 'summarize');
  });
});
