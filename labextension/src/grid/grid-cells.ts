/** Cells of a result as text: formatted in the grid, exact for copies and tooltips. */
import { DataType, type Field, type Table, type Vector } from 'apache-arrow';
import {
  formatNumber,
  type NumberFormat,
  numberFormat,
} from '../../../kernel/result/display/display-format.js';
import { cellText, isNumeric, shownText, typeWord } from '../../../kernel/result/display/display-text.js';
import { FIELD_KEY } from '../../../kernel/result/field.js';
import { cut, visible } from '../../../kernel/text.js';
import type { Zone } from '../link/link-zone.js';
import { sharedText, shownTime, type TimeFormat, timeFormat } from './grid-times.js';

/** A column of a result as shown in the grid. */
export interface GridColumn {
  /** Its index in the result. */
  readonly index: number;
  readonly field: Field;
  readonly name: string;
  /** Type declared by the service, such as `datetime`. */
  readonly type: string;
  readonly unit: string | undefined;
  readonly format: NumberFormat;
  readonly isNumeric: boolean;
  /** Format of its times; undefined for other columns. */
  readonly times: TimeFormat | undefined;
  /** How values are colored: as names of severities, or HTTP status codes. */
  readonly colors: 'severity' | 'status' | 'none';
}

/** One cell: the displayed string, the exact one (null for a null), and the color of a severity. */
export interface ShownCell {
  readonly text: string;
  readonly exact: string | null;
  readonly tone: 'error' | 'warning' | 'quiet' | undefined;
}

/** Maximum length of a value in a cell, in characters; the row's details have the full value. */
const CELL_LENGTH = 300;
/** Maximum length of a column name in a menu or beside its value. */
const NAME_LENGTH = 200;

/** Returns the name of a column for menus and lists, on one line. */
export function nameOf({ name }: Pick<GridColumn, 'name'>): string {
  return cut(visible(name), NAME_LENGTH);
}

/** Returns the second line of a column's header: type, unit, and the part that all its times share. */
export function kindOf({ type, unit, times }: GridColumn, zone: Zone): string {
  const shared = times === undefined ? '' : sharedText(zone, times);
  return [typeWord(type), unit, shared].filter(Boolean).join(' \u00b7 ');
}

/** Number of cells that decide the format of times. */
const SAMPLE = 1_000;

function timesOf(table: Table, field: Field, index: number): TimeFormat {
  const vector = vectorOf(table, index);
  const rows = Array.from({ length: Math.min(vector.length, SAMPLE) }, (_, row) => row);
  return timeFormat(rows.flatMap(row => cellText(vector, row, field) ?? []));
}

/** Returns the columns of a table; the digits of floating-point numbers are chosen from its rows. */
export function columnsOf(table: Table): readonly GridColumn[] {
  return table.schema.fields.map((field, index) => ({
    index,
    times: DataType.isTimestamp(field.type) ? timesOf(table, field, index) : undefined,
    field,
    name: field.name,
    type: field.metadata.get(FIELD_KEY.type) ?? String(field.type),
    unit: field.metadata.get(FIELD_KEY.unit),
    format: numberFormat(field, vectorOf(table, index)),
    isNumeric: isNumeric(field),
    colors: colorsOf(field.name),
  }));
}

/** Columns already read, by table: the table creates a new object on each request. */
const vectors = new WeakMap<Table, Map<number, Vector>>();

/** Returns a column of a table by its index. */
export function vectorOf(table: Table, index: number): Vector {
  const known = vectors.get(table) ?? new Map<number, Vector>();
  const vector = known.get(index) ?? table.getChildAt(index);
  if (vector === null) throw new RangeError(`The table has no column ${index}`);
  vectors.set(table, known.set(index, vector));
  return vector;
}

/** Returns a cell as shown in the grid. */
export function shownCell(vector: Vector, row: number, column: GridColumn, zone: Zone): ShownCell {
  const exact = cellText(vector, row, column.field);
  if (exact === null) return { text: 'null', exact, tone: undefined };
  const text = column.isNumeric
    ? formatNumber(exact, column.format)
    : column.times !== undefined
      ? shownTime(exact, zone, column.times)
      : cut(shownText(vector, row, column.field).text, CELL_LENGTH);
  return { text, exact, tone: toneOf(column, exact) };
}

const SEVERITY_FIELD = /(?:^|[._])(?:severity|severity_text|level|log_?level|loglevel|priority)$/i;
const STATUS_FIELD = /(?:^|[._])(?:status|status_?code|http_?status|response_?code)$/i;

function colorsOf(name: string): GridColumn['colors'] {
  if (SEVERITY_FIELD.test(name)) return 'severity';
  return STATUS_FIELD.test(name) ? 'status' : 'none';
}

const ERRORS = /^(?:error|err|fatal|critical|crit|alert|emerg(?:ency)?|panic|severe|failed|failure)$/i;
const WARNINGS = /^(?:warn|warning|degraded|timeout)$/i;
const QUIET = /^(?:debug|trace|verbose)$/i;

function toneOf({ colors }: GridColumn, text: string): ShownCell['tone'] {
  if (colors === 'none') return undefined;
  if (ERRORS.test(text) || (colors === 'status' && /^5\d\d$/.test(text))) return 'error';
  if (WARNINGS.test(text) || (colors === 'status' && /^4\d\d$/.test(text))) return 'warning';
  return QUIET.test(text) ? 'quiet' : undefined;
}
