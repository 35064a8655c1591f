/**
 * Grouping accuracy of `%patterns` over the log collections of loghub, whose templates are published: a line counts if its group has
 * the same lines as its template (Zhu et al. 2019, "Tools and Benchmarks for Automated Log Parsing"). The collections are not part of
 * this repository: `git clone https://github.com/logpai/loghub` and `LOGHUB=loghub npm run bench -- patterns`.
 * Each template with wildcards is then used as its `parse` line in the local service, which the lines of its group must match.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parseLine } from '../kernel/apl/editor/editor-template.js';
import { Drain, masked, type Template } from '../kernel/notebook/magics/cause/drain.js';
import { report } from './tools/row.js';
import { ask, type Running, startProcess, stopProcess } from './tools/service.js';

/** A line with its published template. */
interface Labeled {
  readonly text: string;
  readonly template: string;
}

const GOOD = 0.9;
const MATCHED = 0.99;

const directory = process.env.LOGHUB;
if (directory === undefined)
  console.log('Left out: LOGHUB does not name a copy of https://github.com/logpai/loghub.');
else await main(directory);

async function main(from: string): Promise<void> {
  const service = await startProcess();
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = [];
  for (const name of readdirSync(from).toSorted()) {
    const file = join(from, name, `${name}_2k.log_structured.csv`);
    if (!existsSync(file)) continue;
    const query = 'SELECT Content, EventId FROM read_csv($1, all_varchar = true, header = true)';
    const read = await connection.runAndReadAll(query, [file]);
    const lines = read.getRows().map(([text, template]) => ({ text: `${text}`, template: `${template}` }));
    const groups = groupsOf(lines);
    const parsed = await parsedShares(service, name.toLowerCase(), groups);
    rows.push({
      ...{ collection: name, lines: lines.length, ...figuresOf(lines, groups) },
      ...{ 'parse lines': parsed.length, 'least matched': Math.min(1, ...parsed) },
    });
  }
  await stopProcess(service);
  connection.closeSync();
  instance.closeSync();
  console.table(rows);
  const poor = rows.filter(({ accuracy }) => accuracy < GOOD).length;
  const figure = `log collections of ${rows.length} with a grouping accuracy below ${GOOD}`;
  report({ figure, unit: '', ours: poor, goal: { atMost: 4 } });
  const unmatched = rows.filter(row => row['least matched'] < MATCHED).length;
  const words = `log collections with a parse line that matches less than ${MATCHED} of its group`;
  report({ figure: words, unit: '', ours: unmatched, goal: { atMost: 0 } });
}

type Groups = readonly Template<Labeled>[];

/** Groups lines like the magic: lines that are equal once masked are one, and the most frequent come first. */
function groupsOf(lines: readonly Labeled[]): Groups {
  const shapes = groupedBy(lines, ({ text }) => masked(text));
  const drain = new Drain<readonly Labeled[]>();
  for (const [shape, members] of [...shapes].sort(([, a], [, b]) => b.length - a.length))
    drain.add(shape, members, members.length);
  return drain.templates().map(({ words, members }) => ({ words, members: members.flat() }));
}

function figuresOf(lines: readonly Labeled[], found: Groups) {
  const groups = found.map(({ members }) => members);
  const published = groupedBy(lines, ({ template }) => template);
  const right = groups.filter(group => {
    const [first] = group;
    return (
      group.every(({ template }) => template === first?.template) &&
      group.length === published.get(first?.template ?? '')?.length
    );
  });
  const count = right.reduce((sum, group) => sum + group.length, 0);
  return {
    templates: published.size,
    found: groups.length,
    accuracy: Number((count / Math.max(lines.length, 1)).toFixed(3)),
  };
}

/** Returns the share of the lines matched by the `parse` line of their group, for each group that has one. */
async function parsedShares(service: Running, dataset: string, groups: Groups): Promise<readonly number[]> {
  const all = groups.flatMap(({ members }, group) => members.map(({ text }) => ({ group, text })));
  await ask(service, '/v2/datasets', JSON.stringify({ name: dataset }));
  await ask(service, `/v1/datasets/${dataset}/ingest`, JSON.stringify(all));
  const range = { startTime: 'now-1h', endTime: 'now+1h' };
  const shares: number[] = [];
  for (const [group, template] of groups.entries()) {
    const line = parseLine('text', template.words.join(' '));
    if (line === undefined) continue;
    const apl = `['${dataset}'] | where group == ${group} | ${line} | summarize countif(isnotnull(p1))`;
    const answer = await ask(service, '/v1/datasets/_apl?format=tabular', JSON.stringify({ apl, ...range }));
    const { tables } = JSON.parse(answer) as { readonly tables: readonly [{ readonly columns: number[][] }] };
    shares.push((tables[0].columns[0]?.[0] ?? 0) / template.members.length);
  }
  return shares;
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}
