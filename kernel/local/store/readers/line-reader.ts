import { sqlText } from '../../duckdb/duckdb-literal.js';
import { longLines } from './sample.js';

/** A delimiter that no log contains, so that each line is one value. */
const noDelimiter = 'chr(1) || chr(2) || chr(3)';

/**
 * Returns the SQL of the lines l of a file. `long` also reads long lines; `careful` does too, and records the lines it skips; `first` reads
 * a few lines from the beginning with `limits`, and no more than necessary.
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
