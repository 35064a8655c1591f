import { type ImportPreview, previewLines, previewRows } from '../api/api-preview.js';
import type { ImportReport } from '../api/wire.js';
import { alignedLines } from '../result/display/aligned.js';
import { typeWord } from '../result/display/display-text.js';
import { cut, formatCount, plural, visible, visibleAgain, visibleLines } from '../text.js';
import type { InstallReport } from './install.js';

/** Prints what `install` or `uninstall` did. */
export function printInstalled(
  what: 'installed' | 'removed',
  { dataDir, kernelspec, labextension, papermill }: InstallReport,
): void {
  console.log(kernelspec === undefined ? `no kernel in ${dataDir}` : `${what} the kernel: ${kernelspec}`);
  if (labextension !== undefined) console.log(`${what} the JupyterLab extension: ${labextension}`);
  else if (what === 'installed')
    console.log('the JupyterLab extension is not built, so it was not installed');
  for (const path of papermill) console.log(`${what} parameters for papermill: ${path}`);
}

/** Prints the outcome of an import. */
export function printImported({
  dataset,
  rows,
  rowsBefore,
  rowsNow,
  fields,
  timeField,
  notes,
}: ImportReport): void {
  const time = timeField === '' ? 'no time field' : `time from ${timeField}`;
  const lines = [
    `${dataset}: ${plural(rows, 'row')}, ${plural(fields.length, 'field')}, ${time}`,
    ...(rowsBefore > 0
      ? [`  the dataset had ${plural(rowsBefore, 'row')} before and has ${formatCount(rowsNow)} now`]
      : []),
    ...notes.map(note => `  ${note}`),
  ];
  // Field names come from the file and must not control the terminal.
  for (const line of lines) console.log(visibleLines(line));
}

/** Prints how a file would be imported. */
export function printPreview(preview: ImportPreview): void {
  const [heading = '', ...lines] = previewLines(preview);
  const rows = previewRows(preview, typeWord).map(row => row.map(value => visible(cut(value, longestValue))));
  for (const line of [heading, ...lines.map(each => `  ${each}`), '', ...alignedLines(rows)])
    console.log(visibleAgain(line));
}

const longestValue = 60;
