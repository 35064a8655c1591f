import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import type { DuckDBValue } from '@duckdb/node-api';
import { present } from '../../../present.js';
import { oneLine, plural } from '../../../text.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { engineWords } from '../../engine/engine-failure.js';
import { LocalError } from '../../local-errors.js';
import { mostFields, tooManyColumns } from '../bounds/bounded-text.js';
import {
  areDashes,
  areUnits,
  commentsAbove,
  csvDelimiters,
  footerLength,
  linesAbove,
  looksLikeHeader,
  looksLikeTotal,
  namesInComment,
  periodPattern,
  periodsAmongNames,
  spacesFollow,
} from '../sources/csv-recognize.js';
import { endOf, firstBytes, hasByteOrderMark, linesAtStart, plain } from '../sources/source-formats.js';
import { lineReader } from './line-reader.js';
import { copyWith, type Line, unclosedLines, withMissing } from './quotes.js';
import { countRefused, emptyWords, readTexts, refusedLines, type Texts } from './reader-texts.js';
import { distinctNames, keep, mismatchOf, type Reading, renamedNotes } from './reading.js';
import { blankLines, firstLines, longLines, rowsInSample, saidDelimiter, saysType } from './sample.js';
import { packedBegin, unpacked } from './unpacked.js';

/** Options for reading a CSV file; those left undefined are detected. */
export interface CsvOptions {
  readonly delimiter?: string;
  /** Whether the first line contains the field names. */
  readonly header?: boolean;
  /** Whether a spreadsheet may have written the file: the first line may name the delimiter, and numbers may have commas. */
  readonly spreadsheet?: boolean;
  /** Field names, for a file without them, and a label for its kind. */
  readonly known?: { readonly names: readonly string[]; readonly label: string };
}

/** A CSV file, with a directory for drafts, which are removed after the import. */
export interface CsvSource {
  readonly file: string;
  readonly workDir: string;
  /** Lines above the table that were removed from this copy. */
  readonly above?: readonly string[];
  /** Line below the table that was removed from this copy; empty if there was none. */
  readonly below?: string;
  /** Original of this copy, and the lines removed from it because of unclosed quotes. */
  readonly whole?: { readonly file: string; readonly unclosed: readonly Line[] };
}

type Repaired = CsvSource & Required<Pick<CsvSource, 'whole'>>;

/**
 * Reads a CSV file, each column as the narrowest lossless type. A line with an unclosed quote or too many values is kept whole in an extra
 * field.
 */
export async function readCsv(
  connection: Connection,
  source: CsvSource,
  options: CsvOptions = {},
): Promise<Reading | undefined> {
  if (source.below === undefined) return readCsv(connection, await withoutFooter(source, options), options);
  const begin = (await packedBegin(source.file, source.workDir)) ?? source.file;
  const limits = await firstLines(begin);
  try {
    return await readWithin(connection, source, options, { begin, limits });
  } catch (error) {
    // One of the first lines may be too long.
    const isLast = begin === source.file && limits === longLines;
    if (isLast || engineWords(error) === undefined) throw error;
    return readWithin(connection, source, options, { begin: source.file, limits: longLines });
  }
}

/** Reads the file, with a sample of its first lines. */
async function readWithin(
  connection: Connection,
  source: CsvSource,
  options: CsvOptions,
  beginning: Beginning,
): Promise<Reading | undefined> {
  const said = options.spreadsheet ? await saidDelimiter(source.file) : undefined;
  const skipsFirst = said !== undefined || (options.spreadsheet === true && (await saysType(source.file)));
  const sniffFrom = async (skip: number): Promise<Dialect> => {
    const sniffWith = (quote?: string) =>
      sniff(connection, source.file, {
        ...present({ delimiter: options.delimiter ?? said, quote }),
        ...beginning,
        skip,
      });
    const guessed = await sniffWith();
    return (await isMisquoted(connection, source.file, guessed)) ? sniffWith(usualQuote) : guessed;
  };
  const first = skipsFirst ? 1 : 0;
  const lines = options.known === undefined ? (await linesAtStart(source.file)).slice(first) : [];
  if (opensQuote(lines[0]) && first === 0 && (await hasByteOrderMark(source.file)))
    return readCsv(connection, await withoutMark(source), options);
  const comments = commentsAbove(lines);
  const opened = lines.slice(0, comments).filter(opensQuote);
  const belowComments = async () =>
    readCsv(connection, await withoutAbove(source, first, lines.slice(0, comments)), options);
  if (opened.length > 0) return belowComments();
  const guessed = await sniffFrom(first + comments);
  // The engine detects no delimiter if the number of values varies between lines, except at the beginning of a file.
  const isUndivided = guessed.columns === 1 && csvDelimiters.some(each => lines[comments]?.includes(each));
  if (comments > 0 && isUndivided) return belowComments();
  const above = linesAbove(lines, comments, guessed.delimiter);
  const sniffed = {
    ...(above === comments ? guessed : await sniffFrom(first + above)),
    above: [...(source.above ?? []), ...lines.slice(0, above)].filter(line => line.trim() !== ''),
  };
  // The engine counts the delimiters within an unclosed quote.
  const isTooWide = sniffed.columns > mostFields;
  const dialect = isTooWide ? sniffed : await ofNames(connection, source.file, sniffed, options);
  const repaired =
    isTooWide || (await mayMislead(connection, dialect)) ? await repair(source, dialect) : undefined;
  if (repaired !== undefined)
    return (await readCsv(connection, repaired, options)) ?? neverClosed(repaired.whole.unclosed);
  if (isTooWide) throw tooManyColumns('The file');
  if (dialect.failure !== undefined) throw dialect.failure;
  const reading = await readWhole(connection, source, dialect, options);
  return reading && repairable(connection, source, dialect, options, reading);
}

/** Returns a copy without a final line that counts the rows, if there is one below a table of several columns. */
async function withoutFooter(source: CsvSource, { spreadsheet = false }: CsvOptions): Promise<CsvSource> {
  const { text, size } = await endOf(source.file);
  // The response to a request has no notes to report a dropped line, so each line is an event.
  const length = spreadsheet ? footerLength(text) : 0;
  const [head = ''] = length > 0 ? await linesAtStart(source.file) : [];
  if (!csvDelimiters.some(delimiter => head.includes(delimiter))) return { ...source, below: '' };
  const copy = path.join(source.workDir, `${crypto.randomUUID()}.csv`);
  await copyWith(source.file, copy, [{ from: size - length, to: size }], () => Buffer.alloc(0));
  return { ...source, file: copy, below: text.slice(-length).trim() };
}

/** Reports on the end of a table: a line that is not a row, or a row that may be a total. */
async function endNotes(
  { file, below }: CsvSource,
  { delimiter, columns }: Dialect,
): Promise<readonly string[]> {
  if (below) return [`Skipped below the table: ${JSON.stringify(below)}.`];
  const bytes =
    (await endOf(file)).text
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? '';
  const last = Buffer.from(bytes, 'latin1').toString();
  return looksLikeTotal(last, delimiter, columns)
    ? [
        `The last line looks like a total, but is imported as a row: ${JSON.stringify(oneLine(last, longestShown))}.`,
      ]
    : [];
}

/**
 * Returns a copy without the comments above the table: a quote opened in one would swallow the table, and lines with varying numbers of
 * values below them would hide its delimiter.
 */
async function withoutAbove(
  { file, workDir, below }: CsvSource,
  first: number,
  above: readonly string[],
): Promise<CsvSource> {
  const whole = await unpacked(file, workDir);
  const copy = path.join(workDir, `${crypto.randomUUID()}.csv`);
  const [from, to] = [await bytesOfLines(whole, first), await bytesOfLines(whole, first + above.length)];
  await copyWith(whole, copy, [{ from, to }], () => Buffer.alloc(0));
  return { file: copy, workDir, above, ...present({ below }) };
}

/**
 * Whether the guessed quote is wrong: more lines have values in double quotes, or the file has double quotes and only its first line uses
 * the guess.
 */
async function isMisquoted(connection: Connection, file: string, dialect: Dialect): Promise<boolean> {
  const { delimiter, quote, begin, limits, sampled } = dialect;
  if (quote === '' || quote === usualQuote) return false;
  const between = `\\Q${delimiter}\\E`;
  const encloses = (mark: string, within = '') => {
    const text = `(?:[^${mark}]|${mark}${mark})*`;
    return `regexp_matches(l, ${sqlText(`(?:^|${between})${mark}${text}${within}${text}${mark}(?:${between}|$)`)})`;
  };
  const [row = []] = await connection.run(
    `SELECT count(*) FILTER (${encloses(quote)} AND n > 1), count(*) FILTER (${encloses(usualQuote)}), count(*) FILTER (l <> '' AND n > 1), count(*) FILTER (${encloses(quote, between)} AND n > 1)
     FROM (SELECT l, row_number() OVER () AS n FROM ${lineReader(begin, 'first', limits)} LIMIT ${sampled})`,
  );
  const [own = 0, usual = 0, lines = 0, divided = 0] = row.map(Number);
  // A word between apostrophes is a value, unless something tells that they are quotes.
  const isEnclosing = own === lines || divided > 0;
  if (own > 0) return own < usual || !isEnclosing;
  const [some] = await connection.run(
    `SELECT 1 FROM ${lineReader(file, 'long')} WHERE contains(l, ${sqlText(usualQuote)}) LIMIT 1`,
  );
  return some !== undefined;
}

/** Whether a line has an odd number of quotes, so that a value continues in the line below. */
function opensQuote(line = ''): boolean {
  return line.split(usualQuote).length % 2 === 0;
}

/** Returns a copy without a byte order mark: behind one, the engine takes the first quote for text when it skips the header. */
async function withoutMark({ file, workDir, below }: CsvSource): Promise<CsvSource> {
  const copy = path.join(workDir, `${crypto.randomUUID()}.csv`);
  await copyWith(await unpacked(file, workDir), copy, [{ from: 0, to: 3 }], () => Buffer.alloc(0));
  return { file: copy, workDir, ...present({ below }) };
}

/**
 * Whether quotes may have misled the engine: it found none in use, but the lines sampled contain some. For the lines below those, the fast
 * reader rejects unclosed quotes.
 */
async function mayMislead(
  connection: Connection,
  { quote, failure, begin, limits, sampled }: Dialect,
): Promise<boolean> {
  if (quote === usualQuote) return false;
  if (failure !== undefined) return true;
  const sniffed = `SELECT l FROM ${lineReader(begin, 'first', limits)} LIMIT ${sampled}`;
  try {
    const rows = await connection.run(
      `SELECT 1 FROM (${sniffed}) WHERE contains(l, ${sqlText(usualQuote)}) LIMIT 1`,
    );
    return rows.length > 0;
  } catch {
    return true;
  }
}

/**
 * Looks for unclosed quotes when a pass ends: the fast reader rejects a file that ends within quotes, and the careful one would drop
 * everything in them. Skips this if a pass ended at a value that quotes cannot explain.
 */
function repairable(
  connection: Connection,
  source: CsvSource,
  dialect: Dialect,
  options: CsvOptions,
  reading: Reading,
): Reading {
  const { wider } = reading;
  if (wider === undefined) return reading;
  const next = async (failure?: string): Promise<Reading> => {
    const odd = mismatchOf(failure);
    if (odd !== undefined && !/["\r\n]/.test(odd.text))
      return repairable(connection, source, dialect, options, await wider(failure));
    const repaired = source.whole === undefined ? await repair(source, dialect) : undefined;
    if (repaired === undefined) return wider(failure);
    const again = await readCsv(connection, repaired, options);
    return (await again?.wider?.()) ?? again ?? reading;
  };
  return { ...reading, wider: next };
}

/** Returns a copy without the lines that have an unclosed quote, undefined if there are none. */
async function repair(
  { file, workDir, above, below }: CsvSource,
  dialect: Dialect,
): Promise<Repaired | undefined> {
  const whole = await unpacked(file, workDir);
  const unclosed = await unclosedLines(whole, await bytesOfLines(whole, dialect.skip), quotingOf(dialect));
  if (unclosed.length === 0) return undefined;
  const copy = path.join(workDir, `${crypto.randomUUID()}.csv`);
  await copyWith(whole, copy, unclosed, () => Buffer.alloc(0));
  return { file: copy, workDir, whole: { file: whole, unclosed }, ...present({ above, below }) };
}

/** Returns the length of the first lines in bytes: quotes in lines above a table do not belong to it. */
async function bytesOfLines(file: string, lines: number): Promise<number> {
  const start = lines === 0 ? Buffer.alloc(0) : await firstBytes(file);
  let end = 0;
  for (let line = 0; line < lines; line++) end = start.indexOf('\n', end) + 1 || start.length;
  return end;
}

function quotingOf({ delimiter, escaping }: Dialect) {
  return { delimiter, quote: usualQuote, escaping: escaping || usualQuote };
}

/**
 * Returns a dialect with as many columns as the first line has names, if few sampled lines have more values, or only a trailing delimiter.
 */
async function ofNames(
  connection: Connection,
  file: string,
  dialect: Dialect,
  { header }: CsvOptions,
): Promise<Dialect> {
  const { columns, failure, sampled } = dialect;
  if (failure !== undefined || columns < 2 || header === false) return dialect;
  const first = `SELECT *, row_number() OVER () AS n FROM (SELECT * FROM ${csvReader(file, dialect)(false, 'first')} LIMIT ${sampled})`;
  const last = `list_position(list_reverse(list_transform([${places(columns)}], lambda t: t IS NOT NULL)), true)`;
  const width = `${columns + 1} - coalesce(nullif(${last}, 0), ${columns + 1})`;
  const [row = []] = await connection.run(
    `SELECT max(w) FILTER (n = 1), count(*) FILTER (w > names), count(*) FROM (SELECT *, max(w) FILTER (n = 1) OVER () AS names FROM (SELECT n, ${width} AS w FROM (${first})))`,
  );
  const [named, longer, rows] = row.map(Number);
  const isRare = Number(longer) > 0 ? Number(longer) * 10 <= Number(rows) : columns === Number(named) + 1;
  return isRare && Number(named) > 1 ? { ...dialect, columns: Number(named) } : dialect;
}

function places(columns: number): string {
  return Array.from({ length: columns }, (_, index) => `t${index}`).join(', ');
}

/** Returns a copy in which malformed lines become values of an additional last column. */
async function withOddLines(
  connection: Connection,
  { file, workDir, whole }: CsvSource,
  dialect: Dialect,
  header: boolean,
): Promise<{ readonly file: string; readonly lines: number } | undefined> {
  const plain = await unpacked(file, workDir);
  const long = await refusedLines(connection, csvReader(plain, dialect)(header, 'careful'));
  const lines = whole === undefined ? long : withMissing(long, whole.unclosed);
  if (lines.length === 0 || lines.length > mostOddLines) return undefined;
  const target = path.join(workDir, `${crypto.randomUUID()}.csv`);
  const quote = dialect.quote || usualQuote;
  const escaping = dialect.escaping || quote;
  const special = new RegExp(`[${quote}${escaping}]`.replaceAll('\\', '\\\\'), 'g');
  const empty = dialect.delimiter.repeat(dialect.columns);
  const asValue = (line: Buffer) => {
    const [, before = '', text = '', after = ''] = /^([\r\n]*)(.*?)([\r\n]*)$/s.exec(line.toString()) ?? [];
    return Buffer.from(`${before}${empty}${quote}${text.replace(special, `${escaping}$&`)}${quote}${after}`);
  };
  await copyWith(whole?.file ?? plain, target, lines, asValue);
  return { file: target, lines: lines.length };
}

/** Maximum number of malformed lines that are kept. */
const mostOddLines = 100_000;

async function readWhole(
  connection: Connection,
  source: CsvSource,
  sniffed: Dialect,
  options: CsvOptions,
): Promise<Reading | undefined> {
  const { file } = source;
  const found = csvReader(file, sniffed);
  const rows = await rowsInSample(sniffed.begin);
  await keep(connection, 'sample', `SELECT * FROM ${found(false, 'first')} LIMIT ${rows + 1}`);
  const [line] = await connection.run('SELECT * FROM sample WHERE rowid = 0');
  if (!line) return noRows(connection, found(false, 'careful'));
  await checkBeginning(connection, file, sniffed, 'header');
  const cells = line.map(cell => String(cell ?? '').trim());
  const isNamed =
    options.header ?? (looksLikeHeader(withoutTail(cells)) || (await hasPeriodNames(connection, cells)));
  if (isNamed) await connection.run('DELETE FROM sample WHERE rowid = 0');
  const commented = isNamed || options.known ? undefined : namesInComment(sniffed.above.at(-1), cells.length);
  const hasRows = isNamed && options.known === undefined && (await hasRowNames(connection, line));
  const first = hasRows ? ['', ...cells.slice(0, -1)] : cells;
  const named = first.map((name, index) =>
    isNamed && name !== '' ? name : ((commented ?? options.known?.names)?.[index] ?? `column${index + 1}`),
  );
  const names = distinctNames(named.map(name => name.replaceAll('\0', '\ufffd')));
  if ((await connection.run('SELECT 1 FROM sample LIMIT 1')).length === 0)
    return noRows(connection, found(isNamed, 'careful'));
  await checkBeginning(connection, file, sniffed, 'lines');
  const units = isNamed ? await unitsBelow(connection, source, sniffed, names, options) : undefined;
  const { dialect = sniffed } = units ?? {};
  const header = isNamed && units === undefined;
  const reader = csvReader(file, dialect);
  // The response to a request has no notes to report a change of values.
  const isSpaced = options.spreadsheet === true && (await isSpacedAt(file, dialect));
  const notes = [
    ...headNotes(isNamed ? first : undefined, names, sniffed.above, commented, options),
    ...(isSpaced ? ['Spaces after the delimiters are not part of the values.'] : []),
    ...(units?.notes ?? []),
    ...(await endNotes(source, sniffed)),
  ];
  const fast = (await hasLineBreaks(connection, names.length)) ? 'ordered' : 'fast';
  const texts = {
    names,
    fast: reader(header, fast),
    careful: reader(header, 'careful'),
    refused: () => countRefused(connection, reader(header, 'careful')),
    notes,
    // With comma as the delimiter, one within a value more likely groups digits.
    commas: options.spreadsheet === true && dialect.delimiter !== ',',
    isSpaced,
  };
  const withOdd = async (): Promise<Texts | undefined> => {
    const copy = await withOddLines(connection, source, dialect, header);
    if (copy === undefined) return undefined;
    await connection.run(`ALTER TABLE sample ADD COLUMN IF NOT EXISTS t${names.length} VARCHAR`);
    const wider = csvReader(copy.file, { ...dialect, columns: dialect.columns + 1 });
    const all = distinctNames([...names, 'line']);
    const note = `An unclosed quote or too many values in ${plural(copy.lines, 'line')}: \`${all.at(-1)}\` has each whole line.`;
    return {
      ...texts,
      names: all,
      fast: wider(header, fast),
      careful: wider(header, 'careful'),
      refused: () => countRefused(connection, wider(header, 'careful')),
      notes: [...notes, note],
      carries: true,
    };
  };
  const odd = source.whole === undefined ? undefined : await withOdd();
  return readTexts(connection, odd ?? { ...texts, withOdd });
}

/**
 * Fails like the fast reader if the header, or any of the first lines, is not UTF-8: the sample omits such lines, and the reader skips the
 * header.
 */
async function checkBeginning(
  connection: Connection,
  file: string,
  { begin, limits, skip }: Dialect,
  which: 'header' | 'lines',
): Promise<void> {
  const start = plain(await firstBytes(file));
  const lines = start.toString('latin1').split('\n').slice(0, -1);
  const checked = which === 'header' ? lines.slice(skip, skip + 1) : lines;
  if (checked.length > 0 && isUtf8(Buffer.from(checked.join('\n'), 'latin1'))) return;
  await connection.run(`SELECT l FROM ${lineReader(begin, 'first', limits)} LIMIT 1`);
}

/**
 * Detects units of columns in the line below the names, see {@link areUnits}, or a line of dashes; returns how to read the lines below it.
 */
async function unitsBelow(
  connection: Connection,
  { file }: CsvSource,
  dialect: Dialect,
  names: readonly string[],
  { spreadsheet = false }: CsvOptions,
): Promise<{ readonly dialect: Dialect; readonly notes: readonly string[] } | undefined> {
  const found = await connection.run(`SELECT * FROM sample WHERE rowid <= ${mostCompared}`);
  const [units = [], ...rows] = found.map(row => row.map(cell => valueIn(String(cell ?? ''))));
  const isRule = spreadsheet && areDashes(found[0]?.map(String) ?? []);
  if (!isRule && !areUnits(units, rows)) return undefined;
  const below = { ...dialect, skip: dialect.skip + 2 };
  const [begin = []] = await connection.run(
    `SELECT * FROM ${csvReader(file, below)(false, 'first')} LIMIT 1`,
  );
  if (begin.some((cell, index) => cell !== found[1]?.[index])) return undefined;
  await connection.run('DELETE FROM sample WHERE rowid = 1');
  if (isRule) return { dialect: below, notes: ['Skipped the line of dashes below the names.'] };
  const shown = names.flatMap((name, index) => (units[index] ? [`\`${name}\` ${units[index]}`] : []));
  const more = shown.length > mostNamed ? ', …' : '';
  return {
    dialect: below,
    notes: [`Skipped the line of units below the names: ${shown.slice(0, mostNamed).join(', ')}${more}.`],
  };
}

/** Number of rows compared with the line below the names. */
const mostCompared = 100;

/** Returns a trimmed cell, empty if it is a word for a missing value. */
function valueIn(cell: string): string {
  const text = cell.trim();
  return emptyWords.includes(text) ? '' : text;
}

/** Reports the lines above the names that are not rows. */
function aboveNotes(lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, mostLinesShown).map(line => JSON.stringify(oneLine(line, longestShown)));
  const more = lines.length > mostLinesShown ? ', …' : '';
  return [`Skipped ${plural(lines.length, 'line')} above the table: ${shown.join(', ')}${more}.`];
}

/** Maximum number of lines in a message, and of characters of each. */
const mostLinesShown = 3;
const longestShown = 80;

/** Whether sampled values have line breaks: a reader that starts within a value takes its lines for rows. */
async function hasLineBreaks(connection: Connection, columns: number): Promise<boolean> {
  const rows = await connection.run(
    `SELECT 1 FROM sample WHERE contains(concat(${places(columns)}), chr(10)) LIMIT 1`,
  );
  return rows.length > 0;
}

/** Drops trailing columns that only longer lines have, keeping at least two names or all cells. */
function withoutTail(cells: readonly string[]): readonly string[] {
  const width = cells.findLastIndex(cell => cell !== '') + 1;
  return width < 2 ? cells : cells.slice(0, width);
}

/** Whether the first line is a header in which some names are years or dates: most values below those are neither. */
async function hasPeriodNames(connection: Connection, first: readonly string[]): Promise<boolean> {
  const periods = periodsAmongNames(first);
  if (periods.length === 0) return false;
  const shares = periods.map(
    index => `avg(regexp_full_match(trim(t${index}), ${sqlText(periodPattern)})::INTEGER)`,
  );
  const [row = []] = await connection.run(`SELECT ${shares.join(', ')} FROM sample WHERE rowid > 0`);
  return row.every(share => share !== null && Number(share) < 0.5);
}

/** Whether a space follows each delimiter at the beginning of the table. */
async function isSpacedAt(file: string, { delimiter, skip }: Dialect): Promise<boolean> {
  return spacesFollow((await linesAtStart(file)).slice(skip), delimiter);
}

/**
 * Whether the header lacks a name for a first column of row names, as R writes it: every line has one more value than the header, and the
 * names are distinct.
 */
async function hasRowNames(connection: Connection, line: readonly DuckDBValue[]): Promise<boolean> {
  const last = line.length - 1;
  if (last < 1 || line.indexOf(null) !== last) return false;
  const [row = []] = await connection.run(
    `SELECT count(DISTINCT t0) = count(*) AND count(t${last}) = count(*) FROM sample`,
  );
  return row[0] === true;
}

/** Reports the kind of the table, lines above it that are not rows, and its names; see {@link nameNotes}. */
function headNotes(
  first: readonly string[] | undefined,
  names: readonly string[],
  above: readonly string[],
  commented: readonly string[] | undefined,
  options: CsvOptions,
): readonly string[] {
  const own = commented
    ? ['The field names come from the comment above the table.']
    : nameNotes(first, names, options);
  return [...aboveNotes(above), ...own];
}

/** Reports fields whose names differ from the first line; `first` has its cells if it is a header. */
function nameNotes(
  first: readonly string[] | undefined,
  names: readonly string[],
  { known }: CsvOptions,
): string[] {
  if (known !== undefined) return [`The lines are read as ${known.label}.`];
  if (first === undefined)
    return ['The first line does not look like a header: the fields are named column1, column2, ….'];
  const unnamed = names.filter((_, index) => first[index] === '').map(name => `\`${name}\``);
  const shown = `${unnamed.slice(0, mostNamed).join(', ')}${unnamed.length > mostNamed ? ', …' : ''}`;
  return [
    ...(unnamed.length === 0
      ? []
      : [`The first line has no name for ${plural(unnamed.length, 'column')}: ${shown}.`]),
    ...renamedNotes(first, names),
  ];
}

/** Maximum number of columns named in a message. */
const mostNamed = 10;

/** Returns undefined for a file without rows; throws LocalError if it has some but none can be read. */
async function noRows(connection: Connection, source: string): Promise<undefined> {
  const refused = await countRefused(connection, source);
  if (refused === 0) return undefined;
  throw new LocalError(
    'invalid',
    'unreadable',
    `None of the ${plural(refused, 'line')} can be read as CSV.`,
    {
      hint: 'Lines that are not UTF-8 or have too many values are skipped. Set another encoding, such as gb18030, with `--encoding`.',
    },
  );
}

function neverClosed(lines: readonly Line[]): never {
  const [of, hint] = [
    plural(lines.length, 'line'),
    'Close the quote, or import the file with `--format text`.',
  ];
  throw new LocalError(
    'invalid',
    'unreadable',
    `None of the ${of} can be read as CSV: each has an unclosed quote.`,
    { hint },
  );
}

/**
 * `careful` reads lines that `fast` rejects: long ones, lines with too many values, line breaks in quotes beside short lines. `first` does
 * so for lines at the beginning of the file. `ordered` is `fast` from beginning to end.
 */
type CsvMode = 'fast' | 'ordered' | 'careful' | 'first';

/** How to sample the first lines of a file. */
interface Beginning {
  /** The file itself, or an uncompressed copy of its beginning. */
  readonly begin: string;
  /** Reader options for these lines. */
  readonly limits: string;
}

interface Dialect extends Beginning {
  readonly delimiter: string;
  /** Quote guessed by the engine from the beginning of the file; empty if none was found. */
  readonly quote: string;
  readonly escaping: string;
  readonly skip: number;
  /** Nonblank lines above the header that do not belong to the table. */
  readonly above: readonly string[];
  readonly columns: number;
  /** Number of rows sampled. */
  readonly sampled: number;
  /** Error if the engine could not detect the dialect; the remaining members are then guesses. */
  readonly failure?: unknown;
}

const usualQuote = '"';

/** The engine would turn a directory such as `day=2026-11-01` above a file into a column. */
const ownColumns = 'hive_partitioning = false';

interface SniffOptions extends Beginning {
  readonly delimiter?: string;
  readonly quote?: string;
  /** Number of lines at the beginning that do not belong to the table. */
  readonly skip: number;
}

async function sniff(
  connection: Connection,
  file: string,
  { delimiter, quote: known, begin, limits, skip: skipped }: SniffOptions,
): Promise<Dialect> {
  const sampled = await rowsInSample(begin);
  const given = Object.entries(present({ delim: delimiter, quote: known, escape: known }))
    .map(([name, value]) => `, ${name} = ${sqlText(value)}`)
    .join('');
  const sniffed = `sniff_csv(${sqlText(begin)}, comment = '', all_varchar = true, header = false, sample_size = ${sampled}, ${limits}, null_padding = true, ignore_errors = true, ${ownColumns}${given}${skipped > 0 ? `, skip = ${skipped}` : ''})`;
  try {
    const [row] = await connection.run(
      `SELECT "Delimiter", "Quote", "Escape", "SkipRows", len("Columns") FROM ${sniffed}`,
    );
    const [delim, quote, escaping, skip, columns] = row ?? [];
    return {
      delimiter: dialectText(delim) || ',',
      quote: dialectText(quote),
      escaping: dialectText(escaping),
      // A blank line would be taken for the header.
      skip: Number(skip) || skipped || (await blankLines(file)),
      above: [],
      columns: Number(columns),
      sampled,
      begin,
      limits,
    };
  } catch (failure) {
    const [row] = await connection.run(`SELECT l FROM ${lineReader(begin, 'first', limits)} LIMIT 1`);
    return {
      delimiter: delimiter ?? likeliest(String(row?.[0] ?? '')),
      quote: '',
      escaping: '',
      skip: skipped,
      above: [],
      columns: 0,
      sampled,
      begin,
      limits,
      failure,
    };
  }
}

/** Returns the most frequent candidate delimiter in a line. */
function likeliest(line: string): string {
  const counts = csvDelimiters.map(each => [each, line.split(each).length] as const);
  return counts.reduce((most, each) => (each[1] > most[1] ? each : most))[0];
}

function dialectText(found: unknown): string {
  return typeof found === 'string' && found !== '(empty)' ? found : '';
}

/** Returns the reader of a file, with all columns as strings t0..tn, with or without a header. */
function csvReader(file: string, dialect: Dialect): (header: boolean, mode: CsvMode) => string {
  // A column without quotes in the sample may have some further down.
  const quote = dialect.quote || usualQuote;
  const words = `delim = ${sqlText(dialect.delimiter)}, quote = ${sqlText(quote)}, escape = ${sqlText(dialect.escaping || quote)}, skip = ${dialect.skip}`;
  const columns = Array.from({ length: dialect.columns }, (_, index) => `'t${index}': 'VARCHAR'`).join(', ');
  const more = {
    fast: '',
    ordered: ', parallel = false',
    careful: `, ${longLines}, parallel = false, store_rejects = true`,
    first: `, ${dialect.limits}, parallel = false, store_rejects = true`,
  };
  return (header, mode) =>
    `read_csv(${sqlText(mode === 'first' ? dialect.begin : file)}, auto_detect = false, header = ${header}, ${words}, null_padding = true, ${ownColumns}, columns = {${columns}}${more[mode]})`;
}
