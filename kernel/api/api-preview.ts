import { cut, plural } from '../text.js';

/** Preview of an import, based on the first rows of a file. */
export interface ImportPreview {
  readonly file: string;
  readonly dataset: string;
  /** Name as in requests, and label as in messages. */
  readonly format: { readonly name: string; readonly label: string };
  /** Number of rows read: the first ones, or all. */
  readonly rows: number;
  readonly isWhole: boolean;
  /** Approximate number of rows in the file; 0 if unknown. */
  readonly about: number;
  /** Includes `_time`, with the timestamp that each row would get. */
  readonly fields: readonly PreviewField[];
  /** The field that provides the timestamps; empty if none does. */
  readonly timeField: string;
  /** Oddities, and decisions based on the values. */
  readonly notes: readonly string[];
  /** Reason why the import would fail without another option. */
  readonly problem?: { readonly message: string; readonly hint?: string };
}

/** A field and its values in the first rows as text, null if missing; long ones are truncated. */
export interface PreviewField {
  readonly name: string;
  readonly type: string;
  readonly values: readonly (string | null)[];
}

/** Formats a preview as lines, beginning with the file name; backticks mark code. */
export function previewLines(preview: ImportPreview): readonly string[] {
  const { file, format, fields, rows, isWhole, notes, problem } = preview;
  const own = fields.filter(({ name }) => name !== '_time').length;
  return [
    `${file}: ${format.label}, ${countOf(preview)}, ${plural(own, 'field')}. Nothing is imported yet.`,
    ...(problem === undefined
      ? timeLines(preview)
      : [`Cannot be imported with these settings. ${problem.message}`]),
    ...(problem?.hint === undefined ? [] : [problem.hint]),
    ...(isWhole || notes.length === 0 ? [] : [`Based on the first ${plural(rows, 'row')}:`]),
    ...notes,
  ];
}

function countOf({ rows, isWhole, about }: ImportPreview): string {
  if (isWhole) return plural(rows, 'row');
  // An estimate is rounded to two digits.
  return about > rows
    ? `about ${plural(Number(about.toPrecision(2)), 'row')}`
    : `at least ${plural(rows, 'row')}`;
}

/** Shows the first timestamp next to its original text. */
function timeLines({ fields, timeField }: ImportPreview): readonly string[] {
  const valuesOf = (wanted: string) => fields.find(({ name }) => name === wanted)?.values ?? [];
  const [texts, times] = [valuesOf(timeField), valuesOf('_time')];
  const at = times.findIndex(value => value !== null);
  const [text, time] = [texts[at], times[at]];
  if (timeField === '' || typeof time !== 'string') return [];
  if (typeof text !== 'string' || text === time) return [`Time from ${code(timeField)}.`];
  return [`Time from ${code(timeField)}: ${code(text)} is ${time}.`];
}

function code(text: string): string {
  return `\`${cut(text, 80).replaceAll('`', "'")}\``;
}

/** Returns the fields of a preview as rows: name, type as worded by `typeWord`, and the values of the first rows. */
export function previewRows(
  { fields, timeField, rows }: ImportPreview,
  typeWord: (type: string) => string,
  most = 3,
): readonly (readonly string[])[] {
  const shown = Math.min(most, rows);
  const heads = Array.from({ length: shown }, (_, index) => `row ${index + 1}`);
  return [
    ['field', 'type', ...heads],
    ...fields.map(({ name, type, values }) => [
      name === timeField && name !== '_time' ? `${name} (time)` : name,
      typeWord(type),
      ...heads.map((_, index) => values[index] ?? ''),
    ]),
  ];
}
