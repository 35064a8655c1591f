import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { formatDuration } from '../../../../../kernel/time.js';
import { importText, stored, useService } from '../traps.js';

useService();

const update = process.env.UPDATE_GOLDEN === '1';
const page = path.join(import.meta.dirname, '../../../../../docs/parquet-types.md');
const directory = path.join(import.meta.dirname, 'types');

const head = `# Parquet types

How each type is imported, at its extremes: the values in the file, in the notation of its writer, and the values of the field. If a value
changes, the import prints a note with the name of the field. Rows without a value are omitted.

\`test/local/store/readers/parquet/parquet-types.test.ts\` writes this page from imports of the files next to it.
`;

/** Files by writer. */
const files = {
  pyarrow: 'pyarrow',
  nested: 'pyarrow, nested',
  int96: 'pyarrow, INT96 as written by Spark and Impala',
  names: 'pyarrow, names',
  decimal256: 'pyarrow, 256-bit decimals',
  polars: 'polars',
  duckdb: 'DuckDB',
} as const;

test('docs/parquet-types.md shows the outcome of each value', async () => {
  const sections: string[] = [];
  for (const [name, title] of Object.entries(files)) sections.push(await sectionOf(name, title));
  const text = [head, ...sections].join('\n');
  if (update) await writeFile(page, text);
  expect(await readFile(page, 'utf8')).toBe(text);
}, 60_000);

async function sectionOf(name: string, title: string): Promise<string> {
  const written: Record<string, [string, string[]]> = JSON.parse(
    await readFile(path.join(directory, `${name}.json`), 'utf8'),
  );
  const { dataset, status, body } = await importText(
    `${name}.parquet`,
    await readFile(path.join(directory, `${name}.parquet`)),
  );
  if (status !== 200) return `## ${title}\n\nRefused: ${body.message}\n`;
  const notes: readonly string[] = body.notes;
  const events = (await stored(dataset, 'to_json([COLUMNS(*)::VARCHAR])')).map(cellsOfRow);
  const rows: string[] = [];
  for (const [column, [type, values]] of Object.entries(written)) {
    const names = body.fields.filter(
      (each: { name: string }) => each.name === column || each.name.startsWith(`${column}.`),
    );
    expect(names, column).not.toEqual([]);
    const found: string[] = [];
    for (const each of names) {
      const place = body.fields.indexOf(each);
      const prefix = each.name === column ? '' : `${each.name}: `;
      for (const event of events.slice(0, values.length))
        found.push(prefix + shownAs(event[place], each.type));
    }
    const types = names.map((each: { type: string }) => each.type).join(', ');
    const said = notes.filter(
      note => new RegExp(`\`${column}[.\`]`).test(note) && !note.startsWith('No field'),
    );
    rows.push(`| ${[column, type, cellsOf(values), types, cellsOf(found), said.join('<br>')].join(' | ')} |`);
  }
  const table = ['| column | type | values | field | values | notes |', '|---|---|---|---|---|---|', ...rows];
  return `## ${title}\n\n${table.join('\n')}\n`;
}

/** Returns the values of a row, each stored as an array of one text. */
function cellsOfRow(row: string): readonly (string | null)[] {
  return JSON.parse(`[${row.replaceAll(']|[', '],[')}]`).flat();
}

function shownAs(text: string | null | undefined, type: string): string {
  if (typeof text !== 'string') return 'null';
  if (type === 'timespan') return formatDuration(BigInt(text));
  return type === 'datetime' ? `${text.replace(' ', 'T')}Z` : text;
}

function cellsOf(values: readonly string[]): string {
  return values.map(value => `\`${value.replaceAll('\0', '\\0').replaceAll('|', '\\|')}\``).join('<br>');
}
