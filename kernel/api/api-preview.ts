import { cut, plural } from '../text.js';

/** How a file would be imported, by its first rows. */
export interface ImportPreview {
  /** The name of the file. */
  readonly file: string;
  readonly dataset: string;
  /** As a request names it, and in words. */
  readonly format: { readonly name: string; readonly label: string };
  /** The rows that were read: the first ones, or all. */
  readonly rows: number;
  readonly isWhole: boolean;
  /** About how many rows the file has; 0 if that is not known. */
  readonly about: number;
  /** `_time` is among them, with the time that each row would have. */
  readonly fields: readonly PreviewField[];
  /** The field that the times are read from; empty when no field holds a time. */
  readonly timeField: string;
  /** What is odd, or was decided by the values. */
  readonly notes: readonly string[];
  /** Why the import would be refused without a further option. */
  readonly problem?: { readonly message: string; readonly hint?: string };
}

/** A field, and its values in the first rows as text, null if there is none; long ones are cut. */
export interface PreviewField {
  readonly name: string;
  readonly type: string;
  readonly values: readonly (string | null)[];
}

/** Returns what a preview says in lines, the first of which names the file; backticks mark code. */
export function previewLines(preview: ImportPreview): readonly string[] {
  const { file, format, fields, rows, isWhole, notes, problem } = preview;
  const own = fields.filter(({ name }) => name !== '_time').length;
  return [
    `${file}: ${format.label}, ${countOf(preview)}, ${plural(own, 'field')}. Nothing is imported yet.`,
    ...(problem === undefined ? timeLines(preview) : [`Cannot be imported as it is. ${problem.message}`]),
    ...(problem?.hint === undefined ? [] : [problem.hint]),
    ...(isWhole || notes.length === 0 ? [] : [`By the first ${plural(rows, 'row')}:`]),
    ...notes,
  ];
}

function countOf({ rows, isWhole, about }: ImportPreview): string {
  if (isWhole) return plural(rows, 'row');
  // An estimate has no more digits than it is worth.
  return about > rows
    ? `about ${plural(Number(about.toPrecision(2)), 'row')}`
    : `at least ${plural(rows, 'row')}`;
}

/** How the first time is read, beside the text that it is read from. */
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

/** Returns the fields of a preview as rows: name, type in the words of `typeWord`, and the values of the first rows. */
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
