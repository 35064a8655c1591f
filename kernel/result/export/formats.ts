import { DataType, type RecordBatch, type Schema, Table, tableToIPC } from 'apache-arrow';
import { rangeOfRows, takeRows } from '../take.js';
import { delimited, jsonLines, jsonList, markdown, unspeakable } from './lines.js';
import { parquet } from './parquet.js';

/** A part of a file, and the number of rows that are complete with it. */
export interface ExportPart {
  readonly part: string | Uint8Array;
  readonly rows: number;
}

/** A way to write a table to a file. */
export interface ExportFormat {
  /** Endings of file names, without the dot. */
  readonly endings: readonly string[];
  readonly parts: (table: Table) => Iterable<ExportPart>;
  /** What the file cannot hold; undefined when it holds everything. */
  readonly loss?: (table: Table) => string | undefined;
  /** Python that reads a file, given its path as a Python literal and the fields; absent for a format that is not for programs. */
  readonly pandas?: (path: string, schema: Schema) => string;
  readonly polars?: (path: string, schema: Schema) => string;
}

/** Every format that a table can be exported in. */
export const exportFormats: readonly ExportFormat[] = [
  {
    endings: ['csv'],
    parts: table => delimited(table, ','),
    pandas: (path, schema) => `pd.read_csv(${path}${pandasTypes(schema)})`,
    polars: (path, schema) => `pl.read_csv(${path}${polarsTypes(schema)})`,
  },
  {
    endings: ['tsv'],
    parts: table => delimited(table, '\t'),
    pandas: (path, schema) => `pd.read_csv(${path}, sep="\\t"${pandasTypes(schema)})`,
    polars: (path, schema) => `pl.read_csv(${path}, separator="\\t"${polarsTypes(schema)})`,
  },
  {
    endings: ['ndjson', 'jsonl'],
    parts: jsonLines,
    loss: notInJson,
    pandas: path => `pd.read_json(${path}, lines=True, dtype_backend="pyarrow")`,
    polars: path => `pl.read_ndjson(${path}, infer_schema_length=None)`,
  },
  {
    endings: ['json'],
    parts: jsonList,
    loss: notInJson,
    pandas: path => `pd.read_json(${path}, dtype_backend="pyarrow")`,
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
    polars: path => `pl.read_ipc(${path}, memory_map=False)`,
  },
  { endings: ['md', 'markdown'], parts: markdown },
];

function notInJson(table: Table): string | undefined {
  const count = unspeakable(table);
  if (count === 0) return undefined;
  const what = count === 1 ? '1 number is' : `${count} numbers are`;
  return `${what} NaN or infinite: JSON has no notation for them, and null stands in their place.`;
}

/** Rows in one batch of an Arrow file. */
const batchRows = 65_536;

/** Texts stand as they are, not as numbers of a dictionary, which readers turn into another type. */
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

/** Integers stay integers beside nulls; times and spans of time are those of pandas. */
function pandasTypes({ fields }: Schema): string {
  const times = fields.filter(({ type }) => DataType.isTimestamp(type)).map(({ name }) => name);
  const parsed = times.length === 0 ? '' : `, parse_dates=${JSON.stringify(times)}`;
  return `, dtype_backend="pyarrow"${parsed}, keep_default_na=False, na_values=[""]`;
}

function polarsTypes({ fields }: Schema): string {
  return fields.some(({ type }) => DataType.isTimestamp(type)) ? ', try_parse_dates=True' : '';
}
