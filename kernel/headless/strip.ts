import { plural } from '../text.js';
import { type Notebook, type NotebookOutput, tablesOf } from './notebook.js';

/**
 * Removes the data from a notebook's outputs and returns how many outputs had any. Keeps the size and range of a result, but not its
 * hash.
 */
export function stripNotebook(notebook: Notebook): number {
  let stripped = 0;
  for (const cell of notebook.cells) {
    if (cell.cell_type !== 'code') continue;
    stripped += cell.outputs.filter(output => 'data' in output || output.output_type === 'error').length;
    cell.outputs = cell.outputs.flatMap(withoutData);
  }
  return stripped;
}

/** Keeps only facts about results: magics print to streams, errors may quote values, and displays may contain anything. */
function withoutData(output: NotebookOutput): readonly NotebookOutput[] {
  switch (output.output_type) {
    case 'stream':
      return [];
    case 'error':
      return [{ ...output, evalue: REMOVED, traceback: [`${output.ename}: ${REMOVED}`] }];
    case 'display_data':
    case 'execute_result': {
      const facts = factsOf(output.metadata);
      // A chart appears above the table of the same result.
      if (facts === undefined || output.data['text/html'] === undefined) return [];
      return [{ ...output, data: { 'text/plain': facts.text }, metadata: { apl: facts.metadata } }];
    }
  }
}

const REMOVED = 'the text was removed with the data';

interface Facts {
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Returns the size and the range of a result; undefined for an output that is not a result. */
function factsOf(metadata: Readonly<Record<string, unknown>>): Facts | undefined {
  const tables = tablesOf(metadata).map(({ name, rows, columns }) => ({ name, rows, columns }));
  const [first] = tables;
  if (first === undefined) return undefined;
  const { startTime, endTime, rangeLabel, frozen, profile, datasets, kernelVersion } = metadata.apl as Record<
    string,
    unknown
  >;
  const size = `${plural(Number(first.rows), 'row')} \u00d7 ${plural(Number(first.columns), 'column')}`;
  return {
    text: `${size} \u00b7 ${startTime} to ${endTime}\nThe data was removed.`,
    metadata: { startTime, endTime, rangeLabel, frozen, profile, datasets, tables, kernelVersion },
  };
}
