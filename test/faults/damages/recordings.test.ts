import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { mainProgram, randomOf, rounds, temporaryDirectory } from '../bench.js';
import { damagesAndEdits, giveTo, stranger } from './damages.js';
import { Said } from './said.js';

const kinds = Object.keys(damagesAndEdits);

/** One answer for each damage, and some that stay intact. */
const queries = [
  ...['print a = 1', 'print b = "two"', 'range c from 1 to 3 step 1'],
  ...kinds.map((_, index) => `print d = ${index}`),
];

interface Cell {
  readonly cell_type: string;
  readonly outputs: readonly { readonly output_type: string; readonly traceback?: readonly string[] }[];
}

/** Replays the queries from the recording in a directory; returns the outputs of each, or the message if none ran. */
async function replay(home: string, uid?: number): Promise<readonly Cell['outputs'][] | string> {
  const [file, executed] = [join(home, 'n.apl'), join(home, 'out.ipynb')];
  writeFileSync(file, queries.join('\n// %%\n'));
  const args = ['run', file, '--cache', join(home, 'rec'), '-o', executed, '--keep-going'];
  const env = { HOME: home, PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data') };
  const user = uid === undefined ? {} : { uid, gid: uid };
  const said = await new Promise<string>(resolve => {
    const options = { cwd: home, env, ...user };
    execFile(process.execPath, [mainProgram, ...args], options, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  if (!existsSync(executed)) return said;
  const { cells } = JSON.parse(readFileSync(executed, 'utf8')) as { readonly cells: readonly Cell[] };
  return cells.filter(({ cell_type }) => cell_type === 'code').map(({ outputs }) => outputs);
}

/** Returns a printed error in one line, with FILE for the path of the damaged file. */
function messageOf(outputs: Cell['outputs'], path: string): string | undefined {
  const [error] = outputs.filter(({ output_type }) => output_type === 'error');
  return error?.traceback
    ?.map(stripVTControlCharacters)
    .join(' ')
    .replaceAll(path, 'FILE')
    .replace(/ hint:.*/s, '');
}

test('a damaged recording gives no wrong answer, and the damaged file is named', async () => {
  const base = await temporaryDirectory();
  expect(typeof (await replay(base))).toBe('object');
  rmSync(join(base, 'out.ipynb'));
  const truth = JSON.stringify(await replay(base));
  const random = randomOf('recordings');
  const said = new Said();
  const names = readdirSync(join(base, 'rec'));
  const answers = names.filter(name => name.endsWith('.answer'));
  expect([answers.length, names.includes('recording.json')]).toEqual([queries.length, true]);
  // All damages of answers together, as each affects only its own cell; damages of the list one at a time.
  const cases = [
    () => {
      const mixed = answers.map(file => ({ file, at: random() })).sort((a, b) => a.at - b.at);
      return kinds.map((damage, index) => ({
        place: 'answer of a recording',
        damage,
        file: mixed[index]?.file ?? '',
      }));
    },
    ...kinds.map(damage => () => [{ place: 'recording.json', damage, file: 'recording.json' }]),
  ];
  const count = rounds('replays of damaged recordings', cases.length, 200);
  for (let round = 0; round < count; round++) {
    const home = await temporaryDirectory();
    cpSync(join(base, 'rec'), join(home, 'rec'), { recursive: true });
    giveTo(join(home, 'rec'), stranger);
    const damaged = cases[round % cases.length]?.() ?? [];
    for (const { damage, file } of damaged) damagesAndEdits[damage]?.(join(home, 'rec', file), random);
    const found = await replay(home, stranger);
    const paths = damaged.map(({ file }) => join(home, 'rec', file));
    const outcomes = outcomesOf(found, JSON.parse(truth), paths);
    for (const [index, { place, damage }] of damaged.entries())
      said.add(place, damage, outcomes[index] ?? '');
  }
  said.expectKnown();
});

/** Returns the outcome for each damaged file; fails if a cell changed without naming one of them. */
function outcomesOf(
  found: Awaited<ReturnType<typeof replay>>,
  truth: readonly Cell['outputs'][],
  paths: readonly string[],
): readonly string[] {
  if (typeof found === 'string') {
    const [path = ''] = paths;
    expect([paths.length, found]).toEqual([1, expect.stringContaining(path)]);
    const [first = ''] = found
      .replaceAll(path, 'FILE')
      .split('\n')
      .filter(line => line.includes('FILE'));
    return [`the run is refused: ${first}`];
  }
  const wrong = found.filter((outputs, index) => JSON.stringify(outputs) !== JSON.stringify(truth[index]));
  const messages = paths.map(path =>
    wrong.map(outputs => messageOf(outputs, path)).filter(message => message?.includes('FILE')),
  );
  expect(messages.flat().length).toBe(wrong.length);
  expect(found.length).toBe(truth.length);
  return messages.map(those =>
    those.length === 0 ? 'changes nothing' : `its cell is refused: ${those.join('; ')}`,
  );
}
