import { sqlText } from '../../duckdb/duckdb-literal.js';
import { longLines } from './sample.js';

/** No log holds this delimiter: a line is one value. */
const noDelimiter = 'chr(1) || chr(2) || chr(3)';

/**
 * Returns SQL of the lines l of a file. `long` also reads long lines; `careful` does too, and records those that it leaves out;
 * `first` is for a few lines from the beginning, of `limits`: it reads no more than it must.
 */
export function lineReader(
  file: string,
  mode: 'fast' | 'careful' | 'long' | 'first',
  limits = longLines,
): string {
  const plain = `auto_detect = false, header = false, delim = ${noDelimiter}, quote = '', escape = '', strict_mode = false, columns = {'l': 'VARCHAR'}`;
  const more = {
    fast: '',
    careful: `, ${longLines}, store_rejects = true`,
    long: `, ${longLines}`,
    first: `, ${limits}, parallel = false`,
  }[mode];
  return `read_csv(${sqlText(file)}, ${plain}${more})`;
}
