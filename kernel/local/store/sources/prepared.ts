import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { ImportRequest } from '../../../api/wire.js';
import { present } from '../../../present.js';
import type { Engine } from '../../engine/duckdb.js';
import { LocalError } from '../../local-errors.js';
import { unpackers } from '../append/unpack.js';
import { writeCopy } from '../bounds/bounded-copies.js';
import { packingOf } from '../readers/packing.js';
import { unlike } from '../readers/reading.js';
import { unpacked } from '../readers/unpacked.js';
import { filesIn } from './archives.js';
import { convertedFormat, writeConverted } from './converted/converted.js';
import { BrokenLines, detectedNote, encodingOf, toUtf8 } from './encoding.js';
import { joinTexts, type Prepared, togetherNote } from './joined.js';
import { isColored, withoutColors } from './repaired.js';
import { endingOf } from './source-files.js';
import {
  damageOf,
  firstBytes,
  isCut,
  isParquet,
  isZip,
  kindByEnding,
  plain,
  startOfReadable,
} from './source-formats.js';
import { writeSheet } from './workbook.js';
import { mayBeObject, writeList } from './wrapper.js';

/** Options for reading the text of files. */
type TextOptions = Pick<ImportRequest, 'encoding' | 'list' | 'zone' | 'format' | 'pattern'>;

/**
 * Returns one UTF-8 text file, or a set of Parquet files, with the content of all files; copies are in the engine's directory. Throws
 * LocalError.
 */
export async function prepare(
  engine: Engine,
  given: readonly string[],
  options: TextOptions,
  signal?: AbortSignal,
): Promise<Prepared> {
  const files: string[] = [];
  for (const each of given) files.push(...(await filesIn(each, engine.workDir, signal)));
  const parquet = await parquetSet(files);
  if (parquet !== undefined) return parquet;
  const [file = ''] = files;
  if (files.length > 1)
    return joinTexts(files, scratchFile(engine, '.joined'), each => plainText(engine, each, options, signal));
  const start = await startOfReadable(file);
  const asItIs = { file, ending: endingOf(file), notes: [] };
  const isChosen = options.encoding !== undefined || options.list !== undefined;
  if (isParquet(start)) return asItIs;
  const packing = await packingOf(file);
  const isUnnamed = packing !== undefined && !endings[packing].test(file);
  if (isZip(start) || isUnnamed) return plainText(engine, file, options, signal);
  // The engine decompresses Zstandard while reading; inspecting it would need a copy.
  if (packing === 'zstd' && !isChosen) return asItIs;
  const text = plain(start);
  const isText = encodingOf(text, options.encoding, isCut(start)) === 'utf-8';
  const isConverted = convertedFormat(text.toString('utf8'), options) !== undefined;
  const mayHoldList = isJson(file) && (options.list !== undefined || mayBeObject(text));
  return isText && !mayHoldList && !isConverted && !hasColors(file, text)
    ? asItIs
    : plainText(engine, file, options, signal);
}

/** Returns the Parquet files of a set, without those whose names mark them as metadata; undefined if there are none. */
async function parquetSet(files: readonly string[]): Promise<Prepared | undefined> {
  const log = files.find(file => path.dirname(file).split(path.sep).includes('_delta_log'));
  if (log !== undefined) throw deltaTable(path.dirname(path.dirname(log)));
  if (files.length < 2) return undefined;
  const parts = files.filter(file => !path.basename(file).startsWith('_'));
  const [file = '', ...others] = parts;
  const isFirst = await isParquetFile(file);
  for (const other of others)
    if ((await isParquetFile(other)) !== isFirst)
      throw unlike(other, `It is ${isFirst ? 'not a' : 'a'} Parquet file.`);
  if (!isFirst) return undefined;
  return { file, parts, ending: '.parquet', notes: [togetherNote(parts)] };
}

async function isParquetFile(file: string): Promise<boolean> {
  return isParquet(await firstBytes(file, 4));
}

function deltaTable(directory: string): LocalError {
  const message = `${path.basename(directory)} is a Delta table: only its log tells which files are current.`;
  return new LocalError('invalid', 'format', message, {
    hint: 'Export it as Parquet, for example with `df.write.parquet` in Spark, and import the export.',
  });
}

/** File name suffixes by which the engine detects compression. */
const endings = { gzip: /\.gz$/, zstd: /\.zst$/ };

/** Whether a log begins with terminal colors; other kinds of text are unchanged. */
function hasColors(file: string, text: Buffer): boolean {
  return kindByEnding(endingOf(file)) === undefined && isColored(text.toString('latin1'));
}

const colorsNote = 'Terminal color codes are removed.';

/** Whether a file may be JSON, judging by its name. */
function isJson(file: string): boolean {
  return kindByEnding(endingOf(file)) !== 'csv';
}

/** Size of the parts in which files are copied. */
const chunkBytes = 256 * 1024;

function scratchFile(engine: Engine, ending: string): string {
  return path.join(engine.workDir, `${crypto.randomUUID()}${ending}`);
}

/** Returns a copy of a text, decompressed and in UTF-8, with only the events of its list if it is an object around one. */
async function plainText(
  engine: Engine,
  file: string,
  options: TextOptions,
  signal: AbortSignal | undefined,
): Promise<Prepared> {
  const start = await startOfReadable(file);
  if (isZip(start)) return sheetText(engine, file, options, signal);
  const { copy, notes } = await unpackedCopy(engine, file, options.encoding, signal);
  const events = scratchFile(engine, '.ndjson');
  const format = convertedFormat((await startOfReadable(copy)).toString('utf8'), options);
  const converted = format && (await writeConverted(copy, events, path.basename(file), format));
  if (format !== undefined && converted === undefined && options.format !== undefined)
    throw otherLines(path.basename(file), format.label);
  if (format !== undefined && converted !== undefined) {
    await rm(copy);
    const { ending, notes: said } = converted;
    return { file: events, ending, notes: [...notes, ...said], log: format };
  }
  const list = isJson(file) ? await writeList(copy, events, path.basename(file), options.list) : undefined;
  const said = [...notes, ...(list?.notes ?? [])];
  if (!list?.written) return { file: copy, ending: endingOf(file), notes: said };
  await rm(copy);
  return { file: events, ending: '.ndjson', notes: said };
}

function otherLines(name: string, label: string): LocalError {
  return new LocalError('invalid', 'unreadable', `${name} has lines that are not ${label}.`, {
    hint: 'Omit `--format` to read it as plain text.',
  });
}

async function sheetText(
  engine: Engine,
  file: string,
  { list, zone }: TextOptions,
  signal: AbortSignal | undefined,
): Promise<Prepared> {
  const target = scratchFile(engine, '.csv');
  const notes = await writeSheet(file, target, list, zone !== undefined, signal);
  return { file: target, ending: '.csv', notes };
}

async function unpackedCopy(
  engine: Engine,
  file: string,
  named: string | undefined,
  signal: AbortSignal | undefined,
) {
  const isZstandard = (await packingOf(file)) === 'zstd';
  const source = isZstandard ? await unpacked(file, engine.workDir) : file;
  const start = await startOfReadable(source);
  const begin = plain(start);
  const encoding = encodingOf(begin, named, isCut(start));
  const steps = begin === start ? [] : unpackers('gzip');
  const isPlain = !hasColors(file, begin);
  const further = isPlain ? [] : [withoutColors()];
  const copy = scratchFile(engine, '.text');
  const broken = new BrokenLines();
  try {
    const text = toUtf8(encoding, broken);
    await writeCopy(
      copy,
      [createReadStream(source, { highWaterMark: chunkBytes }), ...steps, text, ...further],
      present({ signal }),
    );
  } catch (error) {
    const isOurs = error instanceof LocalError || signal?.aborted;
    throw (isOurs ? undefined : await damageOf(file)) ?? error;
  }
  if (isZstandard) await rm(source);
  const said = named === undefined ? detectedNote(encoding) : undefined;
  const notes = [...(said === undefined ? [] : [said]), ...(isPlain ? [] : [colorsNote])];
  return { copy, notes: [...notes, ...broken.notes(encoding)] };
}
