import { wideFields } from '../../engine/engine-parquet.js';
import { footerIn } from '../dataset/part-file.js';
import { readFooter } from '../readers/parquet/parquet-footer.js';
import { firstBytes, isParquet, startOf } from '../sources/source-formats.js';

/** Whether a file has many fields, by its footer or its beginning. Rejects if it cannot be read. */
export async function isWide(file: string): Promise<boolean> {
  const fields = isParquet(await firstBytes(file, 8)) ? await columnsIn(file) : fieldsIn(await startOf(file));
  return fields >= wideFields;
}

async function columnsIn(file: string): Promise<number> {
  const footer = await footerIn(file);
  return footer === undefined ? 0 : readFooter(footer).columns.length;
}

/** Counts the names in JSON until the first comes again, or the values in a line of CSV. */
function fieldsIn(text: string): number {
  if (!/^[[{]/.test(text)) return valuesIn(text.slice(0, text.search(/\n|$/)));
  const names = Array.from(text.matchAll(/"([^"\\]*)"\s*:/g), ([, name]) => name);
  const again = names.indexOf(names[0], 1);
  return new Set(again < 0 ? names : names.slice(0, again)).size;
}

function valuesIn(line: string): number {
  return Math.max(...[',', ';', '\t', '|'].map(delimiter => line.split(delimiter).length));
}
