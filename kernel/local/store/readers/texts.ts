import type { TypeName } from '../../../apl/catalog/entry.js';
import { plural } from '../../../text.js';
import { sqlText } from '../../duckdb/literal.js';
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
    from,
    sample: 'sample',
    fields: names.map((name, index) => fieldOf(name, `nullif(t${index}, '')`, found[index] ?? 'string')),
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
  const any = Array.from({ length: width }, () => csvTypes);
  const few = await fittingTypes(connection, `(SELECT * FROM sample LIMIT ${fewRows})`, any);
  const found = await fittingTypes(
    connection,
    source,
    few.map(({ types }) => types),
  );
  return found.map(({ values, types }) => (values === 0 ? 'unseen' : (types[0] ?? 'string')));
}

const fewRows = 256;

/** How many values each column has, and which of the types asked for fit all of them. */
async function fittingTypes(
  connection: Connection,
  source: string,
  asked: readonly (readonly TypeName[])[],
): Promise<{ readonly values: number; readonly types: readonly TypeName[] }[]> {
  const tests = asked.flatMap((types, index) => {
    const value = `nullif(t${index}, '')`;
    const fitting = types.map(
      type => `coalesce(bool_and(coalesce(${fits(value, type)}, ${value} IS NULL)), true)`,
    );
    return [`count(${value})`, ...fitting];
  });
  const [row = []] = await connection.run(`SELECT ${tests.join(', ')} FROM ${source}`);
  const results = row.values();
  return asked.map(types => ({
    values: Number(results.next().value),
    types: types.filter(() => results.next().value === true),
  }));
}

const realPattern =
  '-?(0|[1-9]\\d*)(\\.\\d+([eE][+-]?\\d{1,3})?|[eE][+-]\\d{1,3})?|[Nn]a[Nn]|-?[Ii]nf(inity)?';
const timePattern = '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})';

function fits(value: string, type: TypeName): string {
  switch (type) {
    case 'bool':
      return `${value} IN ('true', 'false', 'True', 'False', 'TRUE', 'FALSE')`;
    case 'long':
      return `TRY_CAST(${value} AS BIGINT)::VARCHAR = ${value}`;
    case 'real':
      return `regexp_full_match(${value}, ${sqlText(realPattern)}) AND (contains(${value}, '.') OR NOT ${exceedsReal(value)})`;
    case 'datetime':
      return `TRY_CAST(${value} AS TIMESTAMP_NS) IS NOT NULL AND regexp_full_match(${value}, ${sqlText(timePattern)})`;
    default:
      return 'true';
  }
}

const sqlTypes: Partial<Record<ColumnType, string>> = {
  bool: 'BOOLEAN',
  long: 'BIGINT',
  real: 'DOUBLE',
  datetime: 'TIMESTAMP_NS',
};

function fieldOf(name: string, value: string, type: ColumnType): ReadField {
  if (type === 'string') return { name, type, sql: value };
  const absent = `CASE WHEN ${value} IS NOT NULL THEN ${misfit} END`;
  if (type === 'unseen') return { name, type: 'string', sql: `${absent}::VARCHAR` };
  const sql = `CASE WHEN ${fits(value, type)} THEN CAST(${value} AS ${sqlTypes[type]}) ELSE ${absent}::${sqlTypes[type]} END`;
  return { name, type, sql };
}

function refusedNotes(refused: number): string[] {
  return refused === 0
    ? []
    : [
        `Left out, as they are not UTF-8 or have more values than there are fields: ${plural(refused, 'line')}.`,
      ];
}
