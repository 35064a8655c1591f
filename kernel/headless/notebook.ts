/**
 * A notebook in format 4, with the properties needed to run and show it; other properties of the file are preserved.
 * https://nbformat.readthedocs.io/en/latest/format_description.html
 */
export interface Notebook {
  cells: NotebookCell[];
  metadata: Record<string, unknown>;
  nbformat: number;
  nbformat_minor: number;
}

/** A cell as stored in the file. */
export type NotebookCell = CodeCell | TextCell;

/** A cell that is run; `source` is one string or its lines. */
export interface CodeCell {
  cell_type: 'code';
  id?: string;
  source: string | string[];
  metadata: CellMetadata;
  execution_count: number | null;
  outputs: NotebookOutput[];
}

/** A cell that is not run: Markdown, or raw text. */
export interface TextCell {
  cell_type: 'markdown' | 'raw';
  id?: string;
  source: string | string[];
  metadata: CellMetadata;
}

interface CellMetadata {
  tags?: string[];
  [key: string]: unknown;
}

/** One output in notebook format 4. */
export type NotebookOutput =
  | { output_type: 'stream'; name: 'stdout' | 'stderr'; text: string | string[] }
  | { output_type: 'display_data'; data: Record<string, unknown>; metadata: Record<string, unknown> }
  | {
      output_type: 'execute_result';
      execution_count: number;
      data: Record<string, unknown>;
      metadata: Record<string, unknown>;
    }
  | { output_type: 'error'; ename: string; evalue: string; traceback: string[] };

/** Returns a notebook file's content as Jupyter writes it: sorted keys, and multiline strings as lists of lines. */
export function notebookText(notebook: Notebook): string {
  return `${JSON.stringify(sorted({ ...notebook, cells: notebook.cells.map(cellInLines) }), null, 1)}\n`;
}

function cellInLines(cell: NotebookCell): object {
  const source = linesOf(sourceOf(cell));
  return cell.cell_type === 'code'
    ? { ...cell, source, outputs: cell.outputs.map(outputInLines) }
    : { ...cell, source };
}

function outputInLines(output: NotebookOutput): object {
  switch (output.output_type) {
    case 'stream':
      return { ...output, text: linesOf(textOf(output.text)) };
    case 'display_data':
    case 'execute_result':
      return { ...output, data: Object.fromEntries(Object.entries(output.data).map(dataInLines)) };
    case 'error':
      return output;
  }
}

function dataInLines([type, value]: readonly [string, unknown]): readonly [string, unknown] {
  const isLines = typeof value === 'string' && (type.startsWith('text/') || SPLIT_TYPES.has(type));
  return [type, isLines ? linesOf(value) : value];
}

/** Non-text types that Jupyter writes as lines. */
const SPLIT_TYPES: ReadonlySet<string> = new Set(['image/svg+xml', 'application/javascript']);

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/).filter(line => line !== '');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  );
}

/** Returns a string of a notebook file, which may be stored as a list of lines. */
export function textOf(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join('');
}

export function sourceOf(cell: NotebookCell): string {
  return textOf(cell.source);
}

/** Returns the notebook in a file's content, or the reason why it is not one. */
export function parseNotebook(text: string): Notebook | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is not JSON (${(error as Error).message})`;
  }
  if (!isRecord(value)) return 'it is not a JSON object';
  if (value.nbformat !== 4) return `its nbformat is ${String(value.nbformat)}, not 4`;
  if (!Array.isArray(value.cells)) return 'it has no list of cells';
  const wrong = value.cells.findIndex(cell => !isCell(cell));
  if (wrong !== -1) return `cell ${wrong + 1} has no type or no source`;
  const notebook = value as unknown as Notebook;
  for (const [index, cell] of notebook.cells.entries()) {
    if (cell.cell_type !== 'code') continue;
    const outputs = readOutputs(cell.outputs);
    if (outputs === undefined) return `cell ${index + 1} has outputs that are not of notebook format 4`;
    cell.outputs = outputs;
  }
  return notebook;
}

/** Returns the tables that an output's metadata describes; empty for an output that is not one of this kernel's results. */
export function tablesOf(metadata: Readonly<Record<string, unknown>>): readonly Record<string, unknown>[] {
  const tables = isRecord(metadata.apl) ? metadata.apl.tables : undefined;
  return Array.isArray(tables) ? tables.filter(isRecord) : [];
}

/** Returns the outputs of a code cell, undefined if one is damaged. Some programs omit empty members. */
function readOutputs(value: unknown): NotebookOutput[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return undefined;
  const outputs = value.map(readOutput);
  return outputs.every(output => output !== undefined) ? outputs : undefined;
}

function readOutput(value: unknown): NotebookOutput | undefined {
  if (!isRecord(value)) return undefined;
  const { data = {}, metadata = {} } = value;
  const output = { ...value, data, metadata } as unknown as NotebookOutput;
  switch (value.output_type) {
    case 'stream':
      return isText(value.text) ? (value as unknown as NotebookOutput) : undefined;
    case 'error':
      return Array.isArray(value.traceback) && isText(value.traceback)
        ? (value as unknown as NotebookOutput)
        : undefined;
    case 'display_data':
    case 'execute_result':
      return isRecord(data) && isRecord(metadata) ? output : undefined;
    default:
      return undefined;
  }
}

function isCell(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.metadata)) return false;
  return isText(value.source) && ['code', 'markdown', 'raw'].includes(String(value.cell_type));
}

/** Returns whether a value is a string or a list of strings. */
function isText(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every(line => typeof line === 'string'));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
