import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LogFormat } from '../../../../kernel/api/logs/format.js';
import { logFormats } from '../../../../kernel/api/logs/formats.js';
import { importText, stored, useService } from './traps.js';

useService();

const update = process.env.UPDATE_GOLDEN === '1';
const page = path.join(import.meta.dirname, '../../../../docs/log-formats.md');

const head = `# Formats of logs

Each format that an import recognizes, with lines of it and the events that they become. \`--format NAME\` names one that is not
recognized. \`_time\` is the time of the event, and fields without a value are not shown. A line that has a part which is in no field
is whole in \`line\`, beside the fields that can be read, so that nothing of it is lost.

\`test/local/store/readers/formats.test.ts\` writes this page from what imports do at 2026-06-15T12:00:00Z.
`;

test('the page of formats holds what becomes of the example of each', async () => {
  const sections: string[] = [];
  for (const format of logFormats) sections.push(await sectionOf(format));
  const text = [head, ...sections].join('\n');
  if (update) await writeFile(page, text);
  expect(await readFile(page, 'utf8')).toBe(text);
}, 240_000);

async function sectionOf({ name, label, example, reading }: LogFormat): Promise<string> {
  const { dataset, body } = await importText(`${name}.log`, `${example.join('\n')}\n`);
  const notes: readonly string[] = body.notes;
  if (reading.kind !== 'text' && reading.kind !== 'json')
    expect(notes[0]).toBe(`The lines are read as ${label}.`);
  const names = ['_time', ...body.fields.slice(2).map((field: { name: string }) => field.name)];
  const events = await stored(dataset, "to_json([to_json(COLUMNS(* EXCLUDE ('_sysTime')))])");
  const shown = events.map(row => eventOf(names, JSON.parse(`[${row.replaceAll(']|[', '],[')}]`)));
  const more = notes.slice(1).map(note => `- ${note}\n`);
  const title = `${label[0]?.toUpperCase()}${label.slice(1)}.`;
  return [`## ${name}\n`, `${title}\n`, block(example), block(shown), ...more].join('\n');
}

function eventOf(names: readonly string[], values: readonly (readonly unknown[])[]): string {
  const members = names.flatMap((name, index) =>
    values[index]?.[0] === null ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(values[index]?.[0])}`],
  );
  return `{${members.join(', ')}}`;
}

function block(lines: readonly string[]): string {
  return `${lines.map(line => `    ${line}\n`).join('')}`;
}
