import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { plural } from '../../../text.js';
import { sqlText } from '../../duckdb/duckdb-literal.js';
import type { Connection } from '../../engine/duckdb.js';
import { engineWords } from '../../engine/engine-failure.js';
import { LocalError } from '../../local-errors.js';
import { readEvents } from '../append/append-events.js';
import { longestLine } from '../bounds/bounded-text.js';
import { isOfObjects, wrapLines, wrapValues } from '../sources/plain-lines.js';
import { notUtf8Note } from '../sources/repaired.js';
import { hasByteOrderMark, startOf } from '../sources/source-formats.js';
import { afterHead, columnReader } from './json-columns.js';
import { alone, isBroken, nextPass, objectReader, type Pass } from './json-passes.js';
import {
  type JsonLeaf,
  type JsonObject,
  type JsonShape,
  maybeNoString,
  namesOf,
  profile,
  shapeOfSample,
} from './json-shape.js';
import { packingOf } from './packing.js';
import {
  doubtAt,
  doubtOf,
  exceedsReal,
  keep,
  mismatch,
  mismatchAt,
  noFields,
  type ReadField,
  type Reading,
  widenedNotes,
} from './reading.js';
import { rowsInSample, spreadSample } from './sample.js';
import { unpacked } from './unpacked.js';
import { blank, copyOf, isOpenArray, withCutLine } from './without-line.js';

/** A file of JSON objects. */
export interface JsonSource {
  readonly file: string;
  /** Lines spread over the file, as a better sample than its beginning. */
  readonly sampleFile: string | undefined;
  /** Directory for drafts, which are removed after the import. */
  readonly workDir: string;
  /** Whether to skip and count values that are not objects, and to reject a truncated file (default: such values are events). */
  readonly onlyObjects?: true;
}

/**
 * Maximum object sizes, tried in turn if an object exceeds the previous one: each thread has buffers of twice that size, within the memory
 * of an import.
 */
const objectLimits = [16 * 2 ** 20, longestLine + 1024];

/** A source, and what became of its values that are not objects. */
interface Objects extends JsonSource {
  /** Number of values that became the `message` of an object. */
  readonly texts?: number;
  /** Number of values that were skipped. */
  readonly leftOut?: number;
  /** A line that is not in the sample but has to be. */
  readonly line?: string;
  /** Whether all values have been checked. */
  readonly wrapped?: true;
  /** Notes about the end of the file. */
  readonly notes?: readonly string[];
}

/**
 * Reads JSON objects, one per line or in an array: nested objects become dotted names, everything else stays exact. Any other text becomes
 * the `message` of an event.
 */
export async function readJson(connection: Connection, source: JsonSource): Promise<Reading | undefined> {
  const file = await withoutMark(source.file, source.workDir);
  const cut = (await isOpenArray(file)) && (await readWrapped(connection, { ...source, file }));
  if (cut) return cut;
  const completed = source.onlyObjects ? undefined : await withCutLine(file, source.workDir);
  if (completed === undefined) return readWhole(connection, { ...source, file });
  return readWhole(connection, { ...source, ...completed, texts: 1 });
}

/** Returns a copy without the byte order mark, which the engine reads as part of the first object in line mode. */
async function withoutMark(file: string, workDir: string): Promise<string> {
  if (!(await hasByteOrderMark(file))) return file;
  const plain = await unpacked(file, workDir);
  const copy = plain === file ? await copyOf(file, workDir) : plain;
  if (copy === undefined) return file;
  await blank(copy, { start: 0, end: 3 });
  return copy;
}

/** SQL of whether an object m has only null values, which columns cannot tell from a null. */
const isBare =
  "NOT coalesce(list_bool_or(list_transform(map_values(m), lambda v: coalesce(v::VARCHAR, 'null') <> 'null')), false)";

async function readWhole(connection: Connection, source: Objects): Promise<Reading | undefined> {
  const { file, sampleFile, workDir } = source;
  const careful = (sampled?: JsonShape) => readCarefully(connection, source, sampled);
  const texts = async () =>
    (await readWrapped(connection, source)) ??
    readCarefully(connection, { ...source, wrapped: true }, undefined);
  const reader = objectReader(file, 'auto', '');
  const sampled = sampleFile === undefined ? reader : objectReader(sampleFile, 'nd', '');
  const rows = await rowsInSample(file);
  try {
    await keep(connection, 'sample', `SELECT m FROM ${sampled} LIMIT ${rows}`);
  } catch {
    return texts();
  }
  if (source.line !== undefined)
    await connection.run(`INSERT INTO sample SELECT m FROM ${await alone(source.line, workDir)}`);
  const [row] = await connection.run(`SELECT count(*), count(m), count(m) FILTER (${isBare}) FROM sample`);
  if (Number(row?.[0]) === 0) return undefined;
  if (Number(row?.[1]) < Number(row?.[0])) return texts();
  const hasBare = Number(row?.[2]) > 0;
  const isSame = source.line === undefined && sampleFile === undefined;
  const small = isSame ? await smallShape(file, Number(row?.[0])) : undefined;
  const shape = small ?? (await profile(connection, 'sample'));
  if (shape.repeats > 0) return careful();
  const readAs = async (pass: Pass): Promise<Reading> => {
    const wider = async (failure?: string) => {
      const next = await nextPass(connection, source, pass, failure);
      if (next !== undefined) return readAs(next);
      return isBroken(failure) ? texts() : careful(shape);
    };
    const notes = [...textNotes(source), ...wideningNotes(shape, pass.shape)];
    const about = { notes, refused: source.leftOut ?? 0, wider, ...carried(source) };
    const byColumns = hasBare
      ? undefined
      : await readColumns(connection, { ...source, rows }, pass.shape, about);
    if (byColumns !== undefined) return byColumns;
    const byMaps = readingOf(reader, pass.shape, false);
    return { ...byMaps, ...about, notes: [...notes, ...byMaps.notes] };
  };
  return readAs({ number: 1, shape });
}

/** Returns the shape of the objects in a small file if JavaScript parses as many as the sample has: planning in the engine takes longer. */
async function smallShape(file: string, count: number): Promise<JsonShape | undefined> {
  if ((await packingOf(file)) !== undefined || (await stat(file)).size > smallBytes) return undefined;
  const bytes = await readFile(file);
  const events = isUtf8(bytes) ? readEvents(bytes.toString('utf8')) : undefined;
  return events?.length === count ? shapeOfSample(events) : undefined;
}

/** Maximum size in bytes, parsed within a few milliseconds. */
const smallBytes = 128 * 1024;

/**
 * Reads a file in which some values are not objects: each becomes an event with its text, or is skipped. Undefined if all or none are
 * objects.
 */
async function readWrapped(connection: Connection, source: Objects): Promise<Reading | undefined> {
  if (source.wrapped) return undefined;
  const { workDir, texts = 0, onlyObjects } = source;
  const text = await unpacked(source.file, workDir);
  const file = path.join(workDir, `${crypto.randomUUID()}.wrapped.ndjson`);
  const isOfLines = isOfObjects((await startOf(text)).split('\n'));
  const found = await (isOfLines ? wrapLines : wrapValues)(text, file, onlyObjects === true);
  if (onlyObjects && found?.whole === false) throw bodyCut();
  if (found === undefined || found.objects === 0) return undefined;
  if (!found.changed) return undefined;
  return readWhole(connection, {
    file,
    workDir,
    sampleFile: await spreadSample(file, workDir),
    ...(onlyObjects ? { onlyObjects, leftOut: found.texts } : { texts: texts + found.texts }),
    wrapped: true,
    notes: [...(found.whole ? [] : [cutNote]), ...(found.broken === 0 ? [] : [notUtf8Note(found.broken)])],
  });
}

function bodyCut(): LocalError {
  return new LocalError('invalid', 'unreadable', 'The body is not complete JSON.');
}

const cutNote = 'The JSON is incomplete: the file may be truncated.';

/** Returns notes about values that are not objects. */
function textNotes({ texts = 0, leftOut = 0, notes = [] }: Objects): string[] {
  const note = `Not JSON objects: ${plural(texts, 'line')}, each imported as an event with the line in \`message\`.`;
  return [...notes, ...(texts === 0 ? [] : [note]), ...refusedNotes(leftOut)];
}

/** Returns `carries` if needed: a value that is not an object gets the time of the one before it. */
function carried({ texts = 0 }: Objects): Pick<Reading, 'carries'> {
  return texts === 0 ? {} : { carries: true };
}

/**
 * Reads values with the engine's own columns, including strings that the sample shows to be only strings. Undefined if the engine cannot.
 */
async function readColumns(
  connection: Connection,
  { file, sampleFile, workDir, rows }: JsonSource & { readonly rows: number },
  { leaves }: JsonShape,
  {
    notes,
    wider,
    ...more
  }: Pick<Required<Reading>, 'notes' | 'refused' | 'wider'> & Pick<Reading, 'carries'>,
): Promise<Reading | undefined> {
  const { names, notes: named } = namesOf(leaves);
  if (names.length === 0) throw noFields();
  const reading = async (texts: ReadonlySet<JsonLeaf>): Promise<Reading | undefined> => {
    const relationOf = await columnReader(connection, leaves, texts, workDir);
    if (relationOf === undefined) return undefined;
    const sample = `(SELECT * FROM ${relationOf(sampleFile ?? file)} LIMIT ${rows})`;
    const fields = leaves.map((leaf, index) => {
      const name = names[index] ?? '';
      return texts.has(leaf)
        ? { name, type: 'string' as const, sql: checkedText(index) }
        : fieldOf(leaf, name, index);
    });
    const about = { fields, notes: [...notes, ...named], ...more, shareOfFile: afterHead };
    return { from: relationOf(file), sample, ...about, wider };
  };
  const texts = leaves.filter(({ type, ambiguous }) => type === 'string' && !ambiguous);
  // Texts in doubt are read with their quotes, those of one field after each pass that ends, and all of them if many fields have some.
  const withTexts = async (some: readonly JsonLeaf[]): Promise<Reading | undefined> => {
    const found = await reading(new Set(some));
    const exact = async (place: number) => {
      const left = some.filter(leaf => leaf !== leaves[place]);
      return (await withTexts(texts.length - left.length > mostDoubts ? [] : left)) ?? wider();
    };
    return (
      found && {
        ...found,
        wider: failure => {
          const place = doubtOf(failure);
          return place === undefined ? wider(failure) : exact(place);
        },
      }
    );
  };
  return withTexts(texts);
}

/** Maximum number of fields that end a pass of their own with a text in doubt. */
const mostDoubts = 2;

function checkedText(place: number): string {
  const text = `r${place}`;
  return `CASE WHEN ${maybeNoString(text)} THEN ${doubtAt(place)} ELSE ${text} END`;
}

/** Reads after examining all values, including those that are not objects; of a repeated key, the last value wins. */
async function readCarefully(
  connection: Connection,
  source: Objects,
  sampled: JsonShape | undefined,
): Promise<Reading> {
  const { from, values, objects } = await objectsOf(connection, source);
  const refused = values - objects;
  const wrapped = refused === 0 ? undefined : await readWrapped(connection, source);
  if (wrapped !== undefined) return wrapped;
  if (objects === 0) throw noObjects(refused);
  const shape = await profile(connection, from);
  const repeated = shape.repeats === 0 ? [] : [repeatNote(shape.repeats)];
  const widened = sampled === undefined ? [] : wideningNotes(sampled, shape);
  const found = readingOf(from, shape, true);
  const notes = [...textNotes(source), ...refusedNotes(refused), ...repeated, ...widened, ...found.notes];
  return { ...found, refused: refused + (source.leftOut ?? 0), notes, ...carried(source) };
}

interface Counted {
  readonly from: string;
  readonly values: number;
  /** Number of values that are objects. */
  readonly objects: number;
}

async function objectsOf(
  connection: Connection,
  source: Pick<JsonSource, 'file' | 'workDir'>,
): Promise<Counted> {
  for (const limit of objectLimits.slice(0, -1)) {
    try {
      return await objectsWithin(connection, source, limit);
    } catch (error) {
      if (!isTooLong(error)) throw error;
    }
  }
  return objectsWithin(connection, source, objectLimits.at(-1) ?? 0);
}

function isTooLong(error: unknown): boolean {
  return engineWords(error)?.includes('maximum_object_size') === true;
}

async function objectsWithin(
  connection: Connection,
  { file, workDir }: Pick<JsonSource, 'file' | 'workDir'>,
  mostBytes: number,
): Promise<Counted> {
  const limit = `, maximum_object_size = ${mostBytes}`;
  // In a file that it decompresses itself, the engine reads the byte order mark as part of the first object.
  const plain = (await packingOf(file)) === 'zstd' ? await unpacked(file, workDir) : file;
  const count = (format: 'auto' | 'nd') => countObjects(connection, objectReader(plain, format, limit));
  const found = await count('auto').catch(error => {
    // A file that does not start like lines may still consist of lines, some of them broken.
    if (isTooLong(error)) throw error;
    return count('nd');
  });
  await keep(connection, 'sample', `SELECT m FROM ${found.from} LIMIT ${await rowsInSample(file)}`);
  return found;
}

async function countObjects(connection: Connection, from: string): Promise<Counted> {
  const [row] = await connection.run(`SELECT count(*), count(m) FROM ${from}`);
  return { from, values: Number(row?.[0]), objects: Number(row?.[1]) };
}

/** Returns a reading; rows that are not objects are skipped if `lenient`, otherwise they end the pass. */
function readingOf(source: string, shape: JsonShape, lenient: boolean): Reading {
  const { names, notes } = namesOf(shape.leaves);
  if (names.length === 0) throw noFields();
  const places = new Map(shape.levels.flat().map(object => [JSON.stringify(object.path), object]));
  const valueAt = (path: readonly string[]) => {
    const holder = places.get(JSON.stringify(path.slice(0, -1)));
    return holder ? valueSql(holder, path.at(-1) ?? '') : 'NULL';
  };
  const objects = `SELECT m AS t0 FROM ${source} WHERE ${lenient ? 'm IS NOT NULL' : unless('m IS NOT NULL')}`;
  const fields = shape.leaves.map((leaf, index) => fieldOf(leaf, names[index] ?? '', index));
  return {
    from: relation(objects, shape, valueAt),
    sample: relation('SELECT m AS t0 FROM sample WHERE m IS NOT NULL', shape, valueAt),
    fields,
    notes,
    refused: 0,
  };
}

/**
 * Returns the relation of the leaf values r_i. In between, each object i of the shape has its keys k_i and values v_i, and s_i tells
 * whether the keys are the usual ones in their usual order, so that values are found by index. `events` is the relation of the events t0.
 */
function relation(
  events: string,
  { levels, leaves, repeats }: JsonShape,
  valueAt: (path: readonly string[]) => string,
): string {
  let sql = events;
  for (const [depth, level] of levels.entries()) {
    const below = levels[depth + 1] ?? [];
    sql = openLevel(sql, level, repeats > 0);
    if (below.length === 0) continue;
    const maps = below.map(
      ({ index, path }) => `json_transform(${valueAt(path)}, '"MAP(VARCHAR, JSON)"') AS t${index}`,
    );
    const checks = below.map(({ index, path }) => unless(`(${valueAt(path)} IS NULL) = (t${index} IS NULL)`));
    sql = `SELECT * FROM (SELECT ${['*', ...maps].join(', ')} FROM (${sql})) WHERE ${checks.join(' AND ')}`;
  }
  const values = leaves.map(({ path }, index) => `${valueAt(path)} AS r${index}`);
  return `(SELECT ${values.join(', ')} FROM (${sql}))`;
}

function openLevel(sql: string, level: readonly JsonObject[], repeats: boolean): string {
  const opened = level.map(object => openSql(object, repeats)).join(', ');
  const usual = level.map(
    ({ index, usual }) => `coalesce(k${index} = ${textList(usual)}, false) AS s${index}`,
  );
  const maps = level.map(({ index }) => `t${index}`).join(', ');
  const known = level.map(object => knownSql(object, repeats)).join(' AND ');
  return `SELECT * FROM (SELECT *, ${usual.join(', ')} FROM (SELECT * EXCLUDE (${maps}), ${opened} FROM (${sql}))) WHERE ${known}`;
}

/** Returns the SQL of keys and values, reversed if keys repeat, so that the last value is found first. */
function openSql({ index }: JsonObject, repeats: boolean): string {
  const inOrder = (list: string) => (repeats ? `list_reverse(${list})` : list);
  return `${inOrder(`map_keys(t${index})`)} AS k${index}, ${inOrder(`map_values(t${index})`)} AS v${index}`;
}

function knownSql({ index, keys }: JsonObject, repeats: boolean): string {
  const known = `list_has_all(${textList(keys)}, k${index})`;
  const once = `len(list_distinct(k${index})) = len(k${index})`;
  return `CASE WHEN s${index} OR k${index} IS NULL THEN true WHEN ${repeats ? known : `${known} AND ${once}`} THEN true ELSE ${mismatch} END`;
}

function valueSql({ index, usual }: JsonObject, key: string): string {
  const place = usual.indexOf(key) + 1;
  const usually = place === 0 ? 'NULL' : `v${index}[${place}]`;
  return `CASE WHEN s${index} THEN ${usually} ELSE v${index}[list_position(k${index}, ${sqlText(key)})] END`;
}

function textList(texts: readonly string[]): string {
  return `[${texts.map(sqlText).join(', ')}]::VARCHAR[]`;
}

function unless(condition: string): string {
  return `CASE WHEN ${condition} THEN true ELSE ${mismatch} END`;
}

function fieldOf({ type }: JsonLeaf, name: string, place: number): ReadField {
  return { name, type: type === 'unseen' ? 'string' : type, sql: cellSql(place, type) };
}

/** Returns the SQL of a cell. Conditions are separate because of wide rows, see `reader-texts.ts`. */
function cellSql(place: number, type: JsonLeaf['type']): string {
  const json = `r${place}`;
  // Null if there is no value.
  const text = `${json}::VARCHAR`;
  const unfit = mismatchAt(place, text);
  const absent = `CASE WHEN ${text} IS NOT NULL THEN ${unfit} END`;
  switch (type) {
    case 'unseen':
      return `${absent}::VARCHAR`;
    case 'string':
      return `CASE WHEN starts_with(${text}, '"') THEN ${json}->>'$' WHEN ${text} IS NOT NULL THEN ${unfit} END`;
    case 'bool':
      return `CASE ${text} WHEN 'true' THEN true WHEN 'false' THEN false ELSE ${absent}::BOOLEAN END`;
    case 'long':
      return `CASE WHEN contains(${text}, '.') THEN ${unfit}::BIGINT WHEN contains(${text}, 'e') THEN ${unfit}::BIGINT ELSE coalesce(TRY_CAST(${text} AS BIGINT), ${absent}::BIGINT) END`;
    case 'real':
      return `CASE WHEN abs(TRY_CAST(${text} AS DOUBLE)) >= 9007199254740992 THEN CASE WHEN ${inexact(text)} THEN ${unfit}::DOUBLE ELSE TRY_CAST(${text} AS DOUBLE) END ELSE coalesce(TRY_CAST(${text} AS DOUBLE), ${absent}::DOUBLE) END`;
    default:
      return text;
  }
}

/** Returns the SQL of whether a double cannot represent a large number exactly. */
function inexact(text: string): string {
  const infinite = `isinf(TRY_CAST(${text} AS DOUBLE)) AND NOT contains(lower(${text}), 'inf')`;
  return `${exceedsReal(text)} OR ${infinite}`;
}

function repeatNote(count: number): string {
  return `${plural(count, 'object')} with a repeated key: the last value is used.`;
}

/** Returns notes on fields whose type became wider than in the sample. */
function wideningNotes(sampled: JsonShape, found: JsonShape): string[] {
  const objects = sampled.levels.flat().map(({ path }) => [JSON.stringify(path), 'objects'] as const);
  const leaves = sampled.leaves.map(({ path, type }) => [JSON.stringify(path), type] as const);
  const before = new Map<string, string>([...objects, ...leaves]);
  const { names } = namesOf(found.leaves);
  return found.leaves.flatMap(({ path, type }, index) =>
    widenedNotes(names[index] ?? '', before.get(JSON.stringify(path)), type),
  );
}

function refusedNotes(refused: number): string[] {
  return refused === 0
    ? []
    : [`Skipped because they are not JSON objects in UTF-8: ${plural(refused, 'line')}.`];
}

function noObjects(count: number): LocalError {
  return new LocalError(
    'invalid',
    'not-an-object',
    `None of the ${plural(count, 'value')} is a JSON object.`,
    {
      hint: 'Each event must be an object: {"field": value, …}.',
    },
  );
}
