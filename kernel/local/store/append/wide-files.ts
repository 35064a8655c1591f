import { wideFields } from '../../engine/engine-parquet.js';
import { footerIn } from '../dataset/part-file.js';
import { shapeOfEvents } from '../readers/json-shape.js';
import { readFooter } from '../readers/parquet/parquet-footer.js';
import { firstBytes, isParquet, startOf } from '../sources/source-formats.js';
import { readEvents } from './append-events.js';

/** Whether a file has many fields, judging by its footer or its beginning. Rejects if it cannot be read. */
export async function isWide(file: string): Promise<boolean> {
  const fields = isParquet(await firstBytes(file, 8)) ? await columnsIn(file) : fieldsIn(await startOf(file));
  return fields >= wideFields;
}

async function columnsIn(file: string): Promise<number> {
  const footer = await footerIn(file);
  return footer === undefined ? 0 : readFooter(footer).columns.length;
}

/** Counts the fields of JSON, the values in a line of CSV, or the keys of pairs in log lines. */
function fieldsIn(text: string): number {
  if (!/^[[{]/.test(text)) return Math.max(valuesIn(text.slice(0, text.search(/\n|$/))), keysIn(text));
  const lines = text.slice(0, text.lastIndexOf('\n') + 1);
  // The first line may be longer than the part that was read.
  const events = lines === '' ? undefined : readEvents(lines);
  return events === undefined ? namesIn(text) : shapeOfEvents(events).leaves.length;
}

/** Counts the names in JSON up to the first repetition of the first one. */
function namesIn(text: string): number {
  const names = Array.from(text.matchAll(/"([^"\\]*)"\s*:/g), ([, name]) => name);
  const again = names.indexOf(names[0], 1);
  return new Set(again < 0 ? names : names.slice(0, again)).size;
}

function keysIn(text: string): number {
  return new Set(Array.from(text.matchAll(/(?<=^|\s)[a-z_][\w.-]{0,63}(?==[^\s=])/gim), ([key]) => key)).size;
}

function valuesIn(line: string): number {
  return Math.max(...[',', ';', '\t', '|'].map(delimiter => line.split(delimiter).length));
}
