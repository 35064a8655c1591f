import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { goldenFiles, goldenFolder, readCases, shown } from '../../../../golden/cases.js';
import { fixtures } from '../../../../golden/fixtures.js';
import { drawFrom } from '../../../evaluator/draw.js';
import { pipeline } from '../../../evaluator/pipelines.js';
import { stored, storedFixture } from '../../../evaluator/stored.js';
import { type Far, openQueries } from '../../../queries.js';
import { engines, lackingSome } from './second-engine.js';

const queries = openQueries(fixtures);
const pipelines = openQueries({ P: storedFixture });

const cases = goldenFiles().flatMap(
  file => readCases(readFileSync(new URL(file, goldenFolder), 'utf8')).cases,
);

/** One engine runs all goldens, the others a sample: `SPLIT_GOLDEN=1` runs all on each. */
const everyOther = process.env.SPLIT_GOLDEN === undefined ? 25 : 1;
const whole = 'all but scans, filters and projections';

describe.each(Object.entries(engines))('through an engine that lacks %s', (lacks, dialect) => {
  const step = lacks === whole ? 1 : everyOther;

  test(`every golden has the same result${step === 1 ? '' : ` (one in ${step} is tried)`}`, async () => {
    const asked = cases.filter((_, index) => index % step === 0);
    const different: string[] = [];
    let pushed = 0;
    for (const { title, apl, expected } of asked) {
      const far = { dialect, pushed: () => (pushed += 1) };
      const found = await queries.run(apl, far).then(outcome => shown(apl, outcome), String);
      if (found !== expected) different.push(`${title}\n${apl}\nexpected ${expected}\nfound ${found}`);
    }
    expect(different.join('\n\n')).toBe('');
    expect(pushed).toBeGreaterThanOrEqual(asked.length / 2);
  });
});

/** Set SPLIT_PIPELINES=5000 for more, SPLIT_SEED for different ones; a failure names the seed of its query. */
const runs = Number(process.env.SPLIT_PIPELINES ?? 100);
const firstSeed = Number(process.env.SPLIT_SEED ?? 1);

test('random pipelines give the same results through engines that lack random features', async () => {
  const different: string[] = [];
  const tally = { refused: 0, pushed: 0 };
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const { text } = pipeline(drawFrom(seed), 1 + (seed % 6), stored);
    const far = { dialect: lackingSome(seed), pushed: () => (tally.pushed += 1) };
    const [here, split] = [await answer(text), await answer(text, far)];
    if (here === 'refused') tally.refused += 1;
    if (here !== split) different.push(`seed ${seed}\n${text}\nhere ${here}\nsplit ${split}`);
  }
  expect(different.join('\n\n')).toBe('');
  // Most must run, and be split, or the property proves little.
  expect(tally.refused).toBeLessThan(runs / 10);
  expect(tally.pushed).toBeGreaterThan(runs / 2);
}, 3_600_000);

/** Returns the rows as text, sorted if the query has no order. Among reals, NaN and null are equal. */
async function answer(apl: string, far?: Far): Promise<string> {
  const outcome = await pipelines.run(apl, far).catch((error: unknown) => error as Error);
  if (outcome instanceof Error) return `failed: ${outcome.message}`;
  if (!outcome.ok) return 'refused';
  const { table, rows } = outcome.ran;
  const header = table.fields.map(field => `${field.name}:${field.type}`).join(' ');
  const lines = rows.map(row => row.join(' '));
  const reals = table.fields.flatMap(({ name, type }) => (type === 'real' ? [name] : []));
  const isOrdered = table.order.length > 0 && !table.order.some(({ field }) => reals.includes(field));
  return [header, ...(isOrdered ? lines : lines.sort())].join('\n');
}
