import type { DatasetInfo } from '../../../api/wire.js';
import type { TypeName } from '../../../apl/catalog/entry.js';
import type { DatasetSchema, FieldSchema } from '../../../apl/plan/plan.js';
import type { VirtualField } from '../../../apl/syntax/readers/virtual.js';
import { present } from '../../../present.js';
import { EARLIEST_TIME, formatTime, LATEST_TIME } from '../../../time.js';
import {
  jsonPointer,
  sqlName,
  sqlText,
  timeBound,
  zonedTimeBound,
  zonedType,
} from '../../duckdb/duckdb-literal.js';
import { sqlTypes, textListType } from '../../duckdb/duckdb-types.js';
import { anyTime, type FileField, type FileSummary } from '../../engine/engine-parquet.js';
import type { ExaminedBlocks } from '../../engine/scans.js';
import type { FieldBounds, RowGroup, ScanFilter } from '../../sql/compiled-query.js';
import { fieldStored, listedField } from '../../sql/rewrite/elements.js';
import { type Places, placeField } from '../../sql/rewrite/placed.js';
import { nanosecondsOf } from '../readers/parquet/parquet-values.js';

/** Metadata of a dataset, stored beside its rows. */
export interface DatasetNote extends DatasetSettings {
  /** Names of fields declared to be maps. */
  readonly mapFields?: readonly string[];
  /** By key, in order of creation. */
  readonly virtualFields?: Readonly<Record<string, VirtualFieldNote>>;
  readonly created?: string;
  /** Time of the last change of its settings. */
  readonly updated?: string;
  readonly fields?: Readonly<Record<string, FieldNote>>;
  /** Id that distinguishes it from published datasets with the same name. */
  readonly published?: string;
  /** Bucket that holds its rows, if they are not in its directory. */
  readonly bucket?: BucketNote;
}

/** Location of the rows of a dataset that is read in place. */
export interface BucketNote {
  /** Address such as `s3://bucket/prefix/`. */
  readonly address: string;
  /** Time column. */
  readonly time: string;
  /** Field lists of the objects, without duplicates. */
  readonly shapes: readonly (readonly FileField[])[];
  /** How far the events of an object may lie outside the times in its directory names, in hours; unlimited if undefined. */
  readonly slackHours?: number;
}

/** A field that is computed when the dataset is read. */
export interface VirtualFieldNote extends VirtualField {
  readonly description?: string;
  readonly type?: string;
  readonly unit?: string;
}

/** Dataset settings from a request. All but the description are only stored and returned: retention deletes nothing here. */
export interface DatasetSettings {
  readonly description?: string;
  readonly kind?: string;
  readonly useRetentionPeriod?: boolean;
  readonly retentionDays?: number;
  readonly edgeDeployment?: string;
  readonly region?: string;
}

/** Reads a note that may have been edited by hand: members of a wrong type are dropped. */
export function noteIn(value: unknown): DatasetNote {
  const { fields, ...members } = membersOf(value);
  const notes = Object.entries(membersOf(fields)).map(([name, note]) => [name, fieldNoteIn(note)] as const);
  return present({
    description: textIn(members.description),
    created: textIn(members.created),
    updated: textIn(members.updated),
    kind: textIn(members.kind),
    useRetentionPeriod: flagIn(members.useRetentionPeriod),
    retentionDays: typeof members.retentionDays === 'number' ? members.retentionDays : undefined,
    edgeDeployment: textIn(members.edgeDeployment),
    region: textIn(members.region),
    mapFields: Array.isArray(members.mapFields)
      ? members.mapFields.filter(each => typeof each === 'string')
      : undefined,
    virtualFields: virtualFieldsIn(members.virtualFields),
    fields: notes.length > 0 ? Object.fromEntries(notes) : undefined,
    published: textIn(members.published),
    bucket: bucketNoteIn(members.bucket),
  });
}

function bucketNoteIn(value: unknown): BucketNote | undefined {
  const { address, time, shapes, slackHours } = membersOf(value);
  if (typeof address !== 'string' || typeof time !== 'string' || !Array.isArray(shapes)) return undefined;
  const lists = shapes.map(shape => (Array.isArray(shape) ? shape.flatMap(fileFieldIn) : []));
  return {
    ...{ address, time, shapes: lists },
    ...present({ slackHours: typeof slackHours === 'number' ? slackHours : undefined }),
  };
}

function fileFieldIn(value: unknown): FileField[] {
  const { name, type, column, ofDirectory, written } = membersOf(value);
  const known = (Object.keys(sqlTypes) as TypeName[]).find(each => each === type);
  if (typeof name !== 'string' || typeof column !== 'string' || known === undefined) return [];
  const more = present({ ofDirectory: flagIn(ofDirectory), written: textIn(written) });
  return [{ name, type: known, column, declared: true, ...more }];
}

function virtualFieldsIn(value: unknown): DatasetNote['virtualFields'] {
  const found = Object.entries(membersOf(value)).flatMap(([key, note]) => {
    const { name, expression, description, type, unit } = membersOf(note);
    if (typeof name !== 'string' || typeof expression !== 'string') return [];
    const more = present({ description: textIn(description), type: textIn(type), unit: textIn(unit) });
    return [[key, { name, expression, ...more }] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function fieldNoteIn(value: unknown): FieldNote {
  const { unit, description, hidden } = membersOf(value);
  return present({
    unit: textIn(unit),
    description: textIn(description),
    hidden: flagIn(hidden),
  });
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function flagIn(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Metadata of a field. */
export type FieldNote = Pick<FieldSchema, 'unit' | 'description' | 'hidden'>;

/** Extent of a dataset: number of rows, and times of the first and last events (RFC 3339), undefined if no row has one. */
export type Extent = Required<Pick<DatasetInfo, 'rows'>> & Pick<DatasetInfo, 'firstTime' | 'lastTime'>;

/** A snapshot of one dataset: its Parquet files, and the SQL that reads them as one table. */
export class StoredDataset {
  readonly schema: DatasetSchema;
  readonly note: DatasetNote;
  readonly #files: readonly FileSummary[];
  readonly #types: ReadonlyMap<string, TypeName>;
  /** Index of each file in insertion order, regardless of the window. */
  readonly #numbers: ReadonlyMap<FileSummary, number>;
  #bounds: FieldBounds | undefined;
  /** Undefined if {@link placeField} cannot be scanned because a column has the name of one of the engine's row or file numbers. */
  readonly places: Places | undefined;
  /** Fields that {@link textListField} can name. */
  readonly textLists: ReadonlySet<string>;

  constructor(name: string, files: readonly FileSummary[], note: DatasetNote) {
    this.note = note;
    this.#files = files.filter(file => file.blocks.length > 0);
    this.#types = mergedTypes(this.#files);
    this.#numbers = new Map(this.#files.map((file, index) => [file, index]));
    const shapes = groupByShape(this.#files).flatMap(([file]) => file ?? []);
    const isShadowed = shapes.some(({ fields: own }) =>
      own.some(({ column }) => placeColumns.includes(column.toLowerCase())),
    );
    this.textLists = textListsIn(shapes);
    const places = this.#files.every(file => file.timeless) ? 'timeless' : 'timed';
    this.places = isShadowed ? undefined : places;
    const fields = [...this.#types].map(([field, type]) => ({ name: field, type, ...note.fields?.[field] }));
    const virtual = note.virtualFields && Object.values(note.virtualFields);
    this.schema = { name, fields, open: false, ...present({ virtual }) };
  }

  /** Facts about the values of its fields that hold in all files. */
  get bounds(): FieldBounds {
    this.#bounds ??= {
      ...{ bounded: boundedIn(this.#files, this.#types), filled: filledIn(this.#files) },
      stored: jsonTextsIn(groupByShape(this.#files).flatMap(([file]) => file ?? [])),
    };
    return this.#bounds;
  }

  /** Files with its rows. */
  get files(): readonly FileSummary[] {
    return this.#files;
  }

  /** Paths of these files. */
  get paths(): readonly string[] {
    return this.#files.map(file => file.path);
  }

  /** Number of rows, and times of the first and last events if known. */
  get extent(): Extent {
    const rows = rowsIn(this.#files);
    const timed = this.#files.filter(file => !file.timeless).flatMap(file => file.blocks);
    const [first, ...others] = timed.filter(block => block.minNs <= block.maxNs);
    if (first === undefined || timed.some(isAnyTime)) return { rows };
    return {
      rows,
      firstTime: formatTime(others.map(block => block.minNs).reduce(earlier, first.minNs), 'fewest'),
      lastTime: formatTime(others.map(block => block.maxNs).reduce(later, first.maxNs), 'fewest'),
    };
  }

  /** Like {@link Snapshot.scan}, but skips row groups known to have no matching rows. */
  scan(
    fields: readonly string[],
    startNs: bigint,
    endNs: bigint,
    filter?: ScanFilter,
    without: GroupsLeftOut = new Map(),
  ): string {
    const cut = this.#cut(without);
    const files = this.#files.filter(file => blocksIn(file, startNs, endNs, cut.get(file)).length > 0);
    const selects = this.#parts(files, cut).map(part => this.#select(part, fields, startNs, endNs, filter));
    return selects.length > 0 ? selects.join(' UNION ALL ') : this.#emptySelect(fields);
  }

  /** Splits a scan into SELECTs, keeping rows in the same order as without skipped row groups. */
  #parts(files: readonly FileSummary[], without: GroupsLeftOut): readonly ScanPart[] {
    return groupByShape(files).flatMap(group => {
      const parts: { readonly files: FileSummary[]; readonly rows?: RowSpan }[] = [];
      for (const file of group) {
        const spans = spansOf(file.blocks, without.get(file));
        const last = parts.at(-1);
        if (spans.length > 0) parts.push(...spans.map(rows => ({ files: [file], rows })));
        else if (last !== undefined && last.rows === undefined) last.files.push(file);
        else parts.push({ files: [file] });
      }
      return parts;
    });
  }

  /** Returns the row groups to skip among those allowed: whole files, or as many as a few SELECTs can express. */
  #cut(without: GroupsLeftOut): GroupsLeftOut {
    let spans = 0;
    const isCut = (file: FileSummary) => {
      const groups = without.get(file);
      if (groups === undefined || groups.size === file.blocks.length) return groups !== undefined;
      const more = spansOf(file.blocks, groups).length;
      if (this.places === undefined || spans + more > mostSpans) return false;
      spans += more;
      return true;
    };
    return new Map(this.#files.filter(isCut).map(file => [file, without.get(file) ?? new Set()]));
  }

  examined(startNs: bigint, endNs: bigint, without: GroupsLeftOut = new Map()): ExaminedBlocks {
    const cut = this.#cut(without);
    const blocks = this.#files.flatMap(file => blocksIn(file, startNs, endNs, cut.get(file)));
    if (blocks.length === 0) return { blocks: 0, rows: 0 };
    return {
      blocks: blocks.length,
      rows: blocks.reduce((total, block) => total + block.rows, 0),
      minNs: blocks.map(block => block.minNs).reduce(earlier),
      maxNs: blocks.map(block => block.maxNs).reduce(later),
    };
  }

  /** Returns the number of rows in a window, undefined if the statistics of the files do not determine it. */
  rowCount(startNs: bigint, endNs: bigint): number | undefined {
    let rows = 0;
    for (const { timeless, blocks } of this.#files)
      for (const block of blocks) {
        const isIn = timeless || overlaps(block, startNs, endNs);
        if (isIn && !timeless && !isWithin(block, startNs, endNs)) return undefined;
        if (isIn) rows += block.rows;
      }
    return rows;
  }

  /** Returns the row groups with rows in a window. */
  rowGroups(startNs: bigint, endNs: bigint): readonly RowGroup[] {
    return this.#files.flatMap(file => {
      const blocks = blocksIn(file, startNs, endNs);
      return file.timeless ? blocks.map(block => ({ ...block, timed: false })) : blocks;
    });
  }

  #select(
    { files, rows }: ScanPart,
    fields: readonly string[],
    startNs: bigint,
    endNs: bigint,
    filter: ScanFilter | undefined,
  ): string {
    const known = new Map(files[0]?.fields.map(field => [field.name, placed(field, files)]));
    const values = fields.map(name => {
      const list = listedField(name);
      if (list !== undefined) return ownSql(known.get(list), textListType);
      const stored = fieldStored(name);
      if (stored !== undefined) return ownSql(known.get(stored), 'VARCHAR');
      return name === placeField
        ? placeSql(files.map(file => this.#numbers.get(file) ?? 0))
        : valueSql(known, name, this.#types.get(name) ?? 'string');
    });
    const columns = values.map((value, index) => `${value} AS f${index}`);
    const list = files.map(file => sqlText(file.path)).join(', ');
    const time = known.get('_time');
    const all = files[0]?.timeless || (time?.type === 'datetime' && areWithin(files, startNs, endNs));
    const window = all ? [] : windowSql(time, startNs, endNs);
    const apart = files.length >= manyFiles && this.places !== undefined ? afterReading : undefined;
    const span = rows === undefined ? [] : [`file_row_number BETWEEN ${rows.first} AND ${rows.last}`];
    const conditions = [...window, ...span, ...(filter === undefined ? [] : [filter.sql(values, apart)])];
    const only = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
    const isReal = (name: string) => known.get(name)?.type === 'real';
    const options = files.some(file => file.hidesNaN) && fields.some(isReal) ? ', can_have_nan = true' : '';
    return `SELECT ${selectList(columns)} FROM read_parquet([${list}]${options})${only}`;
  }

  #emptySelect(fields: readonly string[]): string {
    const typeOf = (name: string) =>
      sqlTypes[name === placeField ? 'long' : (this.#types.get(name) ?? 'string')];
    const ownType = (name: string) => {
      if (listedField(name) !== undefined) return textListType;
      return fieldStored(name) === undefined ? typeOf(name) : 'VARCHAR';
    };
    const columns = fields.map((name, index) => `NULL::${ownType(name)} AS f${index}`);
    return `SELECT ${selectList(columns)} WHERE false`;
  }
}

/** Row groups by file, as indexes, known to have no rows that pass a filter. */
export type GroupsLeftOut = ReadonlyMap<FileSummary, ReadonlySet<number>>;

/** Files that are read together, or some rows of one. */
interface ScanPart {
  readonly files: readonly FileSummary[];
  readonly rows?: RowSpan;
}

/** Row number range of a file. */
interface RowSpan {
  readonly first: number;
  readonly last: number;
}

/** Maximum number of spans. Each is a separate scan: the engine skips row groups for one range, but not for several. */
const mostSpans = 64;

/** Returns the row spans of a file in the remaining row groups; none if it is read completely. */
function spansOf(blocks: readonly RowGroup[], without: ReadonlySet<number> = new Set()): readonly RowSpan[] {
  if (without.size === 0) return [];
  const spans: { first: number; last: number }[] = [];
  let next = 0;
  for (const [group, { rows }] of blocks.entries()) {
    const before = spans.at(-1);
    const last = next + rows - 1;
    if (!without.has(group) && before?.last === next - 1) before.last = last;
    else if (!without.has(group)) spans.push({ first: next, last });
    next += rows;
  }
  return spans;
}

/** Number of files from which preparing a pattern per file takes longer than rechecking the rows that contain its constant. */
const manyFiles = 16;

/** Rewrites a condition so that the engine applies it after reading: it needs a column that is not in the file. */
function afterReading(condition: string): string {
  return `CASE WHEN ${condition} THEN true ELSE file_index < 0 END`;
}

/** The engine's virtual columns for the index of a file in the list and of a row in its file. */
const placeColumns = ['file_index', 'file_row_number'];

/** Returns the SQL of a row's position in its dataset, a BIGINT, from the indexes of the files read together. */
function placeSql(numbers: readonly number[]): string {
  const [first = 0] = numbers;
  const follow = numbers.every((number, index) => number === first + index);
  const file = follow ? `(${first} + file_index)` : `[${numbers.join(', ')}][file_index::BIGINT + 1]`;
  return `((${file}::BIGINT << ${rowBits}) + file_row_number)`;
}

/** Number of low bits with the row number; the bits above are the file number. */
const rowBits = 36;

/** Returns the SQL of a row's file number in its dataset, given the SQL of its position. */
export function fileOfPlaceSql(place: string): string {
  return `${place} >> ${rowBits}`;
}

/** Returns the SQL of a row's number in its file, given the SQL of its position. */
export function rowOfPlaceSql(place: string): string {
  return `${place} & ${2 ** rowBits - 1}`;
}

/** A field, with the SQL of its value if it is not a column. */
interface PlacedField extends FileField {
  readonly sql?: string;
}

function placed(field: FileField, files: readonly FileSummary[]): PlacedField {
  if (isBeyond(field, files))
    return { ...field, sql: nanosecondsOf(sqlName(field.column), field.written ?? '') };
  // The engine compares what is computed with no statistics.
  if (field.signed === true) return { ...field, sql: `(${sqlName(field.column)} || '')` };
  if (field.ofDirectory !== true) return field;
  const values = files.map(({ partitions }) => partitions?.get(field.name) ?? null);
  const list = values.map(value => (value === null ? 'NULL' : sqlText(value))).join(', ');
  return { ...field, sql: `([${list}]::VARCHAR[])[file_index::BIGINT + 1]` };
}

/** Whether times written by another program may be out of the range of nanoseconds. */
function isBeyond({ name, type, written }: FileField, files: readonly FileSummary[]): boolean {
  if (type !== 'datetime' || written === undefined || written === 'TIMESTAMP_NS') return false;
  return name !== '_time' || files.some(({ blocks }) => blocks.some(isAnyTime));
}

/** Returns a select list; a counting query reads no field, but SQL requires one. */
function selectList(columns: readonly string[]): string {
  return columns.length > 0 ? columns.join(', ') : '1 AS f0';
}

/** Returns the row groups in a window; rows without times, such as those of a lookup table, are in every window. */
function blocksIn(
  file: FileSummary,
  startNs: bigint,
  endNs: bigint,
  without?: ReadonlySet<number>,
): readonly RowGroup[] {
  const blocks = without === undefined ? file.blocks : file.blocks.filter((_, group) => !without.has(group));
  return file.timeless ? blocks : blocks.filter(block => overlaps(block, startNs, endNs));
}

function overlaps(block: RowGroup, startNs: bigint, endNs: bigint): boolean {
  return block.maxNs >= startNs && block.minNs < endNs;
}

/** Whether every row is known to be within a window, so that the engine need not read the times. */
function areWithin(files: readonly FileSummary[], startNs: bigint, endNs: bigint): boolean {
  return files.every(({ blocks }) => blocks.every(block => isWithin(block, startNs, endNs)));
}

function isWithin({ timed, minNs, maxNs }: RowGroup, startNs: bigint, endNs: bigint): boolean {
  return timed && minNs >= startNs && maxNs < endNs;
}

function isAnyTime({ minNs, maxNs }: RowGroup): boolean {
  return minNs === anyTime.minNs && maxNs === anyTime.maxNs;
}

function earlier(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function later(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

function rowsIn(files: readonly FileSummary[]): number {
  return files.flatMap(file => file.blocks).reduce((total, block) => total + block.rows, 0);
}

/** Groups files that can be read together: same columns and types, and either all with times or all without. */
function groupByShape(files: readonly FileSummary[]): FileSummary[][] {
  const groups = new Map<string, FileSummary[]>();
  for (const file of files) {
    const shape = shapeOf(file);
    const group = groups.get(shape);
    if (group) group.push(file);
    else groups.set(shape, [file]);
  }
  return [...groups.values()];
}

/** Cached, as every query needs the shapes of all files. */
const shapes = new WeakMap<FileSummary, string>();

function shapeOf(file: FileSummary): string {
  const known = shapes.get(file);
  if (known !== undefined) return known;
  const fields = file.fields.map(({ name, type, column, empty, ...more }) => [
    ...[name, type, column, empty],
    ...[more.texts, more.written, more.signed],
  ]);
  const shape = JSON.stringify([file.timeless, fields]);
  shapes.set(file, shape);
  return shape;
}

function mergedTypes(files: readonly FileSummary[]): Map<string, TypeName> {
  const seen = new Map<string, FileField[]>(systemFields.map(field => [field.name, []]));
  for (const field of files.flatMap(file => file.fields)) {
    const known = seen.get(field.name);
    if (known) known.push(field);
    else seen.set(field.name, [field]);
  }
  const isMap = (name: string) => seen.get(name)?.some(isMapField) === true;
  return new Map(
    [...seen].map(([name, fields]) => {
      if (isSystem(name)) return [name, 'datetime'];
      return [name, holdersOf(name).some(isMap) ? 'dynamic' : mergeTypes(fields)];
    }),
  );
}

/**
 * Returns the fields that contain a dotted field if they are maps. Whether an object becomes fields or stays a map depends on the batch, so
 * a property may be a field in some rows and a map key in others.
 */
function holdersOf(name: string): string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}

function isMapField({ type, empty }: FileField): boolean {
  return type === 'dynamic' && !empty;
}

/** Returns the fields that are string lists in all files, and neither contain nor belong to other fields. */
function textListsIn(shapes: readonly FileSummary[]): ReadonlySet<string> {
  return undividedIn(shapes, ({ texts }) => texts === true);
}

/** Returns the fields that are strings of JSON in all files, as this program writes dynamic fields. */
function jsonTextsIn(shapes: readonly FileSummary[]): ReadonlySet<string> {
  return undividedIn(
    shapes,
    ({ type, texts, written, ofDirectory }, { foreign }) =>
      type === 'dynamic' && !foreign && texts !== true && written === undefined && ofDirectory !== true,
  );
}

/** Returns the fields that pass a test in all files that have them, and neither contain nor belong to other fields. */
function undividedIn(
  shapes: readonly FileSummary[],
  test: (field: FileField, file: FileSummary) => boolean,
): ReadonlySet<string> {
  const all = shapes.flatMap(file => file.fields.map(field => ({ field, passes: test(field, file) })));
  const names = new Set(all.filter(({ passes }) => passes).map(({ field }) => field.name));
  for (const { field, passes } of all) {
    if (!passes) names.delete(field.name);
    if (names.size > 0) for (const holder of holdersOf(field.name)) names.delete(holder);
  }
  const maps = new Set(all.flatMap(({ field }) => (isMapField(field) ? [field.name] : [])));
  return new Set([...names].filter(name => !holdersOf(name).some(holder => maps.has(holder))));
}

/** Returns the column of a field as it is. */
function ownSql(field: FileField | undefined, type: string): string {
  return field === undefined || field.empty ? `NULL::${type}` : sqlName(field.column);
}

/**
 * Returns the fields that are real overall, and in each file bounded reals, integers, or without values; and the integer fields with only
 * integers that a double represents.
 */
function boundedIn(files: readonly FileSummary[], types: ReadonlyMap<string, TypeName>): ReadonlySet<string> {
  const names = new Set([...types].flatMap(([name, type]) => (isNumber(type) ? [name] : [])));
  for (const field of files.flatMap(({ fields }) => fields)) {
    const { name, type, empty, bounded } = field;
    const isBounded = types.get(name) === 'long' ? isExact(field) : type === 'long' || bounded;
    if (!empty && !isBounded) names.delete(name);
  }
  return names;
}

function isNumber(type: TypeName): boolean {
  return type === 'real' || type === 'long';
}

/** Statistics tell whether integers are wide, but not decimals. */
function isExact({ type, wide, written = '' }: FileField): boolean {
  return type === 'long' && wide === false && !written.startsWith('DECIMAL');
}

/** Returns the fields that have a value in every row of every file, as a column of their own. */
function filledIn(files: readonly FileSummary[]): ReadonlySet<string> {
  const all = files.map(({ fields }) => new Set(fields.filter(isFilled).map(({ name }) => name)));
  return new Set([...(all[0] ?? [])].filter(name => all.every(names => names.has(name))));
}

/** Times beyond the range of the language become null. */
function isFilled({ filled, empty, type }: FileField): boolean {
  return filled === true && !empty && type !== 'datetime';
}

/** Merges types: integers become reals only if a double represents all of them exactly; other mixtures are dynamic. */
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

/**
 * Returns the SQL of a field's value in the rows of a file: its own column, otherwise the entry of a map under the rest of its name; for a
 * dynamic field, also the map rebuilt from its subfields.
 */
function valueSql(known: ReadonlyMap<string, PlacedField>, name: string, wanted: TypeName): string {
  const own = columnSql(known.get(name), wanted);
  const held = holdersOf(name).flatMap(holder => {
    const field = known.get(holder);
    if (field === undefined || !isMapField(field)) return [];
    const map = columnSql(field, 'dynamic');
    return keysOf(name.slice(holder.length + 1)).map(
      keys => `nullif(json_extract(${map}, ${jsonPointer(keys)})::VARCHAR, 'null')::JSON`,
    );
  });
  const parts = wanted === 'dynamic' ? partsOf(known.values(), `${name}.`) : [];
  const all = [own, ...held, ...(parts.length === 0 ? [] : [`${mapSql(parts)}::JSON`])];
  return all.length === 1 ? own : `coalesce(${all.join(', ')})`;
}

/** A field, and the rest of its name below a map as keys. */
interface Part {
  readonly keys: readonly string[];
  readonly field: FileField;
}

function partsOf(fields: Iterable<FileField>, prefix: string): readonly Part[] {
  return [...fields].flatMap(field =>
    field.name.startsWith(prefix) && !field.empty
      ? [{ keys: field.name.slice(prefix.length).split('.'), field }]
      : [],
  );
}

/** Returns the SQL of the JSON of a map of the fields that are not null; null if all are. */
function mapSql(parts: readonly Part[]): string {
  const below = new Map<string, Part[]>();
  for (const { keys, field } of parts) {
    const [key = '', ...rest] = keys;
    below.set(key, [...(below.get(key) ?? []), { keys: rest, field }]);
  }
  const members = [...below].map(([key, inner]) => {
    const leaf = inner.find(({ keys }) => keys.length === 0);
    const more = inner.filter(({ keys }) => keys.length > 0);
    const values = [
      ...(leaf === undefined ? [] : [`${columnSql(leaf.field, 'dynamic')}::VARCHAR`]),
      ...(more.length === 0 ? [] : [mapSql(more)]),
    ];
    return `${sqlText(`${JSON.stringify(key)}:`)} || coalesce(${values.join(', ')})`;
  });
  return `nullif('{' || concat_ws(',', ${members.join(', ')}) || '}', '{}')`;
}

/** Returns the key paths that the rest of a name may mean: a key may contain dots, and so may keys within its value. */
function keysOf(name: string): string[][] {
  const [first = '', ...others] = name.split('.');
  const splits = others.slice(0, mostSplits);
  const rest = others
    .slice(mostSplits)
    .map(part => `.${part}`)
    .join('');
  const found = splits.reduce<string[][]>(
    (all, part) => all.flatMap(keys => [longer(keys, `.${part}`), [...keys, part]]),
    [[first]],
  );
  return found.map(keys => longer(keys, rest));
}

function longer(keys: readonly string[], more: string): string[] {
  return [...keys.slice(0, -1), `${keys.at(-1)}${more}`];
}

const mostSplits = 3;

function columnSql(field: PlacedField | undefined, wanted: TypeName): string {
  if (!field || field.empty) return `NULL::${sqlTypes[wanted]}`;
  const column = field.sql ?? sqlName(field.column);
  if (wanted === 'dynamic' && field.type === 'datetime') {
    return `to_json(replace(${column}::TIMESTAMP_NS::VARCHAR, ' ', 'T') || 'Z')`;
  }
  if (wanted === 'dynamic' && field.type !== 'dynamic') return `to_json(${column})`;
  return `${column}::${sqlTypes[wanted]}`;
}

function windowSql(time: PlacedField | undefined, startNs: bigint, endNs: bigint): string[] {
  const column = time?.sql ?? sqlName(time?.column ?? '_time');
  const isZoned = time?.sql === undefined && time?.written === zonedType;
  const bound = isZoned ? zonedTimeBound : timeBound;
  return [
    ...(startNs > EARLIEST_TIME ? [bound(column, '>=', startNs)] : []),
    ...(endNs <= LATEST_TIME ? [bound(column, '<', endNs)] : []),
  ];
}

/** Fields of every dataset. */
const systemFields: readonly FieldSchema[] = [
  { name: '_time', type: 'datetime' },
  { name: '_sysTime', type: 'datetime' },
];
