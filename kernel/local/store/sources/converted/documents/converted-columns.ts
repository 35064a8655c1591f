import type { Left } from '../left.js';
import { eventText, itemsOf, type Members, markedJson, membersOf } from './exact-json.js';

/**
 * Returns the rows of a document with the names of columns beside lists of values, as query APIs answer, each as a line with a member for
 * each column. Any other text is unchanged, and counted.
 */
export function columnLines(text: string, left: Left): readonly string[] {
  const document = markedJson(text);
  const { FrameType, TableKind } = membersOf(document);
  // A list of frames, as Kusto streams them: most are about the query.
  if (FrameType !== undefined && TableKind !== primaryName) return [];
  const rows = rowsIn(document);
  if (rows.length > 0) return rows.map(eventText);
  left.keep('it has no rows');
  return [text];
}

function rowsIn(document: unknown): readonly Members[] {
  if (Array.isArray(document)) return ofPrimary(document.map(membersOf)).flatMap(rowsIn);
  const members = membersOf(document);
  const tables = itemsOf(members.tables ?? members.Tables);
  if (tables.length > 0) return rowsIn(tables);
  const results = itemsOf(members.results);
  if (results.length > 0) return results.flatMap(rowOrRows);
  if (Array.isArray(members.series)) return members.series.map(membersOf).flatMap(ofSeries);
  return Array.isArray(members.fields) ? ofColumns(members) : tableRows(members);
}

/** Returns the tables with the result of a query, without those about it; all of them if none is marked. */
function ofPrimary(tables: readonly Members[]): readonly Members[] {
  const primary = tables.filter(({ name, TableKind }) => name === primaryName || TableKind === primaryName);
  return primary.length === 0 ? tables : primary;
}

const primaryName = 'PrimaryResult';

/** An event of CloudWatch Logs Insights is a list of fields with their values; a result of InfluxDB is an object with series. */
function rowOrRows(result: unknown): readonly Members[] {
  if (!Array.isArray(result)) return rowsIn(result);
  const cells = result.map(membersOf).map(({ field, value }) => [String(field), value] as const);
  return [Object.fromEntries(cells)];
}

function ofSeries(series: Members): readonly Members[] {
  const { name, tags } = series;
  return tableRows(series).map(row => ({ name, tags, ...row }));
}

function tableRows(table: Members): readonly Members[] {
  const names = namesOf(table.columns ?? table.Columns);
  const rows = itemsOf(table.rows ?? table.Rows ?? table.values ?? table.data);
  return rows.map(row =>
    Object.fromEntries(itemsOf(row).map((value, index) => [names[index] ?? `column${index + 1}`, value])),
  );
}

/** Returns the rows of a table with a list for each column. */
function ofColumns({ fields, columns }: Members): readonly Members[] {
  const names = namesOf(fields);
  const lists = itemsOf(columns).map(itemsOf);
  return (lists[0] ?? []).map((_, row) =>
    Object.fromEntries(lists.map((list, index) => [names[index] ?? `column${index + 1}`, list[row]])),
  );
}

/** Returns the names of columns; a repeated one gets a number. */
function namesOf(columns: unknown): readonly string[] {
  const found = itemsOf(columns).map(column => {
    const { name, ColumnName } = membersOf(column);
    return String(typeof column === 'string' ? column : (name ?? ColumnName));
  });
  return found.map((name, index) => {
    const before = found.slice(0, index).filter(other => other === name).length;
    return before === 0 ? name : `${name}${before + 1}`;
  });
}
