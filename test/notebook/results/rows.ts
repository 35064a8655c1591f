import { type Table, tableFromIPC } from 'apache-arrow';
import { cellText } from '../../../kernel/result/display/display-text.js';
import { ARROW_MIME } from '../../../kernel/result/mime.js';
import type { CellRun } from '../session.js';

/** Returns the rows of the last table that a cell showed, with cells as exact text; for a failed cell, its error. */
export function rows({ outcome, outputs }: CellRun): unknown {
  if (outcome.status === 'error') return outcome.evalue;
  const last = outputs.findLast(output => 'data' in output && ARROW_MIME in output.data);
  if (last === undefined || !('data' in last)) return undefined;
  return tableRows(tableFromIPC(Buffer.from(String(last.data[ARROW_MIME]), 'base64')));
}

/** Returns the rows of a table, with cells as exact text. */
export function tableRows(table: Table): readonly Readonly<Record<string, string | null>>[] {
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(
      table.schema.fields.map((field, index) => {
        const vector = table.getChildAt(index);
        return [field.name, vector === null ? null : cellText(vector, row, field)];
      }),
    ),
  );
}

/** Returns the metadata of a cell's last output about its result. */
export function metadata({ outputs }: CellRun): unknown {
  const last = outputs.findLast(output => 'metadata' in output);
  return last !== undefined && 'metadata' in last ? last.metadata.apl : undefined;
}
