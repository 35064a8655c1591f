import { readFileSync, writeFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { aggregates } from '../../kernel/apl/catalog/aggregates.js';
import { functions } from '../../kernel/apl/catalog/all-functions.js';
import { elements } from '../../kernel/apl/catalog/operator-entries.js';
import { Statements } from '../../kernel/local/trino/protocol/statement.js';
import { fixtures } from '../golden/fixtures.js';
import { openQueries } from '../local/queries.js';
import { deploymentAt, goldenQueries, plainCell, runThere } from './cases.js';

const here = openQueries(fixtures);
const url = process.env.TRINO_URL ?? inject('trino');

const examples = [...functions, ...aggregates, ...elements].flatMap(({ example }) => example?.apl ?? []);
const queries = [...new Set([...goldenQueries, ...examples])];

/** Queries that are not deterministic, or concern the engine itself. */
const random = /\brand\(|\bsample\b|\btake_any|explain|externaldata|\bnow\(\)/;

const page = new URL('../../docs/trino.md', import.meta.url);
const [above = '', , below = ''] = readFileSync(page, 'utf8').split(
  /(?<=<!-- begin: differences -->\n)|(?=<!-- end: differences -->)/,
);

test.skipIf(url === '')(
  'golden queries give the same on the cluster, need this machine, or are listed as different',
  async () => {
    const statements = new Statements(deploymentAt(url));
    const counts = { same: 0, refused: 0 };
    const rows: string[] = [];
    const ours = new Map<string, string>();
    const unordered = new Set<string>();
    for (const apl of queries.filter(each => !random.test(each))) {
      const outcome = await here.run(apl);
      if (outcome.ok) ours.set(apl, shown(outcome.ran.rows, outcome.ran.table.order.length > 0));
      if (outcome.ok && outcome.ran.table.order.length === 0) unordered.add(apl);
    }
    const todo = [...ours.keys()];
    const work = async () => {
      for (let apl = todo.shift(); apl !== undefined; apl = todo.shift()) {
        const theirs = await runThere(statements, apl);
        const expected = ours.get(apl) ?? '';
        if (theirs.kind === 'refused') counts.refused += 1;
        else if (theirs.kind === 'failed') rows.push(row(apl, expected, theirs.message));
        else if (shown(theirs.rows, !unordered.has(apl)) === expected) counts.same += 1;
        else rows.push(row(apl, expected, shown(theirs.rows, !unordered.has(apl))));
      }
    };
    await Promise.all([work(), work(), work()]).finally(() => statements.close());
    const table = `${counts.same} of ${ours.size} queries give the same, ${counts.refused} are computed here in part, and ${rows.length} differ:\n\n| query | here | on the cluster |\n|---|---|---|\n${rows.sort().join('\n')}\n`;
    const text = `${above}\n${table}\n${below}`;
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, text);
    const listed = readFileSync(page, 'utf8').split(/<!-- (?:begin|end): differences -->/)[1] ?? '';
    expect(listed).toContain(`${counts.same} of ${ours.size} queries give the same, `);
    expect(rows.map(queryOf).sort()).toEqual(
      listed
        .split('\n')
        .filter(each => each.startsWith('| `'))
        .map(queryOf)
        .sort(),
    );
  },
);

/** Returns the query in a row of the table. */
function queryOf(line: string): string {
  return line.split(/ (?<!\\)\| /)[0] ?? line;
}

/** Sorts rows that have no defined order. */
function shown(rows: readonly (readonly string[])[], isOrdered: boolean): string {
  const lines = rows.map(cells => cells.map(plainCell).join(', '));
  return (isOrdered ? lines : lines.sort()).join('; ');
}

function row(apl: string, ours: string, theirs: string): string {
  return `| ${[apl, ours, theirs].map(inCell).join(' | ')} |`;
}

/** Truncates a result for a table cell; the beginning is enough to see a difference. */
function inCell(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', "'");
  return text === '' ? '' : `\`${line.length > 160 ? `${line.slice(0, 160)}…` : line}\``;
}
