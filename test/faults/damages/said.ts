import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const document = fileURLToPath(new URL('../../../docs/damages.md', import.meta.url));

const heading = `# Damaged files and their outcomes

Outcomes seen in the campaigns of \`npm test -- faults\`: the kind of file, the damage, and the result. The files are those of a data
directory, its cached bucket data, a recording, and the compiled code of the program. FILE is the damaged file, D its dataset. All
other queries were answered correctly. A long campaign (\`FAULTS=long\`) fails on any outcome that is not in this table;
\`UPDATE_GOLDEN=1\` adds it.

| file | damage | outcome |
|---|---|---|
`;

/** Messages about damaged files: each outcome with its count, by kind of file and damage. */
export class Said {
  readonly #seen = new Map<string, Map<string, number>>();

  add(place: string, damage: string, outcome: string): void {
    const key = `| ${place} | ${damage} |`;
    const outcomes = this.#seen.get(key) ?? new Map<string, number>();
    this.#seen.set(key, outcomes.set(cell(outcome), (outcomes.get(cell(outcome)) ?? 0) + 1));
  }

  /** Prints the count of each outcome; in a campaign, also expects all of them in the documented table. */
  expectKnown(): void {
    for (const [key, outcomes] of this.#seen)
      for (const [outcome, times] of outcomes) console.log(`${key} ${times} times: ${outcome}`);
    const known = existsSync(document) ? readFileSync(document, 'utf8').split('\n').filter(isRow) : [];
    const seen = [...this.#seen].flatMap(([key, outcomes]) =>
      [...outcomes.keys()].map(each => `${key} ${each} |`),
    );
    if (process.env.UPDATE_GOLDEN)
      writeFileSync(document, `${heading}${[...new Set([...known, ...seen])].sort().join('\n')}\n`);
    else if (process.env.FAULTS) expect(seen.filter(row => !known.includes(row))).toEqual([]);
  }
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function isRow(line: string): boolean {
  return line.startsWith('| ') && !line.startsWith('| file |');
}
