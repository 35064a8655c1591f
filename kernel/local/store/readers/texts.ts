import type { TypeName } from '../../../apl/catalog/entry.js';
import { plural } from '../../../text.js';
import { sqlText } from '../../duckdb/literal.js';
import { sqlTypes } from '../../duckdb/types.js';
import type { Connection } from '../../engine/duckdb.js';
import { exceedsReal, misfit, type ReadField, type Reading, widenedNotes } from './reading.js';

/** A file as columns of text t0..tn, empty where there is no value. */
export interface Texts {
  readonly names: readonly string[];
  readonly fast: string;
  /** A slower relation that reads lines which the other refuses. */
  readonly careful: string;
  /** Returns how many lines the careful one left out. */
  readonly refused: () => Promise<number>;
  readonly notes: readonly string[];
}

/** Reads columns of text, whose first rows are in the temporary table `sample`, each as the narrowest type that loses nothing. */
export async function readTexts(connection: Connection, texts: Texts): Promise<Reading> {
  const { names, notes } = texts;
  const types = await columnTypes(connection, 'sample', names.length);
  const reading = (from: string, found: readonly ColumnType[]) => ({
    from: typed(from, found),
    sample: typed('sample', found),
    fields: names.map((name, index) => fieldOf(name, index, found[index] ?? 'string')),
    notes,
    refused: 0,
  });
  const wider = async () => {
    const exact = await columnTypes(connection, texts.careful, names.length);
    const refused = await texts.refused();
    const widened = names.flatMap((name, index) => widenedNotes(name, types[index], exact[index]));
    const all = [...notes, ...refusedNotes(refused), ...widened];
    return { ...reading(texts.careful, exact), refused, notes: all };
  };
  return { ...reading(texts.fast, types), wider };
}

/** Returns how many lines a reader with `store_rejects` leaves out: it records them each time that it reads the file. */
export async function countRefused(connection: Connection, source: string): Promise<number> {
  await connection.run(`SELECT count(*) FROM ${source}`);
  const [row] = await connection.run(
    'SELECT count(DISTINCT line) FROM reject_errors WHERE scan_id = (SELECT max(scan_id) FROM reject_errors)',
  );
  return Number(row?.[0] ?? 0);
}

type ColumnType = TypeName | 'unseen';

/**
 * The types that a text may be read as, where nothing is lost. A power of ten without a point or a sign (`1e5`) is taken for an
 * identifier.
 */
const csvTypes: readonly TypeName[] = ['bool', 'long', 'real', 'datetime'];

/** A few rows of the sample rule out most types, which are then not tested on all the others. */
async function columnTypes(connection: Connection, source: string, width: number): Promise<ColumnType[]> {
  const any = Array.from({ length: width }, (_, index) => ({ index, types: csvTypes }));
  const few = await fittingTypes(connection, `(SELECT * FROM sample LIMIT ${fewRows})`, any, fewColumns);
  const found = await fittingTypes(connection, source, few, source === 'sample' ? fewColumns : manyColumns);
  return found.map(({ values, types }) => (values === 0 ? 'unseen' : (types[0] ?? 'string')));
}

const fewRows = 256;

/** A column, and types that it may have. */
interface Candidates {
  readonly index: number;
  readonly types: readonly TypeName[];
}

/** Returns how many values each column has, and which of its types fit all of them. */
async function fittingTypes(
  connection: Connection,
  source: string,
  columns: readonly Candidates[],
  most: number,
): Promise<(Candidates & { readonly values: number })[]> {
  const found: (Candidates & { readonly values: number })[] = [];
  for (let from = 0; from < columns.length; from += most) {
    found.push(...(await countFitting(connection, source, columns.slice(from, from + most))));
  }
  return found;
}

/**
 * Columns tested by one statement. The time in which the engine plans one grows with the square of its tests, but a whole file is
 * better read few times.
 */
const fewColumns = 100;
const manyColumns = 400;

async function countFitting(
  connection: Connection,
  source: string,
  columns: readonly Candidates[],
): Promise<(Candidates & { readonly values: number })[]> {
  const counts = columns.flatMap(({ index, types }) => [
    `count(v${index})`,
    ...types.map(type => `count(${readAs(`v${index}`, type)})`),
  ]);
  const values = columns.map(({ index }) => valueSql(index));
  const [row = []] = await connection.run(
    `SELECT ${counts.join(', ')} FROM (SELECT ${values.join(', ')} FROM ${source})`,
  );
  const results = row.values();
  return columns.map(({ index, types }) => {
    const present = Number(results.next().value);
    return {
      index,
      values: present,
      types: types.filter(() => Number(results.next().value) === present),
    };
  });
}

/**
 * The relation of the values v_i of the columns of a text relation, and of the same values x_i as their types, null where they do
 * not fit. Each is computed in a SELECT of its own: the engine plans a thousand nested expressions for seconds.
 */
function typed(source: string, types: readonly ColumnType[]): string {
  const values = types.map((_, index) => valueSql(index));
  const read = types.flatMap((type, index) =>
    isPlain(type) ? [] : [`${readAs(`v${index}`, type)} AS x${index}`],
  );
  return `(SELECT ${['*', ...read].join(', ')} FROM (SELECT ${values.join(', ')} FROM ${source}))`;
}

function valueSql(index: number): string {
  return `nullif(t${index}, '') AS v${index}`;
}

function isPlain(type: ColumnType): type is 'string' | 'unseen' {
  return type === 'string' || type === 'unseen';
}

const plainReal = '-?(0|[1-9][0-9]*)\\.[0-9]+';
const realPattern =
  '-?(0|[1-9]\\d*)(\\.\\d+([eE][+-]?\\d{1,3})?|[eE][+-]\\d{1,3})?|[Nn]a[Nn]|-?[Ii]nf(inity)?';
const timePattern = '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})';

/**
 * SQL of a text as a value of a type, null where that would lose something. The commonest forms are tested first and cheaply.
 * Conditions are cases of their own instead of being joined: the engine plans a thousand columns with AND, OR or IN in them for
 * minutes.
 */
function readAs(value: string, type: TypeName): string {
  switch (type) {
    case 'bool':
      return `CASE ${value} ${booleans.map(text => `WHEN ${sqlText(text)} THEN ${text.toLowerCase()}`).join(' ')} END`;
    case 'long':
      return `CASE WHEN TRY_CAST(${value} AS BIGINT)::VARCHAR = ${value} THEN TRY_CAST(${value} AS BIGINT) END`;
    case 'real':
      return readAsReal(value, `TRY_CAST(${value} AS DOUBLE)`);
    case 'datetime':
      return readAsTime(value, `TRY_CAST(${value} AS TIMESTAMP_NS)`);
    default:
      return value;
  }
}

const booleans = ['true', 'false', 'True', 'False', 'TRUE', 'FALSE'];

function readAsReal(value: string, real: string): string {
  const exact = `CASE WHEN contains(${value}, '.') THEN ${real} WHEN ${exceedsReal(value)} THEN NULL ELSE ${real} END`;
  return `CASE WHEN regexp_full_match(${value}, ${sqlText(plainReal)}) THEN ${real} WHEN regexp_full_match(${value}, ${sqlText(realPattern)}) THEN ${exact} END`;
}

/** The length of `2026-01-01T00:00:00.123456789Z`. */
const longestTime = 30;

/** The engine's own parser tests the digits; what it would read beside the pattern are blanks, missing parts and lost digits. */
function readAsTime(value: string, time: string): string {
  const date = '????-??-??T[0-9]?:??:??';
  const cases = [
    `WHEN ${value} GLOB ${sqlText(`${date}.?*Z`)} THEN CASE WHEN strlen(${value}) <= ${longestTime} THEN ${time} END`,
    `WHEN ${value} GLOB ${sqlText(`${date}Z`)} THEN ${time}`,
    `WHEN regexp_full_match(${value}, ${sqlText(timePattern)}) THEN ${time}`,
  ];
  return `CASE ${cases.join(' ')} END`;
}

/** Over the columns of {@link typed}. */
function fieldOf(name: string, index: number, type: ColumnType): ReadField {
  if (type === 'string') return { name, type, sql: `v${index}` };
  const absent = `CASE WHEN v${index} IS NOT NULL THEN ${misfit} END`;
  if (type === 'unseen') return { name, type: 'string', sql: `${absent}::VARCHAR` };
  return { name, type, sql: `coalesce(x${index}, ${absent}::${sqlTypes[type]})` };
}

function refusedNotes(refused: number): string[] {
  return refused === 0
    ? []
    : [
        `Left out, as they are not UTF-8 or have more values than there are fields: ${plural(refused, 'line')}.`,
      ];
}
