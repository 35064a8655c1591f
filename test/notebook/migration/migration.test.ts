import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseQuery } from '../../../kernel/apl/syntax/parse.js';
import { realBench } from '../real-bench.js';
import { rows } from '../results/rows.js';
import { kusto, translated } from './queries.js';

/*
 * `UPDATE_GOLDEN=1 npx vitest run --project service test/notebook/migration` writes the page.
 */

const page = new URL('../../../docs/migrate.md', import.meta.url);
// `ago` follows the service's clock.
const bench = realBench({}, { now: () => BigInt(Date.now()) * 1_000_000n });

const queries = translated.flatMap(({ queries }) => queries.map(([, query]) => query));

/** Returns the APL query that the kernel offers for one of another language. */
function offered(query: string): string {
  const found = parseQuery(query).diagnostics.find(({ code }) => code === 'other-language');
  expect(found?.instead).toBeDefined();
  return found?.instead ?? '';
}

/** Counts the rows that a cell shows. */
async function rowsOf(cell: string): Promise<number> {
  const found = rows(await bench().run(`%%time last 1h\n${cell}`));
  if (!Array.isArray(found)) throw new Error(String(found));
  return found.length;
}

test.each(queries)('the translation of %s runs and finds rows', async query => {
  expect(await rowsOf(offered(query))).toBeGreaterThan(0);
});

test.each(kusto.map(([, , apl]) => apl))('%s finds rows', async apl => {
  expect(await rowsOf(apl)).toBeGreaterThan(0);
});

test("the page lists the kernel's translations", () => {
  const sections = translated.map(({ language, queries }) => [
    `## From ${language}`,
    ...table(
      language,
      queries.map(([task, query]) => [task, query, offered(query)]),
    ),
  ]);
  const text = [introduction, ...sections.map(lines => lines.join('\n')), kustoSection()].join('\n\n');
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, `${text}\n`);
  expect(readFileSync(page, 'utf8')).toBe(`${text}\n`);
});

const introduction = `# Coming from SQL, Splunk, Elasticsearch or Kusto

A query starts with a dataset, and each \`|\` passes its rows to the next operator. The time range is not part of the query: set it in the
toolbar or with \`%time last 1h\`. Without a \`limit\`, 1,000 rows are shown.

A cell with a query in SQL, SPL (Splunk), LogQL, PromQL, CloudWatch Logs Insights, Lucene, ES|QL or pandas does not run: the error
shows the translation, and one click in JupyterLab's editor inserts it. The same applies to a single stage after a pipe, from SPL
(\`| timechart span=5m count by method\`), the shell (\`| grep -v ok\`, \`| wc -l\`) or jq (\`| select(.status >= 500)\`, \`| {uri, status}\`), and
to SQL and SPL functions, whose arguments are reordered (\`match(uri, "^/api")\`). The tables below show the kernel's translations of
queries over the samples; you can paste either side into a cell. If there is no translation, the error says so and suggests an alternative.`;

function kustoSection(): string {
  return [
    '## From Kusto',
    '',
    'These mean the same: `where`, `extend`, `project`, `summarize … by`, `join`, `union`, `parse`, `mv-expand`, `make-series`',
    'and `let`. What differs:',
    ...table('Kusto', kusto),
    '',
    'A Kusto name that APL lacks is an error that suggests the APL name, in the cell and while you type. `top-nested`, `fork`,',
    '`partition`, `scan` and graphs have no counterpart.',
  ].join('\n');
}

function table(language: string, lines: readonly (readonly [string, string, string])[]): readonly string[] {
  return [
    '',
    `| task | ${language.replaceAll('|', '\\|')} | APL |`,
    '|---|---|---|',
    ...lines.map(([task, query, apl]) => `| ${task} | ${code(query)} | ${code(apl)} |`),
  ];
}

/** Formats code for a table cell, on one line; a comment needs its line break. */
function code(text: string): string {
  return `\`${text
    .replace(/^(\/\/.*)\n/, '$1 ↵ ')
    .replace(/\n\s*/g, ' ')
    .replaceAll('|', '\\|')}\``;
}
