import { readdirSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { diagnosticFailure } from '../../kernel/notebook/cell-error.js';
import type { Outcome, Ran } from '../local/queries.js';

/**
 * A case of a golden file: a title after `===`, a query, `---`, and its result: the rows, then the messages as a cell shows them.
 * `npm run golden` rewrites the results from the current code.
 */
export interface Case {
  readonly title: string;
  readonly apl: string;
  readonly expected: string;
}

export const goldenFolder = new URL('./', import.meta.url);

/** Returns the names of the golden files below {@link goldenFolder}. */
export function goldenFiles(): readonly string[] {
  return readdirSync(goldenFolder, { encoding: 'utf8', recursive: true }).filter(name =>
    name.endsWith('.txt'),
  );
}

export function readCases(text: string): { intro: string; cases: readonly Case[] } {
  const [intro = '', ...parts] = text.split(/^=== /m);
  const cases = parts.map(part => {
    const titleEnd = part.indexOf('\n');
    const [apl = '', expected = ''] = part.slice(titleEnd + 1).split(/^---\n/m);
    return { title: part.slice(0, titleEnd), apl: apl.trimEnd(), expected: expected.trimEnd() };
  });
  return { intro, cases };
}

/** Returns the result of a case in the format of a golden file. */
export function shown(apl: string, outcome: Outcome): string {
  const messages = outcome.diagnostics.map(diagnostic => {
    const { traceback } = diagnosticFailure(diagnostic, apl);
    return `${diagnostic.severity} ${stripVTControlCharacters(traceback.join('\n'))}`;
  });
  return [...(outcome.ok ? [tableText(outcome.ran)] : []), ...messages].join('\n').trimEnd();
}

function tableText({ table, rows }: Ran): string {
  const header = table.fields.map(field => `${field.name}:${field.type}`);
  const lines = [header, ...rows];
  const widths = header.map((_, index) => Math.max(...lines.map(line => stringWidth(line[index] ?? ''))));
  const pad = (cell: string, index: number): string =>
    cell + ' '.repeat((widths[index] ?? 0) - stringWidth(cell));
  const body = lines.map(line => line.map(pad).join('  ').trimEnd());
  const footer = [
    ...(table.order.length === 0
      ? []
      : [`order: ${table.order.map(key => `${key.field} ${key.desc ? 'desc' : 'asc'}`).join(', ')}`]),
    ...(table.groups.length === 0 ? [] : [`groups: ${table.groups.join(', ')}`]),
    ...(table.buckets === undefined ? [] : [`buckets: ${table.buckets.field} by ${table.buckets.size}`]),
  ];
  return [...body, `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`, ...footer].join('\n');
}
