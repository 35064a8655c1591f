import { plural } from '../../../text.js';
import { sqlText } from '../../duckdb/literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { ServiceError } from '../../http/service-error.js';
import { distinctNames, keep, type Reading, sampleRows } from './reading.js';
import { countRefused, readTexts } from './texts.js';

/** How a CSV file is read; absent options are detected. */
export interface CsvOptions {
  readonly delimiter?: string;
  /** The first line names the fields. */
  readonly header?: boolean;
}

/** Reads a CSV file: each column as the narrowest type that loses nothing. */
export async function readCsv(
  connection: Connection,
  file: string,
  options: CsvOptions = {},
): Promise<Reading | undefined> {
  const reader = await csvReader(connection, file, options.delimiter);
  const [line] = await connection.run(`SELECT * FROM ${reader(false, 'careful')} LIMIT 1`);
  if (!line) return noRows(connection, reader(false, 'careful'));
  const first = line.map(cell => String(cell ?? '').trim());
  const header = options.header ?? looksLikeHeader(first);
  const named = first.map((name, index) => (header && name !== '' ? name : `column${index + 1}`));
  const names = distinctNames(named.map(name => name.replaceAll('\0', '\ufffd')));
  const notes = header
    ? []
    : ['The first line does not look like names: the fields are column1, column2, ….'];
  await keep(connection, 'sample', `SELECT * FROM ${reader(header, 'careful')} LIMIT ${sampleRows}`);
  if ((await connection.run('SELECT 1 FROM sample LIMIT 1')).length === 0)
    return noRows(connection, reader(header, 'careful'));
  return readTexts(connection, {
    names,
    fast: reader(header, 'fast'),
    careful: reader(header, 'careful'),
    refused: () => countRefused(connection, reader(header, 'careful')),
    notes,
  });
}

/** Undefined for a file without rows; throws ServiceError where there are some and none can be read. */
async function noRows(connection: Connection, source: string): Promise<undefined> {
  const refused = await countRefused(connection, source);
  if (refused === 0) return undefined;
  throw new ServiceError(400, 'unreadable', `None of ${plural(refused, 'line')} can be read as CSV.`, {
    hint: 'Lines that are not UTF-8, or have more values than there are fields, are left out.',
  });
}

/** `careful` reads lines that the other refuses: long ones, lines with too many values, line breaks in quotes beside short lines. */
type CsvMode = 'fast' | 'careful';

const largestLineBytes = 32 * 2 ** 20;

/** Returns the reader of a file, all columns as text t0..tn, with or without a first line of names. */
async function csvReader(
  connection: Connection,
  file: string,
  delimiter: string | undefined,
): Promise<(header: boolean, mode: CsvMode) => string> {
  const limits = `max_line_size = ${largestLineBytes}, buffer_size = ${2 * largestLineBytes}`;
  const given = delimiter === undefined ? '' : `, delim = ${sqlText(delimiter)}`;
  const [row] = await connection.run(
    `SELECT "Delimiter", "Quote", "Escape", "SkipRows", len("Columns")
     FROM sniff_csv(${sqlText(file)}, all_varchar = true, header = false, ${limits}, null_padding = true, ignore_errors = true${given})`,
  );
  const [delim, quote, escaped, skip, width] = row ?? [];
  // A column without quotes in the sample may have some further down.
  const quoted = dialectText(quote, '"');
  const dialect = `delim = ${sqlText(dialectText(delim, ','))}, quote = ${sqlText(quoted)}, escape = ${sqlText(dialectText(escaped, quoted))}, skip = ${Number(skip)}`;
  const columns = Array.from({ length: Number(width) }, (_, index) => `'t${index}': 'VARCHAR'`).join(', ');
  return (header, mode) =>
    `read_csv(${sqlText(file)}, auto_detect = false, header = ${header}, ${dialect}, null_padding = true, columns = {${columns}}${mode === 'fast' ? '' : `, ${limits}, parallel = false, store_rejects = true`})`;
}

function dialectText(found: unknown, otherwise: string): string {
  return typeof found === 'string' && found !== '' && found !== '(empty)' ? found : otherwise;
}

/** Most names are not empty, and none is a number or a time. */
export function looksLikeHeader(cells: readonly string[]): boolean {
  const names = cells.filter(cell => cell !== '');
  return (
    names.length * 2 > cells.length &&
    names.every(name => /\p{L}/u.test(name) && !/^\d{1,4}[-/:.]/.test(name))
  );
}
