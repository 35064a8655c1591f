import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { diagnosticFailure } from '../kernel/notebook/cell-error.js';
import { fixtures } from './golden/fixtures.js';
import { type Outcome, openQueries, type Ran } from './local/queries.js';

/**
 * A golden file holds cases: a title after `===`, a query, `---`, and what it gives: the rows, then the messages as a cell
 * shows them. `npm run golden` writes what the code gives now.
 */
interface Case {
  readonly title: string;
  readonly apl: string;
  readonly expected: string;
}

const folder = new URL('./golden/', import.meta.url);
const update = process.env.UPDATE_GOLDEN === '1';
const queries = openQueries(fixtures);

for (const file of readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(name =>
  name.endsWith('.txt'),
)) {
  const url = new URL(file, folder);
  const { intro, cases } = readCases(readFileSync(url, 'utf8'));
  if (update) test(`writes ${file}`, async () => expect(await rewrite(url, intro, cases)).toEqual([]));
  else
    describe(file, () => {
      test.each([...cases])('$title', async ({ apl, expected }) => {
        expect(shown(apl, await queries.run(apl))).toBe(expected);
      });
    });
}

function readCases(text: string): { intro: string; cases: readonly Case[] } {
  const [intro = '', ...parts] = text.split(/^=== /m);
  const cases = parts.map(part => {
    const titleEnd = part.indexOf('\n');
    const [apl = '', expected = ''] = part.slice(titleEnd + 1).split(/^---\n/m);
    return { title: part.slice(0, titleEnd), apl: apl.trimEnd(), expected: expected.trimEnd() };
  });
  return { intro, cases };
}

/** Writes what each case gives now; returns those that the engine could not run, which stay as they were. */
async function rewrite(url: URL, intro: string, cases: readonly Case[]): Promise<string[]> {
  const failures: string[] = [];
  const parts: string[] = [];
  for (const { title, apl, expected } of cases) {
    const now = await queries.run(apl).then(
      outcome => shown(apl, outcome),
      (error: unknown) => {
        failures.push(`${title}: ${String(error)}`);
        return expected;
      },
    );
    parts.push(`=== ${title}\n${apl}\n---\n${now}\n`);
  }
  writeFileSync(url, `${intro}${parts.join('\n')}`);
  return failures;
}

function shown(apl: string, outcome: Outcome): string {
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
