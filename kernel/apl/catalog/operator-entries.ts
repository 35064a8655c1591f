import { present } from '../../present.js';
import type { OperatorRow, SourceRow } from '../operators/grammar.js';
import { operators, sources } from '../operators/operator-rows.js';
import type { ElementEntry } from './entry.js';
import { scalarOperators } from './scalar-operators.js';
import { syntax } from './syntax.js';

/** Operators allowed after a pipe: one entry per word, old spellings as aliases. https://axiom.co/docs/apl/tabular-operators/overview */
export const tabularOperators: readonly ElementEntry[] = Object.entries(operators).flatMap(
  ([name, { usage, doc, ...row }]: [string, OperatorRow]): ElementEntry[] => [
    {
      kind: 'operator',
      name,
      usage,
      doc,
      ...present({ aliases: row.old, example: row.example }),
    },
    ...Object.entries(row.also ?? {}).map(
      ([word, entry]): ElementEntry => ({ kind: 'operator', name: word, ...entry }),
    ),
  ],
);

/** Sources introduced by a word; union and search are documented as operators. */
const wordSources: readonly ElementEntry[] = Object.entries(sources)
  .filter(([name]) => !Object.hasOwn(operators, name))
  .map(([name, { clauses: _, ...documentation }]: [string, SourceRow]) => ({
    kind: 'source',
    name,
    ...documentation,
  }));

/** Every language element that is not a function: tabular operators, sources, statements, syntax, scalar operators. */
export const elements: readonly ElementEntry[] = [
  ...tabularOperators,
  ...syntax.filter(({ kind }) => kind === 'source'),
  ...wordSources,
  ...syntax.filter(({ kind }) => kind !== 'source'),
  ...scalarOperators,
];

const byName = new Map<string, ElementEntry>();
for (const entry of elements) {
  for (const name of [entry.name, ...(entry.aliases ?? [])]) if (!byName.has(name)) byName.set(name, entry);
}

/** Returns the operator, source, statement, syntax or scalar operator with that name or alias. */
export function elementNamed(name: string): ElementEntry | undefined {
  return byName.get(name);
}
