import { stripVTControlCharacters } from 'node:util';
import { present } from '../present.js';
import { compareTables, differenceText, isUnchanged, type TableChanges } from '../result/compare.js';
import { readStream } from '../result/ipc/ipc-stream.js';
import { ARROW_MIME } from '../result/mime.js';
import { type CodeCell, type Notebook, sourceOf, tablesOf } from './notebook.js';

/** Comparison of one table of a notebook with the same table of a new run. */
export interface Verdict {
  /** Index of the cell among all cells of the notebook, from 1, and of the table within the cell. */
  readonly cell: number;
  readonly table: number;
  readonly status: 'same' | 'different' | 'impossible';
  /** One sentence; empty if the bytes are the same. */
  readonly reason: string;
  /** False if the recorded range is relative to the clock, so that another run reads a different window. */
  readonly frozen: boolean;
  readonly rowsBefore: number;
  readonly rowsAfter?: number;
  /** Absent if no rows can be compared. */
  readonly changes?: TableChanges;
}

/**
 * Compares a notebook's results with those of another run, cell by cell: by the hash of the data, and if these differ, by the rows
 * that the notebook retains. `tolerance` is relative and applies to real numbers.
 */
export function compareRuns(before: Notebook, after: Notebook, tolerance: number): readonly Verdict[] {
  return before.cells.flatMap((cell, index) => {
    const again = after.cells[index];
    if (cell.cell_type !== 'code' || again?.cell_type !== 'code') return [];
    const recorded = resultsOf(cell);
    const fresh = resultsOf(again);
    return recorded.map((table, at) => {
      const place = { cell: index + 1, table: at + 1, frozen: table.frozen, rowsBefore: table.rows };
      const other = fresh[at];
      if (other === undefined)
        return {
          ...place,
          status: 'impossible' as const,
          reason: errorOf(again) ?? 'the cell no longer gives this result',
        };
      return { ...place, rowsAfter: other.rows, ...verdict(table, other, tolerance) };
    });
  });
}

/** A table as stored in an output: its hash, and as many of its first rows as the notebook retains. */
interface RecordedTable {
  readonly sha256: string;
  readonly rows: number;
  readonly columns: number;
  readonly key: readonly string[];
  readonly frozen: boolean;
  /** Base64; absent if the notebook has no data. */
  readonly arrow: string | undefined;
}

function verdict(
  before: RecordedTable,
  after: RecordedTable,
  tolerance: number,
): Pick<Verdict, 'status' | 'reason'> & { readonly changes?: TableChanges } {
  if (before.sha256 === after.sha256) return { status: 'same', reason: '' };
  if (before.arrow === undefined || after.arrow === undefined)
    return { status: 'different', reason: 'the data differ; the notebook holds no rows to compare' };
  const saved = [readRows(before.arrow, before.rows), readRows(after.arrow, after.rows)] as const;
  const [first, second] = saved;
  if (first === undefined || second === undefined)
    return { status: 'different', reason: 'the data differ; the rows saved in the notebook are corrupt' };
  const isWhole = holdsAll(first, before) && holdsAll(second, after);
  const hasAllColumns = first.numCols === before.columns && second.numCols === after.columns;
  // Rows that a notebook had no room for do not count as differences.
  const [left, right] = isWhole ? [first, second] : inCommon(first, second, hasAllColumns);
  const changes = compareTables(left, right, { key: before.key, tolerance });
  if (isWhole && isUnchanged(changes))
    return { status: 'same', reason: `within a tolerance of ${tolerance} for real numbers`, changes };
  const compared = { rows: left.numRows, ...present({ columns: hasAllColumns ? undefined : left.numCols }) };
  const text = differenceText(changes, isWhole ? undefined : compared);
  const isOtherWidth = !hasAllColumns && before.columns !== after.columns;
  const reason = isOtherWidth ? `${before.columns} columns are now ${after.columns}; ${text}` : text;
  return { status: 'different', reason, changes };
}

/** The rows of a table that a notebook retains. */
type SavedTable = ReturnType<typeof readStream>;

function holdsAll({ numRows, numCols }: SavedTable, { rows, columns }: RecordedTable): boolean {
  return numRows === rows && numCols === columns;
}

/** Returns the first rows that both have; if one lacks columns, only the columns in common. */
function inCommon(
  left: SavedTable,
  right: SavedTable,
  hasAllColumns: boolean,
): readonly [SavedTable, SavedTable] {
  const rows = Math.min(left.numRows, right.numRows);
  const [first, second] = [left.slice(0, rows), right.slice(0, rows)];
  if (hasAllColumns) return [first, second];
  const others = new Set(right.schema.fields.map(({ name }) => name));
  const names = left.schema.fields.map(({ name }) => name).filter(name => others.has(name));
  return [first.select(names), second.select(names)];
}

/** Returns the rows of a result that a notebook retains; undefined if they are damaged. */
function readRows(arrow: string, rows: number): SavedTable | undefined {
  try {
    const table = readStream(arrow);
    // The library reads an invalid stream as a table without rows.
    return table.numRows === 0 && rows > 0 ? undefined : table;
  } catch {
    return undefined;
  }
}

function errorOf(cell: CodeCell): string | undefined {
  if (sourceOf(cell).trim() === '') return undefined;
  const error = cell.outputs.find(output => output.output_type === 'error');
  return error && stripVTControlCharacters(`${error.ename}: ${error.evalue}`);
}

/** Returns the results among a cell's outputs; a chart belongs to the table below it. */
function resultsOf(cell: CodeCell): readonly RecordedTable[] {
  return cell.outputs.flatMap(output => {
    if (!('data' in output) || output.data['text/html'] === undefined) return [];
    const arrow = output.data[ARROW_MIME];
    return tablesOf(output.metadata).flatMap(({ rows, columns, sha256, key }, index) => {
      if (typeof sha256 !== 'string') return [];
      return [
        {
          sha256,
          rows: Number(rows),
          columns: Number(columns),
          key: Array.isArray(key) ? key.map(String) : [],
          frozen: isFrozen(output.metadata),
          arrow: index === 0 && typeof arrow === 'string' ? arrow : undefined,
        },
      ];
    });
  });
}

function isFrozen({ apl }: Readonly<Record<string, unknown>>): boolean {
  return typeof apl === 'object' && apl !== null && 'frozen' in apl && apl.frozen === true;
}
