import type { TypeName } from '../../apl/catalog/entry.js';
import type { ExternalFormat, Relation } from '../../apl/plan/plan.js';
import { sqlArg } from '../sql/sql-template.js';
import { jsonPointer, sqlText } from './duckdb-literal.js';
import { sqlTypes } from './duckdb-types.js';
import { convert } from './functions/duckdb-conversion.js';

/** Maximum size of a file read by `externaldata`, in bytes. */
export const mostBytes = 5 * 2 ** 20;

/** Returns the SELECT of files read as text or JSON, with columns called c0, c1, … by their ids. */
export function externalSql(relation: Extract<Relation, { kind: 'external' }>): string {
  const selects = relation.files.map(file => fileSql(relation, file));
  const columns = relation.columns.map(column => `NULL::${sqlTypes[column.type]} AS c${column.id}`);
  return selects.length === 0 ? `SELECT ${columns.join(', ')} WHERE false` : selects.join(' UNION ALL ');
}

type External = Extract<Relation, { kind: 'external' }>;

const delimiters: Readonly<Partial<Record<ExternalFormat, string>>> = {
  csv: ',',
  tsv: '\t',
  psv: '|',
  scsv: ';',
};

function fileSql(relation: External, file: string): string {
  const { columns, format, skipFirst } = relation;
  const select = (source: string, cell: (index: number, type: TypeName) => string): string =>
    `SELECT ${columns.map((column, index) => `${cell(index, column.type)} AS c${column.id}`).join(', ')} FROM ${source}`;
  const first = (index: number, type: TypeName): string =>
    fromText(index === 0 ? 'line' : 'NULL::VARCHAR', type);
  switch (format) {
    case 'json':
      return select(skipping(jsonSource(file), skipFirst), (index, type) =>
        fromJson(columns[index]?.name ?? '', type),
      );
    case 'raw':
      return select(`(SELECT content AS line FROM read_text(${sqlText(file)}))`, first);
    case 'txt':
      return select(skipping(lineSource(file), skipFirst), first);
    default:
      return select(delimitedSource(relation, file), (index, type) => fromText(`t${index}`, type));
  }
}

function delimitedSource({ columns, format, skipFirst }: External, file: string): string {
  const names = columns.map((_, index) => `'t${index}': 'VARCHAR'`).join(', ');
  const dialect = `delim = ${sqlText(delimiters[format] ?? ',')}, quote = '"', escape = '"', header = false, skip = ${skipFirst ? 1 : 0}`;
  // Short rows are padded with nulls, and values beyond the declared columns are ignored.
  const lenient = 'null_padding = true, strict_mode = false, parallel = false';
  return `read_csv(${sqlText(file)}, auto_detect = false, ${dialect}, ${lenient}, columns = {${names}}, max_line_size = ${mostBytes})`;
}

function jsonSource(file: string): string {
  return `(SELECT json AS line FROM read_json_objects(${sqlText(file)}, format = 'auto', maximum_object_size = ${mostBytes}))`;
}

function lineSource(file: string): string {
  const text = `regexp_replace(content, '\\r?\\n$', '')`;
  return `(SELECT unnest(regexp_split_to_array(${text}, '\\r?\\n')) AS line FROM read_text(${sqlText(file)}) WHERE content <> '')`;
}

function skipping(source: string, skipFirst: boolean): string {
  return skipFirst ? `(SELECT * FROM ${source} OFFSET 1)` : source;
}

function fromText(sql: string, type: TypeName): string {
  if (type === 'dynamic') return `CASE WHEN json_valid(${sql}) THEN ${sql}::JSON ELSE to_json(${sql}) END`;
  return convert(sqlArg(sql, 'string'), type);
}

/** Reads a dotted name as a single key first, then as a path. */
function fromJson(name: string, type: TypeName): string {
  const path = name.split('.');
  const own = `json_extract(line, ${jsonPointer([name])})`;
  const value = path.length === 1 ? own : `coalesce(${own}, json_extract(line, ${jsonPointer(path)}))`;
  return convert(sqlArg(value, 'dynamic'), type);
}
