import { DataType, type RecordBatch, type Schema, Table, tableToIPC } from 'apache-arrow';
import { spreadsheetText } from '../../text.js';
import { rangeOfRows, takeRows } from '../take.js';
import { delimited, jsonLines, jsonList, markdown, unspeakable } from './export-lines.js';
import { parquet } from './export-parquet.js';

/** A part of a file, and the number of complete rows up to its end. */
export interface ExportPart {
  readonly part: string | Uint8Array;
  readonly rows: number;
}

/** A file format for tables. */
export interface ExportFormat {
  /** File extensions, without the dot. */
  readonly endings: readonly string[];
  readonly parts: (table: Table) => Iterable<ExportPart>;
  /** Data that the file cannot hold; undefined if it holds everything. */
  readonly loss?: (table: Table) => string | undefined;
  /** Python code that reads a file, given its path as a Python literal and the fields; absent for formats that programs do not read. */
  readonly pandas?: (path: string, schema: Schema) => string;
  readonly polars?: (path: string, schema: Schema) => string;
}

/** Every format that a table can be exported in. */
export const exportFormats: readonly ExportFormat[] = [
  {
    endings: ['csv'],
    parts: table => delimited(table, ','),
    pandas: (path, schema) => `pd.read_csv(${path}${pandasTypes(schema)})`,
    polars: (path, schema) => `pl.read_csv(${path}, schema=${polarsSchema(schema, csvTypes)})`,
  },
  {
    endings: ['tsv'],
    parts: table => delimited(table, '\t'),
    pandas: (path, schema) => `pd.read_csv(${path}, sep="\\t"${pandasTypes(schema)})`,
    polars: (path, schema) =>
      `pl.read_csv(${path}, separator="\\t", schema=${polarsSchema(schema, csvTypes)})`,
  },
  {
    endings: ['ndjson', 'jsonl'],
    parts: jsonLines,
    loss: notInJson,
    pandas: path => `pd.DataFrame(map(json.loads, open(${path}, encoding="utf-8")), dtype=object)`,
    polars: (path, schema) => `pl.read_ndjson(${path}, schema=${polarsSchema(schema, jsonTypes)})`,
  },
  {
    endings: ['json'],
    parts: jsonList,
    loss: notInJson,
    pandas: path => `pd.DataFrame(json.load(open(${path}, encoding="utf-8")), dtype=object)`,
    polars: path => `pl.read_json(${path}, infer_schema_length=None)`,
  },
  {
    endings: ['parquet'],
    parts: parquet,
    pandas: path => `pd.read_parquet(${path}, dtype_backend="pyarrow")`,
    polars: path => `pl.read_parquet(${path})`,
  },
  {
    endings: ['arrow', 'feather'],
    parts: arrowFile,
    pandas: path => `pd.read_feather(${path}, dtype_backend="pyarrow")`,
    polars: path => `pl.read_ipc(${path})`,
  },
  { endings: ['md', 'markdown'], parts: markdown },
];

function notInJson(table: Table): string | undefined {
  const count = unspeakable(table);
  if (count === 0) return undefined;
  const what = count === 1 ? '1 number is' : `${count} numbers are`;
  return `${what} NaN or infinite: JSON cannot represent such numbers, so null is written instead.`;
}

/** Rows in one batch of an Arrow file. */
const batchRows = 65_536;

/** Writes an Arrow file with plain strings, as readers would turn dictionary-encoded ones into another type. */
function* arrowFile(table: Table): Generator<ExportPart> {
  const places = [...table.schema.fields.keys()];
  const batches: RecordBatch[] = [];
  let from = 0;
  do {
    const rows = rangeOfRows(from, Math.min(batchRows, table.numRows - from));
    batches.push(...takeRows(table, places, rows, { plain: true }).batches);
    from += batchRows;
  } while (from < table.numRows);
  yield { part: tableToIPC(new Table(batches), 'file'), rows: table.numRows };
}

/**
 * Returns the types of the columns, so that pandas guesses nothing: a string of digits stays a string, an integer beside a null an
 * integer.
 */
function pandasTypes({ fields }: Schema): string {
  const times = fields.filter(({ type }) => DataType.isTimestamp(type)).map(({ name }) => written(name));
  const others = fields.filter(({ type }) => !DataType.isTimestamp(type));
  const types = others.map(({ name, type }) => `${written(name)}: "${typeIn(pandasNames, type)}"`);
  const parsed = times.length === 0 ? '' : `, parse_dates=[${times.join(', ')}], date_format="ISO8601"`;
  const missing = fields.map(
    ({ name, type }) => `${written(name)}: [""${DataType.isFloat(type) ? ', "NaN"' : ''}]`,
  );
  return `, dtype={${types.join(', ')}}${parsed}, keep_default_na=False, na_values={${missing.join(', ')}}`;
}

function polarsSchema({ fields }: Schema, names: TypeNames): string {
  const isText = names === csvTypes;
  const types = fields.map(
    ({ name, type }) => `${isText ? written(name) : JSON.stringify(name)}: ${typeIn(names, type)}`,
  );
  return `{${types.join(', ')}}`;
}

/** Returns a column's name as written in the header, as a Python literal. */
function written(name: string): string {
  return JSON.stringify(spreadsheetText(name));
}

/** Python names of types: booleans, integers, floating-point numbers, times, durations, and strings. */
type TypeNames = readonly [string, string, string, string, string, string];

const pandasNames: TypeNames = ['boolean', 'Int64', 'float64', '', 'Int64', 'string'];
const csvTypes: TypeNames = [
  'pl.Boolean',
  'pl.Int64',
  'pl.Float64',
  'pl.Datetime("ns", "UTC")',
  'pl.Int64',
  'pl.String',
];
const jsonTypes: TypeNames = ['pl.Boolean', 'pl.Int64', 'pl.Float64', 'pl.String', 'pl.Int64', 'pl.String'];

function typeIn([bool, long, real, time, span, text]: TypeNames, type: DataType): string {
  if (DataType.isBool(type)) return bool;
  if (DataType.isInt(type)) return long;
  if (DataType.isFloat(type)) return real;
  if (DataType.isTimestamp(type)) return time;
  return DataType.isDuration(type) ? span : text;
}
