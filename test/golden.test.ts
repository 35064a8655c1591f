import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Case, goldenFiles, goldenFolder, readCases, shown } from './golden/cases.js';
import { fixtures } from './golden/fixtures.js';
import { openQueries } from './local/queries.js';

const update = process.env.UPDATE_GOLDEN === '1';
const queries = openQueries(fixtures);

for (const file of goldenFiles()) {
  const url = new URL(file, goldenFolder);
  const { intro, cases } = readCases(readFileSync(url, 'utf8'));
  if (update) test(`writes ${file}`, async () => expect(await rewrite(url, intro, cases)).toEqual([]));
  else
    describe(file, () => {
      test.each([...cases])('$title', async ({ apl, expected }) => {
        expect(shown(apl, await queries.run(apl))).toBe(expected);
      });
    });
}

/** Writes the current result of each case; returns the cases that the engine could not run, which stay unchanged. */
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
