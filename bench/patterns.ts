/**
 * Grouping accuracy of `%patterns` over the log collections of loghub, whose templates are published: a line counts if its group holds
 * the same lines as its template (Zhu et al. 2019, "Tools and Benchmarks for Automated Log Parsing"). The collections are not part of
 * this repository: `git clone https://github.com/logpai/loghub` and `LOGHUB=loghub npm run bench -- patterns`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { Drain, masked } from '../kernel/notebook/magics/cause/drain.js';
import { report } from './tools/row.js';

/** A line with the template that it has by those who published it. */
interface Labeled {
  readonly text: string;
  readonly template: string;
}

const GOOD = 0.9;

const directory = process.env.LOGHUB;
if (directory === undefined)
  console.log('Left out: LOGHUB does not name a copy of https://github.com/logpai/loghub.');
else await main(directory);

async function main(from: string): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = [];
  for (const name of readdirSync(from).toSorted()) {
    const file = join(from, name, `${name}_2k.log_structured.csv`);
    if (!existsSync(file)) continue;
    const query = 'SELECT Content, EventId FROM read_csv($1, all_varchar = true, header = true)';
    const read = await connection.runAndReadAll(query, [file]);
    const lines = read.getRows().map(([text, template]) => ({ text: `${text}`, template: `${template}` }));
    rows.push({ collection: name, lines: lines.length, ...figuresOf(lines) });
  }
  connection.closeSync();
  instance.closeSync();
  console.table(rows);
  const poor = rows.filter(({ accuracy }) => accuracy < GOOD).length;
  const figure = `log collections of ${rows.length} with a grouping accuracy below ${GOOD}`;
  report({ figure, unit: '', ours: poor, goal: { atMost: 4 } });
}

/** Groups lines as the magic does: those that are the same once they are masked are one, and the most frequent come first. */
function figuresOf(lines: readonly Labeled[]) {
  const shapes = groupedBy(lines, ({ text }) => masked(text));
  const drain = new Drain<readonly Labeled[]>();
  for (const [shape, members] of [...shapes].sort(([, a], [, b]) => b.length - a.length))
    drain.add(shape, members, members.length);
  const groups = drain.templates().map(({ members }) => members.flat());
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

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}
