/**
 * Writes docs/documentation.md with the results of running the examples of the language's documentation:
 * `npm run documentation -- FOLDER-OF-PAGES`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { FunctionRegistry } from '../kernel/local/duckdb/register.js';
import { type Outcome, outcomeOf } from './documentation/compute.js';
import { examplesIn } from './documentation/examples.js';
import { reasonOfName, reasonOfRefusal, reasonOfValue } from './documentation/reasons.js';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: npm run documentation -- FOLDER-OF-PAGES');
  process.exit(2);
}

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
await connection.run("SET TimeZone = 'UTC'");
await new FunctionRegistry(connection).all();

const pages = new Map<string, Outcome[]>();
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
for (const file of names.filter(name => name.endsWith('.mdx')).sort()) {
  const outcomes: Outcome[] = [];
  for (const example of examplesIn(readFileSync(`${folder}/${file}`, 'utf8')))
    outcomes.push(await outcomeOf(connection, example));
  if (outcomes.length > 0) pages.set(file.replace(/\.mdx$/, ''), outcomes);
}
connection.closeSync();
instance.closeSync();

const unexplained = [...pages].filter(
  ([page, outcomes]) =>
    reasonOfValue(page) === undefined && outcomes.some(each => differencesOf(each).length > 0),
);
writeFileSync(new URL('../docs/documentation.md', import.meta.url), pageText());
for (const [page, outcomes] of unexplained)
  console.error(`no reason for ${page}`, outcomes.flatMap(differencesOf));
process.exitCode = unexplained.length === 0 ? 0 : 1;

function differencesOf(outcome: Outcome) {
  return outcome.kind === 'computed' ? outcome.differences : [];
}

function pageText(): string {
  const all = [...pages.values()].flat();
  const values = all.reduce((sum, each) => sum + valuesOf(each), 0);
  const differences = all.flatMap(differencesOf);
  return `# Examples in the documentation

\`npm run documentation -- FOLDER\` writes this page from the pages of the [language's documentation](https://github.com/axiomhq/docs).
It runs each query. If a printed result follows from the query, or from the other printed columns of its row, the values are computed
and compared to the printed number of decimals. \`test/local/evaluator/documentation.txt\`, which a test runs, has what the text of
the pages says about single values.

${pages.size} pages with ${all.length} examples: ${all.filter(each => each.kind !== 'refused').length} run, ${values} printed values are computed in
${all.filter(each => each.kind === 'computed').length} of them, ${values - differences.length} are as printed.

## Values that differ

| page | column | of | printed | ours | why |
| --- | --- | --- | --- | --- | --- |
${rowsOf((page, outcome) =>
  differencesOf(outcome).map(each => [
    page,
    code(each.column),
    each.from === '' ? 'constants' : code(each.from),
    code(each.printed),
    code(each.ours),
    reasonOfValue(page) ?? '',
  ]),
)}

## Texts that differ

Values claimed in the text of a page, next to ours: the rows of \`test/local/evaluator/documentation.txt\` that have a decision.

| page | expression | documented | ours | decision |
| --- | --- | --- | --- | --- |
${differingTexts()}

## Columns with another name

| page | printed | why |
| --- | --- | --- |
${rowsOf((page, outcome) =>
  outcome.kind === 'refused' ? [] : outcome.unnamed.map(name => [page, code(name), reasonOfName(page, name)]),
)}

## Examples that do not run

| page | why |
| --- | --- |
${rowsOf((page, outcome) => (outcome.kind === 'refused' ? [[page, reasonOfRefusal(outcome.message)]] : []))}

## Pages

| page | examples | run | values computed | as printed |
| --- | --- | --- | --- | --- |
${[...pages].map(([page, outcomes]) => rowOf(countsOf(page, outcomes))).join('\n')}
`;
}

function differingTexts(): string {
  const text = readFileSync(new URL('../test/local/evaluator/documentation.txt', import.meta.url), 'utf8');
  let page = '';
  const rows = text.split('\n').flatMap(line => {
    if (line.startsWith('# ')) page = line.slice(2);
    const [, expression, documented, ours, decision] = /^(.+?) → (.*) ≠ (.*) (D-\S+)$/.exec(line) ?? [];
    return expression === undefined
      ? []
      : [[page, code(expression), code(documented ?? ''), code(ours ?? ''), decision ?? '']];
  });
  return rows.map(rowOf).join('\n');
}

function valuesOf(outcome: Outcome): number {
  return outcome.kind === 'computed' ? outcome.values : 0;
}

function countsOf(page: string, outcomes: readonly Outcome[]): string[] {
  const values = outcomes.reduce((sum, each) => sum + valuesOf(each), 0);
  const differ = outcomes.flatMap(differencesOf).length;
  const run = outcomes.filter(each => each.kind !== 'refused').length;
  return [page, ...[outcomes.length, run, values, values - differ].map(String)];
}

/** Returns the rows of a table of all examples, without duplicates. */
function rowsOf(cells: (page: string, outcome: Outcome) => readonly (readonly string[])[]): string {
  const rows = [...pages].flatMap(([page, outcomes]) => outcomes.flatMap(each => cells(page, each)));
  return [...new Set(rows.map(rowOf))].join('\n');
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(text: string): string {
  return text === '' ? '' : `\`${text.replace(/\s+/g, ' ').replaceAll('|', '\\|')}\``;
}
