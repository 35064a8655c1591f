import type { TypeName } from '../../../apl/catalog/entry.js';
import { present } from '../../../present.js';
import { formatCount, plural } from '../../../text.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import { sqlTypes } from '../../duckdb/duckdb-types.js';
import type { Connection } from '../../engine/duckdb.js';
import { engineWords } from '../../engine/engine-failure.js';
import type { Line } from './quotes.js';
import { mismatchAt, mismatchOf, type ReadField, type Reading, sampleRows, widenedNotes } from './reading.js';

/** A file as string columns t0..tn, null if there is no value. */
export interface Texts {
  readonly names: readonly string[];
  readonly fast: string;
  /** Slower relation that reads lines rejected by `fast`. */
  readonly careful: string;
  /** Returns the number of lines that `careful` skipped. */
  readonly refused: () => Promise<number>;
  /** Returns columns that include the lines skipped by `careful`, undefined if there are none. */
  readonly withOdd?: () => Promise<Texts | undefined>;
  readonly notes: readonly string[];
  /** As in {@link Reading}. */
  readonly whole?: string;
  /** As in {@link Reading}. */
  readonly carries?: true;
  /** Whether numbers may have a decimal comma, and points between thousands. */
  readonly commas?: boolean;
  /** Whether a space before each value but the first of a line is not part of it. */
  readonly isSpaced?: boolean;
}

/** Reads string columns, with their first rows in the temporary table `sample`, each as the narrowest lossless type. */
export async function readTexts(connection: Connection, texts: Texts): Promise<Reading> {
  const { names, notes, isSpaced = false } = texts;
  // A column of whole lines.
  const width = texts.carries === true ? names.length - 1 : names.length;
  const possible = bits.empty + (texts.commas ? bits.all : bits.all - bits.comma);
  const fewFitting = await fittingFew(connection, names.length, possible);
  const inSample = await fittingIn(connection, 'sample', fewFitting, possible);
  const sampled = await typesOf(connection, ['sample'], inSample);
  const [[last = -1] = []] = await connection.run('SELECT max(rowid) FROM sample');
  const shortened = await shortenedNotes(connection, names, sampled.types);
  const reading = (from: string, found: Types, refused: number): Reading => {
    const { types, words } = found;
    const widened = names.flatMap((name, index) =>
      widenedNotes(name, shown(sampled.types[index]), shown(types[index])),
    );
    return {
      from,
      sample: 'sample',
      fields: names.map((name, index) => fieldOf(name, index, found, isSpaced && index > 0 && index < width)),
      notes: [...notes, ...refusedNotes(refused), ...widened, ...commaNotes(names, types), ...shortened],
      refused,
      ...present({
        emptied: words.length > 0 ? emptiedIn(connection, names, found) : undefined,
        ...{ whole: texts.whole, carries: texts.carries },
      }),
    };
  };
  const careful = async (): Promise<Reading> => {
    // The fast reader may have started within a value and produced rows that do not exist.
    await connection.run(`DELETE FROM sample WHERE rowid > ${last}`);
    const all = await texts.withOdd?.();
    if (all !== undefined) return readTexts(connection, all);
    const few = await fittingFew(connection, names.length, possible);
    const exact = await fittingIn(connection, texts.careful, few, possible);
    const types = await typesOf(connection, [texts.careful], exact);
    return reading(texts.careful, types, await texts.refused());
  };
  const fast = (types: Types, fitting: readonly Fitting[], pass: number): Reading => {
    const wider = async (failure?: string) => {
      const odd = pass > looks.length ? undefined : mismatchOf(failure);
      if (odd === undefined) return careful();
      const value = `SELECT ${sqlText(odd.text)} AS t${odd.place}`;
      await connection.run(`INSERT INTO sample (t${odd.place}) ${value}`);
      const widened = await narrowed(connection, `(${value})`, fitting, possible, [odd.place]);
      const rows = looks[pass - 1] ?? 0;
      if (rows === 0) return fast(await typesOf(connection, ['sample'], widened), widened, pass + 1);
      try {
        const looked =
          rows === Number.POSITIVE_INFINITY ? texts.fast : `(SELECT * FROM ${texts.fast} LIMIT ${rows})`;
        const found = await narrowed(connection, looked, widened, possible);
        return fast(await typesOf(connection, ['sample', looked], found), found, pass + 1);
      } catch (error) {
        if (engineWords(error) === undefined) throw error;
        return careful();
      }
    };
    return { ...reading(texts.fast, types, 0), wider };
  };
  return fast(sampled, inSample, 1);
}

/**
 * Number of rows to check after each mismatch: retrying after a few mismatches is cheaper than checking all rows, but if there are many,
 * there may be one in each column.
 */
const looks: readonly number[] = [0, 0, 16 * sampleRows, Number.POSITIVE_INFINITY];

/** Returns the number of lines that a reader with `store_rejects` skips. */
export async function countRefused(connection: Connection, source: string): Promise<number> {
  const [row] = await refusedIn(connection, source, 'count(DISTINCT line)');
  return Number(row?.[0] ?? 0);
}

/** Returns the lines that such a reader skips in an uncompressed file. */
export async function refusedLines(connection: Connection, source: string): Promise<readonly Line[]> {
  const rows = await refusedIn(connection, source, 'DISTINCT line_byte_position - 1, strlen(csv_line)');
  const lines = rows.map(([from, length]) => ({ from: Number(from), to: Number(from) + Number(length) }));
  return lines.sort((a, b) => a.from - b.from);
}

/** Reads a source to collect the lines it skips: the engine appends to its table of rejects on each read. */
async function refusedIn(connection: Connection, source: string, what: string) {
  const known = await connection.run("SELECT 1 FROM duckdb_tables() WHERE table_name = 'reject_errors'");
  if (known.length > 0) await connection.run('DELETE FROM reject_errors');
  // The engine parses only the columns that a query needs.
  await connection.run(`SELECT count(COLUMNS(*)) FROM ${source}`);
  return connection.run(`SELECT ${what} FROM reject_errors`);
}

/**
 * Type of a column while it is detected: includes reals with a decimal comma, columns without values, and columns of missing-value words
 * only.
 */
type ColumnType = TypeName | 'comma' | 'unseen' | 'empty';

function shown(type: ColumnType | undefined): TypeName | 'unseen' | undefined {
  return type === 'comma' ? 'real' : type === 'empty' ? 'unseen' : type;
}

function commaNotes(names: readonly string[], types: readonly ColumnType[]): string[] {
  const found = names.filter((_, index) => types[index] === 'comma').map(name => `\`${name}\``);
  return found.length === 0 ? [] : [`Numbers use a decimal comma in ${found.join(', ')}.`];
}

/**
 * Reports columns of reals with integers of twelve digits or more as Excel saves them when displayed in scientific notation: the last
 * digits are lost.
 */
async function shortenedNotes(
  connection: Connection,
  names: readonly string[],
  types: readonly ColumnType[],
): Promise<string[]> {
  const reals = names.flatMap((_, index) => (types[index] === 'real' ? [index] : []));
  if (reals.length === 0) return [];
  const rows = await connection.run(
    `SELECT i, first(t) FROM ${asOneColumn('sample', reals)} WHERE CASE WHEN contains(t, 'E+') THEN regexp_full_match(trim(t), ${sqlText(shortenedPattern)}) END GROUP BY i ORDER BY i`,
  );
  return rows.map(
    ([index, text]) =>
      `\`${names[Number(index)]}\` has integers shortened by a spreadsheet, such as ${String(text)}: the missing digits are zeros.`,
  );
}

/** Reports how many values of which fields are null because of a missing-value word. */
function emptiedIn(
  connection: Connection,
  names: readonly string[],
  { types, words, spaced }: Types,
): NonNullable<Reading['emptied']> {
  return async (relation, hasNull) => {
    const isTyped = (index: number) => storedAs(types[index] ?? 'string') !== 'string';
    const typed = names.flatMap((name, index) => (isTyped(index) && hasNull(name) ? [{ name, index }] : []));
    if (typed.length === 0) return [];
    const [row = []] = await connection.run(
      `SELECT ${typed.map(({ index }) => `count(${emptyWord(unspaced(index, spaced), words)})`).join(', ')} FROM ${relation}`,
    );
    const found = typed.flatMap(({ name }, place) =>
      Number(row[place]) === 0 ? [] : [`\`${name}\` (${formatCount(Number(row[place]))})`],
    );
    const more = found.length - mostNamed;
    const written = words.map(word => `\`${word}\``).join(', ');
    return found.length === 0
      ? []
      : [
          `Read as null because the other values are not text: ${written} in ${found.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${plural(more, 'more field')}` : ''}.`,
        ];
  };
}

/** Maximum number of fields named in a message. */
const mostNamed = 20;

const shortenedPattern = '-?\\d(\\.\\d{1,14})?E\\+(1[1-9]|20)';

/**
 * Types that a string may be read as without loss, narrowest first. A power of ten without a point or a sign (`1e5`) is taken for an
 * identifier.
 */
const csvTypes = ['bool', 'long', 'real', 'comma', 'datetime'] as const satisfies readonly ColumnType[];

/** Types as bits; `empty` marks a column with only missing-value words. */
const bits = { none: 0, bool: 1, long: 2, real: 4, datetime: 8, comma: 16, all: 31, empty: 32 } as const;

/**
 * Words for missing values, as written by R and pandas, spreadsheets, databases and web servers. They are null only in columns whose
 * remaining values have a type: in text they may mean Namibia, or a dash.
 */
export const emptyWords: readonly string[] = [
  'NA',
  'N/A',
  'n/a',
  '#N/A',
  '#NA',
  '#DIV/0!',
  '#VALUE!',
  '#REF!',
  '#NAME?',
  '#NUM!',
  '#NULL!',
  '<NA>',
  'NULL',
  'Null',
  'null',
  'None',
  'nil',
  '\\N',
  // Campbell data loggers.
  'NAN',
  '-',
  '--',
  '?',
];

/** Returns the SQL of a string if it is one of these words, otherwise null. */
function emptyWord(text: string, words: readonly string[]): string {
  return `CASE ${text} ${words.map(word => `WHEN ${sqlText(word)} THEN ${sqlText(word)}`).join(' ')} END`;
}

/** Types of columns, the missing-value words found in those that are not text, and the columns with spaces around values. */
interface Types {
  readonly types: readonly ColumnType[];
  readonly words: readonly string[];
  readonly spaced: ReadonlySet<number>;
}

/** Returns the SQL of a column, without spaces around its values if there are any. */
function unspaced(index: number, spaced: ReadonlySet<number>): string {
  return spaced.has(index) ? `trim(t${index})` : `t${index}`;
}

/** Returns the types that fit a few rows of the sample, which rule out most of them. */
function fittingFew(connection: Connection, width: number, possible: number): Promise<readonly Fitting[]> {
  const any = Array.from({ length: width }, () => ({ fitting: undefined, words: [], spaced: false }));
  return narrowed(connection, `(SELECT * FROM sample LIMIT ${fewRows})`, any, possible);
}

/** Returns the types that fit all rows of a source, starting from those that fit a few sampled rows. */
async function fittingIn(
  connection: Connection,
  source: string,
  few: readonly Fitting[],
  possible: number,
): Promise<readonly Fitting[]> {
  const [row = []] = source === 'sample' ? await connection.run('SELECT count(*) FROM sample') : [];
  return Number(row[0]) <= fewRows ? few : narrowed(connection, source, few, possible);
}

/** Returns the types of columns, given those that fit all values of these sources. */
async function typesOf(
  connection: Connection,
  sources: readonly string[],
  found: readonly Fitting[],
): Promise<Types> {
  const types = await Promise.all(
    found.map(async ({ fitting }, index) => {
      const type = typeOf(fitting);
      return type === 'comma' && !(await provesComma(connection, sources, index)) ? 'string' : type;
    }),
  );
  const words = new Set(found.flatMap((each, index) => (types[index] === 'string' ? [] : each.words)));
  const spaced = new Set(found.flatMap((each, index) => (each.spaced ? [index] : [])));
  return { types, words: emptyWords.filter(word => words.has(word)), spaced };
}

function typeOf(fitting: number | undefined): ColumnType {
  if (fitting === undefined) return 'unseen';
  if ((fitting & bits.empty) > 0) return 'empty';
  return csvTypes.find(type => (fitting & bits[type]) > 0) ?? 'string';
}

/** Whether a column has a comma that cannot be a thousands separator, unlike 1,234. */
async function provesComma(
  connection: Connection,
  sources: readonly string[],
  index: number,
): Promise<boolean> {
  const text = `t${index}`;
  for (const source of sources) {
    const rows = await connection.run(
      `SELECT 1 FROM ${source} WHERE contains(${text}, ',') AND NOT regexp_full_match(trim(${text}), '-?\\d{1,3},\\d{3}') LIMIT 1`,
    );
    if (rows.length > 0) return true;
  }
  return false;
}

const fewRows = 64;

/** Returns a SELECT of texts without outer spaces, and whether each had any: testing for them first is several times faster than trimming. */
function outerTrimmed(texts: string): string {
  return `SELECT i, CASE WHEN spaced THEN trim(t) ELSE t END AS t, spaced FROM (SELECT *, t LIKE ' %' OR t LIKE '% ' AS spaced FROM ${texts})`;
}

/** Types that fit every value of a column, as bits, undefined if it has none; its missing-value words; whether values have outer spaces. */
interface Fitting {
  readonly fitting: number | undefined;
  readonly words: readonly string[];
  readonly spaced: boolean;
}

/**
 * Narrows the types of columns, or those at `places`, to those that fit all rows of `source`. Tests all values as one column, next to their
 * column index: planning time grows quadratically with the number of tests.
 */
async function narrowed(
  connection: Connection,
  source: string,
  columns: readonly Fitting[],
  possible: number,
  places: readonly number[] = columns.map((_, index) => index),
): Promise<readonly Fitting[]> {
  const open = places.filter(index => columns[index]?.fitting !== bits.none);
  if (open.length === 0) return columns;
  const rows = await connection.run(
    `SELECT i, bit_and(CASE WHEN w IS NOT NULL OR t = '' THEN ${bits.all + bits.empty} ELSE ${fittingSql('t', (possible & bits.comma) > 0)} END), string_agg(DISTINCT w, ' '), bool_or(spaced OR t = '')
     FROM (SELECT *, ${emptyWord('t', emptyWords)} AS w FROM (${outerTrimmed(asOneColumn(source, open))}))
     WHERE t IS NOT NULL GROUP BY i`,
  );
  const found = [...columns];
  for (const [index, fitting, words, spaced] of rows) {
    const before = columns[Number(index)];
    found[Number(index)] = {
      fitting: Number(fitting) & (before?.fitting ?? possible),
      words: [...(before?.words ?? []), ...(words === null ? [] : String(words).split(' '))],
      spaced: before?.spaced === true || spaced === true,
    };
  }
  return found;
}

/** Returns the SQL of the values t of some columns, each with its column index i: the engine takes long to plan a thousand columns. */
function asOneColumn(source: string, columns: readonly number[]): string {
  const values = columns.map(index => `t${index}`).join(', ');
  return `(SELECT unnest([${columns.join(', ')}]) AS i, unnest([${values}]) AS t FROM ${source})`;
}

/** Returns the SQL of the types that fit a string, as bits: one, or several for numbers. Its patterns take long to compile. */
function fittingSql(text: string, commas: boolean): string {
  const is = (type: ColumnType) => `${readAs(text, type)} IS NOT NULL`;
  const both = bits.long + bits.real;
  const comma = commas ? `CASE WHEN ${is('comma')} THEN ${bits.comma} ELSE 0 END` : '0';
  return `CASE
    WHEN ${is('long')} THEN CASE WHEN strlen(${text}) < ${exactDigits} THEN ${both + bits.comma} WHEN TRY_CAST(${text} AS BIGINT) BETWEEN -${largestReal} AND ${largestReal} THEN ${both} ELSE ${bits.long} END
    WHEN ${is('real')} THEN ${bits.real} + ${comma} WHEN ${is('bool')} THEN ${bits.bool} WHEN ${is('datetime')} THEN ${bits.datetime} ELSE ${comma} END`;
}

/** A double represents every integer with fewer digits. */
const exactDigits = 16;

/** Largest integer that is read as a real. */
const largestReal = 8_999_999_999_999_999n;

/** Digits before a point that a double represents, below 9,000,000,000,000,000. */
const wholePattern = '(0|[1-9]\\d{0,14}|[1-8]\\d{15})';
const exponentPattern = '[eE][+-]?\\d{1,3}';
/** A number, with digits on one side of its point at least. */
const numberPattern = `-?(${wholePattern}(\\.\\d*(${exponentPattern})?|[eE][+-]\\d{1,3})?|\\.\\d+(${exponentPattern})?)`;
const realPattern = `${numberPattern}|[Nn]a[Nn]|-?[Ii]nf(inity)?`;
/** The most common form, tested first. */
const plainReal = '-?(0|[1-9][0-9]{0,14})\\.[0-9]+';
/** With a decimal comma, and optional points between thousands. */
const commaPattern = '-?(\\d{1,3}(\\.\\d{3})+|\\d+)(,\\d+)?';
/** Parts of an RFC 3339 time, which every reader parses alike. */
export const rfc3339 = {
  date: '\\d{4}-\\d{2}-\\d{2}',
  clock: '[T ]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?',
  zone: '(Z|[+-]\\d{2}:\\d{2})',
};
const timePattern = `${rfc3339.date}${rfc3339.clock}${rfc3339.zone}`;

/**
 * Returns the SQL of a string as a value of a type, null if that would lose something. The most common forms are tested first and cheaply.
 * Conditions are separate cases instead of being joined: with AND, OR or IN, the engine plans a thousand columns for minutes.
 */
function readAs(text: string, type: ColumnType): string {
  const value = `TRY_CAST(${text} AS ${sqlTypes[storedAs(type)]})`;
  switch (type) {
    case 'bool':
      return `CASE ${text} ${booleans.map(word => `WHEN ${sqlText(word)} THEN ${word.toLowerCase()}`).join(' ')} END`;
    case 'long':
      return `CASE WHEN ${value}::VARCHAR = ${text} THEN ${value} END`;
    case 'real': {
      const infinite = `CASE WHEN contains(${text}, 'f') THEN ${value} END`;
      const ranged = `CASE WHEN isinf(${value}) THEN ${infinite} ELSE ${value} END`;
      return `CASE WHEN regexp_full_match(${text}, ${sqlText(plainReal)}) THEN ${value} WHEN regexp_full_match(${text}, ${sqlText(realPattern)}) THEN ${ranged} END`;
    }
    case 'comma': {
      const plain = `replace(replace(${text}, '.', ''), ',', '.')`;
      return `CASE WHEN regexp_full_match(${text}, ${sqlText(commaPattern)}) THEN ${readAs(plain, 'real')} END`;
    }
    case 'datetime':
      return readAsTime(text, value);
    default:
      return text;
  }
}

const booleans = ['true', 'false', 'True', 'False', 'TRUE', 'FALSE'];

/** Length of `2026-01-01T00:00:00.123456789Z`. */
const longestTime = 30;

/** The engine's parser validates digits; the patterns exclude what else it would accept: blanks, missing parts and lost digits. */
function readAsTime(text: string, time: string): string {
  const date = '????-??-??T[0-9]?:??:??';
  const cases = [
    `WHEN ${text} GLOB ${sqlText(`${date}.?*Z`)} THEN CASE WHEN strlen(${text}) <= ${longestTime} THEN ${time} END`,
    `WHEN ${text} GLOB ${sqlText(`${date}Z`)} THEN ${time}`,
    `WHEN regexp_full_match(${text}, ${sqlText(timePattern)}) THEN ${time}`,
  ];
  return `CASE ${cases.join(' ')} END`;
}

function storedAs(type: ColumnType): TypeName {
  return type === 'comma' ? 'real' : type === 'unseen' || type === 'empty' ? 'string' : type;
}

/** Returns a field; words and blanks are kept as strings in a column that has nothing else, without spaces before them if `follows`. */
function fieldOf(name: string, index: number, { types, words, spaced }: Types, follows: boolean): ReadField {
  const type = types[index] ?? 'string';
  const written = follows ? `nullif(ltrim(t${index}), '')` : `t${index}`;
  if (type === 'string') return { name, type, sql: written };
  const stored = storedAs(type);
  const text = unspaced(index, spaced);
  const absent = (spaced.has(index) ? ['', ...words] : words).map(
    each => `WHEN ${text} = ${sqlText(each)} THEN ${stored === 'string' ? written : 'NULL'} `,
  );
  const other = `CASE ${absent.join('')}WHEN ${written} IS NOT NULL THEN ${mismatchAt(index, written)} END`;
  if (stored === 'string') return { name, type: stored, sql: `${other}::VARCHAR` };
  return { name, type: stored, sql: `coalesce(${readAs(text, type)}, ${other}::${sqlTypes[stored]})` };
}

function refusedNotes(refused: number): string[] {
  return refused === 0
    ? []
    : [`Skipped because they are not UTF-8 or have too many values: ${plural(refused, 'line')}.`];
}
