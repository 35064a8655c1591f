import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TypeName } from '../../apl/catalog/entry.js';
import type { ExternalFile, ExternalFormat, Relation } from '../../apl/plan/plan.js';
import { convert } from '../duckdb/functions/conversion.js';
import { sqlTypes } from '../duckdb/types.js';
import { sqlText } from './duckdb.js';
import { EngineError } from './failure.js';

/** The largest file that `externaldata` reads. */
const mostBytes = 5 * 2 ** 20;

/**
 * Returns what tells which file an address of `externaldata` stands for: a path or a `file:` URL below
 * `<dataDir>/external`, and nothing else, neither the network nor a link out of that directory.
 */
export function externalFiles(dataDir: string): (address: string) => ExternalFile {
  const root = path.join(dataDir, 'external');
  return address => {
    const file = pathOf(address, root);
    if (typeof file !== 'string') return file;
    if (!file.startsWith(root + path.sep)) return refused(outside(file), whereTo);
    // The engine takes these characters for a pattern of names.
    if (/[*?[\]{}]/.test(file)) return refused('the name of the file holds one of * ? [ ] { }', 'Rename it.');
    return checked(root, file);
  };
}

/** Returns the SELECT of files read as text or JSON, with columns called c0, c1, … by their ids. */
export function externalSql(relation: Extract<Relation, { kind: 'external' }>): string {
  const selects = relation.files.map(file => fileSql(relation, file));
  const columns = relation.columns.map(column => `NULL::${sqlTypes[column.type]} AS c${column.id}`);
  return selects.length === 0 ? `SELECT ${columns.join(', ')} WHERE false` : selects.join(' UNION ALL ');
}

/**
 * Returns what to say of a failure to read a file of `externaldata`, with the line where it is known; undefined for any other
 * failure. The directory of the file and the engine's advice are left out.
 */
export function unreadableFile(error: unknown): string | undefined {
  if (!(error instanceof EngineError)) return undefined;
  const [, file] = /[\\/]external[\\/]([^"'\r\n]*?)["'\r\n]/.exec(`${error.detail}\n`) ?? [];
  if (file === undefined) return undefined;
  const [, unit, number] = /\b(line|record)(?:\/value)?:? (\d+)/i.exec(error.detail) ?? [];
  const place = unit === undefined ? 'it' : `${unit.toLowerCase()} ${number}`;
  return `\`${file}\` cannot be read: ${place} is malformed.`;
}

const whereTo = 'Put the file into `external` in the data directory and name it by its path there.';

function refused(problem: string, hint: string): ExternalFile {
  return { ok: false, problem, hint };
}

function outside(file: string): string {
  return `\`${path.basename(file)}\` is not below the directory \`external\``;
}

/** The absolute path that an address names. What follows the host of a URL may be secret, so it is not repeated. */
function pathOf(address: string, root: string): string | ExternalFile {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return path.resolve(root, address);
  if (scheme === 'file') {
    try {
      return fileURLToPath(address);
    } catch {
      return refused('the `file:` address names no file of this machine', whereTo);
    }
  }
  const host = URL.canParse(address) ? new URL(address).host : '';
  return refused(`\`${scheme}://${host}\` needs the network, which the local service does not use`, whereTo);
}

function checked(root: string, file: string): ExternalFile {
  try {
    const found = lstatSync(file);
    const real = path.join(realpathSync(root), path.relative(root, file));
    if (realpathSync(file) !== real)
      return refused(`\`${path.basename(file)}\` is a link or behind one`, whereTo);
    if (!found.isFile()) return refused(`\`${path.basename(file)}\` is not a file`, whereTo);
    if (found.size > mostBytes)
      return refused(tooLarge(file), 'Import it with `%import`, then query the dataset.');
    return { ok: true, path: real };
  } catch {
    return refused(
      `there is no file \`${path.relative(root, file)}\` in the directory \`external\``,
      whereTo,
    );
  }
}

function tooLarge(file: string): string {
  return `\`${path.basename(file)}\` is larger than 5 MiB, the most that \`externaldata\` reads`;
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
  // Rows that are too short end in nulls, and what is beyond the declared columns is not asked for.
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
  return convert({ sql, type: 'string' }, type);
}

/** A dotted name is a key of its own, or else a path. */
function fromJson(name: string, type: TypeName): string {
  const key = `/${escapePointer(name)}`;
  const nested = `/${name.split('.').map(escapePointer).join('/')}`;
  const own = `json_extract(line, ${sqlText(key)})`;
  const value = key === nested ? own : `coalesce(${own}, json_extract(line, ${sqlText(nested)}))`;
  return convert({ sql: value, type: 'dynamic' }, type);
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
