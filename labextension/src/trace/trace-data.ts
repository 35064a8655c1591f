/** The spans of a trace with their fields, from the kernel or from the table in the notebook. */
import type { Kernel } from '@jupyterlab/services';
import type { Table } from 'apache-arrow';
import { cellText } from '../../../kernel/result/display/display-text.js';
import type { TraceReference } from '../../../kernel/result/trace/trace-reference.js';
import { type ShownSpan, spansOf } from '../../../kernel/result/trace/trace-spans.js';
import { type Trace, traceOf } from '../../../kernel/result/trace/trace-tree.js';
import { kernelRows } from '../grid/data/kernel-rows.js';
import { columnsOf, type GridColumn, vectorOf } from '../grid/grid-cells.js';

/** A field and its value; spans list only fields with a value. */
export type FieldValue = readonly [GridColumn, string];

/** A trace, with the fields of its spans. */
export interface TraceData {
  readonly trace: Trace<ShownSpan>;
  fieldsOf(span: ShownSpan): readonly FieldValue[];
}

/** Rows per request. */
const PAGE = 2_000;

/** Resolves with the tables of all spans of a trace; undefined if neither the kernel nor the notebook has them all. */
export async function spanTables(
  { result }: TraceReference,
  kernelOf: () => Promise<Kernel.IKernelConnection | undefined>,
  saved: Table | undefined,
): Promise<readonly Table[] | undefined> {
  if (saved?.numRows === result.rows && saved.numCols === result.columns) return [saved];
  const kernel = await kernelOf();
  if (kernel === undefined) return undefined;
  try {
    const source = await kernelRows(kernel, result.id, () => undefined);
    try {
      const tables: Table[] = [];
      for (let from = 0; from < result.rows; from += PAGE)
        tables.push((await source.page({}, from, PAGE)).table);
      return tables;
    } finally {
      source.close();
    }
  } catch {
    return undefined;
  }
}

/** Returns the trace of the spans in tables. */
export function traceData(tables: readonly Table[]): TraceData {
  const tableOf = new Map<ShownSpan, Table>();
  const spans = tables.flatMap(data => {
    const found = spansOf({ data }).spans;
    for (const span of found) tableOf.set(span, data);
    return found;
  });
  const columns = new Map(tables.map(table => [table, columnsOf(table)]));
  return {
    trace: traceOf(spans),
    fieldsOf: span => {
      const table = tableOf.get(span);
      if (table === undefined) return [];
      return (columns.get(table) ?? []).flatMap(column => {
        const text = cellText(vectorOf(table, column.index), span.row, column.field);
        return text === null || text === '' ? [] : [[column, text] as const];
      });
    },
  };
}
