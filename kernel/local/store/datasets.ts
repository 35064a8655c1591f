import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DatasetInfo } from '../../api/wire.js';
import type { TypeName } from '../../apl/catalog/entry.js';
import { rfc3339 } from '../engine/columns.js';
import { type Engine, sqlName, sqlText } from '../engine/duckdb.js';
import { type Block, type FileField, type FileSummary, readFooters } from '../engine/parquet.js';
import type { ExaminedBlocks, MeasuredCatalog } from '../engine/scans.js';
import { ServiceError } from '../http/service-error.js';
import type { BuiltinDataset, DatasetField, DatasetSchema, ScanFilter } from '../sql/compiled.js';

/** The datasets as they were at one moment; queries of one request all see the same. */
export interface Snapshot extends MeasuredCatalog {
  info(name: string): DatasetInfo | undefined;
}

/** What may be said about a dataset beside its rows. */
export interface DatasetNote {
  readonly description?: string;
  readonly created?: string;
  readonly fields?: Readonly<Record<string, FieldNote>>;
}

/** What may be said about a field. */
export type FieldNote = Pick<DatasetField, 'unit' | 'description' | 'hidden'>;

/**
 * The datasets under `<dataDir>/datasets`: a directory each, holding Parquet files that are never changed once they are
 * there, and `dataset.json`. Nothing is locked: a file appears by being renamed into place.
 */
export class DatasetStore {
  readonly #root: string;
  readonly #engine: Engine;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;
  readonly #footers = new Map<string, { readonly version: string; readonly summary: FileSummary }>();

  constructor(dataDir: string, engine: Engine, builtins: readonly BuiltinDataset[] = []) {
    this.#root = path.join(dataDir, 'datasets');
    this.#engine = engine;
    this.#builtins = new Map(builtins.map(each => [each.schema.name, each]));
  }

  /** Reads which files there are now; a footer that was read before is not read again. */
  async snapshot(): Promise<Snapshot> {
    const stored = new Map<string, StoredDataset>();
    for (const name of await this.#names()) stored.set(name, await this.#load(name));
    return new FrozenCatalog(stored, this.#builtins);
  }

  /** Makes an empty dataset; 409 when there is one of that name. */
  async create(name: string, description: string): Promise<DatasetInfo> {
    this.#checkName(name);
    if ((await this.snapshot()).schema(name)) {
      throw new ServiceError(409, 'exists', `There already is a dataset \`${name}\`.`);
    }
    await this.annotate(name, { description, created: new Date().toISOString() });
    return infoOf(name, { description });
  }

  /** Deletes a dataset and its files; 404 when there is none, 403 for one that comes with the service. */
  async remove(name: string): Promise<void> {
    if (this.#builtins.has(name)) {
      throw new ServiceError(403, 'forbidden', `\`${name}\` comes with the service and cannot be deleted.`);
    }
    if (!(await this.#names()).includes(name)) throw unknownDataset(name);
    const doomed = path.join(this.#root, `.deleted-${crypto.randomUUID()}`);
    await rename(this.#directory(name), doomed);
    await rm(doomed, { recursive: true, force: true });
  }

  /** Moves a finished Parquet file into a dataset, which is made when there is none; with `replace` it is the only one then. */
  async publish(name: string, file: string, replace = false): Promise<void> {
    this.#checkName(name);
    if (!(await this.#names()).includes(name))
      await this.annotate(name, { created: new Date().toISOString() });
    const directory = this.#directory(name);
    const old = replace ? (await readdir(directory)).filter(entry => entry.endsWith('.parquet')) : [];
    await rename(file, path.join(directory, `${Date.now()}-${crypto.randomUUID()}.parquet`));
    for (const each of old) await rm(path.join(directory, each), { force: true });
  }

  /** Replaces what is said about a dataset, keeping what `note` does not mention. */
  async annotate(name: string, note: DatasetNote): Promise<void> {
    const directory = this.#directory(name);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const merged = { ...(await readNote(directory)), ...note };
    await replaceFile(path.join(directory, noteFile), `${JSON.stringify(merged, null, 2)}\n`);
  }

  /** Replaces what is said about one field, keeping what `note` does not mention; 404 when there is no such field. */
  async annotateField(name: string, field: string, note: FieldNote): Promise<DatasetField> {
    const known = (await this.snapshot()).schema(name)?.fields.find(each => each.name === field);
    if (!known || this.#builtins.has(name)) {
      throw new ServiceError(
        404,
        'field_not_found',
        `There is no field \`${field}\` to describe in \`${name}\`.`,
      );
    }
    const { fields } = await readNote(this.#directory(name));
    const changed = { ...fields?.[field], ...note };
    await this.annotate(name, { fields: { ...fields, [field]: changed } });
    return { ...known, ...changed };
  }

  /** Refuses names that cannot be a dataset's. */
  #checkName(name: string): void {
    if (this.#builtins.has(name)) {
      throw new ServiceError(409, 'exists', `\`${name}\` comes with the service.`, {
        hint: 'Choose another name.',
      });
    }
    if (name.length === 0 || name.length > 128 || hasControls(name)) {
      throw new ServiceError(
        400,
        'invalid_name',
        'A dataset name has 1 to 128 characters, none of them invisible.',
      );
    }
  }

  async #names(): Promise<string[]> {
    const entries = await readdir(this.#root, { withFileTypes: true }).catch(emptyWhenMissing);
    return entries.flatMap(entry => (entry.isDirectory() ? (decodeName(entry.name) ?? []) : []));
  }

  #directory(name: string): string {
    return path.join(this.#root, encodeName(name));
  }

  async #load(name: string): Promise<StoredDataset> {
    const directory = this.#directory(name);
    const versions = await fileVersions(directory);
    const unread = [...versions].filter(([file, version]) => this.#footers.get(file)?.version !== version);
    const summaries = await readFooters(
      this.#engine,
      unread.map(([file]) => file),
    );
    for (const summary of summaries) {
      this.#footers.set(summary.path, { version: versions.get(summary.path) ?? '', summary });
    }
    const files = [...versions.keys()].flatMap(file => this.#footers.get(file)?.summary ?? []);
    return new StoredDataset(name, files, await readNote(directory));
  }
}

/** A dataset name that is not known, with what to do. */
export function unknownDataset(name: string): ServiceError {
  return new ServiceError(404, 'dataset_not_found', `There is no dataset \`${name}\`.`, {
    hint: '`%datasets` lists those there are.',
  });
}

/** Writes a file so that a reader sees the old text or the new, never a part. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}

const noteFile = 'dataset.json';

const systemFields: readonly DatasetField[] = [
  { name: '_time', type: 'datetime' },
  { name: '_sysTime', type: 'datetime' },
];

class FrozenCatalog implements Snapshot {
  readonly #stored: ReadonlyMap<string, StoredDataset>;
  readonly #builtins: ReadonlyMap<string, BuiltinDataset>;

  constructor(stored: ReadonlyMap<string, StoredDataset>, builtins: ReadonlyMap<string, BuiltinDataset>) {
    this.#stored = stored;
    this.#builtins = builtins;
  }

  names(): string[] {
    return [...new Set([...this.#stored.keys(), ...this.#builtins.keys()])].sort();
  }

  schema(name: string): DatasetSchema | undefined {
    return this.#builtins.get(name)?.schema ?? this.#stored.get(name)?.schema;
  }

  scan(name: string, fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const source = this.#builtins.get(name) ?? this.#stored.get(name);
    if (!source) throw unknownDataset(name);
    return source.scan(fields, startNs, endNs, filter);
  }

  examined(name: string, startNs: bigint, endNs: bigint): ExaminedBlocks {
    const dataset = this.#builtins.has(name) ? undefined : this.#stored.get(name);
    return dataset?.examined(startNs, endNs) ?? { blocks: 0, rows: 0 };
  }

  info(name: string): DatasetInfo | undefined {
    const builtin = this.#builtins.get(name);
    if (builtin) return infoOf(name, { description: builtin.description });
    const stored = this.#stored.get(name);
    return stored && { ...infoOf(name, stored.note), ...stored.extent };
  }
}

class StoredDataset {
  readonly schema: DatasetSchema;
  readonly note: DatasetNote;
  readonly #files: readonly FileSummary[];
  readonly #types: ReadonlyMap<string, TypeName>;

  constructor(name: string, files: readonly FileSummary[], note: DatasetNote) {
    this.note = note;
    this.#files = files.filter(file => file.blocks.length > 0);
    this.#types = mergedTypes(this.#files);
    const fields = [...this.#types].map(([field, type]) => ({ name: field, type, ...note.fields?.[field] }));
    this.schema = { name, fields, open: false };
  }

  /** The rows there are, and the times of the first and the last. */
  get extent(): Pick<DatasetInfo, 'rows' | 'firstTime' | 'lastTime'> {
    const { rows, minNs, maxNs } = this.examined(-(1n << 63n), 1n << 63n);
    if (minNs === undefined || maxNs === undefined) return { rows };
    return { rows, firstTime: rfc3339(minNs), lastTime: rfc3339(maxNs) };
  }

  scan(fields: readonly string[], startNs: bigint, endNs: bigint, filter?: ScanFilter): string {
    const files = this.#files.filter(file => file.blocks.some(block => overlaps(block, startNs, endNs)));
    const selects = groupByShape(files).map(group => this.#select(group, fields, startNs, endNs, filter));
    return selects.length > 0 ? selects.join(' UNION ALL ') : this.#emptySelect(fields);
  }

  examined(startNs: bigint, endNs: bigint): ExaminedBlocks {
    const blocks = this.#files.flatMap(file => file.blocks).filter(block => overlaps(block, startNs, endNs));
    if (blocks.length === 0) return { blocks: 0, rows: 0 };
    return {
      blocks: blocks.length,
      rows: blocks.reduce((total, block) => total + block.rows, 0),
      minNs: blocks.map(block => block.minNs).reduce(earlier),
      maxNs: blocks.map(block => block.maxNs).reduce(later),
    };
  }

  #select(
    files: readonly FileSummary[],
    fields: readonly string[],
    startNs: bigint,
    endNs: bigint,
    filter: ScanFilter | undefined,
  ): string {
    const known = new Map(files[0]?.fields.map(field => [field.name, field]));
    const values = fields.map(name => columnSql(known.get(name), this.#types.get(name) ?? 'string'));
    const columns = values.map((value, index) => `${value} AS f${index}`);
    const list = files.map(file => sqlText(file.path)).join(', ');
    const where = windowSql(sqlName(known.get('_time')?.column ?? '_time'), startNs, endNs);
    const conditions = [...(where === '' ? [] : [where]), ...(filter === undefined ? [] : [filter(values)])];
    const only = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    return `SELECT ${selectList(columns)} FROM read_parquet([${list}])${only}`;
  }

  #emptySelect(fields: readonly string[]): string {
    const columns = fields.map(
      (name, index) => `NULL::${sqlType(this.#types.get(name) ?? 'string')} AS f${index}`,
    );
    return `SELECT ${selectList(columns)} WHERE false`;
  }
}

/** A query that only counts asks for no field; SQL wants one all the same. */
function selectList(columns: readonly string[]): string {
  return columns.length > 0 ? columns.join(', ') : '1 AS f0';
}

function overlaps(block: Block, startNs: bigint, endNs: bigint): boolean {
  return block.maxNs >= startNs && block.minNs < endNs;
}

function earlier(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function later(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

/** Files read together must have the same columns of the same types. */
function groupByShape(files: readonly FileSummary[]): FileSummary[][] {
  const groups = new Map<string, FileSummary[]>();
  for (const file of files) {
    const shape = JSON.stringify(
      file.fields.map(({ name, type, column, empty }) => [name, type, column, empty]),
    );
    const group = groups.get(shape);
    if (group) group.push(file);
    else groups.set(shape, [file]);
  }
  return [...groups.values()];
}

function mergedTypes(files: readonly FileSummary[]): Map<string, TypeName> {
  const seen = new Map<string, FileField[]>(systemFields.map(field => [field.name, []]));
  for (const field of files.flatMap(file => file.fields)) {
    const known = seen.get(field.name);
    if (known) known.push(field);
    else seen.set(field.name, [field]);
  }
  return new Map([...seen].map(([name, fields]) => [name, isSystem(name) ? 'datetime' : mergeTypes(fields)]));
}

/** Integers become reals only where a real holds all of them exactly; what does not fit together is dynamic. */
function mergeTypes(fields: readonly FileField[]): TypeName {
  const telling = fields.filter(field => !field.empty);
  const types = new Set(telling.map(field => field.type));
  const [only] = types;
  if (types.size <= 1) return only ?? 'string';
  const numbers = types.size === 2 && types.has('long') && types.has('real');
  return numbers && !telling.some(field => field.wide) ? 'real' : 'dynamic';
}

function isSystem(name: string): boolean {
  return systemFields.some(field => field.name === name);
}

function columnSql(field: FileField | undefined, wanted: TypeName): string {
  if (!field || field.empty) return `NULL::${sqlType(wanted)}`;
  const column = sqlName(field.column);
  if (wanted === 'dynamic' && field.type === 'datetime') {
    return `to_json(replace(${column}::TIMESTAMP_NS::VARCHAR, ' ', 'T') || 'Z')::VARCHAR`;
  }
  if (wanted === 'dynamic' && field.type !== 'dynamic') return `to_json(${column})::VARCHAR`;
  return `${column}::${sqlType(wanted)}`;
}

/** Dynamic values are JSON text throughout. */
function sqlType(type: TypeName): string {
  return sqlTypes[type];
}

const sqlTypes: Readonly<Record<TypeName, string>> = {
  bool: 'BOOLEAN',
  long: 'BIGINT',
  real: 'DOUBLE',
  string: 'VARCHAR',
  datetime: 'TIMESTAMP_NS',
  timespan: 'BIGINT',
  dynamic: 'VARCHAR',
};

/** The whole days that TIMESTAMP_NS spans: the engine fails on texts of times in the days that it has in part. */
const earliestNs = -9_223_286_400_000_000_000n;
const latestNs = 9_223_286_400_000_000_000n;

function windowSql(time: string, startNs: bigint, endNs: bigint): string {
  const bounds = [
    ...(startNs > earliestNs
      ? [`${time} >= make_timestamp_ns(${startNs < latestNs ? startNs : latestNs})`]
      : []),
    ...(endNs < latestNs ? [`${time} < make_timestamp_ns(${endNs > earliestNs ? endNs : earliestNs})`] : []),
  ];
  return bounds.join(' AND ');
}

function infoOf(name: string, note: DatasetNote): DatasetInfo {
  return {
    id: name,
    name,
    description: note.description ?? '',
    ...(note.created !== undefined && { created: note.created }),
    who: 'local',
    kind: 'axiom:events:v1',
  };
}

async function fileVersions(directory: string): Promise<Map<string, string>> {
  const entries = await readdir(directory).catch(emptyWhenMissing);
  const files = entries.filter(entry => entry.endsWith('.parquet') && !entry.startsWith('.')).sort();
  const versions = new Map<string, string>();
  for (const name of files) {
    const file = path.join(directory, name);
    const found = await stat(file, { bigint: true });
    versions.set(file, `${found.size}-${found.mtimeNs}`);
  }
  return versions;
}

async function readNote(directory: string): Promise<DatasetNote> {
  try {
    const note: unknown = JSON.parse(await readFile(path.join(directory, noteFile), 'utf8'));
    return typeof note === 'object' && note !== null ? (note as DatasetNote) : {};
  } catch {
    // What is said about a dataset is no reason to refuse its rows.
    return {};
  }
}

/** A directory name on any system: `%` escapes, and no leading dot. */
function encodeName(name: string): string {
  const escaped = encodeURIComponent(name).replace(/[*'()!~]/g, escapeCharacter);
  return escaped.startsWith('.') ? `%2E${escaped.slice(1)}` : escaped;
}

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Directories that no dataset name leads to are not datasets. */
function decodeName(directory: string): string | undefined {
  try {
    const name = decodeURIComponent(directory);
    return encodeName(name) === directory ? name : undefined;
  } catch {
    return undefined;
  }
}

function hasControls(name: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Cs}]/u.test(name);
}

function emptyWhenMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
