import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isHidden } from '../../../machine.js';
import { safeWords } from '../../../result/display/summary.js';
import type { ExportedFile } from '../../../result/export/export-file.js';
import { shortfallSentences } from '../../../result/shortfall.js';
import { formatBytes, formatCount, plural, visible } from '../../../text.js';
import { lastName } from '../../results/result-cache.js';
import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError } from '../magic-arguments.js';
import { pathOf } from '../magic-files.js';
import { textOutput, withProgress } from '../output.js';

/** The magic that writes results to files. */
export const exportMagics: readonly Magic[] = [
  {
    name: 'export',
    usage: '%export FILE [--from NAME] [--force]',
    options: [
      { name: 'from', value: 'NAME', summary: 'the result to write (default: the last one)' },
      { name: 'force', summary: 'replace an existing file' },
    ],
    summary: 'write all rows of a result to a file',
    help: [
      'The file extension selects the format: `.csv`, `.tsv`, `.ndjson`, `.json`, `.parquet`, `.arrow`, or `.md` for people. In a cell with a query, writes the result of that query.',
      '',
      '64-bit integers and nanoseconds stay exact. Parquet and Arrow preserve every type; in the other formats, durations are whole nanoseconds and dynamic values are JSON. In CSV and TSV, a null is an empty cell, an empty string is `""`, and a string that a spreadsheet would take for a formula gets a leading apostrophe.',
      '',
      '    %export ~/errors.parquet --from errs',
    ].join('\n'),
    arity: [1, 1],
    effects: ['write', 'overwrite'],
    argument: 'file',
    run: exportResult,
  },
];

/** Writes a cached result to a file; in a cell with a query, its result, once it has run. */
async function exportResult(call: MagicCall, host: MagicHost): Promise<void> {
  if (host.plan.queries.length === 0) return write(call, host);
  host.plan.afterRun.push(() => write(call, host));
}

async function write({ words, options }: MagicCall, host: MagicHost): Promise<void> {
  const { session, io } = host;
  const [written = ''] = words;
  const name = options.get('from') ?? lastName;
  const result = session.results.named(name)?.result;
  const table = result?.tables[0]?.data;
  if (result === undefined || table === undefined) throw nothing(name, session.results.names());
  const path = pathOf(session.options, written);
  const place = await placeOf(path);
  await askForPlace(place, options.has('force'), host);
  const { exportTable } = await import('../../../result/export/export-file.js');
  await withProgress(io, `Exporting ${plural(table.numRows, 'row')} to ${written}`, async progress => {
    const file = await exportTable(table, path, {
      force: options.has('force'),
      signal: io.signal,
      progress: rows => progress(`${formatCount(rows)} written`),
    });
    session.consents.made(['file', place]);
    const short = shortfallSentences(result).map(safeWords);
    return textOutput([...short, report(file, written, path, table.schema)].join('\n'));
  });
}

/** Resolves links in the directory of a path; a link at the path itself is replaced, not followed. */
async function placeOf(path: string): Promise<string> {
  return join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path));
}

/** Requests consent to overwrite: settings files and other programs' files may have the extension of a format. */
async function askForPlace(place: string, force: boolean, { session, consent }: MagicHost): Promise<void> {
  if (session.consents.hasMade(['file', place])) return;
  if (isHidden(place))
    await consent('overwrite', `write ${place}, a hidden file or a file in a hidden directory`);
  else if (force && (await exists(place)))
    await consent('overwrite', `replace ${place}, which no cell of this session wrote`);
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function nothing(name: string, names: readonly string[]): MagicError {
  if (name === lastName) return new MagicError('there is no result to export yet', 'Run a query first.');
  const known = names.length === 0 ? 'No result has a name yet.' : `Named results: ${names.join(', ')}.`;
  return new MagicError(`there is no result ${name}`, known);
}

function report(
  { rows, bytes, format, loss }: ExportedFile,
  written: string,
  path: string,
  schema: Parameters<NonNullable<ExportedFile['format']['pandas']>>[1],
): string {
  const literal = JSON.stringify(path);
  const { pandas, polars } = format;
  return [
    `${visible(written)}: ${plural(rows, 'row')}, ${formatBytes(bytes)}`,
    ...(loss === undefined ? [] : [loss]),
    ...(pandas === undefined ? [] : [`import json, pandas as pd; df = ${pandas(literal, schema)}`]),
    ...(polars === undefined ? [] : [`import polars as pl; df = ${polars(literal, schema)}`]),
  ].join('\n');
}
