import { join } from 'node:path';
import { exportTable } from '../../../kernel/result/export/export-file.js';
import { exportFormats } from '../../../kernel/result/export/export-formats.js';
import { exactTable } from './exact.js';

/** Writes the table of `exact.ts` to a directory in every format, and prints the Python code that loads each file as JSON. */
const [, , directory = '.'] = process.argv;
const table = exactTable();
const lines: Record<string, { readonly pandas: string; readonly polars: string }> = {};
for (const { endings, pandas, polars } of exportFormats) {
  const [ending = ''] = endings;
  const path = join(directory, `t.${ending}`);
  await exportTable(table, path, {
    force: true,
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  const literal = JSON.stringify(path);
  if (pandas !== undefined && polars !== undefined)
    lines[ending] = { pandas: pandas(literal, table.schema), polars: polars(literal, table.schema) };
}
console.log(JSON.stringify(lines));
