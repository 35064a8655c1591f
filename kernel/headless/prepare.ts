import { parseCell } from '../apl/syntax/cell.js';
import { writtenText } from '../apl/syntax/tokens/quote.js';
import { UsageError } from '../errors.js';
import { writtenParameters } from './headless-parameters.js';
import { type CodeCell, type Notebook, sourceOf } from './notebook.js';

/** The inputs of one run, which override the notebook's own. */
export interface RunInputs {
  /** As given on the command line: `name=value`. */
  readonly parameters: readonly string[];
  /** A time range in the syntax of `%time`. */
  readonly time?: string;
  readonly profile?: string;
}

/**
 * Writes the inputs of a run into a notebook: the range and the profile replace its own `%time` and `%use` lines, the parameters go
 * into a cell after those that set them. Throws UsageError.
 */
export function prepareNotebook(notebook: Notebook, { parameters, time, profile }: RunInputs): void {
  const wanted = { use: profile, time };
  const added = Object.entries(wanted).flatMap(([name, value]) => {
    const line = `%${name} ${value}`;
    return value === undefined || replaceLines(notebook, name, line) ? [] : [line];
  });
  if (added.length > 0) insertCell(notebook, 0, added);
  if (parameters.length === 0) return;
  const forget = notebook.cells.findIndex(cell => hasTag(cell, INJECTED));
  if (forget >= 0) notebook.cells.splice(forget, 1);
  const assignments = parameters.map(assignmentOf);
  for (const { name } of assignments) checkIsNamed(notebook, name);
  const lines = assignments.map(({ name, value }) => `%param ${name} = ${literal(value)}`);
  insertCell(notebook, placeForParameters(notebook), lines, [INJECTED]);
}

/** Throws UsageError for a name that no cell mentions: with a misspelled parameter, the report would use the defaults. */
function checkIsNamed(notebook: Notebook, name: string): void {
  const code = notebook.cells.filter(cell => cell.cell_type === 'code');
  if (code.some(cell => new RegExp(`\\b${name}\\b`).test(sourceOf(cell)))) return;
  const names = [...writtenParameters(code).keys()];
  throw new UsageError('option-invalid', `no cell names the parameter ${name}`, {
    hint: names.length === 0 ? 'the notebook has no parameters' : `the notebook has ${names.join(', ')}`,
  });
}

/** The tag that papermill gives the cell of injected parameters: https://papermill.readthedocs.io */
const INJECTED = 'injected-parameters';

/** Replaces each notebook-wide magic of that name with a line; returns false if there are none. */
function replaceLines(notebook: Notebook, name: string, line: string): boolean {
  let found = false;
  for (const cell of notebook.cells) {
    if (cell.cell_type !== 'code') continue;
    const lines = parseCell(sourceOf(cell)).magics.filter(
      magic => magic.name.toLowerCase() === name && !magic.cell && magic.args !== '',
    );
    found ||= lines.length > 0;
    for (const { from, to } of lines.toReversed())
      cell.source = sourceOf(cell).slice(0, from) + line + sourceOf(cell).slice(to);
  }
  return found;
}

/** Returns the index after the cell tagged `parameters`, else after the last one that sets parameters, else 0. */
function placeForParameters({ cells }: Notebook): number {
  const tagged = cells.findIndex(cell => hasTag(cell, 'parameters'));
  if (tagged >= 0) return tagged + 1;
  return cells.findLastIndex(cell => cell.cell_type === 'code' && setsParameters(cell)) + 1;
}

function setsParameters(cell: CodeCell): boolean {
  const source = sourceOf(cell);
  return /^\s*declare\s+query_parameters\b/m.test(source) || parseCell(source).magics.some(isParam);
}

function isParam({ name }: { readonly name: string }): boolean {
  return name.toLowerCase() === 'param';
}

function hasTag({ metadata }: Notebook['cells'][number], tag: string): boolean {
  return metadata.tags?.includes(tag) ?? false;
}

function insertCell(notebook: Notebook, index: number, lines: readonly string[], tags: string[] = []): void {
  const cell: CodeCell = {
    cell_type: 'code',
    source: lines.join('\n'),
    metadata: tags.length === 0 ? {} : { tags },
    execution_count: null,
    outputs: [],
  };
  // Ids were added in format 4.5; this one is the same in each run.
  const hasIds = notebook.nbformat_minor >= 5;
  notebook.cells.splice(index, 0, hasIds ? { ...cell, id: `apl-inputs-${index}` } : cell);
}

function assignmentOf(text: string): { readonly name: string; readonly value: string } {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError('option-invalid', `${text} is not a parameter`, {
      hint: 'write -p NAME=VALUE, where NAME consists of letters, digits and _',
    });
  return { name, value };
}

/** Returns a value as an APL literal: JSON by its type, anything else as a string. */
function literal(value: string): string {
  if (/^-?\d+$/.test(value)) return value;
  try {
    const json: unknown = JSON.parse(value);
    if (typeof json === 'object' && json !== null) return `dynamic(${JSON.stringify(json)})`;
    if (typeof json === 'number' || typeof json === 'boolean') return value;
    return writtenText(typeof json === 'string' ? json : value);
  } catch {
    return writtenText(value);
  }
}
